//! What is read of an open store to estimate for some queries, or for a workload.

use std::sync::{Arc, OnceLock};

use prospect_index::bm25::Scorer;
use prospect_index::error::StoreError;
use prospect_index::manifest::Epoch;
use prospect_index::ngram::{NgramError, NgramIndex, NgramQuery, Scratch};
use prospect_index::page::UrlId;
use prospect_index::text_index::Refresh;

use crate::campaign::kept_planner::KeptPlanner;
use crate::campaign::records::PastReader;
use crate::campaign::vectors::PlanVectors;
use crate::campaign::{CampaignError, OpenStore, served_cache};
use crate::estimate::EstimateError;
use crate::estimate::candidates::ngram::MatchSource;
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::features::page_ranks::PageRanks;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::cycle::{Past, current_epoch, pseudo_outcomes};
use crate::planner::settings::PlanSettings;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::{Query, QueryId, Workload};

/// n-grams that are not up to date: a planner that goes on asks for none.
struct Stale;

impl MatchSource for Stale {
    fn candidates(
        &self,
        _at: QueryId,
        _query: &NgramQuery,
        _least: f64,
        _masked: &(dyn Fn(UrlId) -> bool + Sync),
        _scratch: &mut Scratch,
    ) -> Result<Vec<(UrlId, f64)>, EstimateError> {
        let what = "it is not up to date".to_owned();
        Err(StoreError::Derived { structure: "n-gram index", what }.into())
    }
}

/// Scores, n-grams and ranks.
pub(super) struct Reading<'a> {
    open: &'a OpenStore,
    epoch: Epoch,
    /// Scores under the statistics of the epoch.
    pub(super) scorer: Scorer<'a>,
    /// n-grams of the frontier and of the history; none where nobody will look for candidates in them.
    ngrams: Option<(NgramIndex<'a>, NgramIndex<'a>)>,
    ranks: PageRanks,
    embedding: Option<EmbeddingModel>,
    /// Vectors, once pairs are to be estimated.
    vectors: OnceLock<Option<PlanVectors<'a>>>,
}

impl<'a> Reading<'a> {
    /// For these queries, which there may be a `scorer` for.
    pub(super) fn new(
        open: &'a OpenStore,
        queries: &[Query],
        settings: &PlanSettings,
        epoch: Epoch,
        scorer: Option<Scorer<'a>>,
    ) -> Result<Self, CampaignError> {
        let mut ranks = PageRanks::default();
        if settings.estimate.reads_page_rank() {
            ranks.update(&open.known, open.store.manifest());
        }
        let (text, end) = (&open.text, epoch.end_seq);
        let words = queries.iter().flat_map(|query| query.words.iter().map(String::as_str));
        let scorer = match scorer {
            Some(scorer) => scorer,
            None => Scorer::new(text, settings.bm25, end, words)?,
        };
        let ngrams = open.ngrams();
        let ngrams =
            ngrams.map(|all| Ok::<_, NgramError>((all.frontier.index()?, all.history.index()?)));
        Ok(Self {
            open,
            epoch,
            scorer,
            ngrams: ngrams.transpose()?,
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
            frontier: self.ngrams.as_ref().map_or(&Stale, |(frontier, _)| frontier),
            history: self.ngrams.as_ref().map_or(&Stale, |(_, history)| history),
            queries,
            served,
            within,
            epoch: self.epoch,
            past_picks: &past.picks,
            past_pairs: &past.pairs,
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
    pub(super) past: Arc<Past>,
    /// Files of an older version that were left unread.
    pub(super) unread: Vec<String>,
}

impl<'a> Prepared<'a> {
    /// For a workload; `kept` is of earlier plans for it.
    ///
    /// # Errors
    /// The store has no page, or an index cannot be read.
    pub(super) fn new(
        open: &'a OpenStore,
        workload: &Workload,
        settings: &PlanSettings,
        kept: Option<&mut KeptPlanner>,
    ) -> Result<Self, CampaignError> {
        let OpenStore { known, .. } = open;
        let has_frontier = || known.urls.ids().any(|url| known.pages.in_frontier(url));
        if known.pages.len() == 0 && !has_frontier() {
            return Err(CampaignError::NoPages);
        }
        let workload = open.asked(workload);
        let epoch = current_epoch(open.store.manifest(), &open.known.pages);
        let queries = &workload.queries;
        let (reading, (served, served_refresh), mut past, unread) = if let Some(kept) = kept {
            let forward = kept.catch_up(open, &workload, epoch)?;
            let scorer = kept.scorer(&open.text, (settings.bm25, epoch.end_seq), &forward)?;
            let reading = Reading::new(open, queries, settings, epoch, Some(scorer))?;
            let served = kept.served(open, &reading.scorer, &workload, settings)?;
            (reading, (served, Refresh::default()), Arc::clone(&kept.past.past), Vec::new())
        } else {
            open.refresh_ngrams()?;
            let reading = Reading::new(open, queries, settings, epoch, None)?;
            let served = reading.served(&workload, settings.places())?;
            let mut read = PastReader::with_queries();
            read.update(&open.store)?;
            (reading, served, read.past, read.unread)
        };
        log::debug!("result lists of {} queries and earlier outcomes read", queries.len());
        if settings.needy.is_some() && past.queries.is_empty() {
            let (scorer, places) = (&reading.scorer, settings.places());
            let manifest = open.store.manifest();
            Arc::make_mut(&mut past).queries =
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
