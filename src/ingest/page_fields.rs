//! Fields of a page as inputs name them, and the record they make. No I/O.
//!
//! Field names are those of JSON lines; those of other datasets stand beside them: Open Web Index (`plain_text`,
//! `outgoing_links`, `warc_date`), ClueWeb22 (`URL`, `Clean-Text`), Common Crawl's index (`fetch_status`,
//! `fetch_time`). Numbers may be strings of digits, and times numbers: what is meant is clear.

use std::collections::HashMap;
use std::fmt;

use prospect_index::fetch_outcome::ROBOTS;
use prospect_index::limits;
use prospect_index::page::{Outlink, PageRecord};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use url::Url;

use super::BadReason;
use super::record::{Bad, Cuts, Links, Spelling, is_web, page_url};

/// A record with what was cut of it.
pub(super) type Parsed = (PageRecord, Vec<(&'static str, u32)>);

/// Every field that [`PageFields`] reads.
pub(super) const NAMES: [&str; 20] = [
    "url",
    "URL",
    "title",
    "text",
    "plain_text",
    "Clean-Text",
    "outlinks",
    "outgoing_links",
    "status",
    "fetch_status",
    "error",
    "requested_url",
    "fetched_at",
    "warc_date",
    "fetch_time",
    "plan_id",
    "quality_score",
    "doc_id",
    "docno",
    "_id",
];

/// A record as it is written; everything may be missing or null.
#[derive(serde::Deserialize)]
pub(super) struct PageFields {
    url: Option<String>,
    #[serde(rename = "URL")]
    upper_url: Option<String>,
    title: Option<String>,
    text: Option<String>,
    plain_text: Option<String>,
    #[serde(rename = "Clean-Text")]
    clean_text: Option<String>,
    outlinks: Option<Vec<RawLink>>,
    outgoing_links: Option<Vec<RawLink>>,
    /// A float, since tables with gaps are often written as such (200.0).
    #[serde(default, deserialize_with = "number")]
    status: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    fetch_status: Option<f64>,
    error: Option<String>,
    requested_url: Option<String>,
    #[serde(default, deserialize_with = "time")]
    fetched_at: Option<String>,
    #[serde(default, deserialize_with = "time")]
    warc_date: Option<String>,
    #[serde(default, deserialize_with = "time")]
    fetch_time: Option<String>,
    plan_id: Option<String>,
    #[serde(default, deserialize_with = "number")]
    quality_score: Option<f64>,
    #[serde(default, deserialize_with = "id")]
    doc_id: Option<String>,
    #[serde(default, deserialize_with = "id")]
    docno: Option<String>,
    #[serde(default, rename = "_id", deserialize_with = "id")]
    id: Option<String>,
}

/// URLs of documents by the ids that a collection gives them.
pub(crate) type UrlsOfIds = HashMap<String, String>;

impl PageFields {
    /// The URL of the page: its own, or that of its id.
    fn spelled_url(&mut self, urls: Option<&UrlsOfIds>) -> Result<String, Bad> {
        let own = self.url.take().or(self.upper_url.take());
        if let Some(url) = own.filter(|url| !url.trim().is_empty()) {
            return Ok(url);
        }
        let Some(id) = self.doc_id.take().or(self.docno.take()).or(self.id.take()) else {
            return Ok(String::new());
        };
        let url = urls.and_then(|urls| urls.get(&id));
        url.cloned().ok_or_else(|| {
            let no_url = if urls.is_some() { "the map has none for its id" } else { "but the id" };
            (BadReason::MissingUrl, format!("no url, {no_url} {id:?}"))
        })
    }

    /// Whether a field is given, by any of its names.
    pub(super) fn has(&self, field: &str) -> bool {
        match field {
            "url" => self.url.is_some() || self.upper_url.is_some(),
            "title" => self.title.is_some(),
            "text" => self.text.is_some() || self.plain_text.is_some() || self.clean_text.is_some(),
            "outlinks" => self.outlinks.is_some() || self.outgoing_links.is_some(),
            "status" => self.status.is_some() || self.fetch_status.is_some(),
            "error" => self.error.is_some(),
            "requested_url" => self.requested_url.is_some(),
            "fetched_at" => {
                self.fetched_at.is_some() || self.warc_date.is_some() || self.fetch_time.is_some()
            }
            "plan_id" => self.plan_id.is_some(),
            _ => false,
        }
    }
}

/// A number, or its digits as a string.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    deserializer.deserialize_any(NumberVisitor)
}

/// A time as it is spelled; where it is a number, its digits.
pub(super) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    deserializer.deserialize_any(TimeVisitor)
}

