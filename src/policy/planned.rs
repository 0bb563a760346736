//! Policies that plan each batch as `prospect plan` does: the same planner, over tables in memory.

use prospect_index::bm25::Scorer;

use super::hidden_web::{Crawled, SeenStrings, Web};
use super::lack::RunningLack;
use super::polite_seeds::take_seeds;
use super::queue::SeedQueue;
use super::{CrawlPolicy, Fetched, Page, PolicyError, Quality};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::planner::PlannerError;
use crate::planner::choose::Choice;
use crate::planner::cycle::OpenPlan;
use crate::planner::room::in_time;
use crate::planner::running::RunningPlanner;
use crate::planner::settings::{Demand, PlanSettings};

/// A policy that plans.
pub(crate) struct Planned<'a> {
    pub(super) crawled: Crawled<'a>,
    pub(super) planner: RunningPlanner<'a>,
    strings: SeenStrings<'a>,
    /// What queries lack, once that counts.
    lack: Option<RunningLack<'a>>,
    seeds: SeedQueue,
    /// Pages in the frontier that are no seed.
    waiting: usize,
}

impl<'a> Planned<'a> {
    /// A planner that knows nothing yet.
    pub(crate) fn new(
        web: &'a Web<'a>,
        quality: Option<Quality<'a>>,
        settings: PlanSettings,
    ) -> Self {
        Self {
            crawled: Crawled::new(web, quality),
            planner: RunningPlanner::new(web.workload, web.trainers, settings, web.forward.clone()),
            strings: SeenStrings::new(web),
            lack: None,
            seeds: SeedQueue::default(),
            waiting: 0,
        }
    }

    /// Takes in what the last batch brought, and does something with the scores of now.
    pub(super) fn caught_up<T>(
        &mut self,
        act: impl FnOnce(&mut Self, &Scorer<'_>) -> Result<T, PlannerError>,
    ) -> Result<T, PlannerError> {
        let text = self.crawled.web.text.with_docs(self.crawled.docs.clone());
        let Crawled { known, manifest, .. } = &mut self.crawled;
        let (epoch, scorer) = self.planner.catch_up(known, manifest, &text)?;
        if epoch != manifest.epoch {
            manifest.epoch = epoch;
            self.strings.forget_epoch();
        }
        if self.planner.settings.demand == Demand::Lack {
            let lack = self.lack.get_or_insert_with(|| RunningLack::new(self.crawled.web));
            self.planner.lack = lack.now(&self.crawled, &text, self.planner.settings.bm25)?;
        }
        act(self, &scorer)
    }

    /// Chooses a batch by these settings from the URLs `within`; empty for all.
    pub(super) fn choose(
        &mut self,
        scorer: &Scorer<'_>,
        settings: &PlanSettings,
        within: &[bool],
        whole_ranking: bool,
    ) -> Result<(ScoredPairs, Choice), PlannerError> {
        self.strings.update(&self.crawled);
        let matches = self.strings.matches(&self.crawled);
        let tables = self.strings.tables(&self.crawled, &matches, within);
        self.planner.choose(&tables, scorer, settings, whole_ranking)
    }

    /// Takes seeds, and plans what there is room for beside them; without a `choice` the plan is open and has no pick.
    fn take(
        &mut self,
        most: usize,
        batch: &mut Vec<Page>,
        choice: bool,
    ) -> Result<(), PolicyError> {
        let settings = (&self.planner.settings, self.crawled.web.urls);
        let most = take_seeds(&mut self.seeds, most, settings, batch);
        if most == 0 || self.waiting == 0 {
            return Ok(());
        }
        let open = self.caught_up(|planned, scorer| {
            if !choice {
                return Ok(OpenPlan::default());
            }
            // A link may lead to seeds of the same batch, and they are fetched as seeds.
            let within = planned.crawled.all_but(batch);
            let settings = planned.planner.settings.clone();
            let settings = in_time(settings, most, &planned.crawled.known, &within);
            let (scored, chosen) = planned.choose(scorer, &settings, &within, false)?;
            Ok(planned.planner.promised(&scored, &chosen.batch.picks))
        })?;
        self.crawled.begin_planned_cycle();
        self.waiting -= open.picks.len();
        batch.extend(open.picks.iter().map(|pick| self.crawled.page(pick.url)));
        self.planner.open(open);
        Ok(())
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
        self.take(most, batch, true)
    }

    fn replay(&mut self, most: usize, batch: &[Page]) -> Result<(), PolicyError> {
        let (learns, mut again) = (self.planner.settings.estimate.learns_from_picks(), Vec::new());
        self.take(most, &mut again, learns)?;
        let others = batch.strip_prefix(&*again).filter(|others| !learns || others.is_empty());
        let left = others.and_then(|others| self.waiting.checked_sub(others.len()));
        self.waiting = left.ok_or(PolicyError::Replay)?;
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.crawled.report(fetched.page, fetched.failed);
        self.waiting += fetched.new.len();
    }

    fn expects_little(&self) -> bool {
        self.gain_is_little()
    }

    fn batch_done(&mut self) -> Result<(), PolicyError> {
        self.crawled.take_in_batch(self.planner.is_open());
        Ok(())
    }
}
