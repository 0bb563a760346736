//! Scores that have been computed before: a model that remembers them on disk.
//!
//! One file for each fingerprint in a directory that the caller names, so a changed model, setting
//! or runtime starts anew. The file's format is in [`file`]. All of it is read into memory when it is
//! opened, 40 bytes a text or so.

mod file;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use file::{Record, ScoreFile};
use xxhash_rust::xxh3::xxh3_128;

use super::{NeuralError, QualityModel};

/// Scores that are computed before they are written: what an interrupted run loses at most.
const CHUNK: usize = 1024;

/// A model whose scores are remembered. What is not yet written is written when it is dropped;
/// [`Cached::flush`] says whether that works.
pub struct Cached<'a> {
    model: &'a dyn QualityModel,
    state: Mutex<State>,
}

struct State {
    file: ScoreFile,
    scores: HashMap<u128, f64>,
    /// Not yet in the file.
    pending: Vec<Record>,
}

impl<'a> Cached<'a> {
    /// Opens the file of `model`'s scores in `directory`, which is made if it is not there.
    ///
    /// # Errors
    /// The directory cannot be made or the file not read. A file that is damaged is no error: what is
    /// damaged counts as not there.
    pub fn open(directory: &Path, model: &'a dyn QualityModel) -> Result<Self, NeuralError> {
        let (file, records) = ScoreFile::open(directory, model.fingerprint())?;
        let scores = records.into_iter().map(|record| (record.text, record.score)).collect();
        Ok(Self { model, state: Mutex::new(State { file, scores, pending: Vec::new() }) })
    }

    /// Writes the scores that only memory has.
    ///
    /// # Errors
    /// The file cannot be written; the scores are then still in memory.
    pub fn flush(&self) -> Result<(), NeuralError> {
        self.state().flush()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The texts that have no score yet, each once, with their hashes.
    fn unknown<'t>(&self, texts: &[&'t str], hashes: &[u128]) -> Vec<(u128, &'t str)> {
        let state = self.state();
        let mut seen = std::collections::HashSet::new();
        let texts = hashes.iter().copied().zip(texts.iter().copied());
        texts.filter(|(hash, _)| !state.scores.contains_key(hash) && seen.insert(*hash)).collect()
    }

    fn score_chunk(&self, chunk: &[(u128, &str)]) -> Result<(), NeuralError> {
        let texts: Vec<&str> = chunk.iter().map(|(_, text)| *text).collect();
        let scores = self.model.score(&texts)?;
        let mut state = self.state();
        for ((text, _), score) in chunk.iter().zip(scores) {
            state.scores.insert(*text, score);
            state.pending.push(Record { text: *text, score });
        }
        if state.pending.len() >= CHUNK { state.flush() } else { Ok(()) }
    }
}

impl State {
    fn flush(&mut self) -> Result<(), NeuralError> {
        if !self.pending.is_empty() {
            self.file.add(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
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
        let hashes: Vec<u128> = texts.iter().map(|text| xxh3_128(text.as_bytes())).collect();
        for chunk in self.unknown(texts, &hashes).chunks(CHUNK) {
            self.score_chunk(chunk)?;
        }
        let state = self.state();
        let score = |hash: &u128| state.scores.get(hash).copied();
        let scores: Option<Vec<f64>> = hashes.iter().map(score).collect();
        scores.ok_or_else(|| NeuralError::Run {
            model: self.model.name().to_owned(),
            runtime: "the model".to_owned(),
            problem: "it gave fewer scores than there were texts".to_owned(),
        })
    }
}

impl Drop for Cached<'_> {
    fn drop(&mut self) {
        // Lost scores are computed again; there is no one left to tell.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests;
