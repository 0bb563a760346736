//! Text as people read it: white space collapsed, character references decoded across the chunks
//! in which the parser hands out a text node. Knows no tags.

use std::borrow::Cow;

/// Longest prefix of a character reference that is waited for (the longest name has 32 bytes).
const REFERENCE_BYTES: usize = 40;

/// Text whose runs of white space become single spaces, none at the ends.
#[derive(Default)]
pub(super) struct Collapsed {
    text: String,
    gap: bool,
}

impl Collapsed {
    /// Appends `text`. What is already longer than `cap` bytes does not grow: the caller cuts it
    /// and can tell from its length that there was more.
    pub(super) fn push(&mut self, text: &str, cap: usize) {
        if self.text.len() > cap {
            return;
        }
        if text.is_ascii() {
            self.push_words(text.split_ascii_whitespace(), text);
        } else {
            self.push_words(text.split_whitespace(), text);
        }
    }

    fn push_words<'a>(&mut self, words: impl Iterator<Item = &'a str>, text: &str) {
        self.gap |= text.starts_with(char::is_whitespace);
        for word in words {
            if self.gap && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word);
            self.gap = true;
        }
        self.gap = text.ends_with(char::is_whitespace) || (text.is_empty() && self.gap);
    }

    /// A boundary between two blocks: words do not run together across it.
    pub(super) fn break_here(&mut self) {
        self.gap = true;
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

/// Decodes the character references of a text node that comes in chunks.
#[derive(Default)]
pub(super) struct References {
    /// The end of what came so far, if a reference may continue in the next chunk.
    waiting: String,
}

impl References {
    /// Whether the next chunk may complete a reference.
    pub(super) fn is_open(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The text that is complete after `chunk`; `last` ends the text node.
    pub(super) fn decode<'a>(&mut self, chunk: &'a str, last: bool) -> Cow<'a, str> {
        if self.waiting.is_empty() && !chunk.contains('&') {
            return Cow::Borrowed(chunk);
        }
        if self.waiting.is_empty() && last {
            return htmlize::unescape(chunk);
        }
        let mut text = std::mem::take(&mut self.waiting);
        text.push_str(chunk);
        if !last
            && let Some(at) = text.rfind('&')
            && text.len() - at <= REFERENCE_BYTES
            && !text[at..].contains([';', ' '])
        {
            self.waiting = text.split_off(at);
        }
        Cow::Owned(htmlize::unescape(text).into_owned())
    }
}

/// An attribute's value with its character references decoded.
pub(super) fn attribute(value: String) -> String {
    if value.contains('&') { htmlize::unescape_attribute(value).into_owned() } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chunks: &[&str], expected: &str) {
        let mut collapsed = Collapsed::default();
        let mut references = References::default();
        for (at, chunk) in chunks.iter().enumerate() {
            let text = references.decode(chunk, at + 1 == chunks.len());
            collapsed.push(&text, 1_000);
        }
        assert_eq!(collapsed.into_string(), expected, "{chunks:?}");
    }

    #[test]
    fn white_space_collapses_across_chunks() {
        check(&["  a\n\t b  "], "a b");
        check(&["a", "b"], "ab");
        check(&["a ", "b"], "a b");
        check(&["a", " b"], "a b");
        check(&["a", " ", "b"], "a b");
        check(&["a ", "", "b"], "a b");
        check(&["é\u{a0}\u{2003}ü ", "x"], "é ü x");
        check(&[" ", ""], "");
    }

    #[test]
    fn references_are_decoded_across_chunks() {
        check(&["a&amp;b"], "a&b");
        check(&["a&a", "mp;b"], "a&b");
        check(&["a&", "#", "x41", ";"], "aA");
        check(&["a &", ""], "a &");
        check(&["AT&T", " x"], "AT&T x");
        check(&["1 &lt", " 2"], "1 < 2");
        check(&["&unknown; ", "&copy;"], "&unknown; ©");
        check(&["&nbsp;a&nbsp;&nbsp;b"], "a b");
        check(&["&#0;&#xD800;&#x110000;"], "\u{fffd}\u{fffd}\u{fffd}");
    }
}
