//! What today's program reads in stores of every format that was released, and that no table changes
//! unnoticed. What commands do with such stores is in `tests/store_formats.rs`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use prospect_index::columns::{Column, Schema};
use prospect_index::error::StoreError;
use prospect_index::manifest::{
    ClosedPlan, CycleEntry, Epoch, FORMAT, InFlightFor, IngestEntry, Manifest, QualityEntry,
    SegmentKind, StoredPlan,
};
use prospect_index::page_store;
use prospect_index::store::Store;
use serde_json::{Value, json};

use super::kept_stores::{copy_of, expected, kept, open, rewrite, stores};
use prospect_index::words::WordOptions;

use crate::campaign::records::{self, PastReader};
use crate::campaign::tables::{OUTCOMES, PLANS, SCHEMAS};
use crate::plan::explore::Pool;
use crate::planner::cycle::{Past, PickState, PlannedPick};
use crate::planner::settings::PlanSettings;

/// What is in a store.
/// What closed cycles left to learn from.
fn past(store: &Store, unread: &mut Vec<String>) -> Result<Arc<Past>, StoreError> {
    let mut reader = PastReader::with_queries();
    reader.update(store)?;
    unread.extend(reader.unread);
    Ok(reader.past)
}

fn told(store: &Path) -> Value {
    let store = open(store);
    let (manifest, known) = (store.manifest(), store.known().unwrap());
    let mut around = 0;
    known.for_each_link_context(store.storage(), manifest, |_, _, _, _| around += 1).unwrap();
    let plan = manifest.plans.last().unwrap();
    let mut unread = Vec::new();
    let workload = records::workload(&store, &plan.id).unwrap();
    let pairs = records::pairs(&store, &plan.id, &workload.queries, &mut unread).unwrap();
    let url = |pick: &PlannedPick| known.urls.spelling(pick.url).to_owned();
    let past = past(&store, &mut unread).unwrap();
    json!({
        "format": manifest.format,
        "urls": known.urls.len(),
        "pages": known.pages.len(),
        "links": known.links.links_from(0).count(),
        "around": around,
        "scored": known.quality.iter().filter(|quality| !quality.is_nan()).count(),
        "closed_cycles": manifest.closed_cycles,
        "plan": plan.id,
        "queries": records::workload(&store, &plan.id).unwrap().queries.len(),
        "picks": records::picks(&store, &plan.id)
            .unwrap()
            .iter()
            .map(|pick| format!("{} {}", pick.pool.name(), url(pick)))
            .collect::<Vec<_>>(),
        "pool": records::pool(&store, &plan.id).unwrap().len(),
        "pairs": pairs.len(),
        "learned": {
            "picks": past.picks.len(),
            "realised": past.picks.iter().map(|pick| pick.realised).sum::<f64>(),
            "queries": past.queries.len(),
        },
        "unread": unread.len(),
    })
}

#[test]
fn a_store_of_an_older_format_says_what_it_said() {
    for name in kept() {
        let (_held, store) = copy_of(&name);
        let told = told(&store);
        assert_eq!(told, expected(&name)["told"], "{name}: {told:#}");
    }
}

/// What is in a store, row by row.
fn told_in_full(path: &Path) -> String {
    let mut told = told(path);
    told["format"] = json!(null);
    let store = open(path);
    let plan = store.manifest().plans.last().unwrap().id.clone();
    let mut unread = Vec::new();
    let planned = records::picks(&store, &plan).unwrap();
    let workload = records::workload(&store, &plan).unwrap();
    let Past { picks, pairs, queries } = &*past(&store, &mut unread).unwrap();
    let candidates = records::pairs(&store, &plan, &workload.queries, &mut unread).unwrap();
    format!("{told} {picks:?} {pairs:?} {queries:?} {planned:?} {candidates:?}")
}

#[test]
fn columns_of_plans_that_changed_places_say_what_they_said() {
    let (_held, store) = copy_of("format-1");
    let before = told_in_full(&store);
    for (kind, schema) in SCHEMAS {
        rewrite(&store, kind, schema, |schema, mut columns| {
            columns.reverse();
            let moved: Vec<_> = schema.columns.iter().rev().copied().collect();
            (Schema { columns: Box::leak(moved.into_boxed_slice()), ..schema }, columns)
        });
        assert!(told_in_full(&store) == before, "{}", schema.name);
    }
}

/// Replaces the text column of this name with one that says `value`.
fn say(schema: Schema, name: &str, value: &str, mut columns: Vec<Column>) -> (Schema, Vec<Column>) {
    let at = schema.columns.iter().position(|(column, _)| *column == name).unwrap();
    let rows = columns[at].take_text().len();
    columns[at] = Column::Text(vec![value.to_owned(); rows]);
    (schema, columns)
}

/// The error says of which file, column and value, and calls it no damage.
#[track_caller]
fn assert_not_known<T>(found: Result<T, StoreError>, file: &str, what: &str) {
    let Err(error) = found else { panic!("it was read") };
    let told = error.to_string();
    assert!(told.contains(file) && told.contains(what), "{told}");
    assert!(matches!(error, StoreError::UnknownValue { .. }), "{error:?}");
}

