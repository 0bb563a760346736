//! Files of text as byte streams: counted, decompressed, and with errors that name their place.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

use super::{Compression, DocumentError, Input};
use crate::ingest::input::{self, Tallied, Tally};

const BUFFER_BYTES: usize = 256 << 10;

/// An error of reading, with its place.
pub(super) fn read_error(path: &str, place: String, source: io::Error) -> DocumentError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => DocumentError::NotFound { path },
        _ => DocumentError::Read { path, place, source },
    }
}

/// A file of text, decompressed.
pub(super) struct TextStream {
    pub(super) name: Arc<str>,
    pub(super) reader: BufReader<Box<dyn Read + Send>>,
    pub(super) compression: Compression,
    tally: Tally,
    size: Option<u64>,
}

impl TextStream {
    pub(super) fn open(input: &Input) -> Result<Self, DocumentError> {
        let error = |source| read_error(&input.name, "at its start".to_owned(), source);
        let (mut raw, size): (Box<dyn Read + Send>, _) = if input.is_stream() {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(&input.path).map_err(error)?;
            let metadata = file.metadata().map_err(error)?;
            if metadata.is_dir() {
                let found = "a directory".to_owned();
                let path = input.name.clone();
                return Err(DocumentError::WrongFormat { path, expected: "a file", found });
            }
            (Box::new(file), metadata.is_file().then_some(metadata.len()))
        };
        let mut head = Vec::new();
        raw.by_ref().take(16).read_to_end(&mut head).map_err(error)?;
        let compression = input::InputCompression::of(&head);
        let tally = Tally::new(&input.name);
        let raw = Tallied { inner: Cursor::new(head).chain(raw), tally: tally.clone() };
        let decoder = compression.decoder(raw).map_err(error)?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, decoder);
        if reader.fill_buf().map_err(error)?.starts_with(b"\xef\xbb\xbf") {
            reader.consume(3);
        }
        let name = input.name.as_str().into();
        Ok(Self { name, reader, compression: compression.into(), tally, size })
    }

    /// Whether nothing is left of it.
    pub(super) fn is_at_end(&mut self) -> Result<bool, DocumentError> {
        match self.reader.fill_buf() {
            Ok(left) => Ok(left.is_empty()),
            Err(error) => Err(self.error(1, error)),
        }
    }

    pub(super) fn progress(&self) -> (u64, Option<u64>) {
        (self.tally.bytes(), self.size)
    }

    /// An error of reading at a line.
    pub(super) fn error(&self, line: u64, source: io::Error) -> DocumentError {
        let bytes = self.tally.bytes();
        let packed = match self.compression {
            Compression::Plain => "",
            Compression::Gzip => " of gzip data",
            Compression::Zstd => " of zstd data",
        };
        read_error(&self.name, format!("in line {line}, after {bytes} bytes{packed}"), source)
    }
}
