//! What a plan depends on, as one number.

use prospect_index::manifest::SegmentKind;

use super::{CampaignError, OpenStore};
use crate::planner::settings::PlanSettings;
use crate::workload::Workload;

/// The same pages, outcomes, queries and settings give the same id, and the same plan.
pub(super) fn plan_id(
    open: &OpenStore,
    workload: &Workload,
    settings: &PlanSettings,
) -> Result<String, CampaignError> {
    let manifest = open.store.manifest();
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(manifest.lineage(manifest.next_seq).as_bytes());
    hash.update(&manifest.closed_cycles.to_le_bytes());
    for segment in manifest.segments_of(SegmentKind::Quality) {
        hash.update(segment.file.checksum.as_bytes());
    }
    hash.update(workload.fingerprint().as_bytes());
    hash.update(&serde_json::to_vec(settings)?);
    Ok(format!("{:016x}", hash.digest()))
}
