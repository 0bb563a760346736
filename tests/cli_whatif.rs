//! `prospect whatif` as its user meets it: scenarios from a file and from flags, their answers as text,
//! as JSON and as a page, and errors that say where and how on.

#[path = "common/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use server::{demo, prospect};
use tempfile::TempDir;

const SCENARIOS: &str = r#"
[base]
explore = 0

[[scenario]]
name = "sharp tools get hot"
scale = [{ by = 30, pattern = "SHARP" }]
add = [{ query = "zebra", frequency = 7 }]

[[scenario]]
budget = 2
workload = "others.tsv"
"#;

fn demo_store() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    demo(&store);
    (directory, store)
}

fn whatif(store: &Path, arguments: &[&str]) -> Output {
    prospect().args(["whatif", "--store"]).arg(store).args(arguments).output().unwrap()
}

#[track_caller]
fn fails(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn other_lists_and_objectives_are_told_as_such() {
    let (_directory, store) = demo_store();
    let text = |arguments: &[&str]| {
        let output = whatif(&store, arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let seen = text(&["--visibility", "geometric:0.3"]);
    assert!(seen.contains("part "), "what changed an estimate is told: {seen}");
    assert!(!seen.contains("its host"), "{seen}");
    let served = text(&["--objective", "served", "--budget", "3"]);
    assert!(served.contains("objective expected → served"), "{served}");
    let said = fails(&whatif(&store, &["--visibility", "geometric:2"]));
    assert!(said.contains("visibility: it is geometric:2, and must be top, log, or geometric:P"));
}

#[test]
fn scenarios_of_a_file_stand_on_their_base_and_name_files_beside_it() {
    let (directory, store) = demo_store();
    let file = directory.path().join("scenarios.toml");
    fs::write(&file, SCENARIOS).unwrap();
    fs::write(directory.path().join("others.tsv"), "a\tzebra crossing\t3\nb\thash map\t4\n")
        .unwrap();
    let file = file.to_str().unwrap();
    let output = whatif(&store, &["--scenario", file, "--budget", "3", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["schema"], "prospect.whatif/2");
    let scenarios = found["scenarios"].as_array().unwrap();
    let names: Vec<&str> = scenarios.iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sharp tools get hot", "scenario 2", "scenario 3"]);
    assert!(scenarios.iter().all(|scenario| scenario["plan"]["explore"] == 0.0));
    assert_eq!(found["base"]["explore"], 0.0);
    assert_eq!(scenarios[0]["matched_queries"], 1);
    assert!(scenarios[1]["matched_queries"].as_u64().unwrap() >= 1);
    assert_eq!(scenarios[1]["plan"]["picks"], 2);
    assert_eq!(scenarios[2]["plan"]["picks"], 3);
    let curve = scenarios[2]["plan"]["curve"]["points"].as_array().unwrap();
    let impacts: Vec<f64> = curve.iter().map(|point| point["impact"].as_f64().unwrap()).collect();
    assert!(impacts.len() > 2 && impacts.is_sorted());

    // The same bytes again, and with one thread.
    let again = whatif(&store, &["--scenario", file, "--budget", "3", "--json", "--threads", "1"]);
    assert_eq!(again.stdout, output.stdout);
    let text = whatif(&store, &["--scenario", file]);
    let text = String::from_utf8(text.stdout).unwrap();
    for expected in [
        "sharp tools get hot\n",
        "against the plan without it",
        "by planning again",
        "one more URL adds",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_report_is_one_file() {
    let (directory, store) = demo_store();
    let page = directory.path().join("whatif.html");
    let add = "<script>alert(1)</script>=5";
    let output = whatif(&store, &["--add", add, "--html", page.to_str().unwrap(), "--quiet"]);
    assert!(output.status.success(), "{output:?}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Content-Security-Policy"));
    assert!(!page.contains("<script>alert"));
}

#[test]
fn what_is_wrong_names_its_place_and_the_way_out() {
    let (directory, store) = demo_store();
    let written = |text: &str| {
        let file = directory.path().join("wrong.toml");
        fs::write(&file, text).unwrap();
        fails(&whatif(&store, &["--scenario", file.to_str().unwrap()]))
    };
    let error = written("[[scenario]]\nname = \"x\"\nbudgets = 3\n");
    assert!(error.contains("wrong.toml") && error.contains("line 3"), "{error}");
    assert!(error.contains("budgets"), "{error}");
    assert!(written("budget = 3\n").contains("unknown field `budget`"));
    assert!(written("[base]\nbudget = 3\n").contains("nothing is asked"));
    assert!(written("[[scenario]]\nbudget = 0\n").contains("budget: it is 0"));
    assert!(written("[[scenario]]\nworkload = \"none.tsv\"\n").contains("none.tsv"));
    let same = written("[[scenario]]\nname = \"a\"\n[[scenario]]\nname = \"a\"\n");
    assert!(same.contains("two scenarios have the name \"a\""), "{same}");
    assert!(fails(&whatif(&store, &[])).contains("nothing is asked"));
    assert!(fails(&whatif(&store, &["--scale", "x"])).contains("--scale \"x\" is no name"));
    assert!(fails(&whatif(&store, &["--weight", "luck=1"])).contains("there is no part \"luck\""));
    let missing = fails(&whatif(&directory.path().join("none"), &["--budget", "3"]));
    assert!(missing.contains("none"), "{missing}");
}

#[test]
fn without_an_open_plan_the_queries_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let (store, pages) = (directory.path().join("store"), directory.path().join("pages.jsonl"));
    let page = r#"{"url":"https://a.test/","text":"bread","outlinks":[{"url":"/rye","anchor":"rye bread"}]}"#;
    fs::write(&pages, page).unwrap();
    let made = prospect().args(["ingest", "--store"]).arg(&store).arg(&pages).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let error = fails(&whatif(&store, &["--budget", "1"]));
    assert!(error.contains("no open plan") && error.contains("prospect plan"), "{error}");
    let queries = directory.path().join("queries.tsv");
    fs::write(&queries, "1\trye bread\t2\n").unwrap();
    let output = whatif(&store, &["--workload", queries.to_str().unwrap(), "--budget", "1"]);
    assert!(output.status.success(), "{output:?}");
}
