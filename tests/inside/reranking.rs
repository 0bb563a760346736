//! A cross-encoder behind BM25, held against the same done the long way: at every checkpoint rank the
//! fetched pages by BM25, order the first 100 by the model, and take nDCG@10 of that.

use super::common;
use super::simulation;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::common::PAGES;
use super::simulation::Reference;
use crate::evaluate::checkpoints::{CrawlEvaluation, JudgedPages, JudgedQuery, Lists};
use crate::evaluate::metrics::Metric;
use crate::evaluate::rerank::{self, Candidates, PairScores};
use crate::ingest::SourceOptions;
use crate::neural::{NeuralError, PairModel};
use crate::simulate::added::AddedPages;
use crate::simulate::collection::{Collection, Outside};
use crate::simulate::load::{self, Keep, PagePlace};
use crate::workload;
use prospect_index::bm25::Bm25;
use prospect_index::checkpoints::FetchOrder;
use prospect_index::page::UrlId;
use prospect_index::words::WordOptions;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use xxhash_rust::xxh3::xxh3_64;

const CHECKPOINTS: [u32; 4] = [20, 130, 240, PAGES as u32];

/// Says anything, with many ties, and counts the pairs.
#[derive(Default)]
struct Whim(AtomicUsize);

impl Whim {
    fn of(query: &str, text: &str) -> f64 {
        -((xxh3_64(format!("{query}\n{text}").as_bytes()) % 50) as f64)
    }
}

impl PairModel for Whim {
    fn name(&self) -> &'static str {
        "whim"
    }

    fn fingerprint(&self) -> &'static str {
        "whim"
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        self.0.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| Self::of(query, text)).collect())
    }
}

/// The generated web with its judged queries.
struct Web {
    collection: Collection,
    queries: Vec<JudgedQuery>,
    reference: Reference,
    /// By URL: title, space and text.
    texts: BTreeMap<String, String>,
    _files: common::Bench,
}

fn web() -> Web {
    let bench = simulation::bench();
    let reference = Reference::read(&bench, "queries.tsv");
    let pages = std::fs::read_to_string(bench.path("pages.jsonl")).unwrap();
    let text = |line: &str| {
        let page: serde_json::Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| page[name].as_str().unwrap().to_owned();
        (of("url"), format!("{} {}", of("title"), of("text")))
    };
    let corpus = [PathBuf::from(bench.path("pages.jsonl"))];
    let place = PagePlace::below(
        Path::new(&bench.path("work")),
        Keep { texts: true, titles: false },
        &WordOptions::default(),
    );
    let (options, added) = (SourceOptions::default(), AddedPages::default());
    let loaded = load::from_corpus(&corpus, &options, &place, Outside::Drop, &added, |_, _| {});
    let collection = loaded.unwrap().0;
    let workload = workload::load(Path::new(&bench.path("queries.tsv"))).unwrap();
    let queries = workload.queries.into_iter().filter_map(|query| {
        let grades = reference.grades.get(&query.qid)?.iter();
        let grades = grades.map(|(url, &grade)| (collection.page(url).unwrap(), grade as i32));
        let judged = JudgedPages::new(grades.collect());
        (judged.judged.relevant() > 0).then_some(JudgedQuery { query, judged })
    });
    let (queries, texts) = (queries.collect(), pages.lines().map(text).collect());
    Web { queries, texts, collection, reference, _files: bench }
}

/// nDCG@10 of a query over `fetched`, the long way; with the whole ranking.
fn long_way(web: &Web, judged: &JudgedQuery, fetched: &BTreeSet<&str>) -> (f64, Vec<String>) {
    let ranked = web.reference.ranking(&judged.query.words, fetched);
    let mut ranked: Vec<String> = ranked.into_iter().map(|(_, url)| url).collect();
    let first = ranked.len().min(100);
    ranked[..first].sort_by(|a, b| {
        let score = |url: &String| Whim::of(&judged.query.text, &web.texts[url]);
        score(b).total_cmp(&score(a))
    });
    let grades = &web.reference.grades[&judged.query.qid];
    let mut ideal: Vec<u32> = grades.values().copied().collect();
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let sum = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        let discounted = |(at, grade): (usize, u32)| f64::from(grade) / (at as f64 + 2.0).log2();
        grades.take(10).enumerate().map(discounted).sum()
    };
    let found = &mut ranked.iter().map(|url| grades.get(url).copied().unwrap_or(0));
    (sum(found) / sum(&mut ideal.into_iter()), ranked)
}

