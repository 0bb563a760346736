//! Scores that have been computed before: models that remember them on disk.
//!
//! One file for each fingerprint in a directory that the caller names, so a changed model, setting
//! or runtime starts anew. The file's format is in [`file`](mod@file). All of it is read into memory when it is
//! opened, 40 bytes a score or so.

mod file;
mod memory;

use std::path::Path;

use memory::ScoreMemory;
use xxhash_rust::xxh3::xxh3_128;

use super::{NeuralError, PairModel, QualityModel};

/// A quality model whose scores are remembered by text. What is not yet written is written when it
/// is dropped; [`Cached::flush`] says whether that works.
pub(crate) struct Cached<'a> {
    model: &'a dyn QualityModel,
    memory: ScoreMemory,
}

impl<'a> Cached<'a> {
    /// Opens the file of `model`'s scores in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// The directory cannot be made or the file not read. A file that is damaged is no error: what is
    /// damaged counts as not there.
    pub(crate) fn open(directory: &Path, model: &'a dyn QualityModel) -> Result<Self, NeuralError> {
        Ok(Self { model, memory: ScoreMemory::open(directory, model.fingerprint())? })
    }

    /// Writes the scores that only memory has.
    ///
    /// # Errors
    /// The file cannot be written; the scores are then still in memory.
    pub(crate) fn flush(&self) -> Result<(), NeuralError> {
        self.memory.flush()
    }
}

impl QualityModel for Cached<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn fingerprint(&self) -> &str {
        self.model.fingerprint()
    }

    fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let keys: Vec<u128> = texts.iter().map(|text| xxh3_128(text.as_bytes())).collect();
        self.memory.scores(self.name(), &keys, texts, |texts| self.model.score(texts))
    }
}

/// A cross-encoder whose scores are remembered by query and text, else as [`Cached`].
pub(crate) struct CachedPairs<'a> {
    model: &'a dyn PairModel,
    memory: ScoreMemory,
}

impl<'a> CachedPairs<'a> {
    /// As [`Cached::open`].
    ///
    /// # Errors
    /// As for [`Cached::open`].
    pub(crate) fn open(directory: &Path, model: &'a dyn PairModel) -> Result<Self, NeuralError> {
        Ok(Self { model, memory: ScoreMemory::open(directory, model.fingerprint())? })
    }

    /// As [`Cached::flush`].
    ///
    /// # Errors
    /// As for [`Cached::flush`].
    pub(crate) fn flush(&self) -> Result<(), NeuralError> {
        self.memory.flush()
    }
}

impl PairModel for CachedPairs<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn fingerprint(&self) -> &str {
        self.model.fingerprint()
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let of_query = xxh3_128(query.as_bytes()).to_le_bytes();
        let keys: Vec<u128> = texts.iter().map(|text| pair_key(of_query, text)).collect();
        self.memory.scores(self.name(), &keys, texts, |texts| self.model.score(query, texts))
    }
}

/// Of the two hashes, so that no query runs into its text.
fn pair_key(of_query: [u8; 16], text: &str) -> u128 {
    let of_text = xxh3_128(text.as_bytes()).to_le_bytes();
    xxh3_128([of_query, of_text].as_flattened())
}

#[cfg(test)]
mod tests;
