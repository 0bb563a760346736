//! Rules that stop a crawl: where they would have stopped each crawl of an experiment, and what that would have
//! cost.
//!
//! A rule sees what a crawler would: the pages fetched by the end of each [window](crate::sufficiency::windows),
//! under the statistics of the epoch of then, or what the policy expected of its next batch. Stopping changes nothing of
//! the order before it, so a crawl that ran until its frontier was empty tells of all rules. What is judged is not seen by
//! any but `oracle`, the first window's end at which the crawl has 95 % of its final nDCG@10.

mod judges;
mod looks;
mod rule;
mod summary;

use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) use judges::wordings;
use looks::{Trace, batches, known_urls};
use prospect_index::page_store::NONE;
pub(crate) use rule::StopRule;
pub(crate) use summary::summary;

use super::SimulateError;
use super::crawl::{CrawlOrder, Start};
use super::experiment::{Crawls, side_by_side};
use super::measure::{Measure, cumulative};
use super::sufficiency::{brought, fetched};
use super::values::Placed;
use crate::estimate::settings::ImpactReading;
use crate::evaluate::metrics::Metric;
use crate::policy::PolicyChoice;
use crate::policy::hidden_web::WebVectors;
use crate::results::stopping::{KEPT, Stop};
use crate::sufficiency::assess::AssessedQueries;
use crate::sufficiency::near_duplicates::NearDuplicates;
use crate::sufficiency::windows::windows;
use crate::workload::Workload;

/// What rules need beside the crawls.
pub(crate) struct Stopping<'a> {
    /// How crawls are measured.
    pub(crate) measure: &'a Measure<'a>,
    /// Queries that are planned for.
    pub(crate) planning: &'a Workload,
    /// The rules.
    pub(crate) rules: &'a [StopRule],
    /// Pages that can be fetched.
    pub(crate) fetchable: u32,
    /// The query that the crawls are for, where each has its own; empty else.
    pub(crate) qid: &'a str,
    /// Whether rules look after every batch, which is a window then, instead of after windows of at least 100 pages.
    pub(crate) by_batch: bool,
    /// Vectors of titles, of the queries and of their [wordings], where a model judges.
    pub(crate) vectors: Option<WebVectors<'a>>,
}

