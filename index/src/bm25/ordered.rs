//! Postings in memory, in the order in which pages were fetched first, and the best pages of a query by them, found
//! without scoring most of the others.
//!
//! `MaxScore`, document at a time (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995): words
//! whose greatest scores together cannot lift a page over the K-th best so far are looked up only in pages that hold
//! another word. Bounds are sums of f64 with more room than rounding takes, and a page that may be among the best is
//! scored as [`Scorer::score`] scores it, so what is found is the same to the last bit.
//!
//! Costs 8 bytes for each word of a page that is asked for, and 24 a page.

use std::ops::Range;

use rayon::prelude::*;

use super::{ForwardIndex, Scorer, Scores, TermId};
use crate::error::StoreError;
use crate::page::UrlId;
use crate::page_store::NONE;

/// By how much a bound is above what it is summed from: rounding takes less for any query that is read.
const ROOM: f64 = 1.0 + 1e-12;

/// Postings of some words, over pages that were current at the end of a crawl, or of a part of one.
#[derive(Clone, Debug)]
pub struct OrderedPostings {
    /// In the order of their first fetch.
    pages: Vec<OrderedPage>,
    /// By page: what its length does to scores. Who scores all pages reads no more of most.
    norms: Vec<f64>,
    /// By word of the scorer's vocabulary; empty of those that were not asked for.
    words: Vec<WordPostings>,
}

#[derive(Clone, Copy, Debug)]
struct OrderedPage {
    /// The record that fetched it first.
    first: u32,
    seq: u32,
    doc: u32,
}

#[derive(Clone, Debug, Default)]
struct WordPostings {
    /// Pages that hold it, by place, ascending.
    places: Vec<u32>,
    frequencies: Vec<u32>,
    /// The most that it adds to the score of a page.
    most: f64,
}

/// A page that was among the best of a query when it was fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contender {
    /// The record that fetched it first.
    pub first: u32,
    /// The one that gave the version that was scored.
    pub seq: u32,
    /// Its URL.
    pub url: UrlId,
    /// Its score.
    pub score: f64,
}

