//! Writes documents as CSV.

use super::batch::{DocumentBatch, Value};
use super::packed::Packed;
use super::sinks::write_error;
use super::{AddedColumn, AddedField, DocumentError, DocumentSink};

/// CSV with a header; null is an empty cell, and what is no text or number its JSON.
pub(super) struct CsvSink {
    out: csv::Writer<Packed>,
    columns: Vec<String>,
    /// Place of the added column, and whether it is one of `columns`.
    added: Option<(usize, bool)>,
}

impl CsvSink {
    pub(super) fn new(
        out: Packed,
        columns: Vec<String>,
        added: Option<AddedColumn>,
    ) -> Result<Self, DocumentError> {
        let mut header = columns.clone();
        let added = added.map(|column| {
            let known = columns.iter().position(|name| *name == column.name);
            if known.is_none() {
                header.push(column.name);
            }
            (known.unwrap_or(columns.len()), known.is_some())
        });
        let mut out = csv::Writer::from_writer(out);
        out.write_record(&header).map_err(csv_error)?;
        Ok(Self { out, columns, added })
    }
}

fn csv_error(error: csv::Error) -> DocumentError {
    write_error(error.into())
}

impl DocumentSink for CsvSink {
    fn write(
        &mut self,
        batch: &DocumentBatch,
        added: Option<AddedField<'_>>,
    ) -> Result<(), DocumentError> {
        for (row, values) in batch.values(&self.columns).into_iter().enumerate() {
            let own = added.and_then(|added| added.json(row)).unwrap_or_default();
            let mut cells: Vec<&str> = values
                .iter()
                .map(|value| match value {
                    Value::Null => "",
                    Value::Text(text) | Value::Json(text) => text,
                })
                .collect();
            if let Some((place, known)) = self.added {
                cells.splice(place..(place + usize::from(known)), [own.as_str()]);
            }
            self.out.write_record(&cells).map_err(csv_error)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), DocumentError> {
        let out = self.out.into_inner().map_err(|error| write_error(error.into_error()))?;
        out.finish().map_err(write_error)
    }
}
