//! Test collections as they come: queries, documents and judgements by ids, and a map from ids to URLs.
//!
//! Story: somebody has a collection of `ir_datasets` or BEIR. Its documents and judgements go by ids, and Prospect, which
//! plans crawls, knows pages by their URLs. Nothing is rewritten: one file says which id has which URL.

mod common;

use std::fs;
use std::path::Path;

use common::{done, prospect, text};
use serde_json::{Value, json};

/// Two documents that link to each other, by id alone or with a URL.
fn documents(folder: &Path, with_urls: bool) {
    let document = |id: &str, words: &str, to: &str| {
        let links = json!([{"url": format!("https://a.test/{to}"), "anchor": to}]);
        let mut document = json!({"_id": id, "title": id, "text": words, "outlinks": links});
        if with_urls {
            document["url"] = json!(format!("https://a.test/{id}"));
        }
        document.to_string()
    };
    let lines = [document("D1", "rye bread", "D2"), document("D2", "wheat", "D1")];
    fs::write(folder.join("corpus.jsonl"), lines.join("\n")).unwrap();
}

/// Files of BEIR: queries with `_id`, judgements with headings and tabs. One document is unknown.
fn beir(folder: &Path) {
    fs::write(folder.join("queries.jsonl"), r#"{"_id": "q1", "text": "rye bread"}"#).unwrap();
    let judgements = "query-id\tcorpus-id\tscore\nq1\tD1\t1\nq1\tD9\t1\n";
    fs::write(folder.join("qrels.tsv"), judgements).unwrap();
}

fn searched(folder: &Path, options: &[&str]) -> Value {
    let [corpus, queries, qrels] =
        ["corpus.jsonl", "queries.jsonl", "qrels.tsv"].map(|name| folder.join(name));
    let search = ["evaluate", "--corpus", text(&corpus), "--workload", text(&queries)];
    let measure = ["--qrels", text(&qrels), "--metrics", "R@10", "--json"];
    serde_json::from_str(&done(&[&search[..], &measure, options].concat()).stdout).unwrap()
}

#[test]
fn a_map_leads_from_ids_to_urls_in_documents_and_judgements() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), false);
    beir(dir.path());
    let map = dir.path().join("urls.tsv");
    fs::write(&map, "doc_id\turl\nD1\thttps://a.test/D1\nD2\thttps://a.test/D2\n").unwrap();
    let found = searched(dir.path(), &["--doc-urls", text(&map)]);
    assert_eq!(found["runs"][0]["means"]["R@10"], 1.0);
    // Documents of one URL are one page, of which the higher grade is judged.
    let parts =
        "\ndoc_id\turl\nD1\thttps://a.test/D1\nD2\thttps://a.test/D2\nD9\thttps://a.test/D1#9\n";
    fs::write(&map, parts).unwrap();
    let found = searched(dir.path(), &["--doc-urls", text(&map)]);
    assert_eq!(found["runs"][0]["means"]["R@10"], 1.0);
}

/// Story: a run of another system names documents by ids, ours by URLs; both are measured beside each other.
#[test]
fn runs_by_ids_stand_beside_those_by_urls() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), false);
    beir(dir.path());
    let [map, run] = ["urls.tsv", "theirs.run"].map(|name| dir.path().join(name));
    fs::write(&map, "D1\thttps://a.test/D1\nD2\thttps://a.test/D2\nD3\thttps://a.test/D2\n")
        .unwrap();
    // The third is another document of the second one's page, the fourth is of none.
    let line = |(rank, id): (usize, &str)| format!("q1 Q0 {id} {rank} {} theirs\n", 9 - rank);
    let lines = ["D2", "D3", "https://a.test/D1", "D9"].into_iter().enumerate().map(line);
    fs::write(&run, lines.collect::<String>()).unwrap();
    let found = searched(
        dir.path(),
        &["--doc-urls", text(&map), "--run", text(&run), "--metrics", "MRR@10"],
    );
    let means: Vec<&Value> =
        found["runs"].as_array().unwrap().iter().map(|run| &run["means"]["MRR@10"]).collect();
    assert_eq!(means, [&json!(1.0), &json!(0.5)]);

    let qrels = dir.path().join("qrels.tsv");
    let alone = ["evaluate", "--run", text(&run), "--qrels", text(&qrels), "--metrics", "MRR@10"];
    let mapped = [&alone[..], &["--doc-urls", text(&map), "--json"]].concat();
    let told = done(&mapped);
    assert!(told.stderr.contains("1 results of documents that have no URL"), "{}", told.stderr);
    let found: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(found["runs"][0]["means"]["MRR@10"], 0.5);
}

#[test]
fn a_collection_with_ids_and_urls_is_its_own_map() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), true);
    beir(dir.path());
    let corpus = dir.path().join("corpus.jsonl");
    let found = searched(dir.path(), &["--doc-urls", text(&corpus)]);
    assert_eq!(found["runs"][0]["means"]["R@10"], 1.0);
}

