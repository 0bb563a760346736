//! The stores of every format that are kept in `tests/stores/`, and copies of them to work on.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prospect_index::columns::{Column, Schema};
use prospect_index::manifest::{SegmentEntry, SegmentKind};
use prospect_index::store::{Store, StoreOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::common::copy;

pub fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores")
}

/// The stores that are kept, by name.
pub fn kept() -> Vec<String> {
    let entries = fs::read_dir(stores()).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.contains(&"format-1".to_owned()));
    names
}

/// One test at a time: a process that another one starts has all open files, locks too, until it becomes
/// another program.
static ALONE: Mutex<()> = Mutex::new(());

/// What a copy of a store needs while it is worked on.
pub type Held = (MutexGuard<'static, ()>, TempDir);

/// A copy of a kept store to work on.
pub fn copy_of(name: &str) -> (Held, PathBuf) {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    copy(&stores().join(name), &store);
    ((alone, directory), store)
}

pub fn open(store: &Path) -> Store {
    Store::open(store, &StoreOptions::default()).unwrap()
}

/// What is in a kept store.
pub fn expected(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(stores().join(format!("{name}.json"))).unwrap())
        .unwrap()
}

/// Columns of a segment as a schema says.
pub fn columns_of(store: &Store, segment: &SegmentEntry, schema: Schema) -> Vec<Column> {
    let mut found = Vec::new();
    let take = |columns: &[Column], _| {
        found = columns.to_vec();
        Ok(())
    };
    let names: Vec<&str> = schema.columns.iter().map(|(name, _)| *name).collect();
    store.read_records(segment, schema, &names, take).unwrap();
    found
}

/// The schema that a segment was written by: without columns that came later.
fn as_written(store: &Store, segment: &SegmentEntry, schema: Schema) -> Schema {
    let found = segment.column_names(store.storage()).unwrap();
    let is_there = |(name, _): &&(&str, _)| found.iter().any(|found| found == name);
    let columns: Vec<_> = schema.columns.iter().filter(is_there).copied().collect();
    let version = segment.schema.max(1);
    Schema { version, columns: Box::leak(columns.into_boxed_slice()), ..schema }
}

/// Commits every segment of a table again with columns that were changed.
pub fn rewrite(
    path: &Path,
    kind: SegmentKind,
    schema: Schema,
    change: impl Fn(Schema, Vec<Column>) -> (Schema, Vec<Column>),
) {
    let segments: Vec<SegmentEntry> = open(path).manifest().segments_of(kind).cloned().collect();
    for old in segments {
        let mut store = open(path);
        let schema = as_written(&store, &old, schema);
        let (written, columns) = change(schema, columns_of(&store, &old, schema));
        let new = store.write_segment(kind, written, [&columns]).unwrap();
        store
            .commit(|manifest| {
                let entry = manifest.segments.iter_mut().find(|entry| **entry == old).unwrap();
                let file = new.file.file.clone();
                for plan in &mut manifest.plans {
                    plan.files
                        .iter_mut()
                        .filter(|name| **name == old.file.file)
                        .for_each(|name| name.clone_from(&file));
                }
                *entry = new;
            })
            .unwrap();
    }
}
