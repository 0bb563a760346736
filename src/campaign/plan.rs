//! From an open store to a committed plan.

use prospect_index::columns::Column;
use prospect_index::manifest::{CycleEntry, Epoch, SegmentKind, StoredPlan};
use prospect_index::page::UrlId;

use serde::de::DeserializeOwned;

use super::identity::plan_id;
use super::pair_cache::Refreshed;
use super::query_explanation::LearnedImprovability;
use super::reading::Prepared;
use super::records::pick_columns;
use super::tables::{PLAN_PAIRS, PLANS, POOLS, WORKLOADS};
use super::{CampaignError, OpenStore, history, pair_cache};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::plan::Batch;
use crate::plan::caps::{CapGroups, Caps, SoFar};
use crate::planner::choose::{Choice, ChoiceInput, choose_from};
use crate::planner::cycle::{OpenPlan, PlannedPair};
use crate::planner::retries::Retries;
use crate::planner::settings::PlanSettings;
use crate::results::impact::{Both, ExpectedImpact};
use crate::sketch::served::ServedLists;
use crate::workload::{Query, Workload};

/// A plan with everything it was made from.
pub struct Plan {
    /// Content hash of everything the plan depends on.
    pub id: String,
    /// The queries it was made for, merged.
    pub(crate) workload: Workload,
    /// What estimates rest on.
    pub scored: ScoredPairs,
    /// The batch, and how it came about.
    pub choice: Choice,
    /// Served lists of all queries.
    pub(crate) served: ServedLists,
    /// How much queries' lists can be improved, and what that is fitted on; none before anything is learned.
    pub(crate) improvability: Option<LearnedImprovability>,
    /// What was left out, since its fetch failed not long ago.
    pub(crate) retries: Retries,
    /// What it promises.
    pub(crate) promised: OpenPlan,
    /// Impact that its picks are expected to have, if all are fetched.
    pub(crate) expected: Both<ExpectedImpact>,
    /// The statistics epoch.
    pub(crate) epoch: Epoch,
    /// N and words under which it was scored.
    pub(crate) statistics: prospect_index::bm25::CollectionStatistics,
    /// What was recomputed.
    pub(crate) refreshed: Refreshed,
}

/// Plans a batch without changing the store's truth. `within` tells by URL id what may be
/// planned; empty for all. What waits after a failed fetch, or is out of scope, is left out.
///
/// ```
/// use prospect::campaign::{OpenStore, plan::plan};
/// use prospect::planner::settings::PlanSettings;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::{Outlink, PageRecord};
/// # use prospect::workload::{Query, Workload};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// # let link = |url: &str, anchor: &str| Outlink {
/// #     url: url.into(),
/// #     anchor: anchor.into(),
/// #     ..Outlink::default()
/// # };
/// # let page = PageRecord {
/// #     url: "https://a.test/".into(),
/// #     text: "Links on bread and on ships.".into(),
/// #     outlinks: vec![
/// #         link("https://b.test/1", "rye bread"),
/// #         link("https://b.test/2", "ships of the north"),
/// #         link("https://c.test/3", "white bread"),
/// #     ],
/// #     ..PageRecord::default()
/// # };
/// # ingest_all(root, vec![page], "one page")?;
/// # let workload = Workload { queries: vec![Query::new("1", "rye bread", 1.0, "")] };
/// // A page in the store links to /1 "rye bread", /2 "ships of the north" and /3 "white bread".
/// // The one query is "rye bread".
/// let open = OpenStore::open(root, "an example", 3)?;
/// let mut settings = PlanSettings::new(2);
/// settings.selection.explore = 0.0;
/// let plan = plan(&open, &workload, &[], &settings)?;
/// let picks = plan.choice.batch.picks.iter();
/// let urls: Vec<&str> = picks.map(|pick| open.known.urls.url(pick.estimate.url)).collect();
/// assert_eq!(urls, ["https://b.test/1", "https://c.test/3"]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The store has no page, an index cannot be read, or a model cannot be fitted.
pub fn plan(
    open: &OpenStore,
    workload: &Workload,
    within: &[bool],
    settings: &PlanSettings,
) -> Result<Plan, CampaignError> {
    let prepared = Prepared::new(open, workload, settings)?;
    let (within, retries) = open.plannable(within.to_vec(), &settings.scope)?;
    let from = ChoiceInput {
        queries: &prepared.workload.queries,
        served: &prepared.served,
        urls: &open.known.urls,
        next_seq: open.store.manifest().next_seq,
        whole_ranking: true,
        factors: &[],
    };
    let mut refreshed = Refreshed {
        served: prepared.served_refresh.clone(),
        unread: prepared.unread.clone(),
        ..Refreshed::default()
    };
    let (scored, choice) = choose_from(&from, &prepared.past.queries, settings, |needy| {
        let made = pair_cache::load(open, &prepared, &within, needy, settings)?;
        (refreshed.recomputed, refreshed.damaged) = (made.recomputed, made.damaged);
        Ok::<_, CampaignError>(made.scored)
    })?;
    let improvability = LearnedImprovability::new(&choice.improvability, &prepared.past.queries);
    let id = plan_id(open, &prepared.workload, settings)?;
    let statistics = prepared.reading.scorer.statistics();
    let Prepared { workload, epoch, served, .. } = prepared;
    let promised = OpenPlan::new(&scored, &served, &choice.batch.picks);
    let places = served.places();
    let expected =
        history::expected(&open.store, &promised.chances(&workload.queries, places), places)?;
    Ok(Plan {
        id,
        workload,
        scored,
        choice,
        served,
        improvability,
        retries,
        promised,
        expected,
        epoch,
        statistics,
        refreshed,
    })
}

