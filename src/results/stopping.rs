//! Where rules would have stopped crawls, and what that cost.

use serde::{Deserialize, Serialize};

use super::Interval;

/// All rules over all policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoppingSummary {
    /// By rule, over all policies together.
    pub(crate) rules: Vec<RuleSummary>,
    /// By policy, in the order of the summary: by rule.
    pub(crate) policies: Vec<PolicyStops>,
}

/// The rules over the crawls of one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicyStops {
    /// The policy with its options.
    pub(crate) name: String,
    /// By rule.
    pub(crate) rules: Vec<RuleSummary>,
}

/// What came of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RuleSummary {
    /// The rule.
    pub(crate) rule: String,
    /// Crawls.
    pub(crate) crawls: usize,
    /// Crawls with judgements that never found a relevant page: they are in no share of what was found nor of
    /// the oracle's pages, and no stop of theirs is false.
    #[serde(default)]
    pub(crate) without_results: usize,
    /// Crawls that it stopped before their frontier was empty.
    pub(crate) stopped: usize,
    /// Crawls that it stopped below 95 % of their final nDCG@10, or of their final impact where there are no
    /// judgements.
    pub(crate) false_stops: usize,
    /// The same as a share of the crawls that find something, with its interval.
    pub(crate) false_share: Interval,
    /// Pages fetched by then, as a share of the whole crawl's.
    pub(crate) pages: Interval,
    /// nDCG@10 by then, as a share of the final one; none without judgements.
    pub(crate) ndcg: Option<Interval>,
    /// Impact by then, as a share of the whole crawl's.
    pub(crate) impact: Interval,
    /// Pages fetched by then, over those that the oracle stop fetches, of the crawls that find something.
    pub(crate) over_oracle: Interval,
}

/// Where one rule stopped one crawl.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stop {
    /// The policy with its options.
    pub(crate) policy: String,
    /// Seed set, from 1.
    pub(crate) set: u32,
    /// The query that the crawl was for, where each has its own; empty else.
    pub(crate) qid: String,
    /// The rule.
    pub(crate) rule: String,
    /// Whether the rule stopped it; else it ran until its frontier was empty.
    pub(crate) stopped: bool,
    /// Pages fetched.
    pub(crate) pages: u32,
    /// Pages of the whole crawl.
    pub(crate) of: u32,
    /// nDCG@10 as a share of the final one.
    pub(crate) ndcg: Option<f64>,
    /// Whether the crawl finds anything relevant in the end, or no judgement could tell.
    pub(crate) finds: bool,
    /// Impact as a share of the whole crawl's.
    pub(crate) impact: f64,
    /// Pages that the oracle stop fetches.
    pub(crate) oracle: u32,
}

/// Share of the final value below which a stop is a false one.
pub(crate) const KEPT: f64 = 0.95;

impl Stop {
    /// Whether too little was found by then.
    pub(crate) fn is_false(&self) -> bool {
        self.stopped && self.finds && self.ndcg.unwrap_or(self.impact) < KEPT
    }
}
