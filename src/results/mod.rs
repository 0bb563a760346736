//! What a simulation found, as it lies in `summary.json`: the types that the simulator fills and
//! reports read. Plain data, without a decision.
//!
//! Figures that were measured over several seed sets carry their spread. Nothing here depends on
//! a clock or on the number of threads: the same experiment gives the same bytes.

pub(crate) mod ablation;
pub(crate) mod impact;
pub(crate) mod manipulation;
pub(crate) mod quality;
pub(crate) mod single_query;
pub(crate) mod stopping;
pub(crate) mod sufficiency;
pub(crate) mod sufficiency_check;
pub(crate) mod time;
pub(crate) mod whatif;

use serde::{Deserialize, Serialize};

/// Name and version of the format.
pub(crate) const SCHEMA: &str = "prospect.simulate/1";

/// All of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// [`SCHEMA`].
    pub(crate) schema: String,
    /// Title of the experiment; the name of the corpus file where none is given.
    pub(crate) title: String,
    /// What it was made from.
    pub(crate) provenance: Provenance,
    /// Names the experiment, as the rows of its tables do.
    #[serde(default)]
    pub(crate) experiment: String,
    /// The commit that Prospect was built from, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    /// The collection.
    pub(crate) collection: CollectionFigures,
    /// The policy that others are compared with, if it is among them.
    pub(crate) baseline: Option<String>,
    /// Level at which a difference is marked.
    pub(crate) significance: f64,
    /// Pages fetched at each checkpoint.
    pub(crate) checkpoints: Vec<u32>,
    /// Query kinds in the order of [`PolicySummary::kinds`]; the first is `all`.
    pub(crate) kinds: Vec<String>,
    /// Metrics in the order of [`KindSummary::curves`].
    pub(crate) metrics: Vec<String>,
    /// One entry a policy, in the order they were asked for.
    pub(crate) policies: Vec<PolicySummary>,
    /// Looks at the collection as a whole.
    pub(crate) analyses: Analyses,
    /// What policies lose without a group of their evidence. Absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ablation: Option<ablation::Ablation>,
    /// Crawls against seconds. Absent where time is not simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<time::TimeSummary>,
    /// Where rules would have stopped crawls. Absent where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopping: Option<stopping::StoppingSummary>,
    /// Crawls for one query each, in the place of all else. Absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) single_query: Option<single_query::SingleQuerySummary>,
    /// How far sufficiency tells what search returns. Absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sufficiency: Option<sufficiency_check::SufficiencyCheck>,
    /// What attackers got of crawls of their own; all else here is of crawls without them. Absent
    /// where none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) manipulation: Option<manipulation::Manipulation>,
}

impl Summary {
    /// The experiment as its tables name it; by its settings where an earlier version did not say.
    pub(crate) fn name(&self) -> &str {
        if self.experiment.is_empty() { &self.provenance.config_hash } else { &self.experiment }
    }

    /// Version of Prospect, with its commit where it is known.
    pub(crate) fn made_by(&self) -> String {
        let version = &self.provenance.version;
        self.commit
            .as_ref()
            .map_or_else(|| version.clone(), |commit| format!("{version} ({commit})"))
    }
}

/// What an artefact was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// Version of Prospect.
    pub(crate) version: String,
    /// The settings in full, defaults included.
    pub(crate) config: serde_json::Value,
    /// Content hash of the settings.
    pub(crate) config_hash: String,
    /// Files that were read.
    pub(crate) inputs: Vec<InputFile>,
    /// Seed of everything random.
    pub(crate) seed: u64,
    /// BM25's k1.
    pub(crate) k1: f64,
    /// BM25's b.
    pub(crate) b: f64,
    /// Length of result lists.
    pub(crate) k: usize,
    /// How visible their places are, if not all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) visibility: Option<String>,
    /// What orders the first results of every search anew, if anything does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reranker: Option<Reranker>,
    /// The model whose embeddings are evidence for policies that plan, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) embedding: Option<ModelUsed>,
}

/// A model that scores or embeds, by which results can be told apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModelUsed {
    /// Its name.
    pub(crate) name: String,
    /// Content hash of all that its scores or vectors depend on: 32 hex digits.
    pub(crate) fingerprint: String,
}

/// A cross-encoder behind a search, or a run with the scores of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reranker {
    /// Name of the model, or of the run's file.
    pub(crate) name: String,
    /// Content hash of all that the scores depend on: 32 hex digits, of a run 16.
    pub(crate) fingerprint: String,
    /// Results of each query that it orders.
    pub(crate) depth: usize,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputFile {
    /// What it is for: `corpus`, `workload`, `qrels`…
    pub(crate) role: String,
    /// Name without folders.
    pub(crate) name: String,
    /// Length in bytes.
    pub(crate) bytes: u64,
    /// XXH3 of its bytes, 16 hex digits.
    pub(crate) xxh3: String,
}

