//! Plans, their workloads and their outcomes, read from the tables of the store.
//!
//! What is learned from may be left unread where an older version wrote it: plans get no better for a
//! while, and none is wrong. It is told, and stays in the store. There were these tables
//! before today's:
//!
//! | Table | What it had, and how it is read |
//! |---|---|
//! | `plans` | `explored` for `pool`: 1 is [`Pool::Far`], for draws came from all that greedy left; fewer parts: those that are missing are unknown (NaN), and nobody learns from such picks |
//! | `plans`, `pools`, `outcomes` | before version 2 no `discovery_impact`: it is 0, as it was in their estimates |
//! | `pools` | no `frontier_rank`, which nobody reads |
//! | `outcomes` | no parts, three of them, `explored` for `pool`, no `impact_in_half`: left unread by whoever needs what is missing |
//! | `plan_pairs`, `pair_outcomes` | no `margin`, or one that is no log odds (`has_log_odds`): left unread. |
//! | `workloads` | before format 11 no `served`: all places of lists count as taken |
//! | `query_outcomes` | always the same |

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use prospect_index::columns::{Column, Schema};
use prospect_index::error::StoreError;
use prospect_index::manifest::{ClosedPlan, Manifest, SegmentEntry, SegmentKind};
use prospect_index::page::UrlId;
use prospect_index::page_store::{NONE, PageTable};
use prospect_index::store::Store;
use prospect_index::words::Analyzer;
use serde::Deserialize;

use super::plan_course::open_plan;
use super::tables::{
    EARLY_PLANS, LISTS, OUTCOMES, PAIR_OUTCOMES, PLAN_PAIRS, PLANS, POOLS, QUERY_OUTCOMES,
    REVISITS, WORKLOADS,
};
use crate::estimate::parts::{Part, Parts};
use crate::estimate::site_reliability::PickOutcome;
use crate::plan::Pick;
use crate::plan::explore::Pool;
use crate::plan::off_policy::counterfactual::Outcome;
use crate::planner::cycle::{Past, PickState, PlannedPair, PlannedPick, page_by};
use crate::planner::retries::CycleClock;
use crate::planner::revisits::PlannedRevisit;
use crate::sketch::need::QueryOutcome;
use crate::sketch::visibility::Places;
use crate::workload::{Query, QueryId, Workload};

/// A row of some columns of a file.
pub(super) struct Row<'a> {
    path: &'a Path,
    columns: &'a [Column],
    at: usize,
}

impl Row<'_> {
    pub(super) fn text(&self, column: usize) -> &str {
        match &self.columns[column] {
            Column::Text(values) => &values[self.at],
            _ => "",
        }
    }

    pub(super) fn number(&self, column: usize) -> f64 {
        match &self.columns[column] {
            Column::F64(values) => values[self.at],
            _ => 0.0,
        }
    }

    pub(super) fn id(&self, column: usize) -> u32 {
        match &self.columns[column] {
            Column::U32(values) => values[self.at],
            _ => 0,
        }
    }

    fn pool(&self, column: usize) -> Result<Pool, StoreError> {
        let pool = Pool::named(self.text(column));
        pool.ok_or_else(|| self.unknown("pool", column, &Pool::ALL.map(Pool::name)))
    }

    pub(super) fn state(&self, column: usize) -> Result<PickState, StoreError> {
        let state = PickState::ALL.into_iter().find(|state| state.name() == self.text(column));
        state.ok_or_else(|| self.unknown("state", column, &PickState::ALL.map(PickState::name)))
    }

    fn unknown(&self, name: &'static str, column: usize, known: &[&str]) -> StoreError {
        StoreError::UnknownValue {
            path: self.path.to_owned(),
            column: name,
            found: self.text(column).to_owned(),
            expected: known.join(", "),
        }
    }
}

/// Reads columns of a segment row by row.
pub(super) fn each_row(
    store: &Store,
    segment: &SegmentEntry,
    schema: Schema,
    names: &[&str],
    mut take: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let path = store.storage().path(&segment.file.file);
    store.read_records(segment, schema, names, |columns, mut rows| {
        rows.try_for_each(|at| take(&Row { path: &path, columns, at }))
    })
}

