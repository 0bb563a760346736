//! Rules that stop a crawl: where they would have stopped each crawl of an experiment, and what that would have
//! cost.
//!
//! A rule sees what a crawler would: the pages fetched by the end of each [window](crate::sufficiency::windows),
//! under the statistics of the epoch of then. Stopping changes nothing of the order before it, so a crawl that ran
//! until its frontier was empty tells of all rules. What is judged is not seen by any but `oracle`, the first
//! window's end at which the crawl has 95 % of its final nDCG@10.

use prospect_index::page_store::NONE;

use super::SimulateError;
use super::collection::Collection;
use super::crawl::{CrawlOrder, Start};
use super::epochs::{FollowedCrawl, Seen};
use super::experiment::Crawls;
use super::measure::{Measure, cumulative};
use super::sufficiency::{brought, fetched};
use super::values::Placed;
use crate::estimate::settings::ImpactReading;
use crate::evaluate::metrics::Metric;
use crate::evaluate::statistics::{mean_interval, share_interval};
use crate::policy::amount::Amount;
use crate::policy::{Page, PolicyChoice};
use crate::results::Interval;
use crate::results::stopping::{KEPT, PolicyStops, RuleSummary, Stop, StoppingSummary};
use crate::sufficiency::assess::{AssessedQueries, Frontier, WorkloadSufficiency, redundancies};
use crate::sufficiency::near_duplicates::NearDuplicates;
use crate::sufficiency::verdict::{GAIN_FLOOR, SATURATED, Saturation, THETA};
use crate::sufficiency::windows::{Window, windows};
use crate::workload::Workload;

/// How many times steeper results come before the knee than behind it (Cormack and Grossman, "Engineering quality
/// and reliability in technology-assisted review", SIGIR 2016).
const KNEE_RATIO: f64 = 6.0;

/// A rule that stops crawls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StopRule {
    /// The sufficiency of the workload is at least this.
    Sufficiency(f64),
    /// The lower end of the saturation's interval is at least [`SATURATED`].
    Saturated,
    /// The last window brought by page less than a tenth of the first one.
    NoGain,
    /// The crawl is planned, and fetching all that can be reached would add at most this to the scores of the best pages, as
    /// a share.
    Settled(f64),
    /// The curve of what entered lists has a knee.
    Knee,
    /// So many pages are fetched, as a number or as a share of those that can be.
    Fixed(Amount),
    /// Never.
    Never,
    /// The crawl has 95 % of what it will have: no crawler knows that.
    Oracle,
}

impl StopRule {
    /// A rule by its name.
    pub(crate) fn parse(given: &str) -> Option<Self> {
        let (name, value) = given.split_once(':').map_or((given, None), |(n, v)| (n, Some(v)));
        match (name, value) {
            ("sufficiency", None) => Some(Self::Sufficiency(THETA)),
            ("sufficiency", Some(value)) => {
                let theta: f64 = value.parse().ok()?;
                (theta > 0.0 && theta <= 1.0).then_some(Self::Sufficiency(theta))
            }
            ("settled", Some(value)) => {
                let percent = value.strip_suffix('%')?.parse::<f64>().ok()?;
                (percent > 0.0 && percent <= 100.0).then_some(Self::Settled(percent / 100.0))
            }
            ("saturated", None) => Some(Self::Saturated),
            ("no-gain", None) => Some(Self::NoGain),
            ("knee", None) => Some(Self::Knee),
            ("fixed", Some(value)) => Amount::parse(value).map(Self::Fixed),
            ("never", None) => Some(Self::Never),
            ("oracle", None) => Some(Self::Oracle),
            _ => None,
        }
    }

    /// What can be written, for people.
    pub(crate) const NAMES: &str =
        "sufficiency:0.7, settled:1%, saturated, no-gain, knee, fixed:20%, never and oracle";

