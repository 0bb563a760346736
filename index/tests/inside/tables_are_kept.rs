//! Tables that are kept, in memory from one ingest to the next or in files that are mapped, are those that are read from
//! the segments of the store.
//!
//! Story: a planner beside a crawler takes records in every second, and commands open a store of millions of URLs one
//! after the other. Reading all tables each time would cost more than the work; tables that differ from the store would
//! be worse.

use xxhash_rust::xxh3::xxh3_64;

use crate::compaction::Extent;
use crate::derived::Derived;
use crate::ingest::{Committed, ingest_all, ingest_with_tables, prepare};
use crate::link_context::LinkContextTable;
use crate::page::PageRecord;
use crate::page_store::Known;
use crate::store::{Store, StoreOptions};

use crate::table_image::{self, TableImage};

use super::support::{page, text, url};

/// All that is known, as text.
fn shown(known: &Known) -> String {
    let mut shown = String::new();
    for id in known.urls.ids() {
        let (urls, pages) = (&known.urls, &known.pages);
        let place = (urls.url(id), urls.spelling(id), urls.host(id), known.quality(id));
        let links: Vec<_> = known.links.incoming(id, u32::MAX).collect();
        shown += &format!("{place:?} {:?} {:?} {links:?}\n", pages.fetch(id), pages.first_seq(id));
    }
    let anchors: Vec<&str> =
        (0..known.links.anchors()).map(|id| known.links.anchor(id as u32)).collect();
    shown + &format!("{:?} {anchors:?}", known.links.links_from(0).collect::<Vec<_>>())
}

fn failed(number: usize, status: u16) -> PageRecord {
    PageRecord { url: url(number), status: Some(status), ..PageRecord::default() }
}

fn scored(number: usize, quality: f64) -> PageRecord {
    PageRecord {
        quality_score: Some(quality),
        ..page(number, &[1, 2, 3], &[(number + 1, vec![1]), (number + 7, vec![2, 3])])
    }
}

#[test]
fn whatever_comes_they_are_what_the_store_has() {
    let groups = [
        vec![page(0, &[0, 1], &[(1, vec![0]), (2, vec![1, 2]), (3, vec![])])],
        vec![scored(1, -0.5), failed(2, 503)],
        // Another version of a page, the same version, and one that comes twice at once.
        vec![page(0, &[4], &[(2, vec![1, 2]), (9, vec![5])]), page(9, &[1], &[])],
        vec![page(9, &[1], &[]), page(4, &[1], &[(5, vec![6])]), page(4, &[2], &[(5, vec![6])])],
        vec![failed(1, 404), page(6, &[3], &[(1, vec![0])])],
        vec![PageRecord { requested_url: Some(url(3)), ..scored(11, -2.0) }],
    ];
    let dir = tempfile::tempdir().unwrap();
    let options = StoreOptions { create: true, ..StoreOptions::default() };
    let mut store = Store::open(dir.path(), &options).unwrap();
    let mut known = store.known().unwrap();
    for (number, group) in groups.into_iter().enumerate() {
        // The second time they are the last ingest again, of which nothing is stored.
        for expected in [Committed::Stored, Committed::Unchanged] {
            let pages = group.iter().map(|record| prepare(record.clone()).unwrap()).collect();
            let (after, kept, _, how) =
                ingest_with_tables(store, known, pages, &number.to_string()).unwrap();
            assert_eq!(how, expected);
            assert_eq!(shown(&kept), shown(&after.known().unwrap()), "group {number}");
            (store, known) = (after, kept);
        }
    }
}

/// Numbers that differ from seed to seed and from group to group.
struct Draws {
    seed: u64,
    group: u64,
    drawn: u64,
}

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.drawn += 1;
        let Self { seed, group, drawn } = self;
        (xxh3_64(format!("{seed} {group} {drawn}").as_bytes()) % end as u64) as usize
    }
}

/// Records that bring URLs, links, other versions of pages, pages that are gone and others that come back.
fn random_records(seed: u64, group: u64) -> Vec<PageRecord> {
    let mut draws = Draws { seed, group, drawn: 0 };
    let records = 1 + draws.below(6);
    (0..records).map(|_| random_record(&mut draws)).collect()
}

fn random_record(draws: &mut Draws) -> PageRecord {
    let number = draws.below(60);
    if draws.below(4) == 0 {
        return failed(number, [404, 503, 410, 301][draws.below(4)]);
    }
    let links = (0..draws.below(8)).map(|_| (draws.below(80), vec![draws.below(8)]));
    let links: Vec<(usize, Vec<usize>)> = links.collect();
    let requested_url = (draws.below(5) == 0).then(|| url(60 + draws.below(20)));
    let mut record = page(number, &[draws.below(8), draws.below(8)], &links);
    for link in &mut record.outlinks {
        link.around = text(&[draws.below(8), draws.below(8)]);
    }
    PageRecord { requested_url, ..record }
}

