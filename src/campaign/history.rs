//! Closed cycles of a store: what became of each plan, what was expected of it, and what that teaches about the
//! next.

use prospect_index::error::StoreError;
use prospect_index::manifest::{SegmentEntry, SegmentKind};
use prospect_index::store::Store;
use serde::Serialize;

use super::open_plans::OpenBatch;
use super::records::{
    closed_pairs, each_outcome, each_row, has_stay_chance, pairs, pairs_beside, query_ids,
    workload, workload_before,
};
use super::settle::Settled;
use super::tables::STAYS;
use crate::estimate::models::entry;
use crate::planner::cycle::{OpenPlan, PickState, PlannedPair};
use crate::planner::expected_impact::{ListChances, RealisedShare};
use crate::planner::outcome::{PickCounts, SettledCycle};
use crate::results::impact::{Both, ExpectedImpact, Quantity};
use crate::sketch::visibility::Places;
use crate::workload::Workload;

/// Closed cycles that expectations are learned from: an older one would count for less than 2 %.
const CYCLES: usize = 12;

/// A closed cycle.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ClosedCycle {
    /// The plan.
    pub(crate) plan_id: String,
    /// What became of its URLs.
    #[serde(flatten)]
    pub(crate) counts: PickCounts,
    /// Pages fetched that were not planned.
    pub(crate) unplanned: usize,
    /// Impact of the fetched picks at the close.
    pub(crate) enters: Quantity,
    /// Impact that they had when the crawl had grown by a quarter.
    pub(crate) stays: Quantity,
    /// What chances said of them, as far as it is stored.
    #[serde(skip)]
    chances: Both<Option<ListChances>>,
    /// Whether those came from outcomes, and not from what is assumed before there are any.
    #[serde(skip)]
    are_fitted: Both<bool>,
    /// Place of the segment that says what they brought at the close, and of the one that says what stayed.
    #[serde(skip)]
    known_at: (usize, Option<usize>),
}

/// Whether the chances of a plan that knew these segments come from outcomes.
fn are_fitted(segments: &[SegmentEntry]) -> Both<bool> {
    let is_enough = |kind| {
        let of_kind = segments.iter().filter(|segment| segment.kind == kind);
        of_kind.map(|segment| segment.rows).sum::<u64>() as f64 >= entry::FEWEST
    };
    Both { enters: is_enough(SegmentKind::PairOutcomes), stays: is_enough(SegmentKind::Stays) }
}

/// What is expected of a batch that was planned when the next record was `start`, learned from the last closed
/// cycles. None where nothing was fetched yet: chances to be in lists of which there is no page say nothing.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn expected(
    store: &Store,
    chances: &Both<ListChances>,
    places: Places,
    start: u32,
) -> Result<Option<Both<ExpectedImpact>>, StoreError> {
    if start == 0 {
        return Ok(None);
    }
    let shares = shares(store, chances.enters.mean_frequency(), places)?;
    Ok(Some(Both {
        enters: shares.enters.expected(&chances.enters),
        stays: shares.stays.expected(&chances.stays),
    }))
}

/// What is expected of an open plan if all of it is fetched, learned from the cycles that are closed now. None where
/// nothing was fetched when it was made, or an older version made it.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn expected_of_open(
    store: &Store,
    batch: &OpenBatch,
    places: Places,
) -> Result<Option<Both<ExpectedImpact>>, StoreError> {
    let (id, mut unread) = (&batch.plan.id, Vec::new());
    let workload = workload(store, id)?;
    let pairs = pairs(store, id, &workload, &mut unread)?;
    if !unread.is_empty() {
        return Ok(None);
    }
    let plan = OpenPlan { picks: batch.picks.clone(), pairs, revisits: Vec::new() };
    let chances = plan.chances(&workload.queries, places);
    expected(store, &chances, places, batch.plan.first_seq)
}

/// Which share of what chances say is realised, learned from the last closed cycles, for a workload with this
/// mean frequency.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn shares(
    store: &Store,
    mean_frequency: f64,
    places: Places,
) -> Result<Both<RealisedShare>, StoreError> {
    let cycles = read(store, places, CYCLES)?;
    let segments = &store.manifest().segments;
    let (fitted, now) = (are_fitted(segments), segments.len());
    let enters = entered(&cycles, mean_frequency, fitted);
    let stays = stayed(&cycles, mean_frequency, fitted, now, enters.share());
    Ok(Both { enters, stays })
}

/// All closed cycles that can be read, the oldest first, each with what its plan expected.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn closed_cycles(store: &Store, places: Places) -> Result<Vec<ClosedCycle>, StoreError> {
    last_cycles(store, places, usize::MAX)
}

/// The last `most` of them; of the first [`CYCLES`], what was expected is learned from fewer than it was.
fn last_cycles(store: &Store, places: Places, most: usize) -> Result<Vec<ClosedCycle>, StoreError> {
    let mut cycles = read(store, places, most)?;
    for at in 0..cycles.len() {
        let before = &cycles[at.saturating_sub(CYCLES)..at];
        let ClosedCycle { chances: Both { enters, stays }, are_fitted, known_at, .. } = &cycles[at];
        let Some(enters) = enters else { continue };
        let share = entered(before, enters.mean_frequency(), *are_fitted);
        let of_stays = stays.as_ref().map(|said| {
            let frequency = said.mean_frequency();
            stayed(before, frequency, *are_fitted, known_at.0, share.share()).expected(said)
        });
        let of_enters = Some(share.expected(enters));
        (cycles[at].enters.expected, cycles[at].stays.expected) = (of_enters, of_stays);
    }
    Ok(cycles)
}

