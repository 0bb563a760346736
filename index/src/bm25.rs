//! BM25, exactly: S of METHODS, section 0, over postings, with free k1 and b, as of any
//! `fetch_seq`.
//!
//! Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! the idf that Lucene uses, `ln(1 + (N - n + 0.5)/(n + 0.5))`, which is never negative.
//! Document lengths are exact and arithmetic is f64; query words count with multiplicity and are
//! summed in query order, so that a score is the same bits whatever the index's segments are.

mod forward;
mod ordered;

use std::collections::HashMap;
use std::ops::{Index, Range};
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::StoreError;
use crate::page::UrlId;
use crate::page_store::NONE;
use crate::text_index::{SegmentPart, TermPostings, TextIndex};
#[cfg(test)]
use crate::url_table::UrlTable;

pub use self::forward::ForwardIndex;
pub use self::ordered::{Contender, OrderedPostings};

/// The two parameters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bm25 {
    /// Saturation of the term frequency.
    pub k1: f64,
    /// Strength of the length normalisation.
    pub b: f64,
}

impl Default for Bm25 {
    /// k1 = 0.9, b = 0.4 (METHODS, section 0).
    fn default() -> Self {
        Self { k1: 0.9, b: 0.4 }
    }
}

impl Bm25 {
    /// `ln(1 + (N - n + 0.5)/(n + 0.5))` of a term in `df` of `documents` documents.
    pub(crate) fn idf(documents: u64, df: u64) -> f64 {
        // A term that is new since the statistics were frozen can have df > N by no more than its
        // own new documents; it is then as common as a term in every document.
        let (n, df) = (documents as f64, (df.min(documents)) as f64);
        (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
    }

    /// What one term adds to the score of a document.
    pub(crate) fn term_score(self, idf: f64, tf: u32, norm: f64) -> f64 {
        let tf = f64::from(tf);
        idf * (tf * (self.k1 + 1.0) / (tf + norm))
    }

    /// `k1 (1 - b + b dl/avgdl)`.
    pub(crate) fn norm(self, length: u32, average_length: f64) -> f64 {
        let relative = if average_length > 0.0 { f64::from(length) / average_length } else { 0.0 };
        self.k1 * (1.0 - self.b + self.b * relative)
    }
}

/// Size of a collection, from which scores are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CollectionStatistics {
    /// Documents: N.
    pub documents: u64,
    /// Words in all documents together.
    pub words: u64,
}

impl CollectionStatistics {
    /// Mean document length: avgdl.
    pub(crate) fn average_length(self) -> f64 {
        if self.documents == 0 { 0.0 } else { self.words as f64 / self.documents as f64 }
    }
}

/// A word of the workload, as an index into the scorer's vocabulary.
pub(crate) type TermId = u32;
/// Words by their text. Every plan asks for those of all queries.
type Vocabulary = HashMap<String, TermId, hashbrown::DefaultHashBuilder>;

/// Scores documents under the statistics as of one `fetch_seq`.
///
/// ```
/// use prospect_index::bm25::{Bm25, Scorer, Scores};
/// use prospect_index::text_index::TextIndex;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let directory = dir.path().join("index");
/// let texts = [("Crawling", "a crawler fetches pages"), ("Ranking", "an engine ranks pages")];
/// let texts = texts.map(|(title, text)| (title.into(), text.into()));
/// let index = TextIndex::build(&directory, texts)?;
/// let scorer = Scorer::new(&index, Bm25::default(), 2, ["crawler", "pages"])?;
/// assert_eq!(scorer.statistics().documents, 2);
/// assert_eq!(scorer.idf("crawler"), (1.0 + 1.5 / 1.5_f64).ln()); // in one document of two
///
/// let mut scores = Scores::default();
/// scorer.score(&scorer.term_ids(&["crawler".into()]), 0..2, &mut scores)?;
/// let scored: Vec<u32> = scorer.scored(&scores).map(|(_, page, _)| page.0).collect();
/// assert_eq!(scored, [0]);
/// # Ok(())
/// # }
/// ```
pub struct Scorer<'a> {
    index: &'a TextIndex,
    frozen: Arc<Frozen>,
    segments: Vec<Segment>,
    /// Document of the current page of each URL, `u32::MAX` if there is none.
    doc_of_url: Vec<u32>,
    /// Documents of versions that were replaced, by URL.
    replaced: HashMap<UrlId, Vec<u32>>,
    /// Whether a URL has any, for [`Scorer::score_of`], by URL; empty if none has.
    has_replaced: Vec<bool>,
}

