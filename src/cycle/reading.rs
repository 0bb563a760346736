//! What is read of an open store to estimate for some queries.

use prospect_index::bm25::Scorer;
use prospect_index::manifest::Epoch;
use prospect_index::ngram::NgramIndex;
use prospect_index::text_index::Refresh;

use super::records::Past;
use super::{CycleError, OpenStore, served_cache};
use crate::estimate::frontier::EstimateInput;
use crate::estimate::page_ranks::PageRanks;
use crate::plan::settings::PlanSettings;
use crate::sketch::served::ServedLists;
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
}

impl<'a> Reading<'a> {
    /// For queries of these words.
    pub(super) fn new<'w>(
        open: &'a OpenStore,
        words: impl Iterator<Item = &'w str>,
        settings: &PlanSettings,
        epoch: Epoch,
    ) -> Result<Self, CycleError> {
        let mut ranks = PageRanks::default();
        if settings.estimate.reads_page_rank() {
            ranks.update(&open.known, open.store.manifest());
        }
        Ok(Self {
            open,
            epoch,
            scorer: Scorer::new(&open.text, settings.bm25, epoch.end_seq, words)?,
            frontier: open.frontier.index()?,
            history: open.history.index()?,
            ranks,
        })
    }

    /// The served lists of a workload, kept in the store.
    pub(super) fn served(
        &self,
        workload: &Workload,
        k: usize,
    ) -> Result<(ServedLists, Refresh), CycleError> {
        let OpenStore { store, known, .. } = self.open;
        Ok(served_cache::load(store, known, &self.scorer, workload, k, self.epoch.end_seq)?)
    }

    /// The served lists of queries, which are not kept.
    pub(super) fn lists(&self, queries: &[Query], k: usize) -> Result<ServedLists, CycleError> {
        let (end, urls) = (self.open.store.manifest().next_seq, &self.open.known.urls);
        Ok(ServedLists::build(&self.scorer, queries, k, end, urls)?)
    }

    /// What estimates for these queries are made from.
    pub(super) fn input<'b>(
        &'b self,
        queries: &'b [Query],
        served: &'b ServedLists,
        within: &'b [bool],
        past: &'b Past,
    ) -> EstimateInput<'b> {
        EstimateInput {
            known: &self.open.known,
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
        }
    }
}
