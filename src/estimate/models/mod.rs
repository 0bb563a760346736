//! Models that are fitted to what a crawl has seen: what they learn from is in their arguments, and none knows
//! where its numbers come from.

pub(crate) mod boosted_trees;
pub(crate) mod entry;
pub(crate) mod quadratic;
pub(crate) mod quality_posterior;
mod ridge;
pub(crate) mod score_distribution;
pub(crate) mod score_levels;

use serde::{Deserialize, Serialize};

use self::boosted_trees::Boosted;
use self::score_distribution::ScoreModel;
use crate::estimate::candidates::cutoff::Cutoffs;

/// The models of a statistics epoch.
#[derive(Serialize, Deserialize)]
pub(crate) struct EpochModels {
    /// The epoch's end.
    pub(super) epoch_end: u32,
    /// How candidate pairs will score.
    pub(super) scores: Option<ScoreModel>,
    /// What pages are worth, whatever is asked.
    pub(super) pages: Option<Boosted>,
    /// What the pages are worth, above the mean one, that a page is the first to lead to.
    pub(super) discovery: Option<Boosted>,
    /// The last candidate of each query by words.
    pub(super) cutoffs: Cutoffs,
    /// Pairs on which the score model was fitted.
    pub(super) training_pairs: usize,
}
