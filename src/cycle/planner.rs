//! From an open store to a committed plan.

use prospect_index::columns::Column;
use prospect_index::manifest::{CycleEntry, Epoch, Manifest, OpenPlan, SegmentKind};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, PageTable};
use serde::de::DeserializeOwned;

use super::basis_cache::Refreshed;
use super::reading::Prepared;
use super::records::pick_columns;
use super::tables::{PLAN_PAIRS, PLANS, POOLS, WORKLOADS};
use super::{CycleError, EPOCH_GROWTH, OpenStore, basis_cache};
use crate::estimate::basis::Basis;
use crate::estimate::foretold::{Foretold, foretell};
use crate::estimate::frontier::EstimateInput;
use crate::estimate::memory::Memory;
use crate::plan::Batch;
use crate::plan::choice::{self, Choice, ChoiceInput};
use crate::plan::settings::PlanSettings;
use crate::sketch::need::{Improvability, QueryOutcome};
use crate::sketch::served::ServedLists;
use crate::workload::{Query, Workload};

/// A plan with everything it was made from.
pub struct Plan {
    /// Content hash of everything the plan depends on.
    pub id: String,
    /// The queries it was made for, merged.
    pub workload: Workload,
    /// What estimates rest on.
    pub basis: Basis,
    /// The batch, and how it came about.
    pub choice: Choice,
    /// Served lists of all queries.
    pub served: ServedLists,
    /// The statistics epoch.
    pub epoch: Epoch,
    /// N and words under which it was scored.
    pub statistics: prospect_index::bm25::CollectionStatistics,
    /// What was recomputed.
    pub refreshed: Refreshed,
}

/// What a choice is made from.
pub struct PlanInput<'a> {
    /// What estimates are made from.
    pub estimate: EstimateInput<'a>,
    /// What became of queries in closed cycles.
    pub outcomes: &'a [QueryOutcome],
    /// Whether anyone looks at the ranking behind the batch.
    pub whole_ranking: bool,
}

/// Makes a basis and chooses a batch from it. Reads nothing but its input and writes nothing but
/// `memory`, which is of earlier choices for the same queries, or empty, and changes no choice.
///
/// # Errors
/// An index cannot be read, or a model cannot be fitted.
pub fn choose(
    input: &PlanInput<'_>,
    memory: &mut Memory,
    settings: &PlanSettings,
) -> Result<(Basis, Choice), CycleError> {
    let EstimateInput { queries, served, known, manifest, .. } = &input.estimate;
    let PlanInput { outcomes, whole_ranking, .. } = *input;
    let from = ChosenFrom { queries, served, known, manifest, outcomes, whole_ranking };
    choose_from(&from, settings, |needy| {
        Ok(Basis::new(&input.estimate, needy, memory, &settings.estimate, None)?)
    })
}

/// What is chosen from, beside the basis.
struct ChosenFrom<'a> {
    queries: &'a [Query],
    served: &'a ServedLists,
    known: &'a Known,
    manifest: &'a Manifest,
    outcomes: &'a [QueryOutcome],
    whole_ranking: bool,
}

/// Chooses a batch from the basis that `make` makes for the needy queries, given as indices.
fn choose_from(
    from: &ChosenFrom<'_>,
    settings: &PlanSettings,
    make: impl FnOnce(&[usize]) -> Result<Basis, CycleError>,
) -> Result<(Basis, Choice), CycleError> {
    let ChosenFrom { queries, served, known, manifest, outcomes, whole_ranking } = *from;
    let improvability = Improvability::fit(outcomes);
    let needy = choice::needy(queries, served, &improvability, settings);
    let basis = make(&needy)?;
    let from = ChoiceInput {
        basis: &basis,
        queries,
        served,
        urls: &known.urls,
        next_seq: manifest.next_seq,
        whole_ranking,
        factors: &[],
    };
    let choice = choice::choose(&from, needy, &improvability, settings)?;
    Ok((basis, choice))
}

/// The epoch to plan in: a new one when the collection has grown by a tenth.
pub fn current_epoch(manifest: &Manifest, pages: &PageTable) -> Epoch {
    let epoch = manifest.epoch;
    let counted = |end: u32| {
        (0..end).filter(|&seq| pages.record(seq).is_some_and(|(_, at)| at >= end)).count()
    };
    let (then, now) = (counted(epoch.end_seq) as f64, counted(manifest.next_seq) as f64);
    if epoch.number > 0 && now < EPOCH_GROWTH * then {
        return epoch;
    }
    Epoch { number: epoch.number + 1, end_seq: manifest.next_seq }
}

/// Plans a batch without changing the store's truth. `within` tells by URL id what may be
/// planned; empty for all.
///
/// # Errors
/// The store has no page, an index cannot be read, or a model cannot be fitted.
pub fn plan(
    open: &OpenStore,
    workload: &Workload,
    within: &[bool],
    settings: &PlanSettings,
) -> Result<Plan, CycleError> {
    let prepared = Prepared::new(open, workload, settings)?;
    let from = ChosenFrom {
        queries: &prepared.workload.queries,
        served: &prepared.served,
        known: &open.known,
        manifest: open.store.manifest(),
        outcomes: &prepared.past.queries,
        whole_ranking: true,
    };
    let mut refreshed =
        Refreshed { served: prepared.served_refresh.clone(), ..Refreshed::default() };
    refreshed.unread.clone_from(&prepared.past.unread);
    let (basis, choice) = choose_from(&from, settings, |needy| {
        let made = basis_cache::load(open, &prepared, within, needy, settings)?;
        (refreshed.recomputed, refreshed.damaged) = (made.recomputed, made.damaged);
        Ok(made.basis)
    })?;
    let id = plan_id(open, &prepared.workload, settings)?;
    let statistics = prepared.reading.scorer.statistics();
    let Prepared { workload, epoch, served, .. } = prepared;
    Ok(Plan { id, workload, basis, choice, served, epoch, statistics, refreshed })
}

