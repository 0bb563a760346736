//! Re-visits in a batch: pages that are fetched again beside new URLs.
//!
//! They are in an order of their own, by what a visit now is worth in the long run, and compete for places by what
//! it brings before the next plan. Caps count them as they count new URLs.

use std::fmt;
use std::str::FromStr;

use prospect_index::page::UrlId;
use serde::{Deserialize, Serialize};

use super::explore::Pool;
use super::{Pick, UrlEstimate};

/// How much of a batch is for pages that were fetched before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum RevisitShare {
    /// Nothing.
    #[default]
    None,
    /// As much as is worth more than new URLs.
    Auto,
    /// This share, above 0.
    Share(f64),
}

impl RevisitShare {
    /// The same of the places that are not drawn at random, of all places.
    pub(super) fn of_greedy(self, greedy: usize, all: usize) -> Self {
        match self {
            Self::Share(share) => Self::Share(share * all as f64 / greedy.max(1) as f64),
            other => other,
        }
    }

    /// Whether nothing is.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::None
    }
}

impl fmt::Display for RevisitShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("0"),
            Self::Auto => f.write_str("auto"),
            Self::Share(share) => write!(f, "{share}"),
        }
    }
}

impl FromStr for RevisitShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.parse() {
            Ok(0.0) => Ok(Self::None),
            Ok(share) if share > 0.0 && share <= 1.0 => Ok(Self::Share(share)),
            _ => Err(format!("{text:?} is neither auto nor a share from 0 to 1")),
        }
    }
}

impl TryFrom<String> for RevisitShare {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<RevisitShare> for String {
    fn from(share: RevisitShare) -> Self {
        share.to_string()
    }
}

/// A page that may be fetched again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Revisit {
    /// The page.
    pub(crate) url: UrlId,
    /// Impact that it has in the lists.
    pub(crate) impact: f64,
    /// Chance that it has changed.
    pub(crate) chance: f64,
    /// Impact that a visit now brings until the next plan: what it competes with new URLs by.
    pub(crate) value: f64,
    /// What a visit now is worth in the long run: the order of re-visits.
    pub(crate) priority: f64,
    /// Pages that link to it.
    pub(crate) inlinks: u32,
}

impl Revisit {
    pub(super) fn pick(&self) -> Pick {
        let value = UrlEstimate::valued(self.url, self.value);
        let estimate = UrlEstimate { inlinks: self.inlinks, ..value };
        Pick { estimate, frontier_rank: 0, pool: Pool::Revisit, propensity: 1.0 }
    }
}

/// Whether the next place of a batch, in which `taken` of the `places` so far are re-visits, is for the re-visit and
/// not for the new URL; where there is none, no place is left empty. Where they compete, re-visits have the share `explore` in any case:
/// how pages change is learned from nothing else.
pub(super) fn is_next(
    (share, explore): (RevisitShare, f64),
    revisit: &Revisit,
    new: Option<&UrlEstimate>,
    (taken, places): (usize, usize),
) -> bool {
    // Spread over the batch, so that its head has its share, too.
    let is_due = |share: f64| (taken + 1) as f64 <= share * (places + 1) as f64;
    match share {
        RevisitShare::None => false,
        RevisitShare::Auto => new.is_none_or(|new| revisit.value > new.estimate) || is_due(explore),
        RevisitShare::Share(share) => new.is_none() || is_due(share),
    }
}
