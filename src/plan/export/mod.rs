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
    /// Whether it is one of the best, or drawn at random from those near them or far from them.
    pub(crate) pool: Pool,
    /// Probability with which it was picked.
    pub(crate) propensity: f64,
    /// Number of candidate queries.
    pub(crate) candidate_queries: usize,
    /// The queries that count most.
    pub(crate) queries: Vec<QueryReason>,
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
    write: fn(&mut dyn Write, &[PlannedUrl]) -> io::Result<()>,
}

/// Every format; the first is the default.
pub(crate) const FORMATS: &[PlanFormat] = &[jsonl::FORMAT, tsv::FORMAT, urls::FORMAT];

impl PlanFormat {
    /// The format of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Writes a plan.
    ///
    /// # Errors
    /// The writer fails.
    pub(crate) fn write(&self, out: &mut dyn Write, planned: &[PlannedUrl]) -> io::Result<()> {
        (self.write)(out, planned)
    }
}
