//! What is known of a crawl when a batch is planned, wherever it is kept.

use prospect_index::bm25::Scorer;
use prospect_index::link_context::LinkContextTable;
use prospect_index::manifest::Manifest;
use prospect_index::page_store::Known;

use super::cycle::Past;
use crate::estimate::candidates::ngram::MatchSource;
use crate::estimate::features::page_ranks::PageRanks;
use crate::estimate::features::similarity::Embeddings;
use crate::estimate::input::EstimateInput;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// Tables of a crawl, for the queries that are planned for.
///
/// Nothing in it is hidden from a crawler: links are those of fetched pages, and scores are of their texts.
#[derive(Clone, Copy)]
pub struct CrawlView<'a> {
    /// URLs, pages, links.
    pub known: &'a Known,
    /// Cycles, and the statistics epoch.
    pub manifest: &'a Manifest,
    /// Words around links.
    pub link_context: &'a LinkContextTable,
    /// Vectors of strings and queries, where there is an embedding model.
    pub embeddings: Option<Embeddings<'a>>,
    /// PageRank, up to date with the links where the settings read it.
    pub ranks: &'a PageRanks,
    /// Scores of pages under the statistics of the epoch.
    pub scorer: &'a Scorer<'a>,
    /// n-grams of uncrawled URLs.
    pub frontier: &'a dyn MatchSource,
    /// n-grams of crawled pages as known before their cycle.
    pub history: &'a dyn MatchSource,
    /// Queries to plan for, merged.
    pub queries: &'a [Query],
    /// Their served lists now.
    pub served: &'a ServedLists,
    /// What became of earlier plans.
    pub past: &'a Past,
    /// URLs that may be planned, by id; empty for all.
    pub within: &'a [bool],
    /// Records before this one are those of the statistics epoch.
    pub epoch_end: u32,
}

impl<'a> CrawlView<'a> {
    /// What estimators read of it.
    pub fn estimate_input(&self) -> EstimateInput<'a> {
        EstimateInput {
            known: self.known,
            link_context: self.link_context,
            embeddings: self.embeddings,
            manifest: self.manifest,
            ranks: self.ranks,
            scorer: self.scorer,
            frontier: self.frontier,
            history: self.history,
            queries: self.queries,
            served: self.served,
            within: self.within,
            epoch_end: self.epoch_end,
            past_picks: &self.past.picks,
            past_pairs: &self.past.pairs,
        }
    }
}
