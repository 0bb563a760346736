//! Plans as text: one file per format, one line each in [`FORMATS`].
//!
//! A format of a crawler is what that crawler's documentation asks for, in the order of the batch. Where a
//! crawler orders by a number, it is such that its order is that of the batch, too: see
//! [`PlannedBatch::by_priority`]. All but `urls`, which has no place for it, say which plan a URL is of.

mod heritrix;
mod jsonl;
mod nutch;
mod scrapy;
mod stormcrawler;
mod tsv;
mod urlfrontier;
mod urls;

use std::io::{self, Write};

use serde::Serialize;

use super::explore::Pool;
use crate::estimate::parts::Parts;

/// One planned URL with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PlannedUrl {
    /// Position in the batch, from 1.
    pub(crate) rank: usize,
    /// The URL, in the spelling first seen.
    pub(crate) url: String,
    /// Blended estimate, in impact units: what the batch is ordered by.
    pub(crate) estimate: f64,
    /// Its parts, each by its column.
    #[serde(flatten, serialize_with = "Parts::by_column")]
    pub(crate) parts: Parts,
    /// Quality expected of the page, as a log-probability, where any is known.
    pub(crate) quality: Option<f64>,
    /// Crawled pages that link to it.
    pub(crate) inlinks: u32,
    /// Position in the whole frontier by estimate, from 1.
    pub(crate) frontier_rank: u32,
    /// Whether it is one of the best, drawn at random from those near them or far from them, or fetched again.
    pub(crate) pool: Pool,
    /// Probability with which it was picked.
    pub(crate) propensity: f64,
    /// Number of candidate queries.
    pub(crate) candidate_queries: usize,
    /// The queries that count most.
    pub(crate) queries: Vec<QueryReason>,
    /// When a polite crawler asks for it, in seconds from the first, where the plan has a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<f64>,
    /// Why it is fetched again, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revisit: Option<RevisitReason>,
    /// The queue of a polite crawler that it is in.
    #[serde(skip)]
    pub(crate) queue: String,
    /// Whether it was asked for before: its fetch failed, or its page is fetched again.
    #[serde(skip)]
    pub(crate) asked_before: bool,
}

/// Why a page is fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct RevisitReason {
    /// Chance that its text has changed.
    pub(crate) chance: f64,
    /// Impact that it has in the lists.
    pub(crate) impact: f64,
}

/// A plan as it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedBatch<'a> {
    /// Id of the plan; records of what was fetched may echo it.
    pub(crate) plan_id: &'a str,
    /// The batch, in the order in which it is to be fetched.
    pub(crate) urls: &'a [PlannedUrl],
}

impl PlannedBatch<'_> {
    /// URLs, each with a whole number that falls from one to the next: the last has 1.
    fn by_priority(&self) -> impl Iterator<Item = (usize, &PlannedUrl)> {
        (1..=self.urls.len()).rev().zip(self.urls)
    }
}

/// What one query has to do with a URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct QueryReason {
    /// Query id.
    pub(crate) qid: String,
    /// The query.
    pub(crate) query: String,
    /// Its frequency.
    pub(crate) frequency: f64,
    /// Chance to enter its top K.
    pub(crate) chance: f64,
    /// Expected score S'.
    pub(crate) expected_score: f64,
    /// K-th score of its served list; 0 if the list is not full.
    pub(crate) kth_score: f64,
    /// What matched, and where.
    pub(crate) matched: Vec<MatchedText>,
    /// How close it is in meaning, where one URL is explained and there is an embedding model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) similarity: Option<CosineEvidence>,
}

/// Cosines of the embedding of a query with those of what a URL is known by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct CosineEvidence {
    /// With the words of the URL.
    pub(crate) url: f32,
    /// With the nearest anchor.
    pub(crate) anchor: f32,
    /// With the nearest title of a page that links to it.
    pub(crate) title: f32,
}

/// The place of words that stand around links to a URL.
pub(crate) const AROUND_LINKS: &str = "around links";

/// n-grams of a query in one string.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MatchedText {
    /// "url" or "anchor"; where one URL is explained, also [`AROUND_LINKS`].
    pub(crate) place: &'static str,
    /// The anchor's text; empty for other places.
    pub(crate) text: String,
    /// The n-grams that occur and lie in no longer one that occurs.
    pub(crate) ngrams: Vec<String>,
}

