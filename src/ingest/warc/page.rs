//! What a WARC record says of a page.

use std::sync::Arc;

use prospect_index::fetch_outcome::FetchOutcome;
use prospect_index::limits;
use prospect_index::page::{Outlink, PageRecord};
use url::Url;

use super::fields::Fields;
use super::http::{HttpResponse, is_http, looks_like_text};
use super::records::{BLOCK_BYTES, Record, Taste};
use super::requests::method;
use super::wat;
use crate::ingest::html::extract_html;
use crate::ingest::probe::{foreign_type, skip_blank};
use crate::ingest::record::{is_page, is_web, key_of, page_url, without_fragment};
use crate::ingest::{BadReason, Origin, SourceItem, charset};

/// What was found.
pub(super) enum Found {
    /// A page, a failed fetch, or something that is no record.
    Item(SourceItem),
    /// The URL leads to another.
    Moved(Moved),
}

/// A redirect whose target may be among the pages still to come.
pub(super) struct Moved {
    /// The URL that was asked for, without fragment.
    pub(super) from: Url,
    /// Where it leads.
    pub(super) to: Url,
    /// The record to be kept if its target does not come.
    pub(super) record: PageRecord,
    /// Where it stands.
    pub(super) origin: Origin,
}

/// Of records of a crawl those tell of pages that have a response, a page of their own or a text; requests tell
/// which responses do not.
#[derive(Clone, Copy)]
pub(super) struct PageTaste;

impl Taste for PageTaste {
    fn wants(&self, fields: &Fields) -> bool {
        let kind = fields.get("warc-type").unwrap_or_default().to_ascii_lowercase();
        let tells = match kind.as_str() {
            "response" | "revisit" | "resource" | "conversion" | "request" => true,
            "metadata" => wat::is_json(fields),
            _ => false,
        };
        tells && target(fields).is_some_and(is_page)
    }

    fn wants_body(&self, head: &[u8]) -> bool {
        match HttpResponse::parse(head) {
            Some(response) => {
                let is_page = FetchOutcome::from(response.status) == FetchOutcome::Page;
                is_page && Media::of(response.fields.get("content-type")) != Media::Other
            }
            None => method(head).is_none(),
        }
    }
}

/// The URL of a record. Old versions of wget put it between brackets, as the first version of the standard had
/// it by mistake.
pub(super) fn target(fields: &Fields) -> Option<&str> {
    let uri = fields.get("warc-target-uri")?;
    Some(uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri))
}

/// How a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Media {
    Html,
    Text,
    /// Its first bytes tell.
    Unknown,
    /// It is no text that people search for.
    Other,
}

impl Media {
    fn of(content_type: Option<&str>) -> Self {
        let Some(content_type) = content_type else { return Self::Unknown };
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "" | "application/octet-stream" | "unknown/unknown" => Self::Unknown,
            "text/html" | "application/xhtml+xml" => Self::Html,
            "text/css" | "text/javascript" | "text/calendar" | "text/vcard" => Self::Other,
            kind if kind.starts_with("text/") => Self::Text,
            _ => Self::Other,
        }
    }

    /// What a document is, which may not be what its server says.
    fn of_document(self, body: &[u8]) -> Self {
        let start = skip_blank(&body[..body.len().min(1_024)]).to_ascii_lowercase();
        let is_html = start.starts_with(b"<!doctype html") || start.starts_with(b"<html");
        match self {
            Self::Other => Self::Other,
            _ if foreign_type(body).is_some() => Self::Other,
            Self::Unknown | Self::Text if is_html => Self::Html,
            Self::Unknown if seems_html(&start) => Self::Html,
            Self::Unknown if !body.is_empty() && looks_like_text(body) => Self::Text,
            Self::Unknown => Self::Other,
            known => known,
        }
    }
}

/// Elements that a document of HTML may begin with, by the standard for sniffing (MIME Sniffing, section 7.1).
const FIRST_ELEMENTS: [&[u8]; 15] = [
    b"head", b"script", b"iframe", b"h1", b"div", b"font", b"table", b"a", b"style", b"title",
    b"b", b"body", b"br", b"p", b"!--",
];

/// Whether a document without a type begins as HTML does, in lower case; or as XML that goes on as such.
fn seems_html(start: &[u8]) -> bool {
    let has = |what: &[u8]| start.windows(what.len()).any(|part| part == what);
    FIRST_ELEMENTS.iter().any(|name| is_first(start, name))
        || start.starts_with(b"<?xml") && (has(b"<!doctype html") || has(b"<html"))
}

