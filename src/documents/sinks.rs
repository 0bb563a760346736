//! Writers of documents: any batch into any format, with one column more.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow_schema::Schema;

use super::batch::DocumentBatch;
use super::csv_sink::CsvSink;
use super::json_sink::JsonSink;
use super::packed::Packed;
use super::parquet_schema::ParquetWriter;
use super::shape::{Shape, object_fields};
use super::{
    AddedColumn, AddedField, Compression, DocumentError, DocumentFormat, DocumentSource, Table,
    to_arrow, to_json,
};

/// What is written, and how.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The format.
    pub(crate) format: DocumentFormat,
    /// Of a text format.
    pub(crate) compression: Compression,
    /// Columns and types, where [`needs_shape`](super::needs_shape) says so; by default those of the source.
    pub(crate) shape: Option<Shape>,
    /// A column to add, or to put in place of one of its name.
    pub(crate) added: Option<AddedColumn>,
    /// Whether a column of that name may be there already.
    pub(crate) replace: bool,
}

/// A writer of documents.
pub(crate) trait DocumentSink: Send {
    /// Writes rows, each with its value of the added column.
    ///
    /// # Errors
    /// The output cannot be written, or a row does not fit the shape.
    fn write(
        &mut self,
        batch: &DocumentBatch,
        added: Option<AddedField<'_>>,
    ) -> Result<(), DocumentError>;

    /// Writes what is left. Before it the output is of no use.
    ///
    /// # Errors
    /// The output cannot be written.
    fn finish(self: Box<Self>) -> Result<(), DocumentError>;
}

/// A writer to `out` for the rows of `source`.
///
/// # Errors
/// The output cannot be written, a column has no text, or the added one is there already.
pub(crate) fn create(
    out: Box<dyn Write + Send>,
    source: &dyn DocumentSource,
    layout: &Layout,
) -> Result<Box<dyn DocumentSink>, DocumentError> {
    let shape = layout.shape.clone().or_else(|| source.shape().cloned());
    let layout = &Layout { shape, ..layout.clone() };
    let added = layout.added.clone();
    let columns: Vec<String> = match &layout.shape {
        Some(shape) => shape.columns.iter().map(|(name, _)| name.clone()).collect(),
        None => source.columns().to_vec(),
    };
    if let Some(column) = added.iter().find(|column| columns.contains(&column.name))
        && !layout.replace
    {
        let (path, column) = (source.name().to_owned(), column.name.clone());
        return Err(DocumentError::ColumnExists { path, column });
    }
    if layout.format == DocumentFormat::Parquet {
        return Ok(Box::new(parquet_sink(out, source.table(), layout)?));
    }
    if let Some(table) = source.table() {
        check_types(source.name(), table)?;
    }
    let out = Packed::new(out, layout.compression).map_err(write_error)?;
    Ok(match layout.format {
        DocumentFormat::Csv => Box::new(CsvSink::new(out, columns, added)?),
        format => {
            let array = format == DocumentFormat::Json;
            Box::new(JsonSink::new(out, layout, array))
        }
    })
}

fn check_types(path: &str, table: &Table) -> Result<(), DocumentError> {
    for field in table.schema.fields() {
        if let Some(kind) = to_json::unknown(field.data_type()) {
            let (path, column) = (path.to_owned(), field.name().clone());
            return Err(DocumentError::NoText { path, column, kind });
        }
    }
    Ok(())
}

pub(super) fn write_error(source: io::Error) -> DocumentError {
    DocumentError::Write { source }
}

/// Parquet.
struct ParquetSink {
    writer: ParquetWriter<BufWriter<Box<dyn Write + Send>>>,
    shape: Option<Shape>,
}

fn parquet_sink(
    out: Box<dyn Write + Send>,
    table: Option<&Table>,
    layout: &Layout,
) -> Result<ParquetSink, DocumentError> {
    let shape = layout.shape.clone();
    let schema = match (table, &shape) {
        (Some(table), _) => Arc::clone(&table.schema),
        (None, Some(shape)) => Arc::new(Schema::new(object_fields(&shape.columns))),
        (None, None) => Arc::new(Schema::empty()),
    };
    let out = BufWriter::with_capacity(256 << 10, out);
    let writer = ParquetWriter::new(out, &schema, table, layout.added.as_ref())?;
    Ok(ParquetSink { writer, shape })
}

impl DocumentSink for ParquetSink {
    fn write(
        &mut self,
        batch: &DocumentBatch,
        added: Option<AddedField<'_>>,
    ) -> Result<(), DocumentError> {
        if batch.is_empty() {
            return Ok(());
        }
        let empty = Shape::default();
        let columns = to_arrow::columns(&batch.rows, self.shape.as_ref().unwrap_or(&empty));
        let columns = columns.map_err(|source| DocumentError::Changed {
            path: batch.file().to_owned(),
            source: Box::new(source),
        })?;
        self.writer.write(&columns, added.map(|added| added.array()))
    }

    fn finish(self: Box<Self>) -> Result<(), DocumentError> {
        self.writer.finish()?.flush().map_err(write_error)
    }
}