/// Reads columns of the outcomes of a cycle row by row. What an older version wrote without one of them is
/// left unread; the error that says so is returned.
pub(super) fn each_outcome(
    store: &Store,
    segment: &SegmentEntry,
    names: &[&str],
    take: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<Option<StoreError>, StoreError> {
    match each_row(store, segment, OUTCOMES, names, take) {
        Err(missing @ StoreError::MissingColumn { .. }) if segment.schema == 0 => Ok(Some(missing)),
        read => read.map(|()| None),
    }
}

/// The segment of a plan's rows: each plan, and each closed cycle, has one of its own.
fn segment_of<'a>(
    store: &'a Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
) -> Result<Option<&'a SegmentEntry>, StoreError> {
    let segments = &store.manifest().segments;
    // Of one that is open it is known which they are: a stream may have thousands.
    let open = open_plan(store.manifest(), plan);
    let is_own =
        |segment: &&SegmentEntry| open.is_some_and(|open| open.files.contains(&segment.file.file));
    let own_first = segments.iter().filter(is_own).chain(segments.iter().rev());
    first_of(store, own_first, kind, schema, plan)
}

/// The same among the segments that were written before another.
fn segment_among<'a>(
    store: &Store,
    segments: &'a [SegmentEntry],
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
) -> Result<Option<&'a SegmentEntry>, StoreError> {
    // The newest first: that is whose rows are asked for, and each segment that is looked at is verified.
    first_of(store, segments.iter().rev(), kind, schema, plan)
}

/// The first of these segments that has a plan's rows.
fn first_of<'a>(
    store: &Store,
    segments: impl Iterator<Item = &'a SegmentEntry>,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
) -> Result<Option<&'a SegmentEntry>, StoreError> {
    for segment in segments.filter(|segment| segment.kind == kind) {
        if plan_of(store, segment, schema)?.is_some_and(|id| id == plan) {
            return Ok(Some(segment));
        }
    }
    Ok(None)
}

/// The plan that a segment is of; none if it has no row.
pub(super) fn plan_of(
    store: &Store,
    segment: &SegmentEntry,
    schema: Schema,
) -> Result<Option<String>, StoreError> {
    let mut plan = None;
    store.read_records(segment, schema, &["plan_id"], |columns, rows| {
        if let (None, Column::Text(ids)) = (&plan, &columns[0]) {
            plan = ids[rows].first().cloned();
        }
        Ok(())
    })?;
    Ok(plan)
}

fn rows_of(
    store: &Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
    names: &[&str],
    take: impl FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match segment_of(store, kind, schema, plan)? {
        Some(segment) => each_row(store, segment, schema, names, take),
        None => Ok(()),
    }
}

/// Whether the margins of a segment of [`PLAN_PAIRS`] or [`PAIR_OUTCOMES`] are what their column says today.
/// Before texts around links were stored, it held something else, or was not there.
pub(super) fn has_log_odds(manifest: &Manifest, segment: &SegmentEntry) -> bool {
    if segment.schema > 0 {
        return true;
    }
    let segments = &manifest.segments;
    let end = segments.iter().position(|other| other == segment).map_or(0, |at| at + 1);
    // Margins are those that the plan was made with, whoever closed its cycle.
    let made = segments[..end].iter().rposition(|other| other.kind == SegmentKind::PlanPairs);
    let before = &segments[..made.unwrap_or(0)];
    before.iter().any(|other| other.kind == SegmentKind::Around)
}

/// Tables that are learned from.
const PAST: [SegmentKind; 3] =
    [SegmentKind::Outcomes, SegmentKind::PairOutcomes, SegmentKind::QueryOutcomes];

/// What closed cycles left to learn from, as far as it was read.
#[derive(Default)]
pub(crate) struct PastReader {
    /// Whether somebody asks what became of queries: of every one in every cycle.
    of_queries: bool,
    /// Segments of [`PAST`] that were read.
    segments: usize,
    /// The plan whose outcomes were read last.
    plan: String,
    /// The last cycle of a stream that pairs were read of.
    streamed: Option<u32>,
    /// What there is to learn from.
    pub(crate) past: Arc<Past>,
    /// What an older version wrote, and was left unread.
    pub(crate) unread: Vec<String>,
}

impl PastReader {
    /// Of what became of queries, too.
    pub(crate) fn with_queries() -> Self {
        Self { of_queries: true, ..Self::default() }
    }