/// The same pages, outcomes, queries and settings give the same id, and the same plan.
pub(super) fn plan_id(
    open: &OpenStore,
    workload: &Workload,
    settings: &PlanSettings,
) -> Result<String, CycleError> {
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

/// The settings of the open plan, or as much of them as `T` asks for: [`PlanSettings`] are all.
///
/// # Errors
/// Another version made the plan, with settings that this one does not know.
pub fn settings<T: DeserializeOwned>(plan: &OpenPlan) -> Result<T, CycleError> {
    serde_json::from_value(plan.settings.clone()).map_err(|error| CycleError::OtherVersion {
        plan: plan.id.clone(),
        what: error.to_string(),
    })
}

/// What is stored of a plan.
pub struct PlanRecord<'a> {
    /// Content hash of everything the plan depends on.
    pub id: &'a str,
    /// The queries it was made for.
    pub queries: &'a [Query],
    /// What estimates rest on.
    pub basis: &'a Basis,
    /// Their served lists.
    pub served: &'a ServedLists,
    /// The ranking and the batch.
    pub batch: &'a Batch,
    /// The statistics epoch.
    pub epoch: Epoch,
}

impl Plan {
    /// What is stored of it.
    pub fn record(&self) -> PlanRecord<'_> {
        PlanRecord {
            id: &self.id,
            queries: &self.workload.queries,
            basis: &self.basis,
            served: &self.served,
            batch: &self.choice.batch,
            epoch: self.epoch,
        }
    }
}

/// Commits a plan as the open one. If this very plan is open already, nothing changes.
///
/// # Errors
/// Pages were fetched for the open plan, whose cycle has to be closed first; or a write failed. The
/// store stays as it was.
pub fn commit(
    open: &mut OpenStore,
    plan: &PlanRecord<'_>,
    settings: &PlanSettings,
) -> Result<(), CycleError> {
    let store = &mut open.store;
    if store.manifest().plan.as_ref().is_some_and(|old| old.id == plan.id) {
        return Ok(());
    }
    let manifest = store.manifest();
    if manifest.plan.is_some() && manifest.has_fetched() {
        return Err(CycleError::NotClosed);
    }
    let mut segments = vec![
        store.write_segment(
            SegmentKind::Plans,
            PLANS,
            &pick_columns(plan.id, &plan.batch.picks),
        )?,
        store.write_segment(SegmentKind::PlanPairs, PLAN_PAIRS, &pair_columns(plan))?,
        store.write_segment(SegmentKind::Workloads, WORKLOADS, &workload_columns(plan))?,
    ];
    if !plan.batch.pools.is_empty() {
        let columns = pick_columns(plan.id, &plan.batch.possible_picks());
        segments.push(store.write_segment(SegmentKind::Pools, POOLS, &columns)?);
    }
    let files = segments.iter().map(|segment| segment.file.file.clone()).collect();
    let open_plan =
        OpenPlan { id: plan.id.to_owned(), settings: serde_json::to_value(settings)?, files };
    store.commit(|manifest| {
        // A plan that nothing was fetched for makes way, with its files and its empty cycle.
        if let Some(old) = manifest.plan.take() {
            manifest.segments.retain(|segment| !old.files.contains(&segment.file.file));
        }
        if !manifest.has_fetched() {
            manifest.cycles.pop();
        }
        manifest.segments.extend(segments);
        let (first_seq, id) = (manifest.next_seq, plan.id.to_owned());
        manifest.cycles.push(CycleEntry { first_seq, plan: Some(id) });
        manifest.plan = Some(open_plan);
        manifest.epoch = plan.epoch;
    })?;
    Ok(())
}

fn pair_columns(plan: &PlanRecord<'_>) -> Vec<Column> {
    let picks: Vec<UrlId> = plan.batch.picks.iter().map(|pick| pick.estimate.url).collect();
    let pairs = foretell(plan.basis, plan.served, &picks).concat();
    let qid = |found: &Foretold| plan.queries[found.pair.query as usize].qid.clone();
    vec![
        Column::Text(vec![plan.id.to_owned(); pairs.len()]),
        Column::U32(pairs.iter().map(|found| found.pair.url.0).collect()),
        Column::Text(pairs.iter().map(qid).collect()),
        Column::F64(pairs.iter().map(|found| found.pair.chance).collect()),
        Column::F64(pairs.iter().map(|found| found.chance).collect()),
        Column::F64(pairs.iter().map(|found| found.margin).collect()),
        Column::U32(pairs.iter().map(|found| u32::from(found.pair.matches)).collect()),
    ]
}

fn workload_columns(plan: &PlanRecord<'_>) -> Vec<Column> {
    let queries = plan.queries;
    vec![
        Column::Text(vec![plan.id.to_owned(); queries.len()]),
        Column::Text(queries.iter().map(|query| query.qid.clone()).collect()),
        Column::Text(queries.iter().map(|query| query.text.clone()).collect()),
        Column::F64(queries.iter().map(|query| query.frequency).collect()),
        Column::Text(queries.iter().map(|query| query.kind.clone()).collect()),
    ]
}
