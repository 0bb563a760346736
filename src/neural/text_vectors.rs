//! Tables of vectors of texts, filled by an embedding model: each text is embedded once.

use std::collections::HashSet;

use prospect_index::derived::Derived;
use prospect_index::error::StoreError;
use prospect_index::page_store::NONE;
use prospect_index::vectors::VectorTable;
use serde::{Deserialize, Serialize};

use super::{Embedder, NeuralError};

/// Texts after which vectors are kept, so that a command that is stopped goes on there.
const KEPT: usize = 20_000;

/// Why a table cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The model.
    #[error(transparent)]
    Neural(#[from] NeuralError),
    /// The file it is kept in.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is said of an embedding model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbeddingModel {
    /// Its name, for people.
    pub(crate) name: String,
    /// Content hash of all that its vectors depend on.
    pub(crate) fingerprint: String,
}

impl EmbeddingModel {
    /// Of a model that is loaded.
    pub(crate) fn of(model: &dyn Embedder) -> Self {
        Self { name: model.name().to_owned(), fingerprint: model.fingerprint().to_owned() }
    }
}

/// The texts that have no vector yet, each once.
pub(crate) fn missing<S: AsRef<str>>(
    table: &VectorTable,
    texts: impl Iterator<Item = S>,
) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for text in texts {
        let text = text.as_ref();
        if !text.trim().is_empty() && table.row(text) == NONE && seen.insert(text.to_owned()) {
            all.push(text.to_owned());
        }
    }
    all
}

/// Embeds texts that have no vector yet, and keeps the vectors in `kept`; `told` is told how many of how
/// many are done.
///
/// # Errors
/// The model fails, or the vectors cannot be written.
pub(crate) fn fill(
    table: &mut VectorTable,
    model: &dyn Embedder,
    texts: &[String],
    kept: &Derived<'_>,
    told: &mut dyn FnMut(usize, usize),
) -> Result<(), VectorError> {
    let mut done = 0;
    for part in texts.chunks(KEPT) {
        for batch in part.chunks(super::texts_a_call()) {
            add(table, model, batch)?;
            done += batch.len();
            told(done, texts.len());
        }
        table.save(kept, model.fingerprint())?;
    }
    Ok(())
}

/// Embeds texts.
///
/// # Errors
/// The model fails.
pub(crate) fn add(
    table: &mut VectorTable,
    model: &dyn Embedder,
    texts: &[String],
) -> Result<(), NeuralError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (text, vector) in texts.iter().zip(model.embed(&texts)?) {
        table.add(text, &vector);
    }
    Ok(())
}
