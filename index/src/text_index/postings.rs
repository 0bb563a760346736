//! All words of an index with their postings, for who takes the whole of it elsewhere.

use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;
use tantivy::{DocSet, TERMINATED};

use super::{TextIndex, failed};
use crate::error::StoreError;
use crate::page_store::NONE;

impl TextIndex {
    /// Calls `take` with every word of current documents, ascending by bytes, and its postings: the document's place among
    /// [`TextIndex::current`], ascending, and how often the word occurs in it.
    ///
    /// Costs one pass over all postings; memory is the longest list and 4 bytes a document.
    ///
    /// # Errors
    /// The postings cannot be read, or `take` fails.
    pub fn for_each_word<E: From<StoreError>>(
        &self,
        mut take: impl FnMut(&str, &[(u32, u32)]) -> Result<(), E>,
    ) -> Result<(), E> {
        let places = self.places();
        let streams = self.segments.iter().map(|part| part.inverted.terms().stream());
        let streams = streams.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
        let mut merged = TermMerger::new(streams);
        let mut list = Vec::new();
        while merged.advance() {
            list.clear();
            for (segment, info) in merged.current_segment_ords_and_term_infos() {
                let part = &self.segments[segment];
                let postings =
                    part.inverted.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs);
                let mut postings = postings.map_err(failed)?;
                while postings.doc() != TERMINATED {
                    let place = places[(part.base + postings.doc()) as usize];
                    if place != NONE {
                        list.push((place, postings.term_freq()));
                    }
                    postings.advance();
                }
            }
            if !list.is_empty() {
                // Segments come and lie in no order.
                list.sort_unstable();
                take(&String::from_utf8_lossy(merged.key()), &list)?;
            }
        }
        Ok(())
    }

    /// Ordinals of the documents that no later one replaced, in the order in which they were fetched.
    pub fn current(&self) -> Vec<usize> {
        let docs = &self.docs;
        let is_current = |&at: &usize| docs.superseded_at[at] == NONE && docs.seq[at] != NONE;
        let mut current: Vec<usize> = (0..docs.url.len()).filter(is_current).collect();
        current.sort_unstable_by_key(|&at| docs.seq[at]);
        current
    }

    /// By document: its place among the current ones, [`NONE`] for others.
    fn places(&self) -> Vec<u32> {
        let mut places = vec![NONE; self.docs.url.len()];
        for (place, at) in self.current().into_iter().enumerate() {
            places[at] = place as u32;
        }
        places
    }
}
