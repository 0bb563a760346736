//! The table of an ablation.

use super::{Column, NAME_WIDTH, clean, wrapped};
use crate::report::ablation::{FIGURES, Figure, WHOLE, as_of, rows};
use crate::report::number::{excludes, with_interval};
use crate::results::ablation::Ablation;

/// A row a group, policy by policy.
pub(super) fn table(ablation: &Ablation) -> String {
    let mut out = String::new();
    for policy in &ablation.policies {
        let name = clean(&policy.policy, NAME_WIDTH);
        out += &format!("ablation of {name}, {}\n", as_of(ablation));
        let rows = rows(policy);
        let names = rows.iter().map(|(name, ..)| clean(name, NAME_WIDTH));
        let first = Column { heading: "without".to_owned(), cells: names.collect() };
        let column = |figure: &Figure| {
            let cells = rows.iter().map(|(name, _, figures)| {
                let Some(interval) = (figure.of)(figures) else { return "- ".to_owned() };
                let mark = if *name != WHOLE && excludes(interval, 0.0) { '*' } else { ' ' };
                format!("{}{mark}", with_interval(interval, figure.places))
            });
            Column { heading: format!("{} ", figure.heading), cells: cells.collect() }
        };
        out += &wrapped(&first, &FIGURES.each_ref().map(column));
    }
    out + "\n  first row: the policy; others: what changes without a group of its evidence, below 0 \
           where it is\n  worth something; * told from 0 by the 95 % interval over seed sets\n"
}
