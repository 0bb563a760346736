//! Ranking metrics of crawls at checkpoints, exactly as if only the pages fetched by then had been
//! indexed.
//!
//! Not here: when pages were fetched and why, and what is measured without a search ([`super::crawl`]).

use prospect_index::bm25::Bm25;
use prospect_index::checkpoints::{Ask, CheckpointScorer, Crawl, Similarity, Workspace};
use prospect_index::error::StoreError;
use prospect_index::text_index::TextIndex;
use rayon::prelude::*;

use super::metrics::{Judged, Metric};
use super::run::{RERANK_DEPTH, order_by_scores};
use crate::workload::Query;

/// What is judged of one query, as pages of a collection.
#[derive(Clone, Debug, Default)]
pub struct JudgedPages {
    /// Judged pages, ascending.
    pub pages: Vec<u32>,
    /// Their grades.
    pub grades: Vec<i32>,
    /// What is relevant.
    pub judged: Judged,
}

impl JudgedPages {
    /// From pages with their grades, in any order.
    pub fn new(mut judged: Vec<(u32, i32)>) -> Self {
        judged.sort_unstable();
        let (pages, grades): (Vec<u32>, Vec<i32>) = judged.into_iter().unzip();
        Self { judged: Judged::new(grades.iter().copied()), pages, grades }
    }

    /// The relevant pages, ascending.
    pub fn relevant(&self) -> impl Iterator<Item = u32> + '_ {
        let both = self.pages.iter().zip(&self.grades);
        both.filter(|(_, grade)| **grade > 0).map(|(page, _)| *page)
    }
}

/// A query that is evaluated, with its judgements.
#[derive(Clone, Debug)]
pub struct JudgedQuery {
    /// The query.
    pub query: Query,
    /// Its judgements; at least one page is relevant.
    pub judged: JudgedPages,
    /// Scores of another system by which the first results are ordered anew: page and score, by
    /// page; empty for none.
    pub reranked: Vec<(u32, f32)>,
}

/// What crawls are evaluated with.
pub struct CrawlEvaluation<'a> {
    /// Index of the whole collection.
    pub text: &'a TextIndex,
    /// BM25's parameters.
    pub bm25: Bm25,
    /// By page: its place by canonical URL, which decides ties.
    pub url_order: &'a [u32],
    /// The queries.
    pub queries: &'a [JudgedQuery],
}

/// Pages with their scores, best first.
pub type Ranking = Vec<(u32, f64)>;

/// Values of one crawl: by checkpoint, then by query and metric, the metrics of a query together.
pub type Values = Vec<Vec<f64>>;

impl CrawlEvaluation<'_> {
    fn scorer(&self, crawls: &[Crawl<'_>]) -> Result<CheckpointScorer<'_>, StoreError> {
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
    pub fn values(
        &self,
        crawls: &[Crawl<'_>],
        metrics: &[Metric],
    ) -> Result<Vec<Values>, StoreError> {
        let scorer = self.scorer(crawls)?;
        let by_query: Vec<Vec<f64>> = self
            .queries
            .par_iter()
            .map_init(Workspace::default, |workspace, query| {
                query_values(&scorer, query, metrics, workspace)
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

    /// The best `top` pages of every query at every checkpoint of one crawl, reranked where that is
    /// asked for, with their scores: by query, then by checkpoint. Reranked pages have the scores
    /// of the other system, and those behind them the last of these.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn rankings(&self, crawl: Crawl<'_>, top: usize) -> Result<Vec<Vec<Ranking>>, StoreError> {
        let scorer = self.scorer(&[crawl])?;
        self.queries
            .par_iter()
            .map_init(Workspace::default, |workspace, judged| {
                let ask = Ask { words: &judged.query.words, top, ranks_of: &[] };
                let mut lists = Vec::with_capacity(crawl.checkpoints.len());
                scorer.answer(&ask, workspace, |_, _, answer| {
                    lists.push(reranked(&answer.top, &judged.reranked));
                })?;
                Ok(lists)
            })
            .collect()
    }
}

/// What another system says of each page of a list.
fn scores_of(list: &[(u32, f64)], scores: &[(u32, f32)]) -> Vec<Option<f32>> {
    let score = |page: u32| {
        let at = scores.binary_search_by_key(&page, |(page, _)| *page).ok()?;
        Some(scores[at].1)
    };
    list.iter().map(|&(page, _)| score(page)).collect()
}

/// The pages of a list in the order of another system's scores, ties as they were; those without a
/// score stay behind them. Empty where there is no such system.
fn rerank(list: &[(u32, f64)], scores: &[(u32, f32)]) -> Vec<u32> {
    if scores.is_empty() {
        return Vec::new();
    }
    let order = order_by_scores(&scores_of(list, scores), |a, b| a.cmp(&b));
    order.into_iter().map(|at| list[at].0).collect()
}

/// A list in the order of [`rerank`], with scores that do not rise.
fn reranked(list: &[(u32, f64)], scores: &[(u32, f32)]) -> Ranking {
    if scores.is_empty() {
        return list.to_vec();
    }
    let given = scores_of(list, scores);
    let mut last = 0.0;
    let scored = order_by_scores(&given, |a, b| a.cmp(&b)).into_iter().map(|at| {
        if let Some(score) = given[at].filter(|_| at < RERANK_DEPTH) {
            last = f64::from(score);
        }
        (list[at].0, last)
    });
    scored.collect()
}

/// Metrics of one query by crawl, checkpoint and metric.
fn query_values(
    scorer: &CheckpointScorer<'_>,
    query: &JudgedQuery,
    metrics: &[Metric],
    workspace: &mut Workspace,
) -> Result<Vec<f64>, StoreError> {
    let judged = &query.judged.judged;
    // Pages that are judged and not relevant change no metric; ranks of fewer pages cost less.
    let both = query.judged.pages.iter().copied().zip(query.judged.grades.iter().copied());
    let (pages, grades): (Vec<u32>, Vec<i32>) = both.filter(|(_, grade)| *grade > 0).unzip();
    let top = if query.reranked.is_empty() { 0 } else { RERANK_DEPTH };
    let ask = Ask { words: &query.query.words, top, ranks_of: &pages };
    let mut values = Vec::new();
    let mut ranks = Vec::new();
    scorer.answer(&ask, workspace, |_, _, answer| {
        ranks.clear();
        let moved = rerank(&answer.top, &query.reranked);
        let found = pages.iter().zip(&answer.ranks).zip(&grades);
        ranks.extend(found.filter_map(|((page, rank), &grade)| {
            let moved = moved.iter().position(|moved| moved == page);
            Some((moved.map_or(*rank, |at| Some(at as u32 + 1))?, grade))
        }));
        values.extend(metrics.iter().map(|&metric| judged.value(metric, &ranks)));
    })?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reranked_results_come_first_by_score_and_others_keep_their_order() {
        let top = [(4, 9.0), (7, 8.0), (1, 7.0), (3, 6.0)];
        assert_eq!(rerank(&top, &[(1, 0.5), (3, 2.0), (9, 5.0)]), [3, 1, 4, 7]);
        assert_eq!(rerank(&top, &[]), Vec::<u32>::new());
        let scored = [(3, 2.0), (1, 0.5), (4, 0.5), (7, 0.5)];
        assert_eq!(reranked(&top, &[(1, 0.5), (3, 2.0), (9, 5.0)]), scored);
        assert_eq!(reranked(&top, &[]), top);
    }
}