    /// Reads the segments that are new; none of the others may be gone.
    ///
    /// # Errors
    /// A segment is damaged, or holds what this version does not know.
    pub(crate) fn update(&mut self, store: &Store) -> Result<(), StoreError> {
        let manifest = store.manifest();
        let clock = LazyCell::new(|| CycleClock::new(manifest));
        let past = manifest.segments.iter().filter(|segment| PAST.contains(&segment.kind));
        for segment in past.skip(self.segments) {
            match segment.kind {
                SegmentKind::Outcomes => self.add_picks(store, segment)?,
                SegmentKind::PairOutcomes => {
                    let streamed = streamed_from(manifest, &self.plan);
                    self.add_pairs(store, segment, streamed.map(|seq| clock.at(seq)))?;
                }
                SegmentKind::QueryOutcomes if self.of_queries => {
                    self.add_queries(store, segment)?;
                }
                _ => (),
            }
            self.segments += 1;
        }
        Ok(())
    }

    /// What became of the fetched picks of a closed cycle.
    fn add_picks(&mut self, store: &Store, segment: &SegmentEntry) -> Result<(), StoreError> {
        let mut names = vec!["url_id", "planned", "state", "realised_impact", "plan_id"];
        let columns = PartColumns::new(&mut names, |_| true);
        let (picks, plan) = (&mut Arc::make_mut(&mut self.past).picks, &mut self.plan);
        let missing = each_outcome(store, segment, &names, |row| {
            let parts = columns.of(row);
            if row.text(4) != *plan {
                row.text(4).clone_into(plan);
            }
            let is_fetched = row.id(1) == 1 && row.state(2)?.is_new_page();
            if is_fetched && parts.iter().all(|(_, part)| !part.is_nan()) {
                let (url, realised) = (UrlId(row.id(0)), row.number(3));
                picks.push(PickOutcome { url, parts, realised });
            }
            Ok(())
        })?;
        self.unread.extend(missing.map(|missing| missing.to_string()));
        Ok(())
    }

    /// What became of the candidate pairs of its fetched picks, given its cycle if a stream planned it.
    fn add_pairs(
        &mut self,
        store: &Store,
        segment: &SegmentEntry,
        cycle: Option<u32>,
    ) -> Result<(), StoreError> {
        let pairs = &mut Arc::make_mut(&mut self.past).pairs;
        // A stream has many plans in a cycle.
        if cycle.is_none() || cycle != self.streamed {
            pairs.next_cycle();
        }
        self.streamed = cycle;
        if !has_log_odds(store.manifest(), segment) {
            self.unread.push(segment.file.file.clone());
            return Ok(());
        }
        each_row(store, segment, PAIR_OUTCOMES, &["margin", "entered", "matches"], |row| {
            pairs.add(row.id(2) == 1, row.number(0), row.id(1) == 1);
            Ok(())
        })
    }

    /// Outcomes of the queries.
    fn add_queries(&mut self, store: &Store, segment: &SegmentEntry) -> Result<(), StoreError> {
        let outcomes = &mut Arc::make_mut(&mut self.past).queries;
        each_row(store, segment, QUERY_OUTCOMES, &["mean_before", "new_results"], |row| {
            let (mean_before, new_results) = (row.number(0), row.number(1));
            outcomes.push(QueryOutcome { mean_before, new_results });
            Ok(())
        })
    }
}

/// The record from which a closed plan of a stream counts; none of another plan.
fn streamed_from(manifest: &Manifest, plan: &str) -> Option<u32> {
    let first_seq = closed_plan(manifest, plan)?.first_seq;
    let cycle = manifest.cycles.get(manifest.cycle_of(first_seq) as usize)?;
    cycle.streamed.then_some(first_seq)
}

/// Picks of all closed cycles of which something became, and the pages that came by them.
///
/// # Errors
/// A segment is damaged.
pub(super) fn reported_picks(
    store: &Store,
    pages: &PageTable,
) -> Result<HashSet<UrlId>, StoreError> {
    let mut picks = HashSet::new();
    for segment in store.manifest().segments_of(SegmentKind::Outcomes) {
        each_outcome(store, segment, &["url_id", "planned", "state"], |row| {
            if row.id(1) == 1 && row.state(2)? != PickState::Unknown {
                let url = UrlId(row.id(0));
                picks.extend([url, page_by(pages, url)]);
            }
            Ok(())
        })?;
    }
    Ok(picks)
}

