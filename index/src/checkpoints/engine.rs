//! One pass over the postings of a query for each crawl, and a second over what the first could not
//! rule out: documents window by window, words in query order within a window, all checkpoints of a
//! posting at once.
//!
//! A score is summed in the order of `crate::bm25`, so it is the same bits. A window is as many
//! documents as keep their scores in the first cache.

use rayon::prelude::*;

use super::lanes::{Real, add_posting};
use super::passes::Pass;
use super::postings::Postings;
use super::ranking::Rankings;
use super::similarity::Formula;
use super::tables::{CrawlTable, Documents};
use super::{Answer, Ask, Crawl};
use crate::error::StoreError;
use crate::text_index::{TermPostings, TextIndex};

/// Bytes of scores in a window.
const WINDOW_BYTES: usize = 1 << 15;
/// Documents whose marks fit a word.
const MARKS: usize = 64;
/// Terms whose frequencies are held at a time while tables are made.
const TERMS: usize = 1 << 10;

/// Everything that scoring reads, in the numbers of one formula.
pub(super) struct Engine<'a, R> {
    crawls: Vec<CrawlTable<R>>,
    documents: Documents<'a>,
    /// By page.
    doc_of_page: Vec<u32>,
    /// By page: place among all pages by URL.
    url_order: &'a [u32],
    scale: R,
}

/// Scores of a window and the rankings; reused from query to query.
#[derive(Debug, Default)]
pub(super) struct Lanes<R> {
    /// By document of the window, a row; 0 between windows.
    scores: Vec<R>,
    /// By document of the window, a bit: it is to be scored.
    marks: Vec<u64>,
    row: Vec<R>,
    rankings: Rankings<R>,
}