#[test]
fn a_crawl_is_simulated_with_judgements_by_ids() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), false);
    beir(dir.path());
    // By the id of a document, and by the URL of another.
    let records = r#"{"query_id": "q1", "doc_id": "D1", "relevance": 1, "iteration": "0"}
{"query_id": "q1", "doc_id": "https://a.test/D2", "relevance": 1}"#;
    let [corpus, queries, qrels, map, out] =
        ["corpus.jsonl", "queries.jsonl", "qrels.jsonl", "map.jsonl", "out"]
            .map(|name| dir.path().join(name));
    fs::write(&qrels, records).unwrap();
    let urls = ["D1", "D2"].map(|id| json!({"id": id, "url": format!("https://a.test/{id}")}));
    fs::write(&map, format!("{}\n{}\n", urls[0], urls[1])).unwrap();
    let simulate = ["simulate", "--corpus", text(&corpus), "--doc-urls", text(&map), "--qrels"];
    let crawl = [text(&qrels), "--workload", text(&queries), "--policy", "bfs", "--seeds"];
    let told = done(&[&simulate[..], &crawl, &["random:1", "--out", text(&out)]].concat());
    assert!(told.stderr.contains("1 of 1 queries have a relevant page"), "{}", told.stderr);
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["provenance"]["config"]["doc-urls"], "map.jsonl");
    assert_eq!(summary["collection"]["relevant_pages"], 2);
    // Tables name the experiment as the summary does.
    let curves = fs::read_to_string(out.join("curves.csv")).unwrap();
    let place = curves.lines().next().unwrap().split(',').position(|name| name == "experiment");
    let named = curves.lines().nth(1).unwrap().split(',').nth(place.unwrap()).unwrap();
    assert_eq!(summary["experiment"], named);
}

#[test]
fn ids_without_a_map_are_told() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), false);
    let (store, corpus) = (dir.path().join("store"), dir.path().join("corpus.jsonl"));
    let failed = prospect(&["ingest", "--store", text(&store), text(&corpus)]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.stderr.contains("no url, but the id \"D1\""), "{}", failed.stderr);
    assert!(failed.stderr.contains("--doc-urls"), "{}", failed.stderr);
    let map = dir.path().join("urls.tsv");
    fs::write(&map, "D2\thttps://a.test/D2\n").unwrap();
    let ingest = ["ingest", "--store", text(&store), "--doc-urls", text(&map), text(&corpus)];
    let told = done(&ingest).stderr;
    assert!(told.contains("the map has none for its id \"D1\""), "{told}");
}

#[test]
fn ids_of_pages_with_a_url_are_anything() {
    let dir = tempfile::tempdir().unwrap();
    let (store, pages) = (dir.path().join("store"), dir.path().join("pages.jsonl"));
    let ids = [json!({"$oid": "507f"}), json!(true), json!([1]), json!(null), json!(3.5)];
    let page = |(at, id): (usize, &Value)| {
        json!({"url": format!("https://a.test/{at}"), "_id": id, "text": "x"}).to_string()
    };
    let lines: Vec<String> = ids.iter().enumerate().map(page).collect();
    fs::write(&pages, lines.join("\n")).unwrap();
    let told = done(&["ingest", "--store", text(&store), "--json", text(&pages)]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["pages"], 5);
}

#[test]
fn a_map_that_knows_no_document_is_told() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), true);
    beir(dir.path());
    let map = dir.path().join("urls.tsv");
    fs::write(&map, "E1\thttps://a.test/D1\n").unwrap();
    let [corpus, queries, qrels] =
        ["corpus.jsonl", "queries.jsonl", "qrels.tsv"].map(|name| dir.path().join(name));
    let search = ["evaluate", "--corpus", text(&corpus), "--workload", text(&queries)];
    let measure = ["--qrels", text(&qrels), "--doc-urls", text(&map)];
    let failed = prospect(&[&search[..], &measure].concat());
    let what = "none of the 2 judgements is of a document that the map knows";
    assert!(
        failed.stderr.contains(what) && failed.stderr.contains("hint: a map is"),
        "{}",
        failed.stderr
    );
}

#[test]
fn files_of_an_experiment_are_relative_to_it() {
    let dir = tempfile::tempdir().unwrap();
    documents(dir.path(), false);
    beir(dir.path());
    fs::write(dir.path().join("urls.tsv"), "D1\thttps://a.test/D1\nD2\thttps://a.test/D2\n")
        .unwrap();
    let settings = "corpus = \"corpus.jsonl\"\nworkload = \"queries.jsonl\"\nqrels = \"qrels.tsv\"\n\
        doc-urls = \"urls.tsv\"\nquality-model = \"text-length\"\npolicy = \"qfirst\"\nbaseline = \"qfirst\"\nseeds = \"random:1\"\n";
    let (experiment, out) = (dir.path().join("e.toml"), dir.path().join("out"));
    fs::write(&experiment, settings).unwrap();
    done(&["simulate", "--config", text(&experiment), "--out", text(&out)]);
}
