//! Policies that plan each batch as `prospect plan` does: the same planner, over tables that are kept in
//! memory and grow with the crawl.

use std::collections::HashMap;

use prospect_index::bm25::Scorer;
use prospect_index::manifest::CycleEntry;
use prospect_index::page::UrlId;

use super::hidden_web::{Crawled, SeenStrings, Web};
use super::lack::RunningLack;
use super::queue::SeedQueue;
use super::{CrawlPolicy, Fetched, Page, PolicyError, Quality};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::planner::PlannerError;
use crate::planner::choose::Choice;
use crate::planner::cycle::OpenPlan;
use crate::planner::running::RunningPlanner;
use crate::planner::settings::{Demand, PlanSettings};

/// A policy that plans.
pub(crate) struct Planned<'a> {
    pub(super) web: &'a Web<'a>,
    pub(super) crawled: Crawled<'a>,
    pub(super) planner: RunningPlanner<'a>,
    strings: SeenStrings<'a>,
    /// What queries lack, once that counts.
    lack: Option<RunningLack<'a>>,
    seeds: SeedQueue,
    /// Pages in the frontier that are no seed.
    waiting: usize,
    /// Pages of the batch and whether they failed, in fetch order.
    batch: Vec<(Page, bool)>,
}

impl<'a> Planned<'a> {
    /// A planner that knows nothing yet.
    pub(crate) fn new(
        web: &'a Web<'a>,
        quality: Option<Quality<'a>>,
        settings: PlanSettings,
    ) -> Self {
        Self {
            web,
            crawled: Crawled::new(web, quality),
            planner: RunningPlanner::new(web.workload, web.trainers, settings, web.forward.clone()),
            strings: SeenStrings::new(web),
            lack: None,
            seeds: SeedQueue::default(),
            waiting: 0,
            batch: Vec::new(),
        }
    }

    /// Takes in what the last batch brought, and does something with the scores of now.
    pub(super) fn caught_up<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &Scorer<'_>) -> Result<T, PlannerError>,
    ) -> Result<T, PlannerError> {
        let text = self.web.text.with_docs(self.crawled.docs.clone());
        let Crawled { known, manifest, .. } = &mut self.crawled;
        manifest.urls = known.urls.len() as u32;
        let (epoch, scorer) = self.planner.catch_up(known, manifest, &text)?;
        if epoch != manifest.epoch {
            manifest.epoch = epoch;
            self.strings.forget_epoch();
        }
        let PlanSettings { demand, bm25, .. } = self.planner.settings;
        if demand == Demand::Lack {
            let lack = self.lack.get_or_insert_with(|| RunningLack::new(self.web));
            self.planner.lack = lack.now(self.web, &self.crawled, &text, bm25)?;
        }
        act(self, &scorer)
    }

    /// Chooses a batch by these settings from all but the pages that are `taken`.
    pub(super) fn choose(
        &mut self,
        scorer: &Scorer<'_>,
        settings: &PlanSettings,
        taken: &[Page],
        whole_ranking: bool,
    ) -> Result<(ScoredPairs, Choice), PlannerError> {
        self.strings.update(&self.crawled);
        let within = self.crawled.all_but(taken);
        let matches = self.strings.matches(&self.crawled);
        let tables = self.strings.tables(&self.crawled, &matches, &within);
        self.planner.choose(&tables, scorer, settings, whole_ranking)
    }

    /// Opens a plan for `most` pages, or, where `choice` is false, one that picks nothing. `taken` are seeds
    /// of the same batch: a link may lead to them, and they are fetched as seeds.
    fn plan(
        &mut self,
        most: usize,
        taken: &[Page],
        choice: bool,
    ) -> Result<Vec<Page>, PlannerError> {
        let first_seq = self.crawled.manifest.next_seq;
        let open = self.caught_up(|planned, scorer| {
            if !choice {
                return Ok(OpenPlan::default());
            }
            let mut settings = planned.planner.settings.clone();
            settings.selection.budget = planned.room(most, taken);
            let (scored, chosen) = planned.choose(scorer, &settings, taken, false)?;
            Ok(planned.planner.promised(&scored, &chosen.batch.picks))
        })?;
        self.crawled.manifest.cycles.push(CycleEntry {
            first_seq,
            plan: Some(String::new()),
            streamed: false,
        });
        let page = |url: UrlId| self.crawled.ids.page[url.index()];
        let pages = open.picks.iter().map(|pick| page(pick.url)).collect();
        self.planner.open(open);
        Ok(pages)
    }
}

impl Planned<'_> {
    /// Takes up to `most` seeds; the number of pages that may still be taken. Where the batch has a time, those are
    /// taken that there is time for, and nothing beside them.
    fn take_seeds(&mut self, most: usize, batch: &mut Vec<Page>) -> usize {
        let PlanSettings { selection, queues, .. } = &self.planner.settings;
        let (time, urls) = (selection.caps.time, &self.web.urls);
        if time.seconds.is_none() {
            return self.seeds.take(most, batch);
        }
        let mut left: HashMap<&str, usize> = HashMap::new();
        let mut all = most;
        self.seeds.take_fitting(batch, |page| {
            let queue = time.queue(urls.url(UrlId(page)), queues);
            let room = || time.most(time.delay_of(queue, queues));
            let left = left.entry(queue).or_insert_with(room);
            let fits = *left > 0 && all > 0;
            (*left, all) = (*left - usize::from(fits), all - usize::from(fits));
            fits
        });
        if batch.is_empty() { most } else { 0 }
    }

    /// How many URLs there is time for, of `most`.
    fn room(&self, most: usize, taken: &[Page]) -> usize {
        let PlanSettings { selection, queues, .. } = &self.planner.settings;
        if selection.caps.time.seconds.is_none() {
            return most;
        }
        let (known, within) = (&self.crawled.known, self.crawled.all_but(taken));
        let may = |id: &UrlId| within.get(id.index()).is_none_or(|may| *may);
        let frontier = known.urls.ids().filter(|id| known.pages.in_frontier(*id));
        let frontier: Vec<UrlId> = frontier.filter(may).collect();
        selection.caps.most_urls(&frontier, &known.urls, queues, &[]).clamp(1, most)
    }
}

impl CrawlPolicy for Planned<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            self.crawled.id(page);
        }
        self.waiting += pages.len();
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let most = self.take_seeds(most, batch);
        if most > 0 && self.waiting > 0 {
            let mut picks = self.plan(most, batch, true)?;
            self.waiting -= picks.len();
            batch.append(&mut picks);
        }
        Ok(())
    }

    fn replay(&mut self, most: usize, batch: &[Page]) -> Result<(), PolicyError> {
        let mut again = Vec::new();
        let most = self.take_seeds(most, &mut again);
        if !batch.starts_with(&again) {
            return Err(PolicyError::Replay);
        }
        if most > 0 && self.waiting > 0 {
            let learns = self.planner.settings.estimate.learns_from_picks();
            let picks = self.plan(most, &again, learns)?;
            if learns && picks != batch[again.len()..] {
                return Err(PolicyError::Replay);
            }
            self.waiting -= batch.len() - again.len();
        }
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.batch.push((fetched.page, fetched.failed));
        self.waiting += fetched.new.len();
    }

    fn batch_done(&mut self) -> Result<(), PolicyError> {
        self.crawled.take_in_batch(&std::mem::take(&mut self.batch), self.planner.is_open());
        Ok(())
    }
}
