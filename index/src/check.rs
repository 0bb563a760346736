//! Walks a store and proves it: every file against the manifest, every row against the others.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use crate::columns::Schema;
use crate::derived::{DERIVED, Derived};
use crate::error::StoreError;
use crate::manifest::{SegmentEntry, SegmentKind};
use crate::page_store::{Known, SCHEMAS};
use crate::store::{Store, StoreOptions, verify_segment, verify_segment_length};

/// What a walk found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CheckReport {
    /// Format of the store; a commit of this version makes it [`crate::manifest::FORMAT`].
    pub format: u32,
    /// Its tables, by schema version.
    pub tables: Vec<TableReport>,
    /// Generation of the store.
    pub generation: u64,
    /// Known URLs.
    pub urls: u64,
    /// Current pages, where all files were read.
    pub(crate) pages: Option<u64>,
    /// Links of current pages, where all files were read.
    pub(crate) links: Option<u64>,
    /// Files of the truth that were verified.
    pub files: u64,
    /// Damage to the truth: the store cannot be trusted.
    pub damage: Vec<String>,
    /// Whole files that this version cannot read.
    pub not_understood: Vec<String>,
    /// Records of plans that an older version wrote without columns that this one learns from.
    pub older: Vec<String>,
    /// Derived structures that will be rebuilt at the next use.
    pub to_rebuild: Vec<String>,
    /// Which process works on the store: what it committed last was verified, and no derived structure.
    pub in_use_by: Option<String>,
}

/// Files of a table that were written by one schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableReport {
    /// The table.
    pub(crate) kind: SegmentKind,
    /// Version of its schema; 0 of format 1.
    pub schema: u32,
    /// Files.
    pub files: u64,
}

impl CheckReport {
    fn count(&mut self, SegmentEntry { kind, schema, .. }: &SegmentEntry) {
        let same = |table: &&mut TableReport| (table.kind, table.schema) == (*kind, *schema);
        match self.tables.iter_mut().find(same) {
            Some(table) => table.files += 1,
            None => self.tables.push(TableReport { kind: *kind, schema: *schema, files: 1 }),
        }
    }

    /// Notes what is wrong with a file.
    ///
    /// # Errors
    /// It may be nothing: the system could not read it now.
    fn note(&mut self, error: StoreError) -> Result<(), StoreError> {
        use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
        let list = match &error {
            StoreError::Io { source, .. }
                if !matches!(source.kind(), NotFound | UnexpectedEof | InvalidData) =>
            {
                return Err(error);
            }
            StoreError::MissingColumn { .. }
            | StoreError::ColumnType { .. }
            | StoreError::NewerFormat { .. } => &mut self.not_understood,
            _ => &mut self.damage,
        };
        let what = error.to_string();
        if !list.contains(&what) {
            list.push(what);
        }
        Ok(())
    }
}

/// Checks a store. Lengths and the manifest always; with `full` also every checksum, every row
/// and every derived file. `learned` are the tables of records that the caller learns from.
///
/// ```
/// use prospect_index::check::check;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::PageRecord;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// # let page = PageRecord { url: "https://a.test/".into(), ..PageRecord::default() };
/// // `root` holds a store with one page.
/// # ingest_all(root, vec![page], "one page")?;
/// let report = check(root, true, &[])?;
/// assert_eq!((report.urls, report.files), (1, 5));
/// assert!(report.damage.is_empty());
///
/// std::fs::write(root.join("segments/urls-000002.parquet"), "something else")?;
/// assert_eq!(check(root, true, &[])?.damage.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The store cannot be opened at all: missing, of a newer format, or its manifest is
/// damaged. Damage to the files that the manifest names is in the report.
pub fn check(
    root: &Path,
    full: bool,
    learned: &[(SegmentKind, Schema)],
) -> Result<CheckReport, StoreError> {
    let options = StoreOptions { holder: "prospect check".to_owned(), ..StoreOptions::default() };
    let in_use_by = match Store::open_unverified(root, &options) {
        Err(StoreError::ReadOnly { .. }) => None,
        Err(StoreError::Locked { holder, .. }) => Some(holder),
        opened => return walk(&opened?, full, true, learned),
    };
    // Derived structures are being replaced where somebody writes.
    let read = |store: &Store| walk(store, full, in_use_by.is_none(), learned);
    let mut report = Store::read_last_until(root, read, |report| {
        report.as_ref().is_ok_and(|report| report.damage.is_empty())
    })?;
    report.in_use_by = in_use_by;
    Ok(report)
}

fn walk(
    store: &Store,
    full: bool,
    with_derived: bool,
    learned: &[(SegmentKind, Schema)],
) -> Result<CheckReport, StoreError> {
    let manifest = store.manifest();
    let mut report = CheckReport {
        format: manifest.format,
        generation: manifest.generation,
        urls: u64::from(manifest.urls),
        files: manifest.files().count() as u64,
        ..CheckReport::default()
    };
    let verify = if full { verify_segment } else { verify_segment_length };
    for segment in manifest.files() {
        report.count(segment);
        if let Err(error) = verify(store.storage(), segment) {
            report.note(error)?;
        }
    }
    if !full {
        return Ok(report);
    }
    if report.damage.is_empty() {
        check_tables(store, learned, &mut report)?;
    }
    if with_derived {
        check_derived(store, &mut report)?;
    }
    Ok(report)
}

fn check_tables(
    store: &Store,
    learned: &[(SegmentKind, Schema)],
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    match Known::load(store.storage(), store.manifest(), (true, None), |_| Ok(())) {
        Ok(known) => {
            report.pages = Some(known.pages.len() as u64);
            report.links = Some(known.links.count() as u64);
            let expected = store.manifest().next_seq as usize;
            if known.pages.records() != expected && expected > 0 {
                let found = known.pages.records();
                report.damage.push(format!("{found} records found, the manifest says {expected}"));
            }
        }
        Err(error) => report.note(error)?,
    }
    let mut rows_of: HashMap<&str, u64> = HashMap::new();
    for segment in &store.manifest().segments {
        *rows_of.entry(&segment.file.file).or_default() += segment.rows;
    }
    for segment in store.manifest().files().map(SegmentEntry::whole) {
        let is_its = |(kind, _): &&(SegmentKind, Schema)| *kind == segment.kind;
        let own = SCHEMAS.iter().find(is_its);
        let Some((_, schema)) = own.or_else(|| learned.iter().find(is_its)) else { continue };
        let mut rows = 0;
        let read = segment.read(store.storage(), *schema, &schema.names(), |columns| {
            rows += columns[0].len() as u64;
            Ok(())
        });
        match read {
            Err(error @ StoreError::MissingColumn { .. })
                if own.is_none() && segment.schema < schema.version =>
            {
                report.older.push(error.to_string());
            }
            Err(error) => report.note(error)?,
            Ok(()) if rows != rows_of[segment.file.file.as_str()] => {
                let file = &segment.file.file;
                let expected = rows_of[file.as_str()];
                report.damage.push(format!("{file}: {rows} rows, the manifest says {expected}"));
            }
            Ok(()) => {}
        }
    }
    Ok(())
}

fn check_derived(store: &Store, report: &mut CheckReport) -> Result<(), StoreError> {
    for name in store.storage().list(DERIVED)? {
        let derived = Derived::new(store.storage(), store.manifest(), &name, 0);
        report.to_rebuild.extend(derived.inspect().map(|what| format!("{name}: {what}")));
    }
    Ok(())
}
