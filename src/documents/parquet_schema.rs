//! Writes Parquet with the columns of the file it came from, as that file declares them.
//!
//! Arrow lacks some of what Parquet can declare (JSON, enums, UUIDs, names within lists), so a column
//! keeps its own declaration where its values are laid out as Arrow's writer lays them out: same
//! leaves, physical types and levels. Columns of obsolete layouts (INT96 times, lists of two levels)
//! are declared anew.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};

use super::{AddedColumn, DocumentError};

/// A row group is written once it has so many encoded bytes.
pub(crate) const ROW_GROUP_BYTES: usize = 64 << 20;
/// Or so many rows.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// What a Parquet file says of itself besides its rows.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Columns that are read, as Arrow holds them.
    pub(super) schema: SchemaRef,
    declared: Arc<SchemaDescriptor>,
    notes: Vec<KeyValue>,
    compression: Compression,
}

impl Table {
    pub(super) fn of(metadata: &ParquetMetaData) -> Self {
        let file = metadata.file_metadata();
        let mut notes = file.key_value_metadata().cloned().unwrap_or_default();
        notes.retain(|note| note.key != ARROW_SCHEMA_META_KEY);
        let first = metadata.row_groups().first().and_then(|group| group.columns().first());
        let compression = match first.map(parquet::file::metadata::ColumnChunkMetaData::compression)
        {
            Some(Compression::UNCOMPRESSED) => Compression::UNCOMPRESSED,
            Some(Compression::SNAPPY) => Compression::SNAPPY,
            Some(Compression::GZIP(level)) => Compression::GZIP(level),
            Some(Compression::LZ4_RAW) => Compression::LZ4_RAW,
            _ => Compression::ZSTD(ZstdLevel::default()),
        };
        let schema = Arc::new(Schema::empty());
        Self { schema, declared: file.schema_descr_ptr(), notes, compression }
    }
}

/// A writer of batches with `added` in place of the column of its name, or at the end.
pub(super) struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    added: Option<usize>,
}

fn failed(source: ParquetError) -> DocumentError {
    match source {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(source) => DocumentError::Write { source: *source },
            Err(error) => {
                DocumentError::WriteParquet { source: Box::new(ParquetError::External(error)) }
            }
        },
        source => DocumentError::WriteParquet { source: Box::new(source) },
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    /// `table` is that of the file the rows come from, if it is a Parquet file.
    pub(super) fn new(
        out: W,
        schema: &Schema,
        table: Option<&Table>,
        added: Option<&AddedColumn>,
    ) -> Result<Self, DocumentError> {
        let mut fields: Vec<Arc<Field>> = schema.fields().iter().map(Arc::clone).collect();
        let place = added.map(|column| {
            let known = fields.iter().position(|field| *field.name() == column.name);
            let (place, field) = (known.unwrap_or(fields.len()), Arc::new(column.field()));
            fields.splice(place..(place + usize::from(known.is_some())), [field]);
            place
        });
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .set_max_row_group_bytes(Some(ROW_GROUP_BYTES));
        if let Some(table) = table {
            properties = properties
                .set_compression(table.compression)
                .set_key_value_metadata(Some(table.notes.clone()));
        }
        let mut options = ArrowWriterOptions::new().with_properties(properties.build());
        if let Some(table) = table {
            options = options.with_parquet_schema(declaration(&schema, table, place)?);
        }
        let writer = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options);
        Ok(Self { writer: writer.map_err(failed)?, schema, added: place })
    }

    pub(super) fn write(
        &mut self,
        batch: &RecordBatch,
        added: Option<arrow_array::ArrayRef>,
    ) -> Result<(), DocumentError> {
        let mut columns = batch.columns().to_vec();
        if let (Some(place), Some(array)) = (self.added, added) {
            let replaced = self.schema.fields().len() == columns.len();
            columns.splice(place..(place + usize::from(replaced)), [array]);
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| failed(error.into()))?;
        self.writer.write(&batch).map_err(failed)
    }

    /// The file's output, all of it written.
    pub(super) fn finish(self) -> Result<W, DocumentError> {
        self.writer.into_inner().map_err(failed)
    }
}

/// How the columns are declared: as before where they can be.
fn declaration(
    schema: &Schema,
    table: &Table,
    added: Option<usize>,
) -> Result<SchemaDescriptor, DocumentError> {
    let derived = ArrowSchemaConverter::new().convert(schema).map_err(failed)?;
    let before = table.declared.root_schema();
    let mut fields: Vec<TypePtr> = Vec::new();
    for (at, field) in derived.root_schema().get_fields().iter().enumerate() {
        let own = before.get_fields().iter().find(|own| own.name() == field.name());
        let own = own.filter(|own| Some(at) != added && same_layout(own, field));
        fields.push(Arc::clone(own.unwrap_or(field)));
    }
    let root = Type::group_type_builder(before.name()).with_fields(fields).build();
    Ok(SchemaDescriptor::new(Arc::new(root.map_err(failed)?)))
}

fn same_layout(a: &TypePtr, b: &TypePtr) -> bool {
    let (a, b) = (leaves(a), leaves(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_leaf(a, b))
}

/// The leaves of a type: what is stored of it.
fn leaves(kind: &TypePtr) -> Vec<ColumnDescPtr> {
    let root = Type::group_type_builder("root").with_fields(vec![Arc::clone(kind)]).build();
    root.map_or_else(
        |_| Vec::new(),
        |root| SchemaDescriptor::new(Arc::new(root)).columns().to_vec(),
    )
}

fn same_leaf(a: &ColumnDescPtr, b: &ColumnDescPtr) -> bool {
    a.physical_type() == b.physical_type()
        && a.type_length() == b.type_length()
        && a.max_def_level() == b.max_def_level()
        && a.max_rep_level() == b.max_rep_level()
}
