//! A plan as it was made: the batch, what it rests on, and what was recomputed for it.

use prospect_index::bm25::CollectionStatistics;
use prospect_index::manifest::Epoch;
use prospect_index::text_index::Refresh;
use serde::Serialize;

use super::plannable::Plannable;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::evaluate::statistics::spearman;
use crate::planner::choose::Choice;
use crate::planner::cycle::OpenPlan;
use crate::results::impact::{Both, ExpectedImpact};
use crate::sketch::need::{Improvability, ImprovabilityFit, QueryOutcome};
use crate::sketch::served::ServedLists;
use crate::workload::Workload;

/// A plan with everything it was made from.
pub struct Plan {
    /// Content hash of everything the plan depends on.
    pub id: String,
    /// The queries it was made for, merged.
    pub(crate) workload: Workload,
    /// What estimates rest on.
    pub scored: ScoredPairs,
    /// The batch, and how it came about.
    pub choice: Choice,
    /// Served lists of all queries.
    pub served: ServedLists,
    /// How much queries' lists can be improved, and what that is fitted on; none before anything is learned, and where nobody
    /// is told.
    pub(crate) improvability: Option<LearnedImprovability>,
    /// The list that it is held to, by URL id; empty if it is held to none.
    pub(crate) listed: Vec<bool>,
    /// What could be picked, beside the open plans that it is made beside.
    pub(crate) plannable: Plannable,
    /// What it promises.
    pub(crate) promised: OpenPlan,
    /// Impact that its picks are expected to have, if all are fetched; none before anything was.
    pub(crate) expected: Option<Both<ExpectedImpact>>,
    /// What of it enters lists, if as many give a page as are expected to.
    pub(crate) expected_to_come: Option<f64>,
    /// The statistics epoch.
    pub(crate) epoch: Epoch,
    /// N and words under which it was scored.
    pub(crate) statistics: CollectionStatistics,
    /// What was recomputed.
    pub(crate) refreshed: Refreshed,
}

/// The regression of improvability, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LearnedImprovability {
    /// The regression.
    #[serde(flatten)]
    pub(crate) fit: ImprovabilityFit,
    /// Spearman's correlation of what it says of past queries with their new results; none where either is
    /// the same for all.
    pub(crate) rank_correlation: Option<f64>,
    /// Past queries that it is fitted on.
    pub(crate) outcomes: usize,
}

impl LearnedImprovability {
    /// Of what was fitted on these outcomes.
    pub(super) fn new(improvability: &Improvability, outcomes: &[QueryOutcome]) -> Option<Self> {
        let said: Vec<f64> =
            outcomes.iter().map(|outcome| improvability.of(outcome.mean_before)).collect();
        let came: Vec<f64> = outcomes.iter().map(|outcome| outcome.new_results).collect();
        let rank_correlation = spearman(&said, &came);
        improvability.fitted().map(|fit| Self { fit, rank_correlation, outcomes: outcomes.len() })
    }
}

/// What was recomputed to plan for a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refreshed {
    /// Served lists.
    pub(crate) served: Refresh,
    /// Pairs and models.
    pub(crate) recomputed: Recomputed,
    /// What of them was damaged.
    pub(crate) damaged: Vec<Damage>,
    /// Files of closed cycles that an older version wrote, and that were left unread.
    pub(crate) unread: Vec<String>,
}

/// A derived structure that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Its name.
    pub(crate) name: &'static str,
    /// What is wrong with it.
    pub(crate) what: String,
}

/// What was recomputed for scored pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Recomputed {
    /// Nothing: it was in the store.
    Nothing,
    /// Pairs that a cycle has changed, by the models of the epoch; the others were in the store.
    Changes,
    /// Pairs, by the models of the epoch, which were in the store.
    Pairs,
    /// Models and pairs.
    #[default]
    All,
}
