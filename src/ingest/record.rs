//! What every format shares when it builds a record: counted cuts, and the links of a page.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use encoding_rs::{Encoding, UTF_8};
use prospect_index::limits;
use prospect_index::page::Outlink;
use serde_json::error::Category;
use url::{ParseError, Url};
use xxhash_rust::xxh3::xxh3_128;

use super::BadReason;

/// Why something is no usable record, and what was found.
pub(super) type Bad = (BadReason, String);

/// Counts, by name, of what was cut from one record; in order of first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cuts(Vec<(&'static str, u32)>);

impl Cuts {
    pub(super) fn add(&mut self, name: &'static str, count: u32) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, total)) => *total = total.saturating_add(count),
            None => self.0.push((name, count)),
        }
    }

    /// Brings a title within its cap.
    pub(super) fn title(&mut self, title: &mut String) {
        self.add("title", u32::from(limits::cut_bytes(title, limits::BOUNDS.title_bytes)));
    }

    /// Brings a text within its cap.
    pub(super) fn text(&mut self, text: &mut String) {
        self.add("text", u32::from(limits::cut_bytes(text, limits::BOUNDS.text_bytes)));
    }

    pub(super) fn into_vec(self) -> Vec<(&'static str, u32)> {
        self.0
    }
}

/// Whether a crawler could fetch it.
pub(super) fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

/// Spellings of links of one page that are resolved. Each costs the length of the base, which may be long.
const SPELLINGS: usize = 16 * limits::BOUNDS.outlinks_per_page;

/// How the URL of a kept link is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As in the input, where it is absolute.
    AsGiven,
    /// As the URL parser writes it.
    Parsed,
}

#[derive(Clone, Copy)]
enum Target {
    /// Position in `Links::urls`.
    Kept(usize),
    OverCap,
    TooLong,
    Unreadable,
    OtherScheme,
}

/// Collects the outlinks of one page: absolute, http(s), without fragments, at most
/// [`limits::Bounds::outlinks_per_page`] different targets other than the page itself.
///
/// Repeated targets are kept as long as their anchors differ, since anchors of duplicates are
/// evidence; they have a cap of their own, [`limits::Bounds::repeated_links`].
pub(super) struct Links<'a> {
    base: &'a Url,
    spelling: Spelling,
    /// What queries of links are written in.
    encoding: &'static Encoding,
    /// What became of each spelling seen, fragments removed, keyed by its hash.
    resolved: HashMap<u128, Target>,
    /// URLs of links, and whether none was kept yet that leads there, however it is spelled.
    urls: Vec<(String, bool)>,
    /// How many different targets were kept, the page itself left out.
    distinct: HashSet<u128>,
    /// Links kept beside the first to each target.
    repeated: usize,
    pairs: HashSet<u128>,
    page: u128,
    outlinks: Vec<Outlink>,
    other_schemes: u32,
}

impl<'a> Links<'a> {
    /// Links of the page at `page`, relative to `base`.
    pub(super) fn new(page: &Url, base: &'a Url, spelling: Spelling) -> Self {
        Self {
            base,
            spelling,
            encoding: UTF_8,
            resolved: HashMap::new(),
            urls: Vec::new(),
            distinct: HashSet::new(),
            repeated: 0,
            pairs: HashSet::new(),
            page: key_of(page),
            outlinks: Vec::new(),
            other_schemes: 0,
        }
    }

    /// The same links, of a page in this encoding.
    #[must_use]
    pub(super) fn of_page_in(self, encoding: &'static Encoding) -> Self {
        Self { encoding, ..self }
    }

    /// Adds a link whose URL may be relative; what is dropped is counted in `cuts`.
    pub(super) fn push(&mut self, mut link: Outlink, cuts: &mut Cuts) {
        let href = link.url.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
        let href = href.split_once('#').map_or(href, |(before, _)| before);
        let key = xxh3_128(href.as_bytes());
        let target = if let Some(&known) = self.resolved.get(&key) {
            known
        } else if self.resolved.len() == SPELLINGS {
            Target::OverCap
        } else {
            let target = self.resolve(href);
            self.resolved.insert(key, target);
            target
        };
        match target {
            Target::Kept(at) => {
                let Outlink { anchor, around, .. } = &mut link;
                let texts = [
                    ("anchor", anchor, limits::BOUNDS.anchor_chars),
                    ("around", around, limits::BOUNDS.around_chars),
                ];
                for (name, text, most) in texts {
                    cuts.add(name, u32::from(limits::cut_chars(text, most)));
                }
                self.keep(at, link, cuts);
            }
            Target::OverCap => cuts.add("outlinks", 1),
            Target::TooLong => cuts.add("url", 1),
            Target::Unreadable => cuts.add("link", 1),
            Target::OtherScheme => self.other_schemes += 1,
        }
    }

