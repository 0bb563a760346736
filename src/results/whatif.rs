//! What comes of scenarios, as `prospect whatif --json` and the local page show it.
//!
//! Impact is in askings: query frequencies, summed over the lists that a page is expected to be in.

use serde::{Deserialize, Serialize};

use super::Interval;

/// Name and version of the format.
pub const SCHEMA: &str = "prospect.whatif/1";

/// All of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// [`SCHEMA`].
    pub schema: String,
    /// The store that was asked.
    pub state: StoreState,
    /// The plan without a scenario.
    pub base: PlanFigures,
    /// One entry a scenario, in the order given.
    pub scenarios: Vec<ScenarioFigures>,
}

/// A state of a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoreState {
    /// Content hash of everything that the base plan depends on.
    pub plan_id: String,
    /// Crawled pages.
    pub pages: usize,
    /// Queries of the workload, merged.
    pub queries: usize,
    /// Candidate pairs.
    pub pairs: usize,
    /// Length of result lists.
    pub k: usize,
    /// How visible their places are, if not all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// BM25's k1.
    pub k1: f64,
    /// BM25's b.
    pub b: f64,
}

/// A scenario and what comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioFigures {
    /// Its name.
    pub name: String,
    /// What is different, as it was understood.
    pub scenario: serde_json::Value,
    /// Queries that had to be matched with the frontier.
    pub matched_queries: usize,
    /// Whether all pairs had to be estimated again.
    pub slow: bool,
    /// The plan under it.
    pub plan: PlanFigures,
    /// Against the plan without it.
    pub difference: Difference,
}

/// Figures of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFigures {
    /// URLs to pick at most.
    pub budget: usize,
    /// URLs picked.
    pub picks: usize,
    /// Of them, drawn at random.
    pub drawn: usize,
    /// URLs to pick from.
    pub frontier: usize,
    /// URLs that a cap holds back.
    pub held_back: usize,
    /// Impact that the picks are expected to have, by the weights of the plan without a scenario.
    pub impact: f64,
    /// Frequency times chance, summed over all pairs of the picks: what queries are expected to gain.
    pub query_impact: f64,
    /// Weights of the parts of estimates, by name.
    pub weights: Vec<(String, f64)>,
    /// Share that is drawn at random.
    pub explore: f64,
    /// Impact against budget.
    pub curve: BudgetCurve,
    /// Price of each cap that is set.
    pub caps: Vec<CapPrice>,
    /// Hosts of the batch, by expected impact.
    pub hosts: Vec<HostFigures>,
    /// Queries that gain most.
    pub queries: Vec<QueryFigures>,
    /// Queries that nothing in the frontier can help.
    pub uncovered: Uncovered,
}

/// Expected impact against budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BudgetCurve {
    /// Points, by budget.
    pub points: Vec<BudgetPoint>,
    /// Where more budget begins to add little.
    pub knee: Option<BudgetPoint>,
    /// Impact of the last URL of a batch with one more than the budget.
    pub shadow_price: f64,
}

/// A point of a [`BudgetCurve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BudgetPoint {
    /// URLs.
    pub budget: usize,
    /// Expected impact of the best so many.
    pub impact: f64,
}

/// What a cap costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapPrice {
    /// Name of the cap, as scenarios write it.
    pub cap: String,
    /// Its value.
    pub limit: f64,
    /// Impact that the batch would have more without it.
    pub price: f64,
}

/// A host of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostFigures {
    /// The host.
    pub host: String,
    /// Picks.
    pub urls: usize,
    /// Their expected impact.
    pub impact: f64,
}

/// A query and what a batch brings it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryFigures {
    /// Its id.
    pub qid: String,
    /// As typed.
    pub query: String,
    /// How often it is asked.
    pub frequency: f64,
    /// Pages of the batch that are expected to be in its top K.
    pub results: f64,
    /// Results that it has now, at most K.
    pub served: usize,
}

