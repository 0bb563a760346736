//! Served lists that are brought up to date must be those that are built from nothing, bit for bit:
//! a cycle is closed, and a batch planned, on lists that were only updated. The hard cases are pages
//! that are fetched again and pages that are gone, since the page behind the K-th is not kept.

use crate::sketch::served::ServedLists;
use crate::workload::{Query, Workload};
use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::ingest::ingest_all;
use prospect_index::page::PageRecord;
use prospect_index::store::{Store, StoreOptions};
use prospect_index::text_index::TextIndex;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PAGES: u32 = 60;
const WORDS: u32 = 12;
const K: usize = 3;

fn record(random: &mut ChaCha8Rng) -> PageRecord {
    let words: Vec<String> = (0..random.random_range(1..12))
        .map(|_| format!("w{}", random.random_range(0..WORDS)))
        .collect();
    let gone = random.random_range(0..8) == 0;
    PageRecord {
        url: format!("https://x.test/{}", random.random_range(0..PAGES)),
        text: words.join(" "),
        status: gone.then_some(404),
        ..PageRecord::default()
    }
}

#[test]
fn lists_brought_up_to_date_are_those_built_from_nothing() {
    let queries = (0..WORDS)
        .map(|word| Query::new(&format!("q{word:02}"), &format!("w{word} w{}", word / 2), 1.0, ""))
        .collect();
    let workload = Workload { queries };
    let mut scored_anew = 0;
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let directory = tempfile::tempdir().unwrap();
        let mut ends = Vec::new();
        for part in ["first", "second", "third"] {
            let records = (0..40).map(|_| record(&mut random)).collect();
            ingest_all(directory.path(), records, part).unwrap();
            let store = Store::open(directory.path(), &StoreOptions::default()).unwrap();
            ends.push(store.manifest().next_seq);
        }
        let store = Store::open(directory.path(), &StoreOptions::default()).unwrap();
        let known = store.known().unwrap();
        let (text, _) = TextIndex::open(store.storage(), store.manifest(), &known.pages).unwrap();
        let scorer = Scorer::new(&text, Bm25::default(), ends[0], workload.words()).unwrap();
        let build = |end| ServedLists::build(&scorer, &workload.queries, K, end, &known.urls);
        let anew = build(ends[2]).unwrap();
        for start in [0, ends[0], ends[1]] {
            let mut lists = build(start).unwrap();
            scored_anew += lists
                .update(&scorer, &workload.queries, ends[2], &known.pages, &known.urls)
                .unwrap();
            assert_eq!(lists, anew, "seed {seed}, from record {start}");
        }
    }
    assert!(scored_anew > 0, "no page of a list was replaced: the hard case was not met");
}
