//! Crawls for one query each, as progressive crawling goes about it.

use serde::{Deserialize, Serialize};

use super::Interval;

/// All policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SingleQuerySummary {
    /// Queries, each of which had crawls of its own.
    pub(crate) queries: usize,
    /// Pages that a crawl may fetch.
    pub(crate) pages: u32,
    /// Pages of a batch, after which rules look.
    pub(crate) batch: u32,
    /// By policy, then by kind of query, all of them first.
    pub(crate) policies: Vec<SingleQueryPolicy>,
}

/// The crawls of one policy for the queries of one kind; means over queries, each being the mean over its seed sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SingleQueryPolicy {
    /// The policy with its options.
    pub(crate) name: String,
    /// Kind of the queries; `all` for all.
    pub(crate) kind: String,
    /// Queries.
    pub(crate) queries: usize,
    /// nDCG@10 of the query over the pages that were fetched for it.
    pub(crate) ndcg: Interval,
    /// Share of its relevant pages that were fetched.
    pub(crate) recall: Interval,
    /// Pages fetched.
    pub(crate) fetched: Interval,
}