    /// Its name.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Sufficiency(theta) => format!("sufficiency:{theta}"),
            Self::Settled(share) => format!("settled:{}", percent(share)),
            Self::Saturated => "saturated".to_owned(),
            Self::NoGain => "no-gain".to_owned(),
            Self::Knee => "knee".to_owned(),
            Self::Fixed(Amount::Pages(pages)) => format!("fixed:{pages}"),
            Self::Fixed(Amount::Share(share)) => format!("fixed:{}", percent(share)),
            Self::Never => "never".to_owned(),
            Self::Oracle => "oracle".to_owned(),
        }
    }

    /// Whether it needs to know how well queries are answered.
    pub(crate) fn reads_sufficiency(self) -> bool {
        matches!(self, Self::Sufficiency(_))
    }

    /// Pages fetched when it stops a crawl; none if it never does.
    fn stop(self, trace: &Trace, fetchable: u32) -> Option<u32> {
        let looks = &trace.looks;
        let first = |holds: &dyn Fn(&Look) -> bool| {
            looks.iter().find(|look| holds(look)).map(|look| look.fetched)
        };
        match self {
            Self::Sufficiency(theta) => first(&|look| look.sufficiency >= theta),
            Self::Saturated => {
                first(&|look| look.saturation.is_some_and(|found| found.low >= SATURATED))
            }
            Self::Settled(_) if !trace.planned => None,
            Self::Settled(share) => {
                first(&|look| look.growth.is_some_and(|growth| growth <= share))
            }
            Self::NoGain => first(&|look| look.gain.is_some_and(|gain| gain < GAIN_FLOOR)),
            Self::Knee => first(&|look| look.knee >= KNEE_RATIO),
            Self::Fixed(amount) => Some(amount.pages(fetchable)).filter(|&at| at < trace.pages),
            Self::Never => None,
            Self::Oracle => trace.oracle,
        }
    }
}

/// What can be seen of a crawl at the end of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Look {
    /// Pages fetched, failed ones among them, those crawled before the start left out.
    fetched: u32,
    sufficiency: f64,
    saturation: Option<Saturation>,
    /// What fetching all that can be reached would add to the scores of the best pages, as a share of what they are.
    growth: Option<f64>,
    /// Impact that entered lists by page in the window, over that of the first one with any.
    gain: Option<f64>,
    /// How many times steeper entries came before the knee.
    knee: f64,
}

/// One crawl, as rules see it.
struct Trace {
    looks: Vec<Look>,
    /// By look, and at the end: nDCG@10 as a share of the final one.
    ndcg: Option<Vec<f64>>,
    /// By pages fetched: share of the impact of the whole crawl.
    impact: Vec<f64>,
    pages: u32,
    /// Where the oracle stops.
    oracle: Option<u32>,
    /// Whether pages are fetched in the order of learned chances.
    planned: bool,
}

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
}

