//! Re-ranking: the first results of a search in the order of another system's scores, those of a run
//! or of a cross-encoder.
//!
//! A cross-encoder's score is a function of query and page alone. So [`score`] reads every pair
//! once, however many crawls and checkpoints list it; which pairs that are, says
//! [`CrawlEvaluation::candidates`](super::checkpoints::CrawlEvaluation::candidates). Not here: where
//! the texts of pages are kept, and what a model does with them.

use std::collections::BTreeSet;

use prospect_index::error::StoreError;

use super::checkpoints::{JudgedQuery, Ranking};
use super::run::{RERANK_DEPTH, order_by_scores};
use crate::neural::{NeuralError, PairModel};

/// Texts that are held at a time, of at most about 1 MiB each.
const CHUNK: usize = 128;

/// Where the texts of pages come from.
pub(crate) trait PageTexts {
    /// The text of each of `pages`: title, space and text.
    ///
    /// # Errors
    /// The texts cannot be read.
    fn texts(&self, pages: &[u32]) -> Result<Vec<String>, StoreError>;
}

/// Why results cannot be ordered anew.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RerankError {
    /// The model fails, or its scores cannot be remembered.
    #[error(transparent)]
    Model(#[from] NeuralError),
    /// The text of a page cannot be read.
    #[error(transparent)]
    Texts(#[from] StoreError),
}

/// By query: the pages that may be among its first results.
pub(crate) type Candidates = Vec<BTreeSet<u32>>;

/// Scores of another system by query and page; higher is better.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PairScores {
    /// By query: pages with their scores, by page. Shorter than the queries where the rest has none.
    by_query: Vec<Vec<(u32, f64)>>,
}

impl PairScores {
    /// From pages with their scores in any order, by query; of two scores of a page the first counts.
    pub(crate) fn new(mut by_query: Vec<Vec<(u32, f64)>>) -> Self {
        for scores in &mut by_query {
            scores.sort_by_key(|(page, _)| *page);
            scores.dedup_by_key(|(page, _)| *page);
        }
        Self { by_query }
    }

    /// Pages of a query with their scores, by page; empty where the query keeps its order.
    pub(crate) fn of(&self, query: usize) -> &[(u32, f64)] {
        self.by_query.get(query).map_or(&[], Vec::as_slice)
    }

    /// Pairs in all.
    pub(crate) fn pairs(&self) -> usize {
        self.by_query.iter().map(Vec::len).sum()
    }
}

/// Scores each candidate of each query; `progress` is told how many pairs of how many are scored.
///
/// Memory: 16 bytes a pair, and the texts of 128 pages.
///
/// # Errors
/// The model fails, or the text of a page cannot be read.
pub(crate) fn score(
    model: &dyn PairModel,
    texts: &dyn PageTexts,
    queries: &[JudgedQuery],
    candidates: &Candidates,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PairScores, RerankError> {
    let all = candidates.iter().map(|pages| pages.len() as u64).sum();
    let mut done = 0;
    let mut by_query = Vec::with_capacity(queries.len());
    for (judged, pages) in queries.iter().zip(candidates) {
        let pages: Vec<u32> = pages.iter().copied().collect();
        let mut scores = Vec::with_capacity(pages.len());
        for chunk in pages.chunks(CHUNK) {
            progress(done, all);
            let texts = texts.texts(chunk)?;
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let scored = model.score(&judged.query.text, &texts)?;
            scores.extend(chunk.iter().copied().zip(scored));
            done += chunk.len() as u64;
        }
        by_query.push(scores);
    }
    progress(done, all);
    Ok(PairScores::new(by_query))
}

/// What another system says of each page of a list.
fn scores_of(list: &[(u32, f64)], scores: &[(u32, f64)]) -> Vec<Option<f64>> {
    let mut found = Vec::with_capacity(list.len());
    for (page, _) in list {
        let at = scores.binary_search_by_key(page, |(page, _)| *page).ok();
        found.push(at.map(|at| scores[at].1));
    }
    found
}

/// The pages of a list in the order of another system's scores, ties as they were; those without a
/// score stay behind them. Empty where there is no such system.
pub(super) fn order(list: &[(u32, f64)], scores: &[(u32, f64)]) -> Vec<u32> {
    if scores.is_empty() {
        return Vec::new();
    }
    let order = order_by_scores(&scores_of(list, scores));
    order.into_iter().map(|at| list[at].0).collect()
}

/// A list in the order of [`order`], with scores that do not rise.
pub(super) fn ranking(list: &[(u32, f64)], scores: &[(u32, f64)]) -> Ranking {
    if scores.is_empty() {
        return list.to_vec();
    }
    let given = scores_of(list, scores);
    let mut last = 0.0;
    let scored = order_by_scores(&given).into_iter().map(|at| {
        if let Some(score) = given[at].filter(|_| at < RERANK_DEPTH) {
            last = score;
        }
        (list[at].0, last)
    });
    scored.collect()
}

#[cfg(test)]
mod tests;
