//! What a planner keeps of a store that stays open from plan to plan: candidate pairs, models, words of pages, served
//! lists, and what was learned. A plan costs what has changed since the last one, and is the plan, byte for byte, of a
//! command that opens the store anew.
//!
//! Where a page was replaced, or scores of earlier pages came later, all is made anew; where an epoch ends, all that its
//! statistics are in.

use std::collections::HashMap;
use std::sync::Arc;

use prospect_index::bm25::{Bm25, ForwardIndex, FrozenStatistics, Scorer};
use prospect_index::error::StoreError;
use prospect_index::manifest::Epoch;
use prospect_index::page_store::Known;
use prospect_index::text_index::TextIndex;

use super::history::ReadCycles;
use super::planned::Plan;
use super::records::PastReader;
use super::{CampaignError, OpenStore};
use crate::estimate::cache::PlannerCache;
use crate::estimate::settings::ImpactReading;
use crate::planner::settings::PlanSettings;
use crate::sketch::served::ServedLists;
use crate::workload::Workload;

/// See the module. It is of one store, one workload and, but for the budget, the same settings.
#[derive(Default)]
pub(crate) struct KeptPlanner {
    /// Pairs and models; none before the first plan.
    pub(super) cache: Option<PlannerCache>,
    /// Words of pages; none before the first plan.
    forward: Option<Arc<ForwardIndex>>,
    /// Of the last scorer.
    statistics: Option<FrozenStatistics>,
    /// Served lists, under the statistics of an epoch: N and words.
    served: Option<(ServedLists, (u64, u64))>,
    /// By open plan: what was served when it was made.
    before: HashMap<String, ServedLists>,
    /// Closed cycles that were read.
    pub(super) cycles: ReadCycles,
    /// What closed cycles left to learn from.
    pub(super) past: PastReader,
    epoch: Option<Epoch>,
    /// Records that were taken in, and pages of them that have a quality.
    end_seq: u32,
    scored: usize,
}

/// Pages of the first so many records that have a quality.
fn scored(known: &Known, end_seq: u32) -> usize {
    let crawled = known.pages.crawled().filter(|(seq, _)| *seq < end_seq);
    crawled.filter(|(_, url)| known.quality(*url).is_some()).count()
}

impl KeptPlanner {
    /// Whether plans by these settings can go on from earlier ones.
    pub(super) fn can_keep(settings: &PlanSettings) -> bool {
        let is_learned = settings.estimate.reading == ImpactReading::Learned;
        settings.needy.is_none() && settings.embedding.is_none() && is_learned
    }

    /// Takes in what is new of a store before a plan in this epoch, and brings the n-grams of the store up to date if
    /// candidates are to be looked for among all URLs.
    ///
    /// # Errors
    /// An index or a segment cannot be read.
    pub(super) fn catch_up(
        &mut self,
        open: &OpenStore,
        workload: &Workload,
        epoch: Epoch,
    ) -> Result<Arc<ForwardIndex>, CampaignError> {
        let (known, manifest) = (&open.known, open.store.manifest());
        let is_other =
            known.pages.replaced_since(self.end_seq) || scored(known, self.end_seq) != self.scored;
        if is_other {
            (self.cache, self.served) = (None, None);
            self.before.clear();
        }
        if self.epoch != Some(epoch) {
            self.cache.iter_mut().for_each(PlannerCache::forget_epoch);
            self.served = None;
        }
        let queries = &workload.queries;
        let cache = self.cache.get_or_insert_with(|| PlannerCache::with_strings(queries));
        cache.update(known, manifest, queries.len());
        // Without models all pairs are looked for anew.
        if !cache.has_score_model() {
            open.refresh_ngrams()?;
        }
        let forward = match self.forward.take() {
            Some(earlier) => earlier.grown(&open.text)?,
            None => ForwardIndex::build(&open.text, workload.words())?,
        };
        self.past.update(&open.store)?;
        (self.epoch, self.end_seq) = (Some(epoch), manifest.next_seq);
        self.scored = scored(known, self.end_seq);
        Ok(Arc::clone(self.forward.insert(forward)))
    }

    /// Scores of a store under the statistics of an epoch, which are kept for the next who asks.
    ///
    /// # Errors
    /// The text index cannot be read.
    pub(super) fn scorer<'t>(
        &mut self,
        text: &'t TextIndex,
        (bm25, epoch_end): (Bm25, u32),
        forward: &Arc<ForwardIndex>,
    ) -> Result<Scorer<'t>, StoreError> {
        let earlier = self.statistics.as_ref();
        let scorer = Scorer::with_forward(text, bm25, epoch_end, forward, earlier)?;
        self.statistics = Some(FrozenStatistics::from(&scorer));
        Ok(scorer)
    }

    /// Served lists of the queries now.
    ///
    /// # Errors
    /// The text index cannot be read.
    pub(super) fn served(
        &mut self,
        open: &OpenStore,
        scorer: &Scorer<'_>,
        workload: &Workload,
        settings: &PlanSettings,
    ) -> Result<ServedLists, CampaignError> {
        let (known, end_seq) = (&open.known, open.store.manifest().next_seq);
        let (queries, statistics) = (&workload.queries, scorer.statistics());
        let statistics = (statistics.documents, statistics.words);
        let served = match self.served.take().filter(|(_, of)| *of == statistics) {
            Some((mut served, _)) => {
                served.update(scorer, queries, end_seq, &known.pages, &known.urls)?;
                served
            }
            None => ServedLists::build(scorer, queries, settings.places(), end_seq, &known.urls)?,
        };
        self.served = Some((served.clone(), statistics));
        Ok(served)
    }

    /// A plan was made of what is served now.
    pub(crate) fn made(&mut self, plan: &Plan) {
        self.before.insert(plan.id.clone(), plan.served.clone());
    }

    /// The words of all pages, and what was served when a plan was made, where it made the plan.
    ///
    /// # Errors
    /// The text index cannot be read.
    pub(super) fn at_the_close(
        &mut self,
        open: &OpenStore,
        plan: &str,
    ) -> Result<Option<(Arc<ForwardIndex>, ServedLists)>, StoreError> {
        if open.known.pages.replaced_since(self.end_seq) {
            self.before.clear();
        }
        let Some(before) = self.before.remove(plan) else { return Ok(None) };
        let Some(forward) = self.forward.take() else { return Ok(None) };
        let forward = self.forward.insert(forward.grown(&open.text)?);
        Ok(Some((Arc::clone(forward), before)))
    }
}
