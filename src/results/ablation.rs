//! What a policy loses without each group of its evidence.

use serde::{Deserialize, Serialize};

use super::Interval;

/// Policies with every group of evidence left out, one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ablation {
    /// Pages fetched at which impact is read: the last checkpoint up to 10 % of the pages that all
    /// crawls reached, else the first one; absent where they share none.
    pub(crate) read_at: Option<u32>,
    /// One entry a policy that reads groups, in the order of [`super::Summary::policies`].
    pub(crate) policies: Vec<AblatedPolicy>,
}

/// One policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AblatedPolicy {
    /// Its label.
    pub(crate) policy: String,
    /// With all its evidence.
    pub(crate) whole: AblationFigures,
    /// One entry a group.
    pub(crate) groups: Vec<AblatedGroup>,
}

/// A policy without a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AblatedGroup {
    /// The group.
    pub(crate) group: String,
    /// What is in it.
    pub(crate) meaning: String,
    /// Label of the policy without it.
    pub(crate) policy: String,
    /// What leaving it out changes: that policy less the whole one, paired by seed set. Below 0 the
    /// group is worth something.
    pub(crate) change: AblationFigures,
}

/// Figures over all queries, with their spread over seed sets; absent where they cannot be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AblationFigures {
    /// Speedup over the baseline in finding relevant pages.
    pub(crate) speedup_relevant: Option<Interval>,
    /// Speedup over the baseline in collecting true impact.
    pub(crate) speedup_impact: Option<Interval>,
    /// Share of the true impact collected at [`Ablation::read_at`].
    pub(crate) impact: Option<Interval>,
}