#[test]
fn every_checkpoint_is_reranked_as_if_only_its_pages_existed() {
    let web = web();
    let collection = &web.collection;
    let mut orders: Vec<Vec<u32>> = vec![(0..PAGES as u32).collect(); 2];
    orders[1].shuffle(&mut ChaCha8Rng::seed_from_u64(5));
    let positions: Vec<Vec<u32>> = orders
        .iter()
        .map(|order| {
            let mut position = vec![0; PAGES];
            order.iter().enumerate().for_each(|(at, page)| position[*page as usize] = at as u32);
            position
        })
        .collect();
    let crawl = |position| FetchOrder { position, checkpoints: &CHECKPOINTS };
    let crawls: Vec<FetchOrder<'_>> = positions.iter().map(|position| crawl(position)).collect();
    let evaluation = CrawlEvaluation {
        text: &collection.text,
        bm25: Bm25::default(),
        url_order: &collection.url_order,
        queries: &web.queries,
        reranker: &PairScores::default(),
    };
    let texts = collection.texts.as_ref().unwrap();
    let scored = |lists: Lists| {
        let (model, mut candidates) = (Whim::default(), Candidates::default());
        // As many passes as crawls: candidates add up.
        for crawl in &crawls {
            evaluation.candidates(&[*crawl], lists, &mut candidates).unwrap();
        }
        let scores = rerank::score(&model, texts, &web.queries, &candidates, &mut |_, _| {});
        let scores = scores.unwrap();
        assert_eq!(model.0.into_inner(), scores.pairs(), "each pair once");
        scores
    };
    let (needed, all) = (scored(Lists::WithRelevant), scored(Lists::All));
    assert!(needed.pairs() < all.pairs(), "{} and {}", needed.pairs(), all.pairs());
    let plain = evaluation.values(&crawls, &[Metric::Ndcg(10)]).unwrap();
    let metrics = |reranker| {
        let evaluation = CrawlEvaluation { reranker, ..evaluation };
        evaluation.values(&crawls, &[Metric::Ndcg(10)]).unwrap()
    };
    let values = metrics(&needed);
    assert_eq!(values, metrics(&all), "no metric depends on lists without a relevant page");
    assert_ne!(values, plain);
    let of_all = CrawlEvaluation { reranker: &all, ..evaluation };
    for (number, order) in orders.iter().enumerate() {
        let rankings = of_all.rankings(crawls[number], PAGES).unwrap();
        assert!(rankings.iter().flatten().any(|list| list.len() > 150), "some are left behind");
        for (at, &pages) in CHECKPOINTS.iter().enumerate() {
            let url = |page: &u32| collection.urls.url(UrlId(*page));
            let fetched: BTreeSet<&str> = order[..pages as usize].iter().map(url).collect();
            for (query, judged) in web.queries.iter().enumerate() {
                let (expected, ranked) = long_way(&web, judged, &fetched);
                let what = format!("crawl {number}, {pages} pages, query {}", judged.query.qid);
                let found = values[number][at][query];
                assert!((found - expected).abs() < 1e-12, "{what}: {found}, not {expected}");
                let list = &rankings[query][at];
                let urls: Vec<&str> = list.iter().map(|(page, _)| url(page)).collect();
                assert_eq!(urls, ranked, "{what}");
                assert!(list.is_sorted_by(|a, b| a.1 >= b.1), "{what}: scores do not rise");
            }
        }
    }
}
