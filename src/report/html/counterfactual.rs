//! Counterfactual estimates as HTML tables. They need no script.

use super::escape::{escape, isolated};
use crate::report::counterfactual::{HEADINGS, MEANING, calibration, caption, rows};
use crate::results::{CounterfactualCheck, Summary};

/// A table a policy; nothing where nothing was tried.
pub(super) fn tables(summary: &Summary) -> String {
    let checks = &summary.analyses.counterfactual;
    let tables: String = checks.iter().map(table).collect();
    format!("<p class=\"caption\">{MEANING}</p>\n{tables}")
}

fn table(check: &CounterfactualCheck) -> String {
    let add = |row: String, heading: &str| row + "<th scope=\"col\">" + heading + "</th>";
    let headings = HEADINGS.into_iter().fold(String::new(), add);
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Counterfactual estimates\">\
         <table>\n<caption>{}, {}</caption>\n<thead><tr><th scope=\"col\">batch</th>{headings}</tr>\
         </thead>\n<tbody>\n",
        isolated(&check.policy),
        caption(check)
    );
    for (batch, cells) in rows(check) {
        let add = |row: String, cell: &String| row + "<td>" + &escape(cell) + "</td>";
        let cells = cells.iter().fold(String::new(), add);
        out += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", isolated(batch));
    }
    let [greedy, explored] = calibration(check);
    out + &format!("</tbody>\n</table></div>\n<p class=\"caption\">{greedy}<br>{explored}</p>\n")
}