/// The collection that was crawled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CollectionFigures {
    /// Pages.
    pub(crate) pages: u32,
    /// Links between them, duplicates of a page's own left out.
    pub(crate) links: u64,
    /// Hosts.
    pub(crate) hosts: u32,
    /// Pages that are crawled before the first batch (`--crawled`); 0 else.
    pub(crate) crawled_before: u32,
    /// Queries that were planned for, after merging.
    pub(crate) planning_queries: u32,
    /// Queries of the evaluation, before merging.
    pub(crate) evaluation_queries: u32,
    /// Relevant pages of the collection, for any query.
    pub(crate) relevant_pages: u32,
    /// True impact of all pages together, over the evaluation workload.
    pub(crate) total_impact: f64,
}

/// One policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicySummary {
    /// Label: the policy's name, and the options in which it differs from its defaults.
    pub(crate) name: String,
    /// Whether it reads what no crawler can know.
    pub(crate) oracle: bool,
    /// Pages fetched in each seed set.
    pub(crate) fetched: Vec<u32>,
    /// By query kind, in the order of [`Summary::kinds`].
    pub(crate) kinds: Vec<KindSummary>,
    /// Largest hosts at each checkpoint.
    pub(crate) hosts: Vec<HostShares>,
    /// Queries that gained most over the baseline, best first.
    pub(crate) gained: Vec<QueryChange>,
    /// Queries that lost most, worst first.
    pub(crate) lost: Vec<QueryChange>,
}

/// One policy on the queries of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KindSummary {
    /// The kind, or `all`.
    pub(crate) kind: String,
    /// Queries with at least one relevant page in the collection; all of the kind where there are no
    /// judgements.
    pub(crate) queries: u32,
    /// One curve a metric, in the order of [`Summary::metrics`].
    pub(crate) curves: Vec<Curve>,
    /// Speedup over the baseline in finding relevant pages.
    pub(crate) speedup_relevant: Option<Interval>,
    /// Speedup over the baseline in collecting true impact.
    pub(crate) speedup_impact: Option<Interval>,
}

/// A metric against pages fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Curve {
    /// The metric.
    pub(crate) metric: String,
    /// At checkpoints that the crawls of all seed sets reached.
    pub(crate) points: Vec<Point>,
    /// Mean height of the curve (trapezoids over pages fetched, divided by their width), over the
    /// checkpoints that all policies reached.
    pub(crate) area: Interval,
    /// Difference of the area to the baseline's, with an interval from a paired bootstrap over
    /// seed sets and queries; absent for the baseline and for metrics that are not taken by query.
    pub(crate) area_gain: Option<Interval>,
    /// What that bootstrap says of the difference.
    #[serde(default)]
    pub(crate) area_test: Option<AreaTest>,
}

/// A test of the difference of an area to the baseline's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AreaTest {
    /// Two-sided p of the bootstrap.
    pub(crate) p: f64,
    /// p after Holm, over all policies.
    pub(crate) p_holm: f64,
    /// Whether `p_holm` is below [`Summary::significance`].
    pub(crate) significant: bool,
}

/// A metric at one checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Pages fetched.
    pub(crate) pages: u32,
    /// Seconds after which so many were asked for, on average over seed sets, where time is simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    /// Mean over seed sets.
    pub(crate) mean: f64,
    /// Standard deviation over seed sets (n - 1); 0 for one set.
    pub(crate) sd: f64,
    /// Smallest.
    pub(crate) min: f64,
    /// Largest.
    pub(crate) max: f64,
    /// Against the baseline.
    pub(crate) versus_baseline: Option<Comparison>,
}

/// A test against the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// This policy less the baseline.
    pub(crate) difference: f64,
    /// Two-sided p: paired t-test over queries, or two-proportion z-test.
    pub(crate) p: f64,
    /// p after Bonferroni, over all policies and checkpoints of the metric and kind.
    pub(crate) p_bonferroni: f64,
    /// p after Holm, over the same.
    pub(crate) p_holm: f64,
    /// Whether `p_holm` is below [`Summary::significance`].
    pub(crate) significant: bool,
}

/// A figure with its spread over seed sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Interval {
    /// Mean.
    pub(crate) mean: f64,
    /// Lower end of the 95 % interval; absent where one figure is all there is.
    pub(crate) low: Option<f64>,
    /// Upper end.
    pub(crate) high: Option<f64>,
    /// The figures it was made from: one a seed set; empty for a bootstrap.
    pub(crate) values: Vec<f64>,
}

/// Pages by host at a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostShares {
    /// Pages fetched.
    pub(crate) pages: u32,
    /// Share of the pages fetched, by host: the collection's largest hosts in falling order of
    /// size, then `(other)`. Means over seed sets.
    pub(crate) shares: Vec<(String, f64)>,
}

