//! Another strategy judges how well queries are answered.
//!
//! Story: an operator has an embedding model, or a language model at hand, and trusts it more than counts of words. She
//! has it judge, and reads what it goes by and which links it would follow.

#![cfg(feature = "neural")]

mod common;
#[path = "common/language_model.rs"]
mod language_model;

use std::path::Path;

use common::{Bench, done, prospect, text};
use language_model::language_model;
use serde_json::Value;

/// A model of the tests.
fn model(name: &str) -> String {
    format!("{}/tests/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn ask<'a>(store: &'a Path, queries: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = ["sufficiency", "--store", text(store), "--workload", queries, "--show", "3"];
    [&fixed[..], more].concat()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&done(&[arguments, &["--json"]].concat()).stdout).unwrap()
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of}"))
}

#[test]
fn nearness_in_meaning_judges() {
    let bench = Bench::with_store();
    let (store, mean, queries) =
        (bench.store(), model("embedding-mean"), bench.path("queries.tsv"));
    let by_words = json(&ask(&store, &queries, &[]));
    assert_eq!(by_words["strategy"], "statistical");
    assert!(by_words["embedding"].is_null());
    let asked = std::fs::read_to_string(&queries).unwrap();
    let wordings = asked.lines().flat_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let (qid, text) = (fields[0].to_owned(), fields[1].to_owned());
        ["about", "find", "all of"].map(|more| format!("{qid}\t{more} {text}\n"))
    });
    let variants = bench.write("variants.tsv", wordings.collect::<String>());
    let judged = ["--strategy", "embedding", "--embedding-model", &mean, "--variants", &variants];
    let found = json(&ask(&store, &queries, &judged));
    assert_eq!(found["strategy"], "embedding");
    let all = found["queries"].as_array().unwrap();
    let (mut sum, mut askings) = (0.0, 0.0);
    for query in all {
        let (own, figures) = (number(&query["sufficiency"]), &query["judgement"]);
        assert_eq!(own, number(&figures["coverage"]));
        assert!((own + number(&figures["gap"]) - 1.0).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&number(&figures["confidence"])));
        sum += number(&query["frequency"]) * own;
        askings += number(&query["frequency"]);
        // The parts are told as ever.
        let same = by_words["queries"].as_array().unwrap();
        let same = same.iter().find(|other| other["qid"] == query["qid"]).unwrap();
        assert_eq!(same["coverage"], query["coverage"]);
    }
    assert!((number(&found["workload"]["sufficiency"]) - sum / askings).abs() < 1e-9);
    assert!((number(&found["embedding"]["coverage"]) - sum / askings).abs() < 1e-9);
    assert!(number(&found["embedding"]["held_out"]) > 0.0);
    let linked = all.iter().filter(|query| !query["best_link"].is_null()).count();
    assert_eq!(linked, 3, "those that lack most");
    let next = found["next_links"].as_array().unwrap();
    assert_eq!(next.len(), 5);
    assert!(next.is_sorted_by(|a, b| number(&a["score"]) >= number(&b["score"])));
    let told = done(&ask(&store, &queries, &judged)).stdout;
    assert!(told.contains("judged by embedding: all") && told.contains("mean cosine"), "{told}");
    assert!(told.contains("links that it would follow next"), "{told}");
    // Theta is the judge's.
    let least = all.iter().map(|query| number(&query["sufficiency"])).fold(1.0, f64::min);
    let theta = least.to_string();
    let enough = json(&ask(&store, &queries, &[&judged[..], &["--theta", &theta]].concat()));
    assert_eq!(enough["workload"]["sufficient_share"], 1.0);
    assert_eq!(enough["classes"]["sufficient"]["queries"], all.len());
    // A plan that was made with the model has vectors of its queries.
    let plan = ["plan", "--store", text(&store), "--workload", &queries, "--budget", "5"];
    done(&[&plan[..], &["--embedding-model", &mean]].concat());
    let without = json(&ask(&store, &queries, &["--strategy", "embedding"]));
    assert_eq!(without["strategy"], "embedding");
}

#[test]
fn a_language_model_judges_as_many_queries_as_there_are_calls() {
    let bench = Bench::with_store();
    let (store, queries) = (bench.store(), bench.path("queries.tsv"));
    let (url, _) = language_model();
    let asked = ["--strategy", "llm", "--llm-url", &url, "--llm-model", "m", "--llm-calls", "8"];
    let found = json(&ask(&store, &queries, &asked));
    assert_eq!(found["strategy"], "llm");
    let all = found["queries"].as_array().unwrap();
    let judged: Vec<&Value> = all.iter().filter(|query| !query["judgement"].is_null()).collect();
    assert!(!judged.is_empty() && judged.len() <= 8, "{}", judged.len());
    assert!(judged.iter().all(|query| query["sufficiency"] == 0.25));
    assert_eq!(found["workload"]["queries"], judged.len());
    assert_eq!(found["workload"]["sufficiency"], 0.25, "of those that it judged");
    // Those that are asked most come first.
    let least =
        judged.iter().map(|query| number(&query["frequency"])).fold(f64::INFINITY, f64::min);
    let more = all.iter().filter(|query| number(&query["frequency"]) > least).count();
    assert!(more < 8, "{more} are asked more often than one that was judged");
}

#[test]
fn a_strategy_says_what_it_needs() {
    let bench = Bench::with_store();
    let (store, queries) = (bench.store(), bench.path("queries.tsv"));
    for (more, what) in [
        (&["--strategy", "embedding"][..], "--strategy embedding goes with --embedding-model DIR"),
        (&["--strategy", "llm"], "--strategy llm goes with --llm-url"),
        (&["--strategy", "guess"], "the strategies are statistical, words and scores"),
        (&["--strategy", "llm", "--definition", "compatible"], "of the statistical strategy"),
    ] {
        let refused = prospect(&ask(&store, &queries, more));
        assert_eq!(refused.code, Some(1), "{more:?}");
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
    }
}
