//! WAT: what an archive's records say, as JSON (ia-web-commons, Common Crawl): status, title and links of each
//! response. The text is in the WET file beside it ([`Texts`]).

use std::collections::{HashSet, VecDeque};

use prospect_index::page::PageRecord;
use serde::Deserialize;
use serde_json::Value;
use url::Url;
use xxhash_rust::xxh3::xxh3_128;

use super::fields::Fields;
use crate::ingest::record::{Cuts, Links, Spelling};
use crate::ingest::{BadReason, SourceItem};

/// Most texts that are held while their page is looked for.
const HELD: usize = 64;
/// A text whose page is not among so many is one of no page.
const PASSED: u64 = 256;

/// What is read of the JSON of a record.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Wat {
    envelope: Envelope,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "WARC-Header-Metadata")]
    header: Header,
    #[serde(rename = "Payload-Metadata")]
    payload: Payload,
}

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "WARC-Type")]
    kind: String,
    #[serde(rename = "WARC-Date")]
    date: Option<String>,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "HTTP-Response-Metadata")]
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(rename = "Response-Message")]
    message: Message,
    #[serde(rename = "Headers", default)]
    headers: serde_json::Map<String, Value>,
    #[serde(rename = "HTML-Metadata")]
    html: Option<Html>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(rename = "Status")]
    status: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Html {
    #[serde(default)]
    head: Head,
    #[serde(default)]
    links: Vec<Link>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Head {
    title: Option<String>,
    base: Option<String>,
    #[serde(default)]
    metas: Vec<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    name: Option<String>,
    content: Option<String>,
}

#[derive(Deserialize)]
struct Link {
    path: Option<String>,
    url: Option<String>,
    text: Option<String>,
    rel: Option<String>,
}

/// A response that a WAT record tells of.
pub(super) struct Described {
    /// Status, title and links; the URL is for the caller to fill in.
    pub(super) record: PageRecord,
    /// Where it leads, if it is a redirect.
    pub(super) location: Option<String>,
    /// What was cut.
    pub(super) cuts: Vec<(&'static str, u32)>,
}

/// Whether a metadata record may be one of WAT.
pub(super) fn is_json(fields: &Fields) -> bool {
    fields.get("content-type").is_some_and(|kind| kind.trim().starts_with("application/json"))
}

/// What a block says of the page at `url`; none if it is of no response.
///
/// # Errors
/// It is no JSON.
pub(super) fn read(block: &[u8], url: &Url) -> Result<Option<Described>, serde_json::Error> {
    match serde_json::from_slice(block) {
        Ok(Wat { envelope }) => Ok(describe(envelope, url)),
        // JSON that says something else.
        Err(error) if error.is_data() => Ok(None),
        Err(error) => Err(error),
    }
}

fn describe(envelope: Envelope, url: &Url) -> Option<Described> {
    let response = envelope.payload.response.filter(|_| {
        ["response", "revisit"].iter().any(|kind| envelope.header.kind.eq_ignore_ascii_case(kind))
    })?;
    let status = match &response.message.status {
        Value::String(digits) => digits.trim().parse().ok(),
        other => other.as_u64().and_then(|status| u16::try_from(status).ok()),
    };
    let is_revisit = envelope.header.kind.eq_ignore_ascii_case("revisit");
    let mut cuts = Cuts::default();
    let mut record = PageRecord {
        status: if is_revisit && status == Some(200) { Some(304) } else { status },
        fetched_at: envelope.header.date,
        part: true,
        ..PageRecord::default()
    };
    let html = response.html.unwrap_or(Html { head: Head::default(), links: Vec::new() });
    let by_head =
        response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("x-robots-tag"));
    let by_head = by_head.and_then(|(_, value)| value.as_str()).unwrap_or_default();
    let asks =
        |rule: &str| lists(by_head, rule) || html.head.metas.iter().any(|meta| meta.asks(rule));
    if asks("noindex") {
        cuts.add("noindex", 1);
    } else {
        record.title = html.head.title.clone().unwrap_or_default();
        cuts.title(&mut record.title);
    }
    let base = html.head.base.as_deref().and_then(|base| url.join(base).ok());
    let mut links = Links::new(url, base.as_ref().unwrap_or(url), Spelling::Parsed);
    let all_nofollow = asks("nofollow");
    for Link { path, url, text, rel } in html.links {
        let path = path.unwrap_or_default();
        let element = path.split('@').next().unwrap_or_default();
        let Some(href) = url.filter(|_| matches!(element, "A" | "AREA" | "IFRAME" | "FRAME"))
        else {
            continue;
        };
        let rel = rel.unwrap_or_default();
        if all_nofollow
            || rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("nofollow"))
        {
            cuts.add("nofollow", 1);
            continue;
        }
        links.push((href, text.unwrap_or_default()).into(), &mut cuts);
    }
    (record.outlinks, _) = links.finish();
    let location = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let location = location.and_then(|(_, value)| value.as_str()).map(str::to_owned);
    Some(Described { record, location, cuts: cuts.into_vec() })
}

