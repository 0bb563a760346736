//! What `nutch readdb DIR -dump` writes of a CrawlDb, as text or, with `-format csv`, as a table.
//!
//! The status is that of the last fetch; where the dump says why it failed (`_pst_`), that counts.

use prospect_index::answer::ROBOTS;

use super::super::record::page_url;
use super::{Found, LineFormat, Lines, UrlFormat, UrlRecord, not_one};

pub(super) const DUMP: UrlFormat = UrlFormat {
    name: "crawldb",
    description: "what `nutch readdb -dump` writes: URL, status, why it failed",
    has_statuses: true,
    recognises: |head| head.lines().next().is_some_and(|line| entry(line).is_some()),
    read: |reader| Lines::boxed(reader, Dump::default()),
};

pub(super) const CSV: UrlFormat = UrlFormat {
    name: "crawldb-csv",
    description: "the same with `-format csv`",
    has_statuses: true,
    recognises: |head| head.starts_with("Url,Status code,Status name,"),
    read: |reader| Lines::boxed(reader, Csv),
};

/// The URL of a line that starts an entry.
fn entry(line: &str) -> Option<&str> {
    let (url, version) = line.split_once("\tVersion: ")?;
    let is_number = version.trim().bytes().all(|byte| byte.is_ascii_digit());
    (is_number && url.contains(':')).then_some(url)
}

/// The status that a name of CrawlDb stands for; none for what was not fetched.
fn status(name: &str) -> Option<u16> {
    Some(match name {
        "db_fetched" | "db_duplicate" => 200,
        "db_notmodified" => 304,
        "db_redir_temp" => 302,
        "db_redir_perm" => 301,
        "db_gone" => 404,
        _ => return None,
    })
}

/// The status that the protocol's own word for it stands for.
fn protocol_status(name: &str) -> Option<u16> {
    Some(match name {
        "success" => 200,
        "notfound" => 404,
        "gone" => 410,
        "access_denied" => 403,
        "robots_denied" => ROBOTS,
        "moved" => 301,
        "temp_moved" => 302,
        "notmodified" => 304,
        "exception" | "failed" | "retry" | "wouldblock" | "blocked" => 0,
        _ => return None,
    })
}

/// The word before the number in `_pst_=notfound(14), lastModified=0`; as CSV there is a colon.
fn protocol(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("_pst_=").or_else(|| text.split_once("_pst_:"))?;
    protocol_status(rest.split('(').next()?)
}

#[derive(Default)]
struct Dump {
    open: Option<(u64, UrlRecord)>,
}

impl LineFormat for Dump {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        if let Some(url) = entry(line) {
            let before = self.end();
            self.open = Some((number, UrlRecord::of(url)));
            return before;
        }
        let Some((_, record)) = self.open.as_mut() else {
            return Some(not_one(number, "no entry of a CrawlDb", line));
        };
        if let Some(rest) = line.strip_prefix("Status: ") {
            let name = rest.split_once('(').map_or(rest, |(_, name)| name.trim_end_matches(')'));
            record.status = status(name);
        } else if let Some(status) = protocol(line) {
            record.status = Some(status);
        }
        None
    }

    fn end(&mut self) -> Option<Found> {
        let (number, record) = self.open.take()?;
        let found = page_url(&record.url);
        Some((number, found.map(|(url, _)| UrlRecord { url, ..record })))
    }
}

struct Csv;

impl LineFormat for Csv {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        if line.starts_with("Url,") {
            return None;
        }
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(line.as_bytes());
        let mut row = csv::StringRecord::new();
        let is_row = reader.read_record(&mut row).unwrap_or(false);
        let (Some(url), Some(name), true) = (row.get(0), row.get(2), is_row) else {
            return Some(not_one(number, "no row of a CrawlDb", line));
        };
        let metadata = row.iter().skip(3).find_map(protocol);
        let status = metadata.or_else(|| status(name));
        let found = page_url(url);
        Some((number, found.map(|(url, _)| UrlRecord { status, ..UrlRecord::of(&url) })))
    }
}
