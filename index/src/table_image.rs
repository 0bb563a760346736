//! URLs and links of a store, and the words around links, as files that are mapped, so that a command does not make the same tables anew each time.
//!
//! A derived structure, written when much is not in it: [`crate::store::Store::known`] takes what it has and reads
//! what was stored since. Where a page was replaced or is gone since, links are read anew.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::derived::Derived;
use crate::error::StoreError;
use crate::link_context::LinkContextTable;
use crate::link_table::LinkTable;
use crate::manifest::Manifest;
use crate::mapped::image::{ImageReader, ImageWriter};
use crate::page_store::Known;
use crate::storage::{FileEntry, Storage};
use crate::url_table::UrlTable;

const NAME: &str = "tables";
/// Of the files, whose numbers lie in them as in memory.
const VERSION: u32 = if cfg!(target_endian = "little") { 1 } else { 1_001 };
/// Rows below which reading segments takes no time that anybody notices.
const ROWS: usize = 100_000;
/// Part of all rows that may be read from segments before the files are written again.
const PART: usize = 8;

/// Tables as they were before a record.
#[derive(Default)]
pub(crate) struct TableImage {
    /// URLs.
    pub(crate) urls: UrlTable,
    /// Links of the pages that were current; none if nobody asked.
    pub(crate) links: LinkTable,
    /// What is stored from this record on is not in it.
    pub(crate) end_seq: u32,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    urls: usize,
    links: usize,
    end_seq: u32,
}

#[derive(Serialize, Deserialize)]
struct ContextPayload {
    /// Of segments.
    rows: u64,
    /// Of the table.
    links: usize,
    end_seq: u32,
}

impl TableImage {
    /// What is there, if it is whole and of this store.
    pub(crate) fn find(storage: &Storage, manifest: &Manifest, with_links: bool) -> Option<Self> {
        let derived = Derived::new(storage, manifest, NAME, VERSION);
        let (payload, files) = derived.named::<Payload>()?;
        Self::read(&derived, &files, (&payload, with_links)).ok()
    }

    fn read(
        derived: &Derived,
        files: &[FileEntry],
        (payload, with_links): (&Payload, bool),
    ) -> Result<Self, StoreError> {
        let image = ImageReader::new(derived, files);
        let read_links =
            || if with_links { LinkTable::read(&image) } else { Ok(LinkTable::default()) };
        let (urls, links) = rayon::join(|| UrlTable::read(&image), read_links);
        let (urls, links) = (urls?, links?);
        let whole = urls.len() == payload.urls && (!with_links || links.count() == payload.links);
        let what = "its files have not the rows that it says";
        let damaged = || StoreError::Derived { structure: NAME, what: what.to_owned() };
        whole.then_some(Self { urls, links, end_seq: payload.end_seq }).ok_or_else(damaged)
    }
}

const CONTEXT: &str = "link-context";

/// The words around links that are there, if they are whole and of this store, and no page was replaced since.
pub(crate) fn find_link_context(
    storage: &Storage,
    manifest: &Manifest,
    known: &Known,
) -> Option<LinkContextTable> {
    let derived = Derived::new(storage, manifest, CONTEXT, VERSION);
    let (ContextPayload { rows, links, end_seq }, files) = derived.named()?;
    // Links of a page that is another one since, or gone, have left the table.
    if known.pages.replaced_since(end_seq) {
        return None;
    }
    let image = ImageReader::new(&derived, &files);
    let mut table = LinkContextTable::read(&image).ok()?;
    table.read_rows = rows;
    (table.count() == links).then_some(table)
}

/// Whether so many words around links are in memory only that it is worth writing.
pub(crate) fn is_link_context_due(table: &LinkContextTable) -> bool {
    is_much(table.count_in_memory(), table.count())
}

/// Writes the words around links of a store.
pub(crate) fn write_link_context(
    storage: &Storage,
    manifest: &Manifest,
    table: &LinkContextTable,
) -> Result<(), StoreError> {
    let derived = Derived::new(storage, manifest, CONTEXT, VERSION);
    let mut image = ImageWriter::new(&derived, manifest.generation);
    table.write(&mut image)?;
    let (rows, links, end_seq) = (table.read_rows, table.count(), manifest.next_seq);
    derived.publish(&ContextPayload { rows, links, end_seq }, image.finish())
}

/// Whether so much is in memory only that it is worth writing.
pub(crate) fn is_due(known: &Known) -> bool {
    let new = known.urls.len_in_memory() + known.links.count_in_memory();
    is_much(new, known.urls.len() + known.links.count())
}

fn is_much(new: usize, all: usize) -> bool {
    new > ROWS && new > all / PART
}

/// Writes the tables of a store below `root` for who opens it next. Where that is not possible, on a full disk say, they stay in
/// segments alone.
pub(crate) fn leave(root: &Path, manifest: &Manifest, known: &Known) {
    attempt(root, manifest, NAME, |storage| write(storage, manifest, known));
}

/// The same of the words around links.
pub(crate) fn leave_link_context(root: &Path, manifest: &Manifest, table: &LinkContextTable) {
    attempt(root, manifest, CONTEXT, |storage| write_link_context(storage, manifest, table));
}

fn attempt(
    root: &Path,
    manifest: &Manifest,
    name: &str,
    write: impl Fn(&Storage) -> Result<(), StoreError>,
) {
    // A handle of its own: what fails here closes no other one for writing.
    let written = Storage::create(root).and_then(|storage| write(&storage));
    if written.is_err()
        && let Ok(storage) = Storage::create(root)
    {
        Derived::new(&storage, manifest, name, VERSION).give_up();
    }
}

/// Writes the tables of a store.
pub(crate) fn write(
    storage: &Storage,
    manifest: &Manifest,
    known: &Known,
) -> Result<(), StoreError> {
    let derived = Derived::new(storage, manifest, NAME, VERSION);
    let mut image = ImageWriter::new(&derived, manifest.generation);
    known.urls.write(&mut image)?;
    known.links.write(&mut image)?;
    let (urls, links, end_seq) = (known.urls.len(), known.links.count(), manifest.next_seq);
    derived.publish(&Payload { urls, links, end_seq }, image.finish())
}
