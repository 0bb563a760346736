//! What both caches share: scores by key, those that are not there computed and written.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::file::{ScoreFile, ScoreRecord};
use crate::neural::{NeuralError, texts_a_call};

/// Scores that are computed before they are written, or as many as a call should have: what an interrupted run loses
/// at most.
const CHUNK: usize = 1024;

/// Scores by key, in memory and in a file. What is not yet written is written when it is dropped.
pub(crate) struct ScoreMemory {
    state: Mutex<State>,
}

struct State {
    file: ScoreFile,
    scores: HashMap<u128, f64>,
    /// Not yet in the file.
    pending: Vec<ScoreRecord>,
}

impl ScoreMemory {
    /// The memory of the model with `fingerprint` in `directory`.
    pub(crate) fn open(directory: &Path, fingerprint: &str) -> Result<Self, NeuralError> {
        let (file, records) = ScoreFile::open(directory, fingerprint)?;
        let scores = records.into_iter().map(|record| (record.key, record.score)).collect();
        Ok(Self { state: Mutex::new(State { file, scores, pending: Vec::new() }) })
    }

    /// Writes the scores that only memory has.
    pub(crate) fn flush(&self) -> Result<(), NeuralError> {
        self.state().flush()
    }

    /// The scores of `texts`, which have these keys. `model`, whose name is for messages, scores
    /// those that have none, each once.
    pub(crate) fn scores(
        &self,
        name: &str,
        keys: &[u128],
        texts: &[&str],
        mut model: impl FnMut(&[&str]) -> Result<Vec<f64>, NeuralError>,
    ) -> Result<Vec<f64>, NeuralError> {
        for chunk in self.unknown(keys, texts).chunks(texts_a_call().max(CHUNK)) {
            let texts: Vec<&str> = chunk.iter().map(|(_, text)| *text).collect();
            self.add(chunk.iter().map(|(key, _)| *key).zip(model(&texts)?))?;
        }
        let state = self.state();
        let score = |key: &u128| state.scores.get(key).copied();
        let scores: Option<Vec<f64>> = keys.iter().map(score).collect();
        scores.ok_or_else(|| NeuralError::Run {
            model: name.to_owned(),
            runtime: "the model".to_owned(),
            problem: "it gave fewer scores than there were texts".to_owned(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The texts that have no score yet, each once, with their keys.
    fn unknown<'t>(&self, keys: &[u128], texts: &[&'t str]) -> Vec<(u128, &'t str)> {
        let state = self.state();
        let mut seen = HashSet::new();
        let texts = keys.iter().copied().zip(texts.iter().copied());
        texts.filter(|(key, _)| !state.scores.contains_key(key) && seen.insert(*key)).collect()
    }

    fn add(&self, scored: impl Iterator<Item = (u128, f64)>) -> Result<(), NeuralError> {
        let mut state = self.state();
        for (key, score) in scored {
            state.scores.insert(key, score);
            state.pending.push(ScoreRecord { key, score });
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

impl Drop for ScoreMemory {
    fn drop(&mut self) {
        // Lost scores are computed again; there is no one left to tell.
        let _ = self.flush();
    }
}