/// Whether a document begins with an element of this name.
fn is_first(start: &[u8], name: &[u8]) -> bool {
    let rest = start.strip_prefix(b"<").and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| name == b"!--" || matches!(rest.first(), Some(b' ' | b'>')))
}

/// What a record tells; none if it is not of a page.
pub(super) fn read(record: &Record, file: &Arc<str>) -> Option<Found> {
    let fields = &record.fields;
    let origin = Origin::record(file, record.number);
    let (spelled, url) = match page_url(target(fields).filter(|uri| is_page(uri))?) {
        Ok(url) => url,
        Err((reason, detail)) => {
            return Some(Found::Item(SourceItem::Bad { reason, origin, detail }));
        }
    };
    let fetched_at = fields.get("warc-date").map(str::to_owned);
    let page = Page {
        origin,
        url,
        record: PageRecord { url: spelled, fetched_at, ..PageRecord::default() },
        cuts: Vec::new(),
    };
    match fields.get("warc-type")?.to_ascii_lowercase().as_str() {
        "response" => Some(page.response(record)),
        "revisit" => Some(page.revisit(record)),
        "metadata" if wat::is_json(fields) => page.described(&record.block),
        "resource" => Some(page.document(fields.get("content-type"), &record.block, record)),
        "conversion" => {
            let media = Media::of(fields.get("content-type"));
            let part = PageRecord { part: true, ..page.record };
            let page = Page { record: part, ..page };
            (media == Media::Text).then(|| page.document(Some("text/plain"), &record.block, record))
        }
        _ => None,
    }
}

/// A page whose record is being read.
struct Page {
    origin: Origin,
    url: Url,
    record: PageRecord,
    cuts: Vec<(&'static str, u32)>,
}

impl Page {
    fn response(mut self, record: &Record) -> Found {
        let is_message = record.fields.get("content-type").is_none_or(is_http);
        let Some(response) = HttpResponse::parse(&record.block).filter(|_| is_message) else {
            return self
                .bad(BadReason::InvalidRecord, "a response without an HTTP head".to_owned());
        };
        self.record.status = Some(response.status);
        let answer = FetchOutcome::from(response.status);
        let location = response.fields.get("location").filter(|_| answer == FetchOutcome::Moved);
        let to = location.and_then(|location| self.url.join(location).ok()).filter(is_web);
        let to = to.filter(|to| to.as_str().len() <= limits::BOUNDS.url_bytes);
        if let Some(to) = to {
            return self.moved(to);
        }
        if answer != FetchOutcome::Page {
            return self.done();
        }
        let found = self.document(response.fields.get("content-type"), &response.body(), record);
        match found {
            Found::Item(SourceItem::Page { record, origin, cuts }) => {
                heed_robots(record, origin, cuts, &response.fields)
            }
            other => other,
        }
    }

    /// A page that was fetched before, unchanged: there is no text here. One that is unchanged from another
    /// URL's is that page.
    fn revisit(mut self, record: &Record) -> Found {
        // Redirects and errors have equal bodies, too.
        let is_other = |status| {
            !matches!(FetchOutcome::from(status), FetchOutcome::Page | FetchOutcome::Unchanged)
        };
        if HttpResponse::parse(&record.block).is_some_and(|response| is_other(response.status)) {
            return self.response(record);
        }
        let other =
            record.fields.get("warc-refers-to-target-uri").map(|uri| uri.trim_matches(['<', '>']));
        if let Some(other) = other.and_then(|uri| Url::parse(uri).ok()).filter(is_web)
            && key_of(&other) != key_of(&self.url)
        {
            self.record.status = Some(301);
            return self.moved(other);
        }
        self.record.status = Some(304);
        self.done()
    }

    /// A page that a WAT file tells of; none if the record is of something else.
    fn described(mut self, block: &[u8]) -> Option<Found> {
        let described = match wat::read(block, &self.url) {
            Ok(described) => described?,
            Err(error) => return Some(self.bad(BadReason::InvalidRecord, error.to_string())),
        };
        let wat::Described { record, location, cuts } = described;
        let url = std::mem::take(&mut self.record.url);
        let fetched_at = record.fetched_at.or_else(|| self.record.fetched_at.take());
        self.record = PageRecord { url, fetched_at, ..record };
        self.cuts = cuts;
        let status = self.record.status.unwrap_or_default();
        let to = location.filter(|_| FetchOutcome::from(status) == FetchOutcome::Moved);
        let to = to.and_then(|to| self.url.join(&to).ok()).filter(is_web);
        Some(match to.filter(|to| to.as_str().len() <= limits::BOUNDS.url_bytes) {
            Some(to) => self.moved(to),
            None => self.done(),
        })
    }

