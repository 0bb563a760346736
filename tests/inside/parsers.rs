//! Every parser of files that others wrote, by the name of a small file of its format (`tests/attack/corpus/`).
//!
//! Read, or refused with an error: anything else is a fault. `mutated_inputs` changes the files at random, and
//! `tests/attack/fuzz` by what the parsers' branches make of them.

use std::fs;
use std::path::Path;

use crate::campaign::url_list::UrlList;
use crate::documents::{Input, OpenOptions};
use crate::estimate::url_parts::{depth, file_type};
use crate::evaluate::run;
use crate::ingest::urls::UrlFiles;
use crate::ingest::{self, SourceItem, SourceOptions};
use crate::plan::polite_time::Queues;
use crate::plan::robots::crawl_delay;
use crate::whatif::scenario::Scenario;
use crate::workload::{self, qrels};
use prospect_index::{ingest as stored, url, words};

/// Reads a file that lies at a path, whose text is given as well.
pub type Parser = fn(&Path, &str);

fn pages(path: &Path, _: &str) {
    let base_url = Some("https://e.org/".to_owned());
    let options = SourceOptions { base_url, ..SourceOptions::default() };
    let Ok(mut source) = ingest::open(&[path.to_owned()], &options) else { return };
    while let Ok(items) = source.next_batch(7) {
        if items.is_empty() {
            return;
        }
        for item in items {
            if let SourceItem::Page { record, .. } = item {
                let _ = stored::prepare(record);
            }
        }
    }
}

fn urls(path: &Path, _: &str) {
    for with_statuses in [false, true] {
        let Ok(mut files) = UrlFiles::open(&[path.to_owned()], with_statuses) else { continue };
        while files.next_batch(7).is_ok_and(|items| !items.is_empty()) {}
    }
}

fn links(path: &Path, text: &str) {
    let page = path.with_file_name("pages.jsonl");
    fs::write(&page, "{\"url\":\"https://a.test/\",\"text\":\"x\"}\n").unwrap();
    let inputs = [page, path.to_owned()];
    if let Ok(mut source) = ingest::open(&inputs, &SourceOptions::default()) {
        while source.next_batch(7).is_ok_and(|items| !items.is_empty()) {}
    }
    pages(path, text);
}

fn documents(path: &Path, _: &str) {
    let input = Input::of(path, None);
    let Ok(mut source) = crate::documents::open(&input, &OpenOptions::default()) else { return };
    while let Ok(Some(batch)) = source.next_batch() {
        let _ = batch.values(&["text".to_owned()]).len();
    }
}

fn scenario(_: &Path, text: &str) {
    let _ = serde_json::from_str::<Scenario>(text);
}

fn canonical(_: &Path, text: &str) {
    for given in text.split_whitespace() {
        let Ok(found) = url::canonical(given) else { continue };
        assert_eq!(url::canonical(&found).as_ref(), Ok(&found));
        let _ = (url::host(&found), depth(&found), file_type(&found), words::words(&found));
    }
    let _ = UrlList::parse(text);
}

/// The parser of each file of the corpus, sorted by name.
pub const PARSERS: [(&str, Parser); 27] = [
    ("addresses.txt", |_, text| drop(Queues::parse_addresses(text))),
    ("crawldb.csv", urls),
    ("crawldb.txt", urls),
    ("delays.txt", |_, text| drop(Queues::parse_delays(text))),
    ("documents.csv", documents),
    ("documents.json", documents),
    ("documents.jsonl", documents),
    ("heritrix.log", urls),
    ("index.cdxj", urls),
    ("judged.qrels", |_, text| drop(qrels::parse(text, "j"))),
    ("links.tsv", links),
    ("page.html", pages),
    ("pages.jsonl", pages),
    ("pages.parquet", |path, text| {
        pages(path, text);
        documents(path, text);
    }),
    ("pages.warc", pages),
    ("pages.wat", pages),
    ("queries.csv", |_, text| drop(workload::parse(text, "q"))),
    ("queries.json", |_, text| drop(workload::parse(text, "q"))),
    ("queries.trec", |_, text| drop(workload::parse(text, "q"))),
    ("queries.tsv", |_, text| drop(workload::parse(text, "q"))),
    ("results.run", |path, _| drop(run::load(path))),
    ("robots.txt", |_, text| {
        assert!(crawl_delay("*", text.as_bytes()).is_none_or(|delay| delay >= 0.0));
    }),
    ("scenario.json", scenario),
    ("seeds.txt", urls),
    ("sitemap.xml", urls),
    ("urls.txt", canonical),
    ("wget.log", urls),
];
