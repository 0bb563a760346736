//! Keys of records that nothing reads, and the field that whoever wrote them may have meant. No I/O.
//!
//! A record with `uri` is one without a URL, and one with `links` a page without links: nothing is wrong with it, and
//! nothing comes of it. Only keys that look like a field are told, and only where the record has no such field: what
//! else a record holds is nobody's business.

use std::collections::BTreeMap;

use super::Origin;

/// Names that other programs have for a field, without case and what joins words.
const MEANT: &[(&str, &[&str])] = &[
    (
        "url",
        &["uri", "link", "href", "address", "pageurl", "finalurl", "targeturi", "warctargeturi"],
    ),
    ("title", &["pagetitle", "heading", "headline"]),
    (
        "text",
        &[
            "html",
            "rawhtml",
            "body",
            "bodytext",
            "content",
            "contents",
            "pagecontent",
            "markdown",
            "extractedtext",
            "maintext",
        ],
    ),
    ("outlinks", &["links", "hyperlinks", "pagelinks", "outboundlinks", "anchors"]),
    ("status", &["code", "statuscode", "httpstatus", "httpcode", "responsecode"]),
    ("error", &["errormessage", "exception"]),
    ("requested_url", &["requesturl", "originalurl", "redirectedfrom"]),
    ("fetched_at", &["timestamp", "crawledat", "crawldate", "fetchdate", "fetched", "date"]),
    ("plan_id", &["plan"]),
];
/// The same of a link in `outlinks`.
const MEANT_IN_LINKS: &[(&str, &[&str])] = &[
    ("url", &["uri", "link", "href", "target", "to", "dst"]),
    ("anchor", &["text", "title", "label", "anchortext", "linktext"]),
    ("around", &["context", "surrounding"]),
];
/// Names of this many bytes may be misspelt in one letter, and in two from twice as many.
const LEAST_LETTERS: usize = 4;

/// A key that nothing read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Misnamed {
    /// As it is written, behind `outlinks.` where it is one of a link.
    pub(crate) key: String,
    /// The field that may have been meant.
    pub(crate) meant: &'static str,
}

/// Which keys were met that nothing reads: how many records have each, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MisnamedKeys(pub(crate) BTreeMap<Misnamed, (u64, Origin)>);

impl MisnamedKeys {
    /// Counts those of a record.
    pub(super) fn count(&mut self, found: Vec<Misnamed>, origin: &Origin) {
        for key in found {
            self.0.entry(key).or_insert_with(|| (0, origin.clone())).0 += 1;
        }
    }

    /// Adds those of a later source.
    pub(super) fn join(&mut self, later: Self) {
        for (key, (count, first)) in later.0 {
            self.0.entry(key).or_insert_with(|| (0, first)).0 += count;
        }
    }
}

/// What was meant by a key of a record that has the fields `has`.
pub(super) fn of_record(key: &str, has: impl Fn(&str) -> bool) -> Option<Misnamed> {
    let meant = meant(key, MEANT).filter(|meant| !has(meant))?;
    Some(Misnamed { key: key.to_owned(), meant })
}

/// What was meant by a key of a link.
pub(super) fn of_link(key: &str) -> Option<Misnamed> {
    let meant = meant(key, MEANT_IN_LINKS)?;
    Some(Misnamed { key: format!("outlinks.{key}"), meant })
}

fn meant(key: &str, names: &[(&'static str, &[&str])]) -> Option<&'static str> {
    let plain = plain(key);
    let other = names.iter().find(|(_, others)| others.contains(&plain.as_str()));
    let found =
        other.or_else(|| names.iter().find(|(name, _)| is_near(&self::plain(name), &plain)));
    found.map(|(name, _)| *name)
}

/// Whether this name, misspelt, may be what is written.
pub(crate) fn is_near(name: &str, written: &str) -> bool {
    let most = name.len() / LEAST_LETTERS;
    strsim::osa_distance(name, written) <= most.min(2)
}

/// A name without case and what joins words.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_field_is_one_and_what_does_not_is_none() {
        for (key, expected) in [
            ("uri", Some("url")),
            ("Url", Some("url")),
            ("WARC-Target-URI", Some("url")),
            ("links", Some("outlinks")),
            ("out_links", Some("outlinks")),
            ("outlink", Some("outlinks")),
            ("html", Some("text")),
            ("txet", Some("text")),
            ("titel", Some("title")),
            ("statusCode", Some("status")),
            ("fetchedAt", Some("fetched_at")),
            ("requested-url", Some("requested_url")),
            ("id", None),
            ("language", None),
            ("urls", None),
            ("", None),
        ] {
            let found = of_record(key, |_| false);
            assert_eq!(found.map(|found| found.meant), expected, "{key}");
        }
    }

    #[test]
    fn a_record_that_has_the_field_misnames_nothing() {
        assert_eq!(of_record("html", |name| name == "text"), None);
        assert_eq!(of_link("href").unwrap().key, "outlinks.href");
    }
}
