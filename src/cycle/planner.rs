//! From an open store to a committed plan.

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::columns::Column;
use prospect_index::manifest::{CycleEntry, Epoch, Manifest, OpenPlan, SegmentKind};
use prospect_index::page_store::PageTable;
use prospect_index::text_index::Refresh;
use serde::{Deserialize, Serialize};

use super::records::{self, PLAN_PAIRS, PLANS, POOLS, WORKLOADS, pick_columns};
use super::{CycleError, EPOCH_GROWTH, OpenStore, served_cache};
use crate::estimate::frontier::{
    EstimateInput, EstimateSettings, FrontierEstimates, PairEstimate, estimate,
};
use crate::estimate::memory::Memory;
use crate::estimate::objective::Objective;
use crate::estimate::page_ranks::PageRanks;
use crate::plan::caps::Caps;
use crate::plan::explore::EXPLORE;
use crate::plan::{Batch, SelectionSettings, select, select_only, served_gain};
use crate::sketch::DEFAULT_K;
use crate::sketch::need::{Improvability, Needy, QueryOutcome, neediest};
use crate::sketch::served::ServedLists;
use crate::workload::Workload;

/// Everything a plan depends on besides the store and the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// Length of result lists.
    pub k: usize,
    /// Parameters of BM25.
    pub bm25: Bm25,
    /// How to estimate.
    pub estimate: EstimateSettings,
    /// How to pick.
    pub selection: SelectionSettings,
    /// Keep only the neediest queries.
    pub needy: Option<Needy>,
    /// Content hash of the list of URLs that may be planned, if there is one.
    pub within: Option<String>,
}

impl PlanSettings {
    /// The defaults, for a budget.
    pub fn new(budget: usize) -> Self {
        let selection =
            SelectionSettings { budget, caps: Caps::default(), explore: EXPLORE, seed: 1 };
        Self {
            k: DEFAULT_K,
            bm25: Bm25::default(),
            estimate: EstimateSettings::default(),
            selection,
            needy: None,
            within: None,
        }
    }
}

