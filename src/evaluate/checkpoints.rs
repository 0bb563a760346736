//! Ranking metrics of crawls at checkpoints, exactly as if only the pages fetched by then had been
//! indexed.
//!
//! Not here: when pages were fetched and why, and what is measured without a search ([`super::crawl`]).

use prospect_index::bm25::Bm25;
use prospect_index::checkpoints::{
    CheckpointQuery, CheckpointScorer, FetchOrder, Similarity, Workspace,
};
use prospect_index::error::StoreError;
use prospect_index::text_index::TextIndex;
use rayon::prelude::*;

use super::metrics::{DEPTH, Judged, Metric};
use super::rerank::{self, Candidates, PairScores};
use super::run::RERANK_DEPTH;
use crate::workload::Query;

/// What is judged of one query, as pages of a collection.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgedPages {
    /// Judged pages, ascending.
    pub(crate) pages: Vec<u32>,
    /// Their grades.
    pub(crate) grades: Vec<i32>,
    /// What is relevant.
    pub(crate) judged: Judged,
}

impl JudgedPages {
    /// From pages with their grades, in any order.
    pub(crate) fn new(mut judged: Vec<(u32, i32)>) -> Self {
        judged.sort_unstable();
        let (pages, grades): (Vec<u32>, Vec<i32>) = judged.into_iter().unzip();
        Self { judged: Judged::new(grades.iter().copied()), pages, grades }
    }

    /// Whether a page is relevant.
    pub(crate) fn is_relevant(&self, page: u32) -> bool {
        self.pages.binary_search(&page).is_ok_and(|at| self.grades[at] > 0)
    }

    /// The relevant pages, ascending.
    pub(crate) fn relevant(&self) -> impl Iterator<Item = u32> + '_ {
        let both = self.pages.iter().zip(&self.grades);
        both.filter(|(_, grade)| **grade > 0).map(|(page, _)| *page)
    }
}

/// A query that is evaluated, with its judgements.
#[derive(Clone, Debug)]
pub(crate) struct JudgedQuery {
    /// The query.
    pub(crate) query: Query,
    /// Its judgements; at least one page is relevant.
    pub(crate) judged: JudgedPages,
}

/// Which result lists a re-ranker is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// Those with a relevant page among the first [`RERANK_DEPTH`]: all that metrics need, for the
    /// others measure the same in any order.
    WithRelevant,
    /// All, for runs that are written.
    All,
}

/// What crawls are evaluated with.
pub(crate) struct CrawlEvaluation<'a> {
    /// Index of the whole collection.
    pub(crate) text: &'a TextIndex,
    /// BM25's parameters.
    pub(crate) bm25: Bm25,
    /// By page: its place by canonical URL, which decides ties.
    pub(crate) url_order: &'a [u32],
    /// The queries.
    pub(crate) queries: &'a [JudgedQuery],
    /// Scores of another system by which the first results of each query are ordered anew.
    pub(crate) reranker: &'a PairScores,
}

/// Pages with their scores, best first.
pub(crate) type Ranking = Vec<(u32, f64)>;

/// Values of one crawl: by checkpoint, then by query and metric, the metrics of a query together.
pub(crate) type Values = Vec<Vec<f64>>;

