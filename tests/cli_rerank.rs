//! `--rerank-model` of `prospect evaluate` and `prospect simulate`: one cross-encoder, whose scores
//! come out the same from threads, caches, files of settings and interrupted runs; and what is no
//! cross-encoder.

#![cfg(feature = "neural")]

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::fs;
use std::path::Path;

use common::{Bench, Run, done, files, lines};
use serde_json::Value;
use simulation::{arguments, curve, simulated, summary, tried};

/// What the experiments share; few queries, for a cross-encoder takes its time.
const SMALL: &str = "simulate --corpus @pages.jsonl --workload @few.tsv --qrels @few.qrels \
    --crawled share:0.6 --policy random,inlinks --baseline random --batch 20% \
    --checkpoints 20%,60%,100% --rerank-model MODEL --score-cache @cache";
const EVALUATE: &str = "evaluate --qrels @few.qrels --metrics ndcg_cut_10,map,recall_100 --json";

fn model(name: &str) -> String {
    format!("{}/tests/models/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn line(given: &str) -> String {
    given.replace("MODEL", &model("pair"))
}

/// The generated web with three queries, of judgements only those inside it.
fn bench() -> Bench {
    let bench = simulation::bench();
    let text = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    let queries: Vec<String> = text("queries.tsv").lines().take(3).map(str::to_owned).collect();
    let qids: Vec<&str> = queries.iter().map(|line| line.split('\t').next().unwrap()).collect();
    let qrels = text("judged.qrels");
    let counts = |line: &&str| {
        !line.contains("outside.example") && qids.contains(&line.split(' ').next().unwrap())
    };
    bench.write("few.qrels", lines(qrels.lines().filter(counts).map(str::to_owned)));
    bench.write("few.tsv", lines(queries));
    bench
}

fn evaluated(bench: &Bench, rest: &str) -> Run {
    done(&arguments(bench, &line(&format!("{EVALUATE} {rest}"))))
}

fn mean(run: &Run, metric: &str) -> f64 {
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    found["runs"][0]["means"][metric].as_f64().unwrap()
}

#[track_caller]
fn same(bench: &Bench, a: &str, b: &str) {
    let of = |name: &str| files(Path::new(&bench.path(name)));
    let (a_files, b_files) = (of(a), of(b));
    assert_eq!(a_files.keys().collect::<Vec<_>>(), b_files.keys().collect::<Vec<_>>());
    for (name, bytes) in &a_files {
        assert!(b_files[name] == *bytes, "{} differs in {a} and {b}", name.display());
    }
}

#[test]
fn evaluate_says_the_same_from_a_corpus_a_store_a_cache_any_threads_and_its_run() {
    let bench = bench();
    let from = "--workload @few.tsv --corpus @pages.jsonl";
    let plain = evaluated(&bench, from);
    let reranked = format!("{from} --rerank-model MODEL --score-cache @cache");
    let cold = evaluated(&bench, &format!("{reranked} --write-run @one.run --threads 1"));
    assert!(
        cold.stderr.contains("re-ranked by pair: 300 pairs of query and page"),
        "{}",
        cold.stderr
    );
    let warm = evaluated(&bench, &format!("{reranked} --threads 2"));
    let without = evaluated(&bench, &format!("{from} --rerank-model MODEL --write-run @two.run"));
    done(&["ingest", "--store", &bench.path("store"), &bench.path("pages.jsonl")]);
    let store = evaluated(&bench, &reranked.replace("--corpus @pages.jsonl", "--store @store"));
    assert_eq!([&warm.stdout, &without.stdout, &store.stdout], [&cold.stdout; 3]);
    assert_eq!(files(Path::new(&bench.path("cache"))).len(), 1);
    let run = fs::read_to_string(bench.path("one.run")).unwrap();
    assert_eq!(run, fs::read_to_string(bench.path("two.run")).unwrap());
    assert!(run.lines().all(|line| line.ends_with(" prospect-bm25>>pair")));
    let again = evaluated(&bench, "--run @one.run");
    for metric in ["nDCG@10", "AP"] {
        assert_eq!(mean(&again, metric), mean(&cold, metric), "{metric}");
        assert_ne!(mean(&plain, metric), mean(&cold, metric), "{metric}");
    }
    assert_eq!(mean(&plain, "R@100"), mean(&cold, "R@100"), "the first 100 stay the first 100");
}

#[test]
fn simulate_says_the_same_from_flags_and_files_with_any_threads_and_after_an_interruption() {
    let bench = bench();
    let given = line(SMALL);
    simulated(&bench, &format!("{given} --runs all --threads 1"), "whole");
    let whole = summary(&bench, "whole");
    let folder = fs::canonicalize(bench.path("")).unwrap();
    // Paths of a file are relative to it.
    common::copy(Path::new(&model("pair")), &folder.join("models/pair"));
    let toml = "corpus = 'pages.jsonl'\nworkload = 'few.tsv'\nqrels = 'few.qrels'\n\
        crawled = 'share:0.6'\npolicy = 'random,inlinks'\nbaseline = 'random'\nbatch = '20%'\n\
        checkpoints = ['20%', '60%', '100%']\nruns = 'all'\n\
        [[experiment]]\nname = 'a'\nrerank-model = 'models/pair'\n[[experiment]]\nname = 'b'\n";
    bench.write("run.toml", toml);
    simulated(&bench, "simulate --config @run.toml --threads 2", "file");
    same(&bench, "whole", "file/a");
    // It cannot write a file of its results, when all work is done; then half of the work is lost.
    fs::create_dir_all(bench.path("again/curves.csv")).unwrap();
    let given = format!("{given} --runs all --out @again").replace("--score-cache @cache", "");
    assert_eq!(tried(&bench, &given).code, Some(1));
    assert!(fs::metadata(bench.path("again/work/scores")).unwrap().is_dir());
    fs::remove_dir(bench.path("again/curves.csv")).unwrap();
    fs::remove_file(bench.path("again/work/random/1.values")).unwrap();
    assert_eq!(tried(&bench, &given).code, Some(0));
    same(&bench, "whole", "again");

    let plain = summary(&bench, "file/b");
    let reranker = &whole["provenance"]["reranker"];
    assert_eq!((&reranker["name"], &reranker["depth"]), (&"pair".into(), &100.into()));
    assert_eq!(reranker["fingerprint"].as_str().unwrap().len(), 32);
    assert!(plain["provenance"]["reranker"].is_null());
    let points = curve(&whole, "inlinks", "all", "nDCG@10");
    assert_ne!(points, curve(&plain, "inlinks", "all", "nDCG@10"));
    assert_eq!(curve(&whole, "inlinks", "all", "R@100"), curve(&plain, "inlinks", "all", "R@100"));
    for (pages, value) in points {
        let run = evaluated(&bench, &format!("--run @whole/runs/inlinks/1/{pages}.run"));
        assert!((mean(&run, "nDCG@10") - value).abs() < 1e-9, "{pages} pages: {value}");
    }
    // All pages are fetched: the crawl is the corpus.
    let rest =
        "--workload @few.tsv --corpus @pages.jsonl --rerank-model MODEL --score-cache @cache";
    let corpus = mean(&evaluated(&bench, rest), "nDCG@10");
    for policy in ["random", "inlinks"] {
        let (pages, value) = *curve(&whole, policy, "all", "nDCG@10").last().unwrap();
        assert_eq!(pages, 120);
        assert!((value - corpus).abs() < 1e-9, "{policy}: {value}, not {corpus}");
    }
    let report = done(&["report", &bench.path("whole")]);
    let expected = "rankings: BM25 (k1 0.9, b 0.4) >> pair, top 100\n";
    assert!(report.stdout.contains(expected), "{}", report.stdout);
}

#[test]
fn another_model_is_another_experiment() {
    let bench = bench();
    let given = line(SMALL).replace("20%,60%,100%", "20%");
    simulated(&bench, &given, "one");
    let other = bench.path("other");
    common::copy(Path::new(&model("pair")), Path::new(&other));
    let settings = fs::read_to_string(bench.path("other/model.toml")).unwrap();
    bench.write("other/model.toml", settings.replace("stride_tokens = 16", "stride_tokens = 17"));
    let given = given.replace(&model("pair"), &other);
    let run = tried(&bench, &format!("{given} --out @one"));
    assert_eq!(run.code, Some(1));
    let expected = "holds another experiment: other rerank-model";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn what_is_no_cross_encoder_is_refused_before_pages_are_read() {
    let bench = bench();
    bench.write("any.run", "q00 Q0 a 1 1 t\n");
    let kind = "t5/model.toml: the model's kind is t5-true-false; expected sequence-pair, which \
                scores a page for a query";
    let evaluate = format!("{EVALUATE} --workload @few.tsv --corpus @pages.jsonl");
    let both = "rerank and rerank-model both order";
    let cases = [
        (format!("{evaluate} --rerank-model {}", model("t5")), kind),
        (format!("{evaluate} --rerank-model @gone"), "there is no model @gone"),
        (format!("{evaluate} --rerank-model @"), "model.toml: No such file"),
        (
            line(&format!("{evaluate} --rerank-model MODEL --rerank @any.run")),
            "cannot be used with",
        ),
        (line(&format!("{SMALL} --out @no")).replace("/pair", "/t5"), kind),
        (line(&format!("{SMALL} --out @no")).replace("/pair", "/no"), "there is no model"),
        (line(&format!("{SMALL} --rerank @any.run --out @no")), "cannot be used with"),
        (line(&format!("{SMALL} --out @no")).replace("--qrels @few.qrels", ""), "--qrels FILE"),
        ("simulate --config @both.toml --out @no".to_owned(), both),
    ];
    let toml = "corpus = 'pages.jsonl'\nworkload = 'few.tsv'\nqrels = 'few.qrels'\npolicy = 'bfs'\n\
        seeds = 'random:3'\nrerank = 'any.run'\nrerank-model = 'models/pair'\n";
    bench.write("both.toml", toml);
    for (given, expected) in cases {
        let run = tried(&bench, &given);
        assert_eq!((run.code, &*run.stdout), (Some(1), ""), "{given}: {}", run.stderr);
        let expected = expected.replace('@', &bench.path(""));
        assert!(run.stderr.contains(&expected), "{given}: {expected:?} is not in\n{}", run.stderr);
        assert!(!run.stderr.contains("300 pages"), "{given}: {}", run.stderr);
    }
}