impl Stopping<'_> {
    /// Where every rule stops every crawl, by policy, set and rule. `progress` is told how many crawls are done.
    ///
    /// # Errors
    /// The index or a text cannot be read.
    pub(crate) fn stops(
        &self,
        crawls: &Crawls,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Stop>, SimulateError> {
        let queries = AssessedQueries::new(self.planning);
        let none = NearDuplicates::default();
        let reads = self.measure.settings.stops_by_sufficiency();
        let alike = if reads { self.measure.collection.near_duplicates()? } else { &none };
        let done = AtomicUsize::new(0);
        let stops = side_by_side(crawls.count(), |at| {
            let stops = self.stops_of_crawl(crawls, at, &queries, alike)?;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(stops)
        })?;
        Ok(stops.into_iter().flatten().collect())
    }

    /// Where every rule stops one crawl, given by number.
    fn stops_of_crawl(
        &self,
        crawls: &Crawls,
        at: usize,
        queries: &AssessedQueries,
        alike: &NearDuplicates,
    ) -> Result<Vec<Stop>, SimulateError> {
        let (policy, set) = (at / crawls.starts.len(), at % crawls.starts.len());
        let choice = &self.measure.settings.policies[policy];
        let trace = self.trace(queries, alike, crawls.one(at), self.is_planned(choice))?;
        let policy = choice.label();
        let stop = |rule: &StopRule| self.stop(*rule, &trace, policy.clone(), set as u32 + 1);
        Ok(self.rules.iter().map(stop).collect())
    }

    fn stop(&self, rule: StopRule, trace: &Trace, policy: String, set: u32) -> Stop {
        let at = rule.stop(trace, self.fetchable);
        let pages = at.unwrap_or(trace.pages);
        Stop {
            policy,
            set,
            qid: self.qid.to_owned(),
            rule: rule.name(),
            stopped: at.is_some_and(|at| at < trace.pages),
            pages,
            of: trace.pages,
            ndcg: trace.ndcg.as_ref().map(|ndcg| ndcg[(pages as usize).min(ndcg.len() - 1)]),
            finds: trace.finds,
            impact: (pages as usize)
                .checked_sub(1)
                .map_or(0.0, |last| trace.impact[last.min(trace.impact.len() - 1)]),
            oracle: trace.oracle.unwrap_or(trace.pages),
        }
    }

    /// Whether a policy plans by learned chances.
    fn is_planned(&self, policy: &PolicyChoice) -> bool {
        let settings = policy.settings(self.measure.settings.plan.clone());
        policy.kind.is_planned()
            && settings.is_ok_and(|own| own.estimate.reading == ImpactReading::Learned)
    }

    fn trace(
        &self,
        queries: &AssessedQueries,
        alike: &NearDuplicates,
        (order, start): (&CrawlOrder, &Start),
        planned: bool,
    ) -> Result<Trace, SimulateError> {
        let collection = self.measure.collection;
        let fetched = fetched(order, start);
        let windows = if self.by_batch {
            batches(order, start)
        } else {
            windows(brought(collection, &fetched))
        };
        let before = start.crawled.len() as u32;
        let known = known_urls(collection, start, &fetched, &windows);
        let mut looks = self.looks(queries, alike, &fetched, (&windows, &known))?;
        looks.retain(|look| look.fetched > before);
        for look in &mut looks {
            look.fetched -= before;
        }
        let pages = order.pages.len() as u32;
        let mut marks: Vec<u32> = looks.iter().map(|look| look.fetched).collect();
        for rule in self.rules {
            if let StopRule::Fixed(amount) = rule {
                marks.push(amount.pages(self.fetchable).min(pages));
            }
            if *rule == StopRule::NoGain {
                marks.extend(order.no_gain);
            }
        }
        marks.push(pages);
        marks.sort_unstable();
        marks.dedup();
        // Kinds begin with all queries.
        let impact = cumulative(&order.pages, &self.measure.kinds[0].impact);
        let impact = of_the_last(&impact);
        let ndcg = self.ndcg((order, start), &marks)?;
        let finds = ndcg.as_ref().is_none_or(|found| found.last().is_some_and(|last| *last > 0.0));
        let ndcg = ndcg.map(|found| of_the_last(&found));
        let oracle = looks.iter().map(|look| look.fetched).find(|&pages| {
            let kept = match &ndcg {
                Some(ndcg) => ndcg[marks.partition_point(|&mark| mark < pages)],
                None => (pages as usize).checked_sub(1).map_or(0.0, |last| impact[last]),
            };
            kept >= KEPT
        });
        let ndcg = ndcg.map(|by_mark| {
            let mut by_page = vec![0.0; pages as usize + 1];
            for (mark, value) in marks.iter().zip(by_mark) {
                by_page[*mark as usize] = value;
            }
            by_page
        });
        let no_gain = order.no_gain;
        Ok(Trace { looks, ndcg, finds, impact, pages, oracle, no_gain, planned })
    }

    /// By mark: nDCG@10; none without judgements.
    fn ndcg(
        &self,
        crawl: (&CrawlOrder, &Start),
        marks: &[u32],
    ) -> Result<Option<Vec<f64>>, SimulateError> {
        let Measure { collection, judged, .. } = self.measure;
        if judged.is_empty() {
            return Ok(None);
        }
        let placed = Placed::new(collection, crawl, marks);
        let url_order = collection.by_document(&collection.url_order, NONE);
        let evaluation = self.measure.evaluation(&url_order);
        let values = evaluation.values(&[placed.crawl()], &[Metric::Ndcg(10)])?;
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
        Ok(Some(values.iter().flatten().map(mean).collect()))
    }
}

/// Values as shares of the last one; 1 where that is nothing.
fn of_the_last(values: &[f64]) -> Vec<f64> {
    let last = values.last().copied().unwrap_or(0.0);
    values.iter().map(|own| if last > 0.0 { own / last } else { 1.0 }).collect()
}
