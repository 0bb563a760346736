//! The text index of a store: built from its pages, extended by what is new, rebuilt when it does
//! not verify. Not responsible for reading it.

use serde::{Deserialize, Serialize};

use super::writing::Writing;
use super::{Refresh, Result, TextIndex, VERSION};
use crate::derived::{Derived, Found};
use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::page_store::{PageTable, for_each_text};
use crate::storage::Storage;
use crate::words::Analyzer;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Payload {
    /// Records with a lower `fetch_seq` are in the index.
    end_seq: u32,
    /// Hash of the page segments that hold them.
    lineage: String,
}

impl TextIndex {
    /// Opens the index of a store, after bringing it up to date with the committed pages.
    ///
    /// # Errors
    /// The pages cannot be read or the index cannot be written.
    pub fn open(
        storage: &Storage,
        manifest: &Manifest,
        pages: &PageTable,
    ) -> Result<(Self, Refresh)> {
        let derived = Derived::new(storage, manifest, "text", VERSION);
        let analyzer = Analyzer::from(&manifest.words);
        let superseded_at = |seq| pages.record(seq).map_or(0, |(_, at)| at);
        let mut refresh = Refresh { total: pages.len() as u64, ..Refresh::default() };
        let from_seq = match derived.find::<Payload>() {
            Found::Whole(state, _)
                if state.end_seq == manifest.next_seq
                    && state.lineage == manifest.lineage(state.end_seq) =>
            {
                let index = Self::read(&derived, &analyzer, superseded_at)?;
                if index.docs.url.len() >= pages.len() {
                    return Ok((index, refresh));
                }
                rebuild(&mut refresh, "it has not all pages")
            }
            Found::Whole(state, _)
                if state.end_seq < manifest.next_seq
                    && state.lineage == manifest.lineage(state.end_seq) =>
            {
                state.end_seq
            }
            Found::Whole(..) => rebuild(&mut refresh, "it was built from other pages"),
            Found::Damaged(what) => rebuild(&mut refresh, &what),
            Found::Missing => 0,
        };
        if from_seq == 0 {
            storage.fresh_directory(derived.directory())?;
        }
        refresh.added = extend(storage, manifest, (&derived, &analyzer), from_seq)?;
        let index = Self::read(&derived, &analyzer, superseded_at)?;
        if index.docs.url.len() < pages.len() {
            let what = format!("{} of {} pages are in it", index.docs.url.len(), pages.len());
            return Err(StoreError::Derived { structure: "text index", what });
        }
        // Replaced versions of pages are in the index too.
        refresh.total = index.docs.url.len() as u64;
        Ok((index, refresh))
    }
}

fn rebuild(refresh: &mut Refresh, why: &str) -> u32 {
    refresh.rebuilt = Some(why.to_owned());
    0
}

/// Adds the pages from `from_seq` on and publishes the state.
fn extend(
    storage: &Storage,
    manifest: &Manifest,
    (derived, analyzer): (&Derived<'_>, &Analyzer),
    from_seq: u32,
) -> Result<u64> {
    let threads = if manifest.next_seq - from_seq < 20_000 { 1 } else { 2 };
    let mut writing = Writing::start(derived, analyzer, threads)?;
    for_each_text(storage, manifest, from_seq, |pages| writing.add(&pages))?;
    let end_seq = manifest.next_seq;
    writing.finish(&Payload { end_seq, lineage: manifest.lineage(end_seq) })
}
