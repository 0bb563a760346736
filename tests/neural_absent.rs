//! A build without neural models (`--no-default-features`): models are refused with the way out, and
//! everything else works. `.ci/run` builds and runs it.
#![cfg(not(feature = "neural"))]

mod common;

use common::{Bench, done, prospect};

#[test]
fn models_are_refused_with_the_way_out_and_the_baseline_scores() {
    let bench = Bench::with_store();
    bench.write("pages.jsonl", "{\"url\":\"https://a.test/\",\"text\":\"one two three\"}\n");
    let (pages, scored) = (bench.path("pages.jsonl"), bench.path("scored.jsonl"));
    let score = ["quality", "score", &pages, "--output", &scored];
    let run = prospect(&score);
    let said = run.stderr;
    assert_eq!(run.code, Some(1), "{said}");
    assert!(said.contains("built without neural models"), "{said}");
    assert!(said.contains("--model text-length"), "{said}");
    done(&[&score[..], &["--model", "text-length"]].concat());
    assert!(std::fs::read_to_string(&scored).unwrap().contains("\"quality_score\":-"));
    let store = bench.store();
    done(&bench.plan_arguments(&store, &["--budget", "5", "--quality-model", "text-length"]));
}

#[test]
fn a_cross_encoder_is_refused_too_and_a_run_reranks() {
    let bench = Bench::with_store();
    let first = bench.path("first.jsonl");
    let page = common::address(0);
    let qrels = bench.write("qrels", format!("q00 0 {page} 1\n"));
    let run = bench.write("run", format!("q00 Q0 {page} 1 9 other\n"));
    let (queries, store) = (bench.path("queries.tsv"), bench.path("store"));
    let evaluate = ["evaluate", "--corpus", &first, "--workload", &queries, "--qrels", &qrels];
    let model = [&evaluate[..], &["--rerank-model", &store]].concat();
    let said = prospect(&model).stderr;
    assert!(
        said.contains("built without neural models") && said.contains("--rerank RUN"),
        "{said}"
    );
    let reranked = done(&[&evaluate[..], &["--rerank", &run]].concat());
    assert!(reranked.stdout.contains("1.0000"), "{}", reranked.stdout);
}
