//! Plans, their workloads and their outcomes as tables of the store.

use std::collections::HashMap;

use prospect_index::columns::{Column, ColumnType, Schema};
use prospect_index::error::StoreError;
use prospect_index::manifest::{SegmentEntry, SegmentKind};
use prospect_index::page::UrlId;
use prospect_index::store::Store;

use crate::estimate::blend::PickOutcome;
use crate::estimate::models::entry::EntryOutcomes;
use crate::estimate::parts::{Part, Parts};
use crate::plan::Pick;
use crate::plan::explore::Pool;
use crate::plan::off_policy::counterfactual::Outcome;
use crate::planner::cycle::{Past, PlannedPair, PlannedPick};
use crate::sketch::need::QueryOutcome;
use crate::workload::{Query, QueryId, Workload};

use ColumnType::{F64, Text, U32};

const PICK_COLUMNS: &[(&str, ColumnType)] = &[
    ("plan_id", Text),
    ("url_id", U32),
    ("frontier_rank", U32),
    ("pool", Text),
    ("propensity", F64),
    ("query_impact", F64),
    ("locality_impact", F64),
    ("page_impact", F64),
    ("importance_impact", F64),
    ("quality_impact", F64),
    ("estimate", F64),
];

/// Picks, in the order of the batch.
pub const PLANS: Schema = Schema { name: "plans", columns: PICK_COLUMNS };

/// Everything that a plan with exploration chose from, in the order of the ranking.
pub const POOLS: Schema = Schema { name: "pools", columns: PICK_COLUMNS };

/// Candidate pairs of the picks.
pub const PLAN_PAIRS: Schema = Schema {
    name: "plan_pairs",
    columns: &[
        ("plan_id", Text),
        ("url_id", U32),
        ("qid", Text),
        ("chance", F64),
        ("entry_chance", F64),
        ("margin", F64),
        ("matches", U32),
    ],
};

/// Queries that plans were made for.
pub const WORKLOADS: Schema = Schema {
    name: "workloads",
    columns: &[
        ("plan_id", Text),
        ("qid", Text),
        ("query", Text),
        ("frequency", F64),
        ("kind", Text),
    ],
};

/// What became of planned URLs, and pages fetched without having been planned.
pub const OUTCOMES: Schema = Schema {
    name: "outcomes",
    columns: &[
        ("plan_id", Text),
        ("url_id", U32),
        ("planned", U32),
        ("state", Text),
        ("pool", Text),
        ("propensity", F64),
        ("query_impact", F64),
        ("locality_impact", F64),
        ("page_impact", F64),
        ("importance_impact", F64),
        ("quality_impact", F64),
        ("predicted_impact", F64),
        ("realised_impact", F64),
        ("impact_in_half", F64),
    ],
};

/// What became of the candidate pairs of fetched picks.
pub const PAIR_OUTCOMES: Schema = Schema {
    name: "pair_outcomes",
    columns: &[
        ("plan_id", Text),
        ("url_id", U32),
        ("qid", Text),
        ("chance", F64),
        ("entry_chance", F64),
        ("margin", F64),
        ("entered", U32),
        ("matches", U32),
        ("pool", Text),
    ],
};

/// What became of the queries.
pub const QUERY_OUTCOMES: Schema = Schema {
    name: "query_outcomes",
    columns: &[("plan_id", Text), ("qid", Text), ("mean_before", F64), ("new_results", F64)],
};

/// The segment of a plan's rows: each plan, and each closed cycle, has one of its own.
fn segment_of<'a>(
    store: &'a Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
) -> Result<Option<&'a SegmentEntry>, StoreError> {
    // The newest first: that is whose rows are asked for, and each segment that is looked at is verified.
    for segment in store.manifest().segments_of(kind).rev() {
        if plan_of(store, segment, schema)?.is_some_and(|id| id == plan) {
            return Ok(Some(segment));
        }
    }
    Ok(None)
}

/// The plan that a segment is of; none if it has no row.
fn plan_of(
    store: &Store,
    segment: &SegmentEntry,
    schema: Schema,
) -> Result<Option<String>, StoreError> {
    let mut plan = None;
    store.read_segment(segment, schema, &["plan_id"], |mut columns| {
        plan = plan.take().or_else(|| columns[0].take_text().into_iter().next());
    })?;
    Ok(plan)
}

fn rows_of(
    store: &Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
    mut take: impl FnMut(&[Column], usize),
) -> Result<(), StoreError> {
    let Some(segment) = segment_of(store, kind, schema, plan)? else { return Ok(()) };
    store.read_segment(segment, schema, &schema.names(), |columns| {
        for row in 0..columns[0].len() {
            take(&columns, row);
        }
    })
}

/// What the closed cycles of a store left to learn from.
///
/// # Errors
/// A segment is damaged.
pub fn past(store: &Store) -> Result<Past, StoreError> {
    Ok(Past {
        picks: pick_outcomes(store)?,
        pairs: entry_outcomes(store)?,
        queries: query_outcomes(store)?,
    })
}

fn text(column: &Column, row: usize) -> &str {
    match column {
        Column::Text(values) => &values[row],
        _ => "",
    }
}

fn number(column: &Column, row: usize) -> f64 {
    match column {
        Column::F64(values) => values[row],
        _ => 0.0,
    }
}

fn id(column: &Column, row: usize) -> u32 {
    match column {
        Column::U32(values) => values[row],
        _ => 0,
    }
}

/// Picks of a plan, in batch order.
///
/// # Errors
/// A segment is damaged.
pub fn picks(store: &Store, plan: &str) -> Result<Vec<PlannedPick>, StoreError> {
    stored_picks(store, SegmentKind::Plans, PLANS, plan)
}

