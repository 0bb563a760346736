//! What comes of scenarios, as `prospect whatif --json` and the local page show it.
//!
//! Impact is in askings: query frequencies, summed over the lists that a page is expected to be in when the batch
//! is fetched (METHODS 5a: what *enters*; beside it stands what *stays* when the crawl has grown by a quarter).

use serde::{Deserialize, Serialize};

use super::Interval;
use super::impact::{Both, ExpectedImpact};

/// Name and version of the format.
pub(crate) const SCHEMA: &str = "prospect.whatif/2";

/// All of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WhatIf {
    /// [`SCHEMA`].
    pub(crate) schema: String,
    /// The store that was asked.
    pub(crate) state: StoreState,
    /// The plan without a scenario.
    pub(crate) base: PlanFigures,
    /// One entry a scenario, in the order given.
    pub(crate) scenarios: Vec<ScenarioFigures>,
}

/// A state of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoreState {
    /// Content hash of everything that the base plan depends on, but for what all scenarios share.
    pub(crate) plan_id: String,
    /// Whether scenarios share something (`[base]`), on which the base plan stands, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) on_base: bool,
    /// Crawled pages.
    pub(crate) pages: usize,
    /// Queries of the workload, merged.
    pub(crate) queries: usize,
    /// Candidate pairs.
    pub(crate) pairs: usize,
    /// Length of result lists.
    pub(crate) k: usize,
    /// How visible their places are, if not all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) visibility: Option<String>,
    /// BM25's k1.
    pub(crate) k1: f64,
    /// BM25's b.
    pub(crate) b: f64,
}

/// A scenario and what comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioFigures {
    /// Its name.
    pub(crate) name: String,
    /// What is different, as it was understood.
    pub(crate) scenario: serde_json::Value,
    /// Queries that had to be matched with the frontier.
    pub(crate) matched_queries: usize,
    /// Whether all pairs had to be estimated again.
    pub(crate) slow: bool,
    /// The plan under it.
    pub plan: PlanFigures,
    /// Against the plan without it.
    pub difference: Difference,
}

/// Figures of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFigures {
    /// URLs to pick at most.
    pub(crate) budget: usize,
    /// URLs picked.
    pub picks: usize,
    /// Of them, drawn at random.
    pub(crate) drawn: usize,
    /// URLs to pick from.
    pub frontier: usize,
    /// URLs that a cap holds back.
    pub(crate) held_back: usize,
    /// Impact that the picks are expected to have, if all are fetched.
    pub(crate) expected_impact: Both<ExpectedImpact>,
    /// Weights of the parts that estimates are made of, by name; parts that no URL has are left out.
    pub(crate) weights: Vec<(String, f64)>,
    /// Share that is drawn at random.
    pub(crate) explore: f64,
    /// Impact against budget.
    pub(crate) curve: BudgetCurve,
    /// Impact against the time that the batch may take, if it may take no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<TimeCurve>,
    /// Pages of the batch that are fetched again, if any are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revisits: Option<RevisitFigures>,
    /// Price of each cap that is set.
    pub(crate) caps: Vec<CapPrice>,
    /// Hosts of the batch, by expected impact.
    pub(crate) hosts: Vec<HostFigures>,
    /// Queries that gain most.
    pub(crate) queries: Vec<QueryFigures>,
    /// Queries that nothing in the frontier can help.
    pub(crate) uncovered: Uncovered,
}

/// Pages that are fetched again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RevisitFigures {
    /// Pages.
    pub(crate) urls: usize,
    /// Those of them that are expected to have changed.
    pub(crate) changed: f64,
    /// Impact that these have in the lists; it is not part of what enters.
    pub(crate) impact: f64,
}

/// Expected impact against budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BudgetCurve {
    /// Points, by budget.
    pub(crate) points: Vec<BudgetPoint>,
    /// Where more budget begins to add little.
    pub(crate) knee: Option<BudgetPoint>,
    /// What one more URL adds, over the next tenth of the budget.
    pub(crate) shadow_price: f64,
}

/// A point of a [`BudgetCurve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BudgetPoint {
    /// URLs.
    pub(crate) budget: usize,
    /// Impact at the close that is expected of the best so many.
    pub(crate) impact: f64,
}

/// Expected impact against the time of a polite crawler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimeCurve {
    /// Points, by time.
    pub(crate) points: Vec<TimeCurvePoint>,
    /// What one more second adds, over the next tenth of the time, or the time that a request takes.
    pub(crate) shadow_price: f64,
    /// The queue that takes longest, if it has more than there is time for.
    pub(crate) slowest: Option<SlowQueue>,
}

/// A point of a [`TimeCurve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimeCurvePoint {
    /// Seconds.
    pub(crate) seconds: f64,
    /// URLs that there is time for.
    pub(crate) urls: usize,
    /// Impact at the close that is expected of the best of them.
    pub(crate) impact: f64,
}

/// A queue that has more than there is time for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SlowQueue {
    /// The host or domain.
    pub(crate) queue: String,
    /// Seconds that one more request on each of its connections takes.
    pub(crate) delay: f64,
    /// Impact that these add, a second.
    pub(crate) shadow_price: f64,
}

/// What a cap costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CapPrice {
    /// Name of the cap, as scenarios write it.
    pub(crate) cap: String,
    /// Its value.
    pub(crate) limit: f64,
    /// Impact that the batch would have more without it.
    pub(crate) price: f64,
}

/// A host of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostFigures {
    /// The host.
    pub(crate) host: String,
    /// Picks.
    pub(crate) urls: usize,
    /// Their expected impact.
    pub(crate) impact: f64,
}

