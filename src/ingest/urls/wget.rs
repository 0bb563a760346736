//! The log of wget (`-o FILE`, neither `-q` nor `-nv`): a line with time and URL for each request, then what came
//! of it, with `-S` as the server's own lines. It tells of what an archive has no record of: dropped connections, names that are not found.

use super::super::record::page_url;
use super::{Found, LineFormat, Lines, UrlFormat, UrlRecord};

pub(super) const FORMAT: UrlFormat = UrlFormat {
    name: "wget",
    description: "the log that wget writes with -o, with dropped connections and names that are not found",
    has_statuses: true,
    recognises: |head| head.lines().take(20).any(|line| request(line).is_some()),
    read: |reader| Lines::boxed(reader, Log::default()),
};

#[derive(Default)]
struct Log {
    /// The request whose answer is read, with its line.
    open: Option<(u64, UrlRecord)>,
}

/// Time and URL of a line that starts a request.
fn request(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_prefix("--")?;
    let (time, rest) = rest.split_once("--  ")?;
    let (day, clock) = time.split_once(' ')?;
    if day.len() != 10 || clock.len() != 8 {
        return None;
    }
    // A second try says so before the URL.
    let url = rest.rsplit("  ").next()?;
    url.starts_with("http").then(|| (format!("{day}T{clock}"), url))
}

/// The status in a line such as `HTTP request sent, awaiting response... 503 Busy`, or `  HTTP/1.1 503 Busy`.
fn answered(line: &str) -> Option<u16> {
    let status_line = line.trim_start().strip_prefix("HTTP/").and_then(|rest| rest.split_once(' '));
    let said = || line.rsplit_once("... ").or_else(|| line.rsplit_once("… "));
    let (_, after) = status_line.or_else(said)?;
    let code = after.split(' ').next()?;
    let is_status = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
    if is_status { code.parse().ok() } else { None }
}

impl LineFormat for Log {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        if let Some((time, url)) = request(line) {
            let before = self.end();
            // What is not answered below had no answer.
            let record =
                UrlRecord { fetched_at: Some(time), status: Some(0), ..UrlRecord::of(url) };
            self.open = Some((number, record));
            return before;
        }
        let (_, record) = self.open.as_mut()?;
        if let Some(status) = answered(line) {
            record.status = Some(status);
        } else if ["Connection closed at byte ", "Read error at byte "]
            .iter()
            .any(|what| line.contains(what))
        {
            // A body that breaks off.
            record.status = Some(0);
        }
        None
    }

    fn end(&mut self) -> Option<Found> {
        let (number, record) = self.open.take()?;
        let found = page_url(&record.url);
        Some((number, found.map(|(url, _)| UrlRecord { url, ..record })))
    }
}
