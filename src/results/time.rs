//! What crawls had found after how many seconds.

use serde::{Deserialize, Serialize};

use super::Interval;

/// Crawls against time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimeSummary {
    /// Seconds from the start of the crawls.
    pub(crate) seconds: Vec<f64>,
    /// One entry a policy, in the order of the summary.
    pub(crate) policies: Vec<PolicyTime>,
}

/// One policy against time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolicyTime {
    /// The policy with its options.
    pub(crate) name: String,
    /// Batches of a crawl, on average over seed sets.
    pub(crate) batches: f64,
    /// At each of the seconds.
    pub(crate) points: Vec<TimePoint>,
    /// What it has found at the end beyond the baseline, in relevant judgements (in impact, where there are no
    /// judgements), with an interval over seed sets; absent for the baseline.
    pub(crate) gain: Option<Interval>,
}

/// What was found, on average over seed sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimePoint {
    /// Pages asked for.
    pub(crate) pages: f64,
    /// Relevant judgements of these pages.
    pub(crate) relevant: f64,
    /// Share of the true impact that they have.
    pub(crate) impact: f64,
}
