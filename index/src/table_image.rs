//! URLs and links of a store, and the words around links, as files that are mapped, so that a command does not make the same
//! tables anew each time.
//!
//! Derived structures, written when much is not in them: [`crate::store::Store`] takes what they have and reads what was
//! stored since. Where a page was replaced or is gone since, links and the words around them are read anew.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::derived::Derived;
use crate::error::StoreError;
use crate::link_context::LinkContextTable;
use crate::link_table::LinkTable;
use crate::manifest::Manifest;
use crate::mapped::image::{ImageReader, ImageWriter};
use crate::page_store::Known;
use crate::storage::Storage;
use crate::url_table::UrlTable;

const TABLES: &str = "tables";
const LINK_CONTEXT: &str = "link-context";
/// Of the files, whose numbers lie in them as in memory.
const VERSION: u32 = if cfg!(target_endian = "little") { 2 } else { 1_002 };
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

/// How much there is, and until which record.
#[derive(Serialize, Deserialize)]
struct Payload {
    /// Rows of the segments, of URLs or of words around links, that were read.
    rows: u64,
    links: usize,
    end_seq: u32,
}

impl TableImage {
    /// What is there, if it is whole and of this store.
    pub(crate) fn find(storage: &Storage, manifest: &Manifest, with_links: bool) -> Option<Self> {
        let derived = Derived::new(storage, manifest, TABLES, VERSION);
        let (Payload { rows, links: expected, end_seq }, files) = derived.named()?;
        let image = ImageReader::new(&derived, &files);
        let read_links =
            || if with_links { LinkTable::read(&image) } else { Some(LinkTable::default()) };
        let (urls, links) = rayon::join(|| UrlTable::read(&image), read_links);
        let found = Self { urls: urls?, links: links?, end_seq };
        let is_whole =
            found.urls.len() as u64 == rows && (!with_links || found.links.count() == expected);
        is_whole.then_some(found)
    }
}

/// The words around links that are there, if they are whole and of this store, and no page was replaced since.
pub(crate) fn find_link_context(
    storage: &Storage,
    manifest: &Manifest,
    known: &Known,
) -> Option<LinkContextTable> {
    let derived = Derived::new(storage, manifest, LINK_CONTEXT, VERSION);
    let (Payload { rows, links, end_seq }, files) = derived.named()?;
    // Links of a page that is another one since, or gone, have left the table.
    if known.pages.replaced_since(end_seq) {
        return None;
    }
    let mut table = LinkContextTable::read(&ImageReader::new(&derived, &files))?;
    table.read_rows = rows;
    (table.count() == links).then_some(table)
}

/// Whether so much is in memory only that it is worth writing.
pub(crate) fn is_due(known: &Known) -> bool {
    let new = known.urls.len_in_memory() + known.links.count_in_memory();
    is_much(new, known.urls.len() + known.links.count())
}

/// The same of the words around links.
pub(crate) fn is_link_context_due(table: &LinkContextTable) -> bool {
    is_much(table.count_in_memory(), table.count())
}

fn is_much(new: usize, all: usize) -> bool {
    new > ROWS && new > all / PART
}

/// Writes the tables of a store below `root` for who opens it next. Where that is not possible, on a full disk say, they
/// stay in segments alone.
pub(crate) fn leave(root: &Path, manifest: &Manifest, known: &Known) {
    let (rows, links) = (known.urls.len() as u64, known.links.count());
    let payload = Payload { rows, links, end_seq: manifest.next_seq };
    write(root, manifest, (TABLES, &payload), |image| {
        known.urls.write(image)?;
        known.links.write(image)
    });
}

/// The same of the words around links.
pub(crate) fn leave_link_context(root: &Path, manifest: &Manifest, table: &LinkContextTable) {
    let (rows, links) = (table.read_rows, table.count());
    let payload = Payload { rows, links, end_seq: manifest.next_seq };
    write(root, manifest, (LINK_CONTEXT, &payload), |image| table.write(image));
}

fn write(
    root: &Path,
    manifest: &Manifest,
    (name, payload): (&str, &Payload),
    columns: impl FnOnce(&mut ImageWriter) -> Result<(), StoreError>,
) {
    // Handles of their own: what fails here closes no other one for writing.
    let written = Storage::create(root).and_then(|storage| {
        let derived = Derived::new(&storage, manifest, name, VERSION);
        let mut image = ImageWriter::new(&derived, manifest.generation);
        columns(&mut image)?;
        derived.publish(payload, image.finish())
    });
    if written.is_err()
        && let Ok(storage) = Storage::create(root)
    {
        Derived::new(&storage, manifest, name, VERSION).give_up();
    }
}
