//! What can go wrong with an n-gram index, said so that a person can act on it.
//!
//! Not here: how errors are shown. `fst` is this module's business only, so its errors arrive as
//! text.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use crate::page::UrlId;

/// Errors of building, opening and querying n-gram segments.
#[derive(Debug, thiserror::Error)]
pub enum NgramError {
    /// The disk refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done, as a verb.
        doing: &'static str,
        /// The file it was done to.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A part of a segment is not what this version of Prospect writes.
    #[error(
        "n-gram segment: {part} is damaged: {what}: expected {expected}, got {got}; \
         the n-gram index is derived, so delete it and it is rebuilt"
    )]
    Damaged {
        /// Name of the file.
        part: &'static str,
        /// The thing that differs.
        what: &'static str,
        /// What an intact file has there.
        expected: String,
        /// What was found.
        got: String,
    },
    /// The builder's dictionary could not take a key.
    #[error("n-gram segment: cannot write {part}: {problem}")]
    Dictionary {
        /// Name of the file.
        part: &'static str,
        /// What the dictionary writer said.
        problem: String,
    },
    /// A longest n-gram outside 1..=[`crate::limits::Bounds::ngram_words`].
    #[error("n-grams of up to {got} words were asked for; the supported lengths are 1 to {limit}")]
    MaxWords {
        /// The length asked for.
        got: usize,
        /// The longest supported.
        limit: usize,
    },
    /// URLs did not come in ascending order, or strings of one URL were not consecutive.
    #[error(
        "URL id {} was added after {}; add URLs in ascending order, all strings of one together",
        got.0,
        previous.0
    )]
    Order {
        /// The last URL added.
        previous: UrlId,
        /// The URL that should have come before it.
        got: UrlId,
    },
    /// More distinct words than three bytes can number.
    #[error("a segment holds at most {limit} distinct words; build several smaller segments")]
    TooManyTokens {
        /// The cap.
        limit: usize,
    },
    /// Segments built with different longest n-grams cannot answer together.
    #[error(
        "segments index n-grams of up to {expected} and of up to {got} words; \
         rebuild them with one length"
    )]
    MixedSegments {
        /// Length of the first segment.
        expected: usize,
        /// Length of one that differs.
        got: usize,
    },
    /// A query holds n-grams longer than those indexed.
    #[error("the query has n-grams of up to {got} words, the index only of up to {indexed}")]
    QueryTooLong {
        /// Longest n-gram of the query, in words.
        got: usize,
        /// Longest n-gram of the index, in words.
        indexed: usize,
    },
    /// A share (rho) outside 0..=1.
    #[error("the share of a query's n-grams that must match is {got}; it must lie between 0 and 1")]
    Share {
        /// The share asked for.
        got: f64,
    },
    /// A weight that is negative, not a number, or above 1e12.
    #[error("the weight of the word '{word}' is {got}; it must lie between 0 and 1e12")]
    Weight {
        /// The word.
        word: String,
        /// Its weight.
        got: f64,
    },
}

/// Turns an I/O error at `path` into one that says what was being done.
pub(super) fn io_error(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> NgramError + use<> {
    let path = path.to_owned();
    move |source| NgramError::Io { doing, path, source }
}

/// A damaged part, with what was expected and found.
pub(super) fn damaged(
    part: &'static str,
    what: &'static str,
    expected: &dyn Display,
    got: &dyn Display,
) -> NgramError {
    NgramError::Damaged { part, what, expected: expected.to_string(), got: got.to_string() }
}
