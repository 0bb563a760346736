//! Open plans: what became of their URLs so far, which of them are in flight, and when a plan is over.
//!
//! A URL is in flight while a plan that lists it is open and no record of it came since that plan was made. A plan
//! is over when none of its URLs is in flight any longer, or when it has had no record for as long as it was said
//! to be in flight: what is in flight then is unknown, and not failed. Where two open plans list a URL, which
//! takes a failed fetch between them, its records belong to the newer one from the making of that on.

use std::collections::HashSet;
use std::ops::Range;

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
        let mut batches: Vec<Self> = Vec::new();
        let mut newer: Vec<(u32, HashSet<UrlId>)> = Vec::new();
        for plan in store.manifest().plans.iter().rev() {
            let picks = records::picks(store, &plan.id)?;
            let state = |pick: &PlannedPick| {
                let lists = newer.iter().rev().find(|(_, urls)| urls.contains(&pick.url));
                let end = lists.map_or(u32::MAX, |(start, _)| *start);
                state_between(&known.pages, pick.url, plan.first_seq..end)
            };
            let states = picks.iter().map(state).collect();
            newer.push((plan.first_seq, picks.iter().map(|pick| pick.url).collect()));
            batches.push(Self { plan: plan.clone(), picks, states });
        }
        batches.reverse();
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
                let (mut then, mut now) = (None, None);
                for_each_fetch_time(store.storage(), manifest, |seq, time| {
                    let time = fetch_time::seconds(time);
                    now = now.max(time);
                    if seq < self.plan.first_seq || last.is_some_and(|last| seq <= last) {
                        then = then.max(time);
                    }
                })?;
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

/// What the records of a run of `fetch_seq` say of a planned URL.
fn state_between(pages: &PageTable, url: UrlId, records: Range<u32>) -> PickState {
    let state = PickState::of(pages, url, records.start);
    if pages.fetch(url).seq().is_none_or(|seq| seq < records.end) {
        return state;
    }
    // Only what failed is planned a second time while the first plan is open.
    let failed =
        pages.failures().iter().any(|failure| failure.url == url && records.contains(&failure.seq));
    if failed { PickState::Failed } else { PickState::Unknown }
}
