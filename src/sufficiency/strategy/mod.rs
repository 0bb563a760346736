//! Strategies: different ways to say how well pages answer a query, and which links would help it.
//!
//! Each is a [`SufficiencyStrategy`], one file each, and has a row in [`STRATEGIES`]. All of them speak of the
//! queries that are [assessed](super::assess::AssessedQueries), by place. What they look at is handed to them when
//! they are made: [`statistical`] reads the parts of queries, [`best_page`] scores, [`embedding`] vectors, and
//! [`language_model`] asks.
//!
//! Not here: which strategy decides, and what is made of what it says.

pub(crate) mod best_page;
pub(crate) mod embedding;
pub(crate) mod language_model;
pub(crate) mod statistical;

use serde::Serialize;

/// What a strategy says of a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Judgement {
    /// How well the pages answer it, in \[0, 1\].
    pub(crate) sufficiency: f64,
    /// What that is made of, by name.
    pub(crate) figures: Vec<(&'static str, f64)>,
}

/// A link that a strategy would follow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ScoredLink {
    /// Where it leads.
    pub(crate) url: String,
    /// How promising it is; comparable within a strategy and a query only.
    pub(crate) score: f64,
}

/// A way to say how well pages answer queries.
pub(crate) trait SufficiencyStrategy {
    /// What it says of the queries at these places, in their order; none where it has no answer.
    fn judge(&mut self, places: &[usize]) -> Vec<Option<Judgement>>;

    /// The links that it would follow next for a query, the best first; none if it judges no links.
    fn links(&mut self, place: usize, most: usize) -> Vec<ScoredLink>;
}

/// What a strategy cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Pages and queries are enough.
    Nothing,
    /// An embedding model.
    EmbeddingModel,
    /// A language model's endpoint.
    LanguageModel,
}

/// A strategy of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrategyKind {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it goes by.
    pub(crate) about: &'static str,
    /// What it cannot do without.
    pub(crate) needs: Needs,
}

/// All strategies; the first is the default.
pub(crate) const STRATEGIES: [StrategyKind; 4] =
    [statistical::KIND, best_page::KIND, embedding::KIND, language_model::KIND];

impl StrategyKind {
    /// The strategy of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        STRATEGIES.iter().find(|kind| kind.name == name)
    }
}