/// A query and what a batch brings it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryFigures {
    /// Its id.
    pub(crate) qid: String,
    /// As typed.
    pub(crate) query: String,
    /// How often it is asked.
    pub(crate) frequency: f64,
    /// Pages of the batch that are expected in its list at the close.
    pub(crate) results: f64,
    /// Results that it has now, at most K.
    pub(crate) served: usize,
}

/// Queries that nothing in the frontier can help: no URL that is known may answer them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Uncovered {
    /// How many.
    pub(crate) queries: usize,
    /// Their frequencies together.
    pub(crate) frequency: f64,
    /// The most asked of them, those first whose lists are not full.
    pub(crate) most_asked: Vec<QueryFigures>,
}

/// How the plan of a scenario differs from the plan without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Change of the impact that is expected at the close.
    pub(crate) impact: f64,
    /// Lower end of the interval that holds 95 % of what such a change comes to.
    pub(crate) low: f64,
    /// Its upper end.
    pub(crate) high: f64,
    /// What the batch without the scenario is expected to have under it. The difference to the plan's impact is what planning again is worth; what is left of the change is what the scenario does to the batch as it is.
    pub(crate) unchanged_batch: f64,
    /// Picks of both plans.
    pub kept: usize,
    /// Picks of the scenario alone, in the order of its plan.
    pub(crate) entering: Vec<UrlChange>,
    /// How many they are; the list ends with the first few hundred. So the next two.
    pub entering_count: usize,
    /// Picks of the other plan alone.
    pub(crate) leaving: Vec<UrlChange>,
    /// How many.
    pub(crate) leaving_count: usize,
    /// Picks of both whose place in the batch changed, by how far.
    pub(crate) moving: Vec<UrlChange>,
    /// How many.
    pub(crate) moving_count: usize,
    /// Queries that gain most, in askings.
    pub(crate) gaining: Vec<WhatIfQueryChange>,
    /// Queries that lose most.
    pub(crate) losing: Vec<WhatIfQueryChange>,
    /// Hosts whose picks changed most.
    pub(crate) hosts: Vec<HostChange>,
}

/// A URL in two plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UrlChange {
    /// The URL.
    pub(crate) url: String,
    /// Position in the batch without the scenario, from 1.
    pub(crate) rank_before: Option<usize>,
    /// Position in the batch of the scenario.
    pub(crate) rank_after: Option<usize>,
    /// Estimate without the scenario.
    pub(crate) estimate_before: f64,
    /// Estimate under it.
    pub(crate) estimate_after: f64,
    /// What made the difference.
    pub(crate) reason: String,
}

/// A query in two plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WhatIfQueryChange {
    /// Its id.
    pub(crate) qid: String,
    /// As typed.
    pub(crate) query: String,
    /// How often it was asked.
    pub(crate) frequency_before: f64,
    /// How often it is asked in the scenario.
    pub(crate) frequency_after: f64,
    /// Pages of the batch expected in its list at the close, without the scenario.
    pub(crate) results_before: f64,
    /// The same under it.
    pub(crate) results_after: f64,
}

impl PlanFigures {
    /// Impact that the picks are expected to have at the close.
    pub(crate) fn enters(&self) -> f64 {
        self.expected_impact.enters.impact
    }
}

impl WhatIfQueryChange {
    /// Askings that the batch without the scenario is expected to help.
    pub(crate) fn askings_before(&self) -> f64 {
        self.frequency_before * self.results_before
    }

    /// The same in the scenario.
    pub(crate) fn askings_after(&self) -> f64 {
        self.frequency_after * self.results_after
    }

    /// How many more.
    pub(crate) fn askings_gained(&self) -> f64 {
        self.askings_after() - self.askings_before()
    }
}

/// A host in two plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostChange {
    /// The host.
    pub(crate) host: String,
    /// Picks without the scenario.
    pub(crate) urls_before: usize,
    /// Picks under it.
    pub(crate) urls_after: usize,
    /// Their expected impact without the scenario.
    pub(crate) impact_before: f64,
    /// The same under it.
    pub(crate) impact_after: f64,
}

/// What was predicted of random scenarios in a crawl, against what came of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WhatIfCheck {
    /// The policy.
    pub(crate) policy: String,
    /// Share of the pages fetched when the questions were asked.
    pub(crate) fetched_share: f64,
    /// URLs of the batch without a scenario.
    pub(crate) batch: u32,
    /// Impact that this batch was expected to have, mean over seed sets.
    pub(crate) base_predicted: f64,
    /// Impact that it had.
    pub(crate) base_realised: f64,
    /// Pearson correlation of predicted and realised changes, with its 95 % interval (Fisher's z);
    /// absent where a side does not vary, or of fewer than four scenarios.
    pub(crate) correlation: Option<Interval>,
    /// Mean distance of predicted from realised changes, as a share of the impact without a scenario,
    /// with its 95 % interval.
    pub(crate) error: Option<Interval>,
    /// Share of the realised changes that lie in the interval of the predicted one.
    #[serde(default)]
    pub(crate) covered: Option<f64>,
    /// Mean size of the realised changes, as such a share.
    pub(crate) size: f64,
    /// The scenarios.
    pub(crate) trials: Vec<WhatIfTrial>,
}

/// A scenario that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WhatIfTrial {
    /// Seed set, from 1.
    pub(crate) set: u32,
    /// What was different.
    pub(crate) scenario: serde_json::Value,
    /// Change of the impact of the batch that was expected.
    pub(crate) predicted: f64,
    /// The interval that was to hold 95 % of what comes.
    #[serde(default)]
    pub(crate) interval: Option<(f64, f64)>,
    /// Change that came.
    pub(crate) realised: f64,
}
