//! Tells the encoding of an HTML document and brings it to UTF-8.
//!
//! A byte order mark decides, then `<meta charset>` in the first bytes (WHATWG "prescan"), then
//! UTF-8. Bytes that cannot be decoded become U+FFFD.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far the prescan looks. The standard says 1,024; pages with long heads exceed it.
const PRESCAN_BYTES: usize = 4_096;

/// `bytes` in UTF-8; borrowed where they are already, byte for byte. Stray bytes of a document
/// that claims to be UTF-8 are left for the parser to replace.
pub(super) fn to_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => (encoding, mark),
        None => (prescan(bytes).unwrap_or(UTF_8), 0),
    };
    if encoding == UTF_8 {
        return Cow::Borrowed(&bytes[mark..]);
    }
    let (text, _) = encoding.decode_without_bom_handling(&bytes[mark..]);
    Cow::Owned(text.into_owned().into_bytes())
}

/// The encoding that a `<meta>` declares.
fn prescan(bytes: &[u8]) -> Option<&'static Encoding> {
    let mut rest = &bytes[..bytes.len().min(PRESCAN_BYTES)];
    while let Some(at) = rest.iter().position(|&byte| byte == b'<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix(b"<!--") {
            rest = &comment[find(comment, b"-->")?..];
        } else if rest.len() > 5 && rest[..5].eq_ignore_ascii_case(b"<meta") {
            let end = rest.iter().position(|&byte| byte == b'>').unwrap_or(rest.len());
            if let Some(encoding) = declared(&rest[5..end]) {
                return Some(encoding);
            }
            rest = &rest[end..];
        } else {
            rest = &rest[1..];
        }
    }
    None
}

/// The encoding in the attributes of a `<meta>`: `charset=x`, or the same inside `content`.
fn declared(attributes: &[u8]) -> Option<&'static Encoding> {
    let lower = attributes.to_ascii_lowercase();
    let mut rest = lower.as_slice();
    while let Some(at) = find(rest, b"charset") {
        rest = rest[at + b"charset".len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let end = |byte: &u8| byte.is_ascii_whitespace() || b"\"';/".contains(byte);
        let label = &value[..value.iter().position(end).unwrap_or(value.len())];
        return Encoding::for_label(label).map(as_readable);
    }
    None
}

/// A document whose `<meta>` could be read is not UTF-16, whatever it says (WHATWG).
fn as_readable(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding.name() == "x-user-defined" {
        WINDOWS_1252
    } else {
        encoding
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &[u8], expected: &str) {
        let shown = String::from_utf8_lossy(html).into_owned();
        assert_eq!(String::from_utf8_lossy(&to_utf8(html)), expected, "{shown:?}");
    }

    #[test]
    fn a_mark_decides_then_the_meta_then_utf8() {
        check("é".as_bytes(), "é");
        check("\u{feff}é".as_bytes(), "é");
        check(b"\xff\xfe\xe9\x00", "é");
        check(b"\xfe\xff\x00\xe9", "é");
        check(b"\xe9", "\u{fffd}");
        check(b"<meta charset=latin1>\xe9", "<meta charset=latin1>é");
        check(b"<META CharSet = 'ISO-8859-1' />\xe9", "<META CharSet = 'ISO-8859-1' />é");
        check(
            b"<meta http-equiv=content-type content=\"text/html; charset=koi8-r\">\xc1",
            "<meta http-equiv=content-type content=\"text/html; charset=koi8-r\">а",
        );
        check(b"<!-- <meta charset=latin1> -->\xe9", "<!-- <meta charset=latin1> -->\u{fffd}");
        check("<meta charset=utf-16>é".as_bytes(), "<meta charset=utf-16>é");
        check("<meta charset=nonsense>é".as_bytes(), "<meta charset=nonsense>é");
        check("<meta name=charset><p>é".as_bytes(), "<meta name=charset><p>é");
    }
}