/// Most URLs that may be planned under the caps of these settings, whatever the budget.
///
/// # Errors
/// See [`OpenStore::plannable`].
pub(crate) fn most_urls(
    open: &OpenStore,
    within: &[bool],
    settings: &PlanSettings,
) -> Result<usize, CampaignError> {
    let known = &open.known;
    let (within, _) = open.plannable(within.to_vec(), &settings.scope)?;
    let may = |id: &UrlId| within.get(id.index()).is_none_or(|may| *may);
    let ids = known.urls.ids().filter(|&id| known.pages.in_frontier(id));
    let frontier: Vec<UrlId> = ids.filter(may).collect();
    let so_far = SoFar { delays: Some(&settings.delays), ..SoFar::start(&known.urls) };
    let caps = Caps { site_share: None, ..settings.selection.caps };
    Ok(CapGroups::new(caps, &frontier, so_far).most_urls().min(frontier.len()))
}

/// The settings of the open plan, or as much of them as `T` asks for: [`PlanSettings`] are all.
///
/// # Errors
/// Another version made the plan, with settings that this one does not know.
pub(crate) fn settings<T: DeserializeOwned>(plan: &StoredPlan) -> Result<T, CampaignError> {
    serde_json::from_value(plan.settings.clone()).map_err(|error| CampaignError::OtherVersion {
        plan: plan.id.clone(),
        what: error.to_string(),
    })
}

/// What is stored of a plan.
pub(crate) struct PlanRecord<'a> {
    /// Content hash of everything the plan depends on.
    pub(crate) id: &'a str,
    /// The queries it was made for.
    pub(crate) queries: &'a [Query],
    /// What it promises.
    pub(crate) promised: &'a OpenPlan,
    /// The ranking and the batch.
    pub(crate) batch: &'a Batch,
    /// The statistics epoch.
    pub(crate) epoch: Epoch,
}

impl Plan {
    /// What is stored of it.
    pub(crate) fn record(&self) -> PlanRecord<'_> {
        PlanRecord {
            id: &self.id,
            queries: &self.workload.queries,
            promised: &self.promised,
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
pub(crate) fn commit(
    open: &mut OpenStore,
    plan: &PlanRecord<'_>,
    settings: &PlanSettings,
) -> Result<(), CampaignError> {
    let store = &mut open.store;
    if store.manifest().plan.as_ref().is_some_and(|old| old.id == plan.id) {
        return Ok(());
    }
    let manifest = store.manifest();
    if manifest.plan.is_some() && manifest.has_fetched() {
        return Err(CampaignError::NotClosed);
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
        StoredPlan { id: plan.id.to_owned(), settings: serde_json::to_value(settings)?, files };
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
    let pairs = &plan.promised.pairs;
    let qid = |pair: &PlannedPair| plan.queries[pair.query.index()].qid.clone();
    vec![
        Column::Text(vec![plan.id.to_owned(); pairs.len()]),
        Column::U32(pairs.iter().map(|pair| pair.url.0).collect()),
        Column::Text(pairs.iter().map(qid).collect()),
        Column::F64(pairs.iter().map(|pair| pair.chance).collect()),
        Column::F64(pairs.iter().map(|pair| pair.entry_chance).collect()),
        Column::F64(pairs.iter().map(|pair| pair.stay_chance).collect()),
        Column::F64(pairs.iter().map(|pair| pair.margin).collect()),
        Column::U32(pairs.iter().map(|pair| u32::from(pair.matches)).collect()),
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
