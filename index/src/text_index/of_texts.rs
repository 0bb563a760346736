//! An index of texts that belong to no store: a corpus that many simulated crawls share.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::writing::Writing;
use super::{Result, TextIndex, VERSION};
use crate::derived::Derived;
use crate::error::StoreError;
use crate::page::UrlId;
use crate::page_store::{NONE, PageText};
use crate::words::Analyzer;

/// Texts are indexed this many bytes at a time: what is held beside the writer.
const CHUNK_BYTES: usize = 8 << 20;
/// Threads of the writer.
const THREADS: usize = 2;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Payload {
    documents: u32,
}

impl TextIndex {
    /// Indexes (title, text) pairs that belong to no store in `directory`, which is made, and
    /// emptied of an earlier index. Document i of `texts` has `UrlId(i)` and `seq` i, whatever the
    /// segments are.
    ///
    /// The files are whole when this returns; what an interrupted build leaves has no state. Memory: a chunk of 8 MiB of texts and the writer's 128 MiB.
    ///
    /// # Errors
    /// The index cannot be written, or the directory holds something that is no index.
    pub fn build(
        directory: &Path,
        texts: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self> {
        Self::build_with(directory, &Analyzer::default(), texts)
    }

    /// The same, with words as `analyzer` makes them.
    ///
    /// # Errors
    /// See [`TextIndex::build`].
    pub fn build_with(
        directory: &Path,
        analyzer: &Analyzer,
        texts: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self> {
        let derived = Derived::at(directory, VERSION)?;
        refuse_foreign(&derived, directory)?;
        derived.storage().fresh_directory(derived.directory())?;
        let documents =
            write(&derived, analyzer, texts).map_err(|error| located(error, directory))?;
        Self::of_texts(&derived, analyzer, directory, documents)
    }

    fn of_texts(
        derived: &Derived<'_>,
        analyzer: &Analyzer,
        directory: &Path,
        documents: u32,
    ) -> Result<Self> {
        let index =
            Self::read(derived, analyzer, |_| NONE).map_err(|error| located(error, directory))?;
        let found = index.docs.url.len();
        if found == documents as usize {
            return Ok(index);
        }
        let what = format!("{found} documents, expected {documents}");
        Err(StoreError::Derived { structure: "text index", what })
    }
}

/// Indexes all texts and publishes the state; returns the number of documents.
fn write(
    derived: &Derived<'_>,
    analyzer: &Analyzer,
    texts: impl IntoIterator<Item = (String, String)>,
) -> Result<u32> {
    let mut writing = Writing::start(derived, analyzer, THREADS)?;
    let (mut chunk, mut bytes, mut documents) = (Vec::new(), 0, 0);
    for (title, text) in texts {
        if documents == NONE {
            let what = format!("more than {NONE} documents");
            return Err(StoreError::Derived { structure: "text index", what });
        }
        bytes += title.len() + text.len();
        chunk.push(PageText { url: UrlId(documents), seq: documents, title, text });
        documents += 1;
        if bytes >= CHUNK_BYTES {
            writing.add(&chunk)?;
            chunk.clear();
            bytes = 0;
        }
    }
    writing.add(&chunk)?;
    writing.finish(&Payload { documents })?;
    Ok(documents)
}

/// A build empties its directory: one with files of something else is left alone.
fn refuse_foreign(derived: &Derived<'_>, directory: &Path) -> Result<()> {
    let names = derived.storage().list(derived.directory())?;
    // What the index writes before anything else has a hidden name.
    let ours = |name: &String| name.starts_with('.') || name == "meta.json" || name == "STATE.json";
    if names.is_empty() || names.iter().any(ours) {
        return Ok(());
    }
    let what = format!("{} holds files that are no index", directory.display());
    Err(StoreError::Derived { structure: "text index", what })
}

/// Errors of the index name the store's directory; this one has its own.
fn located(error: StoreError, directory: &Path) -> StoreError {
    match error {
        StoreError::Io { operation, source, .. } => {
            StoreError::Io { operation, path: directory.to_owned(), source }
        }
        other => other,
    }
}
