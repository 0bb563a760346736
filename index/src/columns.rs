//! Flat tables as Parquet files: the one place that knows the parquet crate.
//!
//! A table is a fixed list of required columns. A row group is written from, and read into, one
//! vector per column. An absent text is the empty text, an absent id is `u32::MAX`.
//!
//! A file says what it is. Columns are found by their names, wherever they stand, and must have the
//! physical and the logical type that the schema says. One that is missing or of another type is an error
//! of its own ([`StoreError::MissingColumn`], [`StoreError::ColumnType`]): the file is whole, and somebody
//! else wrote it. Columns that the schema does not name are left alone.
//!
//! What columns cannot tell, the version of a schema does: it is written to the manifest with each file. A
//! schema that changes gets the next version, and the store the next [`crate::manifest::FORMAT`], which
//! keeps older programs from reading what they would take for something else.

use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, ZstdLevel};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, SchemaDescriptor};

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

impl ColumnType {
    /// As it is told of a column in a file: repetition, physical and logical type.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::U32 => "required int32 (uint_32)",
            Self::U64 => "required int64 (uint_64)",
            Self::F64 => "required double",
            Self::Text => "required byte_array (utf8)",
        }
    }

    /// A column of so many rows with one value.
    fn filled(self, value: f64, rows: usize) -> Column {
        match self {
            Self::U32 => Column::U32(vec![value as u32; rows]),
            Self::U64 => Column::U64(vec![value as u64; rows]),
            Self::F64 => Column::F64(vec![value; rows]),
            Self::Text => Column::Text(vec![String::new(); rows]),
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

/// Name, version and columns of a table.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Name, which is also the start of its files' names.
    pub name: &'static str,
    /// Counts from 1 what the columns, or their meaning, have been.
    pub version: u32,
    /// Column names and types in order.
    pub columns: &'static [(&'static str, ColumnType)],
    /// Of columns of numbers that earlier versions lack: since which version they are there, and what is read of a file of
    /// an earlier one.
    pub later: &'static [(&'static str, u32, f64)],
}

impl Schema {
    /// Names of the columns, in order.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    /// Type of a column.
    fn kind(&self, column: &str) -> Option<ColumnType> {
        self.columns.iter().find(|(name, _)| *name == column).map(|(_, kind)| *kind)
    }

    /// What every row of a file of this version has in a column that came later.
    fn value_before(&self, column: &str) -> Option<f64> {
        let is_it = |(name, since, _): &&(&str, u32, f64)| *name == column && self.version < *since;
        self.later.iter().find(is_it).map(|(_, _, value)| *value)
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
    /// Bytes of the values, about.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::U32(values) => 4 * values.len(),
            Self::U64(values) => 8 * values.len(),
            Self::F64(values) => 8 * values.len(),
            Self::Text(values) => values.iter().map(String::len).sum(),
        }
    }

    /// Leaves these rows alone.
    pub(crate) fn keep(&mut self, rows: Range<usize>) {
        match self {
            Self::U32(values) => *values = values[rows].to_vec(),
            Self::U64(values) => *values = values[rows].to_vec(),
            Self::F64(values) => *values = values[rows].to_vec(),
            Self::Text(values) => *values = values[rows].to_vec(),
        }
    }

    /// Adds the rows of a column of the same type.
    pub(crate) fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::U32(values), Self::U32(more)) => values.extend(more),
            (Self::U64(values), Self::U64(more)) => values.extend(more),
            (Self::F64(values), Self::F64(more)) => values.extend(more),
            (Self::Text(values), Self::Text(more)) => values.extend(more),
            // One schema reads both.
            _ => {}
        }
    }

    /// Rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Text(values) => values.len(),
        }
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
///
/// ```
/// use prospect_index::columns::{Column, ColumnType, Schema, TableWriter};
/// use prospect_index::storage::Storage;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let storage = Storage::create(dir.path())?;
/// let columns = &[("page", ColumnType::U32), ("title", ColumnType::Text)];
/// let titles = Schema { name: "titles", version: 1, columns, later: &[] };
/// let mut writer = TableWriter::create(&storage, "titles.parquet", titles)?;
/// writer.write(&[Column::U32(vec![4, 7]), Column::Text(vec!["Four".into(), "Seven".into()])])?;
/// assert!(!storage.exists("titles.parquet")); // it appears when it is whole
/// let (entry, rows) = writer.finish()?;
/// assert_eq!((entry.file.as_str(), rows), ("titles.parquet", 2));
/// assert!(storage.exists("titles.parquet"));
/// # Ok(())
/// # }
/// ```
pub struct TableWriter {
    storage: Storage,
    schema: Schema,
    writer: SerializedFileWriter<PendingFile>,
    name: String,
    rows: u64,
}

