//! Models of the scores of candidate pairs against each other, on the corpora below `PROSPECT_DATA`.
//!
//! Each corpus is crawled from `seeds-1.txt` by plans of 1 % with the default settings. At a few
//! points every model is fitted on the candidate pairs of the pages fetched so far, as a plan does
//! it, and tells of every candidate pair of the next batch its score, and the chance to be in the
//! query's top 10: the share of those that are, among training pairs of about the same expected
//! score over the K-th score of their query's list (histogram binning, Zadrozny and Elkan 2001). The
//! batch shows what becomes of them. Printed are, over all points: log-loss and expected calibration
//! error (ten bins of equal count) against being in the top 10 after the batch, the mean squared
//! error of the score (a share of the query's idf mass), the time to fit, and the time to predict
//! all pairs of the frontier. The base rate is the share of all training pairs, and their mean
//! score. Asserts nothing: `cargo bench --bench pair_models`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prospect::campaign::plan;
use prospect::campaign::{OpenStore, close};
use prospect::estimate::candidates::linked::AnswerPages;
use prospect::estimate::candidates::ngram::{MatchRule, MatchSource, idf_mass};
use prospect::estimate::candidates::{Ask, Candidate, CandidateSource};
use prospect::estimate::features::group::FeatureGroups;
use prospect::estimate::features::pair::FeatureSource;
use prospect::estimate::features::sites::Sites;
use prospect::estimate::horizon::Horizon;
use prospect::estimate::models::pair_model::PairModel;
use prospect::estimate::models::score_distribution::ScoreModel;
use prospect::ingest::{self, SourceItem, SourceOptions};
use prospect::planner::settings::PlanSettings;
use prospect::sketch::served::ServedLists;
use prospect::workload::{self, QueryId, Workload};
use prospect_index::bm25::{Bm25, Scorer, Scores};
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use prospect_index::ngram::Scratch;
use prospect_index::page::{PageRecord, UrlId};
use rayon::prelude::*;

const K: usize = 10;
/// Batches, each of a hundredth of the pages, after which models are compared.
const POINTS: [usize; 4] = [2, 4, 7, 10];
/// Bins of training pairs by expectation.
const BINS: usize = 50;
const TRAINING_PAIRS: usize = 100_000;
const MODELS: [PairModel; 3] = [PairModel::Boosted, PairModel::Linear, PairModel::Forest];

fn main() {
    let root =
        std::env::var_os("PROSPECT_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
    for corpus in ["wikispeedia-2k", "uci-web", "enwiki-30k"] {
        let folder = root.join(corpus);
        if folder.join("pages.jsonl.zst").exists() {
            measure(corpus, &folder);
        } else {
            println!("{corpus}: skipped, {} is not there", folder.display());
        }
    }
}

fn read(folder: &Path) -> HashMap<String, PageRecord> {
    let paths = [folder.join("pages.jsonl.zst")];
    let mut source = ingest::open(&paths, &SourceOptions::default()).expect("corpus opens");
    let mut pages = HashMap::new();
    loop {
        let items = source.next_batch(5_000).expect("corpus reads");
        if items.is_empty() {
            return pages;
        }
        for item in items {
            if let SourceItem::Page { record, .. } = item {
                pages.insert(record.url.clone(), record);
            }
        }
    }
}

/// What one model, or the base rate, said of the pairs that were fetched, and what became of them.
#[derive(Default)]
struct Told {
    name: String,
    chances: Vec<f64>,
    entered: Vec<bool>,
    squared_errors: f64,
    fit: Duration,
    predict: Duration,
}

/// What a model says of a pair of the frontier: query, URL, expected score, chance.
type Said = (usize, UrlId, f64, f64);

impl Told {
    fn learn(&mut self, said: &[Said], store: &OpenStore, at: &Outcomes<'_>, end: u32) {
        for &(query, url, expected, chance) in said {
            if store.known.pages.page_seq(url).is_none_or(|seq| seq < end) {
                continue;
            }
            let (score, entered) = at.of(query, url);
            self.chances.push(chance.clamp(1e-6, 1.0 - 1e-6));
            self.entered.push(entered);
            self.squared_errors += (expected - score).powi(2);
        }
    }

    fn print(&self) {
        let pairs = self.chances.len().max(1) as f64;
        let both = || self.chances.iter().zip(&self.entered);
        let loss = |(chance, entered): (&f64, &bool)| {
            -(if *entered { chance.ln() } else { (1.0 - chance).ln() })
        };
        let mut sorted: Vec<(f64, bool)> =
            both().map(|(chance, entered)| (*chance, *entered)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bins = sorted.chunks(sorted.len().div_ceil(10).max(1));
        let gap = |bin: &[(f64, bool)]| {
            let said: f64 = bin.iter().map(|(chance, _)| chance).sum();
            (said - bin.iter().filter(|(_, entered)| *entered).count() as f64).abs()
        };
        println!(
            "  {:<10} log-loss {:.5}, calibration error {:.5}, squared error {:.6}, fit {:.2} s, predict {:.2} s",
            self.name,
            both().map(loss).sum::<f64>() / pairs,
            bins.map(gap).sum::<f64>() / pairs,
            self.squared_errors / pairs,
            self.fit.as_secs_f64(),
            self.predict.as_secs_f64(),
        );
    }
}

/// Crawled pages as they were known before their cycle.
struct Fetched<'a>(&'a OpenStore);

impl Horizon for Fetched<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let (known, manifest) = (&self.0.known, self.0.store.manifest());
        let start = manifest.cycle_start(manifest.cycle_of(known.pages.page_seq(url)?));
        known.links.incoming(url, start).next()?;
        Some(start)
    }
}

