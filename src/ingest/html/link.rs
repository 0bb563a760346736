//! Links as a document writes them: in attributes, not yet resolved. Knows attributes, not the
//! parser.

use prospect_index::limits;

use super::text::Collapsed;

/// The value of an attribute of the element at hand, by name, decoded.
pub(super) type Attribute<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A `meta refresh` up to this many seconds is a redirect; a slower one reloads a page.
const REDIRECT_SECONDS: f64 = 10.0;
/// Longest anchor that is collected: more bytes than the cap's characters can have.
pub(super) const ANCHOR_BYTES: usize = 4 * limits::BOUNDS.anchor_chars;

#[derive(Default)]
pub(super) struct RawLink {
    pub(super) href: String,
    pub(super) anchor: Collapsed,
    /// Shown or spoken instead of an anchor text.
    pub(super) image_text: String,
    pub(super) title: String,
    pub(super) nofollow: bool,
}

impl RawLink {
    /// The link of an `a` or `area`, unless it only leads to a place on the same page.
    pub(super) fn of(attribute: Attribute) -> Option<Self> {
        let href = attribute("href")?;
        let trimmed = href.trim_ascii();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return None;
        }
        let nofollow = has_word(attribute("rel"), "nofollow");
        Some(Self {
            href,
            title: attribute("title").unwrap_or_default(),
            nofollow,
            ..Self::default()
        })
    }

    /// The text that stands for the link: its own, else its image's, else its title.
    pub(super) fn anchor_text(self) -> String {
        if !self.anchor.as_str().is_empty() {
            return self.anchor.into_string();
        }
        let mut collapsed = Collapsed::default();
        collapsed.push(&self.image_text, ANCHOR_BYTES);
        if collapsed.as_str().is_empty() {
            collapsed.push(&self.title, ANCHOR_BYTES);
        }
        collapsed.into_string()
    }
}

/// Whether `word` is one of the words of `value`, in whatever case.
pub(super) fn has_word(value: Option<String>, word: &str) -> bool {
    value.is_some_and(|value| {
        value.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
    })
}

/// The URL in the content of a quick `meta refresh`: `0; url='x'` (WHATWG, "shared declarative
/// refresh steps").
pub(super) fn redirect_target(content: &str) -> Option<&str> {
    let content = content.trim_ascii();
    let end = content.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (seconds, rest) = content.split_at(end);
    // Browsers take a missing number before a dot or a semicolon for none.
    if seconds.parse::<f64>().ok()? >= REDIRECT_SECONDS {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix([';', ',']).unwrap_or(rest).trim_ascii_start();
    let url = match rest.get(..3) {
        Some(key) if key.eq_ignore_ascii_case("url") => {
            match rest[3..].trim_ascii_start().strip_prefix('=') {
                Some(url) => url.trim_ascii_start(),
                None => rest,
            }
        }
        _ => rest,
    };
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    (!url.is_empty() && !url.starts_with('#')).then_some(url)
}
