//! Text files as they come: plain or compressed, a file or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use prospect_index::limits;

use super::WorkloadError;
use crate::ingest::foreign_type;
use crate::ingest::input::{InputCompression, is_utf16};
use crate::ingest::lines::{Line, read_line};

/// Enough to tell how a file is compressed.
const HEAD_BYTES: u64 = 16;
const BUFFER_BYTES: usize = 256 << 10;
/// The mark of UTF-8 at the start of a text.
const MARK: char = '\u{feff}';

/// A path in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The lines of a file that say something, trimmed, as [`open_text`] reads it.
///
/// # Errors
/// See [`open_text`].
pub(crate) fn open_lines(path: &Path) -> Result<Vec<String>, WorkloadError> {
    let text = open_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// The text of a file, decompressed by its first bytes and without the mark of UTF-8; `-` is standard input.
///
/// # Errors
/// It cannot be read, is certainly no text, is not UTF-8, or is longer than [`limits::Bounds::text_file_bytes`].
pub(crate) fn open_text(path: &Path) -> Result<String, WorkloadError> {
    let file = shown(path);
    let most = limits::BOUNDS.text_file_bytes;
    let mut bytes = Vec::new();
    let read = stream(path)
        .and_then(|stream| stream.take(most as u64 + 1).read_to_end(&mut bytes))
        .map_err(|source| WorkloadError::Read { file: file.clone(), source })?;
    if read > most {
        return Err(WorkloadError::TooLong { file, most });
    }
    refuse_foreign(&file, &bytes)?;
    if bytes.starts_with(MARK.encode_utf8(&mut [0; 4]).as_bytes()) {
        bytes.drain(..MARK.len_utf8());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..valid]).count();
        WorkloadError::NotUtf8 { file: file.clone(), line }
    })
}

/// The bytes of a file, decompressed.
fn stream(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut raw: Box<dyn Read + Send> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let mut head = Vec::new();
    raw.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    InputCompression::of(&head).decoder(Cursor::new(head).chain(raw))
}

fn refuse_foreign(file: &str, head: &[u8]) -> Result<(), WorkloadError> {
    if is_utf16(head) {
        return Err(WorkloadError::Utf16 { file: file.to_owned() });
    }
    match foreign_type(head) {
        Some(found) => Err(WorkloadError::Foreign { file: file.to_owned(), found }),
        None => Ok(()),
    }
}

/// The lines of a text that say something, with their numbers from 1, one after the other: what is held is one line,
/// however long the file.
pub(crate) struct ListLines<R> {
    file: String,
    reader: R,
    number: usize,
    /// Lines that said something.
    given: usize,
    /// Bytes that a line may have.
    longest: usize,
    /// Bytes that may still come.
    left: usize,
}

/// The lines of judgements or of a run; `-` is standard input.
///
/// # Errors
/// The file cannot be read, or is certainly no text.
pub(crate) fn open_list(path: &Path) -> Result<ListLines<impl BufRead>, WorkloadError> {
    open_lines_of(path, limits::BOUNDS.list_line_bytes, limits::BOUNDS.list_bytes)
}

/// The lines of a file whose lines may be documents with their texts; `-` is standard input.
///
/// # Errors
/// See [`open_list`].
pub(super) fn open_records(path: &Path) -> Result<ListLines<impl BufRead>, WorkloadError> {
    open_lines_of(path, limits::BOUNDS.line_bytes, usize::MAX)
}

fn open_lines_of(
    path: &Path,
    longest: usize,
    left: usize,
) -> Result<ListLines<impl BufRead>, WorkloadError> {
    let file = shown(path);
    let failed = |source| WorkloadError::Read { file: shown(path), source };
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, stream(path).map_err(failed)?);
    refuse_foreign(&file, reader.fill_buf().map_err(failed)?)?;
    Ok(ListLines { longest, left, ..ListLines::new(reader, &file) })
}

impl<R: BufRead> ListLines<R> {
    /// Of a reader; `file` stands for it in messages.
    pub(crate) fn new(reader: R, file: &str) -> Self {
        let longest = limits::BOUNDS.list_line_bytes;
        let left = limits::BOUNDS.list_bytes;
        Self { file: file.to_owned(), reader, number: 0, given: 0, longest, left }
    }

    /// How the file is called.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    fn line(&mut self) -> Result<Option<String>, WorkloadError> {
        let mut bytes = Vec::new();
        let read = read_line(&mut self.reader, self.longest, &mut bytes);
        let read =
            read.map_err(|source| WorkloadError::Read { file: self.file.clone(), source })?;
        self.number += 1;
        let (file, line) = (self.file.clone(), self.number);
        match read {
            Line::End => return Ok(None),
            Line::TooLong(bytes) => {
                let what = format!("the line has {bytes} bytes, at most {}", self.longest);
                return Err(WorkloadError::Line { file, line, what });
            }
            Line::Whole => {}
        }
        let Some(left) = self.left.checked_sub(bytes.len()) else {
            let what = format!("there are more than {} MiB", limits::BOUNDS.list_bytes >> 20);
            return Err(WorkloadError::Line { file, line, what });
        };
        self.left = left;
        let text = String::from_utf8(bytes);
        let mut text = text.map_err(|_| WorkloadError::NotUtf8 { file: file.clone(), line })?;
        if line == 1 && text.starts_with(MARK) {
            text.drain(..MARK.len_utf8());
        }
        self.given += usize::from(!text.trim().is_empty());
        if self.given > limits::BOUNDS.list_lines {
            let what = format!("there are more than {} lines", limits::BOUNDS.list_lines);
            return Err(WorkloadError::Line { file, line, what });
        }
        Ok(Some(text))
    }
}

impl<R: BufRead> Iterator for ListLines<R> {
    type Item = Result<(usize, String), WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.line() {
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(line) => return line.map(|line| Ok((self.number, line))),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
