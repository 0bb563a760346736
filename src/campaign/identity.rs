//! What a plan depends on, as one number, and what identifies the inputs of an ingest.

use prospect_index::ingest::IngestCounts;
use prospect_index::manifest::{Manifest, SegmentKind, StoredPlan};

use super::{CampaignError, OpenStore};
use crate::planner::settings::PlanSettings;
use crate::workload::Workload;

/// The same pages, outcomes, queries, settings and open plans beside it give the same id, and the same plan.
pub(super) fn plan_id(
    open: &OpenStore,
    workload: &Workload,
    settings: &PlanSettings,
    beside: &[StoredPlan],
) -> Result<String, CampaignError> {
    let manifest = open.store.manifest();
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(manifest.lineage(manifest.next_seq).as_bytes());
    hash.update(&manifest.closed_cycles.to_le_bytes());
    for beside_pages in [SegmentKind::Quality, SegmentKind::Seeds] {
        hash.update(manifest.chain_of(beside_pages).as_bytes());
    }
    for plan in beside {
        hash.update(plan.id.as_bytes());
    }
    hash.update(workload.fingerprint().as_bytes());
    hash.update(&serde_json::to_vec(settings)?);
    Ok(format!("{:016x}", hash.digest()))
}

/// Marks inputs that are those of the ingest before them and were fetched again.
const AGAIN: char = '+';

/// What the inputs of the last ingest were identified by: the same once more are those of a command that is run again after
/// its commit, which changes nothing, or of another fetch with the same outcome, which counts.
pub(crate) struct LastInputs {
    id: Option<String>,
    /// Whether a plan is open that was made since.
    planned_since: bool,
}

impl LastInputs {
    /// Of a store.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let last = manifest.ingests.last();
        let since = |end_seq| manifest.plans.iter().any(|plan| plan.first_seq >= end_seq);
        Self {
            id: last.map(|last| last.fingerprint.clone()),
            planned_since: last.is_some_and(|last| since(last.end_seq)),
        }
    }

    /// Whether they are these, by their fingerprint.
    pub(crate) fn are(&self, fingerprint: &str) -> bool {
        self.id.as_ref().is_some_and(|id| id.trim_end_matches(AGAIN) == fingerprint)
    }

    /// What the next inputs of a command are identified by, given what it counted: they were fetched again where a plan that
    /// was made since waits for some of their URLs. Records that tell when they were fetched need not be asked.
    pub(crate) fn next_counted(self, fingerprint: &str, counts: &IngestCounts) -> String {
        let again = self.planned_since && counts.awaited > 0;
        self.next(fingerprint, again)
    }

    /// What the next inputs are identified by, given whether they were fetched `again` where they are the same: the store
    /// takes no inputs by the id of the last.
    pub(crate) fn next(self, fingerprint: &str, again: bool) -> String {
        let are_same = self.are(fingerprint);
        match self.id {
            Some(id) if are_same && !again => id,
            Some(id) if are_same && id == fingerprint => format!("{fingerprint}{AGAIN}"),
            _ => fingerprint.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_inputs_are_others_where_they_were_fetched_again() {
        let last =
            |id: Option<&str>| LastInputs { id: id.map(str::to_owned), planned_since: false };
        let next = |id, again| last(id).next("f", again);
        assert_eq!([None, Some("e"), Some("e+")].map(|id| next(id, false)), ["f"; 3]);
        assert_eq!([Some("f"), Some("f+")].map(|id| next(id, false)), ["f", "f+"], "run again");
        assert_eq!([Some("f"), Some("f+")].map(|id| next(id, true)), ["f+", "f"], "fetched again");
    }
}