/// What was expected to stay of these cycles, and what did.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(super) fn settled(
    store: &Store,
    settled: &[Settled],
    places: Places,
) -> Result<Vec<SettledCycle>, StoreError> {
    if settled.is_empty() {
        return Ok(Vec::new());
    }
    let count = |kind| store.manifest().segments_of(kind).count();
    let known_before = count(SegmentKind::Stays) - settled.len();
    let most = count(SegmentKind::Outcomes) - known_before + CYCLES;
    let mut cycles = last_cycles(store, places, most)?;
    cycles.retain(|cycle| settled.iter().any(|settled| settled.plan_id == cycle.plan_id));
    let told = |cycle: ClosedCycle| SettledCycle { plan_id: cycle.plan_id, stays: cycle.stays };
    Ok(cycles.into_iter().map(told).collect())
}

/// The share of chances to enter that is realised, learned from these cycles: those whose chances came from where
/// these do, for what is assumed before the first outcome is off by another factor than what outcomes say.
fn entered(cycles: &[ClosedCycle], mean_frequency: f64, fitted: Both<bool>) -> RealisedShare {
    let alike = cycles.iter().filter(|cycle| cycle.are_fitted.enters == fitted.enters);
    let known = alike.filter_map(|cycle| {
        Some((cycle.chances.enters.as_ref()?, cycle.enters.realised.unwrap_or(0.0)))
    });
    RealisedShare::learned(known, mean_frequency, 1.0)
}

/// The same of chances to stay, learned from what was known of these cycles before the segment at this place.
/// It starts from the share of chances to enter: who enters lists unforeseen stays in them as well.
fn stayed(
    cycles: &[ClosedCycle],
    mean_frequency: f64,
    fitted: Both<bool>,
    before: usize,
    start: f64,
) -> RealisedShare {
    let alike = cycles.iter().filter(|cycle| cycle.are_fitted.stays == fitted.stays);
    let settled = alike.filter(|cycle| cycle.known_at.1.is_some_and(|place| place < before));
    let known =
        settled.filter_map(|cycle| Some((cycle.chances.stays.as_ref()?, cycle.stays.realised?)));
    RealisedShare::learned(known, mean_frequency, start)
}

/// The last `most` closed cycles. A cycle whose outcomes an older version wrote without what is asked for here is
/// left out.
fn read(store: &Store, places: Places, most: usize) -> Result<Vec<ClosedCycle>, StoreError> {
    let segments = &store.manifest().segments;
    let of = |kind: SegmentKind| {
        let all = segments.iter().enumerate().filter(move |(_, segment)| segment.kind == kind);
        all.map(|(at, _)| at).collect::<Vec<usize>>()
    };
    // What stayed is told of the closed cycles in their order.
    let (outcomes, stays) = (of(SegmentKind::Outcomes), of(SegmentKind::Stays));
    let mut cycles = Vec::new();
    let first = outcomes.len().saturating_sub(most);
    for (number, &at) in outcomes.iter().enumerate().skip(first) {
        let Some(mut cycle) = counted(store, &segments[at])? else { continue };
        cycle.known_at = (at, stays.get(number).copied());
        if let Some(place) = cycle.known_at.1 {
            cycle.stays.realised = Some(what_stayed(store, &segments[place])?);
        }
        cycle.are_fitted = are_fitted(&segments[..at]);
        let had_pages = store.manifest().made_at(&cycle.plan_id) != Some(0);
        if let Some(pairs) = pairs_beside(store.manifest(), at).filter(|_| had_pages) {
            cycle.chances = chances(store, at, pairs, &cycle, places)?;
        }
        cycles.push(cycle);
    }
    Ok(cycles)
}

/// What became of the picks of a cycle.
fn counted(store: &Store, segment: &SegmentEntry) -> Result<Option<ClosedCycle>, StoreError> {
    let mut cycle = ClosedCycle::default();
    let mut realised = 0.0;
    let names = ["plan_id", "planned", "state", "realised_impact"];
    let missing = each_outcome(store, segment, &names, |row| {
        row.text(0).clone_into(&mut cycle.plan_id);
        if row.id(1) == 0 {
            cycle.unplanned += 1;
            return Ok(());
        }
        let state = row.state(2)?;
        cycle.counts.add(state);
        if state == PickState::Fetched {
            realised += row.number(3);
        }
        Ok(())
    })?;
    cycle.enters.realised = Some(realised);
    Ok(missing.is_none().then_some(cycle))
}

/// Impact that stayed of a cycle.
fn what_stayed(store: &Store, segment: &SegmentEntry) -> Result<f64, StoreError> {
    let mut impact = 0.0;
    each_row(store, segment, STAYS, &["impact"], |row| {
        impact += row.number(0);
        Ok(())
    })?;
    Ok(impact)
}

/// What chances said of the fetched picks of a cycle whose outcomes are `at` this place; nothing if its
/// workload is not there.
fn chances(
    store: &Store,
    at: usize,
    pairs: &SegmentEntry,
    cycle: &ClosedCycle,
    places: Places,
) -> Result<Both<Option<ListChances>>, StoreError> {
    let Some(Workload { queries }) = workload_before(store, at, &cycle.plan_id)? else {
        return Ok(Both::default());
    };
    let planned = closed_pairs(store, pairs, &query_ids(&queries))?;
    let new = cycle.counts.fetched - cycle.counts.again;
    let said = PlannedPair::chances(&planned.iter(), new, &queries, places);
    let stays = has_stay_chance(pairs).then_some(said.stays);
    Ok(Both { enters: Some(said.enters), stays })
}
