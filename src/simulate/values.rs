//! Ranking metrics of crawls. Those of every crawl are kept as a file of work, so that a killed run
//! goes on.
//!
//! Crawls are numbered by policy, then by seed set.

use prospect_index::checkpoints::FetchOrder;
use prospect_index::page_store::NONE;

use super::SimulateError;
use super::collection::Collection;
use super::crawl::{CrawlOrder, Start};
use super::experiment::Crawls;
use super::measure::{Measure, RANKING_METRICS, positions};
use super::work_file;
use crate::evaluate::checkpoints::Values;

/// Crawls that are evaluated in one pass.
pub(super) const CRAWLS_PER_PASS: usize = 8;

/// A crawl as documents of the index.
pub(super) struct Placed {
    position: Vec<u32>,
    checkpoints: Vec<u32>,
}

impl Placed {
    /// A crawl with checkpoints at these numbers of fetched pages.
    pub(super) fn new(
        collection: &Collection,
        (order, start): (&CrawlOrder, &Start),
        pages: &[u32],
    ) -> Self {
        let before = start.crawled.len() as u32;
        let position = collection.by_document(&positions(collection, start, order), NONE);
        Self { position, checkpoints: pages.iter().map(|pages| before + pages).collect() }
    }

    /// What is evaluated.
    pub(super) fn crawl(&self) -> FetchOrder<'_> {
        FetchOrder { position: &self.position, checkpoints: &self.checkpoints }
    }
}

impl Crawls {
    /// A crawl by number: its order, and where it starts.
    pub(super) fn one(&self, at: usize) -> (&CrawlOrder, &Start) {
        let sets = self.starts.len();
        (&self.orders[at / sets][at % sets], &self.starts[at % sets])
    }

    /// Number of crawls.
    pub(super) fn count(&self) -> usize {
        self.orders.len() * self.starts.len()
    }

    /// The checkpoints that a crawl reached.
    pub(super) fn reached(&self, at: usize) -> &[u32] {
        let fetched = self.one(at).0.pages.len();
        let reached = self.checkpoints.iter().filter(|&&pages| pages as usize <= fetched);
        &self.checkpoints[..reached.count()]
    }
}

impl Measure<'_> {
    /// By crawl: its values, if they are kept.
    pub(super) fn kept(&self, crawls: &Crawls) -> Vec<Option<Values>> {
        let queries = self.judged.len() * RANKING_METRICS.len();
        (0..crawls.count()).map(|at| self.kept_of(crawls, at, queries)).collect()
    }

    /// The kept values of one crawl, of so many `queries` and metrics at each checkpoint.
    fn kept_of(&self, crawls: &Crawls, at: usize, queries: usize) -> Option<Values> {
        let bytes = work_file::read(self.storage, &self.file(crawls, at), self.experiment)?;
        let reached = crawls.reached(at).len();
        decode(&bytes, queries).filter(|values| values.len() == reached)
    }

    /// By crawl: its values; those that are not kept are computed. `progress` is told how many crawls
    /// are done.
    pub(super) fn values(
        &self,
        crawls: &Crawls,
        progress: &dyn Fn(usize),
    ) -> Result<Vec<Values>, SimulateError> {
        let mut values = self.kept(crawls);
        let missing: Vec<usize> = (0..values.len()).filter(|&at| values[at].is_none()).collect();
        let mut done = values.len() - missing.len();
        for pass in missing.chunks(CRAWLS_PER_PASS) {
            progress(done);
            for (&at, found) in pass.iter().zip(self.pass(crawls, pass)?) {
                let file = self.file(crawls, at);
                work_file::write(self.storage, &file, self.experiment, &encode(&found))?;
                values[at] = Some(found);
            }
            done += pass.len();
        }
        progress(done);
        Ok(values.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn pass(&self, crawls: &Crawls, pass: &[usize]) -> Result<Vec<Values>, SimulateError> {
        let place = |&at: &usize| Placed::new(self.collection, crawls.one(at), crawls.reached(at));
        let placed: Vec<Placed> = pass.iter().map(place).collect();
        let crawls: Vec<FetchOrder<'_>> = placed.iter().map(Placed::crawl).collect();
        let url_order = self.collection.by_document(&self.collection.url_order, NONE);
        Ok(self.evaluation(&url_order).values(&crawls, &RANKING_METRICS)?)
    }

    /// Where the values of a crawl are kept.
    fn file(&self, crawls: &Crawls, at: usize) -> String {
        let sets = crawls.starts.len();
        let label = self.settings.policies[at / sets].label();
        format!("work/{label}/{}.values", at % sets + 1)
    }
}

fn encode(values: &Values) -> Vec<u8> {
    values.iter().flatten().flat_map(|value| value.to_bits().to_le_bytes()).collect()
}

fn decode(bytes: &[u8], per_checkpoint: usize) -> Option<Values> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return None;
    }
    let numbers: Vec<f64> =
        numbers.iter().map(|bytes| f64::from_bits(u64::from_le_bytes(*bytes))).collect();
    Some(numbers.chunks(per_checkpoint.max(1)).map(<[f64]>::to_vec).collect())
}
