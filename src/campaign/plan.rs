//! From an open store to a committed plan.

use std::cell::LazyCell;

use prospect_index::columns::Column;
use prospect_index::manifest::{Epoch, InFlightFor, SegmentKind, StoredPlan};

use super::changes::changes;
use super::history::ReadCycles;
use super::identity::plan_id;
use super::kept_planner::KeptPlanner;
use super::open_plans::older_plans;
use super::planned::{LearnedImprovability, Plan, Refreshed};
use super::reading::Prepared;
use super::records::pick_columns;
use super::sufficiency::{self, PastSufficiency, StoreSufficiency};
use super::tables::{LISTS, PLAN_PAIRS, PLANS, POOLS, REVISITS, SUFFICIENCY, WORKLOADS};
use super::{CampaignError, OpenStore, history, pair_cache, plan_course};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::plan::{Batch, Pick};
use crate::planner::choose::{Again, ChoiceInput, choose_from};
use crate::planner::cycle::{OpenPlan, PlannedPair};
use crate::planner::expected_impact::{Lists, mean_frequency};
use crate::planner::room::room;
use crate::planner::settings::PlanSettings;
use crate::sketch::need::Improvability;
use crate::sketch::served::ServedLists;
use crate::workload::{Query, Workload};

/// Rows of a pool that are made ready to be written at once.
const POOL_ROWS: usize = 100_000;

/// Which open plans a plan is made beside: what is in flight of them is left to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// All, but a plan that was made from the same tables by the same settings is made again: it is that one.
    Others,
    /// All.
    All,
    /// All but the newest, which is asked about.
    Older,
}

/// Plans a batch without changing the store's truth. `within` tells by URL id what may be
/// planned; empty for all. What is in flight, waits after a failed fetch, or is out of scope, is left out.
///
/// ```
/// use prospect::campaign::OpenStore;
/// use prospect::campaign::plan::{Beside, plan};
/// use prospect::planner::settings::PlanSettings;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::PageRecord;
/// # use prospect::workload::{Query, Workload};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// # let page = PageRecord {
/// #     url: "https://a.test/".into(),
/// #     text: "Links on bread and on ships.".into(),
/// #     outlinks: vec![
/// #         ("https://b.test/1", "rye bread").into(),
/// #         ("https://b.test/2", "ships of the north").into(),
/// #         ("https://c.test/3", "white bread").into(),
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
/// let plan = plan(&open, &workload, &[], &settings, Beside::Others)?;
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
    beside: Beside,
) -> Result<Plan, CampaignError> {
    plan_on(open, workload, within, settings, beside, None)
}

/// What a planner has that goes on with a store.
pub(crate) struct GoingOn<'a> {
    /// What is kept of earlier plans.
    pub(crate) kept: &'a mut KeptPlanner,
    /// Whether anyone looks at the ranking behind the batch.
    pub(crate) whole_ranking: bool,
}

