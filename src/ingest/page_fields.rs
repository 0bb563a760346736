//! Fields of a page as inputs name them, and the record they make. No I/O.
//!
//! Field names are those of JSON lines; those of other datasets stand beside them: Open Web Index (`plain_text`,
//! `outgoing_links`, `warc_date`), ClueWeb22 (`URL`, `Clean-Text`), Common Crawl's index (`fetch_status`,
//! `fetch_time`).

use std::fmt;

use prospect_index::answer::ROBOTS;
use prospect_index::limits;
use prospect_index::page::PageRecord;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use url::Url;

use super::BadReason;
use super::record::{Bad, Cuts, Links, Spelling, is_web, page_url};

/// A record with what was cut of it.
pub(super) type Parsed = (PageRecord, Vec<(&'static str, u32)>);

/// Every field that [`PageFields`] reads.
pub(super) const NAMES: [&str; 17] = [
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
    status: Option<f64>,
    fetch_status: Option<f64>,
    error: Option<String>,
    requested_url: Option<String>,
    fetched_at: Option<String>,
    warc_date: Option<String>,
    fetch_time: Option<String>,
    plan_id: Option<String>,
    quality_score: Option<f64>,
}

/// A link: an object, a URL alone, or as ClueWeb22 has it: URL, its hash, anchor, and more.
#[derive(Default)]
struct RawLink {
    url: Option<String>,
    anchor: Option<String>,
    around: Option<String>,
}

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
        Ok(RawLink { url: Some(url.to_owned()), ..RawLink::default() })
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
        Ok(RawLink { url, anchor, around })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawLink, A::Error> {
        let url = list.next_element::<Option<String>>()?.flatten();
        list.next_element::<IgnoredAny>()?;
        let anchor = list.next_element::<Option<String>>()?.flatten();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RawLink { url, anchor, around: None })
    }
}

/// The record that fields make.
///
/// # Errors
/// The reason to skip it, and what was found.
pub(super) fn record(fields: PageFields) -> Result<Parsed, Bad> {
    let given = fields.url.or(fields.upper_url).unwrap_or_default();
    let (spelled, url) = page_url(&given)?;
    let mut cuts = Cuts::default();
    let mut title = fields.title.unwrap_or_default();
    cuts.title(&mut title);
    let text = fields.text.or(fields.plain_text).or(fields.clean_text);
    let mut text = text.unwrap_or_default();
    cuts.text(&mut text);
    let mut links = Links::new(&url, &url, Spelling::AsGiven);
    for link in fields.outlinks.or(fields.outgoing_links).unwrap_or_default() {
        let RawLink { url, anchor, around } = link;
        match url {
            Some(href) if !href.trim().is_empty() => {
                let (anchor, around) = (anchor.unwrap_or_default(), around.unwrap_or_default());
                links.push(&href, anchor, around, &mut cuts);
            }
            _ => cuts.add("link", 1),
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
        Some(url) if url.as_str().len() <= limits::URL_BYTES => {
            let absolute = Url::parse(spelled).is_ok() && !spelled.contains(char::is_control);
            Some(if absolute { spelled.to_owned() } else { url.into() })
        }
        _ => {
            cuts.add("requested-url", 1);
            None
        }
    }
}
