//! Stores of every format that was released are opened and worked on, and no table changes unnoticed.
//!
//! Story: a crawl takes months, and `prospect` is updated in the middle of it. `tests/stores/` keeps a small
//! store of each format as the program of its time left it, with one closed cycle and an open plan, and what
//! is in it as JSON beside it. Today's program reads all of it, closes the plan and makes the next one. Where
//! it cannot know what a record means, it says so with the file, the column and the value, and calls it no
//! damage.

mod common;
#[path = "common/kept_stores.rs"]
mod kept_stores;

use std::path::Path;

use common::{assert_sound, done, prospect, text, truth};
use kept_stores::{copy_of, expected, kept, open};
use prospect_index::manifest::FORMAT;
use serde_json::{Value, json};

fn tiny(name: &str) -> String {
    format!("{}/workloads/tiny/{name}", env!("CARGO_MANIFEST_DIR"))
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
        assert_eq!(ingested["closed"][0]["plan_id"], expected["told"]["plan"], "{name}");
        let counts =
            ["planned", "fetched", "failed", "unknown"].map(|count| &ingested["closed"][0][count]);
        assert_eq!(counts, [8, 3, 0, 5], "{name}");
        assert!(ingested["closed"][0]["enters"]["realised"].as_f64().unwrap() > 0.0);
        let was = expected["told"]["pages"].as_u64().unwrap();
        assert_eq!(ingested["pages"].as_u64().unwrap(), was + 3, "{name}");

        let mut arguments = plan(&store);
        arguments.push("--json".to_owned());
        let run = done(&arguments);
        let planned: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(planned["urls"].as_array().unwrap().len(), 5, "{name}");
        let unread = expected["unread_then"].as_u64().unwrap();
        let more = format!("; so do {} more\n", unread.saturating_sub(1));
        assert_eq!(run.stderr.contains("left unread"), unread > 0, "{name}: {}", run.stderr);
        assert_eq!(run.stderr.contains(&more), unread > 1, "{name}: {}", run.stderr);

        assert_sound(&store);
        assert_eq!(open(&store).manifest().format, FORMAT);
        let after = truth(&store);
        for (path, bytes) in before.iter().filter(|(path, _)| *path != Path::new("MANIFEST.json")) {
            assert_eq!(after.get(path), Some(bytes), "{name}: {} is as it was", path.display());
        }
    }
}

/// Changes the settings of the open plan.
fn change_settings(store: &Path, change: impl Fn(&mut Value)) {
    let mut store = open(store);
    store.commit(|manifest| change(&mut manifest.plans[0].settings)).unwrap();
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
    let closed = &json_of(&close(&store, &["library/late-returns.html"]))["closed"][0];
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
    // It is open, and others are made beside it.
    done(&plan(&store));
    let release = |id: &str| [plan(&store), vec!["--release".to_owned(), id.to_owned()]].concat();
    let run = prospect(&release("another"));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("hint: open plans are 96726423fbbfa240, "), "{}", run.stderr);
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
