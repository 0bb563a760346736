//! What is read off a canonical URL: its path and how deep that is, the type of its file, and its site; and what people
//! may write for it and for its host.

use std::borrow::Cow;
use std::collections::HashSet;
use std::net::Ipv6Addr;

use prospect_index::page::UrlId;
use prospect_index::url::{after_scheme, canonical, host, registrable_domain};
use prospect_index::url_table::UrlTable;
use prospect_index::words::url_text;
use serde::{Deserialize, Serialize};

/// Path of a canonical URL, from its first slash, without the query.
pub(crate) fn path(url: &str) -> &str {
    let rest = after_scheme(url);
    let path = rest.find('/').map_or("/", |slash| &rest[slash..]);
    path.split('?').next().unwrap_or(path)
}

/// The name that canonical URLs have of a host, domain or address that somebody names: of letters beyond ASCII there, the
/// `xn--` form; none if it is more than a name, as with a port.
pub(crate) fn host_name(given: &str) -> Option<String> {
    let given = given.trim().trim_matches('.');
    if given.parse::<Ipv6Addr>().is_ok() {
        return Some(given.to_ascii_lowercase());
    }
    let is_bracketed = given.starts_with('[') && given.ends_with(']');
    if given.contains(['/', '\\', '?', '#', '@']) || given.contains(':') && !is_bracketed {
        return None;
    }
    Some(host(&canonical(&format!("https://{given}/")).ok()?).to_owned())
}

/// How people may write a URL: as it is canonical, and where that escapes letters beyond ASCII, as it was first seen if they
/// were there, and with these letters in the places of their escapes.
pub(crate) fn writings(urls: &UrlTable, id: UrlId) -> impl Iterator<Item = Cow<'_, str>> {
    let (canonical, seen) = (urls.url(id), urls.spelling(id));
    let seen = Some(seen).filter(|seen| !seen.is_ascii()).map(Cow::Borrowed);
    // Made only if the others do not do.
    let letters = std::iter::once_with(|| with_letters(canonical)).flatten();
    std::iter::once(Cow::Borrowed(canonical)).chain(seen).chain(letters)
}

/// A canonical URL with letters beyond ASCII in its host and in the places of their escapes, if it has any. Other escapes
/// stay: what is escaped of ASCII means something else.
fn with_letters(canonical: &str) -> Option<Cow<'_, str>> {
    if !canonical.contains('%') && !canonical.contains("xn--") {
        return None;
    }
    let mut parts = canonical.split('%');
    let mut kept = parts.next()?.to_owned();
    for part in parts {
        let is_ascii = part.starts_with(|digit: char| ('0'..'8').contains(&digit));
        kept += if is_ascii { "%25" } else { "%" };
        kept += part;
    }
    let (letters, (scheme, _)) = (url_text(&kept), canonical.split_once("://")?);
    (!letters.is_ascii()).then(|| format!("{scheme}://{letters}").into())
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
pub(crate) fn file_type(url: &str) -> Cow<'_, str> {
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
pub(crate) fn depth(url: &str) -> usize {
    path(url).split('/').filter(|segment| !segment.is_empty()).count()
}

/// Host with the first path segment, as `host/segment`; a first segment is a directory only if
/// something follows it, so `host/page.html` belongs to `host/`.
fn first_directory(url: &str) -> Cow<'_, str> {
    let (host, mut segments) = (host(url), path(url)[1..].split('/'));
    let first = segments.next().unwrap_or("");
    let directory = if segments.next().is_some() || first.starts_with('~') { first } else { "" };
    let start = url.len() - after_scheme(url).len();
    let end = start + host.len() + 1 + directory.len();
    match url.get(start..end) {
        Some(site) if site.starts_with(host) && site[host.len()..].starts_with('/') => site.into(),
        // A user or a port lies between.
        _ => format!("{host}/{directory}").into(),
    }
}

/// What "site" means for a set of known URLs (METHODS, section 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SiteLevel {
    /// Registrable domain.
    Domain,
    /// Host.
    Host,
    /// Host and first path segment.
    Directory,
}

/// Groups that a level must make of the known URLs to be the site level.
pub(crate) const SITE_GROUPS: usize = 50;

impl SiteLevel {
    /// The coarsest level that divides `urls` into at least [`SITE_GROUPS`] groups; the finest
    /// where none does.
    #[allow(clippy::needless_pass_by_value, reason = "iterators are passed by value")]
    pub(crate) fn of<'a>(urls: impl Iterator<Item = &'a str> + Clone) -> Self {
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
    pub(crate) fn site(self, url: &str) -> Cow<'_, str> {
        match self {
            Self::Domain => registrable_domain(host(url)).into(),
            Self::Host => host(url).into(),
            Self::Directory => first_directory(url),
        }
    }

    /// Name for outputs.
    pub(crate) fn name(self) -> &'static str {
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
    use prospect_index::url::canonical;

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

    #[test]
    fn a_path_tells_the_type_of_its_file_and_its_depth() {
        assert_eq!(file_type("https://a.test/paper.PDF?v=1"), "pdf");
        assert_eq!(file_type("https://a.test/index.php"), "html");
        assert_eq!(file_type("https://a.test/v1.2-notes"), "html");
        assert_eq!(path("https://a.test/wiki/Crawl?page=2"), "/wiki/Crawl");
        assert_eq!(depth("https://a.test/wiki/Crawl?page=2"), 2);
        assert_eq!(depth("https://a.test/"), 0);
    }

    proptest! {
        #[test]
        fn a_directory_is_of_its_host(tail in "[a-z%0-9A-F/.?#&=~ é\\\\@:|^\\[\\]`{}<>-]{0,40}") {
            for start in ["http://h.example/", "https://", "http://a.b:80", ""] {
                if let Ok(url) = canonical(&format!("{start}{tail}")) {
                    let _ = depth(&url);
                    let site = first_directory(&url);
                    prop_assert_eq!(site.rsplit_once('/').map(|(host, _)| host), Some(host(&url)));
                }
            }
        }
    }
}
