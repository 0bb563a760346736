//! What is read of an open store to estimate for some queries, or for a workload.

use std::sync::OnceLock;

use prospect_index::bm25::Scorer;
use prospect_index::manifest::Epoch;
use prospect_index::ngram::NgramIndex;
use prospect_index::text_index::Refresh;

use crate::campaign::records;
use crate::campaign::vectors::PlanVectors;
use crate::campaign::{CampaignError, OpenStore, served_cache};
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::features::page_ranks::PageRanks;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::cycle::{Past, current_epoch, pseudo_outcomes};
use crate::planner::settings::PlanSettings;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::{Query, Workload};

/// Scores, n-grams and ranks.
pub(super) struct Reading<'a> {
    open: &'a OpenStore,
    epoch: Epoch,
    /// Scores under the statistics of the epoch.
    pub(super) scorer: Scorer<'a>,
    frontier: NgramIndex<'a>,
    history: NgramIndex<'a>,
    ranks: PageRanks,
    embedding: Option<EmbeddingModel>,
    /// Vectors, once pairs are to be estimated.
    vectors: OnceLock<Option<PlanVectors<'a>>>,
}

impl<'a> Reading<'a> {
    /// For these queries.
    pub(super) fn new(
        open: &'a OpenStore,
        queries: &[Query],
        settings: &PlanSettings,
        epoch: Epoch,
    ) -> Result<Self, CampaignError> {
        let mut ranks = PageRanks::default();
        if settings.estimate.reads_page_rank() {
            ranks.update(&open.known, open.store.manifest());
        }
        let words = queries.iter().flat_map(|query| query.words.iter().map(String::as_str));
        Ok(Self {
            open,
            epoch,
            scorer: Scorer::new(&open.text, settings.bm25, epoch.end_seq, words)?,
            frontier: open.frontier.index()?,
            history: open.history.index()?,
            ranks,
            embedding: settings.embedding.clone(),
            vectors: OnceLock::new(),
        })
    }

    /// The served lists of a workload, kept in the store.
    fn served(
        &self,
        workload: &Workload,
        places: Places,
    ) -> Result<(ServedLists, Refresh), CampaignError> {
        let OpenStore { store, known, .. } = self.open;
        Ok(served_cache::load(store, known, &self.scorer, workload, places, self.epoch.end_seq)?)
    }

    /// The served lists of queries, which are not kept.
    pub(super) fn lists(
        &self,
        queries: &[Query],
        places: Places,
    ) -> Result<ServedLists, CampaignError> {
        let (end, urls) = (self.open.store.manifest().next_seq, &self.open.known.urls);
        Ok(ServedLists::build(&self.scorer, queries, places, end, urls)?)
    }

    /// What estimates for these queries, which are those of the reading, are made from.
    ///
    /// # Errors
    /// The texts around links cannot be read, or vectors are missing.
    pub(super) fn input<'b>(
        &'b self,
        queries: &'b [Query],
        served: &'b ServedLists,
        within: &'b [bool],
        past: &'b Past,
    ) -> Result<CrawlView<'b>, CampaignError> {
        // Who finds all pairs in the store needs none.
        if self.vectors.get().is_none() {
            let read = self.open.plan_vectors(self.embedding.as_ref(), queries)?;
            let _ = self.vectors.set(read);
        }
        let vectors = self.vectors.get().and_then(Option::as_ref);
        Ok(CrawlView {
            known: &self.open.known,
            link_context: self.open.link_context()?,
            embeddings: vectors.map(PlanVectors::embeddings),
            manifest: self.open.store.manifest(),
            ranks: &self.ranks,
            scorer: &self.scorer,
            frontier: &self.frontier,
            history: &self.history,
            queries,
            served,
            within,
            epoch_end: self.epoch.end_seq,
            past_picks: &past.picks,
            past_pairs: &past.pairs,
            past_stays: &past.stays,
        })
    }
}

/// All that is read of an open store to plan for a workload.
pub(super) struct Prepared<'a> {
    /// The queries to plan for, merged.
    pub(super) workload: Workload,
    /// The statistics epoch.
    pub(super) epoch: Epoch,
    /// Scores, n-grams and ranks.
    pub(super) reading: Reading<'a>,
    /// Served lists of all queries.
    pub(super) served: ServedLists,
    /// What was recomputed of them.
    pub(super) served_refresh: Refresh,
    /// What closed cycles left to learn from.
    pub(super) past: Past,
    /// Files of an older version that were left unread.
    pub(super) unread: Vec<String>,
}

impl<'a> Prepared<'a> {
    /// For a workload.
    ///
    /// # Errors
    /// The store has no page, or an index cannot be read.
    pub(super) fn new(
        open: &'a OpenStore,
        workload: &Workload,
        settings: &PlanSettings,
    ) -> Result<Self, CampaignError> {
        let OpenStore { known, .. } = open;
        let has_frontier = || known.urls.ids().any(|url| known.pages.in_frontier(url));
        if known.pages.is_empty() && !has_frontier() {
            return Err(CampaignError::NoPages);
        }
        let workload = workload.for_planning();
        let epoch = current_epoch(open.store.manifest(), &open.known.pages);
        let reading = Reading::new(open, &workload.queries, settings, epoch)?;
        let (served, served_refresh) = reading.served(&workload, settings.places())?;
        let mut unread = Vec::new();
        let mut past = records::past(&open.store, &workload.queries, &mut unread)?;
        if settings.needy.is_some() && past.queries.is_empty() {
            let (scorer, places) = (&reading.scorer, settings.places());
            let manifest = open.store.manifest();
            past.queries =
                pseudo_outcomes(scorer, &workload.queries, places, &open.known, manifest)?;
        }
        Ok(Self { workload, epoch, reading, served, served_refresh, past, unread })
    }

    /// What estimates are made from. `within` tells by URL id what may be planned; empty for all.
    ///
    /// # Errors
    /// The texts around links cannot be read.
    pub(super) fn input<'b>(&'b self, within: &'b [bool]) -> Result<CrawlView<'b>, CampaignError> {
        self.reading.input(&self.workload.queries, &self.served, within, &self.past)
    }
}
