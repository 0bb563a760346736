//! Closed cycles of a store: what became of each plan, what was expected of it, and what that teaches about the
//! next.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use prospect_index::error::StoreError;
use prospect_index::manifest::{SegmentEntry, SegmentKind, StoredPlan};
use prospect_index::page_store::PageTable;
use prospect_index::store::Store;
use serde::{Deserialize, Serialize};

use super::open_plans::OpenBatch;
use super::plan_course::{closed_at, made_at};
use super::records::{
    closed_pairs, closed_plan, each_outcome, each_row, lists_before, pairs, pairs_beside,
    places_of, query_ids,
};
use super::settle::Settled;
use super::tables::STAYS;
use crate::estimate::models::entry;
use crate::planner::cycle::{OpenPlan, PlannedPair, pages_at, pages_by_record};
use crate::planner::expected_impact::{BatchSize, CycleImpact, ListChances, Lists, RealisedShares};
use crate::planner::outcome::{PickCounts, SettledCycle};
use crate::results::impact::{Both, ExpectedImpact, LedTo, Quantity};
use crate::sketch::visibility::Places;

/// Closed cycles that expectations are learned from: an older one would count for less than 2 %.
const CYCLES: usize = 12;

/// What chances said of the fetched picks of a cycle, and the impact at the close in lists that they were candidates of.
type Foretold = Option<Arc<(ListChances, f64)>>;

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
    /// Impact of what they had led to by then; none while that is not known, or where nothing was expected of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) led_to: Option<LedTo>,
    /// What chances said of them, if it is stored, and the impact at the close in lists that they were candidates of.
    #[serde(skip)]
    said: Foretold,
    /// Whether the chances came from outcomes, and not from what is assumed before there are any.
    #[serde(skip)]
    are_learned: bool,
    /// The places of the lists that its figures are in.
    #[serde(skip)]
    places: Option<Places>,
    /// Place of the segment that says what stayed.
    #[serde(skip)]
    stayed_at: Option<usize>,
    /// When its plan was made, and closed, as the `fetch_seq` of the next record; none where the first is not known.
    #[serde(skip)]
    made_at: Option<u32>,
    #[serde(skip)]
    closed_at: u32,
    /// Place of the segment that says what became of it.
    #[serde(skip)]
    place: usize,
}

/// Calls of [`read`] after which a cycle that none of them asked for is forgotten: a round of a stream has a few.
const KEPT_FOR: u64 = 8;

/// Closed cycles as their files tell them, for who reads them again and again: that stays the same once a plan is closed.
#[derive(Default)]
pub(crate) struct ReadCycles {
    /// By number, which is for ever, where rows of small files go together into another; with the call that asked last.
    cycles: HashMap<usize, (ReadCycle, u64)>,
    calls: u64,
}

/// What was read of a cycle.
struct ReadCycle {
    /// Plan and counts; none where this version cannot read them.
    counted: Option<ClosedCycle>,
    /// Pages at its close, and what chances said of it then.
    said: Option<(usize, Foretold)>,
    /// Impact that stayed; none while that is not known.
    stayed: Option<f64>,
}

impl ReadCycles {
    /// Forgets what was not asked for in the last calls.
    fn next_call(&mut self) {
        self.calls += 1;
        let calls = self.calls;
        self.cycles.retain(|_, (_, asked)| *asked + KEPT_FOR >= calls);
    }

    /// A cycle, with its outcomes.
    fn of(
        &mut self,
        number: usize,
        store: &Store,
        outcomes: &SegmentEntry,
    ) -> Result<&mut ReadCycle, StoreError> {
        let (read, asked) = match self.cycles.entry(number) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(place) => place.insert((
                ReadCycle { counted: counted(store, outcomes)?, said: None, stayed: None },
                0,
            )),
        };
        *asked = self.calls;
        Ok(read)
    }
}