/// What a scorer has of the epoch that it scores under, for another scorer of the same index later in the epoch.
#[derive(Clone)]
pub struct FrozenStatistics(Arc<Frozen>);

impl From<&Scorer<'_>> for FrozenStatistics {
    fn from(scorer: &Scorer<'_>) -> Self {
        Self(Arc::clone(&scorer.frozen))
    }
}

struct Frozen {
    bm25: Bm25,
    statistics: CollectionStatistics,
    norms: Vec<f64>,
    vocabulary: Arc<Vocabulary>,
    postings: Vec<TermPostings>,
    idf: Vec<f64>,
    forward: Option<Arc<ForwardIndex>>,
    /// Where postings lie, and up to which record they are counted.
    segments: Arc<[SegmentPart]>,
    epoch_end: u32,
}

/// Records that a segment of the index has documents of.
struct Segment {
    first_seq: u32,
    last_seq: u32,
}

/// Which documents of a segment the statistics count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    All,
    None,
    Some,
}

impl Counted {
    fn of(counted: &[bool]) -> Self {
        match counted.iter().filter(|counted| **counted).count() {
            0 => Self::None,
            some if some == counted.len() => Self::All,
            _ => Self::Some,
        }
    }
}

/// Scores of one query, by document; reused from query to query by one thread.
#[derive(Debug, Default)]
pub struct Scores {
    by_doc: Vec<f64>,
    touched: Vec<u32>,
}

/// The score at the place of a page ([`Scorer::place_of`]).
impl Index<u32> for Scores {
    type Output = f64;

    fn index(&self, place: u32) -> &f64 {
        self.by_doc.get(place as usize).unwrap_or(&0.0)
    }
}

impl<'a> Scorer<'a> {
    /// A scorer for the words of `vocabulary`, with N, df and avgdl of the documents as of
    /// `epoch_end` (a `fetch_seq`). It can score newer documents under these statistics.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn new<'w>(
        index: &'a TextIndex,
        bm25: Bm25,
        epoch_end: u32,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Result<Self, StoreError> {
        let distinct = distinct(words);
        let counted = counted(index, epoch_end);
        let segments: Vec<Counted> =
            index.segments().map(|range| Counted::of(&counted[range])).collect();
        let terms: Vec<(TermPostings, u64)> = distinct
            .par_iter()
            .map(|word| {
                let postings = index.term(word)?;
                let df = document_frequency(index, &postings, &counted, &segments)?;
                Ok((postings, df))
            })
            .collect::<Result<_, StoreError>>()?;
        let (postings, df): (Vec<_>, Vec<u64>) = terms.into_iter().unzip();
        let frozen = Frozen::new(index, (bm25, epoch_end), &counted, &df);
        let vocabulary = Arc::new(numbered(&distinct));
        Ok(Self::resume(
            index,
            &FrozenStatistics(Arc::new(Frozen { vocabulary, postings, ..frozen })),
        ))
    }

