//! The handle on a store: its lock, its manifest, and where things are.
//!
//! ```text
//! DIR/MANIFEST.json            the commit point
//! DIR/LOCK                     held by the one process that works on the store
//! DIR/segments/*.parquet       the truth: urls, pages, links, plans, outcomes
//! DIR/derived/*                rebuilt when missing, stale or damaged
//! DIR/readers/*                second names of all this, while somebody reads beside a writer
//! ```

use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::columns::{Column, Schema, TableWriter};
use crate::error::StoreError;
use crate::kept_tables::KeptTables;
use crate::link_context::LinkContextTable;
use crate::manifest::{Manifest, SegmentEntry, SegmentKind};
use crate::page_store::Known;
use crate::snapshot::{self, SnapshotFolder};
#[cfg(test)]
use crate::storage::FaultPlan;
use crate::storage::{Storage, TEMPORARY_SUFFIX, checksum_file};
use crate::table_image::{self, TableImage};

pub(crate) const LOCK: &str = "LOCK";

/// How to open a store.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// Make the store if the directory is missing or empty.
    pub create: bool,
    /// Who holds the lock, for the message another process prints: "prospect plan", say.
    pub holder: String,
    /// Faults to inject, in tests.
    #[cfg(test)]
    pub(crate) faults: Option<Arc<FaultPlan>>,
}

/// An open store. Holds the lock until it is dropped, or its process ends.
///
/// ```
/// use prospect_index::columns::Column;
/// use prospect_index::manifest::SegmentKind;
/// use prospect_index::page_store::QUALITY;
/// use prospect_index::store::{Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// let options = StoreOptions { create: true, ..StoreOptions::default() };
/// let mut store = Store::open(root, &options)?;
/// let scores = [Column::U32(vec![0, 1]), Column::F64(vec![-0.5, -2.0])];
/// let segment = store.write_segment(SegmentKind::Quality, QUALITY, [&scores])?;
/// store.commit(|manifest| manifest.segments.push(segment.clone()))?;
/// store.read_records(&segment, QUALITY, &["quality"], |columns, rows| {
///     assert_eq!((&columns[0], rows), (&Column::F64(vec![-0.5, -2.0]), 0..2));
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Store {
    storage: Storage,
    manifest: Manifest,
    /// Checksums of the segment files that were verified: they never change, so the first touch is enough.
    verified: Mutex<HashSet<(String, String)>>,
    tables: KeptTables,
    /// Held for its lock; who only reads has none.
    lock_file: Option<File>,
    /// Removed with it.
    snapshot: Option<SnapshotFolder>,
}

/// Times that a reader begins again, where what it reads is removed under its hands.
const READS: u32 = 5;

impl Store {
    /// Opens a store: takes the lock, reads the manifest, verifies the length of every live file
    /// and removes what a crash left behind.
    ///
    /// # Errors
    /// The store is missing, in use, damaged, of a newer format, or no store at all.
    pub fn open(root: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        let store = Self::open_unverified(root, options)?;
        store.verify_lengths()?;
        store.remove_orphans()?;
        Ok(store)
    }

