//! Tells the encoding of a document and brings it to UTF-8.
//!
//! A byte order mark decides, then what the server said, then `<meta charset>` in the first bytes (WHATWG
//! "prescan"), then whether it is UTF-8, then the frequencies of bytes. Bytes that cannot be decoded become
//! U+FFFD.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use url::{Host, Url};

/// How far the prescan looks. The standard says 1,024; pages with long heads exceed it.
const PRESCAN_BYTES: usize = 4_096;

/// What is looked at where nothing tells the encoding.
const DETECTED_BYTES: usize = 256 << 10;
/// A document with this many times as many characters that UTF-8 encodes well as places that it does not is a
/// damaged one in UTF-8.
const WELL_ENCODED: usize = 10;

/// The encoding that a `Content-Type` names.
pub(super) fn of_content_type(content_type: &str) -> Option<&'static Encoding> {
    declared(content_type.as_bytes(), b"charset")
}

/// A document at `url` in UTF-8, and the encoding that it came in; borrowed where that is UTF-8, byte for byte. `said` is
/// what came with it. Stray bytes of a document that claims to be UTF-8 are left for the reader to replace.
pub(super) fn to_utf8<'a>(
    bytes: &'a [u8],
    said: Option<&'static Encoding>,
    url: &Url,
) -> (Cow<'a, [u8]>, &'static Encoding) {
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some((encoding, mark)) => (encoding, mark),
        None => (
            said.or_else(|| prescan(bytes).map(as_readable))
                .unwrap_or_else(|| detected(bytes, url)),
            0,
        ),
    };
    if encoding == UTF_8 {
        return (Cow::Borrowed(&bytes[mark..]), UTF_8);
    }
    let (text, _) = encoding.decode_without_bom_handling(&bytes[mark..]);
    (Cow::Owned(text.into_owned().into_bytes()), encoding)
}

/// The encoding that bytes look like.
fn detected(bytes: &[u8], url: &Url) -> &'static Encoding {
    let (mut well, mut badly) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        well += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        badly += usize::from(!chunk.invalid().is_empty());
    }
    if WELL_ENCODED * badly <= well {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let start = &bytes[..bytes.len().min(DETECTED_BYTES)];
    detector.feed(start, start.len() == bytes.len());
    let domain = match url.host() {
        Some(Host::Domain(domain)) => domain.rsplit('.').next(),
        _ => None,
    };
    // The detector takes what a parsed URL has: ASCII in lower case.
    detector.guess(domain.map(str::as_bytes), Utf8Detection::Allow)
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
            if let Some(encoding) = declared(&rest[5..end], b"charset") {
                return Some(encoding);
            }
            rest = &rest[end..];
        } else {
            rest = &rest[1..];
        }
    }
    None
}

/// The encoding in the attributes of a `<meta>`, by this name: `charset=x`, or the same inside `content`.
fn declared(attributes: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let lower = attributes.to_ascii_lowercase();
    let mut rest = lower.as_slice();
    while let Some(at) = find(rest, name) {
        rest = rest[at + name.len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let end = |byte: &u8| byte.is_ascii_whitespace() || b"\"';/".contains(byte);
        let label = &value[..value.iter().position(end).unwrap_or(value.len())];
        return Encoding::for_label(label);
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

/// An XML document in UTF-8, read as a stream, whatever encoding its declaration names. Whoever reads it has room for
/// a character, of four bytes.
pub(super) struct Xml<R> {
    inner: BufReader<R>,
    /// None before the first byte is read, and after the last.
    decoder: Option<Decoder>,
    is_started: bool,
}

impl<R: Read> Xml<R> {
    /// A document of which nothing has been read.
    pub(super) fn new(inner: R) -> Self {
        Self { inner: BufReader::new(inner), decoder: None, is_started: false }
    }
}

impl<R: Read> Read for Xml<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_started {
            let start = self.inner.fill_buf()?;
            let end = start.iter().position(|&byte| byte == b'>').unwrap_or(0);
            let said = declared(&start[..end], b"encoding").map_or(UTF_8, as_readable);
            self.decoder = Some(said.new_decoder());
            self.is_started = true;
        }
        debug_assert!(buffer.len() >= char::MAX.len_utf8(), "no room for a character");
        while let Some(decoder) = &mut self.decoder {
            let bytes = self.inner.fill_buf()?;
            let is_last = bytes.is_empty();
            let (result, read, written, _) = decoder.decode_to_utf8(bytes, buffer, is_last);
            self.inner.consume(read);
            if is_last && result == CoderResult::InputEmpty {
                self.decoder = None;
            }
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_said(html: &[u8], content_type: &str, expected: &str) {
        let shown = String::from_utf8_lossy(html).into_owned();
        let url = Url::parse("https://e.org/").unwrap();
        let (text, _) = to_utf8(html, of_content_type(content_type), &url);
        assert_eq!(String::from_utf8_lossy(&text), expected, "{shown:?}");
    }

    fn check(html: &[u8], expected: &str) {
        check_said(html, "text/html", expected);
    }

    #[test]
    fn a_mark_decides_then_the_server_then_the_meta_then_the_bytes() {
        check("é".as_bytes(), "é");
        check("\u{feff}é".as_bytes(), "é");
        check(b"\xff\xfe\xe9\x00", "é");
        check(b"\xfe\xff\x00\xe9", "é");
        check_said(b"\xe9", "text/html; charset=ISO-8859-1", "é");
        check_said(
            b"<meta charset=koi8-r>\xe9",
            "text/html;Charset=\"latin1\"",
            "<meta charset=koi8-r>é",
        );
        check_said("\u{feff}é".as_bytes(), "text/html; charset=latin1", "é");
        check_said(
            b"<meta charset=latin1>\xe9",
            "text/html; charset=nonsense",
            "<meta charset=latin1>é",
        );
        check(b"un caf\xe9 au lait", "un café au lait");
        check("naïve café, ünïcödé, é\u{e9}".as_bytes(), "naïve café, ünïcödé, éé");
        check(
            &["ünïcödé ".repeat(9).as_bytes(), b"\xe9"].concat(),
            &("ünïcödé ".repeat(9) + "\u{fffd}"),
        );
        check(b"<meta charset=latin1>\xe9", "<meta charset=latin1>é");
        check(b"<META CharSet = 'ISO-8859-1' />\xe9", "<META CharSet = 'ISO-8859-1' />é");
        check(
            b"<meta http-equiv=content-type content=\"text/html; charset=koi8-r\">\xc1",
            "<meta http-equiv=content-type content=\"text/html; charset=koi8-r\">а",
        );
        check(b"<!-- <meta charset=koi8-r> --> caf\xe9", "<!-- <meta charset=koi8-r> --> café");
        check("<meta charset=utf-16>é".as_bytes(), "<meta charset=utf-16>é");
        check("<meta charset=nonsense>é".as_bytes(), "<meta charset=nonsense>é");
        check("<meta name=charset><p>é".as_bytes(), "<meta name=charset><p>é");
    }
}
