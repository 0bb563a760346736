//! Readers that turn input files into page records, and nothing else.
//!
//! Input: paths that a user names (JSON lines, WARC and Parquet files; HTML files; directories
//! of HTML; `-` for standard input), and files of the links of those pages. Output: [`PageRecord`]s
//! in input order, each with the place it came from and a count of everything that was cut from it,
//! and [`BadReason`]s for what could not be read. Nothing here canonicalises URLs, stores, prints, or
//! knows policies and estimates.
//!
//! A bad record is an item, never an error: the caller counts it. An [`IngestError`] means that
//! the input as a whole cannot be used.
//!
//! *Memory.* One batch holds at most [`BATCH_BYTES`] of input plus one record (64 MiB for a line,
//! 32 MiB for an HTML file or of a WARC record), and the records parsed from it. A zstd stream may ask for its window
//! on top (corpora use 64 MiB).
//!
//! *A new format* is one file here and one line in [`FORMATS`].

mod chain;
mod charset;
mod error;
pub(crate) mod html;
pub(crate) mod input;
pub(crate) mod json_array;
mod jsonl;
pub(crate) mod keys;
pub(crate) mod lines;
pub(crate) mod links;
mod page_fields;
pub(crate) mod page_row;
mod parquet;
mod probe;
mod record;
pub(crate) mod stream;
pub(crate) mod urls;
mod warc;

use std::fmt;
#[cfg(test)]
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prospect_index::limits;
use prospect_index::page::PageRecord;

pub(crate) use error::{IngestError, Unfit};
pub(crate) use keys::{Misnamed, MisnamedKeys};
use page_fields::UrlsOfIds;
use probe::Probe;
pub(crate) use probe::foreign_type;

/// A batch stops growing once it has taken in this many bytes of (uncompressed) input.
pub(crate) const BATCH_BYTES: usize = 32 << 20;

/// A stream of page records in input order.
pub trait PageSource: Send {
    /// The next records in input order, parsed in parallel on the current rayon pool.
    ///
    /// At most `max` of them, fewer where they are large; none means the end of the input.
    ///
    /// # Errors
    /// The input as a whole cannot be used. What earlier batches gave should not be kept.
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError>;

    /// Bytes of the (compressed) input read so far, and how many there are if that is known.
    fn progress(&self) -> (u64, Option<u64>);

    /// Identifies the input after its end: 128-bit xxh3, in hex, over the names of the files
    /// relative to the input and every byte read.
    fn fingerprint(&self) -> String;

    /// Keys so far that nothing read and that look like those of a page.
    fn misnamed(&self) -> MisnamedKeys {
        MisnamedKeys::default()
    }
}

/// One record of the input.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceItem {
    /// A page or a failed fetch.
    Page {
        /// The record, within the caps of [`limits`].
        record: PageRecord,
        /// Where it stands in the input.
        origin: Origin,
        /// What was cut, dropped or noted, by name, and how often. The names are those of
        /// [`limits::TABLE`] and [`NOTES`].
        cuts: Vec<(&'static str, u32)>,
    },
    /// Something that is no usable record.
    Bad {
        /// Why.
        reason: BadReason,
        /// Where it stands in the input.
        origin: Origin,
        /// What was found, for people.
        detail: String,
    },
    /// Something sound that tells of no fetch of a page.
    Other {
        /// Why, by a stable name.
        reason: &'static str,
        /// Where it stands in the input.
        origin: Origin,
        /// What was found, for people.
        detail: String,
    },
}

impl SourceItem {
    /// Where it stands in the input.
    fn origin(&self) -> &Origin {
        match self {
            Self::Page { origin, .. } | Self::Bad { origin, .. } | Self::Other { origin, .. } => {
                origin
            }
        }
    }
}

/// Names under which records report what was dropped or noted beyond the caps of
/// [`limits::TABLE`], with their meaning.
pub(crate) const NOTES: &[(&str, &str)] = &[
    ("link", "a link is dropped whose URL cannot be read or is not http(s)"),
    ("nofollow", "a link is dropped that the page asks not to follow"),
    ("noindex", "of a page that asks not to be indexed the text is dropped and the links are kept"),
    ("foreign-canonical", "a canonical link to another host is ignored"),
    (
        "home-canonical",
        "a canonical link to the home page, from a page that is another one, is ignored",
    ),
    ("requested-url", "a requested URL that cannot be read is ignored"),
    ("truncated", "the crawler kept only a part of the document"),
    (
        "record-length",
        "the length of a WARC record is not what it says; its block ends at the next record",
    ),
];

/// A place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as the user named it; below a directory, joined to it.
    pub(crate) file: Arc<str>,
    /// Where in it.
    pub(crate) place: Place,
}

/// Where in a file something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is the file.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A record, counted from 1.
    Record(u64),
}

impl Origin {
    /// The record of a number.
    fn record(file: &Arc<str>, number: u64) -> Self {
        Self { file: Arc::clone(file), place: Place::Record(number) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Whole => f.write_str(&self.file),
            Place::Line(line) => write!(f, "{}:{line}", self.file),
            Place::Record(number) => write!(f, "{}, record {number}", self.file),
        }
    }
}

/// Why a record was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BadReason {
    /// The line is not JSON.
    InvalidJson,
    /// The line is not UTF-8.
    InvalidUtf8,
    /// JSON, but no object.
    NotAPage,
    /// A JSON object whose fields have the wrong type or an impossible value.
    InvalidRecord,
    /// No `url`, or an empty one.
    MissingUrl,
    /// A `url` that is not an absolute http(s) URL.
    InvalidUrl,
    /// A `url` longer than [`limits::Bounds::url_bytes`].
    UrlTooLong,
    /// A line longer than [`limits::Bounds::line_bytes`].
    LineTooLong,
    /// A file named as HTML that holds something else.
    NotHtml,
    /// A file without content.
    EmptyFile,
    /// HTML nested so deeply that reading it would take more memory than a page may.
    HtmlTooComplex,
    /// A file below a directory that cannot be read.
    UnreadableFile,
    /// A WARC record that is cut or damaged.
    DamagedRecord,
    /// What a request by POST, HEAD or another method than GET brought: not the page of its URL.
    NotGet,
}