    /// Reads what was committed last, beside a process that may be writing, or where nothing can be written: takes no
    /// lock. `read` is called again if another commit has taken away what this one named.
    ///
    /// # Errors
    /// The store is missing, damaged, of a newer format, or no store at all; or what `read` says.
    pub fn read_last<T, E: From<StoreError>>(
        root: &Path,
        read: impl Fn(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let lengths = |store: &Self| store.verify_lengths().map_err(E::from);
        Self::read_last_until(
            root,
            |store| lengths(store).and_then(|()| read(store)),
            Result::is_ok,
        )
    }

    /// The same whatever its files look like, and again until what was read is whole.
    pub(crate) fn read_last_until<T, E: From<StoreError>>(
        root: &Path,
        read: impl Fn(&Self) -> Result<T, E>,
        is_whole: impl Fn(&Result<T, E>) -> bool,
    ) -> Result<T, E> {
        let mut reads = 1;
        loop {
            let store = Self::open_to_read(root)?;
            let done = read(&store);
            let generation = || Manifest::load(&store.storage).ok().flatten().map(|m| m.generation);
            if is_whole(&done) || reads == READS || generation() == Some(store.manifest.generation)
            {
                return done;
            }
            reads += 1;
        }
    }

    /// What was committed last, under second names in a folder of its own, which goes with the handle: for who asks
    /// much, beside a process that works on the store or where nothing can be written. Whatever is written through it goes with
    /// it, too. Costs a link for each file.
    ///
    /// # Errors
    /// As [`Store::read_last`]; or no folder can be made, here or in the system's temporary one.
    pub fn snapshot(root: &Path, holder: &str) -> Result<Self, StoreError> {
        Self::read_last(root, |_| Ok::<_, StoreError>(()))?;
        let (folder, lock) = snapshot::take(root, holder)?;
        let storage = Storage::create(folder.path())?;
        let missing = || StoreError::Missing { path: root.to_owned() };
        let manifest = Manifest::load(&storage)?.ok_or_else(missing)?;
        let store = Self::of((storage, manifest), Some(lock), Some(folder));
        store.verify_lengths()?;
        Ok(store)
    }

    fn of(
        (storage, manifest): (Storage, Manifest),
        lock: Option<File>,
        snapshot: Option<SnapshotFolder>,
    ) -> Self {
        let (verified, tables) = (Mutex::default(), KeptTables::default());
        Self { storage, manifest, verified, tables, lock_file: lock, snapshot }
    }

    pub(crate) fn open_to_read(root: &Path) -> Result<Self, StoreError> {
        check_place(root, false)?;
        let storage = Storage::create(root)?;
        let missing = || StoreError::Missing { path: root.to_owned() };
        let manifest = Manifest::load(&storage)?.ok_or_else(missing)?;
        Ok(Self::of((storage, manifest), None, None))
    }

    /// Opens a store whatever its segments look like: for `check`, which lists all damage where
    /// [`Store::open`] stops at the first.
    pub(crate) fn open_unverified(root: &Path, options: &StoreOptions) -> Result<Self, StoreError> {
        check_place(root, options.create)?;
        let storage = Storage::create(root)?;
        #[cfg(test)]
        let storage = storage.with_faults(options.faults.clone());
        let lock = lock(root, &options.holder)?;
        let manifest = match Manifest::load(&storage)? {
            Some(manifest) => manifest,
            None if options.create => Manifest::default().commit(&storage)?,
            None => return Err(StoreError::Missing { path: root.to_owned() }),
        };
        Ok(Self::of((storage, manifest), Some(lock), None))
    }

    /// Everything that is committed.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The files below the store.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The tables that are kept in memory: mapped, as far as an earlier command has left them so, and the rest read.
    /// Verifies the checksum of every file first. Where more than an eighth of many rows is read, it leaves all of them mapped
    /// for the next one, if what this handle writes stays.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn known(&self) -> Result<Known, StoreError> {
        let known = self.read_tables()?;
        if self.is_own() && table_image::is_due(&known) {
            table_image::leave(self.storage.root(), &self.manifest, &known);
        }
        Ok(known)
    }

