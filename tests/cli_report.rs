//! `prospect report` on the command line: what it prints and writes, and what it says to a
//! directory that holds no results.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::fs;
use std::sync::LazyLock;

use common::{Bench, done, prospect};
use serde_json::{Value, json};
use simulation::{SMALL, bench, simulated, summary};

static SIMULATED: LazyLock<Value> = LazyLock::new(|| {
    let bench = bench();
    let line = format!("{SMALL} --policy bfs,qoracle,qmin --batch 10% --k1 1.2 --b 0.75");
    simulated(&bench, &line, "out");
    summary(&bench, "out")
});

/// A directory with the results of a simulation.
fn results(bench: &Bench, name: &str, title: &str) -> String {
    let mut summary = SIMULATED.clone();
    summary["title"] = json!(title);
    fs::create_dir_all(bench.path(name)).unwrap();
    bench.write(&format!("{name}/summary.json"), summary.to_string());
    bench.path(name)
}

#[test]
fn tables_on_stdout_messages_on_stderr() {
    let bench = Bench::new();
    let (one, two) = (results(&bench, "one", "First web"), results(&bench, "two", "Second web"));
    let run = done(&["report", &one, &two, "--kind", "all"]);
    let at = |text: &str| run.stdout.find(text).unwrap_or_else(|| panic!("{text}\n{}", run.stdout));
    assert!(at("First web") < at("Second web"));
    assert!(run.stdout.contains("baseline bfs") && run.stdout.contains("BM25 k1 1.2 b 0.75"));
    assert!(run.stdout.contains("qoracle oracle"), "{}", run.stdout);
    assert!(!run.stdout.contains("queries: long"), "{}", run.stdout);
    assert!(run.stderr.contains("--html FILE"), "{}", run.stderr);
    assert_eq!(done(&["report", &one, "--quiet"]).stderr, "");
}

#[test]
fn html_goes_to_a_file_or_to_stdout() {
    let bench = Bench::new();
    let one = results(&bench, "one", "First web");
    let file = bench.path("report.html");
    let run = done(&["report", &one, "--html", &file]);
    assert!(run.stderr.contains("report.html"), "{}", run.stderr);
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(done(&["report", &one, "--html", "-"]).stdout, page);
    // The file of results does as well as its directory.
    let direct = bench.path("one/summary.json");
    assert_eq!(done(&["report", &direct, "--html", "-"]).stdout, page);
}

#[test]
fn json_has_a_schema() {
    let bench = Bench::new();
    let run = done(&["report", &results(&bench, "one", "First web"), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["schema"], "prospect.report/1");
    assert_eq!(json["experiments"][0]["title"], "First web");
}

/// What `prospect report` says when `bad/summary.json` holds `content`.
#[track_caller]
fn refused(content: &str, arguments: &[&str], expected: &[&str]) {
    let bench = Bench::new();
    results(&bench, "good", "Good");
    fs::create_dir_all(bench.path("bad")).unwrap();
    fs::create_dir_all(bench.path("empty")).unwrap();
    bench.write("bad/summary.json", content);
    let place = |word: &&str| match word.strip_prefix('@') {
        Some(name) => bench.path(name),
        None => (*word).to_owned(),
    };
    let mut line = vec!["report".to_owned()];
    line.extend(arguments.iter().map(place));
    let run = prospect(&line);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    for text in expected {
        assert!(run.stderr.contains(text), "{text:?} is not in\n{}", run.stderr);
    }
    assert!(run.stderr.contains("\nhint: "), "{}", run.stderr);
}

#[test]
fn a_directory_without_results_is_named_with_the_way_out() {
    refused("", &["@nowhere"], &["nowhere: there is no such directory", "--out DIR"]);
    refused("", &["@empty"], &["empty: there is no summary.json in it", "--out DIR"]);
    refused("", &["@good", "@bad"], &["bad/summary.json", "line 1 column 0"]);
    refused("{\"schema\":", &["@bad"], &["bad/summary.json", "caused by", "line 1 column 10"]);
    refused("\u{0}", &["@bad"], &["bad/summary.json"]);
    let other = r#"{"schema":"prospect.simulate/9","title":3}"#;
    refused(other, &["@bad"], &["prospect.simulate/9", "prospect.simulate/1", "another version"]);
    refused("{}", &["@bad"], &["its schema is \"\"", "bad/summary.json"]);
    let half = r#"{"schema":"prospect.simulate/1","title":"x"}"#;
    refused(half, &["@bad"], &["bad/summary.json", "missing field `provenance`"]);
}

#[test]
fn a_kind_that_is_not_there_and_a_place_that_cannot_be_written_are_named() {
    let kinds = "the kinds are all, long, short";
    refused("", &["@good", "--kind", "odd"], &["of the kind \"odd\"", kinds]);
    refused("", &["@good", "--html", "@nowhere/r.html"], &["cannot write", "nowhere/r.html"]);
    refused("", &["@good", "--html", "@empty"], &["cannot write", "empty"]);
}
