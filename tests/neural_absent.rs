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