/// What a plan could learn from: of the cycles that are closed beside those that had been closed when it was made, as plans
/// in flight are, nothing.
#[derive(Clone, Copy)]
struct KnownBefore<'a> {
    /// Cycles, [`CYCLES`] at most.
    cycles: &'a [ClosedCycle],
    /// How many of the first segments.
    segments: usize,
}

impl<'a> KnownBefore<'a> {
    /// Of `cycles`, the oldest first, what was known when a plan was made at `made`: everything where that is not known. There
    /// were so many `segments` after the last of them.
    fn of(cycles: &'a [ClosedCycle], made: Option<u32>, segments: usize) -> Self {
        let was_closed = |cycle: &ClosedCycle| made.is_none_or(|made| cycle.closed_at <= made);
        let known = cycles.partition_point(was_closed);
        let segments = cycles.get(known).map_or(segments, |cycle| cycle.place);
        Self { cycles: &cycles[known.saturating_sub(CYCLES)..known], segments }
    }
}

impl ClosedCycle {
    /// How often the queries of its plan were asked together; none where that is not stored.
    pub(crate) fn askings(&self) -> Option<f64> {
        self.said.as_ref().map(|said| said.0.askings())
    }

    /// Whether its figures are in the unit of these places.
    pub(crate) fn is_for(&self, places: Places) -> bool {
        self.places == Some(places)
    }
}

/// Whether the chances of a plan that knew these segments come from outcomes, where it does not say: that is so where there
/// are enough of them that count still.
fn are_learned(segments: &[SegmentEntry]) -> bool {
    let pairs = segments.iter().filter(|segment| segment.kind == SegmentKind::PairOutcomes);
    pairs.map(|segment| segment.rows).sum::<u64>() as f64 >= entry::FEWEST
}

/// What is expected of the batch of an open plan, learned from the cycles that were closed when it was made. None where
/// nothing was fetched yet: chances to be in lists of which there is no page say nothing.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn expected(
    store: &Store,
    pages: &PageTable,
    chances: &ListChances,
    places: Places,
    plan: &StoredPlan,
    kept: &mut ReadCycles,
) -> Result<Option<Both<ExpectedImpact>>, StoreError> {
    let (made, manifest) = (plan.first_seq, store.manifest());
    if made == 0 {
        return Ok(None);
    }
    let since = manifest.closed_plans.iter().filter(|closed| closed.end_seq > made).count();
    let cycles = read(store, pages, places, last(store, CYCLES + since), kept)?;
    let segments = &manifest.segments;
    let before = KnownBefore::of(&cycles, Some(made), segments.len());
    let learned_so = plan.chances_learned;
    let learned_so = learned_so.unwrap_or_else(|| are_learned(&segments[..before.segments]));
    let shares = learned(before, chances.mean_frequency(), learned_so, places);
    Ok(Some(shares.expected(chances)))
}

/// What is expected of an open plan if all of it is fetched, learned from the cycles that were closed when it was made. None
/// where nothing was fetched then, or an older version made it.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn expected_of_open(
    store: &Store,
    pages: &PageTable,
    batch: &OpenBatch,
    places: Places,
) -> Result<Option<Both<ExpectedImpact>>, StoreError> {
    let (id, mut unread) = (&batch.plan.id, Vec::new());
    let all = store.manifest().segments.len();
    let Some((queries, taken)) = lists_before(store, all, id, places.k)? else {
        return Ok(None);
    };
    let pairs = pairs(store, id, &queries, &mut unread)?;
    if !unread.is_empty() {
        return Ok(None);
    }
    let plan = OpenPlan { picks: batch.picks.clone(), pairs, revisits: Vec::new() };
    let lists = Lists { queries: &queries, taken: &taken, places };
    let chances = plan.chances(pages_at(pages, batch.plan.first_seq), lists);
    expected(store, pages, &chances, places, &batch.plan, &mut ReadCycles::default())
}

