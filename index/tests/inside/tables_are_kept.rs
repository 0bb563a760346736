//! Tables that are kept in memory from one ingest to the next are those that are read from the store.
//!
//! Story: a planner beside a crawler takes records in every second. Reading all tables each time would cost more than
//! the records; tables that differ from the store would be worse.

use crate::ingest::{Committed, ingest_with_tables, prepare};
use crate::page::PageRecord;
use crate::page_store::Known;
use crate::store::{Store, StoreOptions};

use super::support::{page, url};

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
    shown + &format!("{:?} {anchors:?}", known.links.links())
}

#[test]
fn whatever_comes_they_are_what_the_store_has() {
    let failed = |number, status| PageRecord {
        url: url(number),
        status: Some(status),
        ..PageRecord::default()
    };
    let scored = |number, quality| PageRecord {
        quality_score: Some(quality),
        ..page(number, &[1, 2, 3], &[(number + 1, vec![1]), (number + 7, vec![2, 3])])
    };
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
