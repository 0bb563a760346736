//! Trials as HTML tables. They need no script.

use crate::report::trials::TrialTable;
use crate::web::{escape, isolated};

pub(super) fn table(table: &TrialTable) -> String {
    let TrialTable { title, policy, caption, headings, rows, notes } = table;
    let heading = |row: String, heading: &&str| row + "<th scope=\"col\">" + heading + "</th>";
    let headings = headings.iter().fold(String::new(), heading);
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table>\n\
         <caption>{}, {caption}</caption>\n<thead><tr>{headings}</tr></thead>\n<tbody>\n",
        isolated(policy)
    );
    for (name, cells) in rows {
        let add = |row: String, cell: &String| row + "<td>" + &escape(cell) + "</td>";
        let cells = cells.iter().fold(String::new(), add);
        out += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", isolated(name));
    }
    out + &format!("</tbody>\n</table></div>\n<p class=\"caption\">{}</p>\n", notes.join("<br>"))
}