#[test]
fn mapped_tables_are_those_of_the_segments() {
    let (mut mapped, mut contexts) = (0, 0);
    for seed in 0..30 {
        let dir = tempfile::tempdir().unwrap();
        for group in 0..8 {
            ingest_all(dir.path(), random_records(seed, group), &group.to_string()).unwrap();
            let mut store = Store::open(dir.path(), &StoreOptions::default()).unwrap();
            let known = store.known().unwrap();
            let (storage, manifest) = (store.storage(), store.manifest());
            let read = Known::load(storage, manifest, (true, None), |_| Ok(())).unwrap();
            assert_eq!(shown(&known), shown(&read), "crawl {seed}, {group} ingests");
            mapped += usize::from(known.links.count_in_memory() < known.links.count());
            let only_urls = store.known_without_links().unwrap();
            assert_eq!(only_urls.urls.len(), read.urls.len());
            for id in read.urls.ids() {
                assert_eq!(known.urls.get(read.urls.url(id)), Some(id));
            }
            assert_eq!(known.urls.get("https://nobody.test/"), None);
            let context = store.link_context(&known, None).unwrap();
            let mut plainly = LinkContextTable::default();
            known.add_link_context(&mut plainly, storage, &manifest.segments).unwrap();
            for id in read.urls.ids() {
                let of = |table: &LinkContextTable, before| {
                    format!("{:?}", table.of(id, before).collect::<Vec<_>>())
                };
                for before in [manifest.next_seq / 2, u32::MAX] {
                    assert_eq!(of(&context, before), of(&plainly, before), "{seed} {group}");
                }
            }
            contexts += usize::from(context.count_in_memory() < context.count());
            if group % 3 == (seed + 1) % 3 {
                table_image::leave_link_context(dir.path(), manifest, &context);
            }
            if group % 3 == seed % 3 {
                // Of tables a part of which is mapped already, too.
                table_image::leave(dir.path(), manifest, &known);
            }
            if group % 4 == 3 {
                store.compact(&[], Extent::All).unwrap();
            }
        }
    }
    assert!(mapped > 60 && contexts > 60, "{mapped} and {contexts} times some were mapped");
}

#[test]
fn mapped_tables_that_are_damaged_are_read_from_the_segments() {
    let dir = tempfile::tempdir().unwrap();
    ingest_all(dir.path(), random_records(1, 1), "one").unwrap();
    let store = Store::open(dir.path(), &StoreOptions::default()).unwrap();
    let (storage, known) = (store.storage(), store.known().unwrap());
    table_image::leave(dir.path(), store.manifest(), &known);
    let found = || TableImage::find(storage, store.manifest(), true);
    assert!(found().is_some());
    let files = storage.list("derived/tables").unwrap();
    for file in &files {
        let name = format!("derived/tables/{file}");
        let whole = storage.read(&name).unwrap();
        let mut hurt = vec![Vec::new(), [&whole[..], &[0]].concat()];
        hurt.extend(whole.first().map(|first| [&[first ^ 1], &whole[1..]].concat()));
        for bytes in hurt.into_iter().filter(|bytes| *bytes != whole) {
            std::fs::write(storage.path(&name), &bytes).unwrap();
            assert!(found().is_none(), "{name}");
            assert_eq!(shown(&store.known().unwrap()), shown(&known), "{name}");
        }
        std::fs::write(storage.path(&name), &whole).unwrap();
    }
    assert!(found().is_some() && files.len() > 15, "{files:?}");
}

#[test]
fn tables_that_cannot_be_left_mapped_end_nothing() {
    let dir = tempfile::tempdir().unwrap();
    ingest_all(dir.path(), random_records(2, 1), "one").unwrap();
    let store = Store::open(dir.path(), &StoreOptions::default()).unwrap();
    let known = store.known().unwrap();
    // Something else has the name of their folder.
    std::fs::create_dir_all(dir.path().join("derived")).unwrap();
    std::fs::write(dir.path().join("derived/tables"), "x").unwrap();
    table_image::leave(dir.path(), store.manifest(), &known);
    assert!(TableImage::find(store.storage(), store.manifest(), true).is_none());
    assert_eq!(shown(&store.known().unwrap()), shown(&known));
    std::fs::remove_file(dir.path().join("derived/tables")).unwrap();
    // What an attempt leaves that comes to nothing is removed; what is whole stays.
    table_image::leave(dir.path(), store.manifest(), &known);
    let files = || store.storage().list("derived/tables").unwrap();
    let whole = files();
    std::fs::write(dir.path().join("derived/tables/urls-text-000099.bin.tmp"), "x").unwrap();
    Derived::new(store.storage(), store.manifest(), "tables", 2).give_up();
    assert_eq!(files(), whole);
    assert!(TableImage::find(store.storage(), store.manifest(), true).is_some());
}