/// Which shares of what is said of a batch that is planned now are realised, learned from the last closed cycles, for a
/// workload with this mean frequency and chances that are learned or not.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn shares(
    store: &Store,
    pages: &PageTable,
    mean_frequency: f64,
    places: Places,
    are_learned: bool,
    kept: &mut ReadCycles,
) -> Result<RealisedShares, StoreError> {
    let cycles = read(store, pages, places, last(store, CYCLES), kept)?;
    let now = KnownBefore::of(&cycles, None, store.manifest().segments.len());
    Ok(learned(now, mean_frequency, are_learned, places))
}

/// All closed cycles that can be read, the oldest first, each with what its plan expected: in the places of its lists,
/// and in `places` where a version before this one does not tell them.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn closed_cycles(
    store: &Store,
    pages: &PageTable,
    places: Places,
) -> Result<Vec<ClosedCycle>, StoreError> {
    some_cycles(store, pages, places, last(store, usize::MAX), &mut ReadCycles::default())
}

/// Some of them, by number; of the first [`CYCLES`], what was expected is learned from fewer than it was.
fn some_cycles(
    store: &Store,
    pages: &PageTable,
    places: Places,
    numbers: Range<usize>,
    kept: &mut ReadCycles,
) -> Result<Vec<ClosedCycle>, StoreError> {
    let mut cycles = read(store, pages, places, numbers, kept)?;
    // From the last on: cycles before it are learned from as they are stored, by the parts alone.
    for at in (0..cycles.len()).rev() {
        let ClosedCycle { said, are_learned, made_at, place, places, .. } = &cycles[at];
        let (Some(said), Some(places)) = (said, *places) else { continue };
        let before = KnownBefore::of(&cycles[..at], *made_at, *place);
        let shares = learned(before, said.0.mean_frequency(), *are_learned, places);
        let Both { enters, stays } = shares.expected(&said.0);
        let cycle = &mut cycles[at];
        (cycle.enters.expected, cycle.stays.expected) = (Some(enters), Some(stays));
        if let Some(led_to) = &mut cycle.led_to {
            led_to.predicted = shares.leads_to(led_to.predicted);
        }
    }
    Ok(cycles)
}

/// What was expected to stay of these cycles, and what did.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(super) fn settled(
    store: &Store,
    pages: &PageTable,
    settled: &[Settled],
    places: Places,
    kept: &mut ReadCycles,
) -> Result<Vec<SettledCycle>, StoreError> {
    if settled.is_empty() {
        return Ok(Vec::new());
    }
    // They are settled in the order in which they were closed; a stream has closed many more by then.
    let known = store.manifest().segments_of(SegmentKind::Stays).count();
    let numbers = (known - settled.len()).saturating_sub(CYCLES)..known;
    let mut cycles = some_cycles(store, pages, places, numbers, kept)?;
    cycles.retain(|cycle| settled.iter().any(|settled| settled.plan_id == cycle.plan_id));
    let told = |ClosedCycle { plan_id, stays, led_to, .. }| SettledCycle { plan_id, stays, led_to };
    Ok(cycles.into_iter().map(told).collect())
}

/// What closed cycles teach a plan that knew them, whose chances are learned or not, and whose lists have these places.
/// Figures for others are in another unit.
fn learned(
    known: KnownBefore<'_>,
    mean_frequency: f64,
    are_learned: bool,
    places: Places,
) -> RealisedShares {
    let alike = known.cycles.iter().filter(|cycle| cycle.is_for(places));
    let outcomes = alike.filter_map(|cycle| {
        let (chances, foreseen) = &**cycle.said.as_ref()?;
        // Where older versions do not tell the places, this tells that a list was longer.
        if cycle.enters.realised > Some(chances.ceiling()) {
            return None;
        }
        let is_settled = cycle.stayed_at.is_some_and(|place| place < known.segments);
        Some(CycleImpact {
            chances,
            same_source: cycle.are_learned == are_learned,
            foreseen: *foreseen,
            realised: cycle.enters.realised.unwrap_or(0.0),
            stayed: cycle.stays.realised.filter(|_| is_settled),
            led_to: cycle.led_to.filter(|_| is_settled),
        })
    });
    RealisedShares::learned(outcomes, mean_frequency)
}

