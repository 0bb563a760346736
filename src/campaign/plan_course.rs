//! The course of plans in the manifest of a store: they are opened, taken back and closed, and each starts a cycle.

use std::ops::Range;

use prospect_index::manifest::{
    ClosedPlan, CycleEntry, Manifest, SegmentEntry, SegmentKind, StoredPlan,
};
use serde::de::DeserializeOwned;

use super::CampaignError;

/// The settings of an open plan, or as much of them as `T` asks for: [`PlanSettings`](crate::planner::settings::PlanSettings) are all.
///
/// # Errors
/// Another version made the plan, with settings that this one does not know.
pub(crate) fn settings<T: DeserializeOwned>(plan: &StoredPlan) -> Result<T, CampaignError> {
    serde_json::from_value(plan.settings.clone()).map_err(|error| CampaignError::OtherVersion {
        plan: plan.id.clone(),
        what: error.to_string(),
    })
}

/// An open plan by its id.
pub(crate) fn open_plan<'m>(manifest: &'m Manifest, id: &str) -> Option<&'m StoredPlan> {
    manifest.plans.iter().find(|plan| plan.id == id)
}

/// Opens a plan with these segments, and its cycle.
pub(crate) fn open(manifest: &mut Manifest, plan: StoredPlan, segments: Vec<SegmentEntry>) {
    manifest.segments.extend(segments);
    manifest.plans.push(plan);
    if !has_fetched(manifest) {
        manifest.cycles.pop();
    }
    start_cycle(manifest);
}

/// Takes back an open plan that nothing was fetched for, with its segments and its cycle.
pub(crate) fn take_back(manifest: &mut Manifest, id: &str) {
    let Some(at) = manifest.plans.iter().position(|plan| plan.id == id) else { return };
    let plan = manifest.plans.remove(at);
    manifest.segments.retain(|segment| !plan.files.contains(&segment.file.file));
    if !has_fetched(manifest) {
        manifest.cycles.pop();
        if manifest.plans.last().is_some_and(|newest| newest.first_seq == manifest.next_seq) {
            start_cycle(manifest);
        }
    }
}

/// Ends an open plan, for whose lists there were these places; what is stored of it stays, but for the URLs that it was
/// held to, which nobody asks for any more.
pub(crate) fn close(manifest: &mut Manifest, id: &str, places: serde_json::Value) {
    let Some(StoredPlan { id, first_seq, chances_learned, .. }) = end(manifest, id) else { return };
    manifest.closed_cycles += 1;
    let led_to = serde_json::Value::Null;
    manifest.closed_plans.push(ClosedPlan {
        id,
        first_seq,
        end_seq: manifest.next_seq,
        chances_learned,
        places,
        led_to,
    });
}

/// Ends an open plan that nobody can close; what is stored of it stays as with [`close`].
pub(crate) fn give_up(manifest: &mut Manifest, id: &str) {
    end(manifest, id);
}

/// Takes a plan from those that are open, and the URLs that it was held to from the store.
fn end(manifest: &mut Manifest, id: &str) -> Option<StoredPlan> {
    let at = manifest.plans.iter().position(|plan| plan.id == id)?;
    let plan = manifest.plans.remove(at);
    manifest.segments.retain(|segment| {
        segment.kind != SegmentKind::Lists || !plan.files.contains(&segment.file.file)
    });
    Some(plan)
}

/// Notes what the pages of a closed plan have led to.
pub(crate) fn note_led_to(manifest: &mut Manifest, plan: &str, led_to: serde_json::Value) {
    if let Some(closed) = manifest.closed_plans.iter_mut().rfind(|closed| closed.id == plan) {
        closed.led_to = led_to;
    }
}

/// The next record is the first of a cycle, which is that of the newest open plan.
fn start_cycle(manifest: &mut Manifest) {
    let plan = manifest.plans.last().map(|plan| plan.id.clone());
    let streamed = manifest.plans.last().is_some_and(|plan| plan.streamed);
    manifest.cycles.push(CycleEntry { first_seq: manifest.next_seq, plan, streamed });
}

