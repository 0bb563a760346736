//! Attacks as an HTML table. It needs no script, which makes its columns sortable.

use super::tables::cell;
use crate::report::manipulation::{
    FIGURES, MEANING, ManipulationRow, as_of, described, places, rows,
};
use crate::results::Summary;
use crate::web::{escape, isolated};

/// The table; nothing where there was no attack.
pub(super) fn table(summary: &Summary) -> String {
    let Some(manipulation) = &summary.manipulation else { return String::new() };
    let rows = rows(manipulation);
    let mut out = format!(
        "<p class=\"caption\">{MEANING}</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Manipulation\">\
         <table class=\"sortable\">\n<caption>Manipulation, {}</caption>\n<thead><tr>\
         <th scope=\"col\">policy</th><th scope=\"col\">attack</th>",
        as_of(manipulation)
    );
    for figure in &FIGURES {
        out += &format!("<th scope=\"col\">{}</th>", figure.heading);
    }
    out += "</tr></thead>\n<tbody>\n";
    let places: Vec<usize> = FIGURES.iter().map(|figure| places(&rows, figure)).collect();
    for row in &rows {
        let attack =
            manipulation.attacks.iter().position(|attack| attack.attack == row.attack.attack);
        out += &html_row(row, attack.unwrap_or(0), &places);
    }
    out += "</tbody>\n</table></div>\n<ul>\n";
    for attack in &manipulation.attacks {
        out += &format!("<li>{}: {}</li>\n", isolated(&attack.attack), described(attack));
    }
    out + "</ul>\n"
}

/// `number` is that of the attack, which the script sorts by.
fn html_row(row: &ManipulationRow<'_>, number: usize, places: &[usize]) -> String {
    let mut out = format!(
        "<tr><th scope=\"row\" data-sort=\"{}\">{}</th><td data-sort=\"{number}\">{}</td>",
        escape(&row.policy.policy),
        isolated(&row.policy.policy),
        isolated(&row.attack.attack)
    );
    for (figure, &places) in FIGURES.iter().zip(places) {
        out += &cell((figure.of)(row), places, None);
    }
    out + "</tr>\n"
}
