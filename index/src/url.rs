//! URLs: the canonical spelling, its host and registrable domain.
//!
//! Canonical means: parsed as WHATWG prescribes, fragment dropped, query kept, hex digits of
//! escapes in upper case, unreserved characters decoded, those that no URL may have in its path or query (RFC 3986) escaped,
//! as most crawlers do before they ask, default port dropped. Pages, links,
//! judgements and seeds all pass through [`canonical`], which is total and idempotent.

use std::fmt::Write;

use url::Url;

use crate::limits;

/// Why a string is no URL that can be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It does not parse.
    #[error("not a URL")]
    Invalid,
    /// Neither http nor https.
    #[error("not an http or https URL")]
    Scheme,
    /// Longer than [`limits::Bounds::url_bytes`].
    #[error("longer than 8192 bytes")]
    TooLong,
}

/// The canonical spelling of `url`.
///
/// ```
/// use prospect_index::url::{UrlError, canonical};
///
/// assert_eq!(canonical("HTTP://Example.COM:80/a/../%7eb?q=1#top")?, "http://example.com/~b?q=1");
/// assert_eq!(canonical("https://example.com")?, "https://example.com/");
/// assert_eq!(canonical("https://example.com/?a|b")?, "https://example.com/?a%7Cb");
/// assert_eq!(canonical("mailto:someone@example.com"), Err(UrlError::Scheme));
/// assert_eq!(canonical("/relative"), Err(UrlError::Invalid));
/// # Ok::<(), UrlError>(())
/// ```
///
/// # Errors
/// It is no http or https URL, or too long; never a panic, whatever the input.
pub fn canonical(url: &str) -> Result<String, UrlError> {
    let mut current = parse(url)?;
    // Dot segments that decoding brought to light are removed by the parser, which writes no new escapes of
    // unreserved characters: two rounds at most change something.
    loop {
        let normal = normal_escapes(&current);
        if normal == current {
            break;
        }
        current = parse(&normal)?;
    }
    let current = escaped(current);
    if current.len() > limits::BOUNDS.url_bytes { Err(UrlError::TooLong) } else { Ok(current) }
}

fn parse(url: &str) -> Result<String, UrlError> {
    if url.len() > 4 * limits::BOUNDS.url_bytes {
        return Err(UrlError::TooLong);
    }
    let mut parsed = Url::parse(url).map_err(|_| UrlError::Invalid)?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(UrlError::Scheme);
    }
    parsed.set_fragment(None);
    Ok(parsed.into())
}

/// With escapes for what RFC 3986 has in no path and in no query, and for percent signs that are none of an escape.
fn escaped(url: String) -> String {
    let start = url.len() - after_scheme(&url).len();
    let start = url[start..].find(['/', '?']).map_or(url.len(), |path| start + path);
    let bytes = url.as_bytes();
    if !(start..bytes.len()).any(|at| needs_escape(bytes, at)) {
        return url;
    }
    let mut out = url[..start].to_owned();
    // What the parser returns is ASCII.
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        if needs_escape(bytes, at) {
            let _ = write!(out, "%{byte:02X}");
        } else {
            out.push(char::from(byte));
        }
    }
    out
}

/// Whether the byte at this place of a URL must be escaped, as [`escaped`] says.
fn needs_escape(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'%' => {
            let digits = bytes.get(at + 1..at + 3);
            !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        }
        b'"' | b'<' | b'>' | b'[' | b']' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => true,
        _ => false,
    }
}