/// Picks of a plan, in batch order.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn picks(store: &Store, plan: &str) -> Result<Vec<PlannedPick>, StoreError> {
    stored_picks(store, SegmentKind::Plans, PLANS, plan)
}

/// What a plan with exploration chose from, in the order of its ranking.
///
/// # Errors
/// See [`picks`].
pub(crate) fn pool(store: &Store, plan: &str) -> Result<Vec<PlannedPick>, StoreError> {
    stored_picks(store, SegmentKind::Pools, POOLS, plan)
}

fn stored_picks(
    store: &Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
) -> Result<Vec<PlannedPick>, StoreError> {
    match segment_of(store, kind, schema, plan)? {
        Some(segment) => picks_in(store, segment, schema),
        None => Ok(Vec::new()),
    }
}

/// URLs of plans, each with the plan's number among these. Costs one walk over the newest plans.
///
/// # Errors
/// See [`picks`].
pub(crate) fn for_each_planned(
    store: &Store,
    plans: &[&str],
    mut take: impl FnMut(usize, UrlId),
) -> Result<(), StoreError> {
    let mut left: HashMap<&str, usize> = plans.iter().copied().zip(0..).collect();
    for segment in store.manifest().segments_of(SegmentKind::Plans).rev() {
        if left.is_empty() {
            break;
        }
        let Some(plan) = plan_of(store, segment, PLANS)? else { continue };
        let Some(number) = left.remove(plan.as_str()) else { continue };
        each_row(store, segment, PLANS, &["url_id"], |row| {
            take(number, UrlId(row.id(0)));
            Ok(())
        })?;
    }
    Ok(())
}

/// Where the parts of an estimate stand among the columns that are read.
struct PartColumns {
    /// By part.
    places: [Option<usize>; Part::COUNT],
}

impl PartColumns {
    /// Adds the columns of a segment of plans or outcomes to the `names` that are read: those that it `has`.
    fn new(names: &mut Vec<&'static str>, has: impl Fn(&str) -> bool) -> Self {
        let mut places = [None; Part::COUNT];
        for &part in Part::ALL.iter().filter(|part| has(part.column())) {
            places[part as usize] = Some(names.len());
            names.push(part.column());
        }
        Self { places }
    }

    /// The parts of a row; NaN where they are not known.
    fn of(&self, row: &Row<'_>) -> Parts {
        Parts::of(|part| match self.places[part as usize] {
            Some(place) => row.number(place),
            // Nobody estimated it then.
            None if part == Part::Discovery => 0.0,
            None => f64::NAN,
        })
    }
}

fn picks_in(
    store: &Store,
    segment: &SegmentEntry,
    schema: Schema,
) -> Result<Vec<PlannedPick>, StoreError> {
    let mut picks = Vec::new();
    let found = segment.column_names(store.storage())?;
    // From format 2 on, what is missing is an error.
    let has = |name: &str| segment.schema > 0 || found.iter().any(|found| found == name);
    let has_pool = has("pool");
    let (schema, drawn) = if has_pool { (schema, "pool") } else { (EARLY_PLANS, "explored") };
    let mut names = vec!["url_id", drawn, "propensity", "estimate"];
    let columns = PartColumns::new(&mut names, has);
    each_row(store, segment, schema, &names, |row| {
        let early = if row.id(1) == 1 { Pool::Far } else { Pool::Greedy };
        picks.push(PlannedPick {
            url: UrlId(row.id(0)),
            pool: if has_pool { row.pool(1)? } else { early },
            propensity: row.number(2),
            parts: columns.of(row),
            estimate: row.number(3),
        });
        Ok(())
    })?;
    Ok(picks)
}

/// What was expected of the picks of a plan that were fetched before.
///
/// # Errors
/// See [`picks`].
pub(crate) fn revisits(store: &Store, plan: &str) -> Result<Vec<PlannedRevisit>, StoreError> {
    let mut revisits = Vec::new();
    let names = ["url_id", "chance", "impact"];
    rows_of(store, SegmentKind::Revisits, REVISITS, plan, &names, |row| {
        let (url, chance, impact) = (UrlId(row.id(0)), row.number(1), row.number(2));
        revisits.push(PlannedRevisit { url, chance, impact });
        Ok(())
    })?;
    Ok(revisits)
}

