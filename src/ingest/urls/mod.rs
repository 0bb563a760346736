//! Readers of files that tell of URLs and not of pages: lists, sitemaps, indexes of archives, and the logs and
//! databases of crawlers.
//!
//! Input: paths that a user names, plain, gzip or zstd; `-` for standard input. Output: [`UrlRecord`]s in input
//! order, each with the place it came from. What a file is, its first bytes tell. A line that is none of its format
//! is a bad item, never an error. Lines are cut at [`limits::Bounds::line_bytes`]; sitemaps are read as a stream.
//!
//! *A new format* is one file here and one line in [`URL_FORMATS`].

mod cdxj;
mod crawldb;
mod heritrix;
mod json;
mod list;
mod sitemap;
mod wget;

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prospect_index::limits;

use super::input::{Tallied, Tally, is_utf16, of_parts};
use super::lines::{Line, read_line};
use super::probe::{Content, Probe, foreign_type, skip_blank};
use super::record::is_page;
use super::{BadReason, FORMATS, IngestError, Origin, Place, Unfit, links};

const EXPECTED: &str = "a list of URLs, a sitemap, CDXJ, JSON lines, a dump of CrawlDb, or the log of Heritrix or wget";
/// A file none of whose first so many lines tells of a URL is a wrong file.
const TRIED_LINES: u64 = 1_000;

/// What a file says of a URL.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UrlRecord {
    /// The URL, as it is spelled.
    pub(crate) url: String,
    /// Whether it is that of another sitemap, which is to be fetched first, and of no page.
    pub(crate) is_sitemap: bool,
    /// Status of its fetch, 0 where no server answered, or one of [`prospect_index::fetch_outcome`]; none where the file
    /// tells of no fetch.
    pub(crate) status: Option<u16>,
    /// When it was fetched.
    pub(crate) fetched_at: Option<String>,
    /// When the page changed last, as its site says.
    pub(crate) lastmod: Option<String>,
    /// How much it counts among the URLs of its site, from 0 to 1, as that says.
    pub(crate) priority: Option<f64>,
}

impl UrlRecord {
    /// A URL of which nothing else is known.
    fn of(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }
}

/// A URL, and who names it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedUrl {
    /// What is said of it.
    pub(crate) record: UrlRecord,
    /// Where.
    pub(crate) origin: Origin,
    /// Name of the format that says so.
    pub(crate) format: &'static str,
}

/// Something that a file holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UrlItem {
    /// A URL.
    Url(NamedUrl),
    /// Something that is none.
    Bad {
        /// Why.
        reason: BadReason,
        /// Where.
        origin: Origin,
        /// What was found.
        detail: String,
    },
}

/// A record, or why there is none; at a line.
type Found = (u64, Result<UrlRecord, (BadReason, String)>);

/// A format of files that tell of URLs.
pub(crate) struct UrlFormat {
    /// Its name.
    pub(crate) name: &'static str,
    /// One line for `prospect formats`.
    pub(crate) description: &'static str,
    /// Whether it tells of fetches.
    pub(crate) has_statuses: bool,
    /// Whether these first bytes, decompressed, are its.
    recognises: fn(&str) -> bool,
    /// Reads a stream of it.
    read: fn(Box<dyn Read + Send>) -> Box<dyn UrlReader>,
}

/// Every format, in the order in which they are tried: anything may be a list.
pub(crate) const URL_FORMATS: &[UrlFormat] = &[
    sitemap::FORMAT,
    json::FORMAT,
    cdxj::FORMAT,
    crawldb::DUMP,
    crawldb::CSV,
    heritrix::FORMAT,
    wget::FORMAT,
    list::FORMAT,
];

/// Reads records, one after the other.
trait UrlReader: Send {
    /// The next one; none at the end.
    fn next(&mut self) -> io::Result<Option<Found>>;
}

/// A format that is read line by line.
trait LineFormat: Send {
    /// Takes a line that is not empty, with its number from 1; gives what is known by then.
    fn line(&mut self, number: u64, line: &str) -> Option<Found>;

    /// What is known at the end.
    fn end(&mut self) -> Option<Found> {
        None
    }
}

/// Lines of a stream, read by a format.
struct Lines<F> {
    reader: BufReader<Box<dyn Read + Send>>,
    buffer: Vec<u8>,
    number: u64,
    ended: bool,
    format: F,
}

