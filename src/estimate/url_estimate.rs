//! What estimates look like: of a candidate pair, and of a URL of the frontier.

use std::sync::Arc;

use prospect_index::page::UrlId;
use serde::{Deserialize, Serialize};

use super::models::score_levels::ScoreLevels;
use super::pair_table::PairTable;
use super::parts::Parts;
use crate::workload::QueryId;

/// A candidate pair of the frontier with its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairEstimate {
    /// The URL.
    pub url: UrlId,
    /// Index of the query.
    pub(crate) query: QueryId,
    /// Expected score S'.
    pub expected_score: f64,
    /// Chance to be in the query's top K for good; with the sketch reading 0 or 1, whether S' enters
    /// the sketch. Where its places are not seen alike, the visibility that is expected instead.
    pub chance: f64,
    /// Whether the URL or its anchors match the query; if not, its best pages link to it, or it is near to
    /// the query in meaning.
    pub(crate) matches: bool,
    /// Bin of the score model that the expected score falls in; 0 without one.
    pub(crate) bin: u16,
}

/// Estimate of one URL, in impact units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlEstimate {
    /// The URL.
    pub url: UrlId,
    /// Its parts.
    pub parts: Parts,
    /// Quality expected of the page, as a log-probability, where any is known.
    pub(crate) quality: Option<f64>,
    /// What is left of it for past picks of its site that broke promises; 1 where they did not.
    pub reliability: f64,
    /// Chance that it gives a page when it is asked for; 1 where nothing failed so far.
    pub fetch: f64,
    /// Chance that the page has a text; 1 where every page had one so far.
    pub(crate) text: f64,
    /// Whether it waits behind the URLs of others: its domain is new and has better ones, or nobody vouches for it.
    pub deferred: bool,
    /// What URLs are ranked by: with the objective that is a sum over URLs, its blend times its reliability and the
    /// chances that it gives a page and that this has a text; with the other, what the rest of the batch leaves of that.
    /// Next to nothing of it where it waits.
    pub estimate: f64,
    /// Pages that link to it.
    pub(crate) inlinks: u32,
}

/// Reliability below which nobody makes room for a site.
const BELIEVED: f64 = 0.8;

impl UrlEstimate {
    /// Of a URL that nothing is known of but its value.
    pub(crate) fn valued(url: UrlId, value: f64) -> Self {
        Self {
            url,
            parts: Parts::default(),
            quality: None,
            reliability: 1.0,
            fetch: 1.0,
            text: 1.0,
            deferred: false,
            estimate: value,
            inlinks: 0,
        }
    }

    /// Whether room is made for its site where the batch has some: it does not wait, and past picks kept about what
    /// they promised. Others get what they are worth beside everybody else.
    pub(crate) fn is_welcome(&self) -> bool {
        !self.deferred && self.reliability >= BELIEVED
    }
}

/// What models of pages expect of a URL, in units of the mean impact of crawled pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PageImpact {
    /// Impact of the page.
    pub(super) own: f64,
    /// Impact, above the mean page's, of the pages that it is the first to link to.
    pub(super) discovery: f64,
}

/// What a reading finds.
pub(super) struct ScoredCandidates {
    /// Candidate pairs.
    pub(super) pairs: Arc<PairTable>,
    /// By URL: what models of pages expect; empty without one.
    pub(super) page_impact: Vec<PageImpact>,
    /// Pairs that scores were learned from.
    pub(super) training_pairs: usize,
    /// Distributions of scores, where they are learned.
    pub(super) levels: Option<ScoreLevels>,
}
