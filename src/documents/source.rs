//! Opens files of documents: tells their format and finds its reader.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::batch::{BadRow, DocumentBatch};
use super::csv_file::CsvFile;
use super::json_array::JsonElements;
use super::json_lines::JsonLines;
use super::objects::Objects;
use super::parquet_file::ParquetFile;
use super::shape::Shape;
use super::text_stream::{TextStream, read_error};
use super::warc_file::WarcFile;
use super::{BATCH_ROWS, DocumentError, DocumentFormat, Side, Table};
use crate::ingest::input;

/// Bytes looked at to tell a format: enough for the first block of a zstd frame.
const HEAD_BYTES: u64 = 256 << 10;

/// A stream of documents in the order of their file.
pub(crate) trait DocumentSource: Send {
    /// How the file is called in messages.
    fn name(&self) -> &str;

    /// The columns: of JSON, the keys of the first batch.
    fn columns(&self) -> &[String];

    /// The next rows; none is the end.
    ///
    /// # Errors
    /// The file as a whole cannot be used any further.
    fn next_batch(&mut self) -> Result<Option<DocumentBatch>, DocumentError>;

    /// How far reading came, and how far it will come if that is known: rows of Parquet, else bytes
    /// of the (compressed) file.
    fn progress(&self) -> (u64, Option<u64>);

    /// What a Parquet file says of itself besides its rows.
    fn table(&self) -> Option<&Table> {
        None
    }

    /// Columns and types, where all files of the format have the same.
    fn shape(&self) -> Option<&Shape> {
        None
    }

    /// What the last batch has read that is sound, and no document.
    fn others(&mut self) -> Vec<BadRow> {
        Vec::new()
    }
}

/// A file that is to be read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Where it lies; `-` is standard input.
    pub(crate) path: PathBuf,
    /// How it is called in messages.
    pub(crate) name: String,
    /// Its format, where the user has said so.
    pub(crate) format: Option<DocumentFormat>,
}

/// How to read.
#[derive(Clone, Debug)]
pub(crate) struct OpenOptions {
    /// Rows of a batch at most.
    pub(crate) batch_rows: usize,
    /// Columns that are needed; all of them where there is no list. Formats other than Parquet read
    /// all.
    pub(crate) columns: Option<Vec<String>>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { batch_rows: BATCH_ROWS, columns: None }
    }
}

impl Input {
    /// The file at a path, called as it was named.
    pub(crate) fn of(path: &Path, format: Option<DocumentFormat>) -> Self {
        let stream = path == Path::new("-");
        let name = if stream { "standard input".to_owned() } else { path.display().to_string() };
        Self { path: path.to_owned(), name, format }
    }

    /// Whether it is standard input.
    pub(crate) fn is_stream(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Its format, by the user's word, its name, or its first bytes.
    ///
    /// # Errors
    /// The file cannot be read, or none of these tells.
    pub(crate) fn format(&self) -> Result<DocumentFormat, DocumentError> {
        let unknown =
            || DocumentError::UnknownFormat { path: self.name.clone(), side: Side::Input };
        if let Some(format) = self.format {
            if format == DocumentFormat::Parquet && self.is_stream() {
                return Err(DocumentError::ParquetStream { path: self.name.clone() });
            }
            return Ok(format);
        }
        if self.is_stream() {
            return Err(unknown());
        }
        let by_name = DocumentFormat::of_name(&self.path);
        let by_head = DocumentFormat::of_head(&self.head()?);
        match (by_name, by_head) {
            // `.json` is as often lines as an array.
            (Some(DocumentFormat::Json), Some(DocumentFormat::JsonLines)) => {
                Ok(DocumentFormat::JsonLines)
            }
            (Some(expected), Some(found))
                if expected != found
                    && [expected, found].iter().any(|format| {
                        matches!(format, DocumentFormat::Parquet | DocumentFormat::Warc)
                    })
                    && expected != DocumentFormat::Parquet =>
            {
                let (expected, found) = (expected.shown(), found.shown().to_owned());
                Err(DocumentError::WrongFormat { path: self.name.clone(), expected, found })
            }
            (Some(format), _) => Ok(format),
            (None, found) => found.ok_or_else(unknown),
        }
    }

    /// The first bytes, decompressed as far as they can be.
    fn head(&self) -> Result<Vec<u8>, DocumentError> {
        let error = |source| read_error(&self.name, "at its start".to_owned(), source);
        let metadata = std::fs::metadata(&self.path).map_err(error)?;
        if !metadata.is_file() {
            // What is read of a pipe does not come a second time.
            return Ok(Vec::new());
        }
        let mut raw = Vec::new();
        let file = File::open(&self.path).map_err(error)?;
        file.take(HEAD_BYTES).read_to_end(&mut raw).map_err(error)?;
        let mut head = Vec::new();
        if let Ok(decoder) = input::InputCompression::of(&raw).decoder(raw.as_slice()) {
            // An error is met again, and told with its place, when the file is read.
            let _ = decoder.take(4096).read_to_end(&mut head);
        }
        Ok(head)
    }
}

/// Opens a file of documents.
///
/// # Errors
/// It does not exist, cannot be read, or is not in its format.
pub(crate) fn open(
    input: &Input,
    options: &OpenOptions,
) -> Result<Box<dyn DocumentSource>, DocumentError> {
    let format = input.format()?;
    if format == DocumentFormat::Parquet {
        return Ok(Box::new(ParquetFile::open(input, options)?));
    }
    if format == DocumentFormat::Warc {
        return Ok(Box::new(WarcFile::open(input, options)?));
    }
    let stream = TextStream::open(input)?;
    let source: Box<dyn DocumentSource> = match format {
        DocumentFormat::Csv => Box::new(CsvFile::new(stream, options.batch_rows)?),
        DocumentFormat::Json => {
            Box::new(Objects::new(JsonElements::new(stream)?, options.batch_rows)?)
        }
        _ => Box::new(Objects::new(JsonLines::new(stream), options.batch_rows)?),
    };
    Ok(source)
}
