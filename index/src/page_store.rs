//! Which URL was fetched when, and the fetched pages themselves: the tables of the truth and
//! their schemas.

use hashbrown::HashMap;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::columns::{ColumnType, Schema};
use crate::error::StoreError;
use crate::fetch_outcome::{FailureKind, FetchOutcome, MOVED_HERE};
use crate::link_context::{LinkContextTable, word_numbers};
use crate::link_table::{Link, LinkTable};
use crate::manifest::{Manifest, SegmentEntry, SegmentKind};
use crate::page::{Outlink, UrlId};
use crate::storage::Storage;
use crate::store::verify_segment;
use crate::table_image::TableImage;
use crate::url_table::UrlTable;
use crate::words::Analyzer;

/// Absent id or number.
pub const NONE: u32 = u32::MAX;

/// Known URLs: row number of all files together is the `UrlId`.
pub(crate) const URLS: Schema = Schema {
    name: "urls",
    version: 1,
    columns: &[("url", ColumnType::Text), ("spelling", ColumnType::Text)],
    later: &[],
};

/// Fetched pages and failed fetches. `status` 0 means the input did not tell; above HTTP's are those of
/// [`crate::fetch_outcome`].
pub(crate) const PAGES: Schema = Schema {
    name: "pages",
    version: 1,
    columns: &[
        ("url_id", ColumnType::U32),
        ("fetch_seq", ColumnType::U32),
        ("status", ColumnType::U32),
        ("requested_id", ColumnType::U32),
        ("title", ColumnType::Text),
        ("text", ColumnType::Text),
        ("fetched_at", ColumnType::Text),
        ("plan_id", ColumnType::Text),
    ],
    later: &[],
};

/// Links in fetch order, then document order; `anchor` as the page has it, cut.
pub(crate) const LINKS: Schema = Schema {
    name: "links",
    version: 1,
    columns: &[
        ("from_id", ColumnType::U32),
        ("fetch_seq", ColumnType::U32),
        ("to_id", ColumnType::U32),
        ("anchor", ColumnType::Text),
    ],
    later: &[],
};

/// Texts around links, in fetch order: of one link from a page to a URL, the first that has one, and of
/// the first [`crate::link_context::PER_URL`] pages of an ingest that link to it.
pub(crate) const AROUND: Schema = Schema {
    name: "around",
    version: 1,
    columns: &[
        ("from_id", ColumnType::U32),
        ("fetch_seq", ColumnType::U32),
        ("to_id", ColumnType::U32),
        ("text", ColumnType::Text),
    ],
    later: &[],
};

/// Scores of pages, as log-probabilities that their text is good; of two of one record the later
/// counts.
pub const QUALITY: Schema = Schema {
    name: "quality",
    version: 1,
    columns: &[("fetch_seq", ColumnType::U32), ("quality", ColumnType::F64)],
    later: &[],
};

/// What pages said, in one number each: whether they changed is told by it when they are fetched again.
pub(crate) const DIGESTS: Schema = Schema {
    name: "digests",
    version: 1,
    columns: &[
        ("fetch_seq", ColumnType::U32),
        ("text", ColumnType::U64),
        ("links", ColumnType::U64),
    ],
    later: &[],
};

/// The schemas of this module by what they are tables of.
pub const SCHEMAS: [(SegmentKind, Schema); 7] = [
    (SegmentKind::Urls, URLS),
    (SegmentKind::Pages, PAGES),
    (SegmentKind::Links, LINKS),
    (SegmentKind::Around, AROUND),
    (SegmentKind::Quality, QUALITY),
    (SegmentKind::Seeds, crate::seeds::SEEDS),
    (SegmentKind::Digests, DIGESTS),
];

/// What is known of the fetch of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fetch {
    /// Not fetched: the frontier.
    #[default]
    Never,
    /// Fetched, in its current version by the record of this number.
    Page {
        /// `fetch_seq`.
        seq: u32,
    },
    /// The fetch failed.
    Failed {
        /// `fetch_seq`.
        seq: u32,
        /// HTTP status, or one of [`crate::fetch_outcome`].
        status: u16,
    },
    /// It was asked for and led to another URL.
    Redirected {
        /// `fetch_seq`.
        seq: u32,
    },
}

