//! URLs that are known without a link: somebody listed them, or their site's map does.
//!
//! They are evidence of their own kind: a URL that is named here is of the frontier as one that a page links to is,
//! and counts no link for it.

use hashbrown::HashMap;

use crate::columns::{Column, ColumnType, Schema, TableWriter};
use crate::error::StoreError;
use crate::ingest::write_urls;
use crate::limits;
use crate::manifest::{Manifest, SegmentEntry, SegmentKind};
use crate::page::UrlId;
use crate::page_store::Known;
use crate::storage::Storage;
use crate::store::Store;
use crate::url::{self, UrlError};

/// Who names URLs, and what is said of them; of two rows of one URL and source the later counts.
pub(crate) const SEEDS: Schema = Schema {
    name: "seeds",
    version: 1,
    columns: &[
        ("url_id", ColumnType::U32),
        ("source", ColumnType::Text),
        ("lastmod", ColumnType::Text),
        ("priority", ColumnType::F64),
    ],
    later: &[],
};

/// Rows that are written at once.
const ROWS: usize = 1 << 16;
/// No time is longer.
const LASTMOD_CHARS: usize = 40;

/// What somebody says of a URL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seed {
    /// The kind of file that names it: "list", "sitemap" and so on.
    pub source: String,
    /// When it changed last, as its site says; empty if that is not said.
    pub lastmod: String,
    /// How much it counts among the URLs of its site, from 0 to 1; NaN if that is not said.
    pub priority: f64,
}

impl Seed {
    /// Whether two say the same.
    fn says(&self, other: &Self) -> bool {
        let priority = self.priority.to_bits() == other.priority.to_bits();
        priority && self.source == other.source && self.lastmod == other.lastmod
    }
}

/// What became of seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct SeedCounts {
    /// URLs that were not known.
    pub new_urls: u64,
    /// URLs of the frontier that were known.
    pub known: u64,
    /// URLs that were fetched already.
    pub fetched: u64,
    /// What said nothing that was not known.
    pub repeated: u64,
}

#[derive(Default)]
struct Rows {
    urls: Vec<u32>,
    sources: Vec<String>,
    lastmods: Vec<String>,
    priorities: Vec<f64>,
}

/// Seeds that are taken in: nothing is visible before [`SeedSession::commit`].
///
/// ```
/// use prospect_index::seeds::{Seed, SeedSession};
/// use prospect_index::store::{Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// let store = Store::open(root, &StoreOptions { create: true, ..StoreOptions::default() })?;
/// let mut session = SeedSession::start(store)?;
/// let seed = || Seed { source: "list".into(), lastmod: String::new(), priority: f64::NAN };
/// session.add("https://a.test/", seed())?.expect("a URL");
/// session.add("https://a.test/#again", seed())?.expect("a URL");
/// let (store, counts) = session.commit()?;
/// assert_eq!((counts.new_urls, counts.repeated), (1, 1));
/// assert_eq!(store.known()?.urls.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct SeedSession {
    store: Store,
    known: Known,
    first_url: usize,
    /// By URL: what each source says of it.
    said: HashMap<u32, Vec<Seed>>,
    rows: Rows,
    writer: TableWriter,
    written: bool,
    counts: SeedCounts,
}

impl SeedSession {
    /// Starts. The session owns the store until it ends.
    ///
    /// # Errors
    /// A table is damaged or cannot be read, or a file cannot be created.
    pub fn start(store: Store) -> Result<Self, StoreError> {
        store.verify_kinds(&[SegmentKind::Seeds])?;
        let known = store.known_without_links()?;
        let mut said: HashMap<u32, Vec<Seed>> = HashMap::new();
        for_each_seed(store.storage(), store.manifest(), |url, seed| {
            let of_url = said.entry(url.0).or_default();
            of_url.retain(|known| known.source != seed.source);
            of_url.push(seed);
        })?;
        let writer = TableWriter::create(store.storage(), &store.segment_name(SEEDS), SEEDS)?;
        let (first_url, rows, counts) = (known.urls.len(), Rows::default(), SeedCounts::default());
        Ok(Self { store, known, first_url, said, rows, writer, written: false, counts })
    }

    /// Adds what is said of a URL.
    ///
    /// # Errors
    /// A write failed; within, that the URL cannot be fetched.
    pub fn add(&mut self, given: &str, mut seed: Seed) -> Result<Result<(), UrlError>, StoreError> {
        let canonical = match url::canonical(given) {
            Ok(canonical) => canonical,
            Err(error) => return Ok(Err(error)),
        };
        limits::cut_chars(&mut seed.lastmod, LASTMOD_CHARS);
        let before = self.known.urls.len();
        let spelling = given.trim().split('#').next().unwrap_or(given);
        let url = self.known.urls.insert(&canonical, spelling);
        let of_url = self.said.entry(url.0).or_default();
        if of_url.iter().any(|known| known.says(&seed)) {
            self.counts.repeated += 1;
            return Ok(Ok(()));
        }
        if self.known.urls.len() > before {
            self.counts.new_urls += 1;
        } else if self.known.pages.in_frontier(url) {
            self.counts.known += 1;
        } else {
            self.counts.fetched += 1;
        }
        of_url.retain(|known| known.source != seed.source);
        of_url.push(seed.clone());
        self.rows.urls.push(url.0);
        self.rows.sources.push(seed.source);
        self.rows.lastmods.push(seed.lastmod);
        self.rows.priorities.push(seed.priority);
        if self.rows.urls.len() >= ROWS {
            self.flush()?;
        }
        Ok(Ok(()))
    }

    /// Stores everything that was added, in one commit; nothing if there is nothing new.
    ///
    /// # Errors
    /// A write failed; the previous state stands.
    pub fn commit(mut self) -> Result<(Store, SeedCounts), StoreError> {
        self.flush()?;
        if !self.written {
            let Self { store, writer, counts, .. } = self;
            drop(writer);
            store.remove_orphans()?;
            return Ok((store, counts));
        }
        let seeds = SegmentEntry::new(SegmentKind::Seeds, SEEDS, self.writer.finish()?);
        let count = self.known.urls.len() as u32;
        let mut segments = vec![seeds];
        if self.known.urls.len() > self.first_url {
            segments.insert(0, write_urls(&self.store, &self.known, self.first_url)?);
        }
        self.store.commit(|manifest| {
            manifest.segments.extend(segments);
            manifest.urls = count;
        })?;
        Ok((self.store, self.counts))
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let Rows { urls, sources, lastmods, priorities } = std::mem::take(&mut self.rows);
        if urls.is_empty() {
            return Ok(());
        }
        self.written = true;
        self.writer.write(&[
            Column::U32(urls),
            Column::Text(sources),
            Column::Text(lastmods),
            Column::F64(priorities),
        ])
    }
}

/// What is said of URLs, in the order in which it was said.
///
/// # Errors
/// A file is missing, damaged or cannot be read.
pub fn for_each_seed(
    storage: &Storage,
    manifest: &Manifest,
    mut take: impl FnMut(UrlId, Seed),
) -> Result<(), StoreError> {
    for segment in manifest.segments_of(SegmentKind::Seeds) {
        segment.read(storage, SEEDS, &SEEDS.names(), |mut columns| {
            let (urls, sources) = (columns[0].take_u32(), columns[1].take_text());
            let (lastmods, priorities) = (columns[2].take_text(), columns[3].take_f64());
            for (((url, source), lastmod), priority) in
                urls.into_iter().zip(sources).zip(lastmods).zip(priorities)
            {
                take(UrlId(url), Seed { source, lastmod, priority });
            }
            Ok(())
        })?;
    }
    Ok(())
}
