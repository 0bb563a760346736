//! What is known of a crawl when it is planned on, wherever it is kept: in a store, or in the memory of a
//! simulation.

use prospect_index::bm25::Scorer;
use prospect_index::link_context::LinkContextTable;
use prospect_index::manifest::{Epoch, Manifest};
use prospect_index::page_store::Known;

use super::candidates::ngram::MatchSource;
use super::features::group::FeatureGroup;
use super::features::match_rule::idf_mass;
use super::features::page_ranks::PageRanks;
use super::features::similarity::Embeddings;
use super::models::entry::EntryOutcomes;
use super::settings::{EstimateSettings, ImpactReading};
use super::site_reliability::PickOutcome;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// Tables of a crawl, for the queries that are planned for.
///
/// Nothing in it is hidden from a crawler: links are those of fetched pages, and scores are of their texts.
#[derive(Clone, Copy)]
pub(crate) struct CrawlView<'a> {
    /// URLs, pages, links.
    pub(crate) known: &'a Known,
    /// Words around links.
    pub(crate) link_context: &'a LinkContextTable,
    /// Vectors of strings and queries, where there is an embedding model.
    pub(crate) embeddings: Option<Embeddings<'a>>,
    /// Cycles, and the statistics epoch.
    pub(crate) manifest: &'a Manifest,
    /// PageRank, up to date with the links where the settings read it.
    pub(crate) ranks: &'a PageRanks,
    /// Scores under the statistics of the epoch.
    pub(crate) scorer: &'a Scorer<'a>,
    /// n-grams of uncrawled URLs.
    pub(crate) frontier: &'a dyn MatchSource,
    /// n-grams of crawled pages as known before their cycle.
    pub(crate) history: &'a dyn MatchSource,
    /// Queries to plan for, merged.
    pub(crate) queries: &'a [Query],
    /// Their served lists now.
    pub(crate) served: &'a ServedLists,
    /// URLs that may be planned, by id; empty for all.
    pub(crate) within: &'a [bool],
    /// The statistics epoch.
    pub(crate) epoch: Epoch,
    /// What became of the picks of earlier plans.
    pub(crate) past_picks: &'a [PickOutcome],
    /// What became of their candidate pairs.
    pub(crate) past_pairs: &'a EntryOutcomes,
}

impl CrawlView<'_> {
    /// The embeddings that estimates under these settings read.
    pub(super) fn embeddings_for(&self, settings: &EstimateSettings) -> Option<&Embeddings<'_>> {
        let is_read = settings.reading == ImpactReading::Learned;
        let is_left_out = settings.without.contains(FeatureGroup::Embedding);
        self.embeddings.as_ref().filter(|_| is_read && !is_left_out)
    }

    /// By query: its idf mass, which scores are shares of.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let mass = |query: &Query| idf_mass(query, self.scorer).max(f64::MIN_POSITIVE);
        self.queries.iter().map(mass).collect()
    }
}
