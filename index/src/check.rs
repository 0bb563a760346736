//! Walks a store and proves it: every file against the manifest, every row against the others.

use std::path::Path;

use serde::Serialize;

use crate::columns::read_table;
use crate::derived::{DERIVED, Derived, Found};
use crate::error::StoreError;
use crate::manifest::SegmentKind;
use crate::page_store::{AROUND, Known, LINKS, PAGES, QUALITY, URLS};
use crate::store::{Store, StoreOptions, verify_segment, verify_segment_length};

/// What a walk found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// Generation of the store.
    pub generation: u64,
    /// Known URLs.
    pub urls: u64,
    /// Current pages.
    pub pages: u64,
    /// Links of current pages.
    pub links: u64,
    /// Files of the truth that were verified.
    pub files: u64,
    /// Damage to the truth: the store cannot be trusted.
    pub damage: Vec<String>,
    /// Derived structures that will be rebuilt at the next use.
    pub to_rebuild: Vec<String>,
}

/// Checks a store. Lengths and the manifest always; with `full` also every checksum, every row
/// and every derived file.
///
/// # Errors
/// The store cannot be opened at all: missing, in use, of a newer format, or its manifest is
/// damaged. Damage to the files that the manifest names is in the report.
pub fn check(root: &Path, full: bool) -> Result<CheckReport, StoreError> {
    let options = StoreOptions { holder: "prospect check".to_owned(), ..StoreOptions::default() };
    let store = Store::open_unverified(root, &options)?;
    let manifest = store.manifest();
    let mut report = CheckReport {
        generation: manifest.generation,
        urls: u64::from(manifest.urls),
        files: manifest.segments.len() as u64,
        ..CheckReport::default()
    };
    let verify = if full { verify_segment } else { verify_segment_length };
    for segment in &manifest.segments {
        if let Err(error) = verify(store.storage(), segment) {
            report.damage.push(error.to_string());
        }
    }
    if !full {
        return Ok(report);
    }
    if report.damage.is_empty() {
        check_tables(&store, &mut report);
    }
    check_derived(&store, &mut report)?;
    Ok(report)
}

fn check_tables(store: &Store, report: &mut CheckReport) {
    match Known::load(store.storage(), store.manifest(), true) {
        Ok(known) => {
            report.pages = known.pages.len() as u64;
            report.links = known.links.links().len() as u64;
            let expected = store.manifest().next_seq as usize;
            if known.pages.records() != expected && expected > 0 {
                let found = known.pages.records();
                report.damage.push(format!("{found} records found, the manifest says {expected}"));
            }
        }
        Err(error) => report.damage.push(error.to_string()),
    }
    for segment in &store.manifest().segments {
        let schema = match segment.kind {
            SegmentKind::Urls => URLS,
            SegmentKind::Pages => PAGES,
            SegmentKind::Links => LINKS,
            SegmentKind::Around => AROUND,
            SegmentKind::Quality => QUALITY,
            _ => continue,
        };
        let names = schema.names();
        let mut rows = 0;
        let path = store.storage().path(&segment.file.file);
        let read = read_table(&path, schema, &names, |columns| {
            rows += columns[0].len() as u64;
            Ok(())
        });
        match read {
            Err(error) => report.damage.push(error.to_string()),
            Ok(()) if rows != segment.rows => {
                let expected = segment.rows;
                let file = &segment.file.file;
                report.damage.push(format!("{file}: {rows} rows, the manifest says {expected}"));
            }
            Ok(()) => {}
        }
    }
}

fn check_derived(store: &Store, report: &mut CheckReport) -> Result<(), StoreError> {
    for name in store.storage().list(DERIVED)? {
        // Any version will do: what counts here is that the files are what the state says.
        for version in 1..=8 {
            let derived = Derived::new(store.storage(), &name, version);
            match derived.find::<serde_json::Value>() {
                Found::Damaged(what) => {
                    report.to_rebuild.push(format!("{name}: {what}"));
                    break;
                }
                Found::Whole(..) => break,
                Found::Missing => {}
            }
        }
    }
    Ok(())
}
