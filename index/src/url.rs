//! URLs: the canonical spelling and the groups a URL belongs to (host, registrable domain, site).
//!
//! Canonical means: parsed as WHATWG prescribes, fragment dropped, query kept, hex digits of
//! escapes in upper case, unreserved characters decoded, those that no URL may have in its path or query (RFC 3986) escaped,
//! as most crawlers do before they ask, default port dropped. Pages, links,
//! judgements and seeds all pass through [`canonical`], which is total and idempotent.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
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
    /// Longer than [`limits::URL_BYTES`].
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
    if current.len() > limits::URL_BYTES { Err(UrlError::TooLong) } else { Ok(current) }
}

fn parse(url: &str) -> Result<String, UrlError> {
    if url.len() > 4 * limits::URL_BYTES {
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
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
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
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if authority.starts_with('[') {
        return authority.split_inclusive(']').next().unwrap_or(authority);
    }
    authority.split(':').next().unwrap_or(authority)
}

/// A canonical URL but for what sites change of all their addresses at once: the scheme, and `www`.
pub(crate) fn without_scheme_and_www(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
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

/// Path of a canonical URL, from its first slash, without the query.
pub fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |slash| &rest[slash..]);
    path.split('?').next().unwrap_or(path)
}

/// Endings of paths that servers give to pages they make.
const PAGE_ENDINGS: &[&str] = &[
    "htm", "html", "shtml", "xhtml", "php", "php3", "php5", "phtml", "asp", "aspx", "jsp", "jspx",
    "cgi", "pl", "cfm", "do",
];
/// A longer ending of a path is none.
const ENDING_BYTES: usize = 5;

/// The type of file that a canonical URL seems to lead to: the ending of its path in lower case, and `html`
/// for those of pages and where there is none.
///
/// ```
/// use prospect_index::url::file_type;
///
/// assert_eq!(file_type("https://a.test/paper.PDF?v=1"), "pdf");
/// assert_eq!(file_type("https://a.test/index.php"), "html");
/// assert_eq!(file_type("https://a.test/v1.2-notes"), "html");
/// ```
pub fn file_type(url: &str) -> Cow<'_, str> {
    let name = path(url).rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let ending: Cow<'_, str> = if ending.bytes().any(|byte| byte.is_ascii_uppercase()) {
        ending.to_ascii_lowercase().into()
    } else {
        ending.into()
    };
    let is_ending = !ending.is_empty()
        && ending.len() <= ENDING_BYTES
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_ending || PAGE_ENDINGS.contains(&&*ending) { "html".into() } else { ending }
}

/// Depth of a URL: its non-empty path segments.
///
/// ```
/// use prospect_index::url::{depth, path};
///
/// assert_eq!(path("https://a.test/wiki/Crawl?page=2"), "/wiki/Crawl");
/// assert_eq!(depth("https://a.test/wiki/Crawl?page=2"), 2);
/// assert_eq!(depth("https://a.test/"), 0);
/// ```
pub fn depth(url: &str) -> usize {
    path(url).split('/').filter(|segment| !segment.is_empty()).count()
}

/// Host with the first path segment, as `host/segment`; a first segment is a directory only if
/// something follows it, so `host/page.html` belongs to `host/`.
fn first_directory(url: &str) -> Cow<'_, str> {
    let (host, mut segments) = (host(url), path(url)[1..].split('/'));
    let first = segments.next().unwrap_or("");
    let directory = if segments.next().is_some() || first.starts_with('~') { first } else { "" };
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
    let end = start + host.len() + 1 + directory.len();
    match url.get(start..end) {
        Some(site) if site.starts_with(host) && site[host.len()..].starts_with('/') => site.into(),
        // A user or a port lies between.
        _ => format!("{host}/{directory}").into(),
    }
}

/// What "site" means for a set of known URLs (METHODS, section 0).
///
/// ```
/// use prospect_index::url::SiteLevel;
///
/// // Too few hosts and domains to tell sites apart: first directories are the sites.
/// let urls = ["https://a.test/wiki/Crawl", "https://a.test/blog/2024", "https://b.test/about"];
/// let level = SiteLevel::of(urls.into_iter());
/// assert_eq!(level, SiteLevel::Directory);
/// assert_eq!(level.site(urls[0]), "a.test/wiki");
/// assert_eq!(SiteLevel::Host.site(urls[0]), "a.test");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteLevel {
    /// Registrable domain.
    Domain,
    /// Host.
    Host,
    /// Host and first path segment.
    Directory,
}

/// Groups that a level must make of the known URLs to be the site level.
pub const SITE_GROUPS: usize = 50;

impl SiteLevel {
    /// The coarsest level that divides `urls` into at least [`SITE_GROUPS`] groups; the finest
    /// where none does.
    #[allow(clippy::needless_pass_by_value, reason = "iterators are passed by value")]
    pub fn of<'a>(urls: impl Iterator<Item = &'a str> + Clone) -> Self {
        [Self::Domain, Self::Host]
            .into_iter()
            .find(|level| {
                let mut groups = HashSet::new();
                urls.clone().any(|url| {
                    groups.insert(level.site(url));
                    groups.len() >= SITE_GROUPS
                })
            })
            .unwrap_or(Self::Directory)
    }

    /// The site of a canonical URL at this level.
    pub fn site(self, url: &str) -> Cow<'_, str> {
        match self {
            Self::Domain => registrable_domain(host(url)).into(),
            Self::Host => host(url).into(),
            Self::Directory => first_directory(url),
        }
    }

    /// Name for outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Domain => "registrable domain",
            Self::Host => "host",
            Self::Directory => "host and first directory",
        }
    }
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
        let long = format!("https://example.com/{}", "a".repeat(limits::URL_BYTES));
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
                return if current.len() > limits::URL_BYTES {
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

    #[test]
    fn a_site_is_the_coarsest_level_with_fifty_groups() {
        let hosts: Vec<String> = (0..60).map(|i| format!("https://h{i}.example.org/a")).collect();
        assert_eq!(SiteLevel::of(hosts.iter().map(String::as_str)), SiteLevel::Host);
        let domains: Vec<String> = (0..60).map(|i| format!("https://d{i}.org/a")).collect();
        assert_eq!(SiteLevel::of(domains.iter().map(String::as_str)), SiteLevel::Domain);
        let one = ["https://x.org/wiki/A", "https://x.org/talk/B"];
        assert_eq!(SiteLevel::of(one.into_iter()), SiteLevel::Directory);
        assert_eq!(SiteLevel::Directory.site("https://x.org/wiki/A"), "x.org/wiki");
        assert_eq!(SiteLevel::Directory.site("https://x.org/A"), "x.org/");
        assert_eq!(SiteLevel::Directory.site("https://x.org"), "x.org/");
        assert_eq!(SiteLevel::Directory.site("https://x.org:81/wiki/A"), "x.org/wiki");
        assert_eq!(SiteLevel::Directory.site("https://x.org@x.org/wiki/A"), "x.org/wiki");
        assert_eq!(SiteLevel::Directory.site("https://x.org:81"), "x.org/");
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
                    let _ = depth(&once);
                    let site = first_directory(&once);
                    prop_assert_eq!(site.rsplit_once('/').map(|(host, _)| host), Some(host(&once)));
                }
            }
        }
    }
}