impl Scorer<'_> {
    /// Postings of these words over the documents with a `fetch_seq` in `seqs` that were current at the end of it, ordered
    /// by what `first` makes of the `fetch_seq` and the URL of each: what a batch of new pages does to the lists of many
    /// queries costs one reading of each word's postings.
    ///
    /// # Errors
    /// The postings cannot be read.
    pub fn ordered(
        &self,
        words: impl IntoIterator<Item = TermId>,
        seqs: Range<u32>,
        first: impl Fn(u32, UrlId) -> u32,
    ) -> Result<OrderedPostings, StoreError> {
        let mut is_asked = vec![false; self.frozen.postings.len()];
        words.into_iter().for_each(|word| is_asked[word as usize] = true);
        if seqs.is_empty() || !is_asked.contains(&true) {
            let words = vec![WordPostings::default(); is_asked.len()];
            return Ok(OrderedPostings { pages: Vec::new(), norms: Vec::new(), words });
        }
        let docs = self.index.docs();
        let mut pages = Vec::new();
        for (doc, &seq) in docs.seq.iter().enumerate() {
            if seqs.contains(&seq) && docs.superseded_at[doc] >= seqs.end {
                pages.push(OrderedPage { first: first(seq, docs.url[doc]), seq, doc: doc as u32 });
            }
        }
        pages.sort_by_key(|page| (page.first, page.seq));
        let mut words = match &self.frozen.forward {
            Some(forward) => by_forward(forward, &pages, &is_asked),
            None => self.postings_by_place(&pages, &is_asked, &seqs)?,
        };
        let norms: Vec<f64> =
            pages.iter().map(|page| self.frozen.norms[page.doc as usize]).collect();
        words.par_iter_mut().enumerate().for_each(|(word, held)| {
            let each = held.places.iter().zip(&held.frequencies);
            let norm = |place: u32| norms[place as usize];
            let scores = each.map(|(&place, &tf)| self.term_score(word as TermId, tf, norm(place)));
            held.most = scores.fold(0.0, f64::max);
        });
        Ok(OrderedPostings { pages, norms, words })
    }

    /// By word: postings of those that are asked for, read from the index.
    fn postings_by_place(
        &self,
        pages: &[OrderedPage],
        is_asked: &[bool],
        seqs: &Range<u32>,
    ) -> Result<Vec<WordPostings>, StoreError> {
        let mut place_of = vec![NONE; self.frozen.norms.len()];
        for (place, page) in (0..).zip(pages) {
            place_of[page.doc as usize] = place;
        }
        let words = is_asked.par_iter().enumerate().map(|(word, is_asked)| {
            if !is_asked {
                return Ok(WordPostings::default());
            }
            self.word_by_place(word as TermId, seqs, &place_of)
        });
        words.collect()
    }

    /// The postings of a word by the place that each document has.
    fn word_by_place(
        &self,
        word: TermId,
        seqs: &Range<u32>,
        place_of: &[u32],
    ) -> Result<WordPostings, StoreError> {
        let mut found = Vec::new();
        self.for_each(word, seqs, |doc, tf| found.push((place_of[doc], tf)))?;
        if !found.is_sorted() {
            // Segments come in no order.
            found.sort_unstable();
        }
        let (places, frequencies) = found.into_iter().unzip();
        Ok(WordPostings { places, frequencies, most: 0.0 })
    }

    fn term_score(&self, word: TermId, tf: u32, norm: f64) -> f64 {
        self.frozen.bm25.term_score(self.frozen.idf[word as usize], tf, norm)
    }

    /// As [`Scorer::score`] of the pages that were put in order, to the last bit.
    pub fn score_ordered(&self, query: &[TermId], postings: &OrderedPostings, scores: &mut Scores) {
        scores.clear(self.frozen.norms.len());
        for &word in query {
            let held = &postings.words[word as usize];
            for (&place, &tf) in held.places.iter().zip(&held.frequencies) {
                let (page, norm) = (postings.pages[place as usize], postings.norms[place as usize]);
                scores.add(page.doc as usize, self.term_score(word, tf, norm));
            }
        }
    }

    /// Pages, in the order of their first fetch, that fewer than `k` pages before them score more than for a query:
    /// the `k` best of all pages, and of the pages up to any of them, are among these.
    pub fn contenders(
        &self,
        query: &[TermId],
        postings: &OrderedPostings,
        k: usize,
    ) -> Vec<Contender> {
        let docs = self.index.docs();
        let mut found = Vec::new();
        let mut best = Best::new(k);
        let mut walk = Walk::new(self, query, postings);
        while k > 0
            && let Some((place, score)) = walk.next(best.least)
        {
            let OrderedPage { first, seq, doc, .. } = postings.pages[place as usize];
            found.push(Contender { first, seq, url: docs.url[doc as usize], score });
            best.add(score);
        }
        found
    }

    /// The `k` best of the scored pages, the best first; of equals those first that `first` makes less of, given
    /// `fetch_seq` and URL. Costs a pass over the scores.
    pub fn best(
        &self,
        scores: &Scores,
        k: usize,
        first: impl Fn(u32, UrlId) -> u32,
    ) -> Vec<Contender> {
        if k == 0 {
            return Vec::new();
        }
        let all = || scores.touched.iter().map(|&doc| (doc as usize, scores[doc]));
        let mut best = Best::new(k);
        for (_, score) in all() {
            if score > best.least {
                best.add(score);
            }
        }
        let docs = self.index.docs();
        let mut among = Vec::new();
        for (doc, score) in all().filter(|(_, score)| *score >= best.least) {
            let (seq, url) = (docs.seq[doc], docs.url[doc]);
            among.push(Contender { first: first(seq, url), seq, url, score });
        }
        among.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| (a.first, a.seq).cmp(&(b.first, b.seq)))
        });
        among.truncate(k);
        among
    }
}

/// By word: postings of those that are asked for, from the words of each page.
fn by_forward(
    forward: &ForwardIndex,
    pages: &[OrderedPage],
    is_asked: &[bool],
) -> Vec<WordPostings> {
    let held = |page: &OrderedPage| {
        forward.of(page.doc as usize).iter().filter(|(word, _)| is_asked[*word as usize])
    };
    let mut counts = vec![0; is_asked.len()];
    pages.iter().flat_map(held).for_each(|(word, _)| counts[*word as usize] += 1);
    let mut words: Vec<WordPostings> = counts.into_iter().map(WordPostings::with_room).collect();
    for (place, page) in (0..).zip(pages) {
        held(page).for_each(|&(word, frequency)| words[word as usize].push(place, frequency));
    }
    words
}

