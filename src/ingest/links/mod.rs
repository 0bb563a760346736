//! Links that stand apart from their pages: tables of links, what `nutch readlinkdb` dumps, link files of ClueWeb22.
//!
//! A link counts if the page that shows it is fetched. So links are joined, by the URL of that page, with the pages
//! that the other files of the same ingest bring; a page that has links of its own keeps them. Links of pages that no
//! file brings are told, and not taken in. All link files are read before the first page, whatever their order.
//!
//! *Memory.* Some 50 bytes a link, and the bytes of its target and its anchor.
//!
//! *A new format* is a line in [`LINK_FORMATS`] and its reader in [`tables`].

mod tables;

use std::collections::{HashSet, VecDeque};
use std::io::{BufReader, Read};
use std::sync::Arc;

use prospect_index::fetch_outcome::FetchOutcome;
use prospect_index::limits;
use prospect_index::page::PageRecord;
use url::Url;

use super::input::{Tallied, Tally, of_parts};
use super::lines::{Line, read_line};
use super::parquet::{self, Rows};
use super::probe::{Content, Probe, skip_blank};
use super::record::{Bad, Cuts, Links, Spelling, key_of, page_url};
use super::{BadReason, IngestError, MisnamedKeys, Origin, PageSource, Place, SourceItem};
use tables::{Columns, LINES, LinkLines, TableLink};

/// Name of what is of no page of these files, among what an ingest tells.
const NO_PAGE: &str = "link-of-no-page";
/// A file none of whose first so many rows tells of a link is a wrong file.
const TRIED_ROWS: u64 = 1_000;

/// Every format, with a line for `prospect formats`.
pub(crate) const LINK_FORMATS: [(&str, &str); 4] = [
    (
        "links",
        "TSV or CSV, plain, .gz or .zst: a header with source, target and, if known, anchor (also src, dst, from, to)",
    ),
    ("links", "Parquet with columns of these names"),
    (
        "linkdb",
        "what `nutch readlinkdb -dump` writes: URL, Inlinks, fromUrl and anchor; plain, .gz or .zst",
    ),
    (
        "clueweb22",
        "outlink and inlink files of ClueWeb22, JSON lines; with the text files (jsonl) or WARC beside them",
    ),
];

/// How a file of links is read.
pub(super) enum Kind {
    Lines(Box<dyn LinkLines>),
    Parquet(Columns),
}

/// How a file of links is read; none if it is no such file.
pub(super) fn kind(probe: &Probe) -> Option<Kind> {
    let Content::Bytes { head, reader, .. } = &probe.content else { return None };
    if head.starts_with(b"PAR1") && reader.is_none() {
        let columns = parquet::columns(probe);
        let is_of_pages = columns.iter().any(|name| parquet::URLS.contains(&name.as_str()));
        return Columns::of(&columns).filter(|_| !is_of_pages).map(Kind::Parquet);
    }
    let head = String::from_utf8_lossy(skip_blank(head));
    LINES.iter().find_map(|open| open(&head)).map(Kind::Lines)
}

/// A link of a page that may still come.
struct Held {
    /// What its page is known by.
    page: u128,
    /// Where target and anchor start in the texts, and their bytes.
    at: usize,
    target: u32,
    anchor: u32,
    /// Its file, and the line or row in it.
    file: u32,
    number: u64,
}

/// Pages with their links from elsewhere.
pub(super) struct Joined {
    pages: Box<dyn PageSource>,
    waiting: VecDeque<(Probe, Kind)>,
    reading: Option<Table>,
    files: Vec<(Arc<str>, Tally, Option<u64>)>,
    links: HeldLinks,
}

impl Joined {
    pub(super) fn new(tables: Vec<(Probe, Kind)>, pages: Box<dyn PageSource>) -> Self {
        let files = tables.iter().map(|(probe, _)| {
            let name = probe.path.file_name().unwrap_or(probe.path.as_os_str()).to_string_lossy();
            let size = match probe.content {
                Content::Bytes { size, .. } => size,
                Content::Directory => None,
            };
            (probe.shown().into(), Tally::new(&name), size)
        });
        let files = files.collect();
        let (waiting, links) = (tables.into(), HeldLinks::default());
        Self { pages, waiting, reading: None, files, links }
    }

