//! What a batch is to bring the most of.
//!
//! The objectives differ in what they know of competition. `expected` shares out the places of a query among
//! all its candidates, whoever is picked, and adds up over URLs. `served` knows what the rest of the batch takes,
//! and nothing of who comes later.
//!
//! Two more were tried and left, for they won nowhere: all ranks that candidates can come in (Pandey and Olston,
//! WSDM 2008, section 4.2), and the lower quartile of the impact (docs/ablation.md).

use serde::{Deserialize, Serialize};

/// What a batch is to bring the most of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Expected impact, the K-th score of every query at its expectation: O(n) for n candidates.
    #[default]
    Expected,
    /// What the top K hold after the batch: two pages after one place are not worth twice.
    Served,
}

impl Objective {
    /// All of them, the one that is used where nothing is said first.
    pub(crate) const ALL: [Self; 2] = [Self::Expected, Self::Served];

    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Served => "served",
        }
    }

    /// Whether it is the one that is used where nothing is said.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether pairs that were scored for another objective do for this one, too.
    pub(crate) fn keeps_pairs(self) -> bool {
        !self.reads_scores()
    }

    /// Whether it reads how scores are distributed, which only the learned reading learns.
    pub(crate) fn reads_scores(self) -> bool {
        self == Self::Served
    }
}