impl WordPostings {
    fn with_room(postings: usize) -> Self {
        let room = || Vec::with_capacity(postings);
        Self { places: room(), frequencies: room(), most: 0.0 }
    }

    fn push(&mut self, place: u32, frequency: u32) {
        self.places.push(place);
        self.frequencies.push(frequency);
    }
}

/// The best scores so far.
struct Best {
    k: usize,
    /// Descending.
    scores: Vec<f64>,
    /// The K-th, 0 while there are fewer.
    least: f64,
}

impl Best {
    fn new(k: usize) -> Self {
        Self { k, scores: Vec::new(), least: 0.0 }
    }

    fn add(&mut self, score: f64) {
        let at = self.scores.partition_point(|other| *other >= score);
        self.scores.insert(at, score);
        self.scores.truncate(self.k);
        if self.scores.len() == self.k {
            self.least = self.scores[self.k - 1];
        }
    }
}

/// A distinct word of a query, on its way through its postings.
struct Cursor<'p> {
    word: TermId,
    places: &'p [u32],
    frequencies: &'p [u32],
    /// Greatest score, as often as the query has the word.
    bound: f64,
    times: f64,
    /// What it adds to the page at hand, each time.
    gain: f64,
}

impl Cursor<'_> {
    /// The frequency at a place, which is not behind it, if its page holds the word; later places are left.
    fn take(&mut self, place: u32) -> Option<u32> {
        // Galloping: most steps are short.
        let mut step = 1;
        while step < self.places.len() && self.places[step] < place {
            step *= 2;
        }
        let within = &self.places[step / 2..self.places.len().min(step + 1)];
        let skipped = step / 2 + within.partition_point(|other| *other < place);
        self.places = &self.places[skipped..];
        self.frequencies = &self.frequencies[skipped..];
        if self.places.first() != Some(&place) {
            return None;
        }
        let frequency = self.frequencies[0];
        (self.places, self.frequencies) = (&self.places[1..], &self.frequencies[1..]);
        Some(frequency)
    }
}

/// The words of a query, on their way through the pages.
struct Walk<'s, 'p> {
    scorer: &'s Scorer<'s>,
    norms: &'p [f64],
    /// By bound, ascending.
    cursors: Vec<Cursor<'p>>,
    /// By cursor: bound of those before it; one more at the end.
    below: Vec<f64>,
    /// Cursors before this one are only looked up.
    split: usize,
    /// By word of the query: its cursor.
    order: Vec<usize>,
}

impl<'s, 'p> Walk<'s, 'p> {
    fn new(scorer: &'s Scorer<'s>, query: &[TermId], postings: &'p OrderedPostings) -> Self {
        let mut words = query.to_vec();
        words.sort_unstable();
        let mut cursors: Vec<Cursor<'p>> = Vec::new();
        for same in words.chunk_by(|a, b| a == b) {
            let WordPostings { places, frequencies, most } = &postings.words[same[0] as usize];
            let times = same.len() as f64;
            let bound = most * times;
            cursors.push(Cursor { word: same[0], places, frequencies, bound, times, gain: 0.0 });
        }
        cursors.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        let mut below = vec![0.0];
        for cursor in &cursors {
            below.push(below[below.len() - 1] + cursor.bound);
        }
        let place = |word: &TermId| cursors.iter().position(|cursor| cursor.word == *word);
        let order = query.iter().filter_map(place).collect();
        Self { scorer, norms: &postings.norms, cursors, below, split: 0, order }
    }

    /// The next page that scores `least` or more, with its score.
    fn next(&mut self, least: f64) -> Option<(u32, f64)> {
        while self.split < self.cursors.len() && self.below[self.split + 1] * ROOM < least {
            self.split += 1;
        }
        loop {
            let ahead = &self.cursors[self.split..];
            let place = *ahead.iter().filter_map(|cursor| cursor.places.first()).min()?;
            if let Some(score) = self.score(place, least) {
                return Some((place, score));
            }
        }
    }

