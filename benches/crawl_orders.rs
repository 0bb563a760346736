//! Pages a second of crawl orders with batches of 1: the crawl loop alone, on a synthetic graph of
//! 20,000 pages with about 20 links each, one core. 1,000,000 pages/s are required; the code that
//! the authors of the quality policies published does about 20,000. Beside `bfs` and `qmin` stand
//! the same orders as one would write them first, with maps by URL.
//!
//! Prints figures and asserts nothing: `cargo bench --bench crawl_orders`.

mod synthetic;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::time::Instant;

use prospect::planner::settings::PlanSettings;
use prospect::policy::{PolicyChoice, Sources};
use prospect::simulate::collection::Collection;
use prospect::simulate::crawl::{Budget, SimulatedCrawl, Start};
use prospect_index::page::UrlId;
use synthetic::Shape;

const REQUIRED: f64 = 1_000_000.0;
const REPETITIONS: usize = 51;
const SEEDS: u32 = 100;

fn main() {
    let shape = Shape {
        pages: synthetic::size_from_env("PROSPECT_ORDER_PAGES", 20_000),
        links_per_page: 22,
        hosts: 200,
        vocabulary: 5_000,
        text_words: 0,
    };
    let directory = tempfile::tempdir().expect("directory");
    let collection = shape.build(&directory.path().join("text"));
    let quality = synthetic::quality(collection.urls.len());
    let seeds = (0..SEEDS.min(collection.pages)).map(|seed| seed * 97 % collection.pages);
    let start = Start { seeds: seeds.collect(), ..Start::default() };
    let (pages, links) = (collection.pages, collection.link_count());
    println!("{pages} pages, {links} links, batches of 1, {REPETITIONS} repetitions");
    for policy in ["bfs", "dfs", "qfirst", "qmin", "qoracle"] {
        report(policy, || ours(&collection, &quality, &start, policy));
    }
    let naive = Naive::new(&collection, &quality, &start);
    report("bfs, maps by URL", || timed(|| naive.breadth_first()));
    report("qmin, maps by URL", || timed(|| naive.worst_parent()));
}

fn report(name: &str, mut crawl: impl FnMut() -> (usize, f64)) {
    let mut rates: Vec<f64> = (0..REPETITIONS)
        .map(|_| {
            let (pages, seconds) = crawl();
            pages as f64 / seconds
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let (least, median) = (rates[0], rates[rates.len() / 2]);
    let enough = median / REQUIRED;
    println!(
        "{name:>18}: median {median:>10.0} pages/s, min {least:>10.0}; \
         required {REQUIRED:.0} ({enough:.1}x)"
    );
}

fn ours(collection: &Collection, quality: &[f64], start: &Start, policy: &str) -> (usize, f64) {
    let sources = Sources {
        basics: synthetic::basics(collection),
        quality: Some(quality),
        web: None,
        impact: &[],
        relevant: &[],
    };
    let choice: PolicyChoice = policy.parse().expect("policy");
    let mut policy = choice.make(&sources, PlanSettings::new(1)).expect("policy");
    let budget = Budget { batch: 1, pages: usize::MAX };
    timed(|| {
        let mut crawl = SimulatedCrawl::start(collection, start, policy.as_mut()).expect("crawl");
        while crawl.step(policy.as_mut(), budget).expect("crawl") {}
        crawl.into_pages().len()
    })
}

fn timed(crawl: impl FnOnce() -> usize) -> (usize, f64) {
    let started = Instant::now();
    let pages = std::hint::black_box(crawl());
    (pages, started.elapsed().as_secs_f64())
}

/// The graph by URL.
struct Naive<'a> {
    links: HashMap<&'a str, Vec<&'a str>>,
    quality: HashMap<&'a str, f64>,
    seeds: Vec<&'a str>,
}

impl<'a> Naive<'a> {
    fn new(collection: &'a Collection, quality: &[f64], start: &Start) -> Self {
        let url = |page: &u32| collection.urls.url(UrlId(*page));
        let pages = || 0..collection.pages;
        let links = |page| collection.links(page).iter().map(url).collect();
        Self {
            links: pages().map(|page| (url(&page), links(page))).collect(),
            quality: pages().map(|page| (url(&page), quality[page as usize])).collect(),
            seeds: start.seeds.iter().map(url).collect(),
        }
    }

    fn breadth_first(&self) -> usize {
        let mut seen: HashSet<&str> = self.seeds.iter().copied().collect();
        let mut queue: VecDeque<&str> = self.seeds.iter().copied().collect();
        let mut order = Vec::new();
        while let Some(url) = queue.pop_front() {
            order.push(url);
            queue.extend(self.links[url].iter().filter(|target| seen.insert(target)));
        }
        order.len()
    }

    fn worst_parent(&self) -> usize {
        // Qualities are below 0, where the bits of a larger number are smaller.
        let key = |priority: f64| Reverse(priority.to_bits());
        let seed_key = Reverse(0);
        let mut heap: BinaryHeap<(Reverse<u64>, Reverse<&str>)> = BinaryHeap::new();
        let mut waiting: HashMap<&str, Reverse<u64>> = HashMap::new();
        let mut fetched: HashSet<&str> = HashSet::new();
        let mut order = Vec::new();
        for &seed in &self.seeds {
            heap.push((seed_key, Reverse(seed)));
            waiting.insert(seed, seed_key);
        }
        while let Some((priority, Reverse(url))) = heap.pop() {
            if fetched.contains(url) || waiting[url] != priority {
                continue;
            }
            fetched.insert(url);
            order.push(url);
            let parent = key(self.quality[url]);
            for &target in self.links[url].iter().filter(|target| !fetched.contains(**target)) {
                let old = waiting.get(target).copied();
                if old.is_none_or(|old| parent < old) {
                    waiting.insert(target, parent);
                    heap.push((parent, Reverse(target)));
                }
            }
        }
        order.len()
    }
}
