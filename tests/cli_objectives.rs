//! Plans for other objectives, from the outside: each is a plan of its own that depends on no
//! number of threads, and the default has not changed.

mod common;

use std::collections::BTreeSet;

use common::{Bench, done, prospect, text, urls};

const OBJECTIVES: [&str; 2] = ["expected", "served"];

fn plan(bench: &Bench, options: &[&str]) -> serde_json::Value {
    let mut arguments = bench.plan_arguments(&bench.store(), &["--budget", "40", "--json"]);
    arguments.extend(options.iter().map(|&option| option.to_owned()));
    serde_json::from_str(&done(&arguments).stdout).unwrap()
}

/// URLs in the order of the plan, and their estimates.
fn planned(plan: &serde_json::Value) -> Vec<(String, f64)> {
    let url = |url: &serde_json::Value| {
        (url["url"].as_str().unwrap().to_owned(), url["estimate"].as_f64().unwrap())
    };
    plan["urls"].as_array().unwrap().iter().map(url).collect()
}

#[test]
fn objectives_rank_differently_whatever_the_number_of_threads() {
    let bench = Bench::with_store();
    let mut orders = BTreeSet::new();
    for objective in OBJECTIVES {
        let options = ["--objective", objective, "--explore", "0"];
        let of = |threads| plan(&bench, &[options.as_slice(), &["--threads", threads]].concat());
        let (one, four) = (of("1"), of("4"));
        assert_eq!(one, four, "{objective}");
        let urls = planned(&one);
        assert_eq!(urls.len(), 40, "{objective}");
        assert!(urls.is_sorted_by(|a, b| a.1 >= b.1), "{objective}: {urls:?}");
        orders.insert(urls.into_iter().map(|(url, _)| url).collect::<Vec<String>>());
    }
    assert_eq!(orders.len(), OBJECTIVES.len(), "two objectives rank alike");
}

#[test]
fn the_default_says_nothing_of_an_objective() {
    let bench = Bench::with_store();
    let said = plan(&bench, &["--objective", "expected"]);
    assert_eq!(said, plan(&bench, &[]));
    let estimate = |plan: &serde_json::Value| plan["settings"]["estimate"].clone();
    assert!(estimate(&said).get("objective").is_none(), "plans of before keep their ids");
    assert_eq!(estimate(&plan(&bench, &["--objective", "served"]))["objective"], "served");
}

#[test]
fn caps_hold_for_every_objective() {
    let bench = Bench::with_store();
    for objective in OBJECTIVES {
        let run = done(&bench.plan_arguments(
            &bench.store(),
            &["--budget", "40", "--per-host", "3", "--objective", objective],
        ));
        let urls = urls(&run.stdout);
        for host in 0..6 {
            let host = format!("://h{host}.");
            let count = urls.iter().filter(|url| url.contains(&host)).count();
            assert!(count <= 3, "{objective}: {count} of {host}");
        }
        assert_eq!(urls.len(), 18, "{objective}");
    }
}

#[test]
fn explain_tells_what_an_estimate_is() {
    let bench = Bench::with_store();
    let url = planned(&plan(&bench, &["--objective", "served"])).remove(0).0;
    let told = done(&["explain", "--store", text(&bench.store()), &url]).stdout;
    assert!(told.contains(" served  (what the rest of the batch leaves of it)"), "{told}");
}

#[test]
fn what_needs_distributions_refuses_the_sketch() {
    let bench = Bench::with_store();
    let options = ["--budget", "40", "--reading", "sketch", "--objective", "served"];
    let run = prospect(&bench.plan_arguments(&bench.store(), &options));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no distribution of scores"), "{}", run.stderr);
}