/// Records from the making of a plan to that of the next.
pub(crate) fn records_of(manifest: &Manifest, plan: &str) -> Range<u32> {
    let of = |cycle: &CycleEntry| cycle.plan.as_deref() == Some(plan);
    match manifest.cycles.iter().rposition(of) {
        Some(at) => manifest.cycles[at].first_seq..manifest.cycle_start(at as u32 + 1),
        None => manifest.next_seq..manifest.next_seq,
    }
}

/// The `fetch_seq` of the record that came next when a plan was made; none of one that is not known.
pub(crate) fn made_at(manifest: &Manifest, plan: &str) -> Option<u32> {
    let open = open_plan(manifest, plan).map(|open| open.first_seq);
    let closed = manifest.closed_plans.iter().rfind(|closed| closed.id == plan);
    // Up to format 4 every plan started a cycle.
    let cycle = || manifest.cycles.iter().rfind(|cycle| cycle.plan.as_deref() == Some(plan));
    open.or(closed.map(|closed| closed.first_seq)).or_else(|| cycle().map(|cycle| cycle.first_seq))
}

/// The `fetch_seq` of the record that came next when a plan was closed; 0 of one that is not known.
pub(crate) fn closed_at(manifest: &Manifest, plan: &str) -> u32 {
    let closed = manifest.closed_plans.iter().rfind(|closed| closed.id == plan);
    match closed {
        Some(closed) => closed.end_seq,
        // Up to format 4 the next plan closed it.
        None if manifest.cycles.iter().any(|cycle| cycle.plan.as_deref() == Some(plan)) => {
            records_of(manifest, plan).end
        }
        None => 0,
    }
}

/// Whether the last cycle has a record.
fn has_fetched(manifest: &Manifest) -> bool {
    manifest.cycles.last().is_some_and(|cycle| cycle.first_seq < manifest.next_seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan that is made now.
    fn plan(manifest: &mut Manifest, id: &str) {
        let (id, first_seq) = (id.to_owned(), manifest.next_seq);
        let plan = StoredPlan { id, first_seq, ..StoredPlan::default() };
        open(manifest, plan, Vec::new());
    }

    #[test]
    fn plans_may_overlap_and_each_record_is_of_one_cycle() {
        let mut manifest = Manifest::default();
        plan(&mut manifest, "a");
        manifest.next_seq = 20;
        plan(&mut manifest, "b");
        plan(&mut manifest, "c");
        // Nothing came between b and c: the records are of the cycle of c.
        manifest.next_seq = 30;
        let records = |manifest: &Manifest, id| records_of(manifest, id);
        assert_eq!(["a", "c"].map(|id| records(&manifest, id)), [0..20, 20..30]);
        assert!(records(&manifest, "b").is_empty());
        plan(&mut manifest, "d");
        take_back(&mut manifest, "d");
        assert_eq!((manifest.cycles.len(), records(&manifest, "c")), (2, 20..30));
        close(&mut manifest, "b", serde_json::Value::Null);
        manifest.next_seq = 35;
        close(&mut manifest, "a", serde_json::Value::Null);
        let made = ["a", "b", "c", "d"].map(|id| made_at(&manifest, id));
        assert_eq!(made, [Some(0), Some(20), Some(20), None]);
        assert_eq!(["a", "b"].map(|id| closed_at(&manifest, id)), [35, 30]);
        // One that is taken back leaves the cycle to the one before it, if that has no record either.
        let mut manifest = Manifest::default();
        plan(&mut manifest, "a");
        plan(&mut manifest, "b");
        take_back(&mut manifest, "b");
        manifest.next_seq = 4;
        assert_eq!((manifest.cycles.len(), records(&manifest, "a")), (1, 0..4));
    }
}
