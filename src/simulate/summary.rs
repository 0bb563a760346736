//! From measured crawls to the summary of an experiment: means and spread over seed sets, areas,
//! speedups, and tests against the baseline.
//!
//! Significance (METHODS, section 2): for metrics that are taken by query, a paired two-sided
//! t-test over queries, each query's value being its mean over the seed sets; for the harvest rate,
//! a two-proportion z-test on the mean number of relevant pages. Seed sets do not multiply the
//! number of observations.

use super::analyses::{self, hosts};
use super::experiment::{Crawls, Inputs};
use super::measure::{Measured, QueryKind, RANKING_METRICS};
use super::settings::SimulationSettings;
use crate::evaluate::checkpoints::JudgedQuery;
use crate::evaluate::crawl::{harvest_rate, impact_speedup, max_ndcg, speedup};
use crate::evaluate::statistics::{
    bonferroni, holm, mean_interval, paired_bootstrap, paired_t_test, resamples_for,
    two_proportion_z_test,
};
use crate::results::{
    AreaTest, Comparison, Curve, Interval, KindSummary, Point, PolicySummary, QueryChange,
};
use crate::workload::Query;

/// Queries listed as gained and as lost.
const QUERIES_LISTED: usize = 10;

/// A metric of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SummaryMetric {
    /// Harvest rate.
    HarvestRate,
    /// maxNDCG.
    MaxNdcg,
    /// maxNDCG divided by its value on the whole collection.
    MaxNdcgOfFull,
    /// One of [`RANKING_METRICS`].
    Ranking(usize),
    /// Share of the true impact collected.
    Impact,
}

impl SummaryMetric {
    /// All, or those that need no judgement.
    pub(crate) fn all(judged: bool) -> Vec<Self> {
        if !judged {
            return vec![Self::Impact];
        }
        let rankings = (0..RANKING_METRICS.len()).map(Self::Ranking);
        let first = [Self::HarvestRate, Self::MaxNdcg, Self::MaxNdcgOfFull];
        first.into_iter().chain(rankings).chain([Self::Impact]).collect()
    }

    /// Whether it is a mean over queries.
    fn is_by_query(self) -> bool {
        !matches!(self, Self::HarvestRate | Self::Impact)
    }

    /// Its name.
    pub(crate) fn name(self) -> String {
        match self {
            Self::HarvestRate => "HR".to_owned(),
            Self::MaxNdcg => "maxNDCG".to_owned(),
            Self::MaxNdcgOfFull => "maxNDCG/full".to_owned(),
            Self::Ranking(at) => RANKING_METRICS[at].to_string(),
            Self::Impact => "impact".to_owned(),
        }
    }
}

/// One value of a curve.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SummaryRow {
    /// Seed set, from 1.
    pub(crate) set: u32,
    /// Query kind.
    pub(crate) kind: String,
    /// Metric.
    pub(crate) metric: String,
    /// Pages fetched.
    pub(crate) pages: u32,
    /// Value.
    pub(crate) value: f64,
}

/// What a summary is made from.
pub(crate) struct Findings<'a> {
    /// Inputs.
    pub(crate) inputs: &'a Inputs<'a>,
    /// The experiment.
    pub(crate) settings: &'a SimulationSettings,
    /// Crawls.
    pub(crate) crawls: &'a Crawls,
    /// Crawls, measured: by policy, then by set.
    pub(crate) measured: &'a [Vec<Measured>],
    /// Queries with judgements.
    pub(crate) judged: &'a [JudgedQuery],
    /// Kinds of queries.
    pub(crate) kinds: &'a [QueryKind],
    /// Metrics.
    pub(crate) metrics: &'a [SummaryMetric],
}

