//! Postings of a query, decoded once and read for every crawl.

use std::ops::Range;

use super::lanes::Real;
use crate::error::StoreError;
use crate::text_index::{TermPostings, TextIndex};

/// Postings of the distinct terms of a query, one term after the other, documents ascending.
#[derive(Debug, Default)]
pub(super) struct Postings {
    docs: Vec<u32>,
    tfs: Vec<u32>,
    terms: Vec<Range<usize>>,
    /// Slot of each word of the query, in query order: its place among the distinct terms.
    slots: Vec<usize>,
    /// Ids of the terms, by slot.
    ids: Vec<u32>,
    /// First posting of each term that is not passed yet, and the end of the window.
    window: Vec<Range<usize>>,
}

impl Postings {
    /// Decodes the terms of a query, given by id in query order.
    pub(crate) fn read(
        &mut self,
        index: &TextIndex,
        query: &[u32],
        all: &[TermPostings],
    ) -> Result<(), StoreError> {
        self.docs.clear();
        self.tfs.clear();
        self.terms.clear();
        self.slots.clear();
        self.ids.clear();
        for &id in query {
            if let Some(slot) = self.ids.iter().position(|known| *known == id) {
                self.slots.push(slot);
                continue;
            }
            let start = self.docs.len();
            let postings = &all[id as usize];
            for segment in 0..index.segments().count() {
                index.for_each_block(postings, segment, |base, docs, tfs| {
                    self.docs.extend(docs.iter().map(|doc| base + doc));
                    self.tfs.extend_from_slice(tfs);
                })?;
            }
            self.slots.push(self.ids.len());
            self.ids.push(id);
            self.terms.push(start..self.docs.len());
        }
        Ok(())
    }

    /// Before the first window.
    pub(crate) fn rewind(&mut self) {
        self.window.clear();
        self.window.extend(self.terms.iter().map(|term| term.start..term.start));
    }

    /// Moves to the next window of `docs` documents that holds a posting; returns its first
    /// document, or none at the end.
    pub(crate) fn next_window(&mut self, docs: u32) -> Option<u32> {
        let next = |(window, term): (&Range<usize>, &Range<usize>)| {
            (window.end < term.end).then(|| self.docs[window.end])
        };
        let base = self.window.iter().zip(&self.terms).filter_map(next).min()?;
        let end = base.saturating_add(docs);
        for (window, term) in self.window.iter_mut().zip(&self.terms) {
            let rest = &self.docs[window.end..term.end];
            // A window holds at most as many postings of a term as documents.
            let near = &rest[..rest.len().min(docs as usize)];
            let len = near.partition_point(|&doc| doc < end);
            *window = window.end..window.end + len;
        }
        Some(base)
    }

    /// Documents and term frequencies of a slot in the window.
    pub(crate) fn in_window(&self, slot: usize) -> (&[u32], &[u32]) {
        let range = self.window[slot].clone();
        (&self.docs[range.clone()], &self.tfs[range])
    }

    /// Slot of each word of the query, in query order.
    pub(crate) fn words(&self) -> &[usize] {
        &self.slots
    }

    /// Ids of the distinct terms, by slot.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Documents that hold the term of a slot.
    pub(crate) fn len(&self, slot: usize) -> usize {
        self.terms[slot].len()
    }

    /// Calls `take` with the term id and frequency of each word of the query that a document
    /// holds, in query order.
    pub(crate) fn of_document<R: Real>(&self, doc: u32, mut take: impl FnMut(u32, R)) {
        for &slot in &self.slots {
            let range = self.terms[slot].clone();
            if let Ok(at) = self.docs[range.clone()].binary_search(&doc) {
                take(self.ids[slot], R::of(self.tfs[range.start + at]));
            }
        }
    }
}