    /// Reads the tables on, until all are read or some rows of them are bad; these are given.
    fn read_tables(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        let mut bad = Vec::new();
        while bad.len() < max.max(1) {
            let file = self.files.len() - self.waiting.len();
            let Some(table) = &mut self.reading else {
                let Some((probe, kind)) = self.waiting.pop_front() else {
                    self.links.sort();
                    break;
                };
                let (name, tally, _) = &self.files[file];
                self.reading = Some(Table::open(probe, kind, Arc::clone(name), tally.clone())?);
                continue;
            };
            if !table.next(file as u32 - 1, &mut self.links, &mut bad)? {
                self.reading = None;
            }
        }
        Ok(bad)
    }

    /// Links that no page took up.
    fn rest(&mut self, max: usize) -> Vec<SourceItem> {
        let mut rest = Vec::new();
        while rest.len() < max.max(1)
            && let Some(held) = self.links.next_left()
        {
            let target = self.links.target_of(&held);
            let file = Arc::clone(&self.files[held.file as usize].0);
            let origin = Origin { file, place: Place::Line(held.number) };
            let detail = format!("a link to {target}, whose page is in none of these files");
            rest.push(SourceItem::Other { reason: NO_PAGE, origin, detail });
        }
        rest
    }
}

impl PageSource for Joined {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        let bad = self.read_tables(max)?;
        if !bad.is_empty() {
            return Ok(bad);
        }
        let mut batch = self.pages.next_batch(max)?;
        if batch.is_empty() {
            return Ok(self.rest(max));
        }
        for item in &mut batch {
            if let SourceItem::Page { record, cuts, .. } = item {
                cuts.extend(self.links.join(record));
            }
        }
        Ok(batch)
    }

    fn progress(&self) -> (u64, Option<u64>) {
        let (done, total) = self.pages.progress();
        let read: u64 = self.files.iter().map(|(_, tally, _)| tally.bytes()).sum();
        let sizes: Option<u64> = self.files.iter().map(|(.., size)| *size).sum();
        (done + read, total.zip(sizes).map(|(a, b)| a + b))
    }

    fn fingerprint(&self) -> String {
        let tables = self.files.iter().map(|(_, tally, _)| tally.fingerprint());
        of_parts(tables.chain([self.pages.fingerprint()]))
    }

    fn misnamed(&self) -> MisnamedKeys {
        self.pages.misnamed()
    }
}

/// A file of links that is being read.
struct Table {
    name: Arc<str>,
    rows: TableRows,
    /// Rows so far, until one tells of a link.
    tried: u64,
    any_good: bool,
}

enum TableRows {
    Lines {
        reader: BufReader<Box<dyn Read + Send>>,
        tally: Tally,
        number: u64,
        format: Box<dyn LinkLines>,
    },
    Parquet(Rows, Columns),
}

impl Table {
    fn open(probe: Probe, kind: Kind, name: Arc<str>, tally: Tally) -> Result<Self, IngestError> {
        let failed = |error| IngestError::io(&*name, 0, error);
        let rows = match kind {
            Kind::Parquet(columns) => {
                let rows = Rows::open(&probe, tally, |name| columns.has(name))?;
                TableRows::Parquet(rows, columns)
            }
            Kind::Lines(format) => {
                let compression = probe.compression();
                let inner = probe.into_stream().map_err(failed)?;
                let raw = Tallied { inner, tally: tally.clone() };
                let decoder = compression.decoder(raw).map_err(failed)?;
                let reader = BufReader::with_capacity(256 << 10, decoder);
                TableRows::Lines { reader, tally, number: 0, format }
            }
        };
        Ok(Self { name, rows, tried: 0, any_good: false })
    }

    /// Takes in the links of the next row, or notes that it is bad; false at the end.
    fn next(
        &mut self,
        file: u32,
        links: &mut HeldLinks,
        bad: &mut Vec<SourceItem>,
    ) -> Result<bool, IngestError> {
        let mut found = Vec::new();
        let (number, mut read) = match &mut self.rows {
            TableRows::Parquet(rows, columns) => match rows.next()? {
                None => return Ok(false),
                Some((number, row)) => (number, columns.link(&row).map(|link| found.extend(link))),
            },
            TableRows::Lines { reader, tally, number, format } => {
                let mut line = Vec::new();
                let read = read_line(reader, limits::BOUNDS.line_bytes, &mut line);
                let read =
                    read.map_err(|error| IngestError::io(&*self.name, tally.bytes(), error))?;
                *number += 1;
                let read = match read {
                    Line::End => return Ok(false),
                    Line::TooLong(bytes) => {
                        Err((BadReason::LineTooLong, format!("the line has {bytes} bytes")))
                    }
                    Line::Whole => {
                        let line = String::from_utf8_lossy(&line);
                        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
                        if line.trim().is_empty() { Ok(()) } else { format.line(line, &mut found) }
                    }
                };
                (*number, read)
            }
        };
        for link in &found {
            let held = links.hold(link, file, number);
            self.any_good |= held.is_ok();
            read = read.and(held);
        }
        if let Err((reason, detail)) = read {
            self.tried += 1;
            let place = Place::Line(number);
            let origin = Origin { file: Arc::clone(&self.name), place };
            if self.tried == TRIED_ROWS && !self.any_good {
                return Err(IngestError::NoLinks { lines: self.tried, origin, reason, detail });
            }
            bad.push(SourceItem::Bad { reason, origin, detail });
        }
        Ok(true)
    }
}

