//! Schemas of plans, their workloads and their outcomes in a store. Who changes one raises its version and
//! [`prospect_index::manifest::FORMAT`], and [`super::records`] goes on reading what older versions wrote.

use prospect_index::columns::{ColumnType, Schema};
use prospect_index::manifest::SegmentKind;
use prospect_index::page_store::NONE;

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
    ("discovery_impact", F64),
    ("estimate", F64),
];

/// Before version 2 nobody estimated what pages lead to.
const LATER_PICK_COLUMNS: &[(&str, u32, f64)] = &[("discovery_impact", 2, 0.0)];

/// Picks, in the order of the batch.
pub(crate) const PLANS: Schema =
    Schema { name: "plans", version: 2, columns: PICK_COLUMNS, later: LATER_PICK_COLUMNS };

/// Everything that a plan with exploration chose from, in the order of the ranking.
pub(crate) const POOLS: Schema =
    Schema { name: "pools", version: 2, columns: PICK_COLUMNS, later: LATER_PICK_COLUMNS };

/// Candidate pairs of the picks.
pub(crate) const PLAN_PAIRS: Schema = Schema {
    name: "plan_pairs",
    version: 3,
    columns: &[
        ("plan_id", Text),
        ("url_id", U32),
        ("qid", Text),
        ("chance", F64),
        ("entry_chance", F64),
        ("margin", F64),
        ("matches", U32),
    ],
    later: &[],
};

/// Pages that a plan has fetched again: the chance that they have changed, and their impact in the lists.
pub(crate) const REVISITS: Schema = Schema {
    name: "revisits",
    version: 1,
    columns: &[("plan_id", Text), ("url_id", U32), ("chance", F64), ("impact", F64)],
    later: &[],
};

/// What an open plan is held to: URLs of the list that were known when it was made.
pub(crate) const LISTS: Schema = Schema {
    name: "lists",
    version: 1,
    columns: &[("plan_id", Text), ("url_id", U32)],
    later: &[],
};

/// How well the pages answered the queries of a plan when it was made: one row. Numbers that are not known are NaN.
pub(crate) const SUFFICIENCY: Schema = Schema {
    name: "sufficiency",
    version: 1,
    columns: &[
        ("plan_id", Text),
        ("workload", Text),
        ("pages", U32),
        ("epoch", U32),
        ("queries", U32),
        ("askings", F64),
        ("coverage", F64),
        ("words", F64),
        ("consistency", F64),
        ("saturation", F64),
        ("redundancy", F64),
        ("domain_coverage", F64),
        ("sufficiency", F64),
        ("confidence", F64),
        ("sufficient_share", F64),
        ("workload_saturation", F64),
        ("workload_saturation_low", F64),
        ("workload_saturation_high", F64),
    ],
    later: &[],
};

/// Queries that plans were made for, and how many pages were in their lists; [`NONE`] where that is not told.
pub(crate) const WORKLOADS: Schema = Schema {
    name: "workloads",
    version: 2,
    columns: &[
        ("plan_id", Text),
        ("qid", Text),
        ("query", Text),
        ("frequency", F64),
        ("kind", Text),
        ("served", U32),
    ],
    later: &[("served", 2, NONE as f64)],
};

/// What became of planned URLs, and pages fetched without having been planned.
pub(crate) const OUTCOMES: Schema = Schema {
    name: "outcomes",
    version: 2,
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
        ("discovery_impact", F64),
        ("predicted_impact", F64),
        ("realised_impact", F64),
        ("impact_in_half", F64),
    ],
    later: LATER_PICK_COLUMNS,
};

/// What became of the candidate pairs of fetched picks.
pub(crate) const PAIR_OUTCOMES: Schema = Schema {
    name: "pair_outcomes",
    version: 3,
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
    later: &[],
};

/// What became of the queries.
pub(crate) const QUERY_OUTCOMES: Schema = Schema {
    name: "query_outcomes",
    version: 1,
    columns: &[("plan_id", Text), ("qid", Text), ("mean_before", F64), ("new_results", F64)],
    later: &[],
};

/// Of a closed cycle whose crawl has grown by a quarter since: lists that its fetched picks are in. The segments are of
/// the closed cycles in their order.
pub(crate) const STAYS: Schema = Schema {
    name: "stays",
    version: 2,
    columns: &[("plan_id", Text), ("url_id", U32), ("qid", Text), ("rank", U32), ("impact", F64)],
    later: &[],
};

/// Picks as they were before draws came from two pools: whether a pick was drawn.
pub(super) const EARLY_PLANS: Schema = Schema {
    name: "plans",
    version: 0,
    columns: &[
        ("url_id", U32),
        ("explored", U32),
        ("propensity", F64),
        ("query_impact", F64),
        ("locality_impact", F64),
        ("page_impact", F64),
        ("importance_impact", F64),
        ("quality_impact", F64),
        ("estimate", F64),
    ],
    later: &[],
};

/// The schemas of this module by what they are tables of.
pub(crate) const SCHEMAS: [(SegmentKind, Schema); 11] = [
    (SegmentKind::Plans, PLANS),
    (SegmentKind::Pools, POOLS),
    (SegmentKind::PlanPairs, PLAN_PAIRS),
    (SegmentKind::Workloads, WORKLOADS),
    (SegmentKind::Outcomes, OUTCOMES),
    (SegmentKind::PairOutcomes, PAIR_OUTCOMES),
    (SegmentKind::QueryOutcomes, QUERY_OUTCOMES),
    (SegmentKind::Stays, STAYS),
    (SegmentKind::Revisits, REVISITS),
    (SegmentKind::Sufficiency, SUFFICIENCY),
    (SegmentKind::Lists, LISTS),
];
