//! Open plans: what became of their URLs so far, which of them are in flight, and when a plan is over.
//!
//! A URL is in flight while a plan that lists it is open and no record of it came since that plan was made. A plan
//! is over when none of its URLs is in flight any longer, or when it has had no record for as long as it was said
//! to be in flight: what is in flight then is unknown, and not failed. Where two plans list a URL, which
//! takes a failed fetch between them, its records belong to the newer one from the making of that on, and they do so
//! when that is closed, too.

use std::collections::HashMap;

use prospect_index::fetch_time;
use prospect_index::manifest::{InFlightFor, Manifest, StoredPlan};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, PageTable, for_each_fetch_time};
use prospect_index::store::Store;

use super::{CampaignError, records};
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
        let closed = manifest.closed_plans.iter().map(|plan| (&plan.id, plan.first_seq));
        for (id, first_seq) in closed.filter(|(_, first_seq)| *first_seq > oldest.first_seq) {
            for pick in records::picks(store, id)? {
                made.entry(pick.url).or_default().push(first_seq);
            }
        }
        let mut batches: Vec<Self> = Vec::with_capacity(manifest.plans.len());
        for plan in &manifest.plans {
            let picks = records::picks(store, &plan.id)?;
            for pick in &picks {
                made.entry(pick.url).or_default().push(plan.first_seq);
            }
            batches.push(Self { plan: plan.clone(), picks, states: Vec::new() });
        }
        // Only what failed is planned a second time while the first plan is open.
        let again = |url: &UrlId| made.get(url).is_some_and(|made| made.len() > 1);
        let mut failed: HashMap<UrlId, Vec<u32>> = HashMap::new();
        for failure in known.pages.failures().iter().filter(|failure| again(&failure.url)) {
            failed.entry(failure.url).or_default().push(failure.seq);
        }
        for batch in &mut batches {
            let start = batch.plan.first_seq;
            let state = |pick: &PlannedPick| {
                let later = made[&pick.url].iter().filter(|made| **made > start).min();
                let end = later.copied().unwrap_or(u32::MAX);
                if known.pages.fetch(pick.url).seq().is_none_or(|seq| seq < end) {
                    return PickState::of(&known.pages, pick.url, start);
                }
                let mut failed = failed.get(&pick.url).into_iter().flatten();
                let has_failed = failed.any(|seq| (start..end).contains(seq));
                if has_failed { PickState::Failed } else { PickState::Unknown }
            };
            batch.states = batch.picks.iter().map(state).collect();
        }
        Ok(batches)
    }

    /// What became of its URLs, counted.
    pub(crate) fn counts(&self) -> OpenCounts {
        self.states.iter().copied().collect::<PickCounts>().into()
    }

    /// URLs that nobody reported.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = UrlId> + '_ {
        let unknown = |(_, state): &(_, &PickState)| **state == PickState::Unknown;
        self.picks.iter().zip(&self.states).filter(unknown).map(|(pick, _)| pick.url)
    }

    /// Whether it is to be closed.
    ///
    /// # Errors
    /// A segment is damaged.
    pub(crate) fn is_over(&self, store: &Store, known: &Known) -> Result<bool, CampaignError> {
        if self.in_flight().next().is_none() {
            return Ok(true);
        }
        let manifest = store.manifest();
        let last = self.last_record(manifest, &known.pages);
        Ok(match self.plan.in_flight_for {
            InFlightFor::Ingests(most) => {
                let since = last.map_or(self.plan.first_seq, |last| last + 1);
                let ingests = manifest.ingests.iter().rev();
                ingests.take_while(|ingest| ingest.first_seq >= since).count() >= most as usize
            }
            InFlightFor::Seconds(most) => {
                let (mut then, mut first, mut now) = (None, None, None);
                for_each_fetch_time(store.storage(), manifest, |seq, time| {
                    let time = fetch_time::seconds(time);
                    now = now.max(time);
                    if seq < self.plan.first_seq || last.is_some_and(|last| seq <= last) {
                        then = then.max(time);
                    } else {
                        first = first.or(time);
                    }
                })?;
                // Where no record before it has a time, the first one after it stands for its making.
                let then = then.or(first);
                now.zip(then).is_some_and(|(now, then)| now.saturating_sub(then) >= most as i64)
            }
        })
    }

    /// The last record of a URL of it, or the last of an ingest that names it.
    fn last_record(&self, manifest: &Manifest, pages: &PageTable) -> Option<u32> {
        let of_urls = self.picks.iter().filter_map(|pick| pages.fetch(pick.url).seq());
        let naming = manifest.ingests.iter().filter(|ingest| ingest.plans.contains(&self.plan.id));
        let last = of_urls.chain(naming.map(|ingest| ingest.end_seq - 1)).max();
        last.filter(|last| *last >= self.plan.first_seq)
    }
}