impl BadReason {
    /// Its stable name, for reports and `--json` output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid-json",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::NotAPage => "not-a-page",
            Self::InvalidRecord => "invalid-record",
            Self::MissingUrl => "missing-url",
            Self::InvalidUrl => "invalid-url",
            Self::UrlTooLong => "url-too-long",
            Self::LineTooLong => "line-too-long",
            Self::NotHtml => "not-html",
            Self::EmptyFile => "empty-file",
            Self::HtmlTooComplex => "html-too-complex",
            Self::UnreadableFile => "unreadable-file",
            Self::DamagedRecord => "damaged-record",
            Self::NotGet => "not-get",
        }
    }
}

impl fmt::Display for BadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a user may say about the input.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// URL that the HTML root was served at; needed for HTML files.
    pub(crate) base_url: Option<String>,
    /// Directory that corresponds to `base_url`; by default the directory that is read, or the
    /// one that holds the file.
    pub(crate) html_root: Option<PathBuf>,
    /// Longest line that is read, in bytes.
    pub(crate) line_bytes: usize,
    /// URLs of pages that a collection names by ids alone.
    pub(crate) urls_of_ids: Option<Arc<UrlsOfIds>>,
}

impl Default for SourceOptions {
    fn default() -> Self {
        let line_bytes = limits::BOUNDS.line_bytes;
        Self { base_url: None, html_root: None, line_bytes, urls_of_ids: None }
    }
}

/// A format that can be read.
pub(crate) struct InputFormat {
    /// Its name.
    pub(crate) name: &'static str,
    /// File extensions, without the dot and without `.gz` or `.zst`.
    pub(crate) extensions: &'static [&'static str],
    /// One line for `prospect formats`.
    pub(crate) description: &'static str,
    /// Whether it is read from gzip and zstd data as well.
    reads_compressed: bool,
    /// Whether the first bytes are this format's beyond doubt.
    recognises: fn(&Probe) -> bool,
    /// Opens neighbouring inputs of this format as one source.
    open: OpenFormat,
}

type OpenFormat = fn(Vec<Probe>, &SourceOptions) -> Result<Box<dyn PageSource>, IngestError>;

/// Every format, in the order in which they are tried.
pub(crate) const FORMATS: &[InputFormat] =
    &[jsonl::FORMAT, warc::FORMAT, parquet::FORMAT, html::FORMAT];

/// Opens `paths` as one source, in the order given; links that stand apart go to their pages. The
/// format of each is told by its first bytes, then by its extension; `-` is standard input.
///
/// ```
/// use prospect::ingest::{BadReason, SourceItem, SourceOptions, open};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("pages.jsonl");
/// std::fs::write(&path, "{\"url\": \"https://a.test/\", \"text\": \"crawl\"}\nno JSON\n")?;
/// let mut source = open(&[path], &SourceOptions::default())?;
/// let items = source.next_batch(100)?;
/// assert!(matches!(&items[0], SourceItem::Page { record, .. } if record.text == "crawl"));
/// assert!(matches!(&items[1], SourceItem::Bad { reason: BadReason::InvalidJson, origin, .. }
///     if origin.to_string().ends_with("pages.jsonl:2")));
/// assert!(source.next_batch(100)?.is_empty());
/// assert_eq!(source.fingerprint().len(), 32);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A path that does not exist, cannot be read, is empty, or holds something else than a known
/// format; HTML without a base URL; links without a file of pages.
pub fn open(
    paths: &[PathBuf],
    options: &SourceOptions,
) -> Result<Box<dyn PageSource>, IngestError> {
    let mut probes = Vec::with_capacity(paths.len());
    for path in paths {
        probes.push(if path == Path::new("-") {
            Probe::of_reader("standard input", Box::new(std::io::stdin()))?
        } else {
            Probe::of_path(path)?
        });
    }
    open_probes(probes, options)
}

/// Opens a stream of JSON lines, compressed or not; `name` stands for it in messages.
///
/// # Errors
/// The stream is empty, fails, or holds something else.
#[cfg(test)]
pub(crate) fn open_reader(
    name: &str,
    reader: Box<dyn Read + Send>,
    options: &SourceOptions,
) -> Result<Box<dyn PageSource>, IngestError> {
    open_probes(vec![Probe::of_reader(name, reader)?], options)
}

fn open_probes(
    probes: Vec<Probe>,
    options: &SourceOptions,
) -> Result<Box<dyn PageSource>, IngestError> {
    let mut runs: Vec<(&InputFormat, Vec<Probe>)> = Vec::new();
    let mut tables = Vec::new();
    for probe in probes {
        if let Some(kind) = links::kind(&probe) {
            tables.push((probe, kind));
            continue;
        }
        let format = probe.format()?;
        match runs.last_mut() {
            Some((last, run)) if last.name == format.name => run.push(probe),
            _ => runs.push((format, vec![probe])),
        }
    }
    let mut sources = Vec::with_capacity(runs.len());
    for (format, run) in runs {
        sources.push((format.open)(run, options)?);
    }
    if let (Some((table, _)), true) = (tables.first(), sources.is_empty()) {
        return Err(IngestError::LinksAlone { path: table.shown() });
    }
    let pages = chain::one_after_another(sources)?;
    Ok(if tables.is_empty() { pages } else { Box::new(links::Joined::new(tables, pages)) })
}
