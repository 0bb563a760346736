//! Open plans: what became of their URLs so far, which of them are in flight, and when a plan is over.
//!
//! A URL is in flight while a plan that lists it is open and no record of it came since that plan was made. A plan
//! is over when none of its URLs is in flight any longer, or when it has had no record for as long as it was said
//! to be in flight: what is in flight then is unknown, and not failed. Where two plans list a URL, which
//! takes a failed fetch between them, its records belong to the newer one from the making of that on, and they do so
//! when that is closed, too.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use prospect_index::error::StoreError;
use prospect_index::fetch_time;
use prospect_index::manifest::{InFlightFor, Manifest, StoredPlan};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, PageTable, for_each_fetch};
use prospect_index::store::Store;
use prospect_index::visits::visits;

use super::{CampaignError, records};
use crate::plan::explore::Pool;
use crate::planner::cycle::{PickState, PlannedPick};
use crate::planner::outcome::{OpenCounts, PickCounts};

/// An open plan, and what became of its URLs so far.
pub(crate) struct OpenBatch {
    /// The plan as it is stored.
    pub(crate) plan: StoredPlan,
    /// Its batch.
    pub(crate) picks: Vec<PlannedPick>,
    /// By pick.
    pub(crate) states: Vec<PickState>,
    /// The last record of a URL of it.
    last: Option<u32>,
}

/// What was answered for some URLs, in the order of the records.
struct Answers {
    by_url: HashMap<UrlId, Vec<(u32, PickState)>>,
}

impl Answers {
    fn of(urls: HashSet<UrlId>, store: &Store, known: &Known) -> Result<Self, CampaignError> {
        let mut by_url: HashMap<UrlId, Vec<(u32, PickState)>> = HashMap::new();
        if urls.is_empty() {
            return Ok(Self { by_url });
        }
        let came = visits(store, known)?.into_iter().map(|visit| {
            // Where nothing is known of the version before, another text is as likely as not; it was stored anew.
            let is_same = visit.changed == Some(false);
            let state = if is_same { PickState::Unchanged } else { PickState::Changed };
            (visit.url, visit.seq, state)
        });
        let failed = known.pages.failures().iter();
        let failed = failed.map(|failure| (failure.url, failure.seq, PickState::Failed));
        let moved = known.pages.redirects().iter();
        let moved = moved.map(|&(seq, url)| (url, seq, PickState::of_redirect(&known.pages, seq)));
        for (url, seq, state) in came.chain(failed).chain(moved) {
            if urls.contains(&url) {
                by_url.entry(url).or_default().push((seq, state));
            }
        }
        for answers in by_url.values_mut() {
            answers.sort_unstable_by_key(|(seq, _)| *seq);
        }
        Ok(Self {
            by_url: urls
                .into_iter()
                .map(|url| (url, by_url.remove(&url).unwrap_or_default()))
                .collect(),
        })
    }
}

impl Answers {
    /// What became of a pick of a plan that was made when the next record was the first of these, and by which record; where
    /// the URL is of several plans, those before the next of them are this one's.
    fn state(
        &self,
        pick: &PlannedPick,
        pages: &PageTable,
        of_plan: Range<u32>,
    ) -> (PickState, Option<u32>) {
        let Some(answers) = self.by_url.get(&pick.url) else {
            return (PickState::of(pages, pick.url, of_plan.start), pages.fetch(pick.url).seq());
        };
        let own = answers.iter().filter(|(seq, _)| of_plan.contains(seq));
        let last = own.clone().map(|(seq, _)| *seq).max();
        let came = |state: &&PickState| !matches!(state, PickState::Failed | PickState::Redirected);
        let states = own.map(|(_, state)| state);
        let found = states.clone().rfind(came).or_else(|| states.clone().next_back());
        let state = match found.copied() {
            // For a new URL its page is what was asked for, whatever a plan after this one says.
            Some(PickState::Changed | PickState::Unchanged) if pick.pool != Pool::Revisit => {
                PickState::Fetched
            }
            // The page that it led to is not another one than it had.
            Some(PickState::LedToNew) if pick.pool == Pool::Revisit => PickState::Redirected,
            found => found.unwrap_or(PickState::Unknown),
        };
        (state, last)
    }
}

/// Open plans but the one that was made last.
pub(crate) fn older_plans(manifest: &Manifest) -> &[StoredPlan] {
    manifest.plans.split_last().map_or(&[], |(_, older)| older)
}