impl Fetch {
    /// `fetch_seq` of the record that tells of it.
    pub fn seq(self) -> Option<u32> {
        match self {
            Self::Never => None,
            Self::Page { seq } | Self::Failed { seq, .. } | Self::Redirected { seq } => Some(seq),
        }
    }
}

/// The fetch history of all URLs. Costs 12 bytes and a bit a URL, 8 a record and up to 12 more a failure, a redirect, a
/// record that says that nothing changed, or a page that was replaced.
///
/// ```
/// use prospect_index::page::UrlId;
/// use prospect_index::page_store::{Fetch, PageTable};
///
/// let mut pages = PageTable::default();
/// let (home, moved, gone) = (UrlId(0), UrlId(1), UrlId(2));
/// pages.note(home, 0, 200, Some(moved)); // asked for `moved`, which led to `home`
/// pages.note(gone, 1, 200, None);
/// pages.note(gone, 2, 404, None);
/// assert_eq!(pages.fetch(home), Fetch::Page { seq: 0 });
/// assert_eq!(pages.fetch(moved), Fetch::Redirected { seq: 0 });
/// assert_eq!(pages.fetch(gone), Fetch::Failed { seq: 2, status: 404 });
/// assert!(pages.in_frontier(UrlId(3)));
/// assert_eq!(pages.crawled().collect::<Vec<_>>(), [(0, home)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    fetches: Vec<Fetch>,
    /// By `fetch_seq`: the page it gave, [`NONE`] if it gave none.
    page_of_seq: Vec<u32>,
    /// By `fetch_seq`: the record that replaced its page, [`NONE`] while it is current.
    superseded_at: Vec<u32>,
    failures: Vec<FailedFetch>,
    /// URLs that led to others, with the record that tells.
    redirects: Vec<(u32, UrlId)>,
    /// Records that say that the page of a URL is what it was.
    unchanged: Vec<(u32, UrlId)>,
    /// Of pages that were replaced: the record of their first version.
    first_seqs: HashMap<UrlId, u32>,
    /// The last record by which a page was replaced, or is gone.
    last_replaced: Option<u32>,
    /// By URL, 64 in a number: whether it has left the frontier.
    left: Vec<u64>,
    pages: usize,
}

/// A fetch that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedFetch {
    /// The URL.
    pub url: UrlId,
    /// `fetch_seq`.
    pub seq: u32,
    /// HTTP status, or one of [`crate::fetch_outcome`].
    pub status: u16,
}

impl PageTable {
    /// State of a URL.
    pub fn fetch(&self, url: UrlId) -> Fetch {
        self.fetches.get(url.index()).copied().unwrap_or_default()
    }

    /// Whether the URL is uncrawled, and may give a page: nothing is known against it but failures that may
    /// pass.
    pub fn in_frontier(&self, url: UrlId) -> bool {
        // Asked of every match of a query: so many URLs are in the cache.
        self.left.get(url.index() / 64).is_none_or(|left| left >> (url.0 % 64) & 1 == 0)
    }

    /// Sets what became of a URL, below the highest that is known.
    fn set(&mut self, url: UrlId, fetch: Fetch) {
        self.fetches[url.index()] = fetch;
        let leaves = match fetch {
            Fetch::Never => false,
            Fetch::Failed { status, .. } => FetchOutcome::from(status).leaves_frontier(),
            Fetch::Page { .. } | Fetch::Redirected { .. } => true,
        };
        let bit = 1 << (url.0 % 64);
        let left = &mut self.left[url.index() / 64];
        *left = if leaves { *left | bit } else { *left & !bit };
    }

    /// URLs that led to others, by record.
    pub fn redirects(&self) -> &[(u32, UrlId)] {
        &self.redirects
    }

    /// All fetches that failed, in their order, and those of unchanged pages that nobody brought.
    pub fn failures(&self) -> &[FailedFetch] {
        &self.failures
    }

