//! Plans, their workloads and their outcomes as tables of the store.

use std::collections::HashMap;

use prospect_index::columns::{Column, ColumnType, Schema};
use prospect_index::error::StoreError;
use prospect_index::manifest::SegmentKind;
use prospect_index::page::UrlId;
use prospect_index::store::Store;

use super::counterfactual::Outcome;
use crate::estimate::blend::{PARTS, PickOutcome};
use crate::estimate::entry::EntryOutcomes;
use crate::plan::explore::Pool;
use crate::sketch::need::QueryOutcome;
use crate::workload::{Query, Workload};

use ColumnType::{F64, Text, U32};

/// Picks, in the order of the batch.
pub const PLANS: Schema = Schema {
    name: "plans",
    columns: &[
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
    ],
};

/// Everything that a plan with exploration chose from, in the order of the ranking.
pub const POOLS: Schema = Schema {
    name: "pools",
    columns: &[
        ("plan_id", Text),
        ("url_id", U32),
        ("pool", Text),
        ("propensity", F64),
        ("query_impact", F64),
        ("locality_impact", F64),
        ("page_impact", F64),
        ("importance_impact", F64),
        ("quality_impact", F64),
        ("estimate", F64),
    ],
};

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

/// A pick as stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredPick {
    /// The URL.
    pub url: UrlId,
    /// Where it comes from.
    pub pool: Pool,
    /// Probability with which it was picked.
    pub propensity: f64,
    /// Parts of the estimate.
    pub parts: [f64; PARTS],
    /// Blended estimate.
    pub estimate: f64,
}

/// A candidate pair of a pick as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPair {
    /// The URL.
    pub url: UrlId,
    /// Query.
    pub qid: String,
    /// Chance that its impact was estimated with.
    pub chance: f64,
    /// Chance to enter the list.
    pub entry_chance: f64,
    /// Expected score less the K-th score, as shares of the query's idf mass.
    pub margin: f64,
    /// Whether the URL or its anchors match the query.
    pub matches: bool,
}

