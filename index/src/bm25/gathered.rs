//! Postings of a range of documents, gathered from all words at once: what a batch of new pages
//! does to the lists of many queries costs one reading of each word's postings, not one for every
//! query that has the word.

use std::ops::Range;

use rayon::prelude::*;

use super::{ForwardIndex, Scorer, Scores, TermId};
use crate::error::StoreError;
use crate::page_store::NONE;

/// By word of a scorer's vocabulary: documents of a range that hold it, with its frequency.
#[derive(Debug, Default)]
pub struct Gathered {
    postings: Vec<Vec<(u32, u32)>>,
}

impl Scorer<'_> {
    /// Gathers the current documents with `fetch_seq` in `seqs`. Costs 8 bytes for each of their
    /// distinct words that is in the vocabulary.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn gather(&self, seqs: Range<u32>) -> Result<Gathered, StoreError> {
        if seqs.is_empty() {
            return Ok(Gathered { postings: vec![Vec::new(); self.frozen.postings.len()] });
        }
        if let Some(forward) = &self.frozen.forward {
            return Ok(self.gather_forward(forward, &seqs));
        }
        let one = |term| self.postings_of(term as TermId, &seqs);
        let postings = (0..self.frozen.postings.len()).into_par_iter().map(one);
        Ok(Gathered { postings: postings.collect::<Result<_, StoreError>>()? })
    }

    /// The same by the words of these documents.
    fn gather_forward(&self, forward: &ForwardIndex, seqs: &Range<u32>) -> Gathered {
        let docs = self.index.docs();
        let mut postings = vec![Vec::new(); self.frozen.postings.len()];
        for (doc, seq) in docs.seq.iter().enumerate().filter(|(_, seq)| seqs.contains(seq)) {
            debug_assert_ne!(*seq, NONE);
            if docs.superseded_at[doc] >= seqs.end {
                let words = forward.of(doc).iter();
                words.for_each(|&(term, tf)| postings[term as usize].push((doc as u32, tf)));
            }
        }
        Gathered { postings }
    }

    /// Current documents with `fetch_seq` in `seqs` that have a word, with how often they have it.
    fn postings_of(&self, term: TermId, seqs: &Range<u32>) -> Result<Vec<(u32, u32)>, StoreError> {
        let mut found = Vec::new();
        self.for_each(term, seqs, |doc, tf| found.push((doc as u32, tf)))?;
        Ok(found)
    }

    /// As [`Scorer::score`] for the range that was gathered, to the last bit.
    pub fn score_gathered(&self, query: &[TermId], gathered: &Gathered, scores: &mut Scores) {
        scores.clear(self.frozen.norms.len());
        for &term in query {
            let idf = self.frozen.idf[term as usize];
            for &(doc, tf) in &gathered.postings[term as usize] {
                let doc = doc as usize;
                scores.add(doc, self.frozen.bm25.term_score(idf, tf, self.frozen.norms[doc]));
            }
        }
    }
}