impl<F: LineFormat + 'static> Lines<F> {
    fn boxed(reader: Box<dyn Read + Send>, format: F) -> Box<dyn UrlReader> {
        let reader = BufReader::with_capacity(256 << 10, reader);
        Box::new(Self { reader, buffer: Vec::new(), number: 0, ended: false, format })
    }
}

impl<F: LineFormat> UrlReader for Lines<F> {
    fn next(&mut self) -> io::Result<Option<Found>> {
        while !self.ended {
            self.buffer.clear();
            self.number += 1;
            let found =
                match read_line(&mut self.reader, limits::BOUNDS.line_bytes, &mut self.buffer)? {
                    Line::Whole => {
                        let line = String::from_utf8_lossy(&self.buffer);
                        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
                        if line.trim().is_empty() {
                            None
                        } else {
                            self.format.line(self.number, line)
                        }
                    }
                    Line::TooLong(bytes) => {
                        let detail = format!("the line has {bytes} bytes");
                        Some((self.number, Err((BadReason::LineTooLong, detail))))
                    }
                    Line::End => {
                        self.ended = true;
                        self.format.end()
                    }
                };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Files that are read one after the other.
pub(crate) struct UrlFiles {
    files: VecDeque<(Probe, &'static UrlFormat)>,
    reading: Option<Reading>,
    tallies: Vec<Tally>,
    sizes: Vec<Option<u64>>,
}

struct Reading {
    name: Arc<str>,
    format: &'static UrlFormat,
    reader: Box<dyn UrlReader>,
    tally: Tally,
    /// Items until the first good one, and the first of them.
    tried: u64,
    first_bad: Option<(BadReason, Origin, String)>,
    any_good: bool,
}

impl UrlFiles {
    /// Opens files; with `with_statuses` only such as tell of fetches.
    ///
    /// # Errors
    /// A path that does not exist, cannot be read, is empty, or holds something else.
    pub(crate) fn open(paths: &[PathBuf], with_statuses: bool) -> Result<Self, IngestError> {
        let mut files = VecDeque::with_capacity(paths.len());
        for path in paths {
            let probe = if path == Path::new("-") {
                Probe::of_reader("standard input", Box::new(io::stdin()))?
            } else {
                Probe::of_path(path)?
            };
            let format = format_of(&probe, with_statuses)?;
            files.push_back((probe, format));
        }
        let sizes = files.iter().map(|(probe, _)| match probe.content {
            Content::Bytes { size, .. } => size,
            Content::Directory => None,
        });
        let sizes = sizes.collect();
        Ok(Self { files, reading: None, tallies: Vec::new(), sizes })
    }

    /// The next items, at most `max`; none at the end.
    ///
    /// # Errors
    /// A file cannot be read to its end, or holds no URL.
    pub(crate) fn next_batch(&mut self, max: usize) -> Result<Vec<UrlItem>, IngestError> {
        let mut items = Vec::new();
        while items.len() < max {
            let reading = match &mut self.reading {
                Some(reading) => reading,
                None => match self.files.pop_front() {
                    Some((probe, format)) => {
                        let reading = Reading::open(probe, format)?;
                        self.tallies.push(reading.tally.clone());
                        self.reading.insert(reading)
                    }
                    None => break,
                },
            };
            match reading.next()? {
                Some(item) => items.push(item),
                None => self.reading = None,
            }
        }
        Ok(items)
    }

    /// Bytes read so far, and how many there are if that is known.
    pub(crate) fn progress(&self) -> (u64, Option<u64>) {
        (self.tallies.iter().map(Tally::bytes).sum(), self.sizes.iter().copied().sum())
    }

    /// Identifies the input after its end.
    pub(crate) fn fingerprint(&self) -> String {
        of_parts(self.tallies.iter().map(Tally::fingerprint))
    }
}

/// The format of a file of URLs that starts so; none if it may as well hold something else.
pub(super) fn certain_format(head: &[u8]) -> Option<&'static UrlFormat> {
    let head = String::from_utf8_lossy(skip_blank(head));
    let mut lines = head.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let is_list = lines.find(|line| !line.is_empty()).is_some_and(is_page);
    let mut formats = URL_FORMATS.iter().filter(|format| format.name != json::FORMAT.name);
    let is_sitemap = ["<urlset", "<sitemapindex"].iter().any(|tag| head.contains(tag));
    formats.find(|format| {
        let is_it = match format.name {
            name if name == list::FORMAT.name => is_list,
            name if name == sitemap::FORMAT.name => is_sitemap,
            _ => true,
        };
        is_it && (format.recognises)(&head)
    })
}

fn format_of(probe: &Probe, with_statuses: bool) -> Result<&'static UrlFormat, IngestError> {
    let wrong = |found: String, unfit: Unfit| wrong_type(probe, found, unfit);
    let Content::Bytes { head, .. } = &probe.content else {
        return Err(wrong("a directory".to_owned(), Unfit::Foreign));
    };
    if links::kind(probe).is_some() {
        return Err(wrong("links".to_owned(), Unfit::Links));
    }
    // Of JSON lines the URLs are taken.
    let mut pages = FORMATS.iter().filter(|format| format.name != json::FORMAT.name);
    if let Some(found) = pages.find(|format| (format.recognises)(probe)) {
        return Err(wrong(format!("pages ({})", found.name), Unfit::Pages));
    }
    if is_utf16(head) {
        return Err(wrong("UTF-16 text".to_owned(), Unfit::Utf16));
    }
    if let Some(found) = foreign_type(head) {
        return Err(wrong(found.to_owned(), Unfit::Foreign));
    }
    let head = String::from_utf8_lossy(skip_blank(head));
    let found = URL_FORMATS.iter().find(|format| (format.recognises)(&head));
    let found = found.ok_or_else(|| wrong("no text".to_owned(), Unfit::Foreign))?;
    if with_statuses && !found.has_statuses {
        return Err(wrong(format!("{}, which tells of no fetch", found.name), Unfit::NoStatuses));
    }
    Ok(found)
}

fn wrong_type(probe: &Probe, found: String, unfit: Unfit) -> IngestError {
    IngestError::WrongType { path: probe.shown(), found, expected: EXPECTED, unfit }
}

impl Reading {
    fn open(probe: Probe, format: &'static UrlFormat) -> Result<Self, IngestError> {
        let name: Arc<str> = probe.shown().into();
        let file_name = probe.path.file_name().unwrap_or(probe.path.as_os_str());
        let tally = Tally::new(&file_name.to_string_lossy());
        let failed = |error| IngestError::io(&*name, 0, error);
        let compression = probe.compression();
        let raw = Tallied { inner: probe.into_stream().map_err(failed)?, tally: tally.clone() };
        let reader = (format.read)(compression.decoder(raw).map_err(failed)?);
        Ok(Self { name, format, reader, tally, tried: 0, first_bad: None, any_good: false })
    }

    fn next(&mut self) -> Result<Option<UrlItem>, IngestError> {
        let found = loop {
            let found = self.reader.next();
            let found =
                found.map_err(|error| IngestError::io(&*self.name, self.tally.bytes(), error))?;
            match &found {
                Some((_, Ok(record))) if !is_page(&record.url) => {}
                _ => break found,
            }
        };
        let Some((line, found)) = found else {
            return match self.first_bad.take() {
                Some(bad) if !self.any_good => Err(self.no_urls(bad)),
                _ => Ok(None),
            };
        };
        let origin = Origin { file: Arc::clone(&self.name), place: Place::Line(line) };
        self.tried += 1;
        Ok(Some(match found {
            Ok(record) => {
                self.any_good = true;
                UrlItem::Url(NamedUrl { record, origin, format: self.format.name })
            }
            Err((reason, detail)) => {
                if !self.any_good {
                    let bad = (reason, origin.clone(), detail.clone());
                    let first = self.first_bad.get_or_insert(bad).clone();
                    if self.tried == TRIED_LINES {
                        return Err(self.no_urls(first));
                    }
                }
                UrlItem::Bad { reason, origin, detail }
            }
        }))
    }

    fn no_urls(&self, (reason, origin, detail): (BadReason, Origin, String)) -> IngestError {
        IngestError::NoUrls { lines: self.tried, origin, reason, detail }
    }
}

/// A line that is none of the format.
fn not_one(number: u64, what: &str, line: &str) -> Found {
    let start: String = line.chars().take(60).collect();
    (number, Err((BadReason::InvalidRecord, format!("{what}: {start:?}"))))
}

#[cfg(test)]
mod tests;
