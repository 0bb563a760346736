//! Finds the HTML files of an input and the URL path of each. Reads no file.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use prospect_index::limits;

use crate::ingest::IngestError;
use crate::ingest::probe::{Content, Probe};

pub(super) const EXTENSIONS: &[&str] = &["html", "htm", "xhtml"];

/// Everything but what may stand in a path segment of a URL (RFC 3986, `pchar`).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A file and where it was served.
pub(super) struct HtmlFile {
    pub(super) path: PathBuf,
    /// The path, for messages.
    pub(super) shown: Arc<str>,
    /// Path below the HTML root, percent-encoded; relative, and never taken for a scheme.
    pub(super) url_path: String,
    /// Bytes of the file.
    pub(super) size: u64,
}

impl HtmlFile {
    /// How much of it is read.
    pub(super) fn bytes_read(&self) -> u64 {
        self.size.min(limits::BOUNDS.html_bytes as u64)
    }

    fn new(path: PathBuf, size: u64, root: &Path) -> Result<Self, IngestError> {
        let shown: Arc<str> = path.display().to_string().into();
        let Some(relative) = relative_to(&path, root) else {
            return Err(IngestError::OutsideRoot {
                path: shown.to_string(),
                root: root.display().to_string(),
            });
        };
        let url_path = url_path(&relative);
        Ok(Self { path, shown, url_path, size })
    }
}

/// `path` below `root`; the two may be spelled differently (`./docs` and `docs`).
fn relative_to(path: &Path, root: &Path) -> Option<PathBuf> {
    if let Ok(relative) = path.strip_prefix(root) {
        return Some(relative.to_owned());
    }
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    let (path, root) = (fs::canonicalize(path).ok()?, fs::canonicalize(root).ok()?);
    path.strip_prefix(root).ok().map(Path::to_owned)
}

/// The HTML files of an input, in the order of their paths.
///
/// # Errors
/// A directory cannot be listed or holds none; a file lies outside `root`.
pub(super) fn below(probe: &Probe, root: Option<&Path>) -> Result<Vec<HtmlFile>, IngestError> {
    let path = probe.path.as_path();
    match &probe.content {
        Content::Directory => {
            let mut found = Vec::new();
            walk(path, &mut found)?;
            if found.is_empty() {
                return Err(IngestError::NoHtmlFiles { path: probe.shown() });
            }
            found.sort();
            let root = root.unwrap_or(path);
            found.into_iter().map(|(file, size)| HtmlFile::new(file, size, root)).collect()
        }
        Content::Bytes { size, .. } => {
            let root = root.or(path.parent()).unwrap_or(Path::new(""));
            Ok(vec![HtmlFile::new(path.to_owned(), size.unwrap_or(0), root)?])
        }
    }
}

/// Adds the HTML files below `directory`. Links to directories are not followed: they may lead in
/// circles.
fn walk(directory: &Path, found: &mut Vec<(PathBuf, u64)>) -> Result<(), IngestError> {
    let mut waiting = vec![directory.to_owned()];
    while let Some(directory) = waiting.pop() {
        let io = |source: io::Error| IngestError::io(directory.display().to_string(), 0, source);
        for entry in fs::read_dir(&directory).map_err(io)? {
            let entry = entry.map_err(io)?;
            let path = entry.path();
            let kind = entry.file_type().map_err(io)?;
            if kind.is_dir() {
                waiting.push(path);
            } else if has_html_extension(&path) {
                // A dangling link is met again, as a bad record, when it is read.
                let metadata = fs::metadata(&path);
                if metadata.as_ref().map_or(true, fs::Metadata::is_file) {
                    found.push((path, metadata.map_or(0, |metadata| metadata.len())));
                }
            }
        }
    }
    Ok(())
}

fn has_html_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
    })
}

/// A relative path as the path of a URL. It starts with `./`, so that a first segment such as
/// `a:b.html` is not read as a scheme.
fn url_path(relative: &Path) -> String {
    let mut out = String::from(".");
    for component in relative.components() {
        if let Component::Normal(name) = component {
            out.push('/');
            out.extend(percent_encode(name.as_encoded_bytes(), SEGMENT));
        }
    }
    out
}