/// The same from what a planner keeps that goes on, if one does.
///
/// # Errors
/// See [`plan`].
pub(crate) fn plan_on(
    open: &OpenStore,
    workload: &Workload,
    within: &[bool],
    settings: &PlanSettings,
    beside: Beside,
    going_on: Option<GoingOn<'_>>,
) -> Result<Plan, CampaignError> {
    let is_told = going_on.is_none();
    let whole_ranking = going_on.as_ref().is_none_or(|going_on| going_on.whole_ranking);
    let kept = going_on.map(|going_on| going_on.kept);
    let mut kept = kept.filter(|_| KeptPlanner::can_keep(settings));
    let prepared = Prepared::new(open, workload, settings, kept.as_deref_mut())?;
    let (beside, id) = place(open, &prepared.workload, settings, beside)?;
    let plannable = open.plannable(within.to_vec(), &settings.scope, beside)?;
    let is_asked = !settings.selection.revisit.is_none();
    let changes = is_asked.then(|| changes(open, &plannable.within)).transpose()?;
    let lack = sufficiency::lack(open, &prepared.workload.queries, settings)?;
    let (pages, places) = (&open.known.pages, prepared.served.places());
    let unit = mean_frequency(&prepared.workload.queries);
    let are_learned = prepared.past.pairs.suffice();
    let mut anew = ReadCycles::default();
    let cycles = kept.as_deref_mut().map_or(&mut anew, |kept| &mut kept.cycles);
    let shares = history::shares(&open.store, pages, unit, places, are_learned, cycles)?;
    let from = ChoiceInput {
        queries: &prepared.workload.queries,
        served: &prepared.served,
        urls: &open.known.urls,
        next_seq: open.store.manifest().next_seq,
        whole_ranking,
        factors: &[],
        lack: &lack,
        in_flight: &plannable.in_flight,
        again: changes.as_ref().map(|changes| Again { changes, shares, pages: pages.len() }),
    };
    let mut refreshed = Refreshed {
        served: prepared.served_refresh.clone(),
        unread: prepared.unread.clone(),
        ..Refreshed::default()
    };
    let outcomes = &prepared.past.queries;
    let improvability = LazyCell::new(|| Improvability::fit(outcomes, places.k));
    let (scored, choice) = choose_from(
        &from,
        || *improvability,
        settings,
        |needy| {
            if let Some(cache) = kept.and_then(|kept| kept.cache.as_mut()) {
                let input = prepared.input(&plannable.within)?;
                return Ok(ScoredPairs::new(&input, needy, cache, &settings.estimate, None)?);
            }
            let made = pair_cache::load(open, &prepared, &plannable.within, needy, settings)?;
            (refreshed.recomputed, refreshed.damaged) = (made.recomputed, made.damaged);
            Ok::<_, CampaignError>(made.scored)
        },
    )?;
    // A planner that goes on tells nobody.
    let improvability =
        is_told.then(|| LearnedImprovability::new(&improvability, outcomes)).flatten();
    let statistics = prepared.reading.scorer.statistics();
    let Prepared { workload, epoch, served, .. } = prepared;
    let promised = OpenPlan {
        revisits: choice.planned_revisits(),
        ..OpenPlan::new(&scored, &served, &choice.batch.picks)
    };
    let taken = served.taken();
    let lists = Lists { queries: &workload.queries, taken: &taken, places };
    let chances = promised.chances(pages.len(), lists);
    let expected = (open.store.manifest().next_seq > 0).then(|| shares.expected(&chances));
    let come = promised.chances_to_come(&choice.batch.picks, pages.len(), lists);
    Ok(Plan {
        id,
        listed: within.to_vec(),
        workload,
        scored,
        choice,
        served,
        improvability,
        plannable,
        promised,
        expected,
        expected_to_come: expected.map(|_| shares.enters(&come)),
        epoch,
        statistics,
        refreshed,
    })
}

/// How many of the oldest open plans a plan is made beside, and its id.
fn place(
    open: &OpenStore,
    workload: &Workload,
    settings: &PlanSettings,
    beside: Beside,
) -> Result<(usize, String), CampaignError> {
    let (plans, older) = (&open.store.manifest().plans, older_plans(open.store.manifest()));
    if beside != Beside::All {
        let id = plan_id(open, workload, settings, older)?;
        if beside == Beside::Older || plans.last().is_some_and(|newest| newest.id == id) {
            return Ok((older.len(), id));
        }
    }
    Ok((plans.len(), plan_id(open, workload, settings, plans)?))
}

/// A budget of as many URLs as may be planned under the caps of these settings; at least one. What is in flight of
/// open plans is left to them; the same settings give the plan again that was made last.
///
/// # Errors
/// See [`OpenStore::plannable`].
pub(crate) fn largest_budget(
    open: &OpenStore,
    workload: &Workload,
    within: &[bool],
    settings: &PlanSettings,
    beside: Beside,
) -> Result<usize, CampaignError> {
    let (plans, older) = (&open.store.manifest().plans, older_plans(open.store.manifest()));
    if let Some(newest) = plans.last().filter(|_| beside == Beside::Others) {
        let mut again = settings.clone();
        again.selection.budget = most_urls(open, within, settings, older.len())?.max(1);
        if plan_id(open, &open.asked(workload), &again, older)? == newest.id {
            return Ok(again.selection.budget);
        }
    }
    Ok(most_urls(open, within, settings, plans.len())?.max(1))
}