/// An id; what is no text and no number is none.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_unit<E>(self) -> Result<Option<f64>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, number: f64) -> Result<Option<f64>, E> {
        Ok(Some(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Option<f64>, E> {
        Ok(Some(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Option<f64>, E> {
        Ok(Some(number as f64))
    }

    fn visit_str<E: Error>(self, digits: &str) -> Result<Option<f64>, E> {
        let digits = digits.trim();
        if digits.is_empty() {
            return Ok(None);
        }
        let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
        number.map(Some).ok_or_else(|| E::invalid_value(Unexpected::Str(digits), &self))
    }
}

struct TimeVisitor;

impl Visitor<'_> for TimeVisitor {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time as a string or a number")
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, seconds: f64) -> Result<Option<String>, E> {
        Ok(Some((seconds as i64).to_string()))
    }

    fn visit_i64<E>(self, seconds: i64) -> Result<Option<String>, E> {
        Ok(Some(seconds.to_string()))
    }

    fn visit_u64<E>(self, seconds: u64) -> Result<Option<String>, E> {
        Ok(Some(seconds.to_string()))
    }

    fn visit_str<E>(self, time: &str) -> Result<Option<String>, E> {
        Ok(Some(time.to_owned()))
    }
}

/// A link: an object, a URL alone, or as ClueWeb22 has it: URL, its hash, anchor, and more.
#[derive(Default)]
struct RawLink(Outlink);

impl<'de> Deserialize<'de> for RawLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinkVisitor)
    }
}

struct LinkVisitor;

impl<'de> Visitor<'de> for LinkVisitor {
    type Value = RawLink;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a link: an object with url and anchor, or a URL")
    }

    fn visit_str<E>(self, url: &str) -> Result<RawLink, E> {
        Ok(RawLink((url, "").into()))
    }

    fn visit_unit<E>(self) -> Result<RawLink, E> {
        Ok(RawLink::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawLink, A::Error> {
        #[derive(serde::Deserialize)]
        struct Object {
            url: Option<String>,
            anchor: Option<String>,
            around: Option<String>,
        }
        let Object { url, anchor, around } = Object::deserialize(MapAccessDeserializer::new(map))?;
        let [url, anchor, around] = [url, anchor, around].map(Option::unwrap_or_default);
        Ok(RawLink(Outlink { url, anchor, around }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawLink, A::Error> {
        let url = list.next_element::<Option<String>>()?.flatten();
        list.next_element::<IgnoredAny>()?;
        let anchor = list.next_element::<Option<String>>()?.flatten();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RawLink((url.unwrap_or_default(), anchor.unwrap_or_default()).into()))
    }
}

/// The record that fields make; a page without a URL may have an id, which `urls` knows.
///
/// # Errors
/// The reason to skip it, and what was found.
pub(super) fn record(mut fields: PageFields, urls: Option<&UrlsOfIds>) -> Result<Parsed, Bad> {
    let (spelled, url) = page_url(&fields.spelled_url(urls)?)?;
    let mut cuts = Cuts::default();
    let mut title = fields.title.unwrap_or_default();
    cuts.title(&mut title);
    let text = fields.text.or(fields.plain_text).or(fields.clean_text);
    let mut text = text.unwrap_or_default();
    cuts.text(&mut text);
    let mut links = Links::new(&url, &url, Spelling::AsGiven);
    for link in fields.outlinks.or(fields.outgoing_links).unwrap_or_default() {
        let RawLink(link) = link;
        if link.url.trim().is_empty() {
            cuts.add("link", 1);
        } else {
            links.push(link, &mut cuts);
        }
    }
    let (outlinks, other_schemes) = links.finish();
    cuts.add("link", other_schemes);
    let record = PageRecord {
        url: spelled,
        title,
        text,
        outlinks,
        status: status(fields.status.or(fields.fetch_status), fields.error.as_deref())?,
        requested_url: requested_url(fields.requested_url, &url, &mut cuts),
        fetched_at: fields.fetched_at.or(fields.warc_date).or(fields.fetch_time),
        plan_id: fields.plan_id,
        quality_score: fields.quality_score,
        part: false,
    };
    Ok((record, cuts.into_vec()))
}

/// The HTTP status; 0 is what some crawlers write for a fetch without an answer. An error says why there was
/// none.
pub(super) fn status(raw: Option<f64>, error: Option<&str>) -> Result<Option<u16>, Bad> {
    let error = error.filter(|error| !error.trim().is_empty());
    match raw {
        None | Some(0.0)
            if error.is_some_and(|error| error.to_ascii_lowercase().contains("robots.txt")) =>
        {
            Ok(Some(ROBOTS))
        }
        None => Ok(error.map(|_| 0)),
        Some(value) if value.fract() == 0.0 && (0.0..=999.0).contains(&value) => {
            Ok(Some(value as u16))
        }
        Some(value) => {
            Err((BadReason::InvalidRecord, format!("status {value}: expected 0 to 999")))
        }
    }
}

fn requested_url(raw: Option<String>, page: &Url, cuts: &mut Cuts) -> Option<String> {
    let raw = raw?;
    let spelled = raw.trim();
    if spelled.is_empty() {
        return None;
    }
    let resolved = page.join(spelled).ok().filter(is_web);
    match resolved {
        Some(url) if url.as_str().len() <= limits::BOUNDS.url_bytes => {
            let absolute = Url::parse(spelled).is_ok() && !spelled.contains(char::is_control);
            Some(if absolute { spelled.to_owned() } else { url.into() })
        }
        _ => {
            cuts.add("requested-url", 1);
            None
        }
    }
}
