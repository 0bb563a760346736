//! Flat tables as Parquet files: the one place that knows the parquet crate.
//!
//! A table is a fixed list of required columns. A row group is written from, and read into, one
//! vector per column. An absent text is the empty text, an absent id is `u32::MAX`.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::error::StoreError;
use crate::storage::{FileEntry, PendingFile, Storage};

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Unsigned 32-bit.
    U32,
    /// Unsigned 64-bit.
    U64,
    /// 64-bit float.
    F64,
    /// UTF-8 text.
    Text,
}

/// Name and columns of a table.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Name, which is also the start of its files' names.
    pub name: &'static str,
    /// Column names and types in order.
    pub columns: &'static [(&'static str, ColumnType)],
}

impl Schema {
    /// Names of the columns, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// Position of a column.
    fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|(name, _)| *name == column)
    }

    fn message(&self) -> String {
        let mut message = format!("message {} {{ ", self.name);
        for (name, kind) in self.columns {
            let text = match kind {
                ColumnType::U32 => format!("required int32 {name} (integer(32,false)); "),
                ColumnType::U64 => format!("required int64 {name} (integer(64,false)); "),
                ColumnType::F64 => format!("required double {name}; "),
                ColumnType::Text => format!("required binary {name} (utf8); "),
            };
            message.push_str(&text);
        }
        message + "}"
    }
}

/// Values of one column in one row group.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Unsigned 32-bit.
    U32(Vec<u32>),
    /// Unsigned 64-bit.
    U64(Vec<u64>),
    /// 64-bit float.
    F64(Vec<f64>),
    /// UTF-8 text.
    Text(Vec<String>),
}

impl Column {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes the values of a column out of a row group; empty if the type is another, which the
/// schema of the caller excludes.
macro_rules! take_values {
    ($name:ident, $variant:ident, $of:ty) => {
        impl Column {
            /// The values, moved out.
            pub fn $name(&mut self) -> Vec<$of> {
                match self {
                    Self::$variant(values) => std::mem::take(values),
                    _ => Vec::new(),
                }
            }
        }
    };
}
take_values!(take_u32, U32, u32);
take_values!(take_u64, U64, u64);
take_values!(take_f64, F64, f64);
take_values!(take_text, Text, String);

/// Writes a table row group by row group.
pub struct TableWriter {
    storage: Storage,
    schema: Schema,
    writer: SerializedFileWriter<PendingFile>,
    name: String,
    rows: u64,
}

impl TableWriter {
    /// Starts the file `name`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(storage: &Storage, name: &str, schema: Schema) -> Result<Self, StoreError> {
        let message =
            parse_message_type(&schema.message()).map_err(|e| failed(storage, name, &e))?;
        let level = ZstdLevel::try_new(1).map_err(|e| failed(storage, name, &e))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("prospect".to_owned())
            .build();
        let pending = storage.start(name)?;
        let writer = SerializedFileWriter::new(pending, Arc::new(message), Arc::new(properties))
            .map_err(|e| failed(storage, name, &e))?;
        Ok(Self { storage: storage.clone(), schema, writer, name: name.to_owned(), rows: 0 })
    }

    /// Writes one row group: one column per column of the schema, all of one length.
    ///
    /// # Errors
    /// The write failed, or the columns do not fit the schema.
    pub fn write(&mut self, columns: &[Column]) -> Result<(), StoreError> {
        let rows = columns.first().map_or(0, Column::len);
        if rows == 0 {
            return Ok(());
        }
        let fits = columns.len() == self.schema.columns.len()
            && columns.iter().all(|column| column.len() == rows);
        if !fits {
            return Err(StoreError::damaged(Path::new(&self.name), "its columns do not fit"));
        }
        self.write_group(columns).map_err(|error| failed(&self.storage, &self.name, &error))?;
        self.rows += rows as u64;
        Ok(())
    }

