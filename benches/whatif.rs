//! Time of an answer to a what-if question on a synthetic crawl of about 1,000,000 candidate pairs
//! (`PROSPECT_WHATIF_CRAWLED`, `PROSPECT_WHATIF_QUERIES` change its size), against what a user would do
//! without: plan again. (`tests/inside/whatif_answers.rs` holds answers against those from scratch.)
//!
//! Prints figures: `cargo bench --bench whatif`.

mod synthetic;

use std::time::Instant;

use prospect::campaign::OpenStore;
use prospect::campaign::plan::{self, Beside};
use prospect::campaign::questions::Questions;
use prospect::planner::settings::PlanSettings;
use prospect::whatif::scenario::Scenario;
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use synthetic::Shape;

const BUDGET: usize = 2_000;
const TIMES: usize = 15;

/// Name, and the scenario as JSON.
const SCENARIOS: [(&str, &str); 7] = [
    ("frequencies", r#"{"scale": [{"by": 10, "pattern": "w1"}]}"#),
    ("weights", r#"{"weights": {"query": 1, "page": 0.4}}"#),
    ("budget", r#"{"budget": 5000}"#),
    ("caps", r#"{"per-host": 20, "per-domain": 40}"#),
    ("no exploration", r#"{"explore": 0}"#),
    (
        "hosts",
        r#"{"exclude-hosts": ["www.h7.test"], "boost-hosts": [{"host": "www.h8.test", "by": 2}]}"#,
    ),
    ("a new query", r#"{"add": [{"query": "w3 w77", "frequency": 1000}]}"#),
];

fn main() {
    let crawled = synthetic::size_from_env("PROSPECT_WHATIF_CRAWLED", 8_000);
    let queries = synthetic::size_from_env("PROSPECT_WHATIF_QUERIES", 650);
    let shape = Shape {
        pages: 200_000,
        links_per_page: 22,
        hosts: 300,
        vocabulary: 20_000,
        text_words: 60,
    };
    let directory = tempfile::tempdir().expect("directory");
    let records = (0..crawled).map(|page| shape.record(page)).collect();
    ingest_all(directory.path(), records, "bench").expect("ingest");
    let workload = shape.queries(queries as usize);
    let settings = PlanSettings::new(BUDGET);
    let open =
        OpenStore::open(directory.path(), "bench", limits::BOUNDS.ngram_words).expect("store");
    // The first plan fills what is kept: served lists, pairs, models.
    plan::plan(&open, &workload, &[], &settings, Beside::Others).expect("plan");
    let plan = |forgotten: &[&str]| {
        for kept in forgotten {
            let directory = open.store.storage().path(&format!("derived/{kept}"));
            std::fs::remove_dir_all(directory).expect("forgotten");
        }
        let start = Instant::now();
        plan::plan(&open, &workload, &[], &settings, Beside::Others).expect("plan");
        milliseconds(start.elapsed())
    };
    let (anew, pairs, again) = (plan(&["basis", "models"]), plan(&["basis"]), plan(&[]));
    let start = Instant::now();
    let questions = Questions::new(open, &workload, Vec::new(), &settings, Scenario::default());
    let questions = questions.expect("questions");
    println!(
        "{} pages, {} queries, {} pairs of {} URLs; {} threads; {:.0} MiB\nplan anew {anew:.0} \
         ms, with the epoch's models {pairs:.0} ms, with the pairs of the store {again:.0} ms; all \
         questions' start {:.0} ms",
        questions.open.known.pages.len(),
        workload.queries.len(),
        questions.base.scored.pairs().count(),
        questions.base_figures.frontier,
        rayon::current_num_threads(),
        synthetic::memory_mib("VmHWM"),
        milliseconds(start.elapsed()),
    );
    println!("{:15}  {:>10}  {:>10}  {:>16}", "scenario", "plan", "p95", "with difference");
    for (name, json) in SCENARIOS {
        let scenario: Scenario = serde_json::from_str(json).expect("scenario");
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let start = Instant::now();
            let answered = questions.answer(&scenario).expect("answer");
            times.push(start.elapsed());
            drop(answered);
        }
        times.sort_unstable();
        let answered = questions.answer(&scenario).expect("answer");
        let start = Instant::now();
        let found = questions.figures_of(&scenario, &answered);
        let shown = start.elapsed();
        let (plan, changed) = (&found.plan, &found.difference);
        assert!(plan.picks > 0 && changed.kept + changed.entering_count == plan.picks);
        let (median, late) = (times[TIMES / 2], times[TIMES * 95 / 100]);
        println!(
            "{name:15}  {:>7.1} ms  {:>7.1} ms  {:>13.1} ms",
            milliseconds(median),
            milliseconds(late),
            milliseconds(median + shown),
        );
    }
}

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
