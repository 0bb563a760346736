//! JSON lines: an object with a `url`; `status`, `fetched_at`, `lastmod` and `priority` where they are known. What
//! URLFrontier lists has its URL in `info.url`, and a dump of it that in `known` or `discovered`.

use serde::Deserialize;

use super::super::page_fields::{number, status, time};
use super::super::record::{Bad, bad_json, excerpt, page_url};
use super::{Found, LineFormat, Lines, UrlFormat, UrlRecord};

pub(super) const FORMAT: UrlFormat = UrlFormat {
    name: "jsonl",
    description: "JSON lines: url, and where known status, error, fetched_at, lastmod, priority; what URLFrontier lists",
    has_statuses: true,
    recognises: |head| head.starts_with('{'),
    read: |reader| Lines::boxed(reader, JsonLines),
};

struct JsonLines;

#[derive(Deserialize)]
struct Raw {
    url: Option<String>,
    /// URLFrontier: what it lists, and what a dump of it holds.
    info: Option<Box<Raw>>,
    known: Option<Box<Raw>>,
    discovered: Option<Box<Raw>>,
    #[serde(default, deserialize_with = "number")]
    status: Option<f64>,
    error: Option<String>,
    #[serde(default, deserialize_with = "time")]
    fetched_at: Option<String>,
    #[serde(default, deserialize_with = "time")]
    lastmod: Option<String>,
    #[serde(default, deserialize_with = "number")]
    priority: Option<f64>,
}

impl Raw {
    /// The URL, wherever it stands.
    fn url(self) -> Option<String> {
        let inner = [self.info, self.known, self.discovered].into_iter().flatten();
        self.url.or_else(|| inner.into_iter().find_map(|inner| inner.url()))
    }
}

impl LineFormat for JsonLines {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        Some((number, record(line)))
    }
}

fn record(line: &str) -> Result<UrlRecord, Bad> {
    let raw: Raw = serde_json::from_str(line).map_err(|error| {
        let (reason, what) = bad_json(&error);
        (reason, format!("{what}: {}", excerpt(line)))
    })?;
    let status = status(raw.status, raw.error.as_deref())?;
    let (fetched_at, lastmod) = (raw.fetched_at.clone(), raw.lastmod.clone());
    let priority = raw.priority.filter(|priority| (0.0..=1.0).contains(priority));
    let (url, _) = page_url(&raw.url().unwrap_or_default())?;
    Ok(UrlRecord { url, is_sitemap: false, status, fetched_at, lastmod, priority })
}
