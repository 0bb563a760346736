//! The scores of the sample experiment are those that lie beside it.
//!
//! Story: somebody built the program on another machine, or changed it, and asks whether it still computes the same.
//! `workloads/tiny/expected.tsv` has what `workloads/tiny/experiment.toml` gives. A change that is meant writes it anew:
//! `PROSPECT_EXPECTED=write cargo test --release --test expected_values`.

mod common;

use std::fs;
use std::path::Path;

use common::{done, text};
use serde_json::Value;

/// Metrics of the file, by their name in the summary.
const METRICS: [&str; 4] = ["HR", "nDCG@10", "R@100", "impact"];

/// Rows of the file: policy, metrics half way, speedups over breadth-first order.
fn rows(summary: &Value) -> String {
    let half = summary["checkpoints"].as_array().unwrap().iter();
    let pages = summary["collection"]["pages"].as_u64().unwrap();
    let half = half.filter_map(Value::as_u64).position(|at| 2 * at + 1 >= pages).unwrap();
    let mut rows = format!("policy\t{}\tspeedup, relevant\tspeedup, impact\n", METRICS.join("\t"));
    for policy in summary["policies"].as_array().unwrap() {
        rows += policy["name"].as_str().unwrap();
        let every = &policy["kinds"][0];
        for metric in METRICS {
            let curves = every["curves"].as_array().unwrap().iter();
            let curve = curves.clone().find(|curve| curve["metric"] == metric).unwrap();
            rows += &format!("\t{:.4}", curve["points"][half]["mean"].as_f64().unwrap());
        }
        for speedup in ["speedup_relevant", "speedup_impact"] {
            let mean = every[speedup]["mean"].as_f64();
            rows += &mean.map_or_else(|| "\t".to_owned(), |mean| format!("\t{mean:.4}"));
        }
        rows += "\n";
    }
    rows
}

#[test]
fn the_sample_experiment_gives_what_lies_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let tiny = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads/tiny");
    let (experiment, out) = (tiny.join("experiment.toml"), dir.path().join("out"));
    done(&["simulate", "--config", text(&experiment), "--out", text(&out)]);
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    let found = rows(&serde_json::from_str(&summary).unwrap());
    let file = tiny.join("expected.tsv");
    if std::env::var("PROSPECT_EXPECTED").is_ok_and(|what| what == "write") {
        fs::write(&file, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&file).unwrap(), "{}", file.display());
}
