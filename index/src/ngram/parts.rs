//! A segment's bytes on their way from files to [`Segment::from_parts`](super::Segment::from_parts).

use std::path::Path;

use super::NgramError;
use super::error::io_error;
use super::layout::{FILTER, NGRAMS, POSTINGS, STRINGS, TOKENS};
use crate::mapped::{Bytes, map_path};

/// The bytes of a segment's five files, the large ones mapped.
#[derive(Clone, Debug)]
pub(crate) struct SegmentParts {
    /// Of [`TOKENS`].
    pub(crate) tokens: Vec<u8>,
    /// Of [`NGRAMS`].
    pub(crate) ngrams: Bytes,
    /// Of [`POSTINGS`].
    pub(crate) postings: Bytes,
    /// Of [`FILTER`].
    pub(crate) filter: Vec<u8>,
    /// Of [`STRINGS`].
    pub(crate) strings: Bytes,
}

impl SegmentParts {
    /// Reads the files of `dir`, without any check.
    ///
    /// # Errors
    /// [`NgramError::Io`] naming the file that could not be read.
    pub(crate) fn read(dir: &Path) -> Result<Self, NgramError> {
        Ok(Self {
            tokens: read(dir, TOKENS)?,
            ngrams: map(dir, NGRAMS)?,
            postings: map(dir, POSTINGS)?,
            filter: read(dir, FILTER)?,
            strings: map(dir, STRINGS)?,
        })
    }
}

fn read(dir: &Path, name: &str) -> Result<Vec<u8>, NgramError> {
    let path = dir.join(name);
    std::fs::read(&path).map_err(io_error("read", &path))
}

fn map(dir: &Path, name: &str) -> Result<Bytes, NgramError> {
    let path = dir.join(name);
    map_path(&path).map_err(io_error("map", &path))
}
