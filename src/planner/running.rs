//! A planner that goes on from batch to batch, and what it keeps in memory in between: served lists, the
//! open plan, what became of those before, and all that need not be made anew.
//!
//! It plans what a planner would that is started anew from the same tables.

use std::borrow::Cow;
use std::sync::Arc;

use prospect_index::bm25::{ForwardIndex, FrozenStatistics, Scorer};
use prospect_index::link_context::LinkContextTable;
use prospect_index::manifest::{Epoch, Manifest};
use prospect_index::page_store::Known;
use prospect_index::text_index::TextIndex;

use super::PlannerError;
use super::choose::{Choice, choose};
use super::cycle::{Closed, OpenPlan, Past, close, current_epoch, pseudo_outcomes, query_outcomes};
use super::expected_impact::{CycleImpact, Lists, RealisedShares, mean_frequency};
use super::settings::PlanSettings;
use crate::estimate::cache::PlannerCache;
use crate::estimate::candidates::ngram::MatchSource;
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::features::page_ranks::PageRanks;
use crate::estimate::features::similarity::Embeddings;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::plan::Pick;
use crate::sketch::served::ServedLists;
use crate::workload::Workload;

/// Tables of a crawl as their host keeps them.
pub(crate) struct Tables<'a> {
    /// URLs, pages, links.
    pub(crate) known: &'a Known,
    /// Cycles, and the statistics epoch.
    pub(crate) manifest: &'a Manifest,
    /// Words around links.
    pub(crate) link_context: &'a LinkContextTable,
    /// Vectors of strings and queries, where there is an embedding model.
    pub(crate) embeddings: Option<Embeddings<'a>>,
    /// n-grams of uncrawled URLs.
    pub(crate) frontier: &'a dyn MatchSource,
    /// n-grams of crawled pages as known before their cycle.
    pub(crate) history: &'a dyn MatchSource,
    /// URLs that may be planned, by id; empty for all.
    pub(crate) within: &'a [bool],
}

/// Queries whose outcomes train improvability in the place of those that are planned for.
struct Trainers<'a> {
    workload: &'a Workload,
    served: Option<ServedLists>,
}

/// See the module.
pub(crate) struct RunningPlanner<'a> {
    /// How it plans.
    pub(crate) settings: PlanSettings,
    /// By query: what it still lacks, where somebody found out; see [`ChoiceInput::lack`](super::choose::ChoiceInput::lack).
    pub(crate) lack: Vec<f64>,
    workload: &'a Workload,
    trainers: Option<Trainers<'a>>,
    cache: PlannerCache,
    /// The words of pages, where the host has them.
    forward: Option<Arc<ForwardIndex>>,
    /// The end of the epoch, and what the scorer has of it.
    frozen: Option<(u32, FrozenStatistics)>,
    ranks: PageRanks,
    served: Option<ServedLists>,
    past: Past,
    open: Option<OpenPlan>,
    /// Which shares of what was expected of plans came, as plans have it whose chances are assumed, and are learned.
    shares: [RealisedShares; 2],
    /// By closed plan: pages that came, and the impact that they had in lists then.
    brought: Vec<(usize, f64)>,
    /// What became of plans, where someone looks at more than is learned from.
    kept: Option<Vec<Closed>>,
}

impl<'a> RunningPlanner<'a> {
    /// A planner that knows nothing yet. Improvability is trained on the `trainers`, if there are any. A `forward`
    /// index, which is of the words of both, makes a plan cost what has changed since the last.
    pub(crate) fn new(
        workload: &'a Workload,
        trainers: Option<&'a Workload>,
        settings: PlanSettings,
        forward: Option<Arc<ForwardIndex>>,
    ) -> Self {
        Self {
            settings,
            lack: Vec::new(),
            workload,
            trainers: trainers.map(|workload| Trainers { workload, served: None }),
            cache: PlannerCache::with_strings(&workload.queries),
            forward,
            frozen: None,
            ranks: PageRanks::default(),
            served: None,
            past: Past::default(),
            open: None,
            shares: [RealisedShares::start(mean_frequency(&workload.queries)); 2],
            brought: Vec::new(),
            kept: None,
        }
    }

    /// Keeps what becomes of plans from now on, for [`RunningPlanner::closed`].
    pub(crate) fn keep_closed(&mut self) {
        self.kept = Some(Vec::new());
    }

