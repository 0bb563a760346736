//! Scoring the documents of a pass, window by window: words in query order within a window, all
//! checkpoints of a posting at once.
//!
//! A score is summed in the order of `crate::bm25`, so it is the same bits. A window is as many
//! documents as keep their scores in the first cache.

use super::lanes::{Real, add_posting};
use super::passes::Pass;
use super::postings::Postings;
use super::ranking::Rankings;
use super::tables::{CrawlTable, Documents};

/// Bytes of scores in a window.
const WINDOW_BYTES: usize = 1 << 15;
/// Documents whose marks fit a word.
const MARKS: usize = 64;

/// Scores of a window and the rankings; reused from query to query.
#[derive(Debug, Default)]
pub(super) struct Lanes<R> {
    /// By document of the window, a row; 0 between windows.
    scores: Vec<R>,
    /// By document of the window, a bit: it is to be scored.
    marks: Vec<u64>,
    /// Scores of a wanted page.
    pub(crate) row: Vec<R>,
    pub(crate) pass: Pass<R>,
    pub(crate) rankings: Rankings<R>,
}

/// Scores the documents of the pass that `lanes` holds, and hands their scores to its rankings.
pub(super) fn score_pass<R: Real>(
    documents: &Documents<'_>,
    crawl: &CrawlTable<R>,
    postings: &mut Postings,
    lanes: &mut Lanes<R>,
    scale: R,
) {
    if lanes.pass.end == 0 {
        return;
    }
    let docs = lanes.clear(crawl.width);
    postings.rewind();
    while let Some(base) = postings.next_window(docs as u32) {
        let mut window = Window { documents, crawl, postings, lanes, base, scale };
        if !window.mark() {
            continue;
        }
        window.add_words(true);
        if window.sift() {
            window.add_words(false);
            window.rank();
        }
    }
}

/// A window of documents that is being scored.
struct Window<'w, R> {
    documents: &'w Documents<'w>,
    crawl: &'w CrawlTable<R>,
    postings: &'w Postings,
    lanes: &'w mut Lanes<R>,
    /// First document.
    base: u32,
    scale: R,
}

impl<R: Real> Lanes<R> {
    /// Nothing marked, all scores 0; returns how many documents a window has.
    fn clear(&mut self, width: usize) -> usize {
        let docs = (WINDOW_BYTES / (width * size_of::<R>())).next_multiple_of(MARKS).max(MARKS);
        self.scores.clear();
        self.scores.resize(docs * width, R::default());
        self.marks.clear();
        self.marks.resize(docs / MARKS, 0);
        docs
    }
}

impl<R: Real> Window<'_, R> {
    /// Marks the documents that the pass is to score; whether there are any.
    fn mark(&mut self) -> bool {
        let Lanes { marks, pass, .. } = &mut *self.lanes;
        for (slot, &limit) in pass.limits.iter().enumerate().filter(|(_, limit)| **limit > 0) {
            for &doc in self.postings.in_window(slot).0 {
                let taken = usize::from(self.crawl.first[doc as usize]) < limit;
                let (word, bit) = mark_of(doc - self.base);
                marks[word] |= u64::from(taken) << bit;
            }
        }
        for (slot, _) in pass.done.iter().enumerate().filter(|(_, done)| **done) {
            for &doc in self.postings.in_window(slot).0 {
                let (word, bit) = mark_of(doc - self.base);
                marks[word] &= !(1 << bit);
            }
        }
        marks.iter().any(|marks| *marks != 0)
    }

    /// Adds the words of the query to the marked documents, in query order: all of them, or those
    /// only by which documents are tried.
    fn add_words(&mut self, tried: bool) {
        for &slot in self.postings.words() {
            if !tried || self.lanes.pass.tried[slot] {
                let weights = self.crawl.weights(self.postings.ids()[slot]);
                self.add(&weights[..self.row_end()], self.postings.in_window(slot));
            }
        }
    }

    /// Adds the postings of a word to the marked documents.
    fn add(&mut self, weights: &[R], (docs, tfs): (&[u32], &[u32])) {
        let Lanes { scores, marks, .. } = &mut *self.lanes;
        let width = self.crawl.width;
        for (&doc, &tf) in docs.iter().zip(tfs) {
            let at = (doc - self.base) as usize;
            if marks[at / MARKS] >> (at % MARKS) & 1 == 0 {
                continue;
            }
            let start = R::start(usize::from(self.crawl.first[doc as usize]));
            let norms = &self.crawl.norms(self.documents.class[doc as usize])[start..];
            let scores = &mut scores[at * width + start..(at + 1) * width];
            let tf = R::of(tf);
            add_posting(scores, &weights[start..], norms, tf, tf * self.scale);
        }
    }

    /// Takes back the marks of documents that cannot matter by the words they were tried by, and
    /// clears the scores; whether marks are left.
    fn sift(&mut self) -> bool {
        let (width, end) = (self.crawl.width, self.row_end());
        let mut left = false;
        for word in 0..self.lanes.marks.len() {
            let mut kept = self.lanes.marks[word];
            for bit in ones(kept) {
                let at = word * MARKS + bit;
                let first = usize::from(self.crawl.first[self.base as usize + at]);
                let row = &mut self.lanes.scores[at * width..at * width + end];
                let bounds = self.lanes.rankings.bounds();
                if !self.lanes.pass.can_matter(first, &row[first..], bounds) {
                    kept &= !(1 << bit);
                }
                row[R::start(first)..].fill(R::default());
            }
            self.lanes.marks[word] = kept;
            left |= kept != 0;
        }
        left
    }

    /// Hands the scores of the marked documents on, and clears both.
    fn rank(&mut self) {
        let (width, end) = (self.crawl.width, self.row_end());
        for word in 0..self.lanes.marks.len() {
            for bit in ones(std::mem::take(&mut self.lanes.marks[word])) {
                let at = word * MARKS + bit;
                let doc = self.base as usize + at;
                let first = usize::from(self.crawl.first[doc]);
                let row = &mut self.lanes.scores[at * width..at * width + end];
                // The checkpoints before do not contain the document.
                row[R::start(first)..first].fill(R::default());
                let page = self.documents.page[doc];
                let order = self.documents.url_order[page as usize];
                let row = &mut row[R::start(first)..];
                self.lanes.rankings.see(page, order, R::start(first), row);
                row.fill(R::default());
            }
        }
    }

    /// Where rows end in this pass.
    fn row_end(&self) -> usize {
        self.lanes.pass.end.next_multiple_of(R::LANES)
    }
}

/// The word of the marks that a document of the window, by its place there, is in, and its bit.
#[inline]
fn mark_of(at: u32) -> (usize, usize) {
    let at = at as usize;
    (at / MARKS, at % MARKS)
}

/// Places of the bits that are set, ascending.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then_some(bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        place
    })
}
