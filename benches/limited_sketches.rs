//! How much impact the sketches of the neediest queries keep (Pandey and Olston, WSDM 2008,
//! sections 6.3 and 6.4), on a synthetic workload that is large enough for their smallest
//! fraction: 100,000 distinct queries with Zipf's frequencies over 30,000 pages, 90 % of them
//! crawled. `PROSPECT_SKETCH_PAGES` and `PROSPECT_SKETCH_QUERIES` give other sizes,
//! `PROSPECT_SKETCH_POLICIES` other planned policies.
//!
//! Prints figures and asserts nothing: `cargo bench --bench limited_sketches`.

mod synthetic;

use std::time::Instant;

use prospect::planner::settings::PlanSettings;
use prospect::policy::PolicyChoice;
use prospect::simulate::collection::Outside;
use prospect::simulate::experiment::Inputs;
use prospect::simulate::limited_sketches;
use prospect::simulate::settings::{Amount, Runs, SimulationSettings, SketchSettings};
use prospect::simulate::start::{self, Seeds, StartPages};
use synthetic::Shape;

const FRACTIONS: [f64; 6] = [0.0007, 0.001, 0.01, 0.1, 0.3, 1.0];

fn main() {
    let pages = synthetic::size_from_env("PROSPECT_SKETCH_PAGES", 30_000);
    let queries = synthetic::size_from_env("PROSPECT_SKETCH_QUERIES", 100_000);
    let shape = Shape { pages, links_per_page: 22, hosts: 200, vocabulary: 20_000, text_words: 60 };
    let directory = tempfile::tempdir().expect("directory");
    let collection = shape.build(&directory.path().join("text"));
    let strings_path = directory.path().join("strings");
    std::fs::create_dir(&strings_path).expect("directory");
    let strings = collection.strings(&strings_path).expect("n-grams");
    let workload = shape.queries(queries as usize).for_planning();
    println!("{pages} pages, {} distinct queries", workload.queries.len());
    let zeros = vec![0.0; collection.urls.len()];
    let inputs = Inputs {
        vectors: None,
        collection: &collection,
        strings: Some(&strings),
        planning: &workload,
        quality: None,
        impact: &zeros,
        relevant: &vec![0; collection.urls.len()],
    };
    let crawled = StartPages::Share(0.9);
    let (from, _) = start::mostly_crawled(&collection, &crawled, 0.0, 1, 1);
    let policies = std::env::var("PROSPECT_SKETCH_POLICIES");
    for policy in policies.as_deref().unwrap_or("query-driven,hybrid").split(',') {
        for at in [0.1] {
            let sketches = SketchSettings { fractions: FRACTIONS.to_vec(), at };
            let settings = settings(policy, crawled.clone());
            let choice = PolicyChoice::parse(policy).expect("policy");
            let started = Instant::now();
            let found = limited_sketches::run(
                &inputs,
                &settings,
                &sketches,
                &choice,
                &from,
                &|_fraction| {},
            )
            .expect("limited sketches");
            let seconds = started.elapsed().as_secs_f64();
            println!("{policy}, {:.0} % of the hidden pages fetched, {seconds:.1} s", at * 100.0);
            println!("  fraction  sketches  impact share  of full");
            for point in &found.points {
                println!(
                    "  {:>8}  {:>8}  {:>12.4}  {:>7.3}",
                    point.fraction, point.sketches, point.impact_share, point.of_full
                );
            }
        }
    }
}

fn settings(policy: &str, crawled: StartPages) -> SimulationSettings {
    SimulationSettings {
        policies: vec![PolicyChoice::parse(policy).expect("policy")],
        seeds: Seeds::Random(1),
        sets: 1,
        seed: 1,
        crawled: Some(crawled),
        promote: 0.0,
        batch: Amount::Share(0.1),
        max_pages: None,
        checkpoints: Vec::new(),
        outside: Outside::Drop,
        plan: PlanSettings::new(1),
        baseline: policy.to_owned(),
        significance: 0.01,
        runs: Runs::None,
        sketches: None,
        ablation: Vec::new(),
        attacks: None,
        counterfactual: None,
        whatif: None,
    }
}
