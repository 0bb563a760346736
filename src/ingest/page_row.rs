//! Pages as rows of files of documents, which `page_fields` reads again: URL, title, text, links, status and time,
//! by the names that the Open Web Index has for them. No I/O.

use std::collections::HashSet;

use prospect_index::fetch_outcome::{FetchOutcome, NO_ANSWER};
use prospect_index::page::PageRecord;
use serde::Serialize;

/// The columns of a row. Anchors have no place in `outgoing_links`; `outlinks` has them.
#[derive(Serialize)]
struct Row<'a> {
    url: &'a str,
    requested_url: Option<&'a str>,
    title: &'a str,
    plain_text: &'a str,
    outgoing_links: Vec<&'a str>,
    outlinks: Vec<Link<'a>>,
    status: Option<u16>,
    warc_date: Option<&'a str>,
}

#[derive(Serialize)]
struct Link<'a> {
    url: &'a str,
    anchor: &'a str,
}

/// The row of a fetched page with a text, as a JSON object.
///
/// # Errors
/// Why there is none, by a stable name, and what there is.
pub(crate) fn row(page: &PageRecord) -> Result<String, (&'static str, String)> {
    let answer = page.status.map_or(FetchOutcome::Page, |status| match status {
        0 => FetchOutcome::from(NO_ANSWER),
        status => FetchOutcome::from(status),
    });
    let reason = match answer {
        FetchOutcome::Page if page.title.is_empty() && page.text.trim().is_empty() => "no-text",
        FetchOutcome::Page => return json(page),
        FetchOutcome::Unchanged => "unchanged",
        FetchOutcome::Moved => "moved",
        FetchOutcome::Failed(_) => "failed",
    };
    let status = page.status.map_or(String::new(), |status| format!(" (status {status})"));
    Err((reason, format!("{}{status}", page.url)))
}

fn json(page: &PageRecord) -> Result<String, (&'static str, String)> {
    let (mut seen, urls) = (HashSet::new(), page.outlinks.iter().map(|link| link.url.as_str()));
    let outgoing_links = urls.filter(|url| seen.insert(*url)).collect();
    let outlinks = page.outlinks.iter().map(|link| Link { url: &link.url, anchor: &link.anchor });
    let row = Row {
        url: &page.url,
        requested_url: page.requested_url.as_deref(),
        title: &page.title,
        plain_text: &page.text,
        outgoing_links,
        outlinks: outlinks.collect(),
        status: page.status,
        warc_date: page.fetched_at.as_deref(),
    };
    serde_json::to_string(&row).map_err(|error| ("invalid-record", error.to_string()))
}
