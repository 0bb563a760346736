//! A segment's bytes on their way from files to [`Segment::from_parts`](super::Segment::from_parts).

use std::path::Path;

use super::NgramError;
use super::error::io_error;
use super::layout::{FILTER, NGRAMS, POSTINGS, STRINGS, TOKENS};

/// The bytes of a segment's five files.
#[derive(Clone, Debug, Default)]
pub struct SegmentParts {
    /// Of [`TOKENS`].
    pub(crate) tokens: Vec<u8>,
    /// Of [`NGRAMS`].
    pub(crate) ngrams: Vec<u8>,
    /// Of [`POSTINGS`].
    pub(crate) postings: Vec<u8>,
    /// Of [`FILTER`].
    pub(crate) filter: Vec<u8>,
    /// Of [`STRINGS`].
    pub(crate) strings: Vec<u8>,
}

impl SegmentParts {
    /// Reads the files of `dir`, without any check.
    ///
    /// # Errors
    /// [`NgramError::Io`] naming the file that could not be read.
    pub fn read(dir: &Path) -> Result<Self, NgramError> {
        Ok(Self {
            tokens: read(dir, TOKENS)?,
            ngrams: read(dir, NGRAMS)?,
            postings: read(dir, POSTINGS)?,
            filter: read(dir, FILTER)?,
            strings: read(dir, STRINGS)?,
        })
    }
}

fn read(dir: &Path, name: &str) -> Result<Vec<u8>, NgramError> {
    let path = dir.join(name);
    std::fs::read(&path).map_err(io_error("read", &path))
}
