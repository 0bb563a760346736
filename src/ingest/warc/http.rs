//! HTTP responses as archives keep them: status, fields and a body whose encodings are undone.

use std::borrow::Cow;
use std::io::Read;

use brotli_decompressor::Decompressor;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use prospect_index::limits;

use super::fields::{Fields, head_end};

/// Buffer of the brotli decoder.
const BROTLI_BYTES: usize = 16 << 10;

/// Whether a block of this type is an HTTP message.
pub(super) fn is_http(content_type: &str) -> bool {
    content_type.get(..16).is_some_and(|kind| kind.eq_ignore_ascii_case("application/http"))
}

/// A response.
pub(super) struct HttpResponse<'a> {
    pub(super) status: u16,
    pub(super) fields: Fields,
    body: &'a [u8],
}

impl<'a> HttpResponse<'a> {
    /// Reads a message; none if it does not start with a status.
    pub(super) fn parse(message: &'a [u8]) -> Option<Self> {
        let end = head_end(message).unwrap_or(message.len());
        let (head, body) = message.split_at(end);
        let first = memchr::memchr(b'\n', head).map_or(head.len(), |at| at + 1);
        let (line, fields) = head.split_at(first);
        if !line.get(..5)?.eq_ignore_ascii_case(b"HTTP/") {
            return None;
        }
        let mut words = line.split(u8::is_ascii_whitespace).skip(1).filter(|word| !word.is_empty());
        let status = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
        (100..1_000).contains(&status).then(|| Self { status, fields: Fields::parse(fields), body })
    }

    /// The body, encodings for its transfer and of its content undone.
    ///
    /// An encoding that the body does not have is none: crawlers keep fields of bodies that they have decoded.
    /// Of a body that ends early, or is damaged further on, what could be decoded is kept. At most
    /// [`limits::Bounds::html_bytes`] come of it.
    pub(super) fn body(&self) -> Cow<'a, [u8]> {
        let mut body = Cow::Borrowed(self.body);
        let is_chunked = |value: &str| value.to_ascii_lowercase().contains("chunked");
        if self.fields.named("transfer-encoding").any(is_chunked)
            && let Some(whole) = dechunked(self.body)
        {
            body = Cow::Owned(whole);
        }
        let named: Vec<&str> = self.fields.named("content-encoding").collect();
        let names = named.iter().flat_map(|value| value.split(',')).map(str::trim);
        // The last that was applied is the first to be undone.
        for name in names.collect::<Vec<_>>().into_iter().rev() {
            if let Some(decoded) = decoded(&name.to_ascii_lowercase(), &body) {
                body = Cow::Owned(decoded);
            }
        }
        match body {
            Cow::Borrowed(bytes) => {
                Cow::Borrowed(&bytes[..bytes.len().min(limits::BOUNDS.html_bytes)])
            }
            Cow::Owned(mut bytes) => {
                bytes.truncate(limits::BOUNDS.html_bytes);
                Cow::Owned(bytes)
            }
        }
    }
}

/// A body without the sizes of its chunks; none if the first of them is no size.
fn dechunked(body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let line = rest[..end].split(|&byte| byte == b';').next().unwrap_or_default();
        let size = std::str::from_utf8(line.trim_ascii()).ok();
        let Some(size) = size.and_then(|size| usize::from_str_radix(size, 16).ok()) else {
            break;
        };
        rest = &rest[end + 1..];
        if size == 0 {
            return Some(whole);
        }
        let size = size.min(rest.len());
        whole.extend_from_slice(&rest[..size]);
        rest = &rest[size..];
        rest = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
    (!whole.is_empty()).then_some(whole)
}

/// Bytes without an encoding; none if they do not have it, or if it is not known. Where they cannot be decoded
/// to their end they are damaged, unless they are text as they stand.
fn decoded(encoding: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let (decoded, whole) = match encoding {
        "gzip" | "x-gzip" => all_of(MultiGzDecoder::new(bytes)),
        // Meant is zlib; some servers send what the name says.
        "deflate" => match all_of(ZlibDecoder::new(bytes)) {
            (decoded, false) if decoded.is_empty() => all_of(DeflateDecoder::new(bytes)),
            zlib => zlib,
        },
        "br" => all_of(Decompressor::new(bytes, BROTLI_BYTES)),
        "zstd" => {
            let mut decoder = zstd::Decoder::new(bytes).ok()?;
            decoder.window_log_max(limits::BOUNDS.zstd_window_log).ok()?;
            all_of(decoder)
        }
        _ => return None,
    };
    (whole || !(decoded.is_empty() || looks_like_text(bytes))).then_some(decoded)
}

/// What a decoder gives, at most one byte more than is read of a document; and whether that is all.
fn all_of(decoder: impl Read) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let read = decoder.take(limits::BOUNDS.html_bytes as u64 + 1).read_to_end(&mut bytes);
    (bytes, read.is_ok())
}

/// Whether bytes start as text in an encoding that has ASCII in it.
pub(super) fn looks_like_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    !bytes[..bytes.len().min(1_024)].iter().any(is_control)
}