    /// Records that gave a page, whether it is current or not, with its URL.
    pub fn pages_by_record(&self) -> impl Iterator<Item = (u32, UrlId)> + '_ {
        let records = (0..).zip(&self.page_of_seq).filter(|(_, url)| **url != NONE);
        records.map(|(seq, &url)| (seq, UrlId(url)))
    }

    /// `fetch_seq` of the current page of a URL.
    pub fn page_seq(&self, url: UrlId) -> Option<u32> {
        match self.fetch(url) {
            Fetch::Page { seq } => Some(seq),
            _ => None,
        }
    }

    /// `fetch_seq` of the first version of a page, since when there is one.
    pub fn first_seq(&self, url: UrlId) -> Option<u32> {
        let current = self.page_seq(url)?;
        if self.first_seqs.is_empty() {
            return Some(current);
        }
        Some(self.first_seqs.get(&url).copied().unwrap_or(current))
    }

    /// The URL whose page this record fetched first, if it has one still.
    pub fn discovered_by(&self, seq: u32) -> Option<UrlId> {
        let (url, _) = self.record(seq)?;
        (self.first_seq(url) == Some(seq)).then_some(url)
    }

    /// URLs with a current page, by the `fetch_seq` of its first version.
    pub fn discovered(&self) -> impl Iterator<Item = (u32, UrlId)> + '_ {
        let records = 0..self.page_of_seq.len() as u32;
        records.filter_map(|seq| self.discovered_by(seq).map(|url| (seq, url)))
    }

    /// Records that say that the page of a URL is what it was, in their order.
    pub fn unchanged(&self) -> &[(u32, UrlId)] {
        &self.unchanged
    }

    /// Whether the page of a URL has replaced another.
    pub(crate) fn is_replaced(&self, url: UrlId) -> bool {
        self.first_seqs.contains_key(&url)
    }

    /// Whether a page was replaced, or is gone, since the record `seq`. Where none ever was, the record of a page is its
    /// first.
    pub fn replaced_since(&self, seq: u32) -> bool {
        self.last_replaced.is_some_and(|last| last >= seq)
    }

    /// Pages in their current version.
    pub fn len(&self) -> usize {
        self.pages
    }

    /// Records, failed fetches included.
    pub(crate) fn records(&self) -> usize {
        self.page_of_seq.len()
    }

    /// The page that a record gave, and the record that replaced it ([`NONE`] if none did).
    pub fn record(&self, seq: u32) -> Option<(UrlId, u32)> {
        let url = *self.page_of_seq.get(seq as usize)?;
        (url != NONE).then(|| (UrlId(url), self.superseded_at[seq as usize]))
    }

    /// Whether the page that a record gave was replaced by the record `seq` or a later one.
    fn is_replaced_since(&self, record: u32, seq: u32) -> bool {
        self.record(record).is_some_and(|(_, at)| at != NONE && at >= seq)
    }

    /// URLs with a current page, by `fetch_seq`.
    pub fn crawled(&self) -> impl Iterator<Item = (u32, UrlId)> + '_ {
        (0..self.page_of_seq.len() as u32).filter_map(|seq| match self.record(seq) {
            Some((url, NONE)) => Some((seq, url)),
            _ => None,
        })
    }

    /// Notes a record. What gives no page takes an older one away only if it says that the page is gone
    /// (404 or 410), or has moved for good; otherwise the older version stays.
    pub fn note(&mut self, url: UrlId, seq: u32, status: u16, requested: Option<UrlId>) {
        let highest = url.0.max(requested.map_or(0, |id| id.0)) as usize;
        if self.fetches.len() <= highest {
            self.fetches.resize(highest + 1, Fetch::Never);
            self.left.resize(highest / 64 + 1, 0);
        }
        let records = seq as usize + 1;
        self.page_of_seq.resize(records.max(self.page_of_seq.len()), NONE);
        self.superseded_at.resize(records.max(self.superseded_at.len()), NONE);
        let old = self.page_seq(url);
        match FetchOutcome::from(status) {
            FetchOutcome::Page => {
                self.page_of_seq[seq as usize] = url.0;
                self.set(url, Fetch::Page { seq });
                self.pages += usize::from(old.is_none());
                if let Some(old) = old {
                    self.first_seqs.entry(url).or_insert(old);
                }
            }
            FetchOutcome::Moved => {
                self.redirects.push((seq, url));
                if old.is_none() {
                    self.set(url, Fetch::Redirected { seq });
                }
            }
            FetchOutcome::Unchanged if old.is_some() => self.unchanged.push((seq, url)),
            FetchOutcome::Unchanged | FetchOutcome::Failed(FailureKind::Temporary) => {
                self.failures.push(FailedFetch { url, seq, status });
                // What is known for good stays.
                if self.in_frontier(url) {
                    self.set(url, Fetch::Failed { seq, status });
                }
            }
            FetchOutcome::Failed(_) => {
                self.failures.push(FailedFetch { url, seq, status });
                if old.is_none() || FetchOutcome::says_gone(status) {
                    self.set(url, Fetch::Failed { seq, status });
                    self.pages -= usize::from(old.is_some());
                    self.first_seqs.remove(&url);
                }
            }
        }
        if let Some(old) = old.filter(|_| self.fetch(url).seq() == Some(seq)) {
            self.supersede(old, seq);
        }
        if let Some(requested) = requested.filter(|&id| id != url) {
            self.redirects.push((seq, requested));
            let old = self.page_seq(requested);
            if let Some(old) = old.filter(|_| status == MOVED_HERE) {
                self.supersede(old, seq);
                self.pages -= 1;
                self.first_seqs.remove(&requested);
            }
            if old.is_none() || status == MOVED_HERE {
                self.set(requested, Fetch::Redirected { seq });
            }
        }
    }

    /// The record `seq` takes the place of an older one that gave a page.
    fn supersede(&mut self, old: u32, seq: u32) {
        self.superseded_at[old as usize] = seq;
        self.last_replaced = self.last_replaced.max(Some(seq));
    }
}

