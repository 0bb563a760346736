//! All crawls of a scorer in the numbers of one formula: their tables, and a query's answers from
//! two passes over its postings for each crawl. Which documents a pass scores is for `passes`, how is
//! for `window`.

use rayon::prelude::*;

use super::lanes::{Real, add_posting};
use super::postings::Postings;
use super::similarity::Formula;
use super::tables::{CrawlTable, Documents};
use super::window::{Lanes, score_pass};
use super::{CheckpointQuery, FetchOrder, QueryResults};
use crate::error::StoreError;
use crate::text_index::{TermPostings, TextIndex};

/// Terms whose frequencies are held at a time while tables are made.
const TERMS: usize = 1 << 10;

/// Everything that scoring reads, in the numbers of one formula.
pub(super) struct ScoringEngine<'a, R> {
    crawls: Vec<CrawlTable<R>>,
    documents: Documents<'a>,
    /// By page.
    doc_of_page: Vec<u32>,
    scale: R,
}

impl<'a, R: Real> ScoringEngine<'a, R> {
    /// Tables of all crawls and all terms.
    pub(crate) fn new<F: Formula<Number = R>>(
        index: &'a TextIndex,
        formula: &F,
        crawls: &[FetchOrder<'_>],
        url_order: &'a [u32],
        terms: &[TermPostings],
    ) -> Result<Self, StoreError> {
        let documents = Documents::of(index, formula, url_order);
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
        Ok(Self { crawls: tables, documents, doc_of_page, scale: formula.scale() })
    }

    /// Answers a query, whose postings are given, at every checkpoint of every crawl.
    pub(crate) fn answer(
        &self,
        ask: &CheckpointQuery<'_>,
        postings: &mut Postings,
        lanes: &mut Lanes<R>,
        mut take: impl FnMut(usize, usize, &QueryResults),
    ) {
        let mut answer = QueryResults::default();
        for (number, crawl) in self.crawls.iter().enumerate() {
            lanes.rankings.start(crawl.width, ask.top);
            for &page in ask.ranks_of {
                self.want(page, crawl, postings, lanes);
            }
            lanes.pass.first(postings, crawl, self.scale);
            score_pass(&self.documents, crawl, postings, lanes, self.scale);
            lanes.pass.second(postings, crawl, self.scale, lanes.rankings.bounds());
            score_pass(&self.documents, crawl, postings, lanes, self.scale);
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
        let order = self.documents.url_order.get(page as usize).copied().unwrap_or(u32::MAX);
        lanes.rankings.want(order, &lanes.row);
    }
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
