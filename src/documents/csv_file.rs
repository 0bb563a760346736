//! CSV with a header. A row that has more or fewer cells than the header is a bad one.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, StringRecord};
use prospect_index::limits;

use super::batch::{BadRow, ColumnPlaces, DocumentBatch, Rows};
use super::objects::WrongFile;
use super::text_stream::TextStream;
use super::{DocumentError, DocumentSource};
use crate::ingest::BATCH_BYTES;

pub(super) struct CsvFile {
    name: Arc<str>,
    reader: Reader<Bounded>,
    /// Bytes that may still be read for the record at hand.
    left: Arc<AtomicUsize>,
    header: Arc<[String]>,
    batch_rows: usize,
    wrong: WrongFile,
}

/// Fails instead of reading on and on for a record that does not end: a quotation mark that is never
/// closed makes one record of the rest of the file.
struct Bounded {
    stream: TextStream,
    left: Arc<AtomicUsize>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.reader.read(buffer)?;
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 && read > 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left.store(left.saturating_sub(read), Ordering::Relaxed);
        Ok(read)
    }
}

impl CsvFile {
    pub(super) fn new(stream: TextStream, batch_rows: usize) -> Result<Self, DocumentError> {
        let name = Arc::clone(&stream.name);
        let left = Arc::new(AtomicUsize::new(limits::BOUNDS.line_bytes));
        let bounded = Bounded { stream, left: Arc::clone(&left) };
        let reader = ReaderBuilder::new().flexible(true).has_headers(false).from_reader(bounded);
        let header = Arc::from([]);
        let mut own = Self { name, reader, left, header, batch_rows, wrong: WrongFile::default() };
        own.header = own.read_header()?;
        Ok(own)
    }

    fn read_header(&mut self) -> Result<Arc<[String]>, DocumentError> {
        let mut record = ByteRecord::new();
        if !self.reader.read_byte_record(&mut record).map_err(|error| self.error(error))? {
            return Err(DocumentError::Empty { path: self.name.to_string() });
        }
        let path = self.name.to_string();
        let Ok(record) = StringRecord::from_byte_record(record) else {
            let what = "the header is not UTF-8".to_owned();
            return Err(DocumentError::Header { path, what });
        };
        let header: Vec<String> = record.iter().map(|title| title.trim().to_owned()).collect();
        let mut seen = HashSet::new();
        for (at, title) in header.iter().enumerate() {
            let what = if title.is_empty() {
                format!("column {} of the header has no name", at + 1)
            } else if !seen.insert(title) {
                format!("the header names {title:?} twice")
            } else {
                continue;
            };
            return Err(DocumentError::Header { path, what });
        }
        Ok(header.into())
    }

    fn error(&self, error: csv::Error) -> DocumentError {
        let line = self.reader.position().line();
        match error.into_kind() {
            ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let path = self.name.to_string();
                DocumentError::RecordTooLong { path, line, most: limits::BOUNDS.line_bytes }
            }
            ErrorKind::Io(error) => self.reader.get_ref().stream.error(line, error),
            other => {
                let error = io::Error::other(format!("{other:?}"));
                self.reader.get_ref().stream.error(line, error)
            }
        }
    }

    /// The cells of a record, or why it is no row.
    fn row(&self, record: ByteRecord) -> Result<StringRecord, BadRow> {
        let line = record.position().map_or(0, csv::Position::line);
        let bad =
            |reason, detail| BadRow { reason, place: format!("{}:{line}", self.name), detail };
        if record.len() != self.header.len() {
            let (found, expected) = (record.len(), self.header.len());
            let detail = format!("{found} cells, the header has {expected}");
            return Err(bad("wrong-cell-count", detail));
        }
        StringRecord::from_byte_record(record).map_err(|error| {
            bad("invalid-utf8", format!("no UTF-8 in cell {}", error.utf8_error().field() + 1))
        })
    }
}

impl DocumentSource for CsvFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[String] {
        &self.header
    }

    fn next_batch(&mut self) -> Result<Option<DocumentBatch>, DocumentError> {
        let (mut rows, mut lines, mut bad, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        while rows.len() + bad.len() < self.batch_rows.max(1) && bytes < BATCH_BYTES {
            self.left.store(limits::BOUNDS.line_bytes, Ordering::Relaxed);
            let mut record = ByteRecord::new();
            if !self.reader.read_byte_record(&mut record).map_err(|error| self.error(error))? {
                break;
            }
            bytes += record.as_slice().len();
            let line = record.position().map_or(0, csv::Position::line);
            match self.row(record) {
                Ok(row) => {
                    rows.push(row);
                    lines.push(line);
                }
                Err(row) => bad.push(row),
            }
        }
        if rows.is_empty() && bad.is_empty() {
            return Ok(None);
        }
        self.wrong.check(&self.name, rows.len(), &bad)?;
        let rows = Rows::Cells { header: Arc::clone(&self.header), rows };
        Ok(Some(DocumentBatch {
            rows,
            places: ColumnPlaces::Lines(Arc::clone(&self.name), lines),
            bad,
        }))
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.reader.get_ref().stream.progress()
    }
}