impl Findings<'_> {
    /// Number of the baseline among the policies.
    pub(crate) fn baseline(&self) -> Option<usize> {
        let policies = &self.settings.policies;
        policies.iter().position(|choice| choice.label() == self.settings.baseline)
    }

    /// One summary a policy.
    pub(crate) fn policies(&self) -> Vec<PolicySummary> {
        // By kind, metric and policy: policies are taken off one after the other.
        let mut curves: Vec<Vec<std::vec::IntoIter<Curve>>> = (0..self.kinds.len())
            .map(|kind| {
                let of_metric = |&metric: &SummaryMetric| self.curves(kind, metric).into_iter();
                self.metrics.iter().map(of_metric).collect()
            })
            .collect();
        let policies = self.settings.policies.iter().enumerate();
        policies
            .map(|(policy, choice)| {
                let (gained, lost) = self.changes(policy);
                let kinds = curves.iter_mut().enumerate();
                PolicySummary {
                    name: choice.label(),
                    oracle: choice.kind.is_oracle(),
                    fetched: self.crawls.orders[policy]
                        .iter()
                        .map(|o| o.pages.len() as u32)
                        .collect(),
                    kinds: kinds
                        .map(|(kind, curves)| {
                            let curves = curves.iter_mut().filter_map(Iterator::next).collect();
                            self.kind(policy, kind, curves)
                        })
                        .collect(),
                    hosts: hosts(self, policy),
                    gained,
                    lost,
                }
            })
            .collect()
    }

    fn kind(&self, policy: usize, number: usize, curves: Vec<Curve>) -> KindSummary {
        let kind = &self.kinds[number];
        KindSummary {
            kind: kind.name.clone(),
            queries: if self.judged.is_empty() { kind.asked } else { kind.queries.len() } as u32,
            curves,
            speedup_relevant: self.mean_speedup(policy, number, true),
            speedup_impact: self.mean_speedup(policy, number, false),
        }
    }

    /// The mean over seed sets of what [`speedups`](Self::speedups) finds.
    fn mean_speedup(&self, policy: usize, kind: usize, relevant: bool) -> Option<Interval> {
        let sets = self.speedups(policy, kind, relevant).into_iter();
        mean_interval(&sets.flatten().collect::<Vec<f64>>())
    }

    /// Speedup over the baseline, in relevant pages or in impact, by set; nothing for the baseline.
    pub(super) fn speedups(&self, policy: usize, kind: usize, relevant: bool) -> Vec<Option<f64>> {
        let Some(baseline) = self.baseline().filter(|&baseline| baseline != policy) else {
            return Vec::new();
        };
        let mut speedups = Vec::new();
        for (own, base) in self.measured[policy].iter().zip(&self.measured[baseline]) {
            speedups.push(if relevant {
                speedup(&own.tau[kind], &base.tau[kind])
            } else {
                impact_speedup(&own.impact[kind], &base.impact[kind], own.total_impact[kind])
            });
        }
        speedups
    }

    /// Curves of one metric on the queries of a kind: by policy.
    fn curves(&self, kind: usize, metric: SummaryMetric) -> Vec<Curve> {
        let mut curves: Vec<Curve> =
            (0..self.measured.len()).map(|policy| self.curve(kind, metric, policy)).collect();
        self.compare(kind, metric, &mut curves);
        curves
    }

    /// Checkpoints that all crawls of a policy reached.
    fn reached(&self, policy: usize) -> usize {
        self.measured[policy].iter().map(|crawl| crawl.reached).min().unwrap_or(0)
    }

    /// Checkpoints that all crawls reached.
    pub(super) fn common(&self) -> usize {
        (0..self.measured.len()).map(|policy| self.reached(policy)).min().unwrap_or(0)
    }

    fn curve(&self, kind: usize, metric: SummaryMetric, policy: usize) -> Curve {
        let by_set: Vec<Vec<f64>> = self.measured[policy]
            .iter()
            .map(|crawl| {
                (0..self.reached(policy)).map(|at| self.value(kind, metric, crawl, at)).collect()
            })
            .collect();
        let points = (0..self.reached(policy))
            .map(|at| {
                let pages = self.crawls.checkpoints[at];
                let seconds = self.seconds_of(policy, pages);
                point(pages, seconds, by_set.iter().map(|set| set[at]))
            })
            .collect();
        let areas: Vec<f64> =
            by_set.iter().map(|values| self.area(&values[..self.common()])).collect();
        let area = mean_interval(&areas).unwrap_or_else(|| interval(0.0));
        let baseline = self.baseline().filter(|&baseline| baseline != policy);
        let gain = baseline.and_then(|baseline| {
            let own = self.query_areas(kind, metric, policy)?;
            let base = self.query_areas(kind, metric, baseline)?;
            let differences: Vec<Vec<f64>> = own
                .iter()
                .zip(&base)
                .map(|(own, base)| own.iter().zip(base).map(|(a, b)| a - b).collect())
                .collect();
            let tests = self.measured.len().saturating_sub(1);
            let resamples = resamples_for(tests, self.settings.significance);
            paired_bootstrap(&differences, resamples, self.settings.seed)
        });
        // Corrected and judged when all policies have theirs.
        let p = gain.as_ref().and_then(|gain| gain.p);
        let area_test = p.map(|p| AreaTest { p, p_holm: p, significant: false });
        let area_gain = gain.map(|gain| gain.interval);
        Curve { metric: metric.name(), points, area, area_gain, area_test }
    }

    /// The metric of one crawl at a checkpoint.
    pub(super) fn value(
        &self,
        kind: usize,
        metric: SummaryMetric,
        crawl: &Measured,
        at: usize,
    ) -> f64 {
        let pages = self.crawls.checkpoints[at];
        match metric {
            SummaryMetric::HarvestRate => {
                harvest_rate(crawl.relevant[kind][at] as usize, pages as usize)
            }
            SummaryMetric::Impact => match crawl.total_impact[kind] {
                total if total > 0.0 => crawl.impact[kind][pages as usize - 1] / total,
                _ => 0.0,
            },
            _ => {
                let queries = &self.kinds[kind].queries;
                let values = queries.iter().map(|&q| self.query_value(metric, crawl, at, q));
                // Adding 0 makes 0 of the -0 that an empty sum is.
                values.sum::<f64>() / queries.len().max(1) as f64 + 0.0
            }
        }
    }

    /// A metric that is taken by query, of one query.
    fn query_value(&self, metric: SummaryMetric, crawl: &Measured, at: usize, query: usize) -> f64 {
        let found = || max_ndcg(crawl.found[at][query]);
        match metric {
            SummaryMetric::MaxNdcg => found(),
            SummaryMetric::MaxNdcgOfFull => {
                found() / max_ndcg(self.judged[query].judged.judged.relevant() as u32)
            }
            SummaryMetric::Ranking(number) => {
                crawl.values[at][query * RANKING_METRICS.len() + number]
            }
            SummaryMetric::HarvestRate | SummaryMetric::Impact => 0.0,
        }
    }

    /// By query of the kind: the mean over seed sets; none for a metric that is not taken by query.
    fn query_means(
        &self,
        kind: usize,
        metric: SummaryMetric,
        policy: usize,
        at: usize,
    ) -> Option<Vec<f64>> {
        if !metric.is_by_query() {
            return None;
        }
        let mean = |&query: &usize| self.query_mean(metric, policy, at, query);
        Some(self.kinds[kind].queries.iter().map(mean).collect())
    }

    /// The mean over seed sets of a query's value.
    fn query_mean(&self, metric: SummaryMetric, policy: usize, at: usize, query: usize) -> f64 {
        let crawls = &self.measured[policy];
        let values = crawls.iter().map(|crawl| self.query_value(metric, crawl, at, query));
        values.sum::<f64>() / crawls.len() as f64
    }

    /// By seed set, then query of the kind: the area of its curve.
    fn query_areas(
        &self,
        kind: usize,
        metric: SummaryMetric,
        policy: usize,
    ) -> Option<Vec<Vec<f64>>> {
        if !metric.is_by_query() {
            return None;
        }
        let of_set = |crawl: &Measured| self.areas_of_set(kind, metric, crawl);
        Some(self.measured[policy].iter().map(of_set).collect())
    }

    /// By query of the kind: the area of its curve in one crawl.
    fn areas_of_set(&self, kind: usize, metric: SummaryMetric, crawl: &Measured) -> Vec<f64> {
        let mut areas = Vec::with_capacity(self.kinds[kind].queries.len());
        for &query in &self.kinds[kind].queries {
            let at = 0..self.common();
            let curve: Vec<f64> = at.map(|at| self.query_value(metric, crawl, at, query)).collect();
            areas.push(self.area(&curve));
        }
        areas
    }

    /// Mean height of a curve over the first checkpoints.
    fn area(&self, values: &[f64]) -> f64 {
        let at = |i: usize| f64::from(self.crawls.checkpoints[i]);
        match values {
            [] => 0.0,
            [only] => *only,
            _ => {
                let steps = values.windows(2).enumerate();
                let area: f64 = steps
                    .map(|(i, pair)| f64::midpoint(pair[0], pair[1]) * (at(i + 1) - at(i)))
                    .sum();
                area / (at(values.len() - 1) - at(0))
            }
        }
    }

    /// Tests every policy against the baseline at every checkpoint that both reached.
    fn compare(&self, kind: usize, metric: SummaryMetric, curves: &mut [Curve]) {
        let Some(baseline) = self.baseline() else { return };
        let mut tests: Vec<(usize, usize, f64)> = Vec::new();
        for policy in (0..curves.len()).filter(|&policy| policy != baseline) {
            for at in 0..self.reached(policy).min(self.reached(baseline)) {
                if let Some(p) = self.test(kind, metric, policy, baseline, at) {
                    tests.push((policy, at, p));
                }
            }
        }
        let p: Vec<f64> = tests.iter().map(|test| test.2).collect();
        let (of_bonferroni, of_holm) = (bonferroni(&p), holm(&p));
        for (number, (policy, at, p)) in tests.into_iter().enumerate() {
            let difference = curves[policy].points[at].mean - curves[baseline].points[at].mean;
            curves[policy].points[at].versus_baseline = Some(Comparison {
                difference,
                p,
                p_bonferroni: of_bonferroni[number],
                p_holm: of_holm[number],
                significant: of_holm[number] < self.settings.significance,
            });
        }
        let mut tests: Vec<&mut AreaTest> =
            curves.iter_mut().filter_map(|curve| curve.area_test.as_mut()).collect();
        let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
        for (test, p_holm) in tests.iter_mut().zip(holm(&p)) {
            test.p_holm = p_holm;
            test.significant = p_holm < self.settings.significance;
        }
    }

    fn test(
        &self,
        kind: usize,
        metric: SummaryMetric,
        policy: usize,
        baseline: usize,
        at: usize,
    ) -> Option<f64> {
        if metric == SummaryMetric::HarvestRate {
            let pages = u64::from(self.crawls.checkpoints[at]);
            let hits = |policy| self.mean_hits(kind, policy, at);
            return two_proportion_z_test(hits(policy), pages, hits(baseline), pages);
        }
        let own = self.query_means(kind, metric, policy, at)?;
        paired_t_test(&own, &self.query_means(kind, metric, baseline, at)?)
    }

    /// Relevant pages of the kind at a checkpoint: the mean over seed sets, to a whole number.
    fn mean_hits(&self, kind: usize, policy: usize, at: usize) -> u64 {
        let crawls = &self.measured[policy];
        let total: u64 = crawls.iter().map(|c| u64::from(c.relevant[kind][at])).sum();
        (total as f64 / crawls.len() as f64).round() as u64
    }

    /// Queries whose nDCG@10 gained and lost most over the baseline.
    fn changes(&self, policy: usize) -> (Vec<QueryChange>, Vec<QueryChange>) {
        // The first kind is all queries.
        let all = 0;
        let metric = SummaryMetric::Ranking(0);
        let baseline = self.baseline().filter(|&baseline| baseline != policy);
        let Some(baseline) = baseline.filter(|_| self.metrics.contains(&metric)) else {
            return (Vec::new(), Vec::new());
        };
        let own = self.mean_areas(all, metric, policy);
        let base = self.mean_areas(all, metric, baseline);
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by(|&a, &b| (own[b] - base[b]).total_cmp(&(own[a] - base[a])).then(a.cmp(&b)));
        let change = |&at: &usize| {
            change(&self.judged[self.kinds[all].queries[at]].query, base[at], own[at])
        };
        let gained = order.iter().filter(|&&at| own[at] > base[at]).take(QUERIES_LISTED);
        let lost = order.iter().rev().filter(|&&at| own[at] < base[at]).take(QUERIES_LISTED);
        (gained.map(change).collect(), lost.map(change).collect())
    }

    /// By query of the kind: the mean over seed sets of the area of its curve.
    fn mean_areas(&self, kind: usize, metric: SummaryMetric, policy: usize) -> Vec<f64> {
        let by_set = self.query_areas(kind, metric, policy).unwrap_or_default();
        let of_query = |query| by_set.iter().map(|set| set[query]).sum::<f64>();
        let mean = |query| of_query(query) / by_set.len() as f64;
        (0..self.kinds[kind].queries.len()).map(mean).collect()
    }

    /// The curves of one policy, seed set by seed set.
    pub(crate) fn rows(&self, policy: usize) -> Vec<SummaryRow> {
        let mut rows = Vec::new();
        for (set, crawl) in self.measured[policy].iter().enumerate() {
            for (number, kind) in self.kinds.iter().enumerate() {
                for metric in self.metrics {
                    rows.extend((0..crawl.reached).map(|at| SummaryRow {
                        set: set as u32 + 1,
                        kind: kind.name.clone(),
                        metric: metric.name(),
                        pages: self.crawls.checkpoints[at],
                        value: self.value(number, *metric, crawl, at),
                    }));
                }
            }
        }
        rows
    }

    /// Looks at the collection as a whole.
    pub(crate) fn analyses(&self) -> crate::results::Analyses {
        analyses::of(self)
    }
}

/// How a query fares with a policy, and with the baseline.
fn change(query: &Query, baseline: f64, policy: f64) -> QueryChange {
    QueryChange {
        qid: query.qid.clone(),
        query: query.text.clone(),
        kind: query.kind.clone(),
        baseline,
        policy,
    }
}

fn interval(mean: f64) -> Interval {
    Interval { mean, low: None, high: None, values: Vec::new() }
}

fn point(pages: u32, seconds: Option<f64>, values: impl Iterator<Item = f64>) -> Point {
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let spread: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = if values.len() < 2 { 0.0 } else { (spread / (values.len() - 1) as f64).sqrt() };
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Point { pages, seconds, mean, sd, min, max, versus_baseline: None }
}
