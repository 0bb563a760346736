//! What crawls found: everything that a summary is made of, by policy, seed set and checkpoint.

use prospect_index::page_store::NONE;
use prospect_index::storage::Storage;

use super::SimulateError;
use super::collection::Collection;
use super::crawl::{CrawlOrder, Start};
use super::experiment::Crawls;
use super::settings::SimulationSettings;
use super::truth;
use crate::evaluate::checkpoints::{CrawlEvaluation, JudgedQuery, Values};
use crate::evaluate::crawl::max_ndcg;
use crate::evaluate::metrics::{DEPTH, Metric};
use crate::evaluate::rerank::PairScores;
use crate::policy::Page;
use crate::workload::Workload;

/// Metrics of rankings that are taken at every checkpoint.
pub(crate) const RANKING_METRICS: [Metric; 4] = [
    Metric::Ndcg(10),
    Metric::Recall(100),
    Metric::ReciprocalRank(10),
    Metric::AveragePrecision(DEPTH),
];

/// Queries of one kind.
pub(crate) struct QueryKind {
    /// Its name; `all` for the first.
    pub(crate) name: String,
    /// Which of the judged queries.
    pub(crate) queries: Vec<usize>,
    /// Queries of the workload, judged or not.
    pub(crate) asked: usize,
    /// By page: whether it is relevant to one of them.
    pub(crate) relevant: Vec<bool>,
    /// By page: true impact over the workload's queries of the kind.
    pub(crate) impact: Vec<f64>,
}

/// The kinds of a workload: `all`, then those that it names.
///
/// # Errors
/// The index cannot be read.
pub(crate) fn kinds(
    collection: &Collection,
    evaluation: &Workload,
    judged: &[JudgedQuery],
    settings: &SimulationSettings,
) -> Result<Vec<QueryKind>, SimulateError> {
    let mut names: Vec<&str> = evaluation.queries.iter().map(|q| q.kind.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    // A kind of that name is not told apart: all queries have it.
    names.retain(|name| !name.is_empty() && *name != "all");
    let mut kinds = Vec::new();
    for name in std::iter::once("all").chain(names) {
        let of_kind = |kind: &str| name == "all" || kind == name;
        let queries: Vec<usize> =
            (0..judged.len()).filter(|&at| of_kind(&judged[at].query.kind)).collect();
        let mut relevant = vec![false; collection.urls.len()];
        for page in queries.iter().flat_map(|&at| judged[at].judged.relevant()) {
            relevant[page as usize] = true;
        }
        let asked = evaluation.queries.iter().filter(|query| of_kind(&query.kind));
        let workload = Workload { queries: asked.cloned().collect() };
        let (bm25, places) = (settings.plan.bm25, settings.plan.places());
        let impact = truth::impact(collection, &workload, bm25, places)?;
        let asked = workload.queries.len();
        kinds.push(QueryKind { name: name.to_owned(), queries, asked, relevant, impact });
    }
    Ok(kinds)
}

impl QueryKind {
    /// Impact that a crawl from `start` can collect: that of all pages which are not crawled
    /// before, reachable or not.
    pub(crate) fn total_impact(&self, start: &Start) -> f64 {
        let mut left = vec![true; self.impact.len()];
        for &page in &start.crawled {
            left[page as usize] = false;
        }
        self.impact.iter().zip(left).filter(|(_, left)| *left).fold(0.0, |sum, (own, _)| sum + own)
    }
}

/// One crawl, measured.
pub(crate) struct Measured {
    /// Checkpoints it reached.
    pub(crate) reached: usize,
    /// By kind: pages fetched when the n-th relevant page was.
    pub(crate) tau: Vec<Vec<u32>>,
    /// By kind, then by checkpoint: relevant pages fetched.
    pub(crate) relevant: Vec<Vec<u32>>,
    /// By kind: impact collected with each page.
    pub(crate) impact: Vec<Vec<f64>>,
    /// By kind: impact there was to collect.
    pub(crate) total_impact: Vec<f64>,
    /// By checkpoint, then by judged query: relevant pages of the query fetched.
    pub(crate) found: Vec<Vec<u32>>,
    /// Ranking metrics.
    pub(crate) values: Values,
}

/// Everything that measuring needs besides the crawls.
pub(crate) struct Measure<'a> {
    /// The pages.
    pub(crate) collection: &'a Collection,
    /// Queries with judgements.
    pub(crate) judged: &'a [JudgedQuery],
    /// Scores by which the first results of these queries are ordered anew.
    pub(crate) reranker: &'a PairScores,
    /// Kinds of queries.
    pub(crate) kinds: &'a [QueryKind],
    /// The experiment.
    pub(crate) settings: &'a SimulationSettings,
    /// Where work is kept.
    pub(crate) storage: &'a Storage,
    /// Which experiment it is of.
    pub(crate) experiment: u64,
}