/// Queries that nothing in the frontier can help: no URL that is known may answer them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uncovered {
    /// How many.
    pub queries: usize,
    /// Their frequencies together.
    pub frequency: f64,
    /// The most asked of them, those first whose lists are not full.
    pub most_asked: Vec<QueryFigures>,
}

/// How the plan of a scenario differs from the plan without it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Change of the expected impact.
    pub impact: f64,
    /// What the batch without the scenario is expected to have under it. The difference to the plan's impact is what planning again is worth.
    pub unchanged_batch: f64,
    /// Picks of both plans.
    pub kept: usize,
    /// Picks of the scenario alone, in the order of its plan.
    pub entering: Vec<UrlChange>,
    /// How many they are; the list ends with the first few hundred. So the next two.
    pub entering_count: usize,
    /// Picks of the other plan alone.
    pub leaving: Vec<UrlChange>,
    /// How many.
    pub leaving_count: usize,
    /// Picks of both whose place in the batch changed, by how far.
    pub moving: Vec<UrlChange>,
    /// How many.
    pub moving_count: usize,
    /// Queries that gain most, in askings.
    pub gaining: Vec<WhatIfQueryChange>,
    /// Queries that lose most.
    pub losing: Vec<WhatIfQueryChange>,
    /// Hosts whose picks changed most.
    pub hosts: Vec<HostChange>,
}

/// A URL in two plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UrlChange {
    /// The URL.
    pub url: String,
    /// Position in the batch without the scenario, from 1.
    pub rank_before: Option<usize>,
    /// Position in the batch of the scenario.
    pub rank_after: Option<usize>,
    /// Estimate without the scenario.
    pub estimate_before: f64,
    /// Estimate under it.
    pub estimate_after: f64,
    /// What made the difference.
    pub reason: String,
}

/// A query in two plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfQueryChange {
    /// Its id.
    pub qid: String,
    /// As typed.
    pub query: String,
    /// How often it was asked.
    pub frequency_before: f64,
    /// How often it is asked in the scenario.
    pub frequency_after: f64,
    /// Pages of the batch expected in its top K, without the scenario.
    pub results_before: f64,
    /// The same under it.
    pub results_after: f64,
}

impl WhatIfQueryChange {
    /// Askings that the batch without the scenario is expected to help.
    pub fn askings_before(&self) -> f64 {
        self.frequency_before * self.results_before
    }

    /// The same in the scenario.
    pub fn askings_after(&self) -> f64 {
        self.frequency_after * self.results_after
    }

    /// How many more.
    pub fn askings_gained(&self) -> f64 {
        self.askings_after() - self.askings_before()
    }
}

/// A host in two plans.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostChange {
    /// The host.
    pub host: String,
    /// Picks without the scenario.
    pub urls_before: usize,
    /// Picks under it.
    pub urls_after: usize,
    /// Their expected impact without the scenario.
    pub impact_before: f64,
    /// The same under it.
    pub impact_after: f64,
}

/// What was predicted of random scenarios in a crawl, against what came of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfCheck {
    /// The policy.
    pub policy: String,
    /// Share of the pages fetched when the questions were asked.
    pub fetched_share: f64,
    /// URLs of the batch without a scenario.
    pub batch: u32,
    /// Impact that this batch was expected to have, mean over seed sets.
    pub base_predicted: f64,
    /// Impact that it had.
    pub base_realised: f64,
    /// Pearson correlation of predicted and realised changes, with its 95 % interval (Fisher's z);
    /// absent where a side does not vary, or of fewer than four scenarios.
    pub correlation: Option<Interval>,
    /// Mean distance of predicted from realised changes, as a share of the impact without a scenario,
    /// with its 95 % interval.
    pub error: Option<Interval>,
    /// Mean size of the realised changes, as such a share.
    pub size: f64,
    /// The scenarios.
    pub trials: Vec<WhatIfTrial>,
}

/// A scenario that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhatIfTrial {
    /// Seed set, from 1.
    pub set: u32,
    /// What was different.
    pub scenario: serde_json::Value,
    /// Change of the impact of the batch that was expected.
    pub predicted: f64,
    /// Change that came.
    pub realised: f64,
}