/// Numbers of the last `most` closed cycles.
fn last(store: &Store, most: usize) -> Range<usize> {
    let all = store.manifest().segments_of(SegmentKind::Outcomes).count();
    all.saturating_sub(most)..all
}

/// Closed cycles by number. A cycle whose outcomes an older version wrote without what is asked for here is left out.
fn read(
    store: &Store,
    pages: &PageTable,
    places: Places,
    numbers: Range<usize>,
    kept: &mut ReadCycles,
) -> Result<Vec<ClosedCycle>, StoreError> {
    let segments = &store.manifest().segments;
    // What stayed is told of the closed cycles in their order.
    let outcomes = segments_of(segments, SegmentKind::Outcomes);
    let stays = segments_of(segments, SegmentKind::Stays);
    let pages = pages_by_record(pages, store.manifest().next_seq);
    let mut cycles: Vec<ClosedCycle> = Vec::new();
    kept.next_call();
    for number in numbers {
        let at = outcomes[number];
        let of_files = kept.of(number, store, &segments[at])?;
        let Some(mut cycle) = of_files.counted.clone() else { continue };
        cycle.stayed_at = stays.get(number).copied();
        let places = places_of(store.manifest(), &cycle.plan_id, places);
        cycle.places = Some(places);
        let closed = closed_plan(store.manifest(), &cycle.plan_id);
        cycle.led_to = closed.and_then(|closed| LedTo::deserialize(&closed.led_to).ok());
        if let Some(place) = cycle.stayed_at {
            if of_files.stayed.is_none() {
                of_files.stayed = Some(what_stayed(store, &segments[place])?);
            }
            cycle.stays.realised = of_files.stayed;
        }
        (cycle.made_at, cycle.place) = (made_at(store.manifest(), &cycle.plan_id), at);
        cycle.closed_at = closed_at(store.manifest(), &cycle.plan_id);
        let said_so = closed.and_then(|closed| closed.chances_learned);
        let known = KnownBefore::of(&cycles, cycle.made_at, at);
        cycle.are_learned = said_so.unwrap_or_else(|| are_learned(&segments[..known.segments]));
        let had_pages = cycle.made_at != Some(0);
        if let Some(pairs) = pairs_beside(store.manifest(), at).filter(|_| had_pages) {
            let pages = pages[cycle.closed_at as usize] as usize;
            if of_files.said.as_ref().is_none_or(|(of, _)| *of != pages) {
                let size = BatchSize::within(pages, cycle.counts.new_pages());
                let said = said(store, at, pairs, &cycle.plan_id, size, places)?;
                of_files.said = Some((pages, said.map(Arc::new)));
            }
            cycle.said = of_files.said.as_ref().and_then(|(_, said)| said.clone());
        }
        cycles.push(cycle);
    }
    Ok(cycles)
}

/// Places of the segments of a kind among all.
fn segments_of(segments: &[SegmentEntry], kind: SegmentKind) -> Vec<usize> {
    (0..segments.len()).filter(|&at| segments[at].kind == kind).collect()
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
        if state.is_new_page() {
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

/// What chances said of the fetched picks of a cycle whose outcomes are `at` this place, and the impact in lists
/// that they were candidates of; nothing if its workload is not there.
fn said(
    store: &Store,
    at: usize,
    pairs: &SegmentEntry,
    plan_id: &str,
    size: BatchSize,
    places: Places,
) -> Result<Option<(ListChances, f64)>, StoreError> {
    let Some((queries, taken)) = lists_before(store, at, plan_id, places.k)? else {
        return Ok(None);
    };
    let lists = Lists { queries: &queries, taken: &taken, places };
    let pairs = closed_pairs(store, pairs, &query_ids(lists.queries))?;
    let entered = pairs.iter().filter(|(_, entered)| *entered).map(|(pair, _)| pair);
    let foreseen = PlannedPair::impact(entered, lists.queries, places);
    let chances = PlannedPair::chances(pairs.iter().map(|(pair, _)| pair), size, lists);
    Ok(Some((chances, foreseen)))
}