/// Escapes in upper case; escapes of unreserved characters (RFC 3986, section 2.3) decoded, also those that decoding
/// completes (`%%36%31` is `%61`, which is `a`). Linear: each escape that is decoded leaves two characters fewer.
fn normal_escapes(url: &str) -> String {
    if !url.contains('%') {
        return url.to_owned();
    }
    let mut out: Vec<u8> = Vec::with_capacity(url.len());
    // What the parser returns is ASCII.
    for &byte in url.as_bytes() {
        out.push(byte);
        while let [.., b'%', high, low] = out[..]
            && let (Some(high), Some(low)) = (hex(high), hex(low))
        {
            let byte = high * 16 + low;
            let start = out.len() - 3;
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                out.truncate(start);
                out.push(byte);
            } else {
                out[start..].make_ascii_uppercase();
                break;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| url.to_owned())
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

/// Host of a canonical URL, without port and user.
pub fn host(url: &str) -> &str {
    let rest = after_scheme(url);
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?'));
    let authority = &rest[..end.unwrap_or(rest.len())];
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or(authority);
    }
    authority.split(':').next().unwrap_or(authority)
}

/// A URL without its scheme. Every URL is asked for it many times, and has one of two.
pub fn after_scheme(url: &str) -> &str {
    let usual = ["https://", "http://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
    usual.or_else(|| url.split_once("://").map(|(_, rest)| rest)).unwrap_or(url)
}

/// A canonical URL but for what sites change of all their addresses at once: the scheme, and `www`.
pub(crate) fn without_scheme_and_www(url: &str) -> &str {
    let rest = after_scheme(url);
    rest.strip_prefix("www.").unwrap_or(rest)
}

/// Registrable domain of a host by the public suffix list; an address, or a host that is itself a
/// public suffix, is its own domain.
///
/// ```
/// use prospect_index::url::{host, registrable_domain};
///
/// let host = host("https://user@www.shop.example.co.uk:8080/cart");
/// assert_eq!(host, "www.shop.example.co.uk");
/// assert_eq!(registrable_domain(host), "example.co.uk");
/// assert_eq!(registrable_domain("127.0.0.1"), "127.0.0.1");
/// ```
pub fn registrable_domain(host: &str) -> &str {
    let address = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    if address { host } else { psl::domain_str(host).unwrap_or(host) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn canonical_spellings() {
        let cases = [
            ("HTTP://Example.COM:80/a/../b#frag", Ok("http://example.com/b")),
            ("https://example.com", Ok("https://example.com/")),
            ("https://example.com/?q=1#x", Ok("https://example.com/?q=1")),
            ("https://example.com/%7euser/%e9%2F", Ok("https://example.com/~user/%E9%2F")),
            ("https://example.com/a b", Ok("https://example.com/a%20b")),
            ("https://example.com/%%36%31", Ok("https://example.com/a")),
            ("https://example.com/x/%%32e%2e/y", Ok("https://example.com/y")),
            ("https://example.com/list?cat=a|b", Ok("https://example.com/list?cat=a%7Cb")),
            ("https://example.com/a|b^c", Ok("https://example.com/a%7Cb%5Ec")),
            ("https://example.com/?`{x}[1]\\", Ok("https://example.com/?%60%7Bx%7D%5B1%5D%5C")),
            ("https://example.com/50%", Ok("https://example.com/50%25")),
            ("https://example.com/%zz?%2", Ok("https://example.com/%25zz?%252")),
            ("http://[::1]:81/[a]", Ok("http://[::1]:81/%5Ba%5D")),
            ("https://bücher.example/", Ok("https://xn--bcher-kva.example/")),
            ("  https://example.com/x\n", Ok("https://example.com/x")),
            ("mailto:a@b.c", Err(UrlError::Scheme)),
            ("/relative", Err(UrlError::Invalid)),
            ("", Err(UrlError::Invalid)),
        ];
        for (url, expected) in cases {
            assert_eq!(canonical(url).as_deref(), expected.as_ref().map(|s| *s), "{url}");
        }
        let long = format!("https://example.com/{}", "a".repeat(limits::BOUNDS.url_bytes));
        assert_eq!(canonical(&long), Err(UrlError::TooLong));
    }

    /// The rule, applied to all escapes that are there, until nothing changes: as slow as an escape that hides
    /// another is deep.
    fn canonical_by_rounds(url: &str) -> Result<String, UrlError> {
        let mut current = parse(url)?;
        loop {
            let bytes = current.as_bytes();
            let (mut normal, mut at) = (String::new(), 0);
            while at < bytes.len() {
                let two = || Some((hex(*bytes.get(at + 1)?)?, hex(*bytes.get(at + 2)?)?));
                if let Some((high, low)) = (bytes[at] == b'%').then(two).flatten() {
                    let byte = high * 16 + low;
                    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                        normal.push(byte as char);
                    } else {
                        normal += &current[at..at + 3].to_ascii_uppercase();
                    }
                    at += 3;
                } else {
                    normal.push(bytes[at] as char);
                    at += 1;
                }
            }
            if normal == current {
                return if current.len() > limits::BOUNDS.url_bytes {
                    Err(UrlError::TooLong)
                } else {
                    Ok(current)
                };
            }
            current = parse(&normal)?;
        }
    }

    #[test]
    fn escapes_that_hide_others_cost_no_more_than_their_length() {
        // Each hides the one behind it: by rounds 1,300 of them, each as long as the URL.
        let hidden = format!("https://a.example/{}{}", "%".repeat(1_300), "36".repeat(1_300));
        let nested = format!("https://a.example/{}61", "%%32%35".repeat(1_100));
        for url in [hidden, nested] {
            for _ in 0..2_000 {
                let found = canonical(&url).unwrap();
                assert_eq!(canonical(&found).as_deref(), Ok(found.as_str()));
            }
        }
    }

    #[test]
    fn hosts_and_domains() {
        let cases = [
            ("https://www.ics.uci.edu/~dvk/", "www.ics.uci.edu", "uci.edu"),
            ("https://user:pw@a.b.co.uk:8080/x", "a.b.co.uk", "b.co.uk"),
            ("http://127.0.0.1:8000/", "127.0.0.1", "127.0.0.1"),
            ("http://[::1]:80/", "[::1]", "[::1]"),
            ("http://localhost/", "localhost", "localhost"),
            ("http://a.example?x=a/b", "a.example", "a.example"),
        ];
        for (url, expected_host, domain) in cases {
            assert_eq!(host(url), expected_host, "{url}");
            assert_eq!(registrable_domain(host(url)), domain, "{url}");
        }
    }

    proptest! {
        #[test]
        fn one_pass_says_what_rounds_say(path in "[%0-9a-fA-F./?é]{0,40}") {
            let url = format!("https://a.example/{path}");
            prop_assert_eq!(canonical(&url), canonical_by_rounds(&url).map(escaped));
        }

        #[test]
        fn canonical_is_total_and_idempotent(tail in "[a-z%0-9A-F/.?#&=~ é\\\\@:|^\\[\\]`{}<>-]{0,40}") {
            for start in ["http://h.example/", "https://", "http://a.b:80", ""] {
                if let Ok(once) = canonical(&format!("{start}{tail}")) {
                    prop_assert_eq!(canonical(&once), Ok(once.clone()));
                    prop_assert!(!host(&once).is_empty());
                }
            }
        }
    }
}
