//! What a plan depends on, as one number.

use prospect_index::manifest::{SegmentKind, StoredPlan};

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