impl Stopping<'_> {
    /// Where every rule stops every crawl, by policy, set and rule. `progress` is told how many crawls are done.
    ///
    /// # Errors
    /// The index or a text cannot be read.
    pub(crate) fn stops(
        &self,
        crawls: &Crawls,
        progress: &dyn Fn(usize),
    ) -> Result<Vec<Stop>, SimulateError> {
        let queries = AssessedQueries::new(self.planning);
        let none = NearDuplicates::default();
        let reads = self.measure.settings.stops_by_sufficiency();
        let alike = if reads { self.measure.collection.near_duplicates()? } else { &none };
        let mut stops = Vec::new();
        for at in 0..crawls.count() {
            let (order, start) = crawls.one(at);
            let (policy, set) = (at / crawls.starts.len(), at % crawls.starts.len());
            let planned = self.is_planned(&self.measure.settings.policies[policy]);
            let trace = self.trace(&queries, alike, (order, start), planned)?;
            let policy = self.measure.settings.policies[policy].label();
            stops.extend(self.rules.iter().map(|rule| {
                let (policy, set) = (policy.clone(), set as u32 + 1);
                self.stop(*rule, &trace, policy, set)
            }));
            progress(at + 1);
        }
        Ok(stops)
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
        }
        marks.push(pages);
        marks.sort_unstable();
        marks.dedup();
        // Kinds begin with all queries.
        let impact = cumulative(&order.pages, &self.measure.kinds[0].impact);
        let whole = impact.last().copied().unwrap_or(0.0);
        let impact: Vec<f64> =
            impact.iter().map(|own| if whole > 0.0 { own / whole } else { 1.0 }).collect();
        let ndcg = self.ndcg((order, start), &marks)?;
        let kept = |pages: u32| {
            let by_impact = || (pages as usize).checked_sub(1).map_or(0.0, |last| impact[last]);
            match &ndcg {
                Some(ndcg) => ndcg[marks.partition_point(|&mark| mark < pages)],
                None => by_impact(),
            }
        };
        let oracle = looks.iter().map(|look| look.fetched).find(|&pages| kept(pages) >= KEPT);
        let ndcg = ndcg.map(|by_mark| {
            let mut by_page = vec![0.0; pages as usize + 1];
            for (mark, value) in marks.iter().zip(by_mark) {
                by_page[*mark as usize] = value;
            }
            by_page
        });
        Ok(Trace { looks, ndcg, impact, pages, oracle, planned })
    }

    /// By mark: nDCG@10 as a share of the final one; none without judgements.
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
        let means: Vec<f64> = values.iter().flatten().map(mean).collect();
        let last = means.last().copied().unwrap_or(0.0);
        Ok(Some(means.iter().map(|own| if last > 0.0 { own / last } else { 1.0 }).collect()))
    }

    /// What can be seen at the end of each window.
    fn looks(
        &self,
        queries: &AssessedQueries,
        alike: &NearDuplicates,
        fetched: &[Page],
        (windows, known): (&[Window], &[usize]),
    ) -> Result<Vec<Look>, SimulateError> {
        let (collection, bm25) = (self.measure.collection, self.measure.settings.plan.bm25);
        let crawl = FollowedCrawl { collection, queries, bm25, fetched, windows };
        let ends: Vec<u32> = windows.iter().map(|window| window.end_seq).collect();
        let mut looks = Vec::with_capacity(windows.len());
        crawl.look_at(&ends, &mut |seen| {
            looks.push(self.look(&seen, alike, known)?);
            Ok(())
        })?;
        Ok(looks)
    }

    fn look(
        &self,
        seen: &Seen<'_>,
        alike: &NearDuplicates,
        known: &[usize],
    ) -> Result<Look, SimulateError> {
        let Seen { at, statistics: epoch, tracks, crawled, .. } = *seen;
        let sufficiency = if self.measure.settings.stops_by_sufficiency() {
            let parts = epoch.parts(tracks, crawled, &redundancies(tracks, alike))?;
            let frequencies = epoch.queries().iter().map(|query| query.frequency);
            WorkloadSufficiency::of(frequencies.zip(&parts), THETA).sufficiency
        } else {
            0.0
        };
        let windows = &crawled.windows[..=at];
        let entered = epoch.entered(tracks, windows);
        let rates: Vec<f64> =
            entered.iter().zip(windows).map(|(impact, w)| impact / w.pages as f64).collect();
        let first = rates.iter().copied().find(|rate| *rate > 0.0);
        Ok(Look {
            fetched: windows[at].end_seq,
            sufficiency,
            saturation: epoch.saturation(tracks, windows),
            growth: epoch.growth(tracks, crawled.pages, windows).map(|growth| {
                let discovered = known[at + 1] - known[growth.windows.start];
                let waiting = known[at + 1] - windows[at].end_seq as usize;
                growth.left(Frontier { waiting, discovered })
            }),
            gain: first.filter(|_| at > 0).map(|first| rates[at] / first),
            knee: knee(&entered, windows),
        })
    }
}

/// The stops of these policies by these rules as a summary.
pub(crate) fn summary(
    policies: &[PolicyChoice],
    rules: &[StopRule],
    stops: &[Stop],
) -> StoppingSummary {
    let of = |policy: Option<&str>| {
        let own = |rule: String| {
            let of_rule = |stop: &&Stop| {
                stop.rule == rule && policy.is_none_or(|policy| stop.policy == policy)
            };
            rule_summary(rule.clone(), &stops.iter().filter(of_rule).collect::<Vec<_>>())
        };
        rules.iter().map(|rule| own(rule.name())).collect::<Vec<RuleSummary>>()
    };
    let policies = policies.iter().map(|choice| {
        let name = choice.label();
        PolicyStops { rules: of(Some(&name)), name }
    });
    StoppingSummary { policies: policies.collect(), rules: of(None) }
}

