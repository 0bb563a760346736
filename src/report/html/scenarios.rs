//! Scenarios that were carried out, as HTML tables. They need no script.

use super::escape::{escape, isolated};
use crate::report::scenarios::{HEADINGS, caption, rows, verdict};
use crate::results::Summary;
use crate::results::whatif::WhatIfCheck;

/// A table a policy; nothing where nothing was asked.
pub(super) fn tables(summary: &Summary) -> String {
    summary.analyses.whatif.iter().map(table).collect()
}

fn table(check: &WhatIfCheck) -> String {
    let add = |row: String, heading: &str| row + "<th scope=\"col\">" + heading + "</th>";
    let headings = HEADINGS.into_iter().fold(String::new(), add);
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"What-if answers\"><table>\n\
         <caption>{}, {}</caption>\n<thead><tr><th scope=\"col\">scenario</th>{headings}</tr></thead>\n\
         <tbody>\n",
        isolated(&check.policy),
        caption(check)
    );
    for (scenario, cells) in rows(check) {
        let add = |row: String, cell: &String| row + "<td>" + &escape(cell) + "</td>";
        let cells = cells.iter().fold(String::new(), add);
        out += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", isolated(&scenario));
    }
    let [correlation, error] = verdict(check);
    out + &format!("</tbody>\n</table></div>\n<p class=\"caption\">{correlation}<br>{error}</p>\n")
}
