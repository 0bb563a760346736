//! Trials as a table of a terminal.

use super::{Column, clean, named, rows};
use crate::report::trials::TrialTable;

/// Characters of what was tried.
const TRIED_WIDTH: usize = 58;

pub(super) fn table(table: &TrialTable) -> String {
    let TrialTable { title, policy, caption, headings, notes, .. } = table;
    let mut columns: Vec<Column> = headings
        .iter()
        .map(|heading| Column { heading: (*heading).to_owned(), cells: Vec::new() })
        .collect();
    for (name, cells) in &table.rows {
        let row = [clean(name, TRIED_WIDTH)].into_iter().chain(cells.iter().cloned());
        for (column, cell) in columns.iter_mut().zip(row) {
            column.cells.push(cell);
        }
    }
    let table = columns.split_first().map_or_else(String::new, |(first, rest)| rows(first, rest));
    let policy = named(policy);
    format!("{title}, {policy}\n  {caption}\n{table}  {}\n", notes.join("\n  "))
}