impl Meta {
    /// Whether it asks all robots for this.
    fn asks(&self, rule: &str) -> bool {
        let is_robots =
            self.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("robots"));
        is_robots && lists(self.content.as_deref().unwrap_or_default(), rule)
    }
}

/// Whether a list of rules for robots has this one.
fn lists(rules: &str, rule: &str) -> bool {
    let mut words = rules.split(',').map(str::trim);
    words.any(|word| [rule, "none"].iter().any(|asked| word.eq_ignore_ascii_case(asked)))
}

/// What the records of an archive are known by in the files made of it.
pub(super) fn key(fields: &Fields) -> String {
    let key = fields.get("warc-refers-to").or_else(|| fields.get("warc-target-uri"));
    key.unwrap_or_default().to_owned()
}

/// A text that would take the place of its page, which was given before it.
fn too_late(item: SourceItem) -> SourceItem {
    match item {
        SourceItem::Page { origin, record, .. } => SourceItem::Bad {
            reason: BadReason::InvalidRecord,
            origin,
            detail: format!("{}: its page came long before it in the WAT file", record.url),
        },
        other => other,
    }
}

/// Texts of the WET file beside a WAT file. Both have one order, and not every page has a text.
#[derive(Default)]
pub(super) struct Texts {
    /// Texts whose page was not met yet: what it is known by, and how many pages were met before.
    held: VecDeque<(String, SourceItem, u64)>,
    passed: Vec<SourceItem>,
    /// Pages that were given without a text, by hash of what they are known by.
    without: HashSet<u128>,
    pages: u64,
    ended: bool,
}

impl Texts {
    /// Gives a page its text, if that is among the next texts; `next` reads one with its key.
    pub(super) fn join<E>(
        &mut self,
        key: &str,
        page: &mut PageRecord,
        mut next: impl FnMut() -> Result<Option<(String, SourceItem)>, E>,
    ) -> Result<(), E> {
        self.pages += 1;
        while self.held.front().is_some_and(|(.., since)| self.pages - since > PASSED) {
            self.passed.extend(self.held.pop_front().map(|(_, item, _)| item));
        }
        let mut at = 0;
        loop {
            if at == self.held.len() {
                if self.ended || at == HELD {
                    self.without.insert(xxh3_128(key.as_bytes()));
                    return Ok(());
                }
                let Some((key, item)) = next()? else {
                    self.ended = true;
                    continue;
                };
                if self.without.remove(&xxh3_128(key.as_bytes())) {
                    self.passed.push(too_late(item));
                    continue;
                }
                self.held.push_back((key, item, self.pages));
            }
            if self.held[at].0 == key {
                break;
            }
            at += 1;
        }
        if let Some((_, SourceItem::Page { record, .. }, _)) = self.held.remove(at) {
            (page.text, page.part) = (record.text, false);
        }
        Ok(())
    }

    /// Texts whose page was not met for so long that it will not be.
    pub(super) fn passed(&mut self) -> Vec<SourceItem> {
        std::mem::take(&mut self.passed)
    }

    /// All that are left.
    pub(super) fn rest(self) -> Vec<SourceItem> {
        let held = self.held.into_iter().map(|(_, item, _)| item);
        self.passed.into_iter().chain(held).collect()
    }
}
