//! Files say what they are: whoever wrote a table, its columns are read by their names, or the reader says
//! what is missing and calls it no damage.
//!
//! Story: a store outlives the program that made it. A later version has moved a column, another has given
//! one a wider type; an old store is opened by a new program, and a new one by an old program. None of
//! these files is damaged, and none may be read as something that it is not.

use std::fs;
use std::path::Path;

use crate::check::check;
use crate::columns::{Column, ColumnType, Schema};
use crate::error::StoreError;
use crate::ingest::IngestSession;
use crate::manifest::{FORMAT, MANIFEST, SegmentEntry, SegmentKind};
use crate::page::PageRecord;
use crate::page_store::{PAGES, SCHEMAS, for_each_text};
use crate::seeds::{Seed, SeedSession, for_each_seed};
use crate::storage::Checksum;
use crate::store::{Store, StoreOptions};
use crate::visits::visits;
use tempfile::TempDir;

use super::support::{ingest, open, page};

/// A store with every table of pages.
fn sample() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let with_quality =
        |at: usize, record| PageRecord { quality_score: Some(-(at as f64)), ..record };
    let pages = (0..6).map(|at| page(at, &[2, at % 4, 3], &[(at + 1, vec![2]), (at + 9, vec![3])]));
    let records: Vec<PageRecord> =
        pages.enumerate().map(|(at, record)| with_quality(at, record)).collect();
    ingest(dir.path(), &records, "first");
    let mut session = SeedSession::start(open_plainly(dir.path())).unwrap();
    let seed = Seed { source: "list".into(), lastmod: "2026".into(), priority: 0.5 };
    session.add(&records[0].url, seed).unwrap().unwrap();
    session.commit().unwrap();
    dir
}

/// Everything that the tables of pages say.
fn told(root: &Path) -> String {
    let (store, known) = open(root);
    let mut told = Vec::new();
    for url in known.urls.ids() {
        told.push(format!("{} {:?}", known.urls.spelling(url), known.pages.fetch(url)));
    }
    told.push(format!("{:?} {:?}", known.links.links_from(0).collect::<Vec<_>>(), known.quality));
    for_each_seed(store.storage(), store.manifest(), |url, seed| {
        told.push(format!("{url:?} {seed:?}"));
    })
    .unwrap();
    let (storage, manifest) = (store.storage(), store.manifest());
    known
        .for_each_link_context(storage, manifest, |from, to, seq, text| {
            told.push(format!("{from:?} {to:?} {seq} {text}"));
        })
        .unwrap();
    told.push(format!("{:?}", visits(&store, &known)));
    for_each_text(storage, manifest, 0, |pages| {
        told.push(format!("{pages:?}"));
        Ok(())
    })
    .unwrap();
    told.join("\n")
}

fn open_plainly(root: &Path) -> Store {
    Store::open(root, &StoreOptions::default()).unwrap()
}

/// Commits the only segment of a table with these columns in its place.
fn rewrite(root: &Path, kind: SegmentKind, written: Schema, columns: &[Column]) {
    let mut store = open_plainly(root);
    let segment = store.write_segment(kind, written, [columns]).unwrap();
    let is_kind = |entry: &&mut SegmentEntry| entry.kind == kind;
    store
        .commit(|manifest| *manifest.segments.iter_mut().find(is_kind).unwrap() = segment)
        .unwrap();
}

/// The columns of the only segment of a table.
fn columns_of(root: &Path, kind: SegmentKind, schema: Schema) -> Vec<Column> {
    let store = open_plainly(root);
    let mut found = Vec::new();
    let segment = store.manifest().segments_of(kind).next().unwrap();
    let read = store.read_segment(segment, schema, &schema.names(), |columns| {
        found = columns;
        Ok(())
    });
    read.unwrap();
    found
}

