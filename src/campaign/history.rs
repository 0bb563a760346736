//! Closed cycles of a store: what became of each plan, what was expected of it, and what that teaches about the
//! next.

use prospect_index::error::StoreError;
use prospect_index::manifest::{SegmentEntry, SegmentKind};
use prospect_index::store::Store;
use serde::Serialize;

use super::records::{each_row, has_log_odds, plan_of, query_ids, workload_in};
use super::tables::{OUTCOMES, PAIR_OUTCOMES, WORKLOADS};
use crate::planner::cycle::PickState;
use crate::planner::entries::{EntryChances, EntryShare, ExpectedEntries};
use crate::planner::outcome::PickCounts;
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
    /// Impact that the fetched picks were expected to have at the close; absent where an older version made
    /// the plan.
    pub(crate) expected_impact: Option<ExpectedEntries>,
    /// Impact that they had.
    pub(crate) realised_impact: f64,
    /// What chances of entry said of them.
    #[serde(skip)]
    chances: Option<EntryChances>,
}

/// What is expected of a batch, learned from the last closed cycles.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn expected(
    store: &Store,
    chances: &EntryChances,
    places: Places,
) -> Result<ExpectedEntries, StoreError> {
    let cycles = read(store, places, CYCLES)?;
    Ok(share(&cycles, chances.mean_frequency()).expected(chances))
}

/// All closed cycles that can be read, the oldest first, each with what its plan expected.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn closed_cycles(store: &Store, places: Places) -> Result<Vec<ClosedCycle>, StoreError> {
    let mut cycles = read(store, places, usize::MAX)?;
    for at in 0..cycles.len() {
        let Some(chances) = &cycles[at].chances else { continue };
        let learned = share(&cycles[at.saturating_sub(CYCLES)..at], chances.mean_frequency());
        cycles[at].expected_impact = Some(learned.expected(chances));
    }
    Ok(cycles)
}

fn share(cycles: &[ClosedCycle], mean_frequency: f64) -> EntryShare {
    let entries =
        cycles.iter().filter_map(|cycle| Some((cycle.chances.as_ref()?, cycle.realised_impact)));
    EntryShare::learned(entries, mean_frequency)
}

/// The last `most` closed cycles. A cycle whose outcomes an older version wrote without what is asked for here is
/// left out.
fn read(store: &Store, places: Places, most: usize) -> Result<Vec<ClosedCycle>, StoreError> {
    let segments = &store.manifest().segments;
    let outcomes: Vec<usize> =
        (0..segments.len()).filter(|&at| segments[at].kind == SegmentKind::Outcomes).collect();
    let mut cycles = Vec::new();
    for &at in &outcomes[outcomes.len().saturating_sub(most)..] {
        let Some(mut cycle) = counted(store, &segments[at])? else { continue };
        // A close writes both at once.
        let pairs = segments[at..].iter().find(|segment| segment.kind == SegmentKind::PairOutcomes);
        if let Some(pairs) = pairs.filter(|pairs| has_log_odds(store.manifest(), pairs)) {
            let before = segments[..at].iter().rev();
            let workloads = before.filter(|segment| segment.kind == SegmentKind::Workloads);
            cycle.chances = chances(store, workloads, pairs, &cycle, places)?;
        }
        cycles.push(cycle);
    }
    Ok(cycles)
}

/// What became of the picks of a cycle.
fn counted(store: &Store, segment: &SegmentEntry) -> Result<Option<ClosedCycle>, StoreError> {
    let mut cycle = ClosedCycle::default();
    let names = ["plan_id", "planned", "state", "realised_impact"];
    let read = each_row(store, segment, OUTCOMES, &names, |row| {
        row.text(0).clone_into(&mut cycle.plan_id);
        if row.id(1) == 0 {
            cycle.unplanned += 1;
            return Ok(());
        }
        let state = row.state(2)?;
        cycle.counts.add(state);
        if state == PickState::Fetched {
            cycle.realised_impact += row.number(3);
        }
        Ok(())
    });
    match read {
        Err(StoreError::MissingColumn { .. }) if segment.schema == 0 => Ok(None),
        read => read.map(|()| Some(cycle)),
    }
}

/// What chances of entry said of the fetched picks of a cycle; none if its workload is not there.
fn chances<'a>(
    store: &Store,
    workloads: impl Iterator<Item = &'a SegmentEntry>,
    pairs: &SegmentEntry,
    cycle: &ClosedCycle,
    places: Places,
) -> Result<Option<EntryChances>, StoreError> {
    for segment in workloads {
        if plan_of(store, segment, WORKLOADS)?.is_none_or(|plan| plan != cycle.plan_id) {
            continue;
        }
        let Workload { queries } = workload_in(store, segment)?;
        let ids = query_ids(&queries);
        let mut chances = Vec::new();
        each_row(store, pairs, PAIR_OUTCOMES, &["qid", "entry_chance"], |row| {
            chances.extend(ids.get(row.text(0)).map(|&query| (query, row.number(1))));
            Ok(())
        })?;
        let fetched = cycle.counts.fetched;
        return Ok(Some(EntryChances::new(chances.into_iter(), fetched, &queries, places)));
    }
    Ok(None)
}
