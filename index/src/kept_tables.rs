//! Small tables that stay in memory once they were read: outcomes of cycles, workloads and batches, which one command
//! asks for again and again. Files of a store never change, so nothing is ever out of date.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::columns::Column;
use crate::manifest::SegmentEntry;

/// Rows of a table from which on it is read anew each time.
const TABLE_ROWS: u64 = 10_000;
/// Rows of a file that many commits share: it is kept as a whole.
pub(crate) const PART_ROWS: u64 = 50_000;
/// Rows that are kept in all, some 100 bytes each; beyond them all are forgotten.
const ROWS: u64 = 1_000_000;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct KeptTables(Mutex<Tables>);

#[derive(Debug, Default)]
struct Tables {
    /// By file and names of columns.
    columns: HashMap<(String, String), Arc<Vec<Column>>>,
    rows: u64,
}

impl KeptTables {
    /// Whether a table is to be kept.
    pub(crate) fn takes(segment: &SegmentEntry) -> bool {
        segment.first_row.is_some() || segment.rows <= TABLE_ROWS
    }

    /// These columns, if they are kept.
    pub(crate) fn get(&self, segment: &SegmentEntry, names: &[&str]) -> Option<Arc<Vec<Column>>> {
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.columns.get(&key(segment, names)).cloned()
    }

    /// Keeps columns.
    pub(crate) fn put(
        &self,
        segment: &SegmentEntry,
        names: &[&str],
        columns: Vec<Column>,
    ) -> Arc<Vec<Column>> {
        let columns = Arc::new(columns);
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = columns.first().map_or(0, Column::len) as u64 + 1;
        tables.rows += rows;
        if tables.rows > ROWS {
            tables.columns.clear();
            tables.rows = rows;
        }
        tables.columns.insert(key(segment, names), Arc::clone(&columns));
        columns
    }
}

fn key(segment: &SegmentEntry, names: &[&str]) -> (String, String) {
    (format!("{} {}", segment.file.file, segment.file.checksum), names.join(" "))
}