    fn write_group(&mut self, columns: &[Column]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            let Some(mut out) = group.next_column()? else { break };
            match column {
                Column::U32(values) => {
                    let values: Vec<i32> = values.iter().map(|&v| v as i32).collect();
                    out.typed::<Int32Type>().write_batch(&values, None, None)?;
                }
                Column::U64(values) => {
                    let values: Vec<i64> = values.iter().map(|&v| v as i64).collect();
                    out.typed::<Int64Type>().write_batch(&values, None, None)?;
                }
                Column::F64(values) => {
                    out.typed::<DoubleType>().write_batch(values, None, None)?;
                }
                Column::Text(values) => {
                    let values: Vec<ByteArray> =
                        values.iter().map(|v| ByteArray::from(v.as_str())).collect();
                    out.typed::<ByteArrayType>().write_batch(&values, None, None)?;
                }
            }
            out.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Finishes the file; returns its entry and its rows.
    ///
    /// # Errors
    /// The last writes, the sync or the rename failed.
    pub fn finish(self) -> Result<(FileEntry, u64), StoreError> {
        let pending =
            self.writer.into_inner().map_err(|error| failed(&self.storage, &self.name, &error))?;
        Ok((pending.finish()?, self.rows))
    }
}

/// An error of the parquet crate; of ours where it only passed through that crate as text.
fn failed(storage: &Storage, name: &str, error: &ParquetError) -> StoreError {
    storage.failure().unwrap_or_else(|| StoreError::Io {
        operation: "write",
        path: storage.path(name),
        source: std::io::Error::other(error.to_string()),
    })
}

/// Reads the named columns of a table, one call of `take` per row group, in order.
///
/// # Errors
/// The file cannot be read, is no Parquet file, or has other columns than the schema.
pub fn read_table(
    path: &Path,
    schema: Schema,
    columns: &[&str],
    mut take: impl FnMut(Vec<Column>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let damaged = |what: &dyn std::fmt::Display| StoreError::damaged(path, what.to_string());
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    let reader = SerializedFileReader::new(file).map_err(|e| damaged(&e))?;
    let wanted = wanted_positions(schema, columns, path)?;
    let found = reader.metadata().file_metadata().schema_descr();
    if found.num_columns() != schema.columns.len() {
        let (found, expected) = (found.num_columns(), schema.columns.len());
        return Err(damaged(&format!("it has {found} columns, {} has {expected}", schema.name)));
    }
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|e| damaged(&e))?;
        let rows = group.metadata().num_rows() as usize;
        let mut out = Vec::with_capacity(wanted.len());
        for &(position, kind) in &wanted {
            let column = group.get_column_reader(position).map_err(|e| damaged(&e))?;
            out.push(read_column(column, kind, rows).map_err(|e| damaged(&e))?);
        }
        take(out)?;
    }
    Ok(())
}

fn wanted_positions(
    schema: Schema,
    columns: &[&str],
    path: &Path,
) -> Result<Vec<(usize, ColumnType)>, StoreError> {
    let position = |name: &&str| {
        let at = schema.position(name)?;
        Some((at, schema.columns[at].1))
    };
    let found: Option<Vec<_>> = columns.iter().map(position).collect();
    found.ok_or_else(|| StoreError::damaged(path, format!("{} lacks a column", schema.name)))
}

fn read_column(
    column: ColumnReader,
    kind: ColumnType,
    rows: usize,
) -> Result<Column, ParquetError> {
    let column = match (column, kind) {
        (ColumnReader::Int32ColumnReader(mut reader), ColumnType::U32) => {
            let mut values = Vec::with_capacity(rows);
            reader.read_records(rows, None, None, &mut values)?;
            Column::U32(values.into_iter().map(|v| v as u32).collect())
        }
        (ColumnReader::Int64ColumnReader(mut reader), ColumnType::U64) => {
            let mut values = Vec::with_capacity(rows);
            reader.read_records(rows, None, None, &mut values)?;
            Column::U64(values.into_iter().map(|v| v as u64).collect())
        }
        (ColumnReader::DoubleColumnReader(mut reader), ColumnType::F64) => {
            let mut values = Vec::with_capacity(rows);
            reader.read_records(rows, None, None, &mut values)?;
            Column::F64(values)
        }
        (ColumnReader::ByteArrayColumnReader(mut reader), ColumnType::Text) => {
            let mut values = Vec::with_capacity(rows);
            reader.read_records(rows, None, None, &mut values)?;
            let texts: Result<Vec<String>, _> =
                values.iter().map(|v| v.as_utf8().map(str::to_owned)).collect();
            Column::Text(texts?)
        }
        _ => return Err(ParquetError::General("a column has another type".to_owned())),
    };
    if column.len() == rows {
        Ok(column)
    } else {
        Err(ParquetError::General(format!("a column has {} of {rows} rows", column.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema {
        name: "things",
        columns: &[
            ("id", ColumnType::U32),
            ("when", ColumnType::U64),
            ("score", ColumnType::F64),
            ("name", ColumnType::Text),
        ],
    };

    #[test]
    fn what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::create(dir.path(), None).unwrap();
        let groups = [
            vec![
                Column::U32(vec![1, u32::MAX]),
                Column::U64(vec![u64::MAX, 0]),
                Column::F64(vec![0.5, -1.0]),
                Column::Text(vec!["é".into(), String::new()]),
            ],
            vec![
                Column::U32(vec![7]),
                Column::U64(vec![7]),
                Column::F64(vec![7.0]),
                Column::Text(vec!["seven".into()]),
            ],
        ];
        let mut writer = TableWriter::create(&storage, "things.parquet", SCHEMA).unwrap();
        for group in &groups {
            writer.write(group).unwrap();
        }
        let (entry, rows) = writer.finish().unwrap();
        assert_eq!(rows, 3);
        let mut read = Vec::new();
        read_table(&storage.path(&entry.file), SCHEMA, &["id", "when", "score", "name"], |group| {
            read.push(group);
            Ok(())
        })
        .unwrap();
        assert_eq!(read, groups);
    }
}
