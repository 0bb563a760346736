//! Stores of every format that was released are opened and worked on, and no table changes unnoticed.
//!
//! Story: a crawl takes months, and `prospect` is updated in the middle of it. `tests/stores/` keeps a small
//! store of each format as the program of its time left it, with one closed cycle and an open plan, and what
//! is in it as JSON beside it. Today's program reads all of it, closes the plan and makes the next one. Where
//! it cannot know what a record means, it says so with the file, the column and the value, and calls it no
//! damage.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{assert_sound, copy, done, prospect, text, truth};
use prospect::campaign::records;
use prospect::campaign::tables::{OUTCOMES, PLANS, SCHEMAS};
use prospect::plan::explore::Pool;
use prospect::planner::cycle::{Past, PickState, PlannedPick};
use prospect::planner::settings::PlanSettings;
use prospect_index::columns::{Column, Schema};
use prospect_index::manifest::{
    CycleEntry, FORMAT, IngestEntry, MANIFEST, Manifest, QualityEntry, SegmentEntry, SegmentKind,
    StoredPlan,
};
use prospect_index::page_store;
use prospect_index::storage::FileEntry;
use prospect_index::store::{Store, StoreOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores")
}

fn tiny(name: &str) -> String {
    format!("{}/workloads/tiny/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The stores that are kept, by name.
fn kept() -> Vec<String> {
    let entries = fs::read_dir(stores()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.contains(&"format-1".to_owned()));
    names
}

/// One test at a time: a process that another one starts has all open files, locks too, until it becomes
/// another program.
static ALONE: Mutex<()> = Mutex::new(());

/// What a copy of a store needs while it is worked on.
type Held = (MutexGuard<'static, ()>, TempDir);

/// A copy of a kept store to work on.
fn copy_of(name: &str) -> (Held, PathBuf) {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    copy(&stores().join(name), &store);
    ((alone, directory), store)
}

fn open(store: &Path) -> Store {
    Store::open(store, &StoreOptions::default()).unwrap()
}

/// What is in a store.
fn told(store: &Path) -> Value {
    let store = open(store);
    let (manifest, known) = (store.manifest(), store.known().unwrap());
    let mut around = 0;
    known.for_each_link_context(store.storage(), manifest, |_, _, _, _| around += 1).unwrap();
    let plan = manifest.plan.as_ref().unwrap();
    let mut unread = Vec::new();
    let workload = records::workload(&store, &plan.id).unwrap();
    let pairs = records::pairs(&store, &plan.id, &workload, &mut unread).unwrap();
    let url = |pick: &PlannedPick| known.urls.spelling(pick.url).to_owned();
    let past = records::past(&store, &mut unread).unwrap();
    json!({
        "format": manifest.format,
        "urls": known.urls.len(),
        "pages": known.pages.len(),
        "links": known.links.links().len(),
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

fn expected(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(stores().join(format!("{name}.json"))).unwrap())
        .unwrap()
}

#[test]
fn a_store_of_an_older_format_says_what_it_said() {
    for name in kept() {
        let (_held, store) = copy_of(&name);
        let told = told(&store);
        assert_eq!(told, expected(&name)["told"], "{name}: {told:#}");
    }
}

#[test]
fn reading_an_older_store_changes_nothing() {
    for name in kept() {
        let (_held, store) = copy_of(&name);
        let before = truth(&store);
        assert_sound(&store);
        let pick = expected(&name)["told"]["picks"][0].as_str().unwrap().to_owned();
        let (_, url) = pick.split_once(' ').unwrap();
        let explained = prospect(&["explain", "--store", text(&store), url]);
        match expected(&name)["explained"].as_str().unwrap() {
            "" => {
                assert_eq!(explained.code, Some(0), "{name}: {}", explained.stderr);
                assert!(explained.stdout.contains("number 1 of plan"), "{}", explained.stdout);
            }
            // The plan asks for what today's version cannot do any longer.
            refused => {
                assert_eq!(explained.code, Some(1));
                assert!(explained.stderr.contains(refused), "{}", explained.stderr);
                assert!(explained.stderr.contains("hint: nothing is lost"), "{}", explained.stderr);
            }
        }
        assert!(truth(&store) == before, "{name}");
    }
}

/// Pages of the tiny site, ingested; the plan is closed.
fn close(store: &Path, pages: &[&str]) -> Vec<String> {
    let site = tiny("site");
    let base = ["--base-url", "https://tools.example/", "--html-root", &site, "--close", "--json"];
    let mut arguments = vec!["ingest".to_owned(), "--store".to_owned(), text(store).to_owned()];
    arguments.extend(base.map(str::to_owned));
    arguments.extend(pages.iter().map(|page| format!("{site}/{page}")));
    arguments
}

fn json_of(arguments: &[String]) -> Value {
    serde_json::from_str(&done(arguments).stdout).unwrap()
}

fn plan(store: &Path) -> Vec<String> {
    let queries = tiny("queries.tsv");
    let arguments = ["plan", "--store", text(store), "--workload", &queries, "--budget", "5"];
    arguments.map(str::to_owned).to_vec()
}

#[test]
fn a_store_of_an_older_format_is_worked_on() {
    for name in kept() {
        let (_held, store) = copy_of(&name);
        let (before, expected) = (truth(&store), expected(&name));
        let picks: Vec<&str> = expected["told"]["picks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pick| pick.as_str().unwrap())
            .collect();
        let page = |pick: &&str| pick.split_once("https://tools.example/").unwrap().1.to_owned();
        let pages: Vec<String> = picks[..3].iter().map(page).collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();

        let ingested = json_of(&close(&store, &pages));
        assert_eq!(ingested["closed"]["plan_id"], expected["told"]["plan"], "{name}");
        let counts =
            ["planned", "fetched", "failed", "unknown"].map(|count| &ingested["closed"][count]);
        assert_eq!(counts, [8, 3, 0, 5], "{name}");
        assert!(ingested["closed"]["realised_impact"].as_f64().unwrap() > 0.0);
        let was = expected["told"]["pages"].as_u64().unwrap();
        assert_eq!(ingested["pages"].as_u64().unwrap(), was + 3, "{name}");

        let mut arguments = plan(&store);
        arguments.push("--json".to_owned());
        let planned = json_of(&arguments);
        assert_eq!(planned["urls"].as_array().unwrap().len(), 5, "{name}");
        assert_eq!(planned["blend"]["outcomes"], expected["learned_then"], "{name}");

        assert_sound(&store);
        let (store, after) = (open(&store), truth(&store));
        assert_eq!(store.manifest().format, FORMAT);
        let mut unread = Vec::new();
        records::past(&store, &mut unread).unwrap();
        assert_eq!(unread.len() as u64, expected["unread_then"].as_u64().unwrap(), "{name}");
        for (path, bytes) in before.iter().filter(|(path, _)| *path != Path::new(MANIFEST)) {
            assert_eq!(after.get(path), Some(bytes), "{name}: {} is as it was", path.display());
        }
    }
}

/// Columns of a segment as a schema says.
fn columns_of(store: &Store, segment: &SegmentEntry, schema: Schema) -> Vec<Column> {
    let mut found = Vec::new();
    let take = |columns| {
        found = columns;
        Ok(())
    };
    store.read_segment(segment, schema, &schema.names(), take).unwrap();
    found
}

/// Commits every segment of a table again with columns that were changed.
fn rewrite(
    path: &Path,
    kind: SegmentKind,
    schema: Schema,
    change: impl Fn(Vec<Column>) -> (Schema, Vec<Column>),
) {
    let segments: Vec<SegmentEntry> = open(path).manifest().segments_of(kind).cloned().collect();
    for old in segments {
        let mut store = open(path);
        let (written, columns) = change(columns_of(&store, &old, schema));
        let new = store.write_segment(kind, written, &columns).unwrap();
        store
            .commit(|manifest| {
                let entry = manifest.segments.iter_mut().find(|entry| **entry == old).unwrap();
                let file = new.file.file.clone();
                if let Some(plan) = &mut manifest.plan {
                    plan.files
                        .iter_mut()
                        .filter(|name| **name == old.file.file)
                        .for_each(|name| name.clone_from(&file));
                }
                *entry = new;
            })
            .unwrap();
    }
}

/// What is in a store, row by row.
fn told_in_full(path: &Path) -> String {
    let mut told = told(path);
    told["format"] = json!(null);
    let store = open(path);
    let plan = store.manifest().plan.as_ref().unwrap().id.clone();
    let mut unread = Vec::new();
    let Past { picks, pairs, queries } = records::past(&store, &mut unread).unwrap();
    let planned = records::picks(&store, &plan).unwrap();
    let workload = records::workload(&store, &plan).unwrap();
    let candidates = records::pairs(&store, &plan, &workload, &mut unread).unwrap();
    format!("{told} {picks:?} {pairs:?} {queries:?} {planned:?} {candidates:?}")
}

#[test]
fn columns_of_plans_that_changed_places_say_what_they_said() {
    let (_held, store) = copy_of("format-1");
    let before = told_in_full(&store);
    for (kind, schema) in SCHEMAS {
        rewrite(&store, kind, schema, |mut columns| {
            columns.reverse();
            let moved: Vec<_> = schema.columns.iter().rev().copied().collect();
            (Schema { columns: Box::leak(moved.into_boxed_slice()), ..schema }, columns)
        });
        assert!(told_in_full(&store) == before, "{}", schema.name);
    }
}

/// Replaces the text column of this name with one that says `value`.
fn say(schema: Schema, name: &str, value: &str, mut columns: Vec<Column>) -> (Schema, Vec<Column>) {
    let at = schema.names().iter().position(|column| *column == name).unwrap();
    columns[at] = Column::Text(vec![value.to_owned(); columns[at].len()]);
    (schema, columns)
}

/// A command fails, and says of which file, column and value.
#[track_caller]
fn assert_not_known(arguments: &[String], file: &str, what: &str) {
    let run = prospect(arguments);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains(file) && run.stderr.contains(what), "{}", run.stderr);
    assert!(run.stderr.contains("hint: nothing is damaged or lost"), "{}", run.stderr);
}

#[test]
fn a_pool_of_no_known_name_is_told_and_not_taken_for_another() {
    let (_held, store) = copy_of("format-1");
    rewrite(&store, SegmentKind::Plans, PLANS, |columns| say(PLANS, "pool", "lottery", columns));
    let what = "the column pool holds \"lottery\", which is none of greedy, near, far";
    assert_not_known(&close(&store, &["about.html"]), "segments/plans-", what);
}

#[test]
fn a_state_of_no_known_name_is_told_and_not_taken_for_another() {
    let (_held, store) = copy_of("format-1");
    let forgotten = |columns| say(OUTCOMES, "state", "forgotten", columns);
    rewrite(&store, SegmentKind::Outcomes, OUTCOMES, forgotten);
    let what = "the column state holds \"forgotten\", which is none of unknown, fetched, failed, redirected";
    assert_not_known(&plan(&store), "segments/outcomes-", what);
}

/// Changes the settings of the open plan.
fn change_settings(store: &Path, change: impl Fn(&mut Value)) {
    let mut store = open(store);
    store.commit(|manifest| change(&mut manifest.plan.as_mut().unwrap().settings)).unwrap();
}

#[test]
fn a_plan_of_settings_that_are_gone_is_closed_all_the_same() {
    let (_held, store) = copy_of("format-1");
    change_settings(&store, |settings| settings["estimate"]["reading"] = json!("oracle"));
    let explain = ["explain", "--store", text(&store), "https://tools.example/about.html"];
    let run = prospect(&explain);
    assert_eq!(run.code, Some(1));
    let what = "the open plan 96726423fbbfa240 was made by another version of prospect: unknown variant `oracle`";
    assert!(
        run.stderr.contains(what) && run.stderr.contains("hint: nothing is lost"),
        "{}",
        run.stderr
    );
    let closed = &json_of(&close(&store, &["library/late-returns.html"]))["closed"];
    assert_eq!((&closed["planned"], &closed["fetched"]), (&json!(8), &json!(1)));
    done(&plan(&store));
}

#[test]
fn a_plan_that_cannot_be_closed_is_given_up_on_request_and_stays_in_the_store() {
    let (_held, store) = copy_of("format-1");
    change_settings(&store, |settings| settings["k"] = json!("ten"));
    let before = truth(&store);
    let run = prospect(&close(&store, &["library/late-returns.html"]));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("`prospect plan --release 96726423fbbfa240 …`"), "{}", run.stderr);
    assert_eq!(prospect(&plan(&store)).code, Some(1), "its pages have no outcome yet");

    let release = |id: &str| [plan(&store), vec!["--release".to_owned(), id.to_owned()]].concat();
    let run = prospect(&release("another"));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("hint: the open plan is 96726423fbbfa240"), "{}", run.stderr);
    let run = done(&release("96726423fbbfa240"));
    assert!(run.stderr.contains("plan 96726423fbbfa240 is given up"), "{}", run.stderr);
    assert_sound(&store);
    let after = truth(&store);
    assert!(before.keys().all(|path| after.contains_key(path)), "nothing stored is lost");
    // Nobody values other batches by one without outcomes.
    let valued: Value =
        serde_json::from_str(&done(&["counterfactual", "--json", "--store", text(&store)]).stdout)
            .unwrap();
    assert_eq!(valued["plan_id"], "a4b13ca60d916eac");
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
            told += &format!("  {column}: {}\n", kind.description());
        }
    }
    told += &format!("pools\n  {}\n", Pool::ALL.map(Pool::name).join(", "));
    told += &format!("states\n  {}\n", PickState::ALL.map(PickState::name).join(", "));
    let file = FileEntry { file: "a file".into(), bytes: 0, checksum: "of it".into() };
    let manifest = Manifest {
        segments: vec![SegmentEntry { kind: SegmentKind::Urls, file, rows: 0, schema: 0 }],
        ingests: vec![IngestEntry { fingerprint: "of inputs".into(), first_seq: 0, end_seq: 0 }],
        cycles: vec![CycleEntry { first_seq: 0, plan: Some("a plan".into()) }],
        plan: Some(StoredPlan {
            id: "a plan".into(),
            settings: json!({}),
            files: vec!["a file".into()],
        }),
        quality: Some(QualityEntry {
            model: "a model".into(),
            fingerprint: "of it".into(),
            end_seq: 0,
        }),
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