/// What a plan with exploration chose from, in the order of its ranking.
///
/// # Errors
/// A segment is damaged.
pub fn pool(store: &Store, plan: &str) -> Result<Vec<PlannedPick>, StoreError> {
    stored_picks(store, SegmentKind::Pools, POOLS, plan)
}

fn stored_picks(
    store: &Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
) -> Result<Vec<PlannedPick>, StoreError> {
    let mut picks = Vec::new();
    rows_of(store, kind, schema, plan, |columns, row| {
        picks.push(PlannedPick {
            url: UrlId(id(&columns[1], row)),
            pool: Pool::named(text(&columns[3], row)).unwrap_or(Pool::Greedy),
            propensity: number(&columns[4], row),
            parts: Parts::of(|part| number(&columns[5 + part as usize], row)),
            estimate: number(&columns[5 + Part::COUNT], row),
        });
    })?;
    Ok(picks)
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
/// A segment is damaged.
pub fn outcomes(store: &Store, plan: &str) -> Result<HashMap<UrlId, Option<Outcome>>, StoreError> {
    let mut outcomes = HashMap::new();
    rows_of(store, SegmentKind::Outcomes, OUTCOMES, plan, |columns, row| {
        if id(&columns[2], row) == 1 {
            let impact = number(&columns[7 + Part::COUNT], row);
            let outcome = Outcome { impact, in_half: number(&columns[8 + Part::COUNT], row) };
            let is_known = text(&columns[3], row) != "unknown";
            outcomes.insert(UrlId(id(&columns[1], row)), is_known.then_some(outcome));
        }
    })?;
    Ok(outcomes)
}

/// Plans with exploration, in order.
///
/// # Errors
/// A segment is damaged.
pub fn pooled_plans(store: &Store) -> Result<Vec<String>, StoreError> {
    let segments = store.manifest().segments_of(SegmentKind::Pools);
    segments.filter_map(|segment| plan_of(store, segment, POOLS).transpose()).collect()
}

/// Candidate pairs of a plan's picks; those of queries that its workload does not hold are left out.
///
/// # Errors
/// A segment is damaged.
pub fn pairs(
    store: &Store,
    plan: &str,
    workload: &Workload,
) -> Result<Vec<PlannedPair>, StoreError> {
    let qids = workload.queries.iter().map(|query| query.qid.as_str());
    let at: HashMap<&str, QueryId> = qids.zip((0..).map(QueryId)).collect();
    let mut pairs = Vec::new();
    rows_of(store, SegmentKind::PlanPairs, PLAN_PAIRS, plan, |columns, row| {
        let Some(&query) = at.get(text(&columns[2], row)) else { return };
        pairs.push(PlannedPair {
            url: UrlId(id(&columns[1], row)),
            query,
            chance: number(&columns[3], row),
            entry_chance: number(&columns[4], row),
            margin: number(&columns[5], row),
            matches: id(&columns[6], row) == 1,
        });
    })?;
    Ok(pairs)
}

/// The workload of a plan.
///
/// # Errors
/// A segment is damaged.
pub fn workload(store: &Store, plan: &str) -> Result<Workload, StoreError> {
    let mut queries = Vec::new();
    rows_of(store, SegmentKind::Workloads, WORKLOADS, plan, |columns, row| {
        let frequency = number(&columns[3], row);
        let (qid, query) = (text(&columns[1], row), text(&columns[2], row));
        queries.push(Query::new(qid, query, frequency, text(&columns[4], row)));
    })?;
    Ok(Workload { queries })
}

/// Outcomes of the queries of all closed cycles.
fn query_outcomes(store: &Store) -> Result<Vec<QueryOutcome>, StoreError> {
    let mut outcomes = Vec::new();
    let (kind, names) = (SegmentKind::QueryOutcomes, ["mean_before", "new_results"]);
    store.read_segments(kind, QUERY_OUTCOMES, &names, |_, mut columns| {
        let (means, new) = (columns[0].take_f64(), columns[1].take_f64());
        let rows = means.into_iter().zip(new);
        outcomes.extend(
            rows.map(|(mean_before, new_results)| QueryOutcome { mean_before, new_results }),
        );
    })?;
    Ok(outcomes)
}

/// What became of the candidate pairs of fetched picks in all closed cycles.
fn entry_outcomes(store: &Store) -> Result<EntryOutcomes, StoreError> {
    let mut outcomes = EntryOutcomes::default();
    for segment in store.manifest().segments_of(SegmentKind::PairOutcomes) {
        outcomes.next_cycle();
        let names = ["margin", "entered", "matches"];
        store.read_segment(segment, PAIR_OUTCOMES, &names, |columns| {
            for row in 0..columns[0].len() {
                let (entered, matches) = (id(&columns[1], row) == 1, id(&columns[2], row) == 1);
                outcomes.add(matches, number(&columns[0], row), entered);
            }
        })?;
    }
    Ok(outcomes)
}

/// What became of the fetched picks of all closed cycles.
fn pick_outcomes(store: &Store) -> Result<Vec<PickOutcome>, StoreError> {
    let mut outcomes = Vec::new();
    let names = [
        "url_id",
        "planned",
        "state",
        "query_impact",
        "locality_impact",
        "page_impact",
        "importance_impact",
        "quality_impact",
        "realised_impact",
    ];
    store.read_segments(SegmentKind::Outcomes, OUTCOMES, &names, |_, columns| {
        for row in 0..columns[0].len() {
            if id(&columns[1], row) == 1 && text(&columns[2], row) == "fetched" {
                let parts = Parts::of(|part| number(&columns[3 + part as usize], row));
                let (url, realised) =
                    (UrlId(id(&columns[0], row)), number(&columns[3 + Part::COUNT], row));
                outcomes.push(PickOutcome { url, parts, realised });
            }
        }
    })?;
    Ok(outcomes)
}