/// Is asked about each segment before it is read.
type Verify<'a> = &'a dyn Fn(&SegmentEntry) -> Result<(), StoreError>;

/// The tables that are kept in memory while a store is open.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// URLs.
    pub urls: UrlTable,
    /// Fetches.
    pub pages: PageTable,
    /// Links of current pages.
    pub links: LinkTable,
    /// By `fetch_seq`: quality of the page's text as a log-probability, NaN where it has no score;
    /// it may end early.
    pub quality: Vec<f32>,
    /// Makes the words of all texts, of which there are none in these tables.
    pub analyzer: Analyzer,
}

impl Known {
    /// Quality of the current page of a URL, if it has a score.
    pub fn quality(&self, url: UrlId) -> Option<f32> {
        let seq = self.pages.page_seq(url)?;
        self.quality.get(seq as usize).copied().filter(|quality| !quality.is_nan())
    }

    /// Reads the tables, what is in `image` from there and the rest from segments, each of which `verify` is asked about
    /// first; `with_links` false leaves links and quality out.
    ///
    /// # Errors
    /// A file is missing, damaged or cannot be read.
    pub(crate) fn load(
        storage: &Storage,
        manifest: &Manifest,
        (with_links, image): (bool, Option<TableImage>),
        verify: impl Fn(&SegmentEntry) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let image = image.unwrap_or_default();
        let analyzer = Analyzer::from(&manifest.words);
        let mut known = Self { analyzer, urls: image.urls, ..Self::default() };
        known.load_urls(storage, manifest, &verify)?;
        known.load_pages(storage, manifest, &verify)?;
        if with_links {
            let mut from_seq = 0;
            // Links of a page that is another one since, or gone, have left the table.
            if !known.pages.replaced_since(image.end_seq) {
                (known.links, from_seq) = (image.links, image.end_seq);
            }
            known.load_links(storage, manifest, from_seq, &verify)?;
            known.load_quality(storage, manifest, &verify)?;
        }
        Ok(known)
    }

