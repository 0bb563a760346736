//! What estimates are made from, how, and what they look like. [`super::basis`] makes them.

use prospect_index::around::AroundTable;
use prospect_index::bm25::Scorer;
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use serde::{Deserialize, Serialize};

use super::blend::{self, PARTS, PickOutcome, START};
use super::entry::EntryOutcomes;
use super::groups::{Group, Groups};
use super::objective::Objective;
use super::page_ranks::PageRanks;
use super::pair_model::PairModel;
use super::pairs::{Horizon, MatchRule, MatchSource};
use super::score_levels::ScoreLevels;
use super::similarity::Embeddings;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// Which reading of S' makes the query impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactReading {
    /// Sum of f(q) over the sketches that the point estimate enters (the paper's T).
    Sketch,
    /// Sum of f(q) times the chance to be in q's top K for good, learned from the crawl, with
    /// candidates that the best pages link to.
    Lasting,
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

/// How to estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateSettings {
    /// How a query and a URL must agree.
    pub rule: MatchRule,
    /// Reading of S'.
    pub reading: ImpactReading,
    /// Importance used.
    pub importance: Importance,
    /// Weights of the parts.
    pub weights: [f64; PARTS],
    /// Whether the weights are where fitting on past picks starts from, or stay.
    pub fitted: bool,
    /// Model of the scores of pairs, with the lasting reading.
    #[serde(default, skip_serializing_if = "PairModel::is_default")]
    pub pair_model: PairModel,
    /// Evidence that is left out.
    #[serde(default, skip_serializing_if = "Groups::is_empty")]
    pub without: Groups,
    /// Whether URLs count for less where past picks of their site broke promises, and new domains start
    /// slowly. Plans of versions that knew no defence had none.
    #[serde(default)]
    pub defended: bool,
    /// What a batch is to bring the most of.
    #[serde(default, skip_serializing_if = "Objective::is_default")]
    pub objective: Objective,
}

impl Default for EstimateSettings {
    /// Weights start at [`START`].
    fn default() -> Self {
        Self {
            rule: MatchRule::default(),
            reading: ImpactReading::Lasting,
            importance: Importance::Inlinks,
            weights: START,
            fitted: true,
            pair_model: PairModel::default(),
            without: Groups::default(),
            defended: true,
            objective: Objective::default(),
        }
    }
}

impl EstimateSettings {
    /// Whether estimates depend on what became of past picks.
    pub fn learns_from_picks(&self) -> bool {
        self.fits() || self.defended
    }

    /// Whether estimates read PageRank, which costs runs of its iteration to keep up to date.
    pub fn reads_page_rank(&self) -> bool {
        self.reading != ImpactReading::Lasting || self.importance == Importance::PageRank
    }

    /// Whether pairs of new queries ask for those of all others again: the score tree is fitted to the
    /// needy ones, and what a batch serves is known of the queries at hand.
    pub fn is_fitted_to_queries(&self) -> bool {
        self.reading == ImpactReading::Sketch || self.objective == Objective::Served
    }

    /// Whether weights are fitted, so that it matters what became of picks.
    pub fn fits(&self) -> bool {
        self.fitted && !self.without.contains(Group::Fit)
    }

    /// The weights, 0 for parts that are left out.
    pub(super) fn start(&self) -> [f64; PARTS] {
        let mut weights = self.weights;
        // The part of locality holds both kinds of candidates that do not match.
        if self.without.contains(Group::Inherited) && self.without.contains(Group::Embedding) {
            weights[blend::LOCALITY] = 0.0;
        }
        for (part, group) in [
            (blend::QUERY, Group::Pairs),
            (blend::LOCALITY, Group::Pairs),
            (blend::PAGE, Group::Page),
            (blend::IMPORTANCE, Group::Importance),
            (blend::QUALITY, Group::Quality),
        ] {
            if self.without.contains(group) {
                weights[part] = 0.0;
            }
        }
        weights
    }
}

