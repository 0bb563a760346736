//! Files of documents as streams of batches that keep every column: Parquet, CSV, JSON arrays and
//! JSON lines in, any of them out; and the pages of WARC files, in columns of their own.
//!
//! Parquet stays in Arrow columns, so that nested values and exact types pass through; rows of JSON
//! stay the text they were, so that keys keep their order and numbers their digits; cells of CSV stay
//! text. Only a change of format converts: `to_json` writes Arrow values as JSON, `to_arrow` reads
//! JSON or cells into Arrow columns whose types [`shape`] has found in a pass over the file.
//! Not here: what the values mean, files in the making, and what becomes of bad rows.
//!
//! *Memory.* A batch holds at most as many rows as asked for and stops growing at
//! [`BATCH_BYTES`](crate::ingest::BATCH_BYTES) of input; one row has at most
//! [`line_bytes`](prospect_index::limits::Bounds::line_bytes). A Parquet file is read page by page and written
//! in row groups of [`parquet_schema::ROW_GROUP_BYTES`]. Nothing grows with the number of rows.

mod added;
mod batch;
mod csv_file;
mod csv_sink;
mod error;
mod format;
mod json_array;
mod json_lines;
mod json_sink;
mod object;
mod objects;
mod packed;
mod parquet_file;
mod parquet_schema;
pub(crate) mod shape;
mod sinks;
mod source;
mod text_stream;
mod to_arrow;
mod to_json;
mod warc_file;

pub(crate) use added::{AddedColumn, AddedField, AddedKind};
pub(crate) use batch::{BadRow, DocumentBatch, Value};
pub(crate) use error::{DocumentError, Side};
pub(crate) use format::{Compression, DocumentFormat, needs_shape};
pub(crate) use parquet_schema::Table;
pub(crate) use sinks::{DocumentSink, Layout, create};
pub(crate) use source::{DocumentSource, Input, OpenOptions, open};

/// Rows of a batch where nothing else is asked for.
pub(crate) const BATCH_ROWS: usize = 256;