    fn load_urls(
        &mut self,
        storage: &Storage,
        manifest: &Manifest,
        verify: Verify,
    ) -> Result<(), StoreError> {
        let mut end = 0;
        for segment in manifest.segments_of(SegmentKind::Urls) {
            let mut row = end;
            end += segment.rows as usize;
            if end <= self.urls.len() {
                continue;
            }
            verify(segment)?;
            segment.read(storage, URLS, &["url", "spelling"], |mut columns| {
                let (urls, spellings) = (columns[0].take_text(), columns[1].take_text());
                for (url, spelling) in urls.iter().zip(&spellings) {
                    if row >= self.urls.len() {
                        self.urls.insert(url, spelling);
                    }
                    row += 1;
                }
                Ok(())
            })?;
        }
        if self.urls.len() == manifest.urls as usize {
            return Ok(());
        }
        let what = format!("urls: {} found, the manifest says {}", self.urls.len(), manifest.urls);
        Err(StoreError::damaged(&storage.path("segments"), what))
    }

    fn load_pages(
        &mut self,
        storage: &Storage,
        manifest: &Manifest,
        verify: Verify,
    ) -> Result<(), StoreError> {
        let names = ["url_id", "fetch_seq", "status", "requested_id"];
        for segment in manifest.segments_of(SegmentKind::Pages) {
            verify(segment)?;
            let path = storage.path(&segment.file.file);
            segment.read(storage, PAGES, &names, |mut columns| {
                let (urls, seqs) = (columns[0].take_u32(), columns[1].take_u32());
                let (statuses, requested) = (columns[2].take_u32(), columns[3].take_u32());
                for (row, &url) in urls.iter().enumerate() {
                    self.check_id(&path, url)?;
                    let requested = (requested[row] != NONE).then_some(requested[row]);
                    if let Some(id) = requested {
                        self.check_id(&path, id)?;
                    }
                    let status = statuses[row] as u16;
                    self.pages.note(UrlId(url), seqs[row], status, requested.map(UrlId));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Reads the links that records from `from_seq` on show.
    fn load_links(
        &mut self,
        storage: &Storage,
        manifest: &Manifest,
        from_seq: u32,
        verify: Verify,
    ) -> Result<(), StoreError> {
        // Each ingest wrote one, in order.
        let segments = manifest.segments_of(SegmentKind::Links).zip(&manifest.ingests);
        let new = segments.filter(|(_, ingest)| ingest.end_seq > from_seq);
        let new: Vec<&SegmentEntry> = new.map(|(segment, _)| segment).collect();
        new.iter().try_for_each(|segment| verify(segment))?;
        self.add_links(storage, new, from_seq)
    }

    fn add_links<'a>(
        &mut self,
        storage: &Storage,
        segments: impl IntoIterator<Item = &'a SegmentEntry>,
        from_seq: u32,
    ) -> Result<(), StoreError> {
        let mut links = std::mem::take(&mut self.links);
        self.read_links(storage, segments, (SegmentKind::Links, LINKS), |rows, anchors| {
            for row in rows.iter().filter(|row| row.seq >= from_seq) {
                links.push(*row, &anchors[row.anchor as usize]);
            }
        })?;
        self.links = links;
        Ok(())
    }

    /// Brings in the links and scores of the segments from the `first` on, whose URLs and pages are known, and none of
    /// which is another version of a page.
    ///
    /// # Errors
    /// A file is missing, damaged or cannot be read.
    pub(crate) fn extend(
        &mut self,
        storage: &Storage,
        manifest: &Manifest,
        first: usize,
    ) -> Result<(), StoreError> {
        let new = &manifest.segments[first..];
        self.add_links(storage, new, 0)?;
        self.add_quality(storage, new, manifest.next_seq)
    }

    /// Adds words around links of current pages from these segments, which follow those that were added.
    ///
    /// # Errors
    /// A file is missing, damaged or cannot be read.
    pub(crate) fn add_link_context<'a>(
        &self,
        around: &mut LinkContextTable,
        storage: &Storage,
        segments: impl IntoIterator<Item = &'a SegmentEntry>,
    ) -> Result<(), StoreError> {
        self.read_links(storage, segments, (SegmentKind::Around, AROUND), |rows, texts| {
            let words: Vec<Vec<u32>> = rows
                .par_iter()
                .map(|row| word_numbers(&self.analyzer, &texts[row.anchor as usize]))
                .collect();
            for (row, words) in rows.iter().zip(&words) {
                around.push(row.from, row.to, row.since, words);
            }
        })
    }

    /// Texts around links of current pages: page, target, `fetch_seq` of the page, text.
    ///
    /// # Errors
    /// A file is missing, damaged or cannot be read.
    pub fn for_each_link_context(
        &self,
        storage: &Storage,
        manifest: &Manifest,
        mut take: impl FnMut(UrlId, UrlId, u32, &str),
    ) -> Result<(), StoreError> {
        self.read_links(
            storage,
            &manifest.segments,
            (SegmentKind::Around, AROUND),
            |rows, texts| {
                for row in rows {
                    take(row.from, row.to, row.seq, &texts[row.anchor as usize]);
                }
            },
        )
    }

    /// Targets and anchors of the versions of pages that were current before the record `seq` and are so no
    /// longer; the current version may have the same links.
    ///
    /// # Errors
    /// A file is missing, damaged or cannot be read.
    pub(crate) fn for_each_lost_link(
        &self,
        storage: &Storage,
        manifest: &Manifest,
        seq: u32,
        mut take: impl FnMut(UrlId, &str),
    ) -> Result<(), StoreError> {
        let is_lost = |old: u32| self.pages.is_replaced_since(old, seq);
        let segments = manifest.segments_of(SegmentKind::Links).zip(&manifest.ingests);
        for (segment, ingest) in segments.filter(|(_, ingest)| ingest.first_seq < seq) {
            if !(ingest.first_seq..ingest.end_seq.min(seq)).any(is_lost) {
                continue;
            }
            // Who has its links mapped has not read it.
            verify_segment(storage, segment)?;
            let path = storage.path(&segment.file.file);
            let names = ["fetch_seq", "to_id", "anchor"];
            segment.read(storage, LINKS, &names, |mut columns| {
                let (seqs, targets) = (columns[0].take_u32(), columns[1].take_u32());
                let rows = seqs.into_iter().zip(targets).zip(columns[2].take_text());
                for ((old, to), anchor) in rows {
                    if old < seq && is_lost(old) {
                        self.check_id(&path, to)?;
                        take(UrlId(to), &anchor);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Links of the page fetched as `seq`, each with the id of its target, in document order and without what is around
    /// them; none if that version was replaced.
    pub fn outlinks(&self, seq: u32) -> impl Iterator<Item = (UrlId, Outlink)> {
        self.links.of_page(seq).iter().map(|link| {
            let shown = (self.urls.spelling(link.to), self.links.anchor(link.anchor));
            (link.to, Outlink::from(shown))
        })
    }

    /// Rows of a table that is [`LINKS`] or has its columns, a row group at a time, with the texts of all
    /// of them: the `anchor` of a row is the place of its text. Links that only a version of a page had that was
    /// replaced are left out: nobody shows them any longer.
    fn read_links<'a>(
        &self,
        storage: &Storage,
        segments: impl IntoIterator<Item = &'a SegmentEntry>,
        (kind, schema): (SegmentKind, Schema),
        mut take: impl FnMut(&[Link], &[String]),
    ) -> Result<(), StoreError> {
        let mut versions = Versions::default();
        for segment in segments.into_iter().filter(|segment| segment.kind == kind) {
            let path = storage.path(&segment.file.file);
            segment.read(storage, schema, &schema.names(), |mut columns| {
                let (from, seq) = (columns[0].take_u32(), columns[1].take_u32());
                let (to, texts) = (columns[2].take_u32(), columns[3].take_text());
                let mut rows = Vec::with_capacity(texts.len());
                for text in 0..texts.len() {
                    self.check_id(&path, from[text])?;
                    self.check_id(&path, to[text])?;
                    let (from, to, seq) = (UrlId(from[text]), UrlId(to[text]), seq[text]);
                    let is_replaced = self.pages.is_replaced(from);
                    let since = if is_replaced {
                        versions.since(&self.pages, (from, to, &texts[text]), seq)
                    } else {
                        seq
                    };
                    if self.pages.page_seq(from) == Some(seq) {
                        rows.push(Link { from, to, anchor: text as u32, seq, since });
                    }
                }
                take(&rows, &texts);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn load_quality(
        &mut self,
        storage: &Storage,
        manifest: &Manifest,
        verify: Verify,
    ) -> Result<(), StoreError> {
        manifest.segments_of(SegmentKind::Quality).try_for_each(verify)?;
        self.add_quality(storage, &manifest.segments, manifest.next_seq)
    }

    fn add_quality(
        &mut self,
        storage: &Storage,
        segments: &[SegmentEntry],
        next_seq: u32,
    ) -> Result<(), StoreError> {
        for segment in segments.iter().filter(|segment| segment.kind == SegmentKind::Quality) {
            let path = storage.path(&segment.file.file);
            segment.read(storage, QUALITY, &["fetch_seq", "quality"], |mut columns| {
                let (seqs, scores) = (columns[0].take_u32(), columns[1].take_f64());
                for (seq, score) in seqs.into_iter().zip(scores) {
                    if seq >= next_seq || !score.is_finite() {
                        let what = format!("record {seq} has quality {score}");
                        return Err(StoreError::damaged(&path, what));
                    }
                    self.note_quality(seq, score);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Takes in the quality of a record's page.
    pub fn note_quality(&mut self, seq: u32, quality: f64) {
        let at = seq as usize;
        if self.quality.len() <= at {
            self.quality.resize(at + 1, f32::NAN);
        }
        self.quality[at] = quality as f32;
    }

    fn check_id(&self, path: &std::path::Path, id: u32) -> Result<(), StoreError> {
        if (id as usize) < self.urls.len() {
            return Ok(());
        }
        let what = format!("URL id {id} of {} known", self.urls.len());
        Err(StoreError::damaged(path, what))
    }
}

/// Links of pages that were fetched again: since which version they are there, and the last that has them.
#[derive(Default)]
struct Versions {
    links: HashMap<(UrlId, UrlId, u64), (u32, u32)>,
}

impl Versions {
    /// Since which version of its page a link is there that the version `seq` has; versions come in their order.
    fn since(&mut self, pages: &PageTable, link: (UrlId, UrlId, &str), seq: u32) -> u32 {
        let (from, to, text) = link;
        let known = self.links.entry((from, to, xxh3_64(text.as_bytes()))).or_insert((seq, seq));
        let next = pages.record(known.1).map(|(_, replaced)| replaced);
        *known = if known.1 == seq || next == Some(seq) { (known.0, seq) } else { (seq, seq) };
        known.0
    }
}

/// The text of a fetched page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageText {
    /// Its URL.
    pub url: UrlId,
    /// The record that gave it.
    pub seq: u32,
    /// Title.
    pub title: String,
    /// Visible text.
    pub text: String,
}

/// Reads the texts of all page records with `fetch_seq >= from_seq`, replaced versions included,
/// a row group at a time.
///
/// # Errors
/// A file is missing, damaged or cannot be read.
pub fn for_each_text(
    storage: &Storage,
    manifest: &Manifest,
    from_seq: u32,
    mut take: impl FnMut(Vec<PageText>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let names = ["url_id", "fetch_seq", "status", "title", "text"];
    for segment in segments_from(manifest, from_seq) {
        segment.read(storage, PAGES, &names, |mut columns| {
            let (url, seq) = (columns[0].take_u32(), columns[1].take_u32());
            let status = columns[2].take_u32();
            let (titles, texts) = (columns[3].take_text(), columns[4].take_text());
            let rows = titles.into_iter().zip(texts).enumerate();
            let pages = rows
                .filter(|(row, _)| seq[*row] >= from_seq)
                .filter(|(row, _)| FetchOutcome::from(status[*row] as u16) == FetchOutcome::Page)
                .map(|(row, (title, text))| PageText {
                    url: UrlId(url[row]),
                    seq: seq[row],
                    title,
                    text,
                })
                .collect();
            take(pages)
        })?;
    }
    Ok(())
}

/// Reads the titles of all page records, replaced versions included, by `fetch_seq`.
///
/// # Errors
/// A file is missing, damaged or cannot be read.
pub fn for_each_title(
    storage: &Storage,
    manifest: &Manifest,
    mut take: impl FnMut(u32, &str),
) -> Result<(), StoreError> {
    for segment in segments_from(manifest, 0) {
        segment.read(storage, PAGES, &["fetch_seq", "title"], |mut columns| {
            let (seqs, titles) = (columns[0].take_u32(), columns[1].take_text());
            seqs.iter().zip(&titles).for_each(|(&seq, title)| take(seq, title));
            Ok(())
        })?;
    }
    Ok(())
}

/// What records say of their fetch, by `fetch_seq`, all of them: the status as it is stored, and the time as their inputs
/// spell it.
///
/// # Errors
/// A file is missing, damaged or cannot be read.
pub fn for_each_fetch(
    storage: &Storage,
    manifest: &Manifest,
    mut take: impl FnMut(u32, u16, &str),
) -> Result<(), StoreError> {
    for segment in segments_from(manifest, 0) {
        segment.read(storage, PAGES, &["fetch_seq", "status", "fetched_at"], |mut columns| {
            let (seqs, statuses) = (columns[0].take_u32(), columns[1].take_u32());
            let rows = seqs.iter().zip(statuses).zip(columns[2].take_text());
            rows.for_each(|((&seq, status), time)| take(seq, status as u16, &time));
            Ok(())
        })?;
    }
    Ok(())
}

/// Page segments that can hold a record from `from_seq` on: each ingest wrote one, in order.
fn segments_from(manifest: &Manifest, from_seq: u32) -> impl Iterator<Item = &SegmentEntry> {
    manifest
        .segments_of(SegmentKind::Pages)
        .zip(&manifest.ingests)
        .filter(move |(_, ingest)| ingest.end_seq > from_seq)
        .map(|(segment, _)| segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_record_replaces_a_page_and_a_server_error_does_not() {
        let mut table = PageTable::default();
        table.note(UrlId(3), 0, 0, None);
        table.note(UrlId(3), 1, 200, Some(UrlId(5)));
        table.note(UrlId(3), 2, 503, Some(UrlId(6)));
        table.note(UrlId(4), 3, 500, None);
        assert_eq!(table.fetch(UrlId(3)), Fetch::Page { seq: 1 });
        assert_eq!(table.fetch(UrlId(5)), Fetch::Redirected { seq: 1 });
        assert_eq!(table.fetch(UrlId(6)), Fetch::Redirected { seq: 2 });
        assert_eq!(table.fetch(UrlId(4)), Fetch::Failed { seq: 3, status: 500 });
        assert_eq!((table.record(0), table.record(2)), (Some((UrlId(3), 1)), None));
        assert_eq!((table.first_seq(UrlId(3)), table.discovered_by(1)), (Some(0), None));
        assert_eq!(table.discovered().collect::<Vec<_>>(), [(0, UrlId(3))]);
        assert_eq!((table.len(), table.in_frontier(UrlId(9))), (1, true));
        table.note(UrlId(3), 4, 410, None);
        assert_eq!((table.len(), table.crawled().count()), (0, 0));
    }

    #[test]
    fn a_page_that_has_moved_leaves_its_old_address() {
        let mut table = PageTable::default();
        let [old, new, busy] = [3, 4, 5].map(UrlId);
        (0..).zip([old, busy]).for_each(|(seq, url)| table.note(url, seq, 200, None));
        table.note(new, 2, MOVED_HERE, Some(old));
        assert_eq!(table.fetch(old), Fetch::Redirected { seq: 2 });
        assert_eq!(table.fetch(new), Fetch::Page { seq: 2 });
        assert!(table.replaced_since(2) && !table.in_frontier(old));
        assert_eq!((table.len(), table.record(0)), (2, Some((old, 2))));
        // One that leads elsewhere, and does not say that it is for good, stays.
        table.note(new, 3, 200, Some(busy));
        assert_eq!(table.page_seq(busy), Some(1));
        // And one that has moved may come back.
        table.note(old, 4, 200, None);
        assert_eq!((table.first_seq(old), table.len()), (Some(4), 3));
    }
}
