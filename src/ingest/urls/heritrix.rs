//! `crawl.log` of Heritrix 3: time, status, size, URI, the path that led there, and more, parted by spaces.
//!
//! A status below 0 is of Heritrix: no answer, or what it decided itself. What it never tried (0, out of its scope or
//! quota) is left out.

use prospect_index::fetch_outcome::ROBOTS;

use super::super::record::page_url;
use super::{Found, LineFormat, Lines, UrlFormat, UrlRecord, not_one};

pub(super) const FORMAT: UrlFormat = UrlFormat {
    name: "heritrix",
    description: "crawl.log of Heritrix 3: time, status, URI; its own statuses as what they mean",
    has_statuses: true,
    recognises: |head| head.lines().next().is_some_and(|line| fields(line).is_some()),
    read: |reader| Lines::boxed(reader, CrawlLog),
};

struct CrawlLog;

/// Time, status and URI.
fn fields(line: &str) -> Option<(&str, i32, &str)> {
    let mut words = line.split_whitespace();
    let (time, status, size, uri) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_time = time.len() >= "2026-11-23T10:00:00Z".len()
        && time.ends_with('Z')
        && time.as_bytes().get(10) == Some(&b'T');
    let is_size = size == "-" || size.bytes().all(|byte| byte.is_ascii_digit());
    (is_time && is_size && uri.contains(':')).then_some((time, status.parse().ok()?, uri))
}

/// The status as Prospect has it; none for what was not tried.
fn status(code: i32) -> Option<u16> {
    match code {
        -9998 => Some(ROBOTS),
        // DNS, connections, time-outs, retries in vain, empty responses, and what they stood in the way of.
        -8..=-1 | -63..=-60 | -404 => Some(0),
        code => u16::try_from(code).ok().filter(|code| (100..=999).contains(code)),
    }
}

impl LineFormat for CrawlLog {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        let Some((time, code, uri)) = fields(line) else {
            return Some(not_one(number, "no time, status, size and URI", line));
        };
        // Lookups of names, and files that were not asked for.
        if !uri.starts_with("http:") && !uri.starts_with("https:") {
            return None;
        }
        let status = Some(status(code)?);
        let fetched_at = Some(time.to_owned());
        let found = page_url(uri);
        let record = found.map(|(url, _)| UrlRecord { status, fetched_at, ..UrlRecord::of(&url) });
        Some((number, record))
    }
}
