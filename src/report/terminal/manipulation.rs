//! The table of attacks.

use super::{Column, NAME_WIDTH, clean, named, wrapped};
use crate::report::manipulation::{
    FIGURES, ManipulationColumn, ManipulationRow, as_of, described, places, rows,
};
use crate::report::number::with_interval;
use crate::results::manipulation::Manipulation;

/// A row a policy, attack by attack.
pub(super) fn table(manipulation: &Manipulation) -> String {
    let all = rows(manipulation);
    let mut out = format!("manipulation, {}\n", as_of(manipulation));
    for attack in &manipulation.attacks {
        out += &format!("\n{}: {}\n", clean(&attack.attack, NAME_WIDTH), described(attack));
        let of_attack = || all.iter().filter(|row| row.attack.attack == attack.attack);
        let names = of_attack().map(|row| named(&row.policy.policy));
        let first = Column { heading: "policy".to_owned(), cells: names.collect() };
        let columns = FIGURES.each_ref().map(|figure| {
            // As many decimals for every attack.
            column(figure, places(&all, figure), of_attack())
        });
        out += &wrapped(&first, &columns);
    }
    out += "\n  picks, frontier: the attacker's share of pages picked, and of pages that entered the \
            frontier;\n  ratio: 1 where its pages are as likely to be picked as any that were found\n\
            \x20 lift: picks by its share of all pages, and of the queries that are its own; early: after a tenth\n\
            \x20 impact lost: of honest pages, against the crawl without attacker\n";
    out
}

/// The column of a figure.
fn column<'a>(
    figure: &ManipulationColumn,
    places: usize,
    rows: impl Iterator<Item = &'a ManipulationRow<'a>>,
) -> Column {
    let cells = rows.map(|row| cell(row, figure, places)).collect();
    Column { heading: figure.heading.to_owned(), cells }
}

fn cell(row: &ManipulationRow<'_>, figure: &ManipulationColumn, places: usize) -> String {
    (figure.of)(row).map_or("-".to_owned(), |interval| with_interval(interval, places))
}
