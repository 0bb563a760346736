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
fn robots_txt_and_a_file_of_delays_slow_their_hosts() {
    let bench = Bench::with_store();
    let folder = bench.path("robots");
    std::fs::create_dir_all(format!("{folder}/h1.d0.example")).unwrap();
    bench.write("robots/h1.d0.example/robots.txt", "User-agent: *\nCrawl-delay: 3\n");
    let rules = "User-agent: other\nCrawl-delay: 9\n\nUser-agent: ours\nCrawl-delay: 5\n";
    bench.write("robots/h2.d1.example.txt", rules);
    bench.write("robots/h4.d2.example", "User-agent: *\nCrawl-delay: 6\n");
    let delays = bench.write("delays.txt", "h3.d1.example 4\nh4.d2.example 2\n");
    let time = ["--seconds", "9", "--delay", "1", "--site-share", "none"];
    let slow = ["--robots", folder.as_str(), "--agent", "ours", "--delays", delays.as_str()];
    let planned = json(&bench, &[&time[..], &slow].concat());
    let of_host = |host: usize| {
        let urls = planned["urls"].as_array().unwrap().iter();
        let name = format!("https://h{host}.");
        urls.filter(|url| url["url"].as_str().unwrap().starts_with(&name)).count()
    };
    // So many turns a host has in nine seconds; a delay that is told by hand counts more than robots.txt.
    assert_eq!([0, 1, 2, 3, 4, 5].map(of_host), [9, 3, 1, 2, 4, 9]);
    let refused = prospect(
        &bench.plan_arguments(&bench.store(), &["--seconds", "9", "--robots", &bench.path("none")]),
    );
    assert!(refused.stderr.contains("HOST/robots.txt"), "{}", refused.stderr);
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
