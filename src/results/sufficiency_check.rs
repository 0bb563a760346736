//! How far the sufficiency of queries tells what search returns for them, over simulated crawls.

use serde::{Deserialize, Serialize};

use super::Interval;

/// All policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SufficiencyCheck {
    /// Judged queries that are planned for.
    pub(crate) queries: usize,
    /// By policy, in the order of the summary.
    pub(crate) policies: Vec<PolicyCheck>,
}

/// The crawls of one policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicyCheck {
    /// The policy with its options.
    pub(crate) name: String,
    /// How coverage moved from one checkpoint to the next, over all queries and crawls.
    pub(crate) coverage: Moves,
    /// By strategy.
    pub(crate) strategies: Vec<StrategyCheck>,
}

/// Moves of a number that should never fall within a statistics epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moves {
    /// Moves within an epoch.
    pub(crate) within: u64,
    /// Of them down.
    pub(crate) falls_within: u64,
    /// Moves from one epoch to the next.
    pub(crate) between: u64,
    /// Of them down.
    pub(crate) falls_between: u64,
}

/// One strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StrategyCheck {
    /// Its name.
    pub(crate) name: String,
    /// By checkpoint that all crawls reached.
    pub(crate) points: Vec<CheckPoint>,
    /// Pages fetched at the checkpoint nearest to half of the crawls, which the kinds are of.
    pub(crate) half: u32,
    /// There, by kind of query, all of them first: correlation over queries.
    pub(crate) kinds: Vec<KindCheck>,
    /// All queries, crawls and checkpoints by tenths of sufficiency; empty tenths are left out.
    pub(crate) bins: Vec<SufficiencyBin>,
}

/// One checkpoint: means over queries and crawls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckPoint {
    /// Pages fetched.
    pub(crate) pages: u32,
    /// Sufficiency.
    pub(crate) sufficiency: f64,
    /// nDCG@10.
    pub(crate) ndcg: f64,
    /// Correlation of the two over queries, each being the mean over the crawls; none where one does not vary.
    pub(crate) correlation: Option<Interval>,
}

/// Queries of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KindCheck {
    /// Its name; `all` for the first.
    pub(crate) kind: String,
    /// Queries.
    pub(crate) queries: usize,
    /// Correlation of sufficiency with nDCG@10 over them.
    pub(crate) correlation: Option<Interval>,
    /// Correlation of sufficiency with the share of the query's final nDCG@10 that is there, over queries that have
    /// one: what a stop rule would need.
    pub(crate) with_share: Option<Interval>,
}

/// Queries whose sufficiency is in a tenth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SufficiencyBin {
    /// Lower end.
    pub(crate) from: f64,
    /// Queries, over all crawls and checkpoints.
    pub(crate) count: usize,
    /// Mean sufficiency.
    pub(crate) sufficiency: f64,
    /// Mean nDCG@10.
    pub(crate) ndcg: f64,
    /// Mean share of the final nDCG@10, of queries that have one; none without any.
    pub(crate) share: Option<f64>,
}
