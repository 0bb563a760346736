//! JSON lines: an object with a `url`; `status`, `fetched_at`, `lastmod` and `priority` where they are known. What
//! URLFrontier lists has its URL in `url`, or in `info.url`.

use serde::Deserialize;
use serde_json::Value;

use super::super::BadReason;
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
    info: Option<Box<Raw>>,
    status: Option<f64>,
    error: Option<Value>,
    fetched_at: Option<String>,
    lastmod: Option<String>,
    priority: Option<f64>,
}

impl LineFormat for JsonLines {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        Some((number, record(line)))
    }
}

fn record(line: &str) -> Result<UrlRecord, (BadReason, String)> {
    let raw: Raw = serde_json::from_str(line)
        .map_err(|error| (BadReason::InvalidJson, format!("{error}: {}", excerpt(line))))?;
    let url = raw.url.or(raw.info.and_then(|info| info.url)).unwrap_or_default();
    let (url, _) = page_url(&url)?;
    let status = match raw.status {
        Some(status) if (0.0..=999.0).contains(&status) => Some(status as u16),
        Some(status) => {
            return Err((BadReason::InvalidRecord, format!("{status} is no HTTP status")));
        }
        None => raw.error.filter(|error| !error.is_null()).map(|_| 0),
    };
    let Raw { fetched_at, lastmod, priority, .. } = raw;
    Ok(UrlRecord { url, status, fetched_at, lastmod, priority })
}
