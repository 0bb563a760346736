//! Words: the one rule by which queries, page texts, URLs and anchors are cut into terms.
//!
//! Unicode lower-case, split at every character that is not alphanumeric, so that `_ / . -` split
//! URLs. No stemming, no stop list. A URL is percent-decoded first and its scheme dropped.

use std::borrow::Cow;

/// Calls `take` with every word of `text` in order, in lower case.
pub fn for_each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut lower = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
            take(word);
            continue;
        }
        lower.clear();
        for c in word.chars().flat_map(char::to_lowercase) {
            // Some lower-case forms carry a combining mark, which is not alphanumeric.
            if c.is_alphanumeric() {
                lower.push(c);
            }
        }
        if !lower.is_empty() {
            take(&lower);
        }
    }
}

/// The words of `text` in order.
///
/// ```
/// use prospect_index::words::words;
///
/// assert_eq!(words("Don't crawl C++ in Zürich!"), ["don", "t", "crawl", "c", "in", "zürich"]);
/// assert_eq!(words("snake_case"), ["snake", "case"]);
/// assert!(words("?!").is_empty());
/// ```
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for_each_word(text, |word| out.push(word.to_owned()));
    out
}

/// The part of a URL that is cut into words: percent-decoded, without its scheme.
///
/// Bytes that are not UTF-8 after decoding become U+FFFD, which is no word character.
///
/// ```
/// use prospect_index::words::{url_text, words};
///
/// let text = url_text("https://a.test/wiki/Focused%20crawler?lang=en");
/// assert_eq!(text, "a.test/wiki/Focused crawler?lang=en");
/// assert_eq!(words(&text), ["a", "test", "wiki", "focused", "crawler", "lang", "en"]);
/// ```
pub fn url_text(url: &str) -> Cow<'_, str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    percent_encoding::percent_decode_str(rest).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_at_everything_that_is_not_alphanumeric() {
        let cases = [
            ("Hello, World", "hello world"),
            ("snake_case-and/path.html", "snake case and path html"),
            ("don't", "don t"),
            ("Ünïcode ÄÖ 2x", "ünïcode äö 2x"),
            ("  ", ""),
            ("İstanbul", "istanbul"),
            ("C++ & C#", "c c"),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_url_loses_its_scheme_and_its_escapes() {
        let text = url_text("https://en.example.org/wiki/A%20B_%C3%A9?q=1");
        assert_eq!(words(&text).join(" "), "en example org wiki a b é q 1");
    }
}
