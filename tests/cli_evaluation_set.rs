//! Queries are made of crawled pages, and sufficiency is held against what search returns for them.
//!
//! Story: an operator wants to know whether the sufficiency that she stops by means anything on her pages, and has no
//! judgements. She makes queries of the pages, crawls again with them, and reads how the two go together.

mod common;
#[path = "common/simulation.rs"]
mod simulation;

use std::collections::BTreeMap;
use std::fs;

use common::{done, prospect, text};
use serde_json::Value;
use simulation::{SMALL, order, summary, tried};

/// A store of a small generated web.
fn store(dir: &std::path::Path) -> String {
    let pages = format!("{}/workloads/tiny/site", env!("CARGO_MANIFEST_DIR"));
    let store = text(&dir.join("store")).to_owned();
    let root = ["--base-url", "https://tools.example/", "--html-root", &pages, &pages];
    done(&[&["ingest", "--store", &store][..], &root].concat());
    store
}

#[test]
fn a_set_is_made_of_pages_and_crawled_with() {
    let dir = tempfile::tempdir().unwrap();
    let (store, out) = (store(dir.path()), dir.path().join("set"));
    let make = ["evaluation-set", "--store", &store, "--out", text(&out), "--json"];
    let found: Value = serde_json::from_str(&done(&make).stdout).unwrap();
    assert_eq!(found["schema"], "prospect.evaluation-set/1");
    assert!(found["queries"]["title"].as_u64().unwrap() > 20, "{found}");
    assert!(found["queries"]["anchor"].as_u64().unwrap() >= 3, "{found}");
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let names = ["queries.tsv", "variants.tsv", "qrels.txt", "pages.jsonl"];
    let first: BTreeMap<&str, String> = names.into_iter().map(|name| (name, read(name))).collect();
    // Every query is judged, by pages of the store.
    let qids: Vec<&str> =
        first["queries.tsv"].lines().map(|line| line.split('\t').next().unwrap()).collect();
    for qid in &qids {
        let judged =
            first["qrels.txt"].lines().filter(|line| line.starts_with(&format!("{qid} 0 ")));
        let urls: Vec<&str> = judged.map(|line| line.split(' ').nth(2).unwrap()).collect();
        assert!((1..=3).contains(&urls.len()), "{qid}: {urls:?}");
        for url in urls {
            assert!(first["pages.jsonl"].contains(&format!("\"url\":\"{url}\"")), "{url}");
        }
    }
    // The same again, and other queries by another seed, of which there may be fewer.
    done(&make);
    assert!(names.into_iter().all(|name| first[name] == read(name)));
    done(&[&make[..], &["--seed", "2", "--queries", "5", "--from", "title"]].concat());
    assert_eq!(read("queries.tsv").lines().count(), 5);
    done(&make);
    // It is understood by all that it is made for.
    let queries = out.join("queries.tsv");
    let variants = out.join("variants.tsv");
    let asked = ["sufficiency", "--store", &store, "--workload", text(&queries), "--json"];
    let asked = done(&[&asked[..], &["--variants", text(&variants)]].concat()).stdout;
    let asked: Value = serde_json::from_str(&asked).unwrap();
    assert!(asked["validation"]["held_out"].as_u64().unwrap() > 0);
    let crawls = dir.path().join("crawls");
    let (pages, qrels) = (out.join("pages.jsonl"), out.join("qrels.txt"));
    let crawl = ["simulate", "--corpus", text(&pages), "--workload", text(&queries)];
    let crawl = [&crawl[..], &["--qrels", text(&qrels), "--policy", "bfs", "--seeds", "random:3"]];
    let crawl =
        [&crawl.concat()[..], &["--sufficiency", "--out", text(&crawls), "--json"]].concat();
    let summary: Value = serde_json::from_str(&done(&crawl).stdout).unwrap();
    assert_eq!(summary["sufficiency"]["queries"], qids.len());
}

#[test]
fn a_set_needs_phrases_and_a_model_where_one_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("pages.jsonl");
    fs::write(&pages, "{\"url\":\"https://a.test/\",\"title\":\"One\",\"text\":\"word\"}\n")
        .unwrap();
    let store = text(&dir.path().join("store")).to_owned();
    done(&["ingest", "--store", &store, text(&pages)]);
    let out = dir.path().join("set");
    let make = ["evaluation-set", "--store", &store, "--out", text(&out)];
    for (more, what) in [
        (&[][..], "no title, anchor or heading makes a query"),
        (&["--from", "llm"], "no language model is named"),
        (&["--from", "body"], "the origins are title, anchor, heading, llm"),
    ] {
        let refused = prospect(&[&make[..], more].concat());
        assert_eq!(refused.code, Some(1), "{what}");
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
    }
    assert!(!out.exists(), "nothing was made");
}

