//! How to estimate: which reading of S', which weights, which evidence.

use serde::{Deserialize, Serialize};

use super::blend::Blend;
use super::features::group::{FeatureGroup, FeatureGroups};
use super::features::match_rule::MatchRule;
use super::objective::Objective;
use super::parts::{Part, Parts};

/// Which reading of S' makes the query impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactReading {
    /// Sum of f(q) over the sketches that the point estimate enters (the paper's T).
    Sketch,
    /// Sum of f(q) times the chance to be in q's top K for good, learned from the crawl, with
    /// candidates that the best pages link to.
    #[serde(alias = "lasting")]
    Learned,
    /// Sum of f(q) times relevance, novelty and authority of the link: what progressive crawling (crawl4ai) ranks
    /// by.
    LinkGain,
}

impl ImpactReading {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Learned, Self::Sketch, Self::LinkGain];

    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Learned => "learned",
            Self::Sketch => "sketch",
            Self::LinkGain => "link-gain",
        }
    }
}

/// Which importance the query-independent estimate is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Importance {
    /// In-links from crawled pages.
    Inlinks,
    /// PageRank over crawled links.
    PageRank,
}

/// Models of the scores of pairs, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreModelName {
    /// Least squares with a ridge.
    #[default]
    Linear,
}

/// How to estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateSettings {
    /// How a query and a URL must agree.
    pub rule: MatchRule,
    /// URLs that are candidates of a query by their words, at most. Plans of earlier versions had all that match, and are
    /// estimated by this many now.
    #[serde(default = "candidates", skip_serializing_if = "is_default")]
    pub candidates: usize,
    /// Reading of S'.
    pub reading: ImpactReading,
    /// Importance used.
    pub importance: Importance,
    /// Weights of the parts. Plans of versions that did not estimate discovery have none of it.
    #[serde(deserialize_with = "Parts::padded")]
    pub weights: Parts,
    /// The model of the scores of pairs. Plans of format 1 could name others, which were taken out since.
    #[serde(default, rename = "pair_model", skip_serializing)]
    pub score_model: ScoreModelName,
    /// Evidence that is left out.
    #[serde(default, skip_serializing_if = "FeatureGroups::is_empty")]
    pub without: FeatureGroups,
    /// Whether URLs count for less where past picks of their site broke promises, and new domains start
    /// slowly. Plans of versions that knew no defence had none.
    #[serde(default)]
    pub defended: bool,
    /// What a batch is to bring the most of.
    #[serde(default, skip_serializing_if = "Objective::is_default")]
    pub objective: Objective,
}

/// A third of it brings the same speedups on collections, and on a generated frontier of a million URLs it is the least
/// that loses nothing (docs/figures.md, "Candidates of a query").
const CANDIDATES: usize = 1_000;

fn candidates() -> usize {
    CANDIDATES
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives it so")]
fn is_default(candidates: &usize) -> bool {
    *candidates == CANDIDATES
}

impl Default for EstimateSettings {
    /// Weights are [`Parts::DEFAULT`].
    fn default() -> Self {
        Self {
            rule: MatchRule::default(),
            candidates: CANDIDATES,
            reading: ImpactReading::Learned,
            importance: Importance::Inlinks,
            weights: Parts::DEFAULT,
            score_model: ScoreModelName::default(),
            without: FeatureGroups::default(),
            defended: true,
            objective: Objective::default(),
        }
    }
}

impl EstimateSettings {
    /// Whether estimates depend on what became of past picks.
    pub(crate) fn learns_from_picks(&self) -> bool {
        self.defended
    }

    /// Whether estimates read PageRank, which costs runs of its iteration to keep up to date.
    pub(crate) fn reads_page_rank(&self) -> bool {
        self.reading != ImpactReading::Learned || self.importance == Importance::PageRank
    }

    /// Whether pairs of new queries ask for those of all others again: only the learned reading knows pairs one by
    /// one, the score tree is fitted to the needy ones, and what a batch serves is known of the queries at hand.
    pub(crate) fn is_fitted_to_queries(&self) -> bool {
        self.reading != ImpactReading::Learned || self.objective == Objective::Served
    }

    /// The weights, 0 for parts that are left out.
    pub(super) fn blend(&self) -> Blend {
        let mut weights = self.weights;
        // The part of locality holds both kinds of candidates that do not match.
        if self.without.contains(FeatureGroup::Inherited)
            && self.without.contains(FeatureGroup::Embedding)
        {
            weights[Part::Locality] = 0.0;
        }
        for part in Part::ALL {
            if self.without.contains(part.group()) {
                weights[part] = 0.0;
            }
        }
        Blend::new(weights)
    }
}
