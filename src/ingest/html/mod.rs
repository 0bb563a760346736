//! HTML: single files and directories of them, as `wget --mirror` or a documentation tool leaves
//! them. The URL of a file is the base URL plus its path below the HTML root.
//!
//! Files of a directory come in the order of their paths. A file that is none, or cannot be read,
//! is a bad record.

mod extract;
mod files;
mod link;
mod page;
mod state;
mod tag;
#[cfg(test)]
mod tests;
mod text;

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prospect_index::limits;
use rayon::prelude::*;
use url::Url;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

pub(crate) use extract::extract_html;

use super::input::{InputCompression, update_with_name};
use super::probe::{Content, Probe, foreign_type, skip_blank};
use super::{
    BATCH_BYTES, BadReason, IngestError, InputFormat, Origin, PageSource, Place, SourceItem,
    SourceOptions,
};
use files::HtmlFile;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "html",
    extensions: files::EXTENSIONS,
    description: "HTML files, or a directory of them; the URL is the base URL plus the path \
                  below the HTML root",
    reads_compressed: false,
    recognises,
    open: |probes, options| Ok(Box::new(HtmlFiles::open(&probes, options)?)),
};

fn recognises(probe: &Probe) -> bool {
    let Content::Bytes { compression: InputCompression::Plain, head, reader: None, .. } =
        &probe.content
    else {
        return matches!(probe.content, Content::Directory);
    };
    let start = String::from_utf8_lossy(skip_blank(head)).to_ascii_lowercase();
    start.starts_with('<') && (start.contains("<html") || start.starts_with("<!doctype html"))
}

struct HtmlFiles {
    base: Url,
    files: Vec<HtmlFile>,
    next: usize,
    bytes: AtomicU64,
    total_bytes: u64,
    hash: Xxh3,
}

/// A file's item, and what the fingerprint takes of it.
struct FileRead {
    item: SourceItem,
    bytes: u64,
    hash: u128,
}

impl HtmlFiles {
    fn open(probes: &[Probe], options: &SourceOptions) -> Result<Self, IngestError> {
        let mut files = Vec::new();
        for probe in probes {
            files.extend(files::below(probe, options.html_root.as_deref())?);
        }
        let base = base_url(probes, options)?;
        let total_bytes = files.iter().map(HtmlFile::bytes_read).sum();
        Ok(Self { base, files, next: 0, bytes: AtomicU64::new(0), total_bytes, hash: Xxh3::new() })
    }

    fn read(&self, file: &HtmlFile) -> FileRead {
        let origin = Origin { file: Arc::clone(&file.shown), place: Place::Whole };
        let bad =
            |reason, detail: String| SourceItem::Bad { reason, origin: origin.clone(), detail };
        let content = match read_capped(file) {
            Ok(content) => content,
            Err(error) => {
                let item = bad(BadReason::UnreadableFile, error.to_string());
                return FileRead { item, bytes: 0, hash: 0 };
            }
        };
        self.bytes.fetch_add(content.len() as u64, Ordering::Relaxed);
        let item = match self.page(file, &content) {
            Ok((record, cuts)) => SourceItem::Page { record, origin: origin.clone(), cuts },
            Err((reason, detail)) => bad(reason, detail),
        };
        FileRead { item, bytes: content.len() as u64, hash: xxh3_128(&content) }
    }

    fn page(
        &self,
        file: &HtmlFile,
        content: &[u8],
    ) -> Result<page::HtmlRecord, (BadReason, String)> {
        if content.trim_ascii().is_empty() {
            return Err((BadReason::EmptyFile, "the file has no content".to_owned()));
        }
        if let Some(found) = foreign_type(content) {
            return Err((BadReason::NotHtml, format!("found {found}")));
        }
        let url = self
            .base
            .join(&file.url_path)
            .map_err(|error| (BadReason::InvalidUrl, format!("{}: {error}", file.url_path)))?;
        if url.as_str().len() > limits::BOUNDS.url_bytes {
            let detail =
                format!("{} bytes, at most {}", url.as_str().len(), limits::BOUNDS.url_bytes);
            return Err((BadReason::UrlTooLong, detail));
        }
        let page = extract_html(content, &url, None)
            .map_err(|error| (BadReason::HtmlTooComplex, error.to_string()))?;
        let (record, mut cuts) = page.into_record(&url);
        if file.size > limits::BOUNDS.html_bytes as u64 {
            cuts.push(("html", 1));
        }
        Ok((record, cuts))
    }

    /// How many of the next files make a batch.
    fn batch_len(&self, max: usize) -> usize {
        let (mut files, mut bytes) = (0, 0);
        for file in self.files[self.next..].iter().take(max.max(1)) {
            if bytes >= BATCH_BYTES as u64 {
                break;
            }
            bytes += file.bytes_read();
            files += 1;
        }
        files
    }
}

impl PageSource for HtmlFiles {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        let range = self.next..self.next + self.batch_len(max);
        let read: Vec<FileRead> =
            self.files[range.clone()].par_iter().map(|file| self.read(file)).collect();
        for (file, read) in self.files[range.clone()].iter().zip(&read) {
            update_with_name(&mut self.hash, &file.url_path);
            self.hash.update(&read.bytes.to_le_bytes());
            self.hash.update(&read.hash.to_le_bytes());
        }
        self.next = range.end;
        Ok(read.into_iter().map(|read| read.item).collect())
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.bytes.load(Ordering::Relaxed), Some(self.total_bytes))
    }

    fn fingerprint(&self) -> String {
        format!("{:032x}", self.hash.digest128())
    }
}

fn read_capped(file: &HtmlFile) -> io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(file.bytes_read() as usize + 1);
    File::open(&file.path)?.take(limits::BOUNDS.html_bytes as u64).read_to_end(&mut content)?;
    Ok(content)
}

/// The base URL as a directory: what follows its last slash would be replaced by a join.
fn base_url(probes: &[Probe], options: &SourceOptions) -> Result<Url, IngestError> {
    let Some(given) = &options.base_url else {
        let path = probes.first().map(Probe::shown).unwrap_or_default();
        return Err(IngestError::MissingBaseUrl { path });
    };
    let invalid = |detail: String| IngestError::InvalidBaseUrl { url: given.clone(), detail };
    let mut url = Url::parse(given.trim()).map_err(|error| invalid(error.to_string()))?;
    if !super::record::is_web(&url) {
        return Err(invalid("not http or https".to_owned()));
    }
    url.set_query(None);
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}