/// How a plan is written.
pub(crate) struct PlanFormat {
    /// Name, as `--format` takes it.
    pub(crate) name: &'static str,
    /// One line for `prospect formats`.
    pub(crate) description: &'static str,
    write: fn(&mut dyn Write, &PlannedBatch<'_>) -> io::Result<()>,
}

/// Every format; the first is the default.
pub(crate) const FORMATS: &[PlanFormat] = &[
    jsonl::FORMAT,
    tsv::FORMAT,
    urls::FORMAT,
    scrapy::FORMAT,
    nutch::FORMAT,
    stormcrawler::FORMAT,
    urlfrontier::FORMAT,
    heritrix::FORMAT,
];

impl PlanFormat {
    /// The format of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Writes a plan.
    ///
    /// # Errors
    /// The writer fails.
    pub(crate) fn write(&self, out: &mut dyn Write, batch: &PlannedBatch<'_>) -> io::Result<()> {
        (self.write)(out, batch)
    }
}

/// Writes a JSON value on a line.
fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The URL with everything that lines are cut at encoded: pages spell URLs in every way.
pub(crate) fn without_blanks(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        if c.is_whitespace() || c.is_control() {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use prospect_index::url;

    use super::*;

    fn planned(rank: usize, url: &str) -> PlannedUrl {
        PlannedUrl {
            rank,
            url: url.to_owned(),
            estimate: 2.5,
            parts: Parts::default(),
            quality: None,
            inlinks: 3,
            frontier_rank: 7,
            pool: Pool::Greedy,
            propensity: 1.0,
            candidate_queries: 0,
            queries: Vec::new(),
            start: None,
            revisit: None,
            queue: url::host(url).to_owned(),
            asked_before: rank > 2,
        }
    }

    #[track_caller]
    fn check(format: &str, expected: &[&str]) {
        let urls = [planned(1, "https://a.test/x y"), planned(2, "http://b.test:81/?q=é")];
        let mut out = Vec::new();
        let batch = PlannedBatch { plan_id: "00ff", urls: &urls };
        PlanFormat::named(format).unwrap().write(&mut out, &batch).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn crawlers_get_what_they_read_in_the_order_of_the_batch() {
        check("urls", &["https://a.test/x%20y", "http://b.test:81/?q=é"]);
        check(
            "scrapy",
            &[
                r#"{"url":"https://a.test/x%20y","priority":2,"plan_id":"00ff"}"#,
                r#"{"url":"http://b.test:81/?q=é","priority":1,"plan_id":"00ff"}"#,
            ],
        );
        check(
            "nutch",
            &[
                "https://a.test/x%20y\tnutch.score=2\tplan_id=00ff",
                "http://b.test:81/?q=é\tnutch.score=1\tplan_id=00ff",
            ],
        );
        check(
            "stormcrawler",
            &[
                "https://a.test/x%20y\tplan_id=00ff\tplan_rank=1",
                "http://b.test:81/?q=é\tplan_id=00ff\tplan_rank=2",
            ],
        );
        check(
            "urlfrontier",
            &[
                r#"{"discovered":{"info":{"url":"https://a.test/x%20y","key":"a.test","metadata":{"plan_id":{"values":["00ff"]},"plan_rank":{"values":["1"]}}}},"ID":"https://a.test/x%20y"}"#,
                r#"{"discovered":{"info":{"url":"http://b.test:81/?q=é","key":"b.test","metadata":{"plan_id":{"values":["00ff"]},"plan_rank":{"values":["2"]}}}},"ID":"http://b.test:81/?q=é"}"#,
            ],
        );
        // What the frontier has served before it serves again only if it is told from when.
        let mut out = Vec::new();
        let again = PlannedUrl { queue: "192.0.2.7".to_owned(), ..planned(3, "https://a.test/") };
        let batch = PlannedBatch { plan_id: "00ff", urls: &[again] };
        PlanFormat::named("urlfrontier").unwrap().write(&mut out, &batch).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            (&line["known"]["refetchable_from_date"], &line["discovered"]),
            (&1.into(), &serde_json::Value::Null)
        );
        assert_eq!(line["known"]["info"]["key"], "192.0.2.7");
        check("heritrix", &["F+ https://a.test/x%20y", "F+ http://b.test:81/?q=é"]);
    }

    #[test]
    fn every_line_of_json_says_which_plan_it_is_of() {
        let urls = [planned(1, "https://a.test/")];
        let mut out = Vec::new();
        let batch = PlannedBatch { plan_id: "00ff", urls: &urls };
        PlanFormat::named("jsonl").unwrap().write(&mut out, &batch).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&line["plan_id"], &line["rank"]), (&"00ff".into(), &1.into()));
    }
}