fn rows_of(
    store: &Store,
    kind: SegmentKind,
    schema: Schema,
    plan: &str,
    mut take: impl FnMut(&mut [Column], usize),
) -> Result<(), StoreError> {
    store.read_segments(kind, schema, |_, mut columns| {
        let ids = columns[0].take_text();
        for (row, id) in ids.iter().enumerate() {
            if id == plan {
                take(&mut columns, row);
            }
        }
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
pub fn picks(store: &Store, plan: &str) -> Result<Vec<StoredPick>, StoreError> {
    let mut picks = Vec::new();
    rows_of(store, SegmentKind::Plans, PLANS, plan, |columns, row| {
        picks.push(StoredPick {
            url: UrlId(id(&columns[1], row)),
            pool: Pool::named(text(&columns[3], row)).unwrap_or(Pool::Greedy),
            propensity: number(&columns[4], row),
            parts: std::array::from_fn(|part| number(&columns[5 + part], row)),
            estimate: number(&columns[5 + PARTS], row),
        });
    })?;
    Ok(picks)
}

/// A URL that a plan with exploration chose from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoggedUrl {
    /// The URL.
    pub url: UrlId,
    /// Probability with which it was picked.
    pub propensity: f64,
    /// Parts of the estimate.
    pub parts: [f64; PARTS],
    /// Blended estimate.
    pub estimate: f64,
}

/// What a plan with exploration chose from, in the order of its ranking.
///
/// # Errors
/// A segment is damaged.
pub fn pool(store: &Store, plan: &str) -> Result<Vec<LoggedUrl>, StoreError> {
    let mut urls = Vec::new();
    rows_of(store, SegmentKind::Pools, POOLS, plan, |columns, row| {
        urls.push(LoggedUrl {
            url: UrlId(id(&columns[1], row)),
            propensity: number(&columns[3], row),
            parts: std::array::from_fn(|part| number(&columns[4 + part], row)),
            estimate: number(&columns[4 + PARTS], row),
        });
    })?;
    Ok(urls)
}

/// What became of the URLs of a closed plan; `None` for those that were not reported.
///
/// # Errors
/// A segment is damaged.
pub fn outcomes(store: &Store, plan: &str) -> Result<HashMap<UrlId, Option<Outcome>>, StoreError> {
    let mut outcomes = HashMap::new();
    rows_of(store, SegmentKind::Outcomes, OUTCOMES, plan, |columns, row| {
        if id(&columns[2], row) == 1 {
            let impact = number(&columns[7 + PARTS], row);
            let outcome = Outcome { impact, in_half: number(&columns[8 + PARTS], row) };
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
    let mut ids: Vec<String> = Vec::new();
    // A plan has a segment of its own.
    store.read_segments(SegmentKind::Pools, POOLS, |_, mut columns| {
        ids.extend(columns[0].take_text().into_iter().next());
    })?;
    ids.dedup();
    Ok(ids)
}

/// Candidate pairs of a plan's picks.
///
/// # Errors
/// A segment is damaged.
pub fn pairs(store: &Store, plan: &str) -> Result<Vec<StoredPair>, StoreError> {
    let mut pairs = Vec::new();
    rows_of(store, SegmentKind::PlanPairs, PLAN_PAIRS, plan, |columns, row| {
        pairs.push(StoredPair {
            url: UrlId(id(&columns[1], row)),
            qid: text(&columns[2], row).to_owned(),
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
///
/// # Errors
/// A segment is damaged.
pub fn query_outcomes(store: &Store) -> Result<Vec<QueryOutcome>, StoreError> {
    let mut outcomes = Vec::new();
    store.read_segments(SegmentKind::QueryOutcomes, QUERY_OUTCOMES, |_, mut columns| {
        let (means, new) = (columns[2].take_f64(), columns[3].take_f64());
        let rows = means.into_iter().zip(new);
        outcomes.extend(
            rows.map(|(mean_before, new_results)| QueryOutcome { mean_before, new_results }),
        );
    })?;
    Ok(outcomes)
}

/// What became of the candidate pairs of fetched picks in all closed cycles.
///
/// # Errors
/// A segment is damaged.
pub fn entry_outcomes(store: &Store) -> Result<EntryOutcomes, StoreError> {
    let mut outcomes = EntryOutcomes::default();
    let mut cycle = None;
    store.read_segments(SegmentKind::PairOutcomes, PAIR_OUTCOMES, |segment, mut columns| {
        // A cycle has a segment of its own.
        if cycle.replace(segment.file.file.clone()) != Some(segment.file.file.clone()) {
            outcomes.next_cycle();
        }
        let margins = columns[5].take_f64();
        for (row, margin) in margins.into_iter().enumerate() {
            let matches = id(&columns[7], row) == 1;
            outcomes.add(matches, margin, id(&columns[6], row) == 1);
        }
    })?;
    Ok(outcomes)
}

/// What became of the fetched picks of all closed cycles.
///
/// # Errors
/// A segment is damaged.
pub fn pick_outcomes(store: &Store) -> Result<Vec<PickOutcome>, StoreError> {
    let mut outcomes = Vec::new();
    store.read_segments(SegmentKind::Outcomes, OUTCOMES, |_, columns| {
        let rows = match &columns[2] {
            Column::U32(planned) => planned.len(),
            _ => 0,
        };
        for row in 0..rows {
            if id(&columns[2], row) == 1 && text(&columns[3], row) == "fetched" {
                let parts = std::array::from_fn(|part| number(&columns[6 + part], row));
                let realised = number(&columns[7 + PARTS], row);
                let url = UrlId(id(&columns[1], row));
                outcomes.push(PickOutcome { url, parts, realised });
            }
        }
    })?;
    Ok(outcomes)
}
