//! One line of JSON to one page record. No I/O.

use prospect_index::answer::ROBOTS;
use prospect_index::limits;
use prospect_index::page::PageRecord;
use serde::Deserialize;
use serde_json::error::Category;
use url::Url;

use crate::ingest::BadReason;
use crate::ingest::record::{Bad, Cuts, Links, Spelling, excerpt, is_web, page_url};

type Parsed = (PageRecord, Vec<(&'static str, u32)>);

/// A record as it is written; everything may be missing or null.
#[derive(Deserialize)]
struct RawRecord {
    url: Option<String>,
    title: Option<String>,
    text: Option<String>,
    outlinks: Option<Vec<RawLink>>,
    /// A float, since tables with gaps are often written as such (200.0).
    status: Option<f64>,
    error: Option<String>,
    requested_url: Option<String>,
    fetched_at: Option<String>,
    plan_id: Option<String>,
    quality_score: Option<f64>,
}

#[derive(Deserialize)]
struct RawLink {
    url: Option<String>,
    anchor: Option<String>,
    around: Option<String>,
}

/// Parses a line that is not empty.
///
/// # Errors
/// The reason to skip it, and what was found.
pub(super) fn record(line: &[u8]) -> Result<Parsed, Bad> {
    let line = std::str::from_utf8(line).map_err(|error| {
        (BadReason::InvalidUtf8, format!("no UTF-8 at byte {} of the line", error.valid_up_to()))
    })?;
    let raw = parse_json(line)?;
    let (spelled, url) = page_url(raw.url.as_deref().unwrap_or_default())?;
    let mut cuts = Cuts::default();
    let mut title = raw.title.unwrap_or_default();
    cuts.title(&mut title);
    let mut text = raw.text.unwrap_or_default();
    cuts.text(&mut text);
    let mut links = Links::new(&url, &url, Spelling::AsGiven);
    for link in raw.outlinks.unwrap_or_default() {
        match link.url {
            Some(href) if !href.trim().is_empty() => {
                let anchor = link.anchor.unwrap_or_default();
                links.push(&href, anchor, link.around.unwrap_or_default(), &mut cuts);
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
        status: status(raw.status, raw.error.as_deref())?,
        requested_url: requested_url(raw.requested_url, &url, &mut cuts),
        fetched_at: raw.fetched_at,
        plan_id: raw.plan_id,
        quality_score: raw.quality_score,
    };
    Ok((record, cuts.into_vec()))
}

fn parse_json(line: &str) -> Result<RawRecord, Bad> {
    // serde would also take an array for a struct.
    if !line.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => (BadReason::NotAPage, format!("not an object: {}", excerpt(line))),
            Err(error) => {
                let detail = format!("{}: {}", without_line_number(&error), excerpt(line));
                (BadReason::InvalidJson, detail)
            }
        });
    }
    serde_json::from_str(line).map_err(|error| {
        let reason = match error.classify() {
            Category::Data => BadReason::InvalidRecord,
            Category::Io | Category::Syntax | Category::Eof => BadReason::InvalidJson,
        };
        (reason, without_line_number(&error))
    })
}

/// serde's message; its "line 1" would be taken for the line of the file.
fn without_line_number(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// The HTTP status; 0 is what some crawlers write for a fetch without an answer. An error says why there was
/// none.
fn status(raw: Option<f64>, error: Option<&str>) -> Result<Option<u16>, Bad> {
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