    /// The same, and leaves nothing.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub(crate) fn read_tables(&self) -> Result<Known, StoreError> {
        self.tables(true)
    }

    /// The same without links and quality.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub(crate) fn known_without_links(&self) -> Result<Known, StoreError> {
        self.tables(false)
    }

    fn tables(&self, with_links: bool) -> Result<Known, StoreError> {
        let (storage, manifest) = (&self.storage, &self.manifest);
        let image = TableImage::find(storage, manifest, with_links);
        Known::load(storage, manifest, (with_links, image), |segment| self.verify(segment))
    }

    /// Whether what is written by this handle stays.
    fn is_own(&self) -> bool {
        self.lock_file.is_some() && self.snapshot.is_none()
    }

    /// Reads the words around links, but for what `kept` has of them, and leaves them mapped as [`Store::known`] does; no page
    /// may have been replaced since `kept` was read. `known` are the tables of this store.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn link_context(
        &self,
        known: &Known,
        kept: Option<LinkContextTable>,
    ) -> Result<LinkContextTable, StoreError> {
        let goes_on = kept.is_some();
        let mapped = || table_image::find_link_context(&self.storage, &self.manifest, known);
        let mut table = kept.or_else(mapped).unwrap_or_default();
        let (mut new, mut end) = (Vec::new(), 0);
        for segment in self.manifest.segments_of(SegmentKind::Around) {
            end += segment.rows;
            if end > table.read_rows {
                self.verify(segment)?;
                new.push(segment);
            }
        }
        known.add_link_context(&mut table, &self.storage, new)?;
        table.read_rows = end;
        if self.is_own() && !goes_on && table_image::is_link_context_due(&table) {
            table_image::leave_link_context(self.storage.root(), &self.manifest, &table);
            // What is mapped takes memory where it is touched.
            return Ok(mapped().filter(|left| left.read_rows == end).unwrap_or(table));
        }
        Ok(table)
    }

    /// Changes the manifest and commits it with the new segments of `change`.
    ///
    /// # Errors
    /// The commit failed: the previous state stands, or the next one where only its name could not be made to last; which of
    /// them is told by opening the store again.
    pub fn commit(&mut self, change: impl FnOnce(&mut Manifest)) -> Result<(), StoreError> {
        let mut next = self.manifest.clone();
        change(&mut next);
        self.manifest = next.commit(&self.storage)?;
        Ok(())
    }

    /// Name of the next segment file of a table.
    pub(crate) fn segment_name(&self, schema: Schema) -> String {
        format!("segments/{}-{:06}.parquet", schema.name, self.manifest.generation + 1)
    }

    /// Writes one table, a group of rows after the other, as a segment file; it becomes live when a commit names it.
    ///
    /// # Errors
    /// The write failed.
    pub fn write_segment(
        &self,
        kind: SegmentKind,
        schema: Schema,
        groups: impl IntoIterator<Item = impl AsRef<[Column]>>,
    ) -> Result<SegmentEntry, StoreError> {
        self.write_segment_as(&self.segment_name(schema), kind, schema, groups)
    }

    /// Writes tables as segment files of one kind, one beside the other; they become live when a commit names
    /// them.
    ///
    /// # Errors
    /// A write failed.
    pub fn write_segments(
        &self,
        kind: SegmentKind,
        schema: Schema,
        tables: impl IntoIterator<Item = Vec<Column>>,
    ) -> Result<Vec<SegmentEntry>, StoreError> {
        let name = self.segment_name(schema);
        let stem = name.trim_end_matches(".parquet");
        let write = |(number, columns): (usize, Vec<Column>)| {
            self.write_segment_as(&format!("{stem}-{number}.parquet"), kind, schema, [columns])
        };
        tables.into_iter().enumerate().map(write).collect()
    }

    fn write_segment_as(
        &self,
        name: &str,
        kind: SegmentKind,
        schema: Schema,
        groups: impl IntoIterator<Item = impl AsRef<[Column]>>,
    ) -> Result<SegmentEntry, StoreError> {
        let mut writer = TableWriter::create(&self.storage, name, schema)?;
        for columns in groups {
            writer.write(columns.as_ref())?;
        }
        Ok(SegmentEntry::new(kind, schema, writer.finish()?))
    }

    /// Reads columns of a segment, in the order in which they are named, after verifying its checksum; one
    /// call of `take` per row group.
    ///
    /// # Errors
    /// The file is missing or damaged, or has not these columns.
    pub(crate) fn read_segment(
        &self,
        segment: &SegmentEntry,
        schema: Schema,
        names: &[&str],
        take: impl FnMut(Vec<Column>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.verify(segment)?;
        segment.read(&self.storage, schema, names, take)
    }

    /// The same for a table of records that is asked for again and again: a small one stays in memory. `take` is told
    /// which rows of the columns are those of the segment.
    ///
    /// # Errors
    /// The file is missing or damaged, or has not these columns.
    pub fn read_records(
        &self,
        segment: &SegmentEntry,
        schema: Schema,
        names: &[&str],
        mut take: impl FnMut(&[Column], Range<usize>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut all = |columns: &[Column]| take(columns, 0..columns.first().map_or(0, Column::len));
        if !KeptTables::takes(segment) {
            return self.read_segment(segment, schema, names, |columns| all(&columns));
        }
        let Some(kept) = self.kept(segment, schema, names)? else {
            return self.read_segment(segment, schema, names, |columns| all(&columns));
        };
        match segment.first_row {
            _ if kept.is_empty() && segment.rows == 0 => Ok(()),
            None => all(&kept),
            Some(first) => {
                let end = (first + segment.rows) as usize;
                if end > kept.first().map_or(0, Column::len) {
                    let path = self.storage.path(&segment.file.file);
                    return Err(StoreError::damaged(&path, format!("it has no row {end}")));
                }
                take(&kept, first as usize..end)
            }
        }
    }

    /// All rows of the file of a segment, in memory, no columns if it has no row; none where there are several row groups.
    fn kept(
        &self,
        segment: &SegmentEntry,
        schema: Schema,
        names: &[&str],
    ) -> Result<Option<Arc<Vec<Column>>>, StoreError> {
        if let Some(columns) = self.tables.get(segment, names) {
            return Ok(Some(columns));
        }
        let mut groups = Vec::new();
        self.read_segment(&segment.whole(), schema, names, |columns| {
            groups.push(columns);
            Ok(())
        })?;
        let columns = match groups.len() {
            0 => Vec::new(),
            1 => groups.swap_remove(0),
            _ => return Ok(None),
        };
        Ok(Some(self.tables.put(segment, names, columns)))
    }

    /// Verifies the lengths of all segments, which costs no reading.
    fn verify_lengths(&self) -> Result<(), StoreError> {
        let mut files = self.manifest.files();
        files.try_for_each(|segment| verify_segment_length(&self.storage, segment))
    }

    /// Verifies the checksums of the tables of `kinds`: their files are about to be read.
    pub(crate) fn verify_kinds(&self, kinds: &[SegmentKind]) -> Result<(), StoreError> {
        self.verify_from(0, kinds)
    }

    /// The same of the segments of the manifest from a place on.
    pub(crate) fn verify_from(
        &self,
        first: usize,
        kinds: &[SegmentKind],
    ) -> Result<(), StoreError> {
        let new = self.manifest.segments[first..].iter();
        new.filter(|segment| kinds.contains(&segment.kind)).try_for_each(|s| self.verify(s))
    }

    /// Verifies length and checksum of a segment, unless this handle has done so.
    fn verify(&self, segment: &SegmentEntry) -> Result<(), StoreError> {
        let key = (segment.file.file.clone(), segment.file.checksum.clone());
        let verified = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if !verified().contains(&key) {
            verify_segment(&self.storage, segment)?;
            verified().insert(key);
        }
        Ok(())
    }

    /// Removes segment files that no commit names, and temporary files.
    pub(crate) fn remove_orphans(&self) -> Result<(), StoreError> {
        let live: HashSet<&str> =
            self.manifest.segments.iter().map(|segment| segment.file.file.as_str()).collect();
        for name in self.storage.list("segments")? {
            let file = format!("segments/{name}");
            if !live.contains(file.as_str()) {
                self.storage.remove(&file)?;
            }
        }
        for name in self.storage.list("")? {
            if name.ends_with(TEMPORARY_SUFFIX) {
                self.storage.remove(&name)?;
            }
        }
        snapshot::remove_abandoned(&self.storage)
    }
}

/// Verifies length and checksum of a segment.
///
/// # Errors
/// It is missing or damaged.
pub(crate) fn verify_segment(storage: &Storage, segment: &SegmentEntry) -> Result<(), StoreError> {
    let path = storage.path(&segment.file.file);
    let found = checksum_file(&path, segment.file.file.clone());
    let found = found.map_err(|error| missing_is_damage(&path, error))?;
    segment.file.verify(&path, found.bytes, &found.checksum)
}

/// Verifies the length of a segment alone, which costs no reading.
///
/// # Errors
/// It is missing or damaged.
pub(crate) fn verify_segment_length(
    storage: &Storage,
    segment: &SegmentEntry,
) -> Result<(), StoreError> {
    let path = storage.path(&segment.file.file);
    let found = std::fs::metadata(&path).map_err(StoreError::io("read", &path));
    let found = found.map_err(|error| missing_is_damage(&path, error))?;
    segment.file.verify_length(&path, found.len())
}

/// A file that the manifest names and that is not there is damage, not a failed operation.
fn missing_is_damage(path: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            StoreError::damaged(path, "it is missing")
        }
        other => other,
    }
}