impl Measure<'_> {
    /// Measures all crawls: by policy, then by set. `progress` is told how many are done.
    ///
    /// # Errors
    /// The index cannot be read, or work cannot be kept.
    pub(crate) fn all(
        &self,
        crawls: &Crawls,
        progress: &dyn Fn(usize),
    ) -> Result<Vec<Vec<Measured>>, SimulateError> {
        let mut values = self.values(crawls, progress)?.into_iter();
        let mut measured = Vec::with_capacity(crawls.orders.len());
        for orders in &crawls.orders {
            let mut sets = Vec::with_capacity(orders.len());
            for (order, start) in orders.iter().zip(&crawls.starts) {
                let values = values.next().unwrap_or_default();
                sets.push(self.one(&crawls.checkpoints, start, order, values));
            }
            measured.push(sets);
        }
        Ok(measured)
    }

    /// The evaluation, for pages as documents of the index.
    pub(crate) fn evaluation<'a>(&'a self, url_order: &'a [u32]) -> CrawlEvaluation<'a> {
        CrawlEvaluation {
            text: &self.collection.text,
            bm25: self.settings.plan.bm25,
            url_order,
            queries: self.judged,
            reranker: self.reranker,
        }
    }

    fn one(
        &self,
        checkpoints: &[u32],
        start: &Start,
        order: &CrawlOrder,
        values: Values,
    ) -> Measured {
        let pages = &order.pages;
        let reached: Vec<u32> =
            checkpoints.iter().copied().filter(|&at| at as usize <= pages.len()).collect();
        let tau: Vec<Vec<u32>> =
            self.kinds.iter().map(|kind| found_at(pages, &kind.relevant)).collect();
        let relevant = tau
            .iter()
            .map(|tau| reached.iter().map(|&t| tau.partition_point(|&at| at <= t) as u32).collect())
            .collect();
        let impact = self.kinds.iter().map(|kind| cumulative(pages, &kind.impact)).collect();
        let total_impact = self.kinds.iter().map(|kind| kind.total_impact(start)).collect();
        let positions = positions(self.collection, start, order);
        let before = start.crawled.len() as u32;
        let found = reached
            .iter()
            .map(|&t| {
                let fetched = |page: &Page| positions[*page as usize] < before + t;
                let count =
                    |query: &JudgedQuery| query.judged.relevant().filter(fetched).count() as u32;
                self.judged.iter().map(count).collect()
            })
            .collect();
        Measured { reached: reached.len(), tau, relevant, impact, total_impact, found, values }
    }
}

impl Measured {
    /// maxNDCG of every judged query at a checkpoint.
    pub(crate) fn max_ndcg(&self, checkpoint: usize) -> impl Iterator<Item = f64> + '_ {
        self.found[checkpoint].iter().map(|&found| max_ndcg(found))
    }
}

/// By page: its place in the fetch order, pages crawled before first; [`NONE`] if never fetched.
pub(crate) fn positions(collection: &Collection, start: &Start, order: &CrawlOrder) -> Vec<u32> {
    let mut positions = vec![NONE; collection.urls.len()];
    for (at, &page) in start.crawled.iter().chain(&order.pages).enumerate() {
        positions[page as usize] = at as u32;
    }
    positions
}

fn found_at(pages: &[Page], relevant: &[bool]) -> Vec<u32> {
    let hits = pages.iter().enumerate().filter(|(_, page)| relevant[**page as usize]);
    hits.map(|(at, _)| at as u32 + 1).collect()
}

/// By number of pages fetched, from 1: the impact they have together.
pub(super) fn cumulative(pages: &[Page], impact: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let added = pages.iter().map(|&page| {
        sum += impact[page as usize];
        sum
    });
    added.collect()
}
