//! The forward index: of every document the words of a vocabulary that it holds, where postings have of
//! every word its documents. What a planner that goes on asks of few pages and many queries costs the words
//! of these pages, and not the postings of all words.
//!
//! Costs 8 bytes for each word that a document holds, and 4 a document.

use std::collections::HashMap;

use rayon::prelude::*;

use super::TermId;
use crate::error::StoreError;
use crate::text_index::TextIndex;

/// By document of a text index: the words of a vocabulary that it holds, and how often.
#[derive(Debug)]
pub struct ForwardIndex {
    pub(super) vocabulary: HashMap<String, TermId>,
    /// Those of document d at `starts[d]..starts[d + 1]`, by word.
    starts: Vec<u32>,
    words: Vec<(TermId, u32)>,
}

impl ForwardIndex {
    /// Of all documents, fetched or not, for these words. Costs one reading of their postings.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn build<'w>(
        index: &TextIndex,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<Self, StoreError> {
        let distinct = super::distinct(words);
        let postings: Vec<Vec<(u32, u32)>> = distinct
            .par_iter()
            .map(|word| {
                let (term, mut found) = (index.term(word)?, Vec::new());
                for segment in 0..index.segments().count() {
                    index.for_each_block(&term, segment, |base, block, freqs| {
                        found.extend(block.iter().map(|doc| base + doc).zip(freqs.iter().copied()));
                    })?;
                }
                Ok(found)
            })
            .collect::<Result<_, StoreError>>()?;
        let mut starts = vec![0; index.docs().url.len() + 1];
        for (doc, _) in postings.iter().flatten() {
            starts[*doc as usize + 1] += 1;
        }
        for doc in 1..starts.len() {
            starts[doc] += starts[doc - 1];
        }
        let (mut ends, mut words) =
            (starts.clone(), vec![(0, 0); *starts.last().unwrap_or(&0) as usize]);
        for (term, documents) in postings.iter().enumerate() {
            for &(doc, frequency) in documents {
                let end = &mut ends[doc as usize];
                words[*end as usize] = (term as TermId, frequency);
                *end += 1;
            }
        }
        Ok(Self { vocabulary: super::numbered(&distinct), starts, words })
    }

    /// Words that a document holds, ascending, with their frequencies.
    pub(super) fn of(&self, doc: usize) -> &[(TermId, u32)] {
        &self.words[self.starts[doc] as usize..self.starts[doc + 1] as usize]
    }

    /// How often a document holds a word.
    pub(super) fn frequency(&self, doc: usize, term: TermId) -> u32 {
        let words = self.of(doc);
        words.binary_search_by_key(&term, |(term, _)| *term).map_or(0, |at| words[at].1)
    }
}