/// Most URLs that may be planned beside so many of the oldest open plans.
fn most_urls(
    open: &OpenStore,
    within: &[bool],
    settings: &PlanSettings,
    plans: usize,
) -> Result<usize, CampaignError> {
    let plannable = open.plannable(within.to_vec(), &settings.scope, plans)?;
    let again = !settings.selection.revisit.is_none();
    Ok(room(&open.known, &plannable.within, again, settings, &plannable.in_flight))
}

/// What is stored of a plan.
pub(crate) struct PlanRecord<'a> {
    /// Content hash of everything the plan depends on.
    pub(crate) id: &'a str,
    /// The queries it was made for.
    pub(crate) queries: &'a [Query],
    /// The list that it is held to, by URL id; empty if it is held to none.
    pub(crate) listed: &'a [bool],
    /// Their lists.
    pub(crate) served: &'a ServedLists,
    /// What it promises.
    pub(crate) promised: &'a OpenPlan,
    /// The ranking and the batch.
    pub(crate) batch: &'a Batch,
    /// The statistics epoch.
    pub(crate) epoch: Epoch,
    /// How well the pages answer its queries, where that was asked.
    pub(crate) sufficiency: Option<&'a StoreSufficiency>,
    /// Whether it is one of a stream, which draws too few to value another batch by: of others all that they could have
    /// picked is stored, if they drew some at random, a row for each URL of the frontier.
    pub(crate) streamed: bool,
    /// Whether its chances to enter lists were learned from outcomes.
    pub(crate) chances_learned: bool,
}

impl Plan {
    /// What is stored of it.
    pub(crate) fn record(&self) -> PlanRecord<'_> {
        PlanRecord {
            id: &self.id,
            queries: &self.workload.queries,
            listed: &self.listed,
            served: &self.served,
            promised: &self.promised,
            batch: &self.choice.batch,
            epoch: self.epoch,
            sufficiency: None,
            streamed: false,
            chances_learned: self.scored.entry().is_learned(),
        }
    }
}

/// Commits a plan in the place of the newest open one. If this very plan is open already, nothing changes.
///
/// # Errors
/// Something was fetched since that was made, which has to be closed first; or see [`commit`].
pub(crate) fn commit_instead(
    open: &mut OpenStore,
    plan: &PlanRecord<'_>,
    settings: &PlanSettings,
) -> Result<(), CampaignError> {
    let manifest = open.store.manifest();
    let Some(newest) = manifest.plans.last().filter(|newest| newest.id != plan.id) else {
        return commit(open, plan, settings, None);
    };
    if newest.first_seq < manifest.next_seq {
        return Err(CampaignError::NotClosed);
    }
    let (id, in_flight_for) = (newest.id.clone(), newest.in_flight_for);
    commit_in(open, plan, settings, in_flight_for, Some(&id))
}

/// Commits a plan beside those that are open. If this very plan is open already, nothing changes but the scope of
/// the store and, if that is given, for how long the plan is in flight.
///
/// # Errors
/// A write failed. The store stays as it was.
pub(crate) fn commit(
    open: &mut OpenStore,
    plan: &PlanRecord<'_>,
    settings: &PlanSettings,
    in_flight_for: Option<InFlightFor>,
) -> Result<(), CampaignError> {
    let manifest = open.store.manifest();
    let Some(old) = plan_course::open_plan(manifest, plan.id) else {
        return commit_in(open, plan, settings, in_flight_for.unwrap_or_default(), None);
    };
    let in_flight_for = in_flight_for.unwrap_or(old.in_flight_for);
    let scope = settings.scope.stored()?;
    if old.in_flight_for != in_flight_for || manifest.scope != scope {
        open.store.commit(|manifest| {
            manifest.scope = scope;
            let open = manifest.plans.iter_mut().filter(|open| open.id == plan.id);
            open.for_each(|open| open.in_flight_for = in_flight_for);
        })?;
    }
    Ok(())
}

