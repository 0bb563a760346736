//! The forward index: of every document the words of a vocabulary that it holds, where postings have of
//! every word its documents. What a planner that goes on asks of few pages and many queries costs the words
//! of these pages, and not the postings of all words.
//!
//! Costs 8 bytes for each word that a document holds, and 4 a document.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::{TermId, Vocabulary};
use crate::error::StoreError;
use crate::text_index::TextIndex;

/// By document of a text index: the words of a vocabulary that it holds, and how often.
#[derive(Debug)]
pub struct ForwardIndex {
    pub(super) vocabulary: Arc<Vocabulary>,
    /// `fetch_seq` of the documents.
    seqs: Vec<u32>,
    /// Those of document d at `starts[d]..starts[d + 1]`, by word.
    starts: Vec<u32>,
    words: Vec<(TermId, u32)>,
}

/// Postings of a word in some segments: documents, and how often each has it.
type Postings = Vec<(u32, u32)>;

impl ForwardIndex {
    /// Of all documents, fetched or not, for these words. Costs one reading of their postings.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn build<'w>(
        index: &TextIndex,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<Arc<Self>, StoreError> {
        let vocabulary = Arc::new(super::numbered(&super::distinct(words)));
        let none = Self { vocabulary, seqs: Vec::new(), starts: vec![0], words: Vec::new() };
        Arc::new(none).grown(index)
    }

    /// The same for an index that has the documents of this one, in whatever order, and more. Costs a copy, and the
    /// postings of segments that have new documents.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn grown(self: &Arc<Self>, index: &TextIndex) -> Result<Arc<Self>, StoreError> {
        let seqs = &index.docs().seq;
        if self.seqs == *seqs {
            return Ok(Arc::clone(self));
        }
        let known: HashMap<u32, usize> = self.seqs.iter().copied().zip(0..).collect();
        let is_new = |doc: usize| !known.contains_key(&seqs[doc]);
        let segments: Vec<usize> = (0..)
            .zip(index.segments())
            .filter_map(|(number, mut documents)| documents.any(is_new).then_some(number))
            .collect();
        let of_word =
            |(word, &term): (&String, &TermId)| Ok((term, postings(index, word, &segments)?));
        let mut found: Vec<(TermId, Postings)> =
            self.vocabulary.par_iter().map(of_word).collect::<Result<_, StoreError>>()?;
        found.sort_unstable_by_key(|(term, _)| *term);
        let mut new = vec![Vec::new(); seqs.len()];
        for (term, of_word) in found {
            for (doc, frequency) in of_word.into_iter().filter(|(doc, _)| is_new(*doc as usize)) {
                new[doc as usize].push((term, frequency));
            }
        }
        let (mut starts, mut words) = (vec![0], Vec::new());
        for (doc, new) in new.iter().enumerate() {
            words.extend_from_slice(known.get(&seqs[doc]).map_or(new, |&old| self.of(old)));
            starts.push(words.len() as u32);
        }
        let vocabulary = Arc::clone(&self.vocabulary);
        Ok(Arc::new(Self { vocabulary, seqs: seqs.clone(), starts, words }))
    }

    /// Words that a document holds, ascending, with their frequencies.
    pub(super) fn of(&self, doc: usize) -> &[(TermId, u32)] {
        &self.words[self.starts[doc] as usize..self.starts[doc + 1] as usize]
    }
}

/// Documents of these segments that hold a word.
fn postings(index: &TextIndex, word: &str, segments: &[usize]) -> Result<Postings, StoreError> {
    let mut found = Vec::new();
    for &segment in segments {
        let Some(info) = index.term_in(word, segment)? else { continue };
        index.for_each_block_of(&info, segment, |base, block, freqs| {
            found.extend(block.iter().map(|doc| base + doc).zip(freqs.iter().copied()));
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bm25::{Bm25, FrozenStatistics, Scorer, Scores};
    use crate::page::UrlId;
    use crate::page_store::NONE;
    use crate::text_index::DocTable;

    const WORDS: [&str; 5] = ["rye", "bread", "oven", "flour", "nowhere"];

    /// Documents of words that come more or less often, of which those below `end` are fetched, in another order.
    fn docs(index: &TextIndex, end: u32) -> DocTable {
        let all = index.docs();
        let count = all.url.len() as u32;
        let seq =
            (0..count).map(|doc| doc * 7 % count).map(|seq| if seq < end { seq } else { NONE });
        DocTable { seq: seq.collect(), ..all.clone() }
    }

    fn text(page: usize) -> String {
        let words = (0..20).map(|at| WORDS[(page * at * at + page + at) % 4]);
        words.take(3 + page % 17).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pages_score_as_postings_say_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        let texts = |most| (0..most).map(|page| (String::new(), text(page)));
        let first = TextIndex::build(&dir.path().join("first"), texts(50)).unwrap();
        let whole = TextIndex::build(&dir.path().join("text"), texts(90)).unwrap();
        let forward = ForwardIndex::build(&first, WORDS).unwrap().grown(&whole).unwrap();
        let early = whole.with_docs(docs(&whole, 40));
        let before = Scorer::with_forward(&early, Bm25::default(), 40, &forward, None).unwrap();
        let frozen = FrozenStatistics::from(&before);
        let later = whole.with_docs(docs(&whole, 70));
        let plain = Scorer::new(&later, Bm25::default(), 40, WORDS).unwrap();
        let scorer = Scorer::resume(&later, &frozen);
        assert_eq!(plain.statistics(), scorer.statistics());
        assert!(scorer.scores_pages() && !plain.scores_pages());
        let query: Vec<String> = ["bread", "rye", "bread", "nowhere"].map(str::to_owned).into();
        let (terms, ids) = (plain.term_ids(&query), scorer.term_ids(&query));
        let (mut scores, mut gathered) = (Scores::default(), Scores::default());
        plain.score(&terms, 0..70, &mut scores).unwrap();
        let pages = (0..90).map(UrlId);
        let expected = |url| plain.score_of(&scores, url);
        assert!(pages.clone().any(|url| expected(url) > 0.0));
        for url in pages.clone() {
            let mut words = ids.clone();
            words.sort_unstable();
            words.dedup();
            let mut added = HashMap::new();
            scorer.word_scores(url, &words, |place, score| {
                assert_eq!(added.insert(words[place], score), None);
            });
            let sum = ids.iter().fold(0.0, |sum, word| sum + added.get(word).unwrap_or(&0.0));
            assert_eq!(sum.to_bits(), expected(url).to_bits());
            for (word, score) in added {
                scorer.word_scores(url, &[word], |_, alone| assert_eq!(alone, score));
            }
        }
        plain.score(&terms, 50..70, &mut scores).unwrap();
        let new = scorer.ordered(ids.iter().copied(), 50..70, |seq, _| seq).unwrap();
        scorer.score_ordered(&ids, &new, &mut gathered);
        for url in pages {
            let found = scorer.score_of(&gathered, url);
            assert_eq!(found.to_bits(), plain.score_of(&scores, url).to_bits());
        }
    }
}
