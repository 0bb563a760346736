//! No page takes long.
//!
//! Story: a page of 1.6 MB, full of links whose escapes hide further escapes, kept an ingest busy for nine seconds.
//! A page costs what its length is: its markup, its links whatever they look like, their resolution against a base
//! that may be long, and the search for anchors in its text.

use std::path::Path;
use std::time::{Duration, Instant};

use super::shapes::{PAGES, SHAPES, page, page_of_links, page_with_base};
use crate::ingest::{SourceItem, SourceOptions, open};
use prospect_index::ingest::prepare;

const LONG: usize = 1 << 20;

/// The shortest of some readings of a page, from the file to what a store takes.
fn took(directory: &Path, page: &str) -> Duration {
    let path = directory.join("index.html");
    std::fs::write(&path, page).unwrap();
    let options =
        SourceOptions { base_url: Some("https://a.test/".to_owned()), ..SourceOptions::default() };
    let once = || {
        let start = Instant::now();
        let mut source = open(std::slice::from_ref(&path), &options).unwrap();
        for item in source.next_batch(9).unwrap() {
            if let SourceItem::Page { record, .. } = item {
                let _ = std::hint::black_box(prepare(record));
            }
        }
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

#[test]
fn a_page_costs_what_its_length_is() {
    let directory = tempfile::tempdir().unwrap();
    let mut slow = Vec::new();
    let mut one = |name: String, made: &dyn Fn(usize) -> String| {
        let (short, long) =
            (took(directory.path(), &made(LONG / 8)), took(directory.path(), &made(LONG)));
        println!("{short:>12?} {long:>12?} {name}");
        // Linear is 8, quadratic 64; a second is generous here, and a MiB takes tens of milliseconds when compiled for
        // speed.
        if long > Duration::from_secs(1) && long > 24 * short || long > Duration::from_secs(20) {
            slow.push((name, short, long));
        }
    };
    for &shape in PAGES {
        one(format!("{shape:?}"), &|bytes| page(shape, bytes));
    }
    for &shape in SHAPES {
        for link in [100, 8_000, 32_000] {
            let name = format!("links of {link} bytes, {shape:?}");
            one(name, &|bytes| page_of_links(shape, link, bytes));
        }
    }
    for base in [1_000, 8_000, 64_000] {
        one(format!("a base of {base} bytes"), &|bytes| page_with_base(base, bytes));
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// Story: a page with a million links to one other page, each with another anchor, stored 461 MiB.
#[test]
fn a_page_stores_so_many_links_and_says_how_many_it_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.html");
    let stored = |html: &str| {
        std::fs::write(&path, html).unwrap();
        let options = SourceOptions {
            base_url: Some("https://a.test/".to_owned()),
            ..SourceOptions::default()
        };
        let mut source = open(std::slice::from_ref(&path), &options).unwrap();
        let Some(SourceItem::Page { record, cuts, .. }) = source.next_batch(9).unwrap().pop()
        else {
            panic!("no page");
        };
        let mut page = prepare(record).unwrap();
        page.note_cuts(&cuts);
        let cuts: Vec<(&str, u64)> =
            page.cuts.iter().map(|(&name, &times)| (name, times)).collect();
        let targets = page.links.into_iter().map(|link| link.canonical);
        (targets.collect::<Vec<_>>(), cuts)
    };
    let links = |targets: usize, anchors: usize| {
        let one = |(target, anchor): (usize, usize)| format!("<a href=/t{target}>{anchor}</a>");
        let all = (0..anchors).flat_map(|anchor| (0..targets).map(move |target| (target, anchor)));
        all.map(one).collect::<String>()
    };
    let (found, cuts) = stored(&links(1, 1_000_000));
    let expected = vec![("anchors", 1_901), ("repeated", 997_999), ("text", 1)];
    assert_eq!((found.len(), cuts), (100, expected));
    let (found, cuts) = stored(&links(100, 100));
    assert_eq!((found.len(), cuts), (2_100, vec![("repeated", 7_900)]));
    // However much there is of others, each of the first targets has its link.
    let (found, cuts) = stored(&format!("{}{}", links(1, 5_000), links(2_100, 1)));
    let distinct: std::collections::HashSet<&String> = found.iter().collect();
    assert_eq!((distinct.len(), found.len()), (2_000, 2_099));
    let expected = [("anchors", 1_901), ("outlinks", 100), ("repeated", 2_999)];
    assert_eq!(cuts, expected);
}
