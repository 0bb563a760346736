//! What makes an input unusable as a whole.

use std::borrow::Cow;
use std::io;

use super::{BadReason, MisnamedKeys, Origin};

/// Why a file cannot be read as what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is of a type that is not read.
    Foreign,
    /// It is markup, and a stream does not tell its URL.
    StreamedMarkup,
    /// It would be read if it were not compressed.
    Compressed,
    /// It names URLs, and tells of no fetch.
    NoStatuses,
    /// It names URLs, and holds no page.
    Urls,
    /// It names URLs and what became of them, and holds no page.
    Statuses,
    /// It holds pages.
    Pages,
    /// It holds links.
    Links,
    /// It is read from its end, and a stream has none.
    Streamed,
    /// It is text of two bytes a character.
    Utf16,
}

/// The input as a whole cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// No path was given.
    #[error("no input was named")]
    NoInput,
    /// The path does not exist.
    #[error("{path}: there is no such file or directory")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The operating system refused.
    #[error("{path}: cannot be read (after {bytes} bytes)")]
    Io {
        /// The file or directory.
        path: String,
        /// Bytes read until then.
        bytes: u64,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file holds something else than a known format.
    #[error("{path}: expected {expected}, found {found}")]
    WrongType {
        /// The file.
        path: String,
        /// What its first bytes are.
        found: String,
        /// What can be read.
        expected: &'static str,
        /// What is in the way.
        unfit: Unfit,
    },
    /// A directory without HTML files.
    #[error("{path}: holds no .html or .htm file")]
    NoHtmlFiles {
        /// The directory.
        path: String,
    },
    /// The input has no content.
    #[error("{path}: is empty")]
    Empty {
        /// The file.
        path: String,
    },
    /// Compressed data that ends early or is damaged.
    #[error(
        "{path}: the {compression} data {} after {bytes} bytes of the file and {lines} whole \
         lines; nothing of it was stored",
        fault(*truncated, source)
    )]
    Damaged {
        /// The file.
        path: String,
        /// gzip or zstd.
        compression: &'static str,
        /// Whether the data simply ends, as after a broken download.
        truncated: bool,
        /// Bytes of the file taken in until then.
        bytes: u64,
        /// Whole lines read until then.
        lines: u64,
        /// What the decoder said.
        source: io::Error,
    },
    /// The first lines are all bad.
    #[error(
        "{}: none of the first {lines} lines is a page record (first: {origin}: {reason}: {detail})",
        origin.file
    )]
    NoPages {
        /// How many lines were tried.
        lines: u64,
        /// The first of them.
        origin: Origin,
        /// Why the first is bad.
        reason: BadReason,
        /// What was found there.
        detail: String,
        /// Their keys that nothing reads and that look like those of a page.
        misnamed: MisnamedKeys,
    },
    /// The first rows tell of no link.
    #[error(
        "{}: none of the first {lines} rows is a link (first: {origin}: {reason}: {detail})",
        origin.file
    )]
    NoLinks {
        /// How many rows were tried.
        lines: u64,
        /// The first of them.
        origin: Origin,
        /// Why the first is bad.
        reason: BadReason,
        /// What was found there.
        detail: String,
    },
    /// Links, and no pages that they could be of.
    #[error("{path}: holds links, and no file of the pages that show them is named")]
    LinksAlone {
        /// The file of links.
        path: String,
    },
    /// The first lines tell of no URL.
    #[error(
        "{}: none of the first {lines} lines tells of a URL (first: {origin}: {reason}: {detail})",
        origin.file
    )]
    NoUrls {
        /// How many lines were tried.
        lines: u64,
        /// The first of them.
        origin: Origin,
        /// Why the first is bad.
        reason: BadReason,
        /// What was found there.
        detail: String,
    },
    /// HTML files carry no URL, and none was given.
    #[error("{path}: HTML files do not tell their URL, and no base URL was given")]
    MissingBaseUrl {
        /// The file or directory.
        path: String,
    },
    /// The base URL is not usable.
    #[error("base URL {url:?}: {detail}")]
    InvalidBaseUrl {
        /// As given.
        url: String,
        /// Why.
        detail: String,
    },
    /// An HTML file that does not lie below the HTML root.
    #[error("{path}: does not lie below the HTML root {root}")]
    OutsideRoot {
        /// The file.
        path: String,
        /// The root.
        root: String,
    },
}

impl IngestError {
    /// An error of opening or reading `path` itself, after `bytes` bytes.
    pub(super) fn io(path: impl Into<String>, bytes: u64, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            _ => Self::Io { path, bytes, source },
        }
    }
}

/// What is wrong with compressed data.
fn fault(truncated: bool, source: &io::Error) -> Cow<'static, str> {
    if truncated {
        "ends too early,".into()
    } else if source.kind() == io::ErrorKind::Unsupported {
        format!("{source}, found").into()
    } else {
        "is damaged".into()
    }
}