/// Refuses a place that holds something else, before anything is written there.
fn check_place(root: &Path, create: bool) -> Result<(), StoreError> {
    if root.join(crate::manifest::MANIFEST).exists() {
        return Ok(());
    }
    if !root.exists() {
        let missing = StoreError::Missing { path: root.to_owned() };
        return if create { Ok(()) } else { Err(missing) };
    }
    if !root.is_dir() {
        return Err(StoreError::NotAStore { path: root.to_owned() });
    }
    let mut entries = std::fs::read_dir(root).map_err(StoreError::io("list", root))?;
    // What a first command that was killed can leave: the lock and the manifest's temporary name.
    let foreign = entries.any(|entry| {
        entry.is_ok_and(|e| !matches!(e.file_name().to_str(), Some(LOCK | "MANIFEST.json.tmp")))
    });
    match (foreign, create) {
        (true, _) => Err(StoreError::NotAStore { path: root.to_owned() }),
        (false, true) => Ok(()),
        (false, false) => Err(StoreError::Missing { path: root.to_owned() }),
    }
}

/// Takes the writer lock. The system releases it when the process ends, however it ends.
pub(crate) fn lock(root: &Path, holder: &str) -> Result<File, StoreError> {
    let path = root.join(LOCK);
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = opened.map_err(|source| match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path: root.to_owned(), source }
        }
        _ => StoreError::Io { operation: "open", path: path.clone(), source },
    })?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
            return Err(StoreError::Locked { path: root.to_owned(), holder: holder.trim().into() });
        }
        Err(TryLockError::Error(source)) => {
            return Err(StoreError::Io { operation: "lock", path, source });
        }
    }
    // Who holds it is told to others, no more: on a full disk a store can still be read.
    let line = format!("process {} ({holder})\n", std::process::id());
    let _ =
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(line.as_bytes()));
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(create: bool) -> StoreOptions {
        StoreOptions { create, holder: "test".to_owned(), faults: None }
    }

    #[test]
    fn a_store_in_use_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), &options(true)).unwrap();
        let error = Store::open(dir.path(), &options(false)).unwrap_err();
        let StoreError::Locked { holder, .. } = &error else { panic!("{error}") };
        assert!(holder.contains(&std::process::id().to_string()), "{holder}");
        drop(store);
        Store::open(dir.path(), &options(false)).unwrap();
    }

    #[test]
    fn a_directory_that_holds_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(
            Store::open(dir.path(), &options(false)),
            Err(StoreError::Missing { .. })
        ));
        std::fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        assert!(matches!(
            Store::open(dir.path(), &options(true)),
            Err(StoreError::NotAStore { .. })
        ));
    }
}
