//! Reads Parquet, row group by row group and page by page.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use super::batch::{ColumnPlaces, DocumentBatch, Rows};
use super::text_stream::read_error;
use super::{DocumentError, DocumentSource, Input, OpenOptions, Table};
use crate::contained::caught;

const MAGIC: &[u8; 4] = b"PAR1";

pub(super) struct ParquetFile {
    name: Arc<str>,
    columns: Vec<String>,
    reader: ParquetRecordBatchReader,
    table: Table,
    rows: u64,
    total: u64,
}

impl ParquetFile {
    pub(super) fn open(input: &Input, options: &OpenOptions) -> Result<Self, DocumentError> {
        caught(|| Self::opened(input, options))
            .unwrap_or_else(|said| Err(panicked(&input.name, 0, said)))
    }

    fn opened(input: &Input, options: &OpenOptions) -> Result<Self, DocumentError> {
        let damaged = |source| damaged(input, source);
        let file = open_checked(input)?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(damaged)?;
        let schema = builder.parquet_schema();
        let roots = schema.root_schema().get_fields();
        let mask = match &options.columns {
            None => ProjectionMask::all(),
            Some(names) => {
                let wanted = |at: &usize| names.iter().any(|name| name == roots[*at].name());
                ProjectionMask::roots(schema, (0..roots.len()).filter(wanted))
            }
        };
        let mut table = Table::of(builder.metadata());
        let total = builder.metadata().file_metadata().num_rows().max(0) as u64;
        let builder = builder.with_batch_size(options.batch_rows.max(1)).with_projection(mask);
        let reader = builder.build().map_err(damaged)?;
        table.schema = reader.schema();
        let columns = table.schema.fields().iter().map(|field| field.name().clone()).collect();
        Ok(Self { name: input.name.as_str().into(), columns, reader, table, rows: 0, total })
    }
}

/// The file starts and ends as Parquet, but is none.
fn damaged(input: &Input, source: ParquetError) -> DocumentError {
    DocumentError::Parquet { path: input.name.clone(), rows: 0, source: Box::new(source) }
}

/// The reader of Parquet fails on a file, and not as it should.
fn panicked(name: &str, rows: u64, said: String) -> DocumentError {
    let source = Box::new(ParquetError::General(said));
    DocumentError::Parquet { path: name.to_owned(), rows, source }
}

/// The file, if its first and last bytes are those of Parquet.
fn open_checked(input: &Input) -> Result<File, DocumentError> {
    let error = |source| read_error(&input.name, "at its start".to_owned(), source);
    let mut file = File::open(&input.path).map_err(error)?;
    let bytes = file.metadata().map_err(error)?.len();
    let path = input.name.clone();
    if bytes == 0 {
        return Err(DocumentError::Empty { path });
    }
    let (mut head, mut tail) = ([0; 4], [0; 4]);
    if bytes >= 4 {
        file.read_exact(&mut head).map_err(error)?;
        file.seek(SeekFrom::End(-4)).map_err(error)?;
        file.read_exact(&mut tail).map_err(error)?;
    }
    if &head != MAGIC {
        let found = format!("a file that starts with {:?}", String::from_utf8_lossy(&head));
        return Err(DocumentError::WrongFormat { path, expected: "a Parquet file", found });
    }
    if bytes < 12 || &tail != MAGIC {
        return Err(DocumentError::TruncatedParquet { path, bytes });
    }
    Ok(file)
}

impl DocumentSource for ParquetFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<DocumentBatch>, DocumentError> {
        let next = caught(|| self.reader.next());
        let next = next.map_err(|said| panicked(&self.name, self.rows, said))?;
        let Some(batch) = next else { return Ok(None) };
        let batch = batch.map_err(|source| DocumentError::Arrow {
            path: self.name.to_string(),
            rows: self.rows,
            source: Box::new(source),
        })?;
        let places = ColumnPlaces::Rows(Arc::clone(&self.name), self.rows + 1);
        self.rows += batch.num_rows() as u64;
        Ok(Some(DocumentBatch { rows: Rows::Columns(batch), places, bad: Vec::new() }))
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.rows, Some(self.total))
    }

    fn table(&self) -> Option<&Table> {
        Some(&self.table)
    }
}