impl<'a, R: Real> Engine<'a, R> {
    /// Tables of all crawls and all terms.
    pub fn new<F: Formula<Number = R>>(
        index: &'a TextIndex,
        formula: &F,
        crawls: &[Crawl<'_>],
        url_order: &'a [u32],
        terms: &[TermPostings],
    ) -> Result<Self, StoreError> {
        let documents = Documents::of(index, formula);
        let mut doc_of_page = vec![u32::MAX; documents.page.len()];
        for (doc, &page) in documents.page.iter().enumerate() {
            doc_of_page[page as usize] = doc as u32;
        }
        let mut tables: Vec<CrawlTable<R>> =
            crawls.par_iter().map(|crawl| CrawlTable::new(crawl, &documents, formula)).collect();
        for terms in terms.chunks(TERMS) {
            let frequencies: Vec<Vec<Vec<u64>>> = terms
                .par_iter()
                .map(|term| frequencies(index, term, &tables))
                .collect::<Result<_, _>>()?;
            tables.par_iter_mut().enumerate().for_each(|(crawl, table)| {
                for df in &frequencies {
                    table.push_term(&df[crawl], formula);
                }
            });
        }
        Ok(Self { crawls: tables, documents, doc_of_page, url_order, scale: formula.scale() })
    }

    /// Answers a query, whose postings are given, at every checkpoint of every crawl.
    pub fn answer(
        &self,
        ask: &Ask<'_>,
        postings: &mut Postings,
        pass: &mut Pass,
        lanes: &mut Lanes<R>,
        mut take: impl FnMut(usize, usize, &Answer),
    ) {
        let mut answer = Answer::default();
        for (number, crawl) in self.crawls.iter().enumerate() {
            lanes.rankings.start(crawl.width, ask.top);
            for &page in ask.ranks_of {
                self.want(page, crawl, postings, lanes);
            }
            pass.first(postings, crawl.checkpoints);
            self.pass(crawl, postings, pass, lanes);
            pass.second(postings, crawl, self.scale, lanes.rankings.bounds(), &mut lanes.row);
            self.pass(crawl, postings, pass, lanes);
            for checkpoint in 0..crawl.checkpoints {
                answer.top.clear();
                answer.top.extend(lanes.rankings.best(checkpoint));
                answer.scores.clear();
                answer.ranks.clear();
                for (score, rank) in lanes.rankings.wanted(checkpoint) {
                    answer.scores.push(score);
                    answer.ranks.push(rank);
                }
                take(number, checkpoint, &answer);
            }
        }
    }

    /// Scores a wanted page, so that the passes can count what beats it.
    fn want(&self, page: u32, crawl: &CrawlTable<R>, postings: &Postings, lanes: &mut Lanes<R>) {
        lanes.row.clear();
        lanes.row.resize(crawl.width, R::default());
        let doc = self.doc_of_page.get(page as usize).map_or(usize::MAX, |&doc| doc as usize);
        let first = crawl.first.get(doc).map_or(crawl.checkpoints, |&first| usize::from(first));
        if first < crawl.checkpoints {
            let norms = crawl.norms(self.documents.class[doc]);
            postings.of_document(doc as u32, |term, tf: R| {
                add_posting(&mut lanes.row, crawl.weights(term), norms, tf, tf * self.scale);
            });
            lanes.row[..first].fill(R::default());
        }
        let order = self.url_order.get(page as usize).copied().unwrap_or(u32::MAX);
        lanes.rankings.want(order, &lanes.row);
    }

    fn pass(
        &self,
        crawl: &CrawlTable<R>,
        postings: &mut Postings,
        pass: &Pass,
        lanes: &mut Lanes<R>,
    ) {
        if pass.end == 0 {
            return;
        }
        let row_bytes = crawl.width * size_of::<R>();
        let docs = (WINDOW_BYTES / row_bytes).next_multiple_of(MARKS).max(MARKS);
        lanes.scores.clear();
        lanes.scores.resize(docs * crawl.width, R::default());
        lanes.marks.clear();
        lanes.marks.resize(docs / MARKS, 0);
        // Rows end where a row of lanes may.
        let end = pass.end.next_multiple_of(R::LANES);
        postings.rewind();
        while let Some(base) = postings.next_window(docs as u32) {
            if mark(crawl, postings, pass, &mut lanes.marks, base) {
                for &slot in postings.words() {
                    let weights = &crawl.weights(postings.ids()[slot])[..end];
                    self.add(crawl, lanes, base, weights, postings.in_window(slot));
                }
                self.rank(crawl, lanes, base, end);
            }
        }
    }

    /// Adds the postings of a word to the marked documents of a window.
    fn add(
        &self,
        crawl: &CrawlTable<R>,
        lanes: &mut Lanes<R>,
        base: u32,
        weights: &[R],
        (docs, tfs): (&[u32], &[u32]),
    ) {
        for (&doc, &tf) in docs.iter().zip(tfs) {
            let at = (doc - base) as usize;
            if lanes.marks[at / MARKS] >> (at % MARKS) & 1 == 0 {
                continue;
            }
            let start = R::start(usize::from(crawl.first[doc as usize]));
            let norms = &crawl.norms(self.documents.class[doc as usize])[start..];
            let scores = &mut lanes.scores[at * crawl.width + start..(at + 1) * crawl.width];
            let tf = R::of(tf);
            add_posting(scores, &weights[start..], norms, tf, tf * self.scale);
        }
    }

    /// Hands the scores of the marked documents of a window on, and clears both.
    fn rank(&self, crawl: &CrawlTable<R>, lanes: &mut Lanes<R>, base: u32, end: usize) {
        for word in 0..lanes.marks.len() {
            let mut marks = std::mem::take(&mut lanes.marks[word]);
            while marks != 0 {
                let at = word * MARKS + marks.trailing_zeros() as usize;
                marks &= marks - 1;
                let doc = base as usize + at;
                let first = usize::from(crawl.first[doc]);
                let row = &mut lanes.scores[at * crawl.width..at * crawl.width + end];
                // The checkpoints before do not contain the document.
                row[R::start(first)..first].fill(R::default());
                let page = self.documents.page[doc];
                let order = self.url_order[page as usize];
                let row = &mut row[R::start(first)..];
                lanes.rankings.see(page, order, R::start(first), row);
                row.fill(R::default());
            }
        }
    }
}

/// Marks the documents of a window that a pass is to score; whether there are any.
fn mark<R: Real>(
    crawl: &CrawlTable<R>,
    postings: &Postings,
    pass: &Pass,
    marks: &mut [u64],
    base: u32,
) -> bool {
    for (slot, &limit) in pass.limits.iter().enumerate().filter(|(_, limit)| **limit > 0) {
        for &doc in postings.in_window(slot).0 {
            let at = (doc - base) as usize;
            let taken = usize::from(crawl.first[doc as usize]) < limit;
            marks[at / MARKS] |= u64::from(taken) << (at % MARKS);
        }
    }
    for (slot, _) in pass.done.iter().enumerate().filter(|(_, done)| **done) {
        for &doc in postings.in_window(slot).0 {
            let at = (doc - base) as usize;
            marks[at / MARKS] &= !(1 << (at % MARKS));
        }
    }
    marks.iter().any(|marks| *marks != 0)
}

/// df of a term by crawl and checkpoint.
fn frequencies<R: Real>(
    index: &TextIndex,
    term: &TermPostings,
    crawls: &[CrawlTable<R>],
) -> Result<Vec<Vec<u64>>, StoreError> {
    let mut docs = Vec::new();
    for segment in 0..index.segments().count() {
        index.for_each_block(term, segment, |base, block, _| {
            docs.extend(block.iter().map(|doc| base + doc));
        })?;
    }
    Ok(crawls.iter().map(|crawl| crawl.document_frequencies(&docs)).collect())
}
