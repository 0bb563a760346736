//! Writes documents as JSON: what was JSON stays the text it was.

use std::io::{self, Write};

use super::batch::{DocumentBatch, Rows};
use super::packed::Packed;
use super::shape::{Shape, ShapeKind};
use super::sinks::write_error;
use super::{AddedColumn, AddedField, DocumentError, DocumentSink, Layout, object, to_json};

/// JSON lines, or one array.
pub(super) struct JsonSink {
    out: Packed,
    added: Option<AddedColumn>,
    replace: bool,
    /// Types of cells.
    shape: Option<Shape>,
    array: bool,
    empty: bool,
}

impl JsonSink {
    /// One array, or lines.
    pub(super) fn new(out: Packed, layout: &Layout, array: bool) -> Self {
        let (added, shape) = (layout.added.clone(), layout.shape.clone());
        Self { out, added, replace: layout.replace, shape, array, empty: true }
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        if !self.array {
            return writeln!(self.out, "{text}");
        }
        self.out.write_all(if self.empty { b"[\n" } else { b",\n" })?;
        self.empty = false;
        self.out.write_all(text.as_bytes())
    }
}

impl DocumentSink for JsonSink {
    fn write(
        &mut self,
        batch: &DocumentBatch,
        added: Option<AddedField<'_>>,
    ) -> Result<(), DocumentError> {
        let of_columns = match &batch.rows {
            Rows::Columns(batch) => to_json::objects(batch),
            _ => Vec::new(),
        };
        for row in 0..batch.len() {
            let text = match &batch.rows {
                Rows::Columns(_) => of_columns[row].as_str(),
                Rows::Objects(rows) => &rows[row],
                Rows::Cells { header, rows } => &of_cells(header, &rows[row], self.shape.as_ref()),
            };
            // An object of several lines is one line here.
            let lines = !self.array && text.contains(['\n', '\r']);
            let text = if lines { &text.replace(['\n', '\r'], " ") } else { text };
            let put = match (&self.added, added) {
                (Some(column), Some(added)) => {
                    let value = added.json(row).unwrap_or_else(|| "null".to_owned());
                    let (text, known) = object::with_member(text, &column.name, &value);
                    if known && !self.replace {
                        // A key that the first rows did not have.
                        let (path, column) = (batch.place(row), column.name.clone());
                        return Err(DocumentError::ColumnExists { path, column });
                    }
                    self.put(&text)
                }
                _ => self.put(text),
            };
            put.map_err(write_error)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), DocumentError> {
        if self.array {
            let end: &[u8] = if self.empty { b"[]\n" } else { b"\n]\n" };
            self.out.write_all(end).map_err(write_error)?;
        }
        self.out.finish().map_err(write_error)
    }
}

/// Cells as an object: those of a column of numbers, lists and so on as the JSON they are.
fn of_cells(header: &[String], cells: &csv::StringRecord, shape: Option<&Shape>) -> String {
    let mut text = String::from("{");
    for (at, (title, cell)) in header.iter().zip(cells).enumerate() {
        let kind = shape.and_then(|shape| shape.columns.get(at)).map(|(_, kind)| kind);
        let value = match kind {
            _ if cell.is_empty() => "null".to_owned(),
            None | Some(ShapeKind::Text | ShapeKind::Null) => object::string(cell),
            Some(_) => cell.to_owned(),
        };
        let comma = if at > 0 { "," } else { "" };
        text.push_str(&format!("{comma}{}:{value}", object::string(title)));
    }
    text.push('}');
    text
}