fn rule_summary(rule: String, stops: &[&Stop]) -> RuleSummary {
    let interval = |values: Vec<f64>| {
        let none = Interval { mean: 0.0, low: None, high: None, values: Vec::new() };
        let mut found = mean_interval(&values).unwrap_or(none);
        found.values.clear();
        found
    };
    let of =
        |value: &dyn Fn(&Stop) -> f64| interval(stops.iter().map(|stop| value(stop)).collect());
    let false_stops = stops.iter().filter(|stop| stop.is_false()).count();
    let ndcg: Option<Vec<f64>> = stops.iter().map(|stop| stop.ndcg).collect();
    RuleSummary {
        rule,
        crawls: stops.len(),
        stopped: stops.iter().filter(|stop| stop.stopped).count(),
        false_stops,
        false_share: share_interval(false_stops as u64, stops.len() as u64)
            .unwrap_or_else(|| interval(Vec::new())),
        pages: of(&|stop| f64::from(stop.pages) / f64::from(stop.of.max(1))),
        ndcg: ndcg.map(interval),
        impact: of(&|stop| stop.impact),
        over_oracle: of(&|stop| f64::from(stop.pages) / f64::from(stop.oracle.max(1))),
    }
}

/// How many times steeper results came before the knee than behind it: at the window whose point is farthest above
/// the line from the start to now.
fn knee(entered: &[f64], windows: &[Window]) -> f64 {
    let all: f64 = entered.iter().sum();
    let pages: usize = windows.iter().map(|window| window.pages).sum();
    let (mut found, mut fetched) = (0.0, 0);
    let mut knee = (0.0, 0.0, 0);
    for (impact, window) in entered.iter().zip(windows) {
        (found, fetched) = (found + impact, fetched + window.pages);
        let above = found - all * fetched as f64 / pages.max(1) as f64;
        if above > knee.0 {
            knee = (above, found, fetched);
        }
    }
    let (_, before, at) = knee;
    if at == 0 || at == pages {
        return 0.0;
    }
    (before / at as f64) / ((1.0 + all - before) / (pages - at) as f64)
}

fn percent(share: f64) -> String {
    format!("{}%", (share * 1e6).round() / 1e4)
}

/// The batches of a crawl as windows.
fn batches(order: &CrawlOrder, start: &Start) -> Vec<Window> {
    let before = start.crawled.len() as u32;
    let mut first_seq = before;
    let ends = order.batch_ends.iter().map(|end| before + end);
    let window = |end_seq: u32| {
        let pages = (end_seq - first_seq) as usize;
        Window { first_seq: std::mem::replace(&mut first_seq, end_seq), end_seq, pages }
    };
    ends.map(window).collect()
}

/// URLs that are known at the start, and by window at its end, fetched ones among them.
fn known_urls(
    collection: &Collection,
    start: &Start,
    fetched: &[Page],
    windows: &[Window],
) -> Vec<usize> {
    let mut known = vec![start.all_known; collection.urls.len()];
    let mut count = if start.all_known { known.len() } else { 0 };
    let mut meet = |page: Page| usize::from(!std::mem::replace(&mut known[page as usize], true));
    count += start.seeds.iter().map(|&page| meet(page)).sum::<usize>();
    let mut at = 0;
    let mut by_window = vec![count];
    for window in windows {
        while at < window.end_seq as usize {
            count += meet(fetched[at]);
            count += collection.links(fetched[at]).iter().map(|&link| meet(link)).sum::<usize>();
            at += 1;
        }
        by_window.push(count);
    }
    by_window
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_named() {
        for name in [
            "sufficiency:0.7",
            "saturated",
            "no-gain",
            "knee",
            "fixed:20%",
            "fixed:300",
            "never",
            "oracle",
        ] {
            assert_eq!(StopRule::parse(name).map(StopRule::name).as_deref(), Some(name));
        }
        assert_eq!(StopRule::parse("sufficiency"), Some(StopRule::Sufficiency(0.7)));
        for wrong in [
            "sufficiency:2",
            "settled",
            "settled:0.1",
            "sufficiency:x",
            "fixed",
            "knee:3",
            "soon",
            "",
        ] {
            assert_eq!(StopRule::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_knee_is_where_a_steep_curve_ends() {
        let windows: Vec<Window> = (0..10)
            .map(|at| Window { first_seq: at * 100, end_seq: at * 100 + 100, pages: 100 })
            .collect();
        let straight = knee(&[100.0; 10], &windows);
        assert!(straight < 1.5, "{straight}");
        let steep = [1000.0, 1000.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0];
        let found = knee(&steep, &windows);
        assert!((found - 10.0 / (81.0 / 800.0)).abs() < 1e-9, "{found}");
        assert_eq!(knee(&[], &[]), 0.0);
    }
}