    fn keep(&mut self, at: usize, link: Outlink, cuts: &mut Cuts) {
        let mut pair = (at as u64).to_le_bytes().to_vec();
        pair.extend_from_slice(link.anchor.as_bytes());
        let pair = xxh3_128(&pair);
        if self.pairs.contains(&pair) {
            return;
        }
        let is_first = std::mem::take(&mut self.urls[at].1);
        if !is_first && self.repeated == limits::BOUNDS.repeated_links {
            cuts.add("repeated", 1);
            return;
        }
        self.repeated += usize::from(!is_first);
        self.pairs.insert(pair);
        self.outlinks.push(Outlink { url: self.urls[at].0.clone(), ..link });
    }

    fn resolve(&mut self, href: &str) -> Target {
        let (parsed, absolute) = match resolved(href, None, self.encoding) {
            Err(ParseError::RelativeUrlWithoutBase) => {
                (resolved(href, Some(self.base), self.encoding), false)
            }
            other => (other, true),
        };
        let url = match parsed {
            Ok(url) if is_web(&url) => url,
            Ok(_) => return Target::OtherScheme,
            Err(_) => return Target::Unreadable,
        };
        if url.as_str().len() > limits::BOUNDS.url_bytes {
            return Target::TooLong;
        }
        let key = key_of(&url);
        let is_new = key != self.page && !self.distinct.contains(&key);
        if is_new {
            if self.distinct.len() >= limits::BOUNDS.outlinks_per_page {
                return Target::OverCap;
            }
            self.distinct.insert(key);
        }
        let keep_spelling = absolute
            && self.spelling == Spelling::AsGiven
            && !href.contains(|c: char| c.is_ascii_control() || c == ' ');
        let url = if keep_spelling { href.to_owned() } else { without_fragment(url) };
        self.urls.push((url, is_new));
        Target::Kept(self.urls.len() - 1)
    }

    /// The links kept, and how many led to other schemes (`mailto:` and the like).
    pub(super) fn finish(self) -> (Vec<Outlink>, u32) {
        (self.outlinks, self.other_schemes)
    }
}

/// A URL as a browser resolves it on a page in an encoding, in which the query is written.
pub(super) fn resolved(
    href: &str,
    base: Option<&Url>,
    encoding: &'static Encoding,
) -> Result<Url, ParseError> {
    let options = Url::options().base_url(base);
    options.encoding_override(Some(&|query| encoded(query, encoding))).parse(href)
}

/// A query in an encoding; letters that it has not are written as references, escaped.
fn encoded<'q>(query: &'q str, encoding: &'static Encoding) -> Cow<'q, [u8]> {
    let (bytes, _, lacks) = encoding.encode(query);
    if !lacks {
        return bytes;
    }
    let mut bytes = Vec::with_capacity(query.len());
    for letter in query.chars() {
        let written = letter.encode_utf8(&mut [0; 4]).to_owned();
        match encoding.encode(&written) {
            (_, _, true) => bytes.extend(format!("%26%23{}%3B", u32::from(letter)).bytes()),
            (written, _, false) => bytes.extend_from_slice(&written),
        }
    }
    bytes.into()
}

/// The URL as a string, its fragment dropped.
pub(super) fn without_fragment(mut url: Url) -> String {
    url.set_fragment(None);
    url.into()
}

/// What a URL is known by among pages and links: its form without fragment.
pub(super) fn key_of(url: &Url) -> u128 {
    let text = url.as_str();
    xxh3_128(text.split_once('#').map_or(text, |(before, _)| before).as_bytes())
}

/// Whether a URI can be that of a page. Crawlers keep robots.txt and name lookups as records, too.
pub(super) fn is_page(uri: &str) -> bool {
    let is_web = ["http://", "https://"].iter().any(|scheme| {
        uri.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    is_web && !path.ends_with("/robots.txt")
}

/// The page's URL as it is spelled, and parsed.
pub(super) fn page_url(spelled: &str) -> Result<(String, Url), Bad> {
    let spelled = spelled.trim();
    if spelled.is_empty() {
        return Err((BadReason::MissingUrl, "no url, or an empty one".to_owned()));
    }
    let invalid = |why: &str| (BadReason::InvalidUrl, format!("{}: {why}", excerpt(spelled)));
    let url = Url::parse(spelled).map_err(|error| invalid(&error.to_string()))?;
    if !is_web(&url) {
        return Err(invalid("not http or https"));
    }
    if url.as_str().len() > limits::BOUNDS.url_bytes {
        let detail = format!("{} bytes, at most {}", url.as_str().len(), limits::BOUNDS.url_bytes);
        return Err((BadReason::UrlTooLong, detail));
    }
    let spelled = if spelled.contains(|c: char| c.is_ascii_control()) {
        url.as_str().to_owned()
    } else {
        spelled.to_owned()
    };
    Ok((spelled, url))
}

/// What is wrong with a line that is no record, as JSON has it. serde's "line 1" would be taken for the line of the file.
pub(super) fn bad_json(error: &serde_json::Error) -> Bad {
    let reason = match error.classify() {
        Category::Data => BadReason::InvalidRecord,
        Category::Io | Category::Syntax | Category::Eof => BadReason::InvalidJson,
    };
    (reason, error.to_string().replace(" at line 1 column ", " at column "))
}

/// The start of `text`, for messages.
pub(super) fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    if start.len() < text.len() { format!("{start:?}…") } else { format!("{start:?}") }
}
