//! A budget as a share of what may be planned, and what an empty plan says.
//!
//! Story: somebody does not know how large the frontier is, and asks for a tenth of it, cycle after cycle. Where nothing
//! can be planned, they have to see why without reading the store.

mod common;

use common::{Bench, address, done, prospect, rows, urls};
use serde_json::Value;

fn plan(bench: &Bench, options: &[&str]) -> common::Run {
    done(&bench.plan_arguments(&bench.store(), options))
}

fn json(bench: &Bench, options: &[&str]) -> Value {
    serde_json::from_str(&plan(bench, &[&["--json"], options].concat()).stdout).unwrap()
}

#[test]
fn a_share_is_of_the_urls_that_may_be_planned_now() {
    let bench = Bench::with_store();
    let frontier = json(&bench, &["--budget", "1"])["frontier"].as_u64().unwrap() as usize;
    // The one that was planned is in flight.
    let tenth = (frontier - 1).div_ceil(10);
    let run = plan(&bench, &["--budget", "10%"]);
    assert_eq!(rows(&run.stdout).len(), tenth);
    let told =
        format!("a budget of 10 % is {tenth} of the {} URLs that may be planned now", frontier - 1);
    assert!(run.stderr.contains(&told), "{told}: {}", run.stderr);
    let again = plan(&bench, &["--budget", "10%"]);
    assert_eq!(urls(&again.stdout), urls(&run.stdout), "the same command gives the same plan");
    let another = plan(&bench, &["--budget", "10%", "--another"]);
    assert_eq!(rows(&another.stdout).len(), (frontier - 1 - tenth).div_ceil(10));
    let all = plan(&bench, &["--budget", "100%", "--another", "--site-share", "none"]);
    let left = frontier - 1 - tenth - rows(&another.stdout).len();
    assert_eq!(rows(&all.stdout).len(), left);
}

#[test]
fn a_share_that_is_none_is_refused() {
    let bench = Bench::with_store();
    for share in ["0%", "101%", "ten%", "%"] {
        let run = prospect(&bench.plan_arguments(&bench.store(), &["--budget", share]));
        assert_eq!(run.code, Some(1), "{share}: {}", run.stderr);
        assert!(run.stderr.contains("for example --budget 10%"), "{share}: {}", run.stderr);
    }
}

#[test]
fn an_empty_plan_says_why() {
    let bench = Bench::with_store();
    let (known, fetched) = (address(0), bench.write("fetched.txt", address(0)));
    let out_of_scope = json(&bench, &["--budget", "5", "--include", "nowhere"]);
    assert_eq!(out_of_scope["reason"], "out-of-scope");
    assert_eq!(out_of_scope["left_out"]["in_flight"], 0);
    assert_eq!(out_of_scope["urls"], Value::Array(Vec::new()));
    let said = plan(&bench, &["--budget", "5", "--include", "nowhere"]).stderr;
    assert!(said.contains("there is nothing to plan: of the "), "{said}");
    assert!(said.contains("are out of scope") && said.contains("an empty one ends it"), "{said}");
    let not_listed = json(&bench, &["--budget", "5", "--include", "", "--within", &fetched]);
    assert_eq!(not_listed["reason"], "not-in-list", "{known} is fetched");
    let whole = json(&bench, &["--budget", "100%", "--site-share", "none"]);
    assert_eq!(whole["reason"], Value::Null);
    let in_flight = json(&bench, &["--budget", "5", "--another"]);
    assert_eq!(in_flight["reason"], "in-flight");

    let bench = Bench::new();
    bench.write("one.jsonl", format!("{{\"url\":\"{known}\",\"text\":\"topic1\"}}\n"));
    done(&["ingest", "--store", &bench.path("store"), &bench.path("one.jsonl")]);
    assert_eq!(json(&bench, &["--budget", "10%"])["reason"], "nothing-unfetched");
}
