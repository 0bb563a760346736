//! What makes a file of documents unusable.

use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use super::{BadRow, DocumentFormat};
use crate::ingest::IngestError;

/// What a file is to whoever names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// It is read.
    Input,
    /// It is written.
    Output,
}

/// A file of documents cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DocumentError {
    /// The path does not exist.
    #[error("{path}: there is no such file")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The operating system refused, or compressed data is damaged.
    #[error("{path}: cannot be read ({place})")]
    Read {
        /// The file.
        path: String,
        /// How far reading came.
        place: String,
        /// What the operating system or the decoder said.
        source: io::Error,
    },
    /// Nothing tells the format.
    #[error("{path}: its format is not known")]
    UnknownFormat {
        /// The file.
        path: String,
        /// Whether it is read or written.
        side: Side,
    },
    /// The content is not what the name or the option says.
    #[error("{path}: expected {expected}, found {found}")]
    WrongFormat {
        /// The file.
        path: String,
        /// The format.
        expected: &'static str,
        /// What its first bytes are.
        found: String,
    },
    /// A format that is read alone.
    #[error("{path}: {} is read and not written", format.shown())]
    NotWritten {
        /// The file.
        path: String,
        /// The format.
        format: DocumentFormat,
    },
    /// Pages of an archive cannot be read.
    #[error(transparent)]
    Pages(#[from] IngestError),
    /// Parquet cannot be streamed.
    #[error("{path}: Parquet needs a file, it cannot be read from or written to a stream")]
    ParquetStream {
        /// How the stream is called.
        path: String,
    },
    /// A Parquet file whose end is missing.
    #[error("{path}: the Parquet file has no footer after {bytes} bytes; its end is missing")]
    TruncatedParquet {
        /// The file.
        path: String,
        /// Its length.
        bytes: u64,
    },
    /// A Parquet file that cannot be decoded.
    #[error("{path}: the Parquet data is damaged or of an unknown kind (after {rows} rows)")]
    Parquet {
        /// The file.
        path: String,
        /// Rows read until then.
        rows: u64,
        /// What the decoder said.
        source: Box<ParquetError>,
    },
    /// The same, said by Arrow.
    #[error("{path}: its columns cannot be used (after {rows} rows)")]
    Arrow {
        /// The file.
        path: String,
        /// Rows read until then.
        rows: u64,
        /// What Arrow said.
        source: Box<ArrowError>,
    },
    /// The input has no content.
    #[error("{path}: is empty")]
    Empty {
        /// The file.
        path: String,
    },
    /// A JSON array that does not end, or that something follows.
    #[error("{path}:{line}: {what} (after {elements} elements)")]
    Array {
        /// The file.
        path: String,
        /// Line.
        line: u64,
        /// What is wrong.
        what: &'static str,
        /// Elements until then.
        elements: u64,
    },
    /// A CSV file whose first line is no header.
    #[error("{path}:1: {what}")]
    Header {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// A record that is longer than any may be.
    #[error("{path}:{line}: a record of more than {} MiB starts here", *most >> 20)]
    RecordTooLong {
        /// The file.
        path: String,
        /// Line.
        line: u64,
        /// Bytes that a record may have.
        most: usize,
    },
    /// None of the first rows is a document.
    #[error("{path}: none of the first {rows} rows is a document (first: {}: {}: {})", first.place, first.reason, first.detail)]
    NoDocuments {
        /// The file.
        path: String,
        /// How many were tried.
        rows: u64,
        /// The first.
        first: Box<BadRow>,
    },
    /// Columns that were asked for are not there.
    #[error("{path}: there is no column {missing}; it has {}", columns.join(", "))]
    NoColumn {
        /// The file.
        path: String,
        /// What was looked for.
        missing: String,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// The column to add is there already.
    #[error("{path}: there is a column {column:?} already")]
    ColumnExists {
        /// The file.
        path: String,
        /// The column.
        column: String,
    },
    /// More columns than are kept.
    #[error("{path}: its objects have more than {most} keys, too many for columns")]
    TooManyColumns {
        /// The file.
        path: String,
        /// How many are kept.
        most: usize,
    },
    /// A column of a type that has no JSON.
    #[error("{path}: column {column:?} holds {kind}, which cannot be written as text")]
    NoText {
        /// The file.
        path: String,
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A row does not fit what the first pass found.
    #[error("{path}: changed between the two passes over it")]
    Changed {
        /// The file.
        path: String,
        /// What does not fit.
        source: Box<ArrowError>,
    },
    /// The result cannot be written.
    #[error("the documents cannot be written")]
    Write {
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The result cannot be encoded.
    #[error("the documents cannot be written as Parquet")]
    WriteParquet {
        /// What the encoder said.
        source: Box<ParquetError>,
    },
}