    /// The same for the words of a forward index of this `index`, whose postings it reads only where a query is
    /// scored over all documents. Statistics of an `earlier` scorer of the same document table are taken where they are of
    /// the same epoch, words and segments.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn with_forward(
        index: &'a TextIndex,
        bm25: Bm25,
        epoch_end: u32,
        forward: &Arc<ForwardIndex>,
        earlier: Option<&FrozenStatistics>,
    ) -> Result<Self, StoreError> {
        let is_same = |of: &&FrozenStatistics| of.0.is_of(index, (bm25, epoch_end), forward);
        if let Some(earlier) = earlier.filter(is_same) {
            return Ok(Self::resume(index, earlier));
        }
        let counted = counted(index, epoch_end);
        let mut df = vec![0; forward.vocabulary.len()];
        for (doc, _) in counted.iter().enumerate().filter(|(_, counted)| **counted) {
            forward.of(doc).iter().for_each(|(term, _)| df[*term as usize] += 1);
        }
        let mut postings = vec![TermPostings::default(); forward.vocabulary.len()];
        let looked_up = forward.vocabulary.par_iter();
        let looked_up = looked_up.map(|(word, &term)| Ok((term, index.term(word)?)));
        let looked_up: Vec<(TermId, TermPostings)> =
            looked_up.collect::<Result<_, StoreError>>()?;
        for (term, of_word) in looked_up {
            postings[term as usize] = of_word;
        }
        let frozen = Frozen {
            vocabulary: Arc::clone(&forward.vocabulary),
            postings,
            forward: Some(Arc::clone(forward)),
            ..Frozen::new(index, (bm25, epoch_end), &counted, &df)
        };
        Ok(Self::resume(index, &FrozenStatistics(Arc::new(frozen))))
    }

    /// A scorer under the statistics of an earlier one, of which `index` has the documents, whichever of them are
    /// fetched by now ([`TextIndex::with_docs`]). Costs one pass over the documents.
    #[must_use]
    pub fn resume(index: &'a TextIndex, frozen: &FrozenStatistics) -> Self {
        let docs = index.docs();
        let segments = index.segments().map(|range| {
            let fetched = || docs.seq[range.clone()].iter().copied().filter(|&seq| seq != NONE);
            let first_seq = fetched().min().unwrap_or(NONE);
            Segment { first_seq, last_seq: fetched().max().unwrap_or(0) }
        });
        let segments = segments.collect();
        let (doc_of_url, replaced) = docs_of_urls(index);
        let mut has_replaced = Vec::new();
        for url in replaced.keys() {
            has_replaced.resize(has_replaced.len().max(url.index() + 1), false);
            has_replaced[url.index()] = true;
        }
        let frozen = Arc::clone(&frozen.0);
        Self { index, frozen, segments, doc_of_url, replaced, has_replaced }
    }

    /// The statistics in use.
    pub fn statistics(&self) -> CollectionStatistics {
        self.frozen.statistics
    }

    /// The parameters in use.
    pub fn bm25(&self) -> Bm25 {
        self.frozen.bm25
    }

    /// Ids of words; words outside the vocabulary are left out.
    pub fn term_ids(&self, words: &[String]) -> Vec<TermId> {
        words.iter().filter_map(|word| self.frozen.vocabulary.get(word).copied()).collect()
    }

    /// idf of a word; of one that no document holds where it is not in the vocabulary.
    pub fn idf(&self, word: &str) -> f64 {
        match self.frozen.vocabulary.get(word) {
            Some(&id) => self.frozen.idf[id as usize],
            None => Bm25::idf(self.frozen.statistics.documents, 0),
        }
    }

    /// Scores all current documents with `fetch_seq` in `seqs` for a query (its words in order,
    /// with multiplicity).
    ///
    /// Costs the length of the postings of its words.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn score(
        &self,
        query: &[TermId],
        seqs: Range<u32>,
        scores: &mut Scores,
    ) -> Result<(), StoreError> {
        scores.clear(self.frozen.norms.len());
        for &term in query {
            let idf = self.frozen.idf[term as usize];
            self.for_each(term, &seqs, |doc, tf| {
                scores.add(doc, self.frozen.bm25.term_score(idf, tf, self.frozen.norms[doc]));
            })?;
        }
        Ok(())
    }

    /// In how many of the current documents with `fetch_seq` in `seqs` each word of the vocabulary is, whatever the
    /// statistics in use.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn document_counts(&self, seqs: Range<u32>) -> Result<HashMap<&str, u64>, StoreError> {
        let words = self.frozen.vocabulary.par_iter().map(|(word, &term)| {
            let mut count = 0;
            self.for_each(term, &seqs, |_, _| count += 1)?;
            Ok((word.as_str(), count))
        });
        words.collect()
    }

    /// Which of these words a current document with `fetch_seq` below `end_seq` holds, of the vocabulary or not.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn held(&self, words: &[&str], end_seq: u32) -> Result<Vec<bool>, StoreError> {
        words.par_iter().map(|word| self.is_held(word, end_seq)).collect()
    }

    fn is_held(&self, word: &str, end_seq: u32) -> Result<bool, StoreError> {
        let docs = self.index.docs();
        let visible = |doc: usize| docs.seq[doc] < end_seq && docs.superseded_at[doc] >= end_seq;
        let postings = self.index.term(word)?;
        for number in 0..self.segments.len() {
            let mut found = false;
            self.index.for_each_block(&postings, number, |base, block, _| {
                found = found || block.iter().any(|&doc| visible((base + doc) as usize));
            })?;
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Calls `take` with the current documents with `fetch_seq` in `seqs` that hold a word, and how
    /// often.
    fn for_each(
        &self,
        term: TermId,
        seqs: &Range<u32>,
        mut take: impl FnMut(usize, u32),
    ) -> Result<(), StoreError> {
        let docs = self.index.docs();
        let visible =
            |doc: usize| seqs.contains(&docs.seq[doc]) && docs.superseded_at[doc] >= seqs.end;
        let postings = &self.frozen.postings[term as usize];
        for (number, segment) in self.segments.iter().enumerate() {
            if segment.last_seq < seqs.start || segment.first_seq >= seqs.end {
                continue;
            }
            self.index.for_each_block(postings, number, |base, block, freqs| {
                for (&doc, &tf) in block.iter().zip(freqs) {
                    let doc = (base + doc) as usize;
                    if visible(doc) {
                        take(doc, tf);
                    }
                }
            })?;
        }
        Ok(())
    }

    /// The K best of the scored documents: score descending, then canonical URL ascending; what tests compare with.
    #[cfg(test)]
    pub(crate) fn top_k(&self, scores: &Scores, k: usize, urls: &UrlTable) -> Vec<(UrlId, f64)> {
        let mut top: Vec<(UrlId, f64)> =
            self.scored(scores).map(|(_, url, score)| (url, score)).collect();
        top.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| urls.url(a.0).cmp(urls.url(b.0))));
        top.truncate(k);
        top
    }

    /// The documents that were scored, in no order: `fetch_seq`, URL, score.
    pub fn scored<'s>(
        &'s self,
        scores: &'s Scores,
    ) -> impl Iterator<Item = (u32, UrlId, f64)> + 's {
        let docs = self.index.docs();
        scores.touched.iter().map(move |&doc| {
            let at = doc as usize;
            (docs.seq[at], docs.url[at], scores.by_doc[at])
        })
    }

    /// Words of the current page of a URL; none without one.
    pub fn words_of(&self, url: UrlId) -> Option<u32> {
        let doc = *self.doc_of_url.get(url.index())?;
        self.index.docs().length.get(doc as usize).copied()
    }

    /// Where the score of the page of a URL is among those of any query; none where [`Scorer::score_of`] has to look
    /// for it: there is no page, or one that was replaced.
    pub fn place_of(&self, url: UrlId) -> Option<u32> {
        let place = self.doc_of_url.get(url.index()).copied().filter(|&doc| doc != u32::MAX);
        place.filter(|_| self.has_replaced.get(url.index()) != Some(&true))
    }

    /// Score of the page of a URL in the scores of a query, in the version that was scored; 0 if none was.
    pub fn score_of(&self, scores: &Scores, url: UrlId) -> f64 {
        let score = |doc: &u32| scores[*doc];
        let current = self.doc_of_url.get(url.index()).map_or(0.0, score);
        if current > 0.0 || self.has_replaced.get(url.index()) != Some(&true) {
            return current;
        }
        // Of the versions of a page one is scored at most.
        self.replaced.get(&url).into_iter().flatten().map(score).fold(0.0, f64::max)
    }
}