/// Texts as the library takes them; of equal neighbours there is one.
fn byte_arrays(texts: &[String]) -> Vec<ByteArray> {
    let (mut last, mut bytes) = ("", ByteArray::from(""));
    let mut arrays = Vec::with_capacity(texts.len());
    for text in texts {
        if text != last {
            (last, bytes) = (text, ByteArray::from(text.as_str()));
        }
        arrays.push(bytes.clone());
    }
    arrays
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
            .set_created_by("prospect".to_owned());
        // Looking up which of them came before costs more than writing them.
        let floats = schema.columns.iter().filter(|(_, kind)| *kind == ColumnType::F64);
        let properties = floats.fold(properties, |properties, (column, _)| {
            properties.set_column_dictionary_enabled(ColumnPath::from(*column), false)
        });
        let properties = properties.build();
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
                    out.typed::<ByteArrayType>().write_batch(&byte_arrays(values), None, None)?;
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

/// Reads the named columns of a table, one call of `take` per row group, in order; `schema` has the version of the file.
///
/// # Errors
/// The file cannot be read, is no Parquet file, or lacks one of the columns with its type.
pub(crate) fn read_table(
    path: &Path,
    schema: Schema,
    columns: &[&str],
    mut take: impl FnMut(Vec<Column>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let damaged = |error: ParquetError| unreadable(path, &error);
    let reader = open(path)?;
    let found = reader.metadata().file_metadata().schema_descr();
    let wanted: Result<Vec<Place>, StoreError> =
        columns.iter().map(|name| find_column(path, schema, name, found)).collect();
    let wanted = wanted?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let rows = group.metadata().num_rows() as usize;
        let mut out = Vec::with_capacity(wanted.len());
        for place in &wanted {
            out.push(match *place {
                Place::Read(position, kind) => {
                    let column = group.get_column_reader(position).map_err(damaged)?;
                    read_column(column, kind, rows).map_err(damaged)?
                }
                Place::Absent(value, kind) => kind.filled(value, rows),
            });
        }
        take(out)?;
    }
    Ok(())
}

/// Names of the columns that a file has, in its order.
///
/// # Errors
/// The file cannot be read, or is no Parquet file.
pub(crate) fn column_names(path: &Path) -> Result<Vec<String>, StoreError> {
    let reader = open(path)?;
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    Ok(columns.iter().map(|column| column.path().string()).collect())
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, StoreError> {
    let file = File::open(path).map_err(StoreError::io("open", path))?;
    SerializedFileReader::new(file).map_err(|error| unreadable(path, &error))
}

/// What a file cannot be read for: its bytes, or the system, which then says nothing of them.
fn unreadable(path: &Path, error: &ParquetError) -> StoreError {
    let refused = match error {
        ParquetError::External(cause) => cause.downcast_ref::<std::io::Error>(),
        _ => None,
    };
    match refused.and_then(std::io::Error::raw_os_error) {
        Some(code) => StoreError::io("read", path)(std::io::Error::from_raw_os_error(code)),
        None => StoreError::damaged(path, error.to_string()),
    }
}

/// Where the values of a column come from, and their type.
#[derive(Clone, Copy)]
enum Place {
    /// They stand in the file, as the column of this number.
    Read(usize, ColumnType),
    /// The file was written before there was such a column: this value is that of every row.
    Absent(f64, ColumnType),
}

/// Where a column of this version of a schema stands in a file.
fn find_column(
    path: &Path,
    schema: Schema,
    name: &str,
    found: &SchemaDescriptor,
) -> Result<Place, StoreError> {
    if let (Some(kind), Some(value)) = (schema.kind(name), schema.value_before(name)) {
        return Ok(Place::Absent(value, kind));
    }
    let columns = found.columns();
    let position = columns.iter().position(|column| column.path().parts() == [name]);
    let (Some(kind), Some(position)) = (schema.kind(name), position) else {
        let names: Vec<String> = columns.iter().map(|column| column.path().string()).collect();
        return Err(StoreError::MissingColumn {
            path: path.to_owned(),
            table: schema.name,
            column: name.to_owned(),
            found: names.join(", "),
        });
    };
    let (found, expected) = (described(&columns[position]), kind.description());
    if found == expected {
        return Ok(Place::Read(position, kind));
    }
    let (path, column) = (path.to_owned(), name.to_owned());
    Err(StoreError::ColumnType { path, column, found, expected })
}

/// Repetition, physical and logical type of a column, as `required int32 (uint_32)`.
fn described(column: &ColumnDescriptor) -> String {
    let info = column.self_type().get_basic_info();
    let logical = match (info.converted_type(), info.logical_type_ref()) {
        (ConvertedType::NONE, None) => String::new(),
        (ConvertedType::NONE, Some(logical)) => format!(" ({logical:?})"),
        (converted, _) => format!(" ({converted})"),
    };
    format!("{} {}{logical}", info.repetition(), column.physical_type()).to_lowercase()
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
        version: 1,
        columns: &[
            ("id", ColumnType::U32),
            ("when", ColumnType::U64),
            ("score", ColumnType::F64),
            ("name", ColumnType::Text),
        ],
        later: &[],
    };

    fn groups() -> [Vec<Column>; 2] {
        [
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
        ]
    }

    /// Writes `groups` as `written` says, and reads `names` of it as `read` says.
    fn round_trip(
        written: Schema,
        groups: &[Vec<Column>],
        read: Schema,
        names: &[&str],
    ) -> Result<Vec<Vec<Column>>, StoreError> {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::create(dir.path()).unwrap();
        let mut writer = TableWriter::create(&storage, "things.parquet", written).unwrap();
        for group in groups {
            writer.write(group).unwrap();
        }
        let (entry, rows) = writer.finish().unwrap();
        assert_eq!(rows as usize, groups.iter().map(|group| group[0].len()).sum::<usize>());
        let mut found = Vec::new();
        read_table(&storage.path(&entry.file), read, names, |group| {
            found.push(group);
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let read = round_trip(SCHEMA, &groups(), SCHEMA, &SCHEMA.names()).unwrap();
        assert_eq!(read, groups());
    }

    #[test]
    fn columns_are_read_by_name_wherever_they_stand() {
        let columns =
            &[("second", ColumnType::F64), ("new", ColumnType::Text), ("first", ColumnType::F64)];
        let written = Schema { name: "pairs", version: 1, columns, later: &[] };
        let columns = &[("first", ColumnType::F64), ("second", ColumnType::F64)];
        let read = Schema { columns, ..written };
        let group =
            vec![Column::F64(vec![2.0]), Column::Text(vec!["x".into()]), Column::F64(vec![1.0])];
        let found = round_trip(written, &[group], read, &["first", "second"]).unwrap();
        assert_eq!(found, [[Column::F64(vec![1.0]), Column::F64(vec![2.0])]]);
    }

    #[test]
    fn a_column_that_came_later_is_read_of_earlier_files_as_the_schema_says() {
        let written = Schema { columns: &[("id", ColumnType::U32)], ..SCHEMA };
        let later: &[(&str, u32, f64)] = &[("when", 2, 7.0), ("score", 3, 0.5)];
        let group = vec![Column::U32(vec![1, 2])];
        let (groups, read) = (std::slice::from_ref(&group), Schema { later, ..SCHEMA });
        let found = round_trip(written, groups, read, &["when", "id", "score"]).unwrap();
        let when = Column::U64(vec![7, 7]);
        assert_eq!(found, [[when, group[0].clone(), Column::F64(vec![0.5, 0.5])]]);
        // A file of the version that has it lacks it for another reason.
        let read = Schema { version: 2, ..read };
        let error = round_trip(written, groups, read, &["when"]).unwrap_err();
        assert!(matches!(error, StoreError::MissingColumn { .. }), "{error:?}");
    }

    #[test]
    fn a_missing_column_is_named_and_no_damage() {
        let read = Schema { columns: &[("margin", ColumnType::F64)], ..SCHEMA };
        let error = round_trip(SCHEMA, &groups(), read, &["margin"]).unwrap_err();
        assert!(matches!(error, StoreError::MissingColumn { .. }), "{error:?}");
        let said = error.to_string();
        let end = "things.parquet lacks the column margin of things; it has id, when, score, name";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn another_type_is_told_with_what_was_found_and_expected() {
        use ColumnType::{F64, Text, U32, U64};
        for (column, kind, found) in [
            ("id", U64, "required int32 (uint_32)"),
            ("when", F64, "required int64 (uint_64)"),
            ("score", Text, "required double"),
            ("name", U32, "required byte_array (utf8)"),
        ] {
            let columns: &'static [(&str, ColumnType)] = Box::leak(Box::new([(column, kind)]));
            let error =
                round_trip(SCHEMA, &groups(), Schema { columns, ..SCHEMA }, &[column]).unwrap_err();
            assert!(matches!(error, StoreError::ColumnType { .. }), "{error:?}");
            let said = error.to_string();
            let end = format!("the column {column} is {found}, not {}", kind.description());
            assert!(said.ends_with(&end), "{said}");
        }
    }

    #[test]
    fn a_type_is_physical_and_logical() {
        for (message, found) in [
            ("required int32 id", "required int32"),
            ("required int32 id (integer(32,true))", "required int32 (int_32)"),
            ("optional int32 id (integer(32,false))", "optional int32 (uint_32)"),
        ] {
            let message = parse_message_type(&format!("message things {{ {message}; }}")).unwrap();
            let descriptor = SchemaDescriptor::new(Arc::new(message));
            let read = find_column(Path::new("things"), SCHEMA, "id", &descriptor);
            let Err(StoreError::ColumnType { found: told, .. }) = read else { panic!("{found}") };
            assert_eq!(told, found);
        }
    }
}
