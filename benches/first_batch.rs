//! What a first plan is worth, and what it costs, on the corpora below `PROSPECT_DATA`.
//!
//! A breadth-first tenth from `seeds-1.txt` is ingested; 1,000 URLs are planned with the dev
//! queries, the frontier restricted to URLs of the corpus. Counted: how many of them are truly in
//! the top 10 of some query over the whole corpus, against the next 1,000 in breadth-first order
//! and the 1,000 of most in-links. Then the batch is "fetched" and the chances are compared with
//! what came. Prints figures and asserts nothing: `cargo bench --bench first_batch`.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Instant;

use prospect::campaign::OpenStore;
use prospect::campaign::plan::{self, Beside};
use prospect::estimate::features::match_rule::MatchRule;
use prospect::estimate::settings::{EstimateSettings, ImpactReading};
use prospect::ingest::{self, SourceItem, SourceOptions};
use prospect::plan::caps::Caps;
use prospect::planner::settings::PlanSettings;
use prospect::sketch::served::ServedLists;
use prospect::workload::{self, Workload};
use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use prospect_index::page::PageRecord;

const BUDGET: usize = 1_000;

fn main() {
    let root =
        std::env::var_os("PROSPECT_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
    for corpus in ["uci-web", "enwiki-30k", "wikispeedia-2k"] {
        let folder = root.join(corpus);
        if folder.join("pages.jsonl.zst").exists() {
            measure(corpus, &folder);
        } else {
            println!("{corpus}: skipped, {} is not there", folder.display());
        }
    }
}

struct Corpus {
    order: Vec<String>,
    pages: HashMap<String, PageRecord>,
}

fn read(folder: &Path) -> Corpus {
    let paths = [folder.join("pages.jsonl.zst")];
    let mut source = ingest::open(&paths, &SourceOptions::default()).expect("corpus opens");
    let mut corpus = Corpus { order: Vec::new(), pages: HashMap::new() };
    loop {
        let items = source.next_batch(5_000).expect("corpus reads");
        if items.is_empty() {
            return corpus;
        }
        for item in items {
            if let SourceItem::Page { record, .. } = item {
                corpus.order.push(record.url.clone());
                corpus.pages.insert(record.url.clone(), record);
            }
        }
    }
}

impl Corpus {
    fn breadth_first(&self, folder: &Path) -> Vec<String> {
        let seeds = std::fs::read_to_string(folder.join("seeds-1.txt")).expect("seeds");
        let mut queue: VecDeque<&str> = VecDeque::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let known = |url: &str| self.pages.get_key_value(url).map(|(url, _)| url.as_str());
        for seed in seeds.lines().filter_map(known) {
            if seen.insert(seed) {
                queue.push_back(seed);
            }
        }
        let mut order = Vec::new();
        while let Some(url) = queue.pop_front() {
            order.push(url.to_owned());
            for link in &self.pages[url].outlinks {
                if let Some(target) = known(&link.url)
                    && seen.insert(target)
                {
                    queue.push_back(target);
                }
            }
        }
        order
    }

    fn records<'a>(&self, urls: impl IntoIterator<Item = &'a String>) -> Vec<PageRecord> {
        urls.into_iter().filter_map(|url| self.pages.get(url).cloned()).collect()
    }
}

fn open(path: &Path) -> OpenStore {
    OpenStore::open(path, "bench", limits::BOUNDS.ngram_words).expect("store opens")
}

/// URLs in the top 10 of some query over the whole corpus.
fn truth(corpus: &Corpus, workload: &Workload, dir: &Path) -> HashSet<String> {
    ingest_all(dir, corpus.records(&corpus.order), "all").expect("ingest");
    let store = open(dir);
    let end = store.store.manifest().next_seq;
    let scorer = Scorer::new(&store.text, Bm25::default(), end, workload.words()).expect("scorer");
    let started = Instant::now();
    let urls = &store.known.urls;
    let served =
        ServedLists::build(&scorer, &workload.queries, 10, end, urls).expect("served lists");
    let rate = workload.queries.len() as f64 / started.elapsed().as_secs_f64();
    println!("  served lists over the whole corpus: {rate:.0} queries/s");
    served.lists.iter().flatten().map(|(url, _)| urls.url(*url).to_owned()).collect()
}

fn settings(rule: MatchRule, reading: ImpactReading) -> PlanSettings {
    let estimate = EstimateSettings { rule, reading, ..EstimateSettings::default() };
    let mut settings = PlanSettings { k: 10, estimate, ..PlanSettings::new(BUDGET) };
    (settings.selection.caps, settings.selection.explore) = (Caps::default(), 0.0);
    settings
}

fn measure(name: &str, folder: &Path) {
    println!("{name}");
    let temporary = tempfile::tempdir().expect("directory");
    let corpus = read(folder);
    let workload = workload::load(&folder.join("queries.tsv")).expect("workload").for_planning();
    let truth = truth(&corpus, &workload, &temporary.path().join("all"));
    let order = corpus.breadth_first(folder);
    let tenth = corpus.order.len() / 10;
    let store_path = temporary.path().join("tenth");
    let records = corpus.records(&order[..tenth]);
    let started = Instant::now();
    ingest_all(&store_path, records, "tenth").expect("ingest");
    let rate = tenth as f64 / started.elapsed().as_secs_f64();
    println!("  ingest of {tenth} pages: {rate:.0} pages/s");
    let store = open(&store_path);
    let urls = &store.known.urls;
    let within: Vec<bool> = urls.ids().map(|id| corpus.pages.contains_key(urls.url(id))).collect();
    let hits = |picked: &[String]| picked.iter().filter(|url| truth.contains(*url)).count();
    let next = &order[tenth..order.len().min(tenth + BUDGET)];
    println!("  breadth-first: {} of {} in a true top 10", hits(next), next.len());
    let mut by_inlinks: Vec<_> =
        urls.ids().filter(|id| within[id.index()] && store.known.pages.in_frontier(*id)).collect();
    by_inlinks.sort_by_key(|id| {
        (std::cmp::Reverse(store.known.links.inlinks(*id, u32::MAX)), urls.url(*id))
    });
    let by_inlinks: Vec<String> =
        by_inlinks.iter().take(BUDGET).map(|id| urls.url(*id).to_owned()).collect();
    println!("  in-links: {} of {} in a true top 10", hits(&by_inlinks), by_inlinks.len());
    for idf_weighted in [false, true] {
        for rho in [1.0, 0.5, 0.25, 0.1, 0.05, 0.02] {
            for reading in [ImpactReading::Learned, ImpactReading::Sketch] {
                let rule = MatchRule { rho, idf_weighted, max_words: 3 };
                let started = Instant::now();
                let settings = settings(rule, reading);
                let plan = plan::plan(&store, &workload, &within, &settings, Beside::Others)
                    .expect("plan");
                let seconds = started.elapsed().as_secs_f64();
                let picks = plan.choice.batch.picks.iter();
                let picked: Vec<String> =
                    picks.map(|pick| store.known.urls.url(pick.estimate.url).to_owned()).collect();
                println!(
                    "  {} rho {rho} {reading:?}: {} of {} in a true top 10 ({} pairs, {} training, {seconds:.2} s)",
                    if idf_weighted { "idf  " } else { "count" },
                    hits(&picked),
                    picked.len(),
                    plan.scored.pairs().count(),
                    plan.scored.training_pairs(),
                );
            }
        }
    }
}
