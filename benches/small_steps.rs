//! What a plan costs a planner that goes on, after one more page: what has changed, or everything again. Each
//! collection is crawled to a tenth in batches of 1 %, then page by page, once with the words of pages at hand
//! (what is kept from plan to plan is brought up to date) and once without (pairs and pages are estimated anew).
//! Both crawl the same pages in the same order.
//!
//! Prints figures and asserts nothing but the order: `cargo bench --bench small_steps`.
//! `PROSPECT_STEP_PAGES=5000,10000,20000`, `PROSPECT_STEP_QUERIES=300`, `PROSPECT_STEPS=100`.

mod synthetic;

use std::time::Instant;

use prospect::planner::settings::PlanSettings;
use prospect::policy::{PolicyChoice, Sources};
use prospect::simulate::crawl::{Budget, SimulatedCrawl, Start};
use prospect_index::ngram::NgramIndex;
use synthetic::Shape;

fn main() {
    let sizes = std::env::var("PROSPECT_STEP_PAGES").unwrap_or_else(|_| "5000,10000,20000".into());
    let queries = synthetic::size_from_env("PROSPECT_STEP_QUERIES", 300);
    let steps = synthetic::size_from_env("PROSPECT_STEPS", 100);
    println!(
        "{:>8} {:>8} {:>12} {:>12} {:>7}",
        "pages", "queries", "kept, ms", "anew, ms", "times"
    );
    for pages in sizes.split(',').map(|size| size.parse().expect("pages")) {
        let shape = Shape {
            pages,
            links_per_page: 22,
            hosts: (pages / 100).max(1),
            vocabulary: 20_000,
            text_words: 120,
        };
        let (kept, order) = milliseconds(&shape, queries, steps, true);
        let (anew, other) = milliseconds(&shape, queries, steps, false);
        assert_eq!(order, other, "both crawl alike");
        println!("{pages:>8} {queries:>8} {kept:>12.2} {anew:>12.2} {:>7.1}", anew / kept);
    }
}

/// Milliseconds of a plan with what it learns from the page before it, and the order of the crawl.
fn milliseconds(shape: &Shape, queries: u32, steps: u32, keep: bool) -> (f64, Vec<u32>) {
    let directory = tempfile::tempdir().expect("directory");
    let collection = shape.build(&directory.path().join("text"));
    let strings_path = directory.path().join("strings");
    std::fs::create_dir(&strings_path).expect("directory");
    let segment = collection.strings(&strings_path).expect("n-grams");
    let strings = NgramIndex::new(vec![&segment]).expect("n-grams");
    let workload = shape.queries(queries as usize).for_planning();
    let mut web = collection.web(&strings, &workload, None).expect("words");
    if !keep {
        web.forward = None;
    }
    let sources = Sources {
        basics: synthetic::basics(&collection),
        quality: None,
        web: Some(&web),
        impact: &[],
        relevant: &[],
    };
    let choice: PolicyChoice = "prospect".parse().expect("policy");
    let mut policy = choice.make(&sources, PlanSettings::new(1)).expect("policy");
    let seeds = (0..50).map(|seed| seed * 97 % collection.pages).collect();
    let start = Start { seeds, ..Start::default() };
    let mut crawl = SimulatedCrawl::start(&collection, &start, policy.as_mut()).expect("crawl");
    let pages = usize::MAX;
    let batch = (shape.pages / 100).max(1) as usize;
    for _ in 0..10 {
        crawl.step(policy.as_mut(), Budget { batch, pages }).expect("crawl");
    }
    // The first of them brings up to date what the last batch changed, and may begin an epoch.
    crawl.step(policy.as_mut(), Budget { batch: 1, pages }).expect("crawl");
    let begin = Instant::now();
    for _ in 0..steps {
        crawl.step(policy.as_mut(), Budget { batch: 1, pages }).expect("crawl");
    }
    let milliseconds = begin.elapsed().as_secs_f64() * 1e3 / f64::from(steps);
    (milliseconds, crawl.into_pages())
}