#[test]
fn sufficiency_is_held_against_what_search_returns() {
    let bench = simulation::bench();
    let run = |more: &str| tried(&bench, &format!("{SMALL} --policy bfs,prospect {more}"));
    let (plain, checked) = (run("--out @plain"), run("--out @checked --sufficiency"));
    assert_eq!((plain.code, checked.code), (Some(0), Some(0)), "{}", checked.stderr);
    assert!(checked.stdout.contains("within a statistics epoch"), "{}", checked.stdout);
    for policy in ["bfs", "prospect"] {
        assert_eq!(order(&bench, "plain", policy, 1), order(&bench, "checked", policy, 1));
    }
    let found = summary(&bench, "checked");
    for policy in found["sufficiency"]["policies"].as_array().unwrap() {
        let coverage = &policy["coverage"];
        assert_eq!(coverage["falls_within"], 0, "{coverage}");
        assert!(coverage["within"].as_u64().unwrap() > 0, "{coverage}");
        let strategy = &policy["strategies"][0];
        assert_eq!(strategy["name"], "statistical");
        let points = strategy["points"].as_array().unwrap();
        let bins = strategy["bins"].as_array().unwrap();
        let counted: u64 = bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
        let queries = found["sufficiency"]["queries"].as_u64().unwrap();
        assert_eq!(counted, queries * 2 * points.len() as u64);
        for bin in bins {
            let (from, mean) =
                (bin["from"].as_f64().unwrap(), bin["sufficiency"].as_f64().unwrap());
            assert!(from <= mean && mean <= from + 0.1 + 1e-12, "{bin}");
        }
        // What is compared is what the curves have.
        let last = points.last().unwrap();
        let name = &policy["name"];
        let all = found["policies"].as_array().unwrap();
        let own = all.iter().find(|own| own["name"] == *name).unwrap();
        let metrics = found["metrics"].as_array().unwrap();
        let at = metrics.iter().position(|metric| metric == "nDCG@10").unwrap();
        let curve = own["kinds"][0]["curves"][at]["points"].as_array().unwrap();
        let same = curve.iter().find(|point| point["pages"] == last["pages"]).unwrap();
        let means = (same["mean"].as_f64().unwrap(), last["ndcg"].as_f64().unwrap());
        assert!((means.0 - means.1).abs() < 1e-9, "{means:?}");
    }
    let csv = fs::read_to_string(bench.path("checked/sufficiency.csv")).unwrap();
    assert!(csv.starts_with("policy,strategy,pages,sufficiency,ndcg10,"), "{csv}");
    let refused =
        tried(&bench, "simulate --corpus @pages.jsonl --seeds random:3 --out @r --sufficiency");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("needs queries and judgements"), "{}", refused.stderr);
}

#[test]
fn each_query_can_have_crawls_of_its_own() {
    let bench = simulation::bench();
    let one =
        "--single-query --max-pages 20 --batch 5 --stop sufficiency:0.3,no-gain,fixed:10,never";
    let run = |more: &str| tried(&bench, &format!("{SMALL} --policy bfs,sufficiency {one} {more}"));
    let first = run("--out @first");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert!(first.stdout.contains("crawled for alone"), "{}", first.stdout);
    assert_eq!(run("--out @again --threads 1").code, Some(0));
    let read =
        |out: &str, file: &str| fs::read_to_string(bench.path(&format!("{out}/{file}"))).unwrap();
    for file in ["single-query.csv", "stops.csv"] {
        let bare = |csv: String| -> Vec<String> {
            csv.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
        };
        assert_eq!(bare(read("first", file)), bare(read("again", file)), "{file}");
    }
    let found = summary(&bench, "first");
    let single = &found["single_query"];
    assert!(found["collection"]["relevant_pages"].as_u64().unwrap() > 0, "{found}");
    assert!(found["collection"]["total_impact"].as_f64().unwrap() > 0.0);
    assert_eq!((&single["pages"], &single["batch"]), (&20.into(), &5.into()));
    let queries = single["queries"].as_u64().unwrap();
    let lines = read("first", "single-query.csv").lines().count() as u64;
    assert_eq!(lines, 1 + queries * 2 * 2, "two policies and two sets of seeds");
    let all: Vec<&Value> = single["policies"].as_array().unwrap().iter().collect();
    let ndcg = |name: &str| {
        let own = all.iter().find(|own| own["name"] == name && own["kind"] == "all").unwrap();
        own["ndcg"]["mean"].as_f64().unwrap()
    };
    assert!(ndcg("sufficiency") > ndcg("bfs"), "who looks for the query's words finds it sooner");
    let rules = found["stopping"]["rules"].as_array().unwrap();
    let rule = |name: &str| rules.iter().find(|rule| rule["rule"] == name).unwrap();
    assert_eq!(rule("never")["crawls"].as_u64().unwrap(), queries * 4);
    assert_eq!(rule("fixed:10")["pages"]["mean"], 0.5);
    // Its tables are shown again from the file; there is no page of them.
    assert!(done(&["report", &bench.path("first")]).stdout.contains("crawled for alone"));
    let html = prospect(&["report", &bench.path("first"), "--html", &bench.path("report.html")]);
    assert_eq!(html.code, Some(1));
    assert!(html.stderr.contains("have no curves"), "{}", html.stderr);
    let refused = tried(&bench, &format!("{SMALL} --policy bfs --single-query --out @refused"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("a budget of pages"), "{}", refused.stderr);
}