/// Commits a plan that is not open, in the place of another if one is named.
fn commit_in(
    open: &mut OpenStore,
    plan: &PlanRecord<'_>,
    settings: &PlanSettings,
    in_flight_for: InFlightFor,
    instead: Option<&str>,
) -> Result<(), CampaignError> {
    let store = &mut open.store;
    let scope = settings.scope.stored()?;
    let mut segments = vec![
        store.write_segment(
            SegmentKind::Plans,
            PLANS,
            [pick_columns(plan.id, &plan.batch.picks)],
        )?,
        store.write_segment(SegmentKind::PlanPairs, PLAN_PAIRS, [&pair_columns(plan)])?,
        store.write_segment(SegmentKind::Workloads, WORKLOADS, [&workload_columns(plan)])?,
    ];
    if let Some(found) = plan.sufficiency {
        let columns = PastSufficiency::columns(found, plan.id);
        segments.push(store.write_segment(SegmentKind::Sufficiency, SUFFICIENCY, [&columns])?);
    }
    if !plan.promised.revisits.is_empty() {
        segments.push(store.write_segment(
            SegmentKind::Revisits,
            REVISITS,
            [&revisit_columns(plan)],
        )?);
    }
    if !plan.listed.is_empty() {
        let columns = list_columns(plan);
        segments.push(store.write_segment(SegmentKind::Lists, LISTS, [&columns])?);
    }
    if !plan.streamed && !plan.batch.pools.is_empty() {
        let mut possible = plan.batch.possible_picks();
        let groups = std::iter::from_fn(|| {
            let some: Vec<Pick> = possible.by_ref().take(POOL_ROWS).collect();
            (!some.is_empty()).then(|| pick_columns(plan.id, &some))
        });
        segments.push(store.write_segment(SegmentKind::Pools, POOLS, groups)?);
    }
    let files = segments.iter().map(|segment| segment.file.file.clone()).collect();
    let open_plan = StoredPlan {
        id: plan.id.to_owned(),
        settings: serde_json::to_value(settings)?,
        files,
        first_seq: store.manifest().next_seq,
        epoch: plan.epoch,
        in_flight_for,
        streamed: plan.streamed,
        chances_learned: Some(plan.chances_learned),
    };
    store.commit(|manifest| {
        if let Some(other) = instead {
            plan_course::take_back(manifest, other);
        }
        plan_course::open(manifest, open_plan, segments);
        manifest.epoch = plan.epoch;
        manifest.scope = scope;
    })?;
    log::debug!("plan written");
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
        Column::F64(pairs.iter().map(|pair| pair.margin).collect()),
        Column::U32(pairs.iter().map(|pair| u32::from(pair.matches)).collect()),
    ]
}

fn revisit_columns(plan: &PlanRecord<'_>) -> Vec<Column> {
    let revisits = &plan.promised.revisits;
    vec![
        Column::Text(vec![plan.id.to_owned(); revisits.len()]),
        Column::U32(revisits.iter().map(|revisit| revisit.url.0).collect()),
        Column::F64(revisits.iter().map(|revisit| revisit.chance).collect()),
        Column::F64(revisits.iter().map(|revisit| revisit.impact).collect()),
    ]
}

fn list_columns(plan: &PlanRecord<'_>) -> Vec<Column> {
    let listed = (0..).zip(plan.listed).filter_map(|(id, is_listed)| is_listed.then_some(id));
    let listed: Vec<u32> = listed.collect();
    vec![Column::Text(vec![plan.id.to_owned(); listed.len()]), Column::U32(listed)]
}

fn workload_columns(plan: &PlanRecord<'_>) -> Vec<Column> {
    let queries = plan.queries;
    vec![
        Column::Text(vec![plan.id.to_owned(); queries.len()]),
        Column::Text(queries.iter().map(|query| query.qid.clone()).collect()),
        Column::Text(queries.iter().map(|query| query.text.clone()).collect()),
        Column::F64(queries.iter().map(|query| query.frequency).collect()),
        Column::Text(queries.iter().map(|query| query.kind.clone()).collect()),
        Column::U32(plan.served.taken()),
    ]
}
