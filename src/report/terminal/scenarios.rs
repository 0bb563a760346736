//! Scenarios that were carried out, as a table of a terminal.

use super::{Column, NAME_WIDTH, clean, rows};
use crate::report::scenarios::{self, HEADINGS};
use crate::results::whatif::WhatIfCheck;

/// Characters of a scenario.
const SCENARIO_WIDTH: usize = 58;

pub(super) fn table(check: &WhatIfCheck) -> String {
    let mut first = Column { heading: "scenario".to_owned(), cells: Vec::new() };
    let mut columns =
        HEADINGS.map(|heading| Column { heading: heading.to_owned(), cells: Vec::new() });
    for (scenario, cells) in scenarios::rows(check) {
        first.cells.push(clean(&scenario, SCENARIO_WIDTH));
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.cells.push(cell);
        }
    }
    let [correlation, error] = scenarios::verdict(check);
    format!(
        "what-if answers, {}\n  {}\n{}  {correlation}\n  {error}\n",
        clean(&check.policy, NAME_WIDTH),
        scenarios::caption(check),
        rows(&first, &columns),
    )
}
