//! What a batch is expected to bring and what it brought, in the two quantities of METHODS 5a.

use serde::{Deserialize, Serialize};

/// Impact that is expected, with the interval that holds 95 % of what comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExpectedImpact {
    /// The expected impact, at most the ceiling.
    #[serde(rename = "predicted")]
    pub(crate) impact: f64,
    /// Lower end of its interval.
    pub(crate) low: f64,
    /// Upper end, at most the ceiling.
    pub(crate) high: f64,
    /// What no such batch can exceed.
    pub(crate) ceiling: f64,
    /// Closed cycles that it is learned from; with none the interval is the wide one of the start.
    pub(crate) cycles: usize,
}

/// One of the two quantities of a batch: what is expected of it, and what it turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Quantity {
    /// What was expected of the fetched picks; none where an older version made the plan.
    #[serde(flatten)]
    pub(crate) expected: Option<ExpectedImpact>,
    /// What came; none while it is not known.
    pub(crate) realised: Option<f64>,
}

/// Impact of the pages that fetched picks were the first to lead to, of each what it is above the mean page's, when the
/// crawl has grown by a quarter since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LedTo {
    /// What was expected: of the parts *discovery* of the picks, summed, the share that came of earlier ones. A store keeps
    /// the whole sum.
    pub(crate) predicted: f64,
    /// What it is.
    pub(crate) realised: f64,
}

/// Something of each of the two quantities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Both<T> {
    /// Of what is in lists at the close of its cycle.
    pub(crate) enters: T,
    /// Of what is in them still when the crawl has grown by a quarter.
    pub(crate) stays: T,
}