fn leaked(columns: Vec<(&'static str, ColumnType)>) -> &'static [(&'static str, ColumnType)] {
    Box::leak(columns.into_boxed_slice())
}

#[test]
fn columns_that_changed_places_say_what_they_said() {
    let dir = sample();
    let before = told(dir.path());
    for (kind, schema) in SCHEMAS {
        let mut columns = columns_of(dir.path(), kind, schema);
        columns.reverse();
        let moved = schema.columns.iter().rev().copied().collect();
        rewrite(dir.path(), kind, Schema { columns: leaked(moved), ..schema }, &columns);
        assert_eq!(told(dir.path()), before, "{}", schema.name);
    }
    let report = check(dir.path(), true, &[]).unwrap();
    assert_eq!((report.damage.len(), report.not_understood.len()), (0, 0), "{report:?}");
}

#[test]
fn a_column_that_nobody_knows_is_left_alone() {
    let dir = sample();
    let before = told(dir.path());
    for (kind, schema) in SCHEMAS {
        let mut columns = columns_of(dir.path(), kind, schema);
        columns.insert(0, Column::F64(vec![1.0; columns[0].len()]));
        let mut named = vec![("novelty", ColumnType::F64)];
        named.extend(schema.columns);
        rewrite(dir.path(), kind, Schema { columns: leaked(named), ..schema }, &columns);
        assert_eq!(told(dir.path()), before, "{}", schema.name);
    }
}

/// Reads every table of pages.
fn read_all(store: &Store) -> Result<(), StoreError> {
    let known = store.known()?;
    store.link_context(&known, None)?;
    visits(store, &known)?;
    for_each_seed(store.storage(), store.manifest(), |_, _| {})
}

/// What everyone who reads pages says of the store, and `check`.
#[track_caller]
fn assert_refused(root: &Path, column: &str, expected: &str) {
    let store = open_plainly(root);
    let error = read_all(&store).unwrap_err();
    assert!(!matches!(error, StoreError::Damaged { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("segments/") && said.contains(column), "{said}");
    assert!(said.contains(expected), "{said}");
    drop(store);
    let report = check(root, true, &[]).unwrap();
    assert_eq!(report.damage, Vec::<String>::new());
    assert_eq!(report.not_understood, [said]);
}

#[test]
fn a_missing_column_is_named_with_its_file_and_is_no_damage() {
    for (kind, schema) in SCHEMAS {
        for (at, (column, _)) in schema.columns.iter().enumerate() {
            // Nobody reads these yet.
            if schema.name == "pages" && at >= 4 {
                continue;
            }
            let dir = sample();
            let mut columns = columns_of(dir.path(), kind, schema);
            columns.remove(at);
            let mut named = schema.columns.to_vec();
            named.remove(at);
            rewrite(dir.path(), kind, Schema { columns: leaked(named), ..schema }, &columns);
            assert_refused(dir.path(), column, "lacks the column");
        }
    }
}

#[test]
fn another_type_is_told_and_is_no_damage() {
    for (kind, schema) in SCHEMAS {
        let dir = sample();
        let mut columns = columns_of(dir.path(), kind, schema);
        let (column, was) = schema.columns[0];
        columns[0] = Column::U64(vec![0; columns[0].len()]);
        let mut named = schema.columns.to_vec();
        named[0].1 = ColumnType::U64;
        rewrite(dir.path(), kind, Schema { columns: leaked(named), ..schema }, &columns);
        let expected = format!("is required int64 (uint_64), not {}", was.description());
        assert_refused(dir.path(), column, &expected);
    }
}

#[test]
fn a_file_of_a_newer_schema_is_refused_as_newer() {
    for (kind, schema) in SCHEMAS {
        let dir = sample();
        let columns = columns_of(dir.path(), kind, schema);
        rewrite(dir.path(), kind, Schema { version: schema.version + 1, ..schema }, &columns);
        let store = open_plainly(dir.path());
        let read = read_all(&store);
        let Err(StoreError::NewerFormat { what, found, supported, .. }) = read else {
            panic!("{}", schema.name)
        };
        assert_eq!((what, found, supported), ("schema version", 2, 1));
        let reads_it = matches!(kind, SegmentKind::Urls | SegmentKind::Pages);
        assert_eq!(IngestSession::start(store).is_err(), reads_it, "{}", schema.name);
    }
}

/// Replaces text in the manifest, with the right checksum again.
fn change_manifest(root: &Path, change: impl Fn(&str) -> String) {
    let path = root.join(MANIFEST);
    let text = fs::read_to_string(&path).unwrap();
    let sealed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let start = "{\"manifest\":".len();
    let end = text.rfind(",\"checksum\":\"").unwrap();
    assert_eq!(sealed["checksum"], Checksum::of(&text.as_bytes()[start..end]));
    let body = change(&text[start..end]);
    let sealed =
        format!("{{\"manifest\":{body},\"checksum\":\"{}\"}}", Checksum::of(body.as_bytes()));
    fs::write(path, sealed).unwrap();
}

#[test]
fn a_store_of_format_1_is_read_and_becomes_todays_with_the_next_commit() {
    let dir = sample();
    let before = told(dir.path());
    // Segments had no schema version then.
    change_manifest(dir.path(), |body| {
        let body = body.replace(&format!("\"format\":{FORMAT}"), "\"format\":1");
        body.replace(",\"schema\":1", "")
    });
    let as_written = fs::read(dir.path().join(MANIFEST)).unwrap();
    assert_eq!(told(dir.path()), before);
    let report = check(dir.path(), true, &[]).unwrap();
    assert_eq!((report.format, report.damage.len()), (1, 0));
    assert_eq!(report.tables.len(), SCHEMAS.len());
    assert!(report.tables.iter().all(|table| (table.schema, table.files) == (0, 1)));
    assert_eq!(fs::read(dir.path().join(MANIFEST)).unwrap(), as_written, "reading changes nothing");

    ingest(dir.path(), &[page(20, &[2], &[])], "second");
    let (store, known) = open(dir.path());
    assert_eq!((store.manifest().format, known.pages.len()), (FORMAT, 7));
    let versions = store.manifest().segments_of(SegmentKind::Pages).map(|segment| segment.schema);
    assert_eq!(versions.collect::<Vec<_>>(), [0, PAGES.version]);
}

#[test]
fn a_whole_manifest_that_says_something_unheard_of_is_not_called_damaged() {
    for (word, other) in
        [("\"kind\":\"links\"", "\"kind\":\"videos\""), ("\"rows\":", "\"lines\":")]
    {
        let dir = sample();
        change_manifest(dir.path(), |body| body.replace(word, other));
        let error = Store::open(dir.path(), &StoreOptions::default()).map(drop).unwrap_err();
        assert!(matches!(error, StoreError::Manifest { .. }), "{error:?}");
    }
}
