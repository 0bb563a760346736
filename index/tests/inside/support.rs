//! Small crawls for the tests of the store: pages of few words and URLs, so that everything that
//! can coincide does.
#![allow(dead_code, reason = "each test file uses its part")]

use std::collections::BTreeMap;
use std::path::Path;

use crate::ingest::{IngestCounts, ingest_all};
use crate::page::{Outlink, PageRecord};
use crate::page_store::Known;
use crate::store::{Store, StoreOptions};

/// Words of pages and anchors; the last is on no page.
pub const WORDS: [&str; 8] = ["a", "b", "crawl", "budget", "é", "web", "tail", "zz"];

/// The URL with this number, in canonical spelling: 4 hosts, and paths that share words.
pub fn url(number: usize) -> String {
    format!("https://h{}.test/{}/{number}", number % 4, WORDS[number % 3])
}

/// Words by number, as a text.
pub fn text(words: &[usize]) -> String {
    words.iter().map(|&word| WORDS[word]).collect::<Vec<_>>().join(" ")
}

/// A page with links, each a URL number and the words of its anchor.
pub fn page(number: usize, words: &[usize], links: &[(usize, Vec<usize>)]) -> PageRecord {
    let (title, rest) = words.split_at(words.len() / 3);
    PageRecord {
        url: url(number),
        title: text(title),
        text: text(rest),
        outlinks: links
            .iter()
            .map(|(to, anchor)| Outlink::from((url(*to), text(anchor))))
            .collect(),
        ..PageRecord::default()
    }
}

/// Ingests, under a name that no other ingest of the store has.
pub fn ingest(root: &Path, records: &[PageRecord], name: &str) -> IngestCounts {
    ingest_all(root, records.to_vec(), name).unwrap()
}

/// Opens a store that exists.
pub fn open(root: &Path) -> (Store, Known) {
    let store = Store::open(root, &StoreOptions::default()).unwrap();
    let known = store.known().unwrap();
    (store, known)
}

/// Current pages after some records: `fetch_seq` and record by URL. A failed fetch takes a page
/// away only if it says that the page is gone.
pub fn current(records: &[PageRecord]) -> BTreeMap<&str, (u32, &PageRecord)> {
    let mut pages = BTreeMap::new();
    for (seq, record) in records.iter().enumerate() {
        match record.status {
            None | Some(200..300) => {
                pages.insert(record.url.as_str(), (seq as u32, record));
            }
            Some(404 | 410) => {
                pages.remove(record.url.as_str());
            }
            Some(_) => {}
        }
    }
    pages
}
