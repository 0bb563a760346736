//! Counterfactual estimates as a table of a terminal.

use super::{Column, NAME_WIDTH, clean, rows};
use crate::report::counterfactual::{self, HEADINGS, MEANING};
use crate::results::CounterfactualCheck;

pub(super) fn table(check: &CounterfactualCheck) -> String {
    let mut first = Column { heading: "batch".to_owned(), cells: Vec::new() };
    let mut columns =
        HEADINGS.map(|heading| Column { heading: heading.to_owned(), cells: Vec::new() });
    for (batch, cells) in counterfactual::rows(check) {
        first.cells.push(clean(batch, NAME_WIDTH));
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.cells.push(cell);
        }
    }
    let [greedy, explored] = counterfactual::calibration(check);
    format!(
        "counterfactual estimates, {}\n  {}\n{}  {MEANING}\n  {greedy}\n  {explored}\n",
        clean(&check.policy, NAME_WIDTH),
        counterfactual::caption(check),
        rows(&first, &columns)
    )
}
