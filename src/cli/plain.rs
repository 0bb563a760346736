//! Text for a terminal, in which names of others can do nothing: no character moves the cursor, rings, or turns the
//! order of reading around. Files and pipes get their bytes as they are.

use std::borrow::Cow;
use std::io::{self, IsTerminal, StdoutLock, Write};

/// Whether a terminal may act on a character instead of showing it: control characters but for the ends of lines and
/// tabs, and what changes the direction of the text that follows (Unicode, UAX #9).
pub(super) fn is_unsafe(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}

/// The text with such characters written as `\u{1b}`.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out.into()
}

/// Standard output: plain where it is a terminal.
pub(super) fn stdout() -> Plain<StdoutLock<'static>> {
    let out = io::stdout();
    let filters = out.is_terminal();
    Plain { inner: out.lock(), filters, rest: Vec::new() }
}

/// A writer that may lead to a terminal.
pub(super) struct Plain<W> {
    inner: W,
    filters: bool,
    /// The start of a character whose end was not written yet.
    rest: Vec<u8>,
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.filters {
            return self.inner.write(bytes);
        }
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        self.inner.write_all(plain(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        let evil = "a\u{1b}[2J\u{7}\r\u{9b}31m\u{202e}gpj.exe\u{2066}\u{200f}\u{61c}\u{7f}\tb\né";
        assert_eq!(
            plain(evil),
            "a\\u{1b}[2J\\u{7}\\u{d}\\u{9b}31m\\u{202e}gpj.exe\\u{2066}\\u{200f}\\u{61c}\\u{7f}\tb\né"
        );
        for pieces in 1..evil.len() {
            for filters in [false, true] {
                let mut out = Plain { inner: Vec::new(), filters, rest: Vec::new() };
                for piece in evil.as_bytes().chunks(pieces) {
                    out.write_all(piece).unwrap();
                }
                let expected = if filters { plain(evil) } else { evil.into() };
                assert_eq!(String::from_utf8(out.inner).unwrap(), expected, "{pieces}");
            }
        }
    }
}