/// Links by the pages that show them.
#[derive(Default)]
struct HeldLinks {
    texts: String,
    /// By page, then as they were read, once all are.
    links: Vec<Held>,
    used: Vec<bool>,
    /// The page of the last link, as it is spelled, and its key: many of a page follow one another.
    last: Option<(String, u128)>,
    /// Those that no page took up, once there are no more pages.
    left: Option<std::vec::IntoIter<Held>>,
}

impl HeldLinks {
    fn hold(&mut self, link: &TableLink, file: u32, number: u64) -> Result<(), Bad> {
        let page = match &self.last {
            Some((source, page)) if link.source == *source => *page,
            _ => {
                let (_, url) = page_url(&link.source)?;
                self.last.insert((link.source.clone(), key_of(&url))).1
            }
        };
        let target = link.target.trim();
        if target.is_empty() {
            return Err((BadReason::MissingUrl, "a link without a target".to_owned()));
        }
        let at = self.texts.len();
        self.texts.push_str(target);
        self.texts.push_str(&link.anchor);
        let (target, anchor) = (target.len() as u32, link.anchor.len() as u32);
        self.links.push(Held { page, at, target, anchor, file, number });
        Ok(())
    }

    /// Makes the links ready to be looked up.
    fn sort(&mut self) {
        if self.used.len() < self.links.len() {
            self.links.sort_by_key(|held| held.page);
            self.used = vec![false; self.links.len()];
        }
    }

    /// Gives a fetched page the links that are held for it; tells what was cut.
    fn join(&mut self, record: &mut PageRecord) -> Vec<(&'static str, u32)> {
        let is_page = |status| status > 0 && FetchOutcome::from(status) == FetchOutcome::Page;
        let Ok(url) = Url::parse(&record.url) else { return Vec::new() };
        if self.links.is_empty() || !record.status.is_none_or(is_page) {
            return Vec::new();
        }
        // A page may call itself otherwise than it was asked for.
        let asked = record.requested_url.as_deref().and_then(|asked| Url::parse(asked).ok());
        let keys = [Some(key_of(&url)), asked.map(|asked| key_of(&asked))];
        let mut places = Vec::new();
        for key in keys.into_iter().flatten() {
            let start = self.links.partition_point(|held| held.page < key);
            let of_page = self.links[start..].iter().take_while(|held| held.page == key);
            places.push(start..start + of_page.count());
        }
        if places.iter().all(std::ops::Range::is_empty) {
            return Vec::new();
        }
        let (mut cuts, mut links) = (Cuts::default(), Links::new(&url, &url, Spelling::AsGiven));
        let own = std::mem::take(&mut record.outlinks);
        let known: HashSet<String> = own.iter().map(|link| link.url.clone()).collect();
        for link in own {
            links.push(link, &mut cuts);
        }
        for at in places.into_iter().flatten() {
            self.used[at] = true;
            let held = &self.links[at];
            let (target, anchor) = (self.target_of(held), self.anchor_of(held));
            // The page itself says more of a link than a table without anchors.
            if !(anchor.is_empty() && known.contains(target)) {
                links.push((target, anchor).into(), &mut cuts);
            }
        }
        (record.outlinks, _) = links.finish();
        cuts.into_vec()
    }

    fn target_of(&self, held: &Held) -> &str {
        &self.texts[held.at..held.at + held.target as usize]
    }

    fn anchor_of(&self, held: &Held) -> &str {
        let start = held.at + held.target as usize;
        &self.texts[start..start + held.anchor as usize]
    }

    /// The next link that no page took up, in the order of the files.
    fn next_left(&mut self) -> Option<Held> {
        let (links, used) = (&mut self.links, &self.used);
        let left = self.left.get_or_insert_with(|| {
            let (mut left, mut used) = (std::mem::take(links), used.iter());
            left.retain(|_| used.next() == Some(&false));
            left.sort_by_key(|held| (held.file, held.number));
            left.into_iter()
        });
        left.next()
    }
}