/// URLs of the list that an open plan is held to; none where it is held to none. Before format 15 there are those
/// of its pool, if it has one.
///
/// # Errors
/// See [`picks`].
pub(crate) fn listed(store: &Store, plan: &str) -> Result<Vec<UrlId>, StoreError> {
    let mut listed = Vec::new();
    rows_of(store, SegmentKind::Lists, LISTS, plan, &["url_id"], |row| {
        listed.push(UrlId(row.id(0)));
        Ok(())
    })?;
    if listed.is_empty() {
        listed = pool(store, plan)?.into_iter().map(|pick| pick.url).collect();
    }
    Ok(listed)
}

/// Columns of [`PLANS`] or [`POOLS`].
pub(super) fn pick_columns(plan: &str, picks: &[Pick]) -> Vec<Column> {
    let numbers = |of: fn(&Pick) -> f64| Column::F64(picks.iter().map(of).collect());
    let ids = |of: fn(&Pick) -> u32| Column::U32(picks.iter().map(of).collect());
    let part =
        |part: Part| Column::F64(picks.iter().map(|pick| pick.estimate.parts[part]).collect());
    let mut columns = vec![
        Column::Text(vec![plan.to_owned(); picks.len()]),
        ids(|pick| pick.estimate.url.0),
        ids(|pick| pick.frontier_rank),
        Column::Text(picks.iter().map(|pick| pick.pool.name().to_owned()).collect()),
        numbers(|pick| pick.propensity),
    ];
    columns.extend(Part::ALL.map(part));
    columns.push(numbers(|pick| pick.estimate.estimate));
    columns
}

/// What became of the URLs of a closed plan; `None` for those that were not reported.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn outcomes(
    store: &Store,
    plan: &str,
) -> Result<HashMap<UrlId, Option<Outcome>>, StoreError> {
    let mut outcomes = HashMap::new();
    let names = ["url_id", "planned", "state", "realised_impact", "impact_in_half"];
    rows_of(store, SegmentKind::Outcomes, OUTCOMES, plan, &names, |row| {
        if row.id(1) == 1 {
            let outcome = Outcome { impact: row.number(3), in_half: row.number(4) };
            let is_known = row.state(2)? != PickState::Unknown;
            outcomes.insert(UrlId(row.id(0)), is_known.then_some(outcome));
        }
        Ok(())
    })?;
    Ok(outcomes)
}

/// Plans with exploration whose outcomes are known, in order.
///
/// # Errors
/// A segment is damaged.
pub(crate) fn pooled_plans(store: &Store) -> Result<Vec<String>, StoreError> {
    let closed = plans_of(store, SegmentKind::Outcomes, OUTCOMES)?;
    let mut pooled = plans_of(store, SegmentKind::Pools, POOLS)?;
    pooled.retain(|plan| closed.contains(plan));
    Ok(pooled)
}

/// The plans that a table has rows of, in order.
fn plans_of(store: &Store, kind: SegmentKind, schema: Schema) -> Result<Vec<String>, StoreError> {
    let segments = store.manifest().segments_of(kind);
    segments.filter_map(|segment| plan_of(store, segment, schema).transpose()).collect()
}

/// Candidate pairs of a plan's picks, those of other queries than these left out; none, and a
/// line in `unread`, where their margins are of an older version.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn pairs(
    store: &Store,
    plan: &str,
    queries: &[Query],
    unread: &mut Vec<String>,
) -> Result<Vec<PlannedPair>, StoreError> {
    let at = query_ids(queries);
    let mut pairs = Vec::new();
    let kind = SegmentKind::PlanPairs;
    let Some(segment) = segment_of(store, kind, PLAN_PAIRS, plan)? else { return Ok(pairs) };
    if !has_log_odds(store.manifest(), segment) {
        unread.push(segment.file.file.clone());
        return Ok(pairs);
    }
    each_row(store, segment, PLAN_PAIRS, &PAIR_NAMES, |row| {
        pairs.extend(planned_pair(row, &at));
        Ok(())
    })?;
    Ok(pairs)
}

/// Columns of a file of [`PLAN_PAIRS`] or [`PAIR_OUTCOMES`] that [`planned_pair`] reads.
const PAIR_NAMES: [&str; 6] = ["url_id", "qid", "chance", "entry_chance", "margin", "matches"];

/// A candidate pair of a query with an id.
fn planned_pair(row: &Row<'_>, ids: &HashMap<&str, QueryId>) -> Option<PlannedPair> {
    Some(PlannedPair {
        url: UrlId(row.id(0)),
        query: *ids.get(row.text(1))?,
        chance: row.number(2),
        entry_chance: row.number(3),
        margin: row.number(4),
        matches: row.id(5) == 1,
    })
}

