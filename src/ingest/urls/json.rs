//! JSON lines: an object with a `url`; `status`, `fetched_at`, `lastmod` and `priority` where they are known. What
//! URLFrontier lists has its URL in `info.url`, and a dump of it that in `known` or `discovered`.

use serde::Deserialize;
use serde_json::Value;

use super::super::BadReason;
use super::super::page_fields::status;
use super::super::record::{excerpt, page_url};
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
    /// A number, or its digits.
    status: Option<Value>,
    error: Option<String>,
    fetched_at: Option<String>,
    lastmod: Option<String>,
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

fn record(line: &str) -> Result<UrlRecord, (BadReason, String)> {
    let raw: Raw = serde_json::from_str(line)
        .map_err(|error| (BadReason::InvalidJson, format!("{error}: {}", excerpt(line))))?;
    let number = match &raw.status {
        Some(Value::String(digits)) => digits.trim().parse().ok(),
        other => other.as_ref().and_then(Value::as_f64),
    };
    let status = status(number, raw.error.as_deref())?;
    let (fetched_at, lastmod, priority) =
        (raw.fetched_at.clone(), raw.lastmod.clone(), raw.priority);
    let (url, _) = page_url(&raw.url().unwrap_or_default())?;
    Ok(UrlRecord { url, is_sitemap: false, status, fetched_at, lastmod, priority })
}
