//! Settings of an experiment, validated.

use serde::{Deserialize, Serialize};

use super::ablation::Pairing;
use super::attack::AttackSettings;
use super::clock::Clock;
use super::collection::Outside;
use super::start::{Seeds, StartPages};
use super::stopping::StopRule;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::settings::{Demand, PlanSettings};
use crate::policy::PolicyChoice;
use crate::policy::amount::{Amount, BatchSize};
use crate::results::ModelUsed;

/// Checkpoints of METHODS, section 5, in percent.
pub(crate) fn default_checkpoints() -> Vec<Amount> {
    [1, 2]
        .into_iter()
        .chain((5..=100).step_by(5))
        .map(|p| Amount::Share(f64::from(p) / 100.0))
        .collect()
}

/// Which runs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Runs {
    /// None.
    #[default]
    None,
    /// At the last checkpoint of every crawl.
    Last,
    /// At every checkpoint.
    All,
}

/// The experiment of limited sketches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SketchSettings {
    /// Shares of the sketches that are kept.
    pub(crate) fractions: Vec<f64>,
    /// Share of the uncrawled pages fetched at which impact is read.
    pub(crate) at: f64,
}

/// Trials at one point of a crawl: draws of a batch, or scenarios that are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct TrialSettings {
    /// How many, in turn over the seed sets.
    pub(crate) trials: usize,
    /// Share of the pages fetched before.
    pub(crate) at: f64,
}

/// An experiment.
#[derive(Clone)]
pub(crate) struct SimulationSettings {
    /// Policies.
    pub(crate) policies: Vec<PolicyChoice>,
    /// Where crawls start.
    pub(crate) seeds: Seeds,
    /// Seed sets.
    pub(crate) sets: u32,
    /// Seed of everything random.
    pub(crate) seed: u64,
    /// What is crawled before; then there is no link discovery.
    pub(crate) crawled: Option<StartPages>,
    /// Share of the uncrawled pages, by in-links, that is crawled too.
    pub(crate) promote: f64,
    /// Batch size of policies that have none of their own.
    pub(crate) batch: BatchSize,
    /// How fast the crawler is, where time is simulated.
    pub(crate) clock: Option<Clock>,
    /// Budget; all pages if there is none.
    pub(crate) max_pages: Option<Amount>,
    /// Checkpoints.
    pub(crate) checkpoints: Vec<Amount>,
    /// Links out of the collection.
    pub(crate) outside: Outside,
    /// Settings of the planner, BM25's and K among them.
    pub(crate) plan: PlanSettings,
    /// Label of the policy that others are compared with.
    pub(crate) baseline: String,
    /// Level of significance.
    pub(crate) significance: f64,
    /// Runs to write.
    pub(crate) runs: Runs,
    /// Limited sketches.
    pub(crate) sketches: Option<SketchSettings>,
    /// Counterfactual estimates.
    pub(crate) counterfactual: Option<TrialSettings>,
    /// Scenarios.
    pub(crate) whatif: Option<TrialSettings>,
    /// Rules that stop crawls.
    pub(crate) stop: Vec<StopRule>,
    /// Whether each query has crawls of its own.
    pub(crate) single_query: bool,
    /// The embedding model that judges.
    pub(crate) judge: Option<EmbeddingModel>,
    /// The model that scores the pages of the collection.
    pub(crate) quality_model: Option<ModelUsed>,
    /// Whether sufficiency is compared with what search returns.
    pub(crate) sufficiency: bool,
    /// Policies with groups of their evidence left out.
    pub(crate) ablation: Vec<Pairing>,
    /// Attacks, each with crawls of its own.
    pub(crate) attacks: Option<AttackSettings>,
}

impl SimulationSettings {
    /// Pages per batch of a policy, of those that can be fetched.
    pub(crate) fn batch_of(&self, choice: &PolicyChoice, fetchable: u32) -> usize {
        choice.batch().unwrap_or(self.batch).pages(fetchable) as usize
    }

    /// Whether a policy asks what queries lack.
    pub(crate) fn lacks(&self) -> bool {
        self.policies.iter().any(|choice| {
            let settings = choice.settings(self.plan.clone());
            settings.is_ok_and(|settings| settings.demand == Demand::Lack)
        })
    }

    /// Whether a rule asks how well queries are answered.
    pub(crate) fn stops_by_sufficiency(&self) -> bool {
        self.stop.iter().any(|rule| rule.reads_sufficiency())
    }

    /// Whether a rule reads the texts of pages.
    pub(crate) fn stops_by_text(&self) -> bool {
        self.stop.contains(&StopRule::Compatible)
    }

    /// Whether a rule asks a model.
    pub(crate) fn stops_by_vectors(&self) -> bool {
        self.stop.contains(&StopRule::Learned)
    }

    /// Seconds that a batch of a policy may take, where it is a time.
    pub(crate) fn window_of(&self, choice: &PolicyChoice) -> Option<f64> {
        choice.batch().unwrap_or(self.batch).seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crawls_are_looked_at_often_unless_told_otherwise() {
        assert_eq!(default_checkpoints().len(), 22);
    }
}