/// A plan with everything it was made from.
pub struct Plan {
    /// Content hash of everything the plan depends on.
    pub id: String,
    /// The queries it was made for, merged.
    pub workload: Workload,
    /// Indices of the needy ones.
    pub needy: Vec<usize>,
    /// Estimates of the frontier.
    pub estimates: FrontierEstimates,
    /// The ranking and the batch.
    pub batch: Batch,
    /// Served lists of all queries.
    pub served: ServedLists,
    /// The statistics epoch.
    pub epoch: Epoch,
    /// N and words under which it was scored.
    pub statistics: prospect_index::bm25::CollectionStatistics,
    /// What was recomputed of the served lists.
    pub served_refresh: Refresh,
    /// The fitted improvability, `(a, b)`.
    pub improvability: Option<(f64, f64)>,
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

/// What was chosen, and why.
pub struct Choice {
    /// Indices of the needy queries.
    pub needy: Vec<usize>,
    /// Estimates of the frontier.
    pub estimates: FrontierEstimates,
    /// The ranking and the batch.
    pub batch: Batch,
    /// The fitted improvability, `(a, b)`.
    pub improvability: Option<(f64, f64)>,
}

/// Chooses a batch. Reads nothing but its input and writes nothing but `memory`, which is of
/// earlier choices for the same queries, or empty, and changes no choice.
///
/// # Errors
/// An index cannot be read, or a model cannot be fitted.
pub fn choose(
    input: &PlanInput<'_>,
    memory: &mut Memory,
    settings: &PlanSettings,
) -> Result<Choice, CycleError> {
    let EstimateInput { queries, served, known, .. } = &input.estimate;
    let improvability = Improvability::fit(input.outcomes);
    let need: Vec<f64> = queries
        .iter()
        .enumerate()
        .map(|(at, query)| query.frequency * improvability.of(served.mean_score(at)))
        .collect();
    let keep = settings.needy.map_or(need.len(), |needy| needy.of(need.len()));
    let needy = neediest(&need, keep);
    let mut estimates = estimate(&input.estimate, &needy, memory, &settings.estimate)?;
    let mut ranking = std::mem::take(&mut estimates.urls);
    let select = if input.whole_ranking { select } else { select_only };
    // Each batch is a draw of its own.
    let next_seq = input.estimate.manifest.next_seq.to_le_bytes();
    let seed = xxhash_rust::xxh3::xxh3_64_with_seed(&next_seq, settings.selection.seed);
    let selection = SelectionSettings { seed, ..settings.selection };
    if settings.estimate.objective == Objective::Served {
        served_gain::rank(&mut ranking, &estimates, &input.estimate, &selection);
    }
    let batch = select(ranking, &known.urls, &selection);
    Ok(Choice { needy, estimates, batch, improvability: improvability.coefficients() })
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
    if open.known.pages.is_empty() {
        return Err(CycleError::NoPages);
    }
    let workload = workload.for_planning();
    let epoch = current_epoch(open.store.manifest(), &open.known.pages);
    let scorer = Scorer::new(&open.text, settings.bm25, epoch.end_seq, workload.words())?;
    let (store, known) = (&open.store, &open.known);
    let (served, served_refresh) =
        served_cache::load(store, known, &scorer, &workload, settings.k, epoch.end_seq)?;
    let mut ranks = PageRanks::default();
    if settings.estimate.reads_page_rank() {
        ranks.update(known, store.manifest());
    }
    let (frontier, history) = (open.frontier.index()?, open.history.index()?);
    let input = PlanInput {
        estimate: EstimateInput {
            known,
            manifest: store.manifest(),
            ranks: &ranks,
            scorer: &scorer,
            frontier: &frontier,
            history: &history,
            queries: &workload.queries,
            served: &served,
            within,
            epoch_end: epoch.end_seq,
            past_picks: &records::pick_outcomes(store)?,
            past_pairs: &records::entry_outcomes(store)?,
        },
        outcomes: &records::query_outcomes(store)?,
        whole_ranking: true,
    };
    let Choice { needy, estimates, batch, improvability } =
        choose(&input, &mut Memory::default(), settings)?;
    let id = plan_id(open, &workload, settings)?;
    let statistics = scorer.statistics();
    Ok(Plan {
        id,
        workload,
        needy,
        estimates,
        batch,
        served,
        epoch,
        statistics,
        served_refresh,
        improvability,
    })
}

/// The same pages, outcomes, queries and settings give the same id, and the same plan.
fn plan_id(
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

/// Commits a plan as the open one. If this very plan is open already, nothing changes.
///
/// # Errors
/// A write failed; the store stays as it was.
pub fn commit(
    open: &mut OpenStore,
    plan: &Plan,
    settings: &PlanSettings,
) -> Result<(), CycleError> {
    let store = &mut open.store;
    if store.manifest().plan.as_ref().is_some_and(|old| old.id == plan.id) {
        return Ok(());
    }
    let mut segments = vec![
        store.write_segment(
            SegmentKind::Plans,
            PLANS,
            &pick_columns(&plan.id, &plan.batch.picks),
        )?,
        store.write_segment(SegmentKind::PlanPairs, PLAN_PAIRS, &pair_columns(plan))?,
        store.write_segment(SegmentKind::Workloads, WORKLOADS, &workload_columns(plan))?,
    ];
    if !plan.batch.pools.is_empty() {
        let columns = pick_columns(&plan.id, &plan.batch.possible_picks());
        segments.push(store.write_segment(SegmentKind::Pools, POOLS, &columns)?);
    }
    let files = segments.iter().map(|segment| segment.file.file.clone()).collect();
    let open_plan =
        OpenPlan { id: plan.id.clone(), settings: serde_json::to_value(settings)?, files };
    store.commit(|manifest| {
        // A plan that nothing was fetched for makes way, with its files and its empty cycle.
        if let Some(old) = manifest.plan.take() {
            manifest.segments.retain(|segment| !old.files.contains(&segment.file.file));
        }
        if manifest.cycles.last().is_some_and(|cycle| cycle.first_seq == manifest.next_seq) {
            manifest.cycles.pop();
        }
        manifest.segments.extend(segments);
        let (first_seq, id) = (manifest.next_seq, plan.id.clone());
        manifest.cycles.push(CycleEntry { first_seq, plan: Some(id) });
        manifest.plan = Some(open_plan);
        manifest.epoch = plan.epoch;
    })?;
    Ok(())
}

fn pair_columns(plan: &Plan) -> Vec<Column> {
    let picks = plan.batch.picks.iter();
    let pairs: Vec<&PairEstimate> =
        picks.flat_map(|pick| plan.estimates.pairs_of(pick.estimate.url)).collect();
    let qid = |pair: &&PairEstimate| plan.workload.queries[pair.query as usize].qid.clone();
    vec![
        Column::Text(vec![plan.id.clone(); pairs.len()]),
        Column::U32(pairs.iter().map(|pair| pair.url.0).collect()),
        Column::Text(pairs.iter().map(qid).collect()),
        Column::F64(pairs.iter().map(|pair| pair.chance).collect()),
        Column::F64(pairs.iter().map(|pair| pair.entry_chance).collect()),
        Column::F64(pairs.iter().map(|pair| pair.margin).collect()),
        Column::U32(pairs.iter().map(|pair| u32::from(pair.matches)).collect()),
    ]
}

fn workload_columns(plan: &Plan) -> Vec<Column> {
    let queries = &plan.workload.queries;
    vec![
        Column::Text(vec![plan.id.clone(); queries.len()]),
        Column::Text(queries.iter().map(|query| query.qid.clone()).collect()),
        Column::Text(queries.iter().map(|query| query.text.clone()).collect()),
        Column::F64(queries.iter().map(|query| query.frequency).collect()),
        Column::Text(queries.iter().map(|query| query.kind.clone()).collect()),
    ]
}