/// A query that gained or lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryChange {
    /// Query.
    pub(crate) qid: String,
    /// As typed.
    pub(crate) query: String,
    /// Its kind.
    pub(crate) kind: String,
    /// Area of its nDCG@10 under the baseline.
    pub(crate) baseline: f64,
    /// Under the policy.
    pub(crate) policy: f64,
}

/// Looks at the collection as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Analyses {
    /// In-links in the collection against true impact, by page.
    pub(crate) importance_impact: Option<Scatter>,
    /// Quality of a page against the mean quality of the pages it links to.
    pub(crate) quality_neighbours: Option<Scatter>,
    /// Impact when only a share of the sketches is kept.
    pub(crate) limited_sketches: Vec<LimitedSketches>,
    /// Counterfactual estimates against what they are of.
    #[serde(default)]
    pub(crate) counterfactual: Vec<CounterfactualCheck>,
    /// What was predicted of scenarios, against what came of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) whatif: Vec<whatif::WhatIfCheck>,
}

/// Two figures of many pages, as counts in cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scatter {
    /// What lies along x.
    pub(crate) x: String,
    /// What lies along y.
    pub(crate) y: String,
    /// Pages.
    pub(crate) pages: u32,
    /// Pearson correlation; absent where a side does not vary.
    pub(crate) correlation: Option<f64>,
    /// Least squares `y = a + b x`; absent where x does not vary.
    pub(crate) line: Option<(f64, f64)>,
    /// Occupied cells: centre x, centre y, pages. Hexagons for quality, single points or squares
    /// for impact.
    pub(crate) cells: Vec<(f64, f64, u32)>,
    /// Width of a cell along x.
    pub(crate) cell_width: f64,
}

/// Counterfactual estimates from draws of one batch, against the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CounterfactualCheck {
    /// The policy.
    pub(crate) policy: String,
    /// Share of the pages fetched when the batch was drawn.
    pub(crate) fetched_share: f64,
    /// Draws.
    pub(crate) trials: u32,
    /// URLs of the batch.
    pub(crate) batch: u32,
    /// URLs it was drawn from, mean over seed sets.
    pub(crate) frontier: u32,
    /// Share of the batch that was drawn at random.
    pub(crate) explore: f64,
    /// One entry a batch that was valued.
    pub(crate) targets: Vec<CounterfactualTarget>,
    /// Chances to enter a list until then, of the candidate pairs of the best picks.
    pub(crate) greedy: CalibrationFigures,
    /// The same of picks that were drawn.
    pub(crate) explored: CalibrationFigures,
}

/// How well chances were foreseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CalibrationFigures {
    /// Candidate pairs.
    pub(crate) pairs: u64,
    /// Expected calibration error over ten bins of equal count.
    pub(crate) error: f64,
    /// Mean of `-ln` of the probability that was given to what happened.
    pub(crate) log_loss: f64,
    /// The log-loss of the share that entered, given to every pair alike.
    pub(crate) base_log_loss: f64,
}

/// One batch that was valued by the outcomes of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CounterfactualTarget {
    /// How its URLs are chosen.
    pub(crate) batch: String,
    /// Share of its URLs that the other batch holds, mean over trials.
    pub(crate) shared: f64,
    /// Impact that it has, mean over trials.
    pub(crate) truth: f64,
    /// What its estimates say; they have no interval.
    pub(crate) expected: CounterfactualFigures,
    /// By inverse propensity.
    pub(crate) inverse_propensity: CounterfactualFigures,
    /// Doubly robust.
    pub(crate) doubly_robust: CounterfactualFigures,
}

/// How far estimates are from the truth, over all trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CounterfactualFigures {
    /// Mean error as a share of the mean truth.
    pub(crate) bias: f64,
    /// Mean half-width of the 95 % interval, as such a share.
    pub(crate) half_width: f64,
    /// Share of the trials in which the interval holds the truth.
    pub(crate) held: f64,
}

/// Impact against the share of sketches kept (Pandey and Olston, sections 6.3 and 6.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LimitedSketches {
    /// The policy.
    pub(crate) policy: String,
    /// Share of the pages fetched at which impact is read.
    pub(crate) fetched_share: f64,
    /// One point a fraction.
    pub(crate) points: Vec<LimitedPoint>,
}

/// Impact at one fraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LimitedPoint {
    /// Share of the sketches kept.
    pub(crate) fraction: f64,
    /// Sketches kept.
    pub(crate) sketches: u32,
    /// Share of the true impact of the uncrawled pages that was collected.
    pub(crate) impact_share: f64,
    /// The same, divided by that of fraction 1.
    pub(crate) of_full: f64,
}
