//! Plans as text: one file per format, one line each in [`FORMATS`].

mod jsonl;
mod tsv;
mod urls;

use std::io::{self, Write};

use serde::Serialize;

use super::explore::Pool;
use crate::estimate::parts::Parts;

/// One planned URL with its reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedUrl {
    /// Position in the batch, from 1.
    pub rank: usize,
    /// The URL, in the spelling first seen.
    pub url: String,
    /// Blended estimate, in impact units: what the batch is ordered by.
    pub estimate: f64,
    /// Its parts, each by its column.
    #[serde(flatten, serialize_with = "Parts::by_column")]
    pub parts: Parts,
    /// Quality expected of the page, as a log-probability, where any is known.
    pub quality: Option<f64>,
    /// Crawled pages that link to it.
    pub inlinks: u32,
    /// Position in the whole frontier by estimate, from 1.
    pub frontier_rank: u32,
    /// Whether it is one of the best, or drawn at random from those near them or far from them.
    pub pool: Pool,
    /// Probability with which it was picked.
    pub propensity: f64,
    /// Number of candidate queries.
    pub candidate_queries: usize,
    /// The queries that count most.
    pub queries: Vec<QueryReason>,
}

/// What one query has to do with a URL.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryReason {
    /// Query id.
    pub qid: String,
    /// The query.
    pub query: String,
    /// Its frequency.
    pub frequency: f64,
    /// Chance to enter its top K.
    pub chance: f64,
    /// Expected score S'.
    pub expected_score: f64,
    /// K-th score of its served list; 0 if the list is not full.
    pub kth_score: f64,
    /// What matched, and where.
    pub matched: Vec<MatchedText>,
    /// How close it is in meaning, where one URL is explained and there is an embedding model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<CosineEvidence>,
}

/// Cosines of the embedding of a query with those of what a URL is known by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CosineEvidence {
    /// With the words of the URL.
    pub url: f32,
    /// With the nearest anchor.
    pub anchor: f32,
    /// With the nearest title of a page that links to it.
    pub title: f32,
}

/// The place of words that stand around links to a URL.
pub const AROUND_LINKS: &str = "around links";

/// n-grams of a query in one string.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchedText {
    /// "url" or "anchor"; where one URL is explained, also [`AROUND_LINKS`].
    pub place: &'static str,
    /// The anchor's text; empty for other places.
    pub text: String,
    /// The n-grams that occur and lie in no longer one that occurs.
    pub ngrams: Vec<String>,
}

/// How a plan is written.
pub struct PlanFormat {
    /// Name, as `--format` takes it.
    pub name: &'static str,
    /// One line for `prospect formats`.
    pub description: &'static str,
    write: fn(&mut dyn Write, &[PlannedUrl]) -> io::Result<()>,
}

/// Every format; the first is the default.
pub const FORMATS: &[PlanFormat] = &[jsonl::FORMAT, tsv::FORMAT, urls::FORMAT];

impl PlanFormat {
    /// The format of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Writes a plan.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write(&self, out: &mut dyn Write, planned: &[PlannedUrl]) -> io::Result<()> {
        (self.write)(out, planned)
    }
}
