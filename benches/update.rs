//! What it costs to bring derived structures up to date after 1 % more pages, against building
//! them anew, on `uci-web` and `enwiki-30k` below `PROSPECT_DATA`. Prints figures and asserts
//! nothing: `cargo bench --bench update`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use prospect::ingest::{self, SourceItem, SourceOptions};
use prospect::sketch::served::ServedLists;
use prospect::workload;
use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::frontier::{NgramSegments, View};
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use prospect_index::page::PageRecord;
use prospect_index::page_store::Known;
use prospect_index::store::{Store, StoreOptions};
use prospect_index::text_index::TextIndex;

fn main() {
    let root =
        std::env::var_os("PROSPECT_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
    for corpus in ["uci-web", "enwiki-30k"] {
        let folder = root.join(corpus);
        if folder.join("pages.jsonl.zst").exists() {
            measure(corpus, &folder);
        } else {
            println!("{corpus}: skipped, {} is not there", folder.display());
        }
    }
}

fn read(folder: &Path) -> Vec<PageRecord> {
    let paths = [folder.join("pages.jsonl.zst")];
    let mut source = ingest::open(&paths, &SourceOptions::default()).expect("corpus opens");
    let mut records = Vec::new();
    loop {
        let items = source.next_batch(5_000).expect("corpus reads");
        if items.is_empty() {
            return records;
        }
        records.extend(items.into_iter().filter_map(|item| match item {
            SourceItem::Page { record, .. } => Some(record),
            SourceItem::Bad { .. } | SourceItem::Other { .. } => None,
        }));
    }
}

/// Time of each structure to come up to date: text index, frontier, history.
fn open_all(store: &Store, known: &Known) -> ([Duration; 3], TextIndex) {
    let (storage, manifest) = (store.storage(), store.manifest());
    let started = Instant::now();
    let (text, _) = TextIndex::open(storage, manifest, &known.pages).expect("text index");
    let text_time = started.elapsed();
    let time = |view| {
        let started = Instant::now();
        NgramSegments::open(storage, manifest, known, view, limits::BOUNDS.ngram_words)
            .expect("n-grams");
        started.elapsed()
    };
    ([text_time, time(View::Frontier), time(View::History)], text)
}

fn measure(name: &str, folder: &Path) {
    let temporary = tempfile::tempdir().expect("directory");
    let mut records = read(folder);
    // Half of the corpus is crawled, so that the frontier is as large as it gets.
    records.truncate(records.len() / 2);
    let more = records.split_off(records.len() - records.len() / 101);
    let (old, new) = (records.len(), more.len());
    let path = temporary.path();
    ingest_all(path, records, "first").expect("ingest");
    let options = StoreOptions::default();
    let store = Store::open(path, &options).expect("store");
    let known = store.known().expect("tables");
    let (_, text) = open_all(&store, &known);
    let workload = workload::load(&folder.join("queries.tsv")).expect("workload");
    let queries = &workload.queries;
    let epoch = store.manifest().next_seq;
    let scorer = Scorer::new(&text, Bm25::default(), epoch, workload.words()).expect("scorer");
    let before =
        ServedLists::build(&scorer, queries, 10, epoch, &known.urls).expect("served lists");
    drop(scorer);
    drop(store);

    ingest_all(path, more, "more").expect("ingest");
    let store = Store::open(path, &options).expect("store");
    let known = store.known().expect("tables");
    let (update, text) = open_all(&store, &known);
    let end = store.manifest().next_seq;
    let started = Instant::now();
    let scorer = Scorer::new(&text, Bm25::default(), epoch, workload.words()).expect("scorer");
    let scorer_time = started.elapsed();
    let mut updated = before;
    let started = Instant::now();
    updated.update(&scorer, queries, end, &known.pages, &known.urls).expect("update");
    let served_update = started.elapsed();
    let started = Instant::now();
    let anew = ServedLists::build(&scorer, queries, 10, end, &known.urls).expect("served lists");
    let served_anew = started.elapsed();
    let equal = anew == updated;
    std::fs::remove_dir_all(path.join("derived")).expect("derived");
    let (build, _) = open_all(&store, &known);
    println!("{name}: {new} pages after {old}; lists equal: {equal}");
    let rows = [
        ("text index", update[0], build[0]),
        ("frontier n-grams", update[1], build[1]),
        ("history n-grams", update[2], build[2]),
        ("served lists", scorer_time + served_update, scorer_time + served_anew),
        ("  scoring alone", served_update, served_anew),
    ];
    for (what, update, build) in rows {
        let ratio = update.as_secs_f64() / build.as_secs_f64();
        println!("  {what:<17} update {update:>10.1?}  anew {build:>10.1?}  ratio {ratio:.3}");
    }
}
