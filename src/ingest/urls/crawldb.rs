//! What `nutch readdb DIR -dump` writes of a CrawlDb, as text or, with `-format csv`, as a table.
//!
//! The status is that of the last fetch; where the dump says why it failed (`_pst_`), that counts. When that was it says
//! only by the time of the next one, which is a day later after a failure that may pass, else the interval of the entry: so
//! entries that are as they were in the dump before are known again.

use prospect_index::fetch_outcome::ROBOTS;
use prospect_index::fetch_time;

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

/// The name of what was not fetched yet, or failed and is to be tried again.
const UNFETCHED: &str = "db_unfetched";

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

/// Seconds from a failure that may pass to the next try.
const RETRY: i64 = 86_400;

/// When an entry was fetched last, in seconds since 1970: by when it is to be fetched next, as Java prints times
/// (`Sat Nov 28 02:09:37 UTC 2026`; other zones are taken for UTC), and the seconds between two fetches. None if either is
/// something else.
fn fetched_at(next: &str, is_retry: bool, interval: Option<i64>) -> Option<String> {
    let fields: Vec<&str> = next.split_whitespace().collect();
    let [week_day, month, day, clock, _, year] = fields[..] else { return None };
    let next = fetch_time::seconds(&format!("{week_day}, {day} {month} {year} {clock} GMT"))?;
    let between = if is_retry { RETRY } else { interval? };
    Some((next - between).to_string())
}

/// The number that a text begins with.
fn leading_number(text: &str) -> Option<i64> {
    text.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The HTTP status that an entry tells, where it says that the fetch failed and no more: Nutch calls answers such as 403 and 503
/// exceptions, too. Of an earlier fetch that gave a page it may be still there.
fn http_status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once("nutch.protocol.code")?;
    let code = rest.strip_prefix(['=', ':'])?.get(..3)?.parse().ok()?;
    (400..600).contains(&code).then_some(code)
}

#[derive(Default)]
struct Dump {
    open: Option<(u64, UrlRecord)>,
    /// Of that entry: when it is to be fetched next, whether after a failure that may pass, and how often it is fetched.
    next: String,
    is_retry: bool,
    interval: Option<i64>,
    http_status: Option<u16>,
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
            self.is_retry = name == UNFETCHED;
        } else if let Some(time) = line.strip_prefix("Fetch time: ") {
            time.clone_into(&mut self.next);
        } else if let Some(interval) = line.strip_prefix("Retry interval: ") {
            self.interval = leading_number(interval);
        } else if let Some(status) = protocol(line) {
            record.status = Some(status);
        }
        self.http_status = self.http_status.or_else(|| http_status(line));
        None
    }

    fn end(&mut self) -> Option<Found> {
        let (number, record) = self.open.take()?;
        let fetched_at = fetched_at(&self.next, self.is_retry, self.interval);
        let status = record.status.map(|status| known_better(status, self.http_status));
        *self = Self::default();
        let found = page_url(&record.url);
        Some((number, found.map(|(url, _)| UrlRecord { url, status, fetched_at, ..record })))
    }
}

/// A status, or the one of HTTP where it says only that something failed.
fn known_better(status: u16, http_status: Option<u16>) -> u16 {
    if status == 0 { http_status.unwrap_or(0) } else { status }
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
        let http_status = row.iter().skip(3).find_map(http_status);
        let status = metadata.or_else(|| status(name));
        let status = status.map(|status| known_better(status, http_status));
        let interval = row.get(6).and_then(leading_number);
        let fetched_at = fetched_at(row.get(3).unwrap_or_default(), name == UNFETCHED, interval);
        let found = page_url(url);
        Some((
            number,
            found.map(|(url, _)| UrlRecord { status, fetched_at, ..UrlRecord::of(&url) }),
        ))
    }
}