impl OpenBatch {
    /// All open plans of a store, in the order of their making.
    ///
    /// # Errors
    /// A segment is damaged, or holds what this version does not know.
    pub(crate) fn all(store: &Store, known: &Known) -> Result<Vec<Self>, CampaignError> {
        let manifest = store.manifest();
        let Some(oldest) = manifest.plans.first() else { return Ok(Vec::new()) };
        // By URL: when plans were made that list it.
        let mut made: HashMap<UrlId, Vec<u32>> = HashMap::new();
        let closed = manifest.closed_plans.iter().map(|plan| (plan.id.as_str(), plan.first_seq));
        let closed: Vec<(&str, u32)> =
            closed.filter(|(_, first_seq)| *first_seq > oldest.first_seq).collect();
        let ids: Vec<&str> = closed.iter().map(|(id, _)| *id).collect();
        records::for_each_planned(store, &ids, |plan, url| {
            made.entry(url).or_default().push(closed[plan].1);
        })?;
        let mut batches: Vec<Self> = Vec::with_capacity(manifest.plans.len());
        for plan in &manifest.plans {
            let picks = records::picks(store, &plan.id)?;
            for pick in &picks {
                made.entry(pick.url).or_default().push(plan.first_seq);
            }
            batches.push(Self { plan: plan.clone(), picks, states: Vec::new(), last: None });
        }
        // What failed, and what was fetched to be fetched again, may be of several plans.
        let again = batches.iter().flat_map(|batch| &batch.picks);
        let again = again.filter(|pick| pick.pool == Pool::Revisit || made[&pick.url].len() > 1);
        let answers = Answers::of(again.map(|pick| pick.url).collect(), store, known)?;
        for batch in &mut batches {
            let start = batch.plan.first_seq;
            let states = batch.picks.iter().map(|pick| {
                let others = made[&pick.url].iter().copied();
                let later = others.filter(|made| *made > start).min().unwrap_or(u32::MAX);
                answers.state(pick, &known.pages, start..later)
            });
            let (states, last): (Vec<PickState>, Vec<Option<u32>>) = states.unzip();
            batch.states = states;
            let last = last.into_iter().max().flatten();
            batch.last = last.filter(|last| *last >= start);
        }
        Ok(batches)
    }

    /// Those of all open plans that are to be closed, in the order of their making.
    ///
    /// # Errors
    /// See [`OpenBatch::all`].
    pub(crate) fn over(store: &Store, known: &Known) -> Result<Vec<Self>, CampaignError> {
        let (manifest, mut batches) = (store.manifest(), Self::all(store, known)?);
        let by_time = batches.iter().find(|batch| {
            matches!(batch.plan.in_flight_for, InFlightFor::Seconds(_))
                && batch.in_flight().next().is_some()
        });
        let times = match by_time {
            Some(oldest) => FetchTimes::read(store, oldest.plan.first_seq)?,
            None => FetchTimes::default(),
        };
        batches.retain(|batch| batch.is_over(manifest, &times));
        Ok(batches)
    }

    /// What became of its URLs, counted.
    pub(crate) fn counts(&self) -> OpenCounts {
        self.states.iter().copied().collect::<PickCounts>().into()
    }

    /// URLs that nobody reported.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.in_flight_ranked().map(|(_, pick)| pick.url)
    }

    /// Picks that nobody reported, each with its place in the batch, from 1.
    pub(crate) fn in_flight_ranked(&self) -> impl Iterator<Item = (usize, &PlannedPick)> {
        let picks = (1..).zip(&self.picks).zip(&self.states);
        picks.filter(|(_, state)| **state == PickState::Unknown).map(|(pick, _)| pick)
    }

    /// Whether it is to be closed.
    fn is_over(&self, manifest: &Manifest, times: &FetchTimes) -> bool {
        if self.in_flight().next().is_none() {
            return true;
        }
        let last = self.last_record(manifest);
        let since = last.map_or(self.plan.first_seq, |last| last + 1);
        match self.plan.in_flight_for {
            InFlightFor::Ingests(most) => {
                let ingests = manifest.ingests.iter().rev();
                ingests.take_while(|ingest| ingest.first_seq >= since).count() >= most as usize
            }
            InFlightFor::Seconds(most) => {
                times.passed_since(since).is_some_and(|passed| passed >= most as i64)
            }
        }
    }

    /// The last record of a URL of it, or the last of an ingest that names it.
    fn last_record(&self, manifest: &Manifest) -> Option<u32> {
        let naming = manifest.ingests.iter().filter(|ingest| ingest.plans.contains(&self.plan.id));
        let last = self.last.into_iter().chain(naming.map(|ingest| ingest.end_seq - 1)).max();
        last.filter(|last| *last >= self.plan.first_seq)
    }
}

/// When records were fetched that say so.
#[derive(Default)]
struct FetchTimes {
    /// The latest of the records before those that are told one by one.
    before: Option<i64>,
    /// By record, ascending: seconds, and the latest up to there.
    times: Vec<(u32, i64, i64)>,
}

impl FetchTimes {
    /// Of the records of a store, one by one from `from_seq` on.
    fn read(store: &Store, from_seq: u32) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for_each_fetch(store.storage(), store.manifest(), |seq, _, time| {
            let Some(time) = fetch_time::seconds(time) else { return };
            let latest = found.latest().map_or(time, |latest| time.max(latest));
            if seq < from_seq {
                found.before = Some(latest);
            } else {
                found.times.push((seq, time, latest));
            }
        })?;
        Ok(found)
    }

    fn latest(&self) -> Option<i64> {
        self.times.last().map(|(_, _, latest)| *latest).or(self.before)
    }

    /// Seconds from the latest fetch before a record, of those that are told one by one or the first behind them, to the latest
    /// of all; where no record before it has a time, from the first after that.
    fn passed_since(&self, seq: u32) -> Option<i64> {
        let at = self.times.partition_point(|(other, ..)| *other < seq);
        let before = at.checked_sub(1).map(|at| self.times[at].2).or(self.before);
        let then = before.or(self.times.get(at).map(|(_, time, _)| *time))?;
        Some(self.latest()?.saturating_sub(then))
    }
}