/// What estimates are made from, wherever it is kept: in a store, or in the memory of a
/// simulation.
pub struct EstimateInput<'a> {
    /// URLs, pages, links.
    pub known: &'a Known,
    /// Words around links.
    pub around: &'a AroundTable,
    /// Vectors of strings and queries, where there is an embedding model.
    pub embeddings: Option<Embeddings<'a>>,
    /// Cycles.
    pub manifest: &'a Manifest,
    /// PageRank, up to date with the links where the settings read it.
    pub ranks: &'a PageRanks,
    /// Scores under the statistics of the epoch.
    pub scorer: &'a Scorer<'a>,
    /// n-grams of uncrawled URLs.
    pub frontier: &'a dyn MatchSource,
    /// n-grams of crawled pages as known before their cycle.
    pub history: &'a dyn MatchSource,
    /// Queries to plan for, merged.
    pub queries: &'a [Query],
    /// Their served lists now.
    pub served: &'a ServedLists,
    /// URLs that may be planned, by id; empty for all.
    pub within: &'a [bool],
    /// Records before this one are those of the statistics epoch.
    pub epoch_end: u32,
    /// What became of the picks of earlier plans.
    pub past_picks: &'a [PickOutcome],
    /// What became of their candidate pairs.
    pub past_pairs: &'a EntryOutcomes,
}

/// A candidate pair of the frontier with its estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairEstimate {
    /// The URL.
    pub url: UrlId,
    /// Index of the query.
    pub query: u32,
    /// Expected score S'.
    pub expected_score: f64,
    /// Chance to be in the query's top K for good; with the sketch reading 0 or 1, whether S' enters
    /// the sketch. Where its places are not seen alike, the visibility that is expected instead.
    pub chance: f64,
    /// Whether the URL or its anchors match the query; if not, its best pages link to it, or it is near to
    /// the query in meaning.
    pub matches: bool,
    /// Bin of the score model that the expected score falls in; 0 without one.
    pub bin: u16,
}

/// Estimate of one URL, in impact units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlEstimate {
    /// The URL.
    pub url: UrlId,
    /// Its parts, as in [`blend::PART_NAMES`].
    pub parts: [f64; PARTS],
    /// Quality expected of the page, as a log-probability, where any is known.
    pub quality: Option<f64>,
    /// What is left of it for past picks of its site that broke promises; 1 where they did not.
    pub trust: f64,
    /// Whether it waits behind the URLs of others: its domain is new and has better ones.
    pub waits: bool,
    /// What URLs are ranked by: with the objectives that are sums over URLs, their blend times the
    /// trust; with others what is left of that for the batch, or for the cautious. Next to nothing of
    /// that where it waits.
    pub estimate: f64,
    /// Pages that link to it.
    pub inlinks: u32,
}

/// What a reading finds.
pub(super) struct Found {
    /// Candidate pairs.
    pub(super) pairs: Vec<PairEstimate>,
    /// By URL: impact that the page model expects, in units of the mean impact of crawled pages; empty
    /// without one.
    pub(super) page_impact: Vec<f64>,
    /// Pairs that scores were learned from.
    pub(super) training_pairs: usize,
    /// Distributions of scores, where they are learned.
    pub(super) levels: Option<ScoreLevels>,
}

/// Crawled pages as they were known at the start of their cycle.
pub(super) struct Past<'a> {
    pub(super) known: &'a Known,
    pub(super) manifest: &'a Manifest,
}

impl Past<'_> {
    fn cycle_start(&self, url: UrlId) -> Option<u32> {
        let seq = self.known.pages.page_seq(url)?;
        Some(self.manifest.cycle_start(self.manifest.cycle_of(seq)))
    }
}

impl Horizon for Past<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let start = self.cycle_start(url)?;
        // A seed that nothing led to was no candidate of any plan.
        self.known.links.incoming(url, start).next()?;
        Some(start)
    }
}

/// Uncrawled URLs as they are known now.
pub(super) struct Now<'a> {
    pub(super) known: &'a Known,
    pub(super) within: &'a [bool],
}

impl Horizon for Now<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let allowed = self.within.is_empty() || self.within[url.index()];
        (allowed && self.known.pages.in_frontier(url)).then_some(u32::MAX)
    }
}