/// Uncrawled pages as they are known now.
struct Waiting<'a>(&'a OpenStore);

impl Horizon for Waiting<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        self.0.known.pages.in_frontier(url).then_some(u32::MAX)
    }
}

/// Candidates by query.
fn candidates(
    store: &OpenStore,
    scorer: &Scorer<'_>,
    workload: &Workload,
    matches: &dyn MatchSource,
    horizon: impl Horizon,
    most: usize,
) -> Vec<Vec<Candidate>> {
    let mut sites = Sites::default();
    sites.update(&store.known.urls);
    let source = CandidateSource {
        answers: AnswerPages::AtAnyTime,
        embeddings: None,
        features: FeatureSource {
            known: &store.known,
            sites: &sites,
            strings: None,
            scorer,
            shape: true,
        },
        around: store.around().expect("texts around links"),
        rule: MatchRule::default(),
        end_seq: store.store.manifest().next_seq,
        matches,
        horizon,
        without: FeatureGroups::default(),
    };
    let queries = workload.queries.par_iter().enumerate();
    queries
        .map_init(
            || (Scores::default(), Scratch::default()),
            |(scores, scratch), (at, query)| {
                let mut ask = Ask { at: QueryId::new(at), query, scores, scratch };
                source.of(&mut ask, most).expect("candidates")
            },
        )
        .collect()
}

/// Scores and top lists after a batch, under the statistics before it.
struct Outcomes<'a> {
    scorer: &'a Scorer<'a>,
    served: ServedLists,
    scores: Vec<Scores>,
    masses: Vec<f64>,
}

impl<'a> Outcomes<'a> {
    fn new(store: &OpenStore, scorer: &'a Scorer<'a>, workload: &Workload) -> Self {
        let end = store.store.manifest().next_seq;
        let queries = &workload.queries;
        let served = ServedLists::build(scorer, queries, K, end, &store.known.urls);
        let score = |query: &workload::Query| {
            let mut scores = Scores::default();
            scorer.score(&scorer.term_ids(&query.words), 0..end, &mut scores).expect("scores");
            scores
        };
        Self {
            scorer,
            served: served.expect("served lists"),
            scores: queries.iter().map(score).collect(),
            masses: masses(scorer, workload),
        }
    }

    fn of(&self, query: usize, url: UrlId) -> (f64, bool) {
        let score = self.scorer.score_of(&self.scores[query], url) / self.masses[query];
        (score, self.served.lists[query].iter().any(|(other, _)| *other == url))
    }
}

fn masses(scorer: &Scorer<'_>, workload: &Workload) -> Vec<f64> {
    let mass = |query| idf_mass(query, scorer).max(f64::MIN_POSITIVE);
    workload.queries.iter().map(mass).collect()
}

/// Shares by value: the lowest value of each bin, descending, and the share in it.
struct Bins(Vec<(f64, f64)>);

impl Bins {
    fn new(known: impl Iterator<Item = (f64, bool)>) -> Self {
        let mut known: Vec<(f64, bool)> = known.collect();
        known.sort_by(|a, b| b.0.total_cmp(&a.0));
        let bins = known.chunks(known.len().div_ceil(BINS).max(1));
        let share = |bin: &[(f64, bool)]| {
            let hits = bin.iter().filter(|(_, hit)| *hit).count();
            (bin[bin.len() - 1].0, hits as f64 / bin.len() as f64)
        };
        Self(bins.map(share).collect())
    }

    fn share(&self, value: f64) -> f64 {
        let at = self.0.partition_point(|(low, _)| *low > value).min(self.0.len() - 1);
        self.0[at].1
    }
}

