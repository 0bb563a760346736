//! The table of an ablation.

use super::{Column, named, wrapped};
use crate::report::ablation::{AblationColumn, FIGURES, WHOLE, as_of, rows};
use crate::report::number::{excludes, with_interval};
use crate::results::ablation::{Ablation, AblationFigures};

/// A row a group, policy by policy.
pub(super) fn table(ablation: &Ablation) -> String {
    let mut out = String::new();
    for policy in &ablation.policies {
        let name = named(&policy.policy);
        out += &format!("ablation of {name}, {}\n", as_of(ablation));
        let rows = rows(policy);
        let names = rows.iter().map(|(name, ..)| named(name));
        let first = Column { heading: "without".to_owned(), cells: names.collect() };
        let columns = FIGURES.each_ref().map(|figure| column(figure, &rows));
        out += &wrapped(&first, &columns);
    }
    out + "\n  first row: the policy; others: what changes without a group of its evidence, below 0 \
           where it is\n  worth something; * told from 0 by the 95 % interval over seed sets\n"
}

/// The column of a figure, with a mark where a group's change is told from 0.
fn column(figure: &AblationColumn, rows: &[(&str, &str, &AblationFigures)]) -> Column {
    let mut cells = Vec::with_capacity(rows.len());
    for (name, _, figures) in rows {
        cells.push(match (figure.of)(figures) {
            None => "- ".to_owned(),
            Some(interval) => {
                let mark = if *name != WHOLE && excludes(interval, 0.0) { '*' } else { ' ' };
                format!("{}{mark}", with_interval(interval, figure.places))
            }
        });
    }
    Column { heading: format!("{} ", figure.heading), cells }
}
