//! Our metrics against those of `trec_eval`, query by query, and our averages against those of
//! `ir_measures`.
//!
//! The cases lie in `trec_eval/vectors.jsonl.gz`; `trec_eval/make_vectors.py` beside it says what
//! they cover and makes them. Here they are written as files of runs and judgements, with lines in
//! a senseless order and senseless ranks, and read as the command reads them.

use std::collections::BTreeMap;
use std::io::Read;

use crate::evaluate::judgements::Judgements;
use crate::evaluate::metrics::{DEPTH, Metric};
use crate::evaluate::run;
use crate::workload::qrels;
use serde::Deserialize;

/// `trec_eval` computes in 64 bits, as we do; only the order of sums differs.
const TOLERANCE: f64 = 1e-12;

/// In the order of the column `trec`.
const METRICS: [Metric; 8] = [
    Metric::Ndcg(10),
    Metric::Ndcg(3),
    Metric::Recall(100),
    Metric::ReciprocalRank(10),
    Metric::AveragePrecision(DEPTH),
    Metric::Precision(5),
    Metric::Success(5),
    Metric::Bpref,
];

/// In the order of the column `means`.
const MEANS: [Metric; 5] = [
    Metric::Ndcg(10),
    Metric::Recall(100),
    Metric::ReciprocalRank(10),
    Metric::AveragePrecision(DEPTH),
    Metric::Judged(5),
];

#[derive(Deserialize)]
struct Case {
    qrels: BTreeMap<String, BTreeMap<String, i32>>,
    run: BTreeMap<String, BTreeMap<String, String>>,
    trec: BTreeMap<String, [f64; 8]>,
    means: [Option<f64>; 5],
}

impl Case {
    fn run(&self) -> run::Run {
        let lines = self.run.iter().flat_map(|(qid, results)| {
            let line = move |(docid, score)| format!("{qid} Q0 {docid} 1 {score} tool\n");
            results.iter().map(line)
        });
        run::parse(&lines.rev().collect::<String>(), "run").unwrap()
    }

    fn judgements(&self) -> Judgements {
        let lines = self.qrels.iter().flat_map(|(qid, grades)| {
            grades.iter().map(move |(docid, grade)| format!("{qid} 0 {docid} {grade}\n"))
        });
        let lines = qrels::parse_raw(&lines.collect::<String>(), "qrels").unwrap();
        Judgements::new(lines, "qrels").unwrap()
    }
}

fn cases() -> Vec<Case> {
    let mut text = String::new();
    let packed = &include_bytes!("../trec_eval/vectors.jsonl.gz")[..];
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_query_has_the_values_of_trec_eval() {
    let (mut queries, mut relevant_queries) = (0, 0);
    for (number, case) in cases().iter().enumerate() {
        let (run, judgements) = (case.run(), case.judgements());
        let scores = judgements.measure(&run, "run", &METRICS).unwrap();
        for (qid, expected) in &case.trec {
            queries += 1;
            let Some(at) = judgements.queries.keys().position(|judged| judged == qid) else {
                assert_eq!(expected, &[0.0; 8], "case {number}, query {qid}: nothing is relevant");
                continue;
            };
            relevant_queries += 1;
            for ((metric, expected), found) in METRICS.iter().zip(expected).zip(&scores.values) {
                let found = found[at];
                assert!(
                    (found - expected).abs() < TOLERANCE,
                    "case {number}, query {qid}: {metric} is {found}; trec_eval has {expected}"
                );
            }
        }
    }
    assert!(queries >= 1000 && relevant_queries >= 800, "{queries}, {relevant_queries}");
}

#[test]
fn averages_are_those_of_ir_measures() {
    let mut without_ties = 0;
    for (number, case) in cases().iter().enumerate() {
        let scores = case.judgements().measure(&case.run(), "run", &MEANS).unwrap();
        for ((metric, found), expected) in MEANS.iter().zip(scores.means()).zip(case.means) {
            let Some(expected) = expected else { continue };
            assert!(
                (found - expected).abs() < TOLERANCE,
                "case {number}: {metric} is {found}; ir_measures has {expected}"
            );
        }
        without_ties += usize::from(case.means[2].is_some() && case.means[4].is_some());
    }
    assert!(without_ties >= 40, "{without_ties}");
}

#[test]
fn the_golden_example_with_a_tie() {
    let run = run::parse("q Q0 a 1 1.0 t\nq Q0 b 2 1.0 t\n", "run").unwrap();
    let lines = qrels::parse_raw("q 0 a 1\n", "qrels").unwrap();
    let judgements = Judgements::new(lines, "qrels").unwrap();
    let scores = judgements.measure(&run, "run", &[Metric::Ndcg(10)]).unwrap();
    assert_eq!(format!("{:.4}", scores.means()[0]), "0.6309");
}
