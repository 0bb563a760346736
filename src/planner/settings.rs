//! Everything a plan depends on besides the store and the workload.
//!
//! A store keeps the settings of its open plan as JSON, so every spelling that was ever written is read for
//! good: a field or a value that gets another name keeps the old one as a `serde` alias, and a field that is
//! new has the default that says what plans did without it. `tests/stores/settings.jsonl` has them all. A plan
//! that asks for what was taken out since is told as one of another version, and closed all the same.

use prospect_index::bm25::Bm25;
use serde::{Deserialize, Serialize};

use super::scope::Scope;
use crate::estimate::settings::EstimateSettings;
use crate::neural::text_vectors::EmbeddingModel;
use crate::plan::SelectionSettings;
use crate::plan::polite_time::Queues;
use crate::sketch::DEFAULT_K;
use crate::sketch::need::Needy;
use crate::sketch::visibility::{Places, Visibility};

/// Settings of a plan.
///
/// ```
/// use prospect::planner::settings::PlanSettings;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut settings = PlanSettings::new(1000);
/// assert_eq!((settings.selection.budget, settings.k, settings.bm25.k1), (1000, 10, 0.9));
///
/// settings.selection.explore = 0.0; // pick by estimate alone
/// let json = serde_json::to_string(&settings)?;
/// assert_eq!(serde_json::from_str::<PlanSettings>(&json)?, settings);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// Length of result lists.
    pub k: usize,
    /// How visible its places are.
    #[serde(default, skip_serializing_if = "Visibility::is_default")]
    pub visibility: Visibility,
    /// Parameters of BM25.
    pub bm25: Bm25,
    /// How to estimate.
    pub estimate: EstimateSettings,
    /// How to pick.
    pub selection: SelectionSettings,
    /// Keep only the neediest queries.
    pub needy: Option<Needy>,
    /// What the impact of a query counts.
    #[serde(default, skip_serializing_if = "Demand::is_default")]
    pub demand: Demand,
    /// What is known of a crawler's queues.
    #[serde(flatten)]
    pub queues: Queues,
    /// Which URLs may be planned at all.
    #[serde(default, skip_serializing_if = "Scope::is_empty")]
    pub scope: Scope,
    /// Content hash of the list of URLs that may be planned, if there is one.
    pub within: Option<String>,
    /// The model whose embeddings are evidence, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingModel>,
}

/// What the impact of a query counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// How often it is asked.
    #[default]
    Frequency,
    /// That times what it still lacks: one minus its sufficiency.
    Lack,
}

impl Demand {
    /// Whether it is the one that is used where nothing is said.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl PlanSettings {
    /// The defaults, for a budget.
    pub fn new(budget: usize) -> Self {
        Self {
            k: DEFAULT_K,
            visibility: Visibility::default(),
            bm25: Bm25::default(),
            estimate: EstimateSettings::default(),
            selection: SelectionSettings::new(budget),
            needy: None,
            demand: Demand::default(),
            queues: Queues::default(),
            scope: Scope::default(),
            within: None,
            embedding: None,
        }
    }

    /// Whether its queues can be: those by address need addresses.
    pub(crate) fn has_queues(&self) -> bool {
        self.queues.can_be(self.selection.caps.time.queue_by)
    }

    /// Places of a result list.
    pub(crate) fn places(&self) -> Places {
        Places { k: self.k, visibility: self.visibility }
    }
}