    /// Plans that were closed since they are kept.
    pub(crate) fn closed(&self) -> &[Closed] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Which shares of what was expected of plans came.
    pub(crate) fn shares(&self) -> RealisedShares {
        self.shares[usize::from(self.learns_chances())]
    }

    /// Whether chances to enter a list come from outcomes.
    fn learns_chances(&self) -> bool {
        self.past.pairs.suffice()
    }

    /// By closed plan, the oldest first: pages that came, and the impact that they had in lists then.
    pub(crate) fn brought(&self) -> &[(usize, f64)] {
        &self.brought
    }

    /// Impact by page that the open plan is expected to have in lists, in a crawl of so many `pages`; none without a plan
    /// of new ones.
    pub(crate) fn expected_by_page(&self, pages: usize) -> Option<f64> {
        let (open, served) = (self.open.as_ref()?, self.served.as_ref()?);
        let (taken, places) = (served.taken(), served.places());
        let lists = Lists { queries: &self.workload.queries, taken: &taken, places };
        let new = open.new_picks() as f64;
        (new > 0.0).then(|| self.shares().enters(&open.chances(pages, lists)) / new)
    }

    /// Queries it plans for.
    pub(crate) fn workload(&self) -> &'a Workload {
        self.workload
    }

    /// Served lists of the workload as of the last time that it caught up.
    pub(crate) fn served(&self) -> Option<&ServedLists> {
        self.served.as_ref()
    }

    /// What it has learned from.
    pub(crate) fn past(&self) -> &Past {
        &self.past
    }

    /// Whether a plan is open: its batch is being fetched.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What a batch of these picks promises.
    pub(crate) fn promised(&self, scored: &ScoredPairs, picks: &[Pick]) -> OpenPlan {
        self.served
            .as_ref()
            .map_or_else(OpenPlan::default, |served| OpenPlan::new(scored, served, picks))
    }

    /// A plan is open from now on.
    pub(crate) fn open(&mut self, plan: OpenPlan) {
        self.open = Some(plan);
    }

    /// Takes in what was fetched: closes the open plan under the statistics it was made with, and brings
    /// lists up to date under those of now. Returns the epoch of now, and scores under it.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn catch_up<'t>(
        &mut self,
        known: &Known,
        manifest: &Manifest,
        text: &'t TextIndex,
    ) -> Result<(Epoch, Scorer<'t>), PlannerError> {
        let epoch = current_epoch(manifest, &known.pages);
        let mut scorer = self.scorer(text, manifest.epoch.end_seq)?;
        if let Some(open) = self.open.take() {
            self.close(&open, &scorer, known, manifest.next_seq)?;
        }
        if epoch != manifest.epoch {
            self.forget_epoch();
            scorer = self.scorer(text, epoch.end_seq)?;
        }
        if self.served.is_none() {
            self.served = Some(self.build(&scorer, self.workload, known, manifest.next_seq)?);
        }
        self.catch_up_trainers(&scorer, known, manifest)?;
        Ok((epoch, scorer))
    }

    /// Scores the crawl's pairs and chooses a batch, by other settings than its own if need be. Call it
    /// after [`RunningPlanner::catch_up`].
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub(crate) fn choose(
        &mut self,
        tables: &Tables<'_>,
        scorer: &Scorer<'_>,
        settings: &PlanSettings,
        whole_ranking: bool,
    ) -> Result<(ScoredPairs, Choice), PlannerError> {
        if settings.estimate.reads_page_rank() {
            self.ranks.update(tables.known, tables.manifest);
        }
        let nothing = ServedLists::default();
        let view = CrawlView {
            known: tables.known,
            manifest: tables.manifest,
            link_context: tables.link_context,
            embeddings: tables.embeddings,
            ranks: &self.ranks,
            scorer,
            frontier: tables.frontier,
            history: tables.history,
            queries: &self.workload.queries,
            served: self.served.as_ref().unwrap_or(&nothing),
            within: tables.within,
            epoch: tables.manifest.epoch,
            past_picks: &self.past.picks,
            past_pairs: &self.past.pairs,
        };
        let mut outcomes = Cow::Borrowed(&self.past.queries);
        if settings.needy.is_some() && outcomes.is_empty() {
            let (queries, places) = (&self.workload.queries, settings.places());
            let pseudo = pseudo_outcomes(scorer, queries, places, tables.known, tables.manifest)?;
            outcomes = Cow::Owned(pseudo);
        }
        choose(&view, &outcomes, &mut self.cache, settings, &self.lack, whole_ranking)
    }

    fn scorer<'t>(
        &mut self,
        text: &'t TextIndex,
        end_seq: u32,
    ) -> Result<Scorer<'t>, PlannerError> {
        if let Some(forward) = &self.forward {
            if let Some((_, frozen)) = self.frozen.as_ref().filter(|(end, _)| *end == end_seq) {
                return Ok(Scorer::resume(text, frozen));
            }
            let scorer = Scorer::with_forward(text, self.settings.bm25, end_seq, forward, None)?;
            self.frozen = Some((end_seq, FrozenStatistics::from(&scorer)));
            return Ok(scorer);
        }
        let trainers = self.trainers.iter().flat_map(|trainers| trainers.workload.words());
        let words = self.workload.words().chain(trainers);
        Ok(Scorer::new(text, self.settings.bm25, end_seq, words)?)
    }

    fn build(
        &self,
        scorer: &Scorer<'_>,
        workload: &Workload,
        known: &Known,
        end_seq: u32,
    ) -> Result<ServedLists, PlannerError> {
        let (queries, places) = (&workload.queries, self.settings.places());
        Ok(ServedLists::build(scorer, queries, places, end_seq, &known.urls)?)
    }

    fn close(
        &mut self,
        open: &OpenPlan,
        scorer: &Scorer<'_>,
        known: &Known,
        end_seq: u32,
    ) -> Result<(), PlannerError> {
        if let Some(Trainers { workload, served: Some(lists) }) = &mut self.trainers {
            let before = lists.clone();
            lists.update(scorer, &workload.queries, end_seq, &known.pages, &known.urls)?;
            self.past.queries.extend(query_outcomes(&before, lists));
        }
        let Some(lists) = &mut self.served else { return Ok(()) };
        let (before, queries) = (lists.clone(), &self.workload.queries);
        lists.update(scorer, queries, end_seq, &known.pages, &known.urls)?;
        let impact = lists.impact(queries, known.urls.len());
        let states = open.states(&known.pages, before.end_seq);
        let closed = close(open, &known.pages, &states, &impact, (&before, lists));
        // Nobody else asks, and they are as many as queries in every cycle.
        if self.trainers.is_none() && self.settings.needy.is_some() {
            self.past.queries.extend_from_slice(&closed.queries);
        }
        // As the plan had it.
        let learned = self.learns_chances();
        self.past.learn(&closed);
        let (places, realised) = (before.places(), closed.realised());
        let chances = closed.chances(queries, places);
        let foreseen = closed.foreseen(queries, places);
        for (shares, are_learned) in self.shares.iter_mut().zip([false, true]) {
            shares.learn(CycleImpact {
                chances: &chances,
                same_source: are_learned == learned,
                foreseen,
                realised,
                stayed: None,
                led_to: None,
            });
        }
        self.brought.push((closed.new_pages(), realised));
        if let Some(kept) = &mut self.kept {
            kept.push(closed);
        }
        Ok(())
    }

    fn forget_epoch(&mut self) {
        self.served = None;
        if let Some(trainers) = &mut self.trainers {
            trainers.served = None;
        }
        self.cache.forget_epoch();
    }

    /// Brings the lists of the trainers up to date. Before the first outcome, what pseudo-cycles of an earlier
    /// crawl did to them is learned from.
    fn catch_up_trainers(
        &mut self,
        scorer: &Scorer<'_>,
        known: &Known,
        manifest: &Manifest,
    ) -> Result<(), PlannerError> {
        let Some(Trainers { workload, served: None }) = self.trainers else { return Ok(()) };
        if self.past.queries.is_empty() {
            let places = self.settings.places();
            self.past.queries =
                pseudo_outcomes(scorer, &workload.queries, places, known, manifest)?;
        }
        let served = self.build(scorer, workload, known, manifest.next_seq)?;
        self.trainers = Some(Trainers { workload, served: Some(served) });
        Ok(())
    }
}