#[test]
fn a_pool_of_no_known_name_is_told_and_not_taken_for_another() {
    let (_held, path) = copy_of("format-1");
    let lottery = |schema, columns| say(schema, "pool", "lottery", columns);
    rewrite(&path, SegmentKind::Plans, PLANS, lottery);
    let store = open(&path);
    let what = "the column pool holds \"lottery\", which is none of greedy, near, far";
    let plan = &store.manifest().plans.last().unwrap().id;
    assert_not_known(records::picks(&store, plan), "segments/plans-", what);
}

#[test]
fn a_state_of_no_known_name_is_told_and_not_taken_for_another() {
    let (_held, path) = copy_of("format-1");
    let forgotten = |schema, columns| say(schema, "state", "forgotten", columns);
    rewrite(&path, SegmentKind::Outcomes, OUTCOMES, forgotten);
    let what = "the column state holds \"forgotten\", which is none of unknown, fetched, failed, redirected";
    assert_not_known(past(&open(&path), &mut Vec::new()), "segments/outcomes-", what);
}

#[test]
fn every_spelling_of_settings_that_stores_have_is_read() {
    let text = fs::read_to_string(stores().join("settings.jsonl")).unwrap();
    assert!(text.lines().count() > 1);
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let read = serde_json::from_value::<PlanSettings>(case["settings"].clone());
        if let Some(name) = case["taken_out"].as_str() {
            let error = read.expect_err("what was taken out is told").to_string();
            assert!(error.contains(&format!("unknown variant `{name}`")), "{error}");
            continue;
        }
        let read = read.unwrap_or_else(|error| panic!("{}: {error}", case["why"]));
        // What is written today is read as the same again.
        let again = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<PlanSettings>(again).unwrap(), read, "{}", case["why"]);
    }
}

/// Every table with the names in it, and the manifest, as text.
fn schemas() -> String {
    let mut told = String::new();
    for (kind, schema) in page_store::SCHEMAS.into_iter().chain(SCHEMAS) {
        assert_eq!(json!(kind), json!(schema.name), "a table is called as its kind");
        told += &format!("{}, version {}\n", schema.name, schema.version);
        for (column, kind) in schema.columns {
            told += &format!("  {column}: {kind}\n");
        }
    }
    told += &format!("pools\n  {}\n", Pool::ALL.map(Pool::name).join(", "));
    told += &format!("states\n  {}\n", PickState::ALL.map(PickState::name).join(", "));
    let merged = json!({"lasting": 1, "basis": "of all", "of_kind": "of all urls"});
    let file = json!({"kind": "urls", "file": "a file", "bytes": 0, "checksum": "of it", "rows": 0,
        "merged": merged});
    let parts = json!({"kind": "plans", "file": "another", "bytes": 0, "checksum": "of it", "rows": 2,
        "parts": [[1, 0, 2], [2, 2, 0]]});
    let mut segments = json!(Manifest::default());
    segments["segments"] = json!([file, parts]);
    let segments: Manifest = serde_json::from_value(segments).unwrap();
    let manifest = Manifest {
        segments: segments.segments,
        ingests: vec![IngestEntry {
            fingerprint: "of inputs".into(),
            first_seq: 0,
            end_seq: 0,
            plans: vec!["a plan".into()],
        }],
        cycles: vec![CycleEntry { first_seq: 0, plan: Some("a plan".into()), streamed: true }],
        plans: [InFlightFor::Ingests(3), InFlightFor::Seconds(7_200)]
            .map(|in_flight_for| StoredPlan {
                id: "a plan".into(),
                settings: json!({}),
                files: vec!["a file".into()],
                first_seq: 0,
                epoch: Epoch::default(),
                in_flight_for,
                streamed: true,
                chances_learned: Some(true),
            })
            .into(),
        closed_plans: vec![ClosedPlan {
            id: "a plan".into(),
            first_seq: 0,
            end_seq: 0,
            chances_learned: Some(true),
            places: json!({}),
            led_to: json!({}),
        }],
        quality: Some(QualityEntry {
            model: "a model".into(),
            fingerprint: "of it".into(),
            end_seq: 0,
        }),
        words: WordOptions::new("german".parse().ok(), vec!["german".parse().unwrap()], true),
        ..Manifest::default()
    };
    told + "manifest\n" + &serde_json::to_string_pretty(&manifest).unwrap() + "\n"
}

#[test]
fn no_schema_changes_without_the_format() {
    let name = format!("tests/stores/schemas-{FORMAT}.txt");
    let listed =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&name)).unwrap_or_default();
    let found = schemas();
    assert!(
        found == listed,
        "What a store holds is not what {name} lists for format {FORMAT}. Programs of that format would read \
         the new files wrongly, so:\n\
         1. raise FORMAT in index/src/manifest.rs, add its line to the table there, and raise the `version` of \
         each schema that changed;\n\
         2. where an older file lacks what is read now, say in its reader what is done instead;\n\
         3. keep a store of the old format: tests/stores/make.sh, with the program from before the change;\n\
         4. leave {name} as it is and write the list below to the file of the new format.\n\n{found}"
    );
}

#[test]
fn every_format_that_was_released_is_kept() {
    let names = kept();
    for format in 1..FORMAT {
        assert!(
            names.contains(&format!("format-{format}")),
            "there is no store of format {format}"
        );
    }
}