impl CrawlEvaluation<'_> {
    fn scorer(&self, crawls: &[FetchOrder<'_>]) -> Result<CheckpointScorer<'_>, StoreError> {
        let words = self.queries.iter().flat_map(|judged| &judged.query.words).map(String::as_str);
        let similarity = Similarity::Exact(self.bm25);
        CheckpointScorer::new(self.text, similarity, crawls, self.url_order, words)
    }

    /// The metrics of every query at every checkpoint of every crawl.
    ///
    /// One pass over the postings of the queries' words serves all.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn values(
        &self,
        crawls: &[FetchOrder<'_>],
        metrics: &[Metric],
    ) -> Result<Vec<Values>, StoreError> {
        let scorer = self.scorer(crawls)?;
        let by_query: Vec<Vec<f64>> = self
            .queries
            .par_iter()
            .enumerate()
            .map_init(Workspace::default, |workspace, (at, query)| {
                query_values(&scorer, query, self.reranker.of(at), metrics, workspace)
            })
            .collect::<Result<_, _>>()?;
        let mut at = 0;
        let values = crawls
            .iter()
            .map(|crawl| {
                let checkpoints = crawl.checkpoints.iter().map(|_| {
                    let of_query = |values: &Vec<f64>| values[at..at + metrics.len()].to_vec();
                    let values = by_query.iter().flat_map(of_query).collect();
                    at += metrics.len();
                    values
                });
                checkpoints.collect()
            })
            .collect();
        Ok(values)
    }

    /// Adds to `found` the pages that are among the first [`RERANK_DEPTH`] results of each query at
    /// any checkpoint of any crawl.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn candidates(
        &self,
        crawls: &[FetchOrder<'_>],
        lists: Lists,
        found: &mut Candidates,
    ) -> Result<(), StoreError> {
        let scorer = self.scorer(crawls)?;
        found.resize_with(self.queries.len(), Default::default);
        self.queries.par_iter().zip(found).try_for_each_init(
            Workspace::default,
            |workspace, (judged, found)| {
                let ask = CheckpointQuery {
                    words: &judged.query.words,
                    top: RERANK_DEPTH,
                    ranks_of: &[],
                };
                scorer.answer(&ask, workspace, |_, _, answer| {
                    let pages = || answer.top.iter().map(|(page, _)| *page);
                    if lists == Lists::All || pages().any(|page| judged.judged.is_relevant(page)) {
                        found.extend(pages());
                    }
                })
            },
        )
    }

    /// The best `top` pages of every query at every checkpoint of one crawl, reranked where that is
    /// asked for, with their scores: by query, then by checkpoint. Reranked pages have the scores
    /// of the other system, and those behind them the last of these.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn rankings(
        &self,
        crawl: FetchOrder<'_>,
        top: usize,
    ) -> Result<Vec<Vec<Ranking>>, StoreError> {
        let scorer = self.scorer(&[crawl])?;
        self.queries
            .par_iter()
            .enumerate()
            .map_init(Workspace::default, |workspace, (at, judged)| {
                let ask = CheckpointQuery { words: &judged.query.words, top, ranks_of: &[] };
                let mut lists = Vec::with_capacity(crawl.checkpoints.len());
                scorer.answer(&ask, workspace, |_, _, answer| {
                    lists.push(rerank::ranking(&answer.top, self.reranker.of(at)));
                })?;
                Ok(lists)
            })
            .collect()
    }
}

/// Results are ranked to this depth, however many there are: no metric that crawls are measured by asks.
const RESULTS: usize = DEPTH as usize;

/// Metrics of one query by crawl, checkpoint and metric.
fn query_values(
    scorer: &CheckpointScorer<'_>,
    query: &JudgedQuery,
    reranker: &[(u32, f64)],
    metrics: &[Metric],
    workspace: &mut Workspace,
) -> Result<Vec<f64>, StoreError> {
    let judged = &query.judged.judged;
    // Pages that are judged and not relevant change no metric that crawls are measured by; ranks of fewer pages cost
    // less.
    let both = query.judged.pages.iter().copied().zip(query.judged.grades.iter().copied());
    let (pages, grades): (Vec<u32>, Vec<i32>) = both.filter(|(_, grade)| *grade > 0).unzip();
    let top = if reranker.is_empty() { 0 } else { RERANK_DEPTH };
    let ask = CheckpointQuery { words: &query.query.words, top, ranks_of: &pages };
    let mut values = Vec::new();
    let mut ranks = Vec::new();
    scorer.answer(&ask, workspace, |_, _, answer| {
        ranks.clear();
        let moved = rerank::order(&answer.top, reranker);
        let found = pages.iter().zip(&answer.ranks).zip(&grades);
        ranks.extend(found.filter_map(|((page, rank), &grade)| {
            let moved = moved.iter().position(|moved| moved == page);
            Some((moved.map_or(*rank, |at| Some(at as u32 + 1))?, grade))
        }));
        values.extend(metrics.iter().map(|&metric| judged.value(metric, &ranks, RESULTS)));
    })?;
    Ok(values)
}