impl Scorer<'_> {
    /// Whether pages can be scored one by one, in their current version: there is a forward index.
    pub fn scores_pages(&self) -> bool {
        self.frozen.forward.is_some()
    }

    /// Takes what each of some `words`, ascending and each once, adds to the score of the current page of a URL, if it holds
    /// it, with the word's place among these. The sum over the words of a query, in its order, is to the bit what
    /// [`Scorer::score`] of all records gives the page. Nothing without a page, or where [`Scorer::scores_pages`] is not so.
    pub fn word_scores(&self, url: UrlId, words: &[TermId], mut take: impl FnMut(usize, f64)) {
        let Frozen { forward, bm25, idf, norms, .. } = &*self.frozen;
        let doc = self.doc_of_url.get(url.index()).copied().unwrap_or(u32::MAX) as usize;
        let (Some(forward), Some(norm)) = (forward, norms.get(doc)) else { return };
        let held = forward.of(doc);
        let score = |(word, tf): (TermId, u32)| bm25.term_score(idf[word as usize], tf, *norm);
        if words.len() * (held.len().max(1).ilog2() as usize + 1) < held.len() {
            for (place, word) in words.iter().enumerate() {
                if let Ok(at) = held.binary_search_by_key(word, |(held, _)| *held) {
                    take(place, score(held[at]));
                }
            }
            return;
        }
        let mut place = 0;
        for &(word, tf) in held {
            place += words[place..].iter().take_while(|other| **other < word).count();
            match words.get(place) {
                Some(other) if *other == word => take(place, score((word, tf))),
                Some(_) => {}
                None => return,
            }
        }
    }
}

