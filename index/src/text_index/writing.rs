//! Writing documents into the index of a directory, whatever they come from, until it is whole.

use rayon::prelude::*;
use serde::Serialize;
use tantivy::index::SegmentId;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{Index, IndexWriter, TantivyDocument, TantivyError};

use super::document::{Fields, document, schema};
use super::{Result, failed, open_index};
use crate::derived::Derived;
use crate::error::StoreError;
use crate::page_store::PageText;
use crate::words::Analyzer;

const LOCK_SUFFIX: &str = ".lock";
/// Memory of the indexing writer; beyond it a segment is written.
const WRITER_BYTES: usize = 128 << 20;
/// What a disk must take that is not full: more than the pieces in which an index is written.
const ASKED_BYTES: usize = 1 << 20;
/// Documents of one segment are merged with the next larger one while they are at least this share
/// of it, so that there are logarithmically many segments and each document moves that often.
const MERGE_SHARE: f64 = 0.5;

/// An index that documents are being added to.
pub(super) struct Writing<'a> {
    derived: &'a Derived<'a>,
    index: Index,
    fields: Fields,
    analyzer: Analyzer,
    writer: IndexWriter,
    added: u64,
}

impl<'a> Writing<'a> {
    /// Opens the index of a directory for writing, or creates it there.
    pub(crate) fn start(
        derived: &'a Derived<'a>,
        analyzer: &Analyzer,
        threads: usize,
    ) -> Result<Self> {
        let (schema, fields) = schema();
        let index = open_index(derived, schema, analyzer)?;
        let writer: IndexWriter =
            index.writer_with_num_threads(threads, WRITER_BYTES).map_err(failed)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { derived, index, fields, analyzer: analyzer.clone(), writer, added: 0 })
    }

    /// Adds pages.
    pub(crate) fn add(&mut self, pages: &[PageText]) -> Result<()> {
        let documents: Vec<TantivyDocument> =
            pages.par_iter().map(|page| document(self.fields, &self.analyzer, page)).collect();
        self.added += documents.len() as u64;
        for document in documents {
            let added = self.writer.add_document(document);
            added.map_err(|error| refused(self.derived, error))?;
        }
        Ok(())
    }

    /// Commits, merges small segments and publishes the state, which makes the index whole.
    /// Returns the number of documents added.
    pub(crate) fn finish<T: Serialize>(mut self, payload: &T) -> Result<u64> {
        self.writer.commit().map_err(|error| refused(self.derived, error))?;
        merge_tail(&self.index, &mut self.writer)?;
        self.writer.wait_merging_threads().map_err(failed)?;
        let mut files = self.derived.storage().entries_of(self.derived.directory())?;
        // Tantivy's lock files come and go; the state cannot name itself.
        let kept = |file: &str| !file.ends_with(LOCK_SUFFIX) && !file.ends_with("STATE.json");
        files.retain(|entry| kept(&entry.file));
        self.derived.publish(payload, files)?;
        Ok(self.added)
    }
}

/// What became of a write. Tantivy's threads end with an error of their own and keep what the system said to themselves,
/// so the disk is asked again.
fn refused(derived: &Derived<'_>, error: TantivyError) -> StoreError {
    let TantivyError::ErrorInThread(_) = error else { return failed(error) };
    let asked = derived.storage().try_room(derived.directory(), ASKED_BYTES);
    asked.err().unwrap_or_else(|| StoreError::Derived {
        structure: "text index",
        what: "a thread that writes it was refused a file or a write, which would succeed now"
            .into(),
    })
}

/// Keeps the segments in geometric sizes: the smallest are merged while the next larger is not
/// much larger.
fn merge_tail(index: &Index, writer: &mut IndexWriter) -> Result<()> {
    let mut metas = index.searchable_segment_metas().map_err(failed)?;
    metas.sort_by_key(|meta| (std::cmp::Reverse(meta.max_doc()), meta.id()));
    let mut merged: Vec<SegmentId> = Vec::new();
    let mut size = 0.0;
    while let Some(meta) = metas.pop() {
        if !merged.is_empty() && size < MERGE_SHARE * f64::from(meta.max_doc()) {
            break;
        }
        size += f64::from(meta.max_doc());
        merged.push(meta.id());
    }
    if merged.len() > 1 {
        writer.merge(&merged).wait().map_err(failed)?;
        writer.garbage_collect_files().wait().map_err(failed)?;
    }
    Ok(())
}
