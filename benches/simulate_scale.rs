//! Memory and time of simulated crawls of a large synthetic collection: 1,000,000 pages, about
//! 20,000,000 links and 500 queries unless `PROSPECT_SCALE_PAGES`, `PROSPECT_SCALE_QUERIES`,
//! `PROSPECT_SCALE_BATCHES` (crawled, of 100) and `PROSPECT_SCALE_POLICIES` say otherwise.
//!
//! Prints figures and asserts nothing: `cargo bench --bench simulate_scale`.

mod synthetic;

use std::hash::Hasher;
use std::time::Instant;

use prospect::planner::settings::PlanSettings;
use prospect::policy::{PolicyChoice, Sources};
use prospect::simulate::collection::Collection;
use prospect::simulate::crawl::{Budget, SimulatedCrawl, Start};
use prospect::simulate::truth;
use prospect_index::bm25::Bm25;
use prospect_index::ngram::NgramIndex;
use synthetic::Shape;

fn main() {
    let pages = synthetic::size_from_env("PROSPECT_SCALE_PAGES", 1_000_000);
    let queries = synthetic::size_from_env("PROSPECT_SCALE_QUERIES", 500);
    let batches = synthetic::size_from_env("PROSPECT_SCALE_BATCHES", 100);
    let policies = std::env::var("PROSPECT_SCALE_POLICIES");
    let policies = policies.as_deref().unwrap_or("bfs,qmin,hybrid");
    let shape =
        Shape { pages, links_per_page: 22, hosts: 300, vocabulary: 100_000, text_words: 60 };
    let directory = tempfile::tempdir().expect("directory");
    let mut stage = Stage::new();
    let collection = shape.build(&directory.path().join("text"));
    let links = collection.link_count();
    stage.done(&format!("collection of {pages} pages, {links} links"));
    let strings_path = directory.path().join("strings");
    std::fs::create_dir(&strings_path).expect("directory");
    let segment = collection.strings(&strings_path).expect("n-grams");
    let strings = NgramIndex::new(vec![&segment]).expect("n-grams");
    stage.done("n-grams");
    let workload = shape.queries(queries as usize).for_planning();
    let impact = truth::impact(&collection, &workload, Bm25::default(), 10).expect("impact");
    stage.done(&format!("true impact of {} queries", workload.queries.len()));
    let web = collection.web(&strings, &workload, None).expect("forward index");
    let quality = synthetic::quality(collection.urls.len());
    let sources = Sources {
        basics: synthetic::basics(&collection),
        quality: Some(&quality),
        web: Some(&web),
        impact: &impact,
        relevant: &[],
    };
    let batch = (pages / 100).max(1) as usize;
    let budget = Budget { batch, pages: batch * batches as usize };
    for policy in policies.split(',') {
        let order = crawl(&collection, &sources, policy, budget);
        let collected: f64 = order.iter().map(|&page| impact[page as usize]).sum();
        let share = collected / impact.iter().sum::<f64>();
        let hash = fingerprint(&order);
        stage.done(&format!("{policy}: {} pages, impact {share:.3}, {hash}", order.len()));
    }
}

fn crawl(collection: &Collection, sources: &Sources<'_>, policy: &str, budget: Budget) -> Vec<u32> {
    let choice: PolicyChoice = policy.parse().expect("policy");
    let mut policy = choice.make(sources, PlanSettings::new(1)).expect("policy");
    let seeds = (0..100).map(|seed| seed * 997 % collection.pages).collect();
    let start = Start { seeds, ..Start::default() };
    let mut crawl = SimulatedCrawl::start(collection, &start, policy.as_mut()).expect("crawl");
    while crawl.step(policy.as_mut(), budget).expect("crawl") {}
    crawl.into_pages()
}

/// Tells whether two versions crawl alike.
fn fingerprint(order: &[u32]) -> String {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for page in order {
        hash.write_u32(*page);
    }
    format!("order {:016x}", hash.digest())
}

struct Stage(Instant);

impl Stage {
    fn new() -> Self {
        Self(Instant::now())
    }

    fn done(&mut self, what: &str) {
        let seconds = self.0.elapsed().as_secs_f64();
        let (peak, now) = (synthetic::memory_mib("VmHWM"), synthetic::memory_mib("VmRSS"));
        println!("{seconds:>8.1} s, peak {peak:>6.0} MiB, now {now:>6.0} MiB  {what}");
        self.0 = Instant::now();
    }
}