impl Scores {
    fn clear(&mut self, docs: usize) {
        for &doc in &self.touched {
            self.by_doc[doc as usize] = 0.0;
        }
        self.touched.clear();
        self.by_doc.resize(docs, 0.0);
    }

    fn add(&mut self, doc: usize, score: f64) {
        let slot = &mut self.by_doc[doc];
        if *slot == 0.0 {
            self.touched.push(doc as u32);
        }
        *slot += score;
    }
}

/// These words, each once, in the order in which they are numbered.
fn distinct<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<&'w str> {
    let mut distinct: Vec<&str> = words.into_iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

fn numbered(words: &[&str]) -> Vocabulary {
    words.iter().enumerate().map(|(id, word)| ((*word).to_owned(), id as TermId)).collect()
}

/// By document: whether the statistics as of `epoch_end` count it.
fn counted(index: &TextIndex, epoch_end: u32) -> Vec<bool> {
    let docs = index.docs();
    let is_counted = |doc: usize| docs.seq[doc] < epoch_end && docs.superseded_at[doc] >= epoch_end;
    (0..docs.url.len()).map(is_counted).collect()
}

impl Frozen {
    /// Whether it is of these segments and words, and of this epoch.
    fn is_of(
        &self,
        index: &TextIndex,
        (bm25, epoch_end): (Bm25, u32),
        forward: &Arc<ForwardIndex>,
    ) -> bool {
        let same_words = self.forward.as_ref().is_some_and(|of| Arc::ptr_eq(of, forward));
        let same_statistics = (self.bm25, self.epoch_end) == (bm25, epoch_end);
        same_words && same_statistics && index.has_parts(&self.segments)
    }

    /// Of the `counted` documents, of which so many hold each word.
    fn new(
        index: &TextIndex,
        (bm25, epoch_end): (Bm25, u32),
        counted: &[bool],
        df: &[u64],
    ) -> Self {
        let lengths = &index.docs().length;
        let of_counted = lengths.iter().zip(counted).filter(|(_, counted)| **counted);
        let statistics = of_counted.fold(CollectionStatistics::default(), |sum, (&length, _)| {
            CollectionStatistics {
                documents: sum.documents + 1,
                words: sum.words + u64::from(length),
            }
        });
        let average = statistics.average_length();
        let norms = lengths.iter().map(|&length| bm25.norm(length, average)).collect();
        let idf = df.iter().map(|&df| Bm25::idf(statistics.documents, df)).collect();
        let (vocabulary, postings) = (Arc::default(), Vec::new());
        let segments = Arc::clone(index.parts());
        Self {
            bm25,
            statistics,
            norms,
            vocabulary,
            postings,
            idf,
            forward: None,
            segments,
            epoch_end,
        }
    }
}

/// Documents that hold a term, of those counted; postings are read only where some documents of a
/// segment are counted and some are not.
fn document_frequency(
    index: &TextIndex,
    postings: &TermPostings,
    counted: &[bool],
    segments: &[Counted],
) -> Result<u64, StoreError> {
    let mut df = 0;
    for (number, segment) in segments.iter().enumerate() {
        match segment {
            Counted::All => df += postings.doc_freq(number),
            Counted::None => {}
            Counted::Some => index.for_each_block(postings, number, |base, block, _| {
                df += block.iter().filter(|&&doc| counted[(base + doc) as usize]).count() as u64;
            })?,
        }
    }
    Ok(df)
}

/// The document of the current page of each URL, `u32::MAX` if there is none, and those of replaced versions.
fn docs_of_urls(index: &TextIndex) -> (Vec<u32>, HashMap<UrlId, Vec<u32>>) {
    let docs = index.docs();
    let (mut current, mut replaced) = (Vec::new(), HashMap::<UrlId, Vec<u32>>::new());
    for (doc, &url) in docs.url.iter().enumerate().filter(|(doc, _)| docs.seq[*doc] != NONE) {
        if docs.superseded_at[doc] != NONE {
            replaced.entry(url).or_default().push(doc as u32);
            continue;
        }
        if current.len() <= url.index() {
            current.resize(url.index() + 1, u32::MAX);
        }
        current[url.index()] = doc as u32;
    }
    (current, replaced)
}