    fn document(mut self, content_type: Option<&str>, body: &[u8], record: &Record) -> Found {
        let is_cut = record.block.len() >= BLOCK_BYTES || body.len() >= limits::BOUNDS.html_bytes;
        self.note("html", is_cut);
        self.note("truncated", record.fields.get("warc-truncated").is_some());
        self.note("record-length", record.wrong_length);
        let said = content_type.and_then(charset::of_content_type);
        match Media::of(content_type).of_document(body) {
            Media::Html => match extract_html(body, &self.url, said) {
                Ok(page) => {
                    let (mut found, cuts) = page.into_record(&self.url);
                    found.status = self.record.status;
                    found.fetched_at = self.record.fetched_at.take();
                    if found.requested_url.is_none() {
                        found.url = std::mem::take(&mut self.record.url);
                    }
                    self.record = found;
                    self.cuts.extend(cuts);
                }
                Err(error) => return self.bad(BadReason::HtmlTooComplex, error.to_string()),
            },
            Media::Text => {
                let (text, _) = charset::to_utf8(body, said, &self.url);
                self.record.text = String::from_utf8_lossy(&text).into_owned();
                let is_long = limits::cut_bytes(&mut self.record.text, limits::BOUNDS.text_bytes);
                self.note("text", is_long);
            }
            Media::Unknown | Media::Other => {}
        }
        self.done()
    }

    fn note(&mut self, name: &'static str, holds: bool) {
        if holds {
            self.cuts.push((name, 1));
        }
    }

    fn moved(mut self, to: Url) -> Found {
        if key_of(&to) == key_of(&self.url) {
            // To itself, with a cookie: what it shows comes with the next record.
            return self.done();
        }
        let url = without_fragment(to.clone());
        self.record.outlinks.push(Outlink::from((url, "")));
        Found::Moved(Moved { from: self.url, to, record: self.record, origin: self.origin })
    }

    fn done(self) -> Found {
        let Self { record, origin, cuts, .. } = self;
        Found::Item(SourceItem::Page { record, origin, cuts })
    }

    fn bad(self, reason: BadReason, detail: String) -> Found {
        Found::Item(SourceItem::Bad { reason, origin: self.origin, detail })
    }
}

/// Whether a value of `X-Robots-Tag` starts with the name of a robot.
fn is_for_one_robot(value: &str) -> bool {
    const RULES: [&str; 4] =
        ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];
    value.split_once(':').is_some_and(|(name, _)| {
        let name = name.trim().to_ascii_lowercase();
        !name.contains(',') && !RULES.contains(&name.as_str())
    })
}

/// Does what the field `X-Robots-Tag` asks of everybody, as the element of the page does.
fn heed_robots(
    mut record: PageRecord,
    origin: Origin,
    mut cuts: Vec<(&'static str, u32)>,
    fields: &Fields,
) -> Found {
    let values = fields.named("x-robots-tag").filter(|value| !is_for_one_robot(value));
    let words: Vec<String> = values
        .flat_map(|value| value.split(','))
        .map(|word| word.trim().to_ascii_lowercase())
        .collect();
    let asks = |rule: &str| words.iter().any(|word| word == rule || word == "none");
    if asks("noindex") && !(record.text.is_empty() && record.title.is_empty()) {
        record.title.clear();
        record.text.clear();
        cuts.push(("noindex", 1));
    }
    if asks("nofollow") && !record.outlinks.is_empty() {
        cuts.push(("nofollow", record.outlinks.len() as u32));
        record.outlinks.clear();
    }
    Found::Item(SourceItem::Page { record, origin, cuts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_type_is_told_by_how_it_begins() {
        let html = [
            "<!-- a --><p>Bread</p>",
            " \n<HEAD><title>T</title>",
            "<title>T</title>",
            "<body class=\"x\">Bread",
            "<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC><html><p>Bread",
            "<!doctype HTML><p>Bread",
            "<p>Bread",
        ];
        for document in html {
            let found = Media::Unknown.of_document(document.as_bytes());
            assert_eq!(found, Media::Html, "{document}");
        }
        for document in [
            "Bread <p> and butter",
            "<bread>of rye</bread>",
            "<beta",
            "<?xml version=\"1.0\"?><rss/>",
        ] {
            let found = Media::Unknown.of_document(document.as_bytes());
            assert_ne!(found, Media::Html, "{document}");
        }
        // Its server says that it is text.
        assert_eq!(Media::Text.of_document(b"<p>Bread"), Media::Text);
    }
}