/// Fits every model on a store and has it tell of the pages that are picked.
fn tell(
    store: &OpenStore,
    workload: &Workload,
    picked: &HashSet<UrlId>,
    told: &mut [Told],
) -> Vec<Vec<Said>> {
    let end = store.store.manifest().next_seq;
    let scorer = Scorer::new(&store.text, Bm25::default(), end, workload.words()).expect("scorer");
    let queries = &workload.queries;
    let served = ServedLists::build(&scorer, queries, K, end, &store.known.urls).expect("lists");
    let masses = masses(&scorer, workload);
    let (frontier, history) =
        (store.frontier.index().expect("index"), store.history.index().expect("index"));
    let most = TRAINING_PAIRS.div_ceil(queries.len());
    let training = candidates(store, &scorer, workload, &history, Fetched(store), most);
    let waiting = candidates(store, &scorer, workload, &frontier, Waiting(store), usize::MAX);
    let kth: Vec<f64> = (0..queries.len()).map(|at| served.kth_score(at) / masses[at]).collect();
    let in_top =
        |at: usize, pair: &Candidate| served.lists[at].iter().any(|(url, _)| *url == pair.url);
    let of_query = |(at, pairs): (usize, &Vec<Candidate>)| -> Vec<(f64, bool)> {
        pairs.iter().map(|pair| (kth[at], in_top(at, pair))).collect()
    };
    let labels: Vec<(f64, bool)> = training.iter().enumerate().flat_map(of_query).collect();
    let hits = labels.iter().filter(|(_, in_top)| *in_top).count();
    let training: Vec<Candidate> = training.into_iter().flatten().collect();
    let rate = hits as f64 / training.len().max(1) as f64;
    let mean = training.iter().map(|pair| pair.score).sum::<f64>() / training.len().max(1) as f64;
    let of_all = |pair: &Candidate, at: usize| (at, pair.url, mean, rate);
    let constant = waiting.iter().enumerate().flat_map(|(at, pairs)| {
        let pairs = pairs.iter().filter(|pair| picked.contains(&pair.url));
        pairs.map(move |pair| of_all(pair, at))
    });
    let mut all = vec![constant.collect()];
    for (model, told) in MODELS.into_iter().zip(&mut told[1..]) {
        let started = Instant::now();
        let fitted = ScoreModel::fit(&training, model, 0.0).expect("fit").expect("enough pairs");
        told.fit += started.elapsed();
        let started = Instant::now();
        let expect = |pairs: &Vec<Candidate>| fitted.expected(pairs).expect("predict");
        let expected: Vec<Vec<f64>> = waiting.iter().map(expect).collect();
        told.predict += started.elapsed();
        let known = fitted.expected(&training).expect("predict").into_iter().zip(&labels);
        let bins = Bins::new(known.map(|(expected, (kth, in_top))| (expected - kth, *in_top)));
        let mut said = Vec::new();
        for (at, (pairs, expected)) in waiting.iter().zip(expected).enumerate() {
            let all = pairs.iter().zip(expected);
            let picked = all.filter(|(pair, _)| picked.contains(&pair.url));
            said.extend(
                picked.map(|(pair, expected)| {
                    (at, pair.url, expected, bins.share(expected - kth[at]))
                }),
            );
        }
        all.push(said);
    }
    all
}

fn open(path: &Path) -> OpenStore {
    OpenStore::open(path, "bench", limits::NGRAM_WORDS).expect("store opens")
}

/// Ingests a batch under a name of its own: one that is known is not read again.
fn fetch(path: &Path, batch: &mut Vec<PageRecord>, number: usize) {
    ingest_all(path, std::mem::take(batch), &format!("batch {number}")).expect("ingest");
}

fn measure(name: &str, folder: &Path) {
    let pages = read(folder);
    let workload = workload::load(&folder.join("queries.tsv")).expect("workload").for_planning();
    let temporary = tempfile::tempdir().expect("directory");
    let path = temporary.path().join("store");
    let seeds = std::fs::read_to_string(folder.join("seeds-1.txt")).expect("seeds");
    let mut batch: Vec<PageRecord> =
        seeds.lines().filter_map(|url| pages.get(url).cloned()).collect();
    let settings = PlanSettings::new(pages.len() / 100);
    let names = ["base rate", "boosted", "linear", "forest"].into_iter();
    let mut told: Vec<Told> =
        names.map(|name| Told { name: name.to_owned(), ..Told::default() }).collect();
    for number in 0..=POINTS[POINTS.len() - 1] {
        if !batch.is_empty() {
            fetch(&path, &mut batch, number);
        }
        let mut store = open(&path);
        if store.store.manifest().plan.is_some() {
            close::close(&mut store).expect("close");
        }
        let urls = &store.known.urls;
        let within: Vec<bool> = urls.ids().map(|id| pages.contains_key(urls.url(id))).collect();
        let plan = plan::plan(&store, &workload, &within, &settings).expect("plan");
        let picks = plan.choice.batch.picks.iter().map(|pick| urls.url(pick.estimate.url));
        batch = picks.filter_map(|url| pages.get(url).cloned()).collect();
        plan::commit(&mut store, &plan.record(), &settings).expect("commit");
        if POINTS.contains(&number) {
            let end = store.store.manifest().next_seq;
            let picked = plan.choice.batch.picks.iter().map(|pick| pick.estimate.url).collect();
            let said = tell(&store, &workload, &picked, &mut told);
            // The lock goes with the store, so that the batch can be ingested.
            drop(store);
            fetch(&path, &mut batch, number + 1);
            let store = open(&path);
            let scorer = Scorer::new(&store.text, Bm25::default(), end, workload.words());
            let scorer = scorer.expect("scorer");
            let outcomes = Outcomes::new(&store, &scorer, &workload);
            for (told, said) in told.iter_mut().zip(&said) {
                told.learn(said, &store, &outcomes, end);
            }
        }
    }
    let hits = told[0].entered.iter().filter(|entered| **entered).count();
    println!("{name}: {} pairs fetched, {hits} in a top {K}", told[0].chances.len());
    for told in &told {
        told.print();
    }
}
