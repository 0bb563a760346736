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
    let whole = text(&["--budget", "9999"]);
    let curves: Vec<&str> = whole.lines().filter(|line| line.contains("budget: ")).collect();
    assert!(curves.len() == 2 && curves.iter().all(|line| line.contains(" → ")), "{whole}");
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
    assert_eq!(found["state"]["on_base"], true);
    let text = String::from_utf8(whatif(&store, &["--scenario", file]).stdout).unwrap();
    assert!(text.contains(", as [base] has it, without a scenario"), "{text}");
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
    let none = written("[[scenario]]\nname = \"a\"\nscale = [{ by = 2, pattern = \"nowhere\" }]\n");
    assert!(none.contains("wrong.toml: a") && none.contains("no query of the workload"), "{none}");
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

#[test]
fn a_budget_in_percent_is_of_the_frontier() {
    let (directory, store) = demo_store();
    let json = |arguments: &[&str]| -> Value {
        let output = whatif(&store, &[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let all = json(&["--budget", "1"]);
    let frontier = all["base"]["frontier"].as_u64().unwrap();
    assert!(frontier > 10, "{frontier}");
    let third = (0.3 * frontier as f64).ceil() as u64;
    let flag = json(&["--budget", "30%", "--site-share", "0"]);
    assert_eq!(flag["scenarios"][0]["plan"]["budget"], third);
    // Below what all share, and in it.
    let file = directory.path().join("shares.toml");
    let shares = "[base]\nbudget = \"30%\"\n[[scenario]]\n[[scenario]]\nbudget = \"100%\"\nobjective = \"served\"\n";
    fs::write(&file, shares).unwrap();
    let found = json(&["--scenario", file.to_str().unwrap()]);
    let budget = |plan: &Value| plan["budget"].as_u64().unwrap();
    assert_eq!(budget(&found["base"]), third);
    assert_eq!(budget(&found["scenarios"][0]["plan"]), third);
    assert_eq!(budget(&found["scenarios"][1]["plan"]), frontier);
    for wrong in ["0%", "101%", "ten%"] {
        let said = fails(&whatif(&store, &["--budget", wrong]));
        let expected = format!("budget: it is {wrong}, and a share must lie above 0%");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn a_budget_that_is_what_there_is_time_for_follows_the_time() {
    let (_directory, store) = demo_store();
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/tiny/queries.tsv");
    let fixed = ["--workload", queries, "--release", "all", "--seconds", "2", "--quiet"];
    let picks = |found: &Value| found["plan"]["picks"].as_u64().unwrap();
    let json = |seconds: &str| -> Value {
        let output = whatif(&store, &["--seconds", seconds, "--json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert!(plan(&store, &fixed).status.success());
    let longer = json("4");
    let base = longer["base"]["picks"].as_u64().unwrap();
    assert!(picks(&longer["scenarios"][0]) > base, "{longer}");
    assert_eq!(picks(&json("2")["scenarios"][0]), base);
    assert!(picks(&json("1")["scenarios"][0]) < base);
    // One that was given stays.
    assert!(plan(&store, &[&fixed[..], &["--budget", "3"]].concat()).status.success());
    assert_eq!(picks(&json("4")["scenarios"][0]), 3);
}

/// URLs of a frontier, a plan of which is held to some of them.
#[test]
fn a_list_that_a_plan_is_held_to_stays_with_it() {
    let (directory, store) = demo_store();
    let queries = concat!(env!("CARGO_MANIFEST_DIR"), "/workloads/tiny/queries.tsv");
    let list = directory.path().join("list.txt");
    let fixed = ["--workload", queries, "--release", "all", "--format", "urls", "--quiet"];
    let planned = |more: &[&str]| {
        let output = plan(&store, &[&fixed[..], more].concat());
        assert!(output.status.success(), "{output:?}");
        let urls = String::from_utf8(output.stdout).unwrap();
        urls.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = planned(&["--budget", "100"]);
    let (first, listed) = all.split_at(all.len() / 2);
    fs::write(&list, listed.join("\n")).unwrap();
    // Nothing is drawn, so that nothing but the list itself tells what it was.
    planned(&["--budget", "2", "--explore", "0", "--within", list.to_str().unwrap()]);
    let file = directory.path().join("all.toml");
    fs::write(&file, "[[scenario]]\nbudget = 100\n").unwrap();
    let told = whatif(&store, &["--budget", "100", "--json"]);
    assert!(!String::from_utf8_lossy(&told.stderr).contains("not stored"), "{told:?}");
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["base"]["frontier"], listed.len());
    assert_eq!(told["scenarios"][0]["plan"]["picks"], listed.len());
    // A plan that is a scenario carried out is held to it, too.
    let done = plan(&store, &["--scenario", file.to_str().unwrap(), "--format", "urls"]);
    let done = String::from_utf8(done.stdout).unwrap();
    assert!(first.iter().all(|url| !done.lines().any(|line| line == url)), "{done}");
    let again = whatif(&store, &["--budget", "100", "--json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["base"]["frontier"], listed.len());
    assert_eq!(lists(&store), 1);
    // Once it is over, nobody asks for the list.
    planned(&["--budget", "100"]);
    assert_eq!(lists(&store), 0);
}

/// Lists that a store names.
fn lists(store: &Path) -> usize {
    let manifest = fs::read(store.join("MANIFEST.json")).unwrap();
    let sealed: Value = serde_json::from_slice(&manifest).unwrap();
    let segments = sealed["manifest"]["segments"].as_array().unwrap().iter();
    segments.filter(|segment| segment["kind"] == "lists").count()
}

fn plan(store: &Path, arguments: &[&str]) -> Output {
    prospect().args(["plan", "--store"]).arg(store).args(arguments).output().unwrap()
}

/// The ids of open plans.
fn open_plans(store: &Path) -> Vec<String> {
    let output = prospect().args(["status", "--json", "--store"]).arg(store).output().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    let plans = status["open_plans"].as_array().unwrap().iter();
    plans.map(|plan| plan["plan_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_scenario_is_carried_out_as_it_was_told() {
    let (directory, store) = demo_store();
    let file = directory.path().join("scenarios.toml");
    fs::write(&file, SCENARIOS).unwrap();
    fs::write(directory.path().join("others.tsv"), "a\tzebra crossing\t3\n").unwrap();
    let file = file.to_str().unwrap();
    let told = whatif(&store, &["--scenario", file]);
    let next = String::from_utf8(told.stderr).unwrap();
    let command =
        format!("prospect plan --store {} --scenario {file} --name NAME", store.display());
    assert!(next.contains(&command), "{next}");
    let told = whatif(&store, &["--scenario", file, "--json"]);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();

    let before = open_plans(&store);
    let name = ["--scenario", file, "--name", "sharp tools get hot"];
    // What the file beside the store says of plans is no option of this one.
    let beside = "[plan]\nbudget = 1\nexplore = 1\nworkload = \"others.tsv\"\n";
    fs::write(directory.path().join("prospect.toml"), beside).unwrap();
    let others = directory.path().join("others.tsv");
    let mut command = prospect();
    command.args(["plan", "--json", "--store"]).arg(&store).args(name);
    let done = command.env("PROSPECT_WORKLOAD", others).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(done["schema"], "prospect.plan-of-scenario/1");
    assert_eq!(done["scenario"], told["scenarios"][0], "what was told is what is done");
    let picks = told["scenarios"][0]["plan"]["picks"].as_u64().unwrap() as usize;
    assert_eq!(done["urls"].as_array().unwrap().len(), picks);
    let after = open_plans(&store);
    assert_eq!((before.len(), after.len()), (1, 1), "in the place of the open plan");
    let again = whatif(&store, &["--budget", "2"]);
    let again = String::from_utf8(again.stderr).unwrap();
    let other = format!("the open plan {} is not what a plan is now", after[0]);
    assert!(again.contains(&other), "{again}");
    assert!(before != after && done["plan_id"] == after[0].as_str(), "{before:?} {after:?}");

    // The only scenario of a file needs no name, and any format will do.
    let one = directory.path().join("one.toml");
    fs::write(&one, "[[scenario]]\nbudget = 2\n").unwrap();
    let urls = plan(&store, &["--scenario", one.to_str().unwrap(), "--format", "urls"]);
    let written = String::from_utf8(urls.stdout).unwrap();
    assert_eq!(written.lines().filter(|line| line.starts_with("http")).count(), 2, "{written}");
    let said = String::from_utf8(urls.stderr).unwrap();
    assert!(said.contains(&format!("in the place of plan {}", after[0])), "{said}");
}

#[test]
fn a_scenario_that_is_none_is_not_carried_out() {
    let (directory, store) = demo_store();
    let before = open_plans(&store);
    let refused = |text: &str, arguments: &[&str]| {
        let file = directory.path().join("wrong.toml");
        fs::write(&file, text).unwrap();
        fails(&plan(&store, &[&["--scenario", file.to_str().unwrap()], arguments].concat()))
    };
    let two = "[[scenario]]\nname = \"a\"\n[[scenario]]\nbudget = 3\n";
    let said = refused(two, &[]);
    assert!(
        said.contains("it has 2 scenarios") && said.contains("\"a\", \"scenario 2\""),
        "{said}"
    );
    let said = refused(two, &["--name", "c"]);
    assert!(
        said.contains("it has no scenario \"c\"") && said.contains("--name takes one of"),
        "{said}"
    );
    assert!(refused("[base]\nbudget = 3\n", &[]).contains("there is no scenario in it"));
    // Options are said in the scenario.
    for option in
        [&["--budget", "3"][..], &["--release", "all"], &["--explore", "0"], &["--another"]]
    {
        let said = refused("[[scenario]]\nbudget = 3\n", option);
        assert!(said.contains("cannot be used with"), "{option:?}: {said}");
    }
    let said = fails(&plan(&store, &["--name", "a", "--budget", "3", "--workload", "q.tsv"]));
    assert!(said.contains("--scenario"), "{said}");
    // Nothing to plan is no plan.
    let none = refused_nothing(&store, directory.path());
    assert!(none.contains("there is nothing to plan under this scenario"), "{none}");
    assert_eq!(open_plans(&store), before);
}

/// What is said of a scenario under which nothing can be planned.
fn refused_nothing(store: &Path, folder: &Path) -> String {
    let output = whatif(store, &["--budget", "1", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hosts = found["base"]["hosts"].as_array().unwrap().iter();
    let hosts: Vec<&str> = hosts.map(|host| host["host"].as_str().unwrap()).collect();
    let file = folder.join("nothing.toml");
    fs::write(&file, format!("[[scenario]]\nexclude-hosts = {hosts:?}\n")).unwrap();
    let output = plan(store, &["--scenario", file.to_str().unwrap(), "--format", "urls"]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}