    /// Score of the page at a place; none if it is less than `least`.
    fn score(&mut self, place: u32, least: f64) -> Option<f64> {
        let norm = self.norms[place as usize];
        let (looked_up, ahead) = self.cursors.split_at_mut(self.split);
        let mut sum = 0.0;
        for cursor in ahead {
            cursor.gain = 0.0;
            if cursor.places.first() == Some(&place) {
                cursor.gain = self.scorer.term_score(cursor.word, cursor.frequencies[0], norm);
                sum += cursor.gain * cursor.times;
                (cursor.places, cursor.frequencies) =
                    (&cursor.places[1..], &cursor.frequencies[1..]);
            }
        }
        for (at, cursor) in looked_up.iter_mut().enumerate().rev() {
            if (sum + self.below[at + 1]) * ROOM < least {
                return None;
            }
            let frequency = cursor.take(place);
            cursor.gain = frequency.map_or(0.0, |tf| self.scorer.term_score(cursor.word, tf, norm));
            sum += cursor.gain * cursor.times;
        }
        let gains = self.order.iter().map(|&at| self.cursors[at].gain);
        let score = gains.fold(0.0, |sum, gain| sum + gain);
        (score >= least).then_some(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bm25::Bm25;
    use crate::text_index::{DocTable, TextIndex};

    const WORDS: [&str; 6] = ["the", "of", "rye", "bread", "oven", "nowhere"];
    const PAGES: u32 = 300;

    /// Texts in which some words are everywhere and others rare; many are the same.
    fn text(page: u32) -> String {
        let words = (0..5 + page * 7 % 30).map(|at| {
            let drawn = (page % 83).wrapping_mul(2_654_435_761).wrapping_add(at * 40_503) >> 7;
            WORDS[[0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 4][drawn as usize % 11]]
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn built(dir: &tempfile::TempDir) -> TextIndex {
        let texts = (0..PAGES).map(|page| (String::new(), text(page)));
        TextIndex::build(&dir.path().join("text"), texts).unwrap()
    }

    /// The same documents, fetched in another order; some are not, and some were replaced.
    fn docs(index: &TextIndex) -> DocTable {
        let mut docs = index.docs().clone();
        docs.seq =
            (0..PAGES).map(|doc| if doc % 11 == 5 { NONE } else { doc * 7 % PAGES }).collect();
        for doc in (0..PAGES as usize).step_by(13) {
            docs.superseded_at[doc] = 150;
        }
        docs
    }

    /// Pages that fewer than `k` before them score more than, from the scores of all.
    fn exhaustive(scorer: &Scorer<'_>, query: &[TermId], k: usize, end: u32) -> Vec<(u32, u64)> {
        let mut scores = Scores::default();
        scorer.score(query, 0..end, &mut scores).unwrap();
        let mut pages: Vec<(u32, f64)> =
            scorer.scored(&scores).map(|(seq, _, score)| (seq, score)).collect();
        pages.sort_by_key(|(seq, _)| *seq);
        let is_among = |at: &usize| {
            pages[..*at].iter().filter(|(_, before)| *before > pages[*at].1).count() < k
        };
        let found = (0..pages.len()).filter(is_among);
        found.map(|at| (pages[at].0, pages[at].1.to_bits())).collect()
    }

    #[test]
    fn contenders_are_those_of_all_scores_to_the_bit() {
        let dir = tempfile::tempdir().unwrap();
        let index = built(&dir);
        let index = index.with_docs(docs(&index));
        let forward = ForwardIndex::build(&index, WORDS).unwrap();
        let queries = [
            &["rye"][..],
            &["the", "rye"],
            &["the", "of", "oven", "the"],
            &["nowhere"],
            &["bread", "nowhere", "of", "rye", "bread"],
            &[],
        ];
        for bm25 in [Bm25::default(), Bm25 { k1: 0.0, b: 0.4 }] {
            let plain = Scorer::new(&index, bm25, 200, WORDS).unwrap();
            let forward = Scorer::with_forward(&index, bm25, 200, &forward, None).unwrap();
            for scorer in [&plain, &forward] {
                for (query, end, k) in queries.iter().flat_map(|query| {
                    [100, 200, PAGES]
                        .into_iter()
                        .flat_map(move |end| [0, 1, 7, 400].map(|k| (query, end, k)))
                }) {
                    let query: Vec<String> = query.iter().map(|word| (*word).to_owned()).collect();
                    let query = scorer.term_ids(&query);
                    let every = 0..scorer.frozen.postings.len() as TermId;
                    let postings = scorer.ordered(every, 0..end, |seq, _| seq).unwrap();
                    let found = scorer.contenders(&query, &postings, k).into_iter();
                    let found: Vec<(u32, u64)> =
                        found.map(|page| (page.first, page.score.to_bits())).collect();
                    assert_eq!(found, exhaustive(scorer, &query, k, end), "{query:?}, {end}, {k}");
                }
            }
        }
    }

    #[test]
    fn contenders_come_in_the_order_that_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let index = built(&dir);
        let scorer = Scorer::new(&index, Bm25::default(), PAGES, WORDS).unwrap();
        let query = scorer.term_ids(&["rye", "of"].map(str::to_owned));
        // As if the last pages had been there first, in other versions.
        let first = |seq, _| PAGES - seq;
        let postings = scorer.ordered(query.iter().copied(), 0..PAGES, first).unwrap();
        let found = scorer.contenders(&query, &postings, 5);
        assert!(found.is_sorted_by_key(|page| page.first) && found.len() > 5);
        assert!(found.iter().all(|page| page.first == PAGES - page.seq));
        let of_part = scorer.ordered(query.iter().copied(), 100..200, |seq, _| seq).unwrap();
        let part = scorer.contenders(&query, &of_part, PAGES as usize);
        assert!(part.iter().all(|page| (100..200).contains(&page.seq)) && part.len() > 50);
    }

    #[test]
    fn the_best_of_all_scores_are_the_best_of_the_contenders() {
        let dir = tempfile::tempdir().unwrap();
        let index = built(&dir);
        let index = index.with_docs(docs(&index));
        let scorer = Scorer::new(&index, Bm25::default(), 200, WORDS).unwrap();
        let first = |seq: u32, _| seq * 7 % PAGES;
        for words in [&["rye"][..], &["the", "oven", "the"], &["bread", "rye"], &["nowhere"], &[]] {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let query = scorer.term_ids(&words);
            let postings = scorer.ordered(query.iter().copied(), 0..PAGES, first).unwrap();
            let mut scores = Scores::default();
            scorer.score_ordered(&query, &postings, &mut scores);
            for k in [0, 1, 10, 20, 500] {
                let mut expected = scorer.contenders(&query, &postings, k);
                expected.sort_by(|a, b| b.score.total_cmp(&a.score));
                expected.truncate(k);
                assert_eq!(scorer.best(&scores, k, first), expected, "{words:?}, {k}");
            }
        }
    }

    #[test]
    fn scores_by_ordered_postings_are_those_of_the_index() {
        let dir = tempfile::tempdir().unwrap();
        let index = built(&dir);
        let index = index.with_docs(docs(&index));
        let scorer = Scorer::new(&index, Bm25::default(), 200, WORDS).unwrap();
        let query = scorer.term_ids(&["rye", "of", "rye"].map(str::to_owned));
        let postings = scorer.ordered(query.iter().copied(), 0..PAGES, |seq, _| seq).unwrap();
        let (mut all, mut ordered) = (Scores::default(), Scores::default());
        scorer.score(&query, 0..PAGES, &mut all).unwrap();
        scorer.score_ordered(&query, &postings, &mut ordered);
        for url in (0..PAGES).map(UrlId) {
            let expected = scorer.score_of(&all, url);
            assert_eq!(scorer.score_of(&ordered, url).to_bits(), expected.to_bits());
            let at_place = scorer.place_of(url).map(|place| ordered[place]);
            assert!(at_place.is_none_or(|score| score.to_bits() == expected.to_bits()));
        }
        assert!(scorer.scored(&all).count() > 100);
        assert!((0..PAGES).filter(|url| scorer.place_of(UrlId(*url)).is_some()).count() > 100);
    }
}