/// The segment of the pairs of a closed cycle whose outcomes are at this place; none where an older version
/// wrote other margins.
pub(super) fn pairs_beside(manifest: &Manifest, at: usize) -> Option<&SegmentEntry> {
    // A close writes both at once.
    let mut beside = manifest.segments[at..].iter();
    let pairs = beside.find(|segment| segment.kind == SegmentKind::PairOutcomes);
    pairs.filter(|pairs| has_log_odds(manifest, pairs))
}

/// Candidate pairs of the fetched picks of a closed cycle, of queries with an id, each with whether its page entered
/// the list.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(super) fn closed_pairs(
    store: &Store,
    segment: &SegmentEntry,
    ids: &HashMap<&str, QueryId>,
) -> Result<Vec<(PlannedPair, bool)>, StoreError> {
    let mut pairs = Vec::new();
    let names: Vec<&str> = PAIR_NAMES.into_iter().chain(["entered"]).collect();
    each_row(store, segment, PAIR_OUTCOMES, &names, |row| {
        pairs.extend(planned_pair(row, ids).map(|pair| (pair, row.id(6) == 1)));
        Ok(())
    })?;
    Ok(pairs)
}

/// A plan that was closed.
pub(super) fn closed_plan<'a>(manifest: &'a Manifest, plan: &str) -> Option<&'a ClosedPlan> {
    manifest.closed_plans.iter().rfind(|closed| closed.id == plan)
}

/// The places of the lists that the figures of a closed plan are in; where that is not told, these others.
pub(super) fn places_of(manifest: &Manifest, plan: &str, others: Places) -> Places {
    let closed = closed_plan(manifest, plan);
    closed.and_then(|closed| Places::deserialize(&closed.places).ok()).unwrap_or(others)
}

/// The workload of a plan.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(crate) fn workload(store: &Store, plan: &str) -> Result<Workload, StoreError> {
    let found = workload_before(store, store.manifest().segments.len(), plan)?;
    Ok(found.unwrap_or_else(|| Workload { queries: Vec::new() }))
}

/// The workload of a plan that was made before the segment at a place was written.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(super) fn workload_before(
    store: &Store,
    at: usize,
    plan: &str,
) -> Result<Option<Workload>, StoreError> {
    let Some(segment) = workload_segment(store, at, plan)? else { return Ok(None) };
    let mut queries = Vec::new();
    each_row(store, segment, WORKLOADS, &["qid", "query", "frequency", "kind"], |row| {
        queries.push(Query::new(row.text(0), row.text(1), row.number(2), row.text(3)));
        Ok(())
    })?;
    let workload = Workload { queries }.into_words_of(&Analyzer::from(&store.manifest().words));
    Ok(Some(workload))
}

/// Queries without their texts, and by query how many places of its list were taken.
type PastLists = (Vec<Query>, Vec<u32>);

fn workload_segment<'a>(
    store: &'a Store,
    at: usize,
    plan: &str,
) -> Result<Option<&'a SegmentEntry>, StoreError> {
    let before = &store.manifest().segments[..at];
    segment_among(store, before, SegmentKind::Workloads, WORKLOADS, plan)
}

/// The queries of a plan that was made before the segment at a place was written, without their texts, whose words
/// would be cut for nothing; and how many of `k` places of each list were taken then: all, where an older version
/// does not tell.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know.
pub(super) fn lists_before(
    store: &Store,
    at: usize,
    plan: &str,
    k: usize,
) -> Result<Option<PastLists>, StoreError> {
    let Some(segment) = workload_segment(store, at, plan)? else { return Ok(None) };
    let (mut queries, mut taken) = (Vec::new(), Vec::new());
    each_row(store, segment, WORKLOADS, &["qid", "frequency", "served"], |row| {
        queries.push(Query::new(row.text(0), "", row.number(1), ""));
        taken.push(if row.id(2) == NONE { k as u32 } else { row.id(2) });
        Ok(())
    })?;
    Ok(Some((queries, taken)))
}

/// Queries by their qid.
pub(super) fn query_ids(queries: &[Query]) -> HashMap<&str, QueryId> {
    queries.iter().map(|query| query.qid.as_str()).zip((0..).map(QueryId)).collect()
}
