//! CDXJ, the index of archives (Common Crawl, pywb, OpenWayback): a sort key, fourteen digits of a time, and a JSON
//! object with `url` and `status`.

use serde::Deserialize;
use serde_json::Value;

use super::super::BadReason;
use super::super::record::page_url;
use super::{Found, LineFormat, Lines, UrlFormat, UrlRecord, not_one};

pub(super) const FORMAT: UrlFormat = UrlFormat {
    name: "cdxj",
    description: "CDXJ indexes of archives: url, time, status",
    has_statuses: true,
    recognises: |head| head.lines().take(20).any(|line| parts(line).is_some()),
    read: |reader| Lines::boxed(reader, Cdxj),
};

struct Cdxj;

#[derive(Deserialize)]
struct Capture {
    #[serde(alias = "uri")]
    url: String,
    /// A string of digits, or a number.
    #[serde(alias = "hsc")]
    status: Option<Value>,
    mime: Option<String>,
    method: Option<String>,
}

/// Time and object of a line.
fn parts(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once(' ')?;
    let (time, object) = rest.trim_start().split_once(' ')?;
    let is_short = time.len() == 14 && time.bytes().all(|byte| byte.is_ascii_digit());
    let is_long = time.len() >= 20 && time.as_bytes()[10] == b'T' && time.ends_with('Z');
    // OpenWayback names the type of the record before the object.
    let at = object.find('{').filter(|at| !object[..*at].trim_end().contains(' '))?;
    (is_short || is_long).then(|| (time, &object[at..]))
}

impl LineFormat for Cdxj {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        if line.starts_with('!') {
            return None;
        }
        let Some((time, object)) = parts(line) else {
            return Some(not_one(number, "no key, time and object", line));
        };
        let Ok(Capture { url, status, mime, method }) = serde_json::from_str(object) else {
            return Some(not_one(number, "no object of a capture", object));
        };
        // pywb puts what was posted into the key, behind the method.
        let key = line.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        if method.is_some_and(|method| method != "GET") || key.contains("__wb_method=") {
            return Some((number, Err((BadReason::NotGet, url))));
        }
        let status = match status {
            Some(Value::String(digits)) => digits.parse().ok(),
            Some(Value::Number(number)) => {
                number.as_u64().and_then(|number| number.try_into().ok())
            }
            _ => None,
        };
        // A revisit says no status, or that of the page: it was there, and what it was.
        let is_revisit = mime.as_deref() == Some("warc/revisit")
            && status.is_none_or(|status: u16| (200..300).contains(&status));
        let status = if is_revisit { Some(304) } else { status };
        let fetched_at = Some(time.to_owned());
        let found = page_url(&url);
        let record = found.map(|(url, _)| UrlRecord { status, fetched_at, ..UrlRecord::of(&url) });
        Some((number, record))
    }
}
