//! Re-visits in a batch: pages that are fetched again beside new URLs.
//!
//! They are in an order of their own, by what a visit now is worth in the long run, and compete for places by what
//! it brings before the next plan. Caps count them as they count new URLs.

use std::fmt;
use std::str::FromStr;

use prospect_index::page::UrlId;
use serde::{Deserialize, Serialize};

use super::explore::Pool;
use super::{Pick, SelectionSettings, UrlEstimate};

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
    fn of_greedy(self, greedy: usize, all: usize) -> Self {
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
    /// Impact that a visit now brings until the next plan.
    pub(crate) value: f64,
    /// Estimate of a new URL that is expected to bring as much: what it competes by.
    pub(crate) estimate: f64,
    /// What a visit now is worth in the long run: the order of re-visits.
    pub(crate) priority: f64,
    /// Pages that link to it.
    pub(crate) inlinks: u32,
}

impl Revisit {
    pub(super) fn pick(&self) -> Pick {
        let value = UrlEstimate::valued(self.url, self.estimate);
        let estimate = UrlEstimate { inlinks: self.inlinks, ..value };
        Pick { estimate, frontier_rank: 0, pool: Pool::Revisit, propensity: 1.0 }
    }
}

/// What is offered a place of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offer<'a> {
    /// The new URL at this place of the ranking.
    New(usize),
    /// A page that was fetched before.
    Again(&'a Revisit),
}

impl Offer<'_> {
    /// Its URL.
    pub(crate) fn url(self, ranking: &[UrlEstimate]) -> UrlId {
        match self {
            Self::New(at) => ranking[at].url,
            Self::Again(revisit) => revisit.url,
        }
    }
}

/// New URLs in the order of their ranking, and re-visits in theirs, as they are offered the places of a batch that are
/// not drawn at random.
pub(crate) struct Offers<'a> {
    ranking: &'a [UrlEstimate],
    revisits: &'a [Revisit],
    share: RevisitShare,
    /// What re-visits have in any case where they compete: how pages change is learned from nothing else.
    least: f64,
    /// New URLs and re-visits that were offered a place.
    offered: (usize, usize),
    /// Places that are taken by either.
    taken: (usize, usize),
}

impl<'a> Offers<'a> {
    /// Of a batch with so many places that are not drawn.
    pub(crate) fn new(
        ranking: &'a [UrlEstimate],
        revisits: &'a [Revisit],
        settings: &SelectionSettings,
        places: usize,
    ) -> Self {
        let share = settings.revisit.of_greedy(places, settings.budget);
        let least = settings.explore;
        Self { ranking, revisits, share, least, offered: (0, 0), taken: (0, 0) }
    }

    /// What is offered the next place; nothing at the end of both. Where there is no new URL, no place is left empty
    /// while there are re-visits that may have some.
    pub(crate) fn next(&mut self) -> Option<Offer<'a>> {
        let (new, again) = self.offered;
        let next_new = self.ranking.get(new);
        let revisit = self.revisits.get(again).filter(|revisit| self.is_next(revisit, next_new));
        if let Some(revisit) = revisit {
            self.offered.1 += 1;
            return Some(Offer::Again(revisit));
        }
        next_new.map(|_| {
            self.offered.0 += 1;
            Offer::New(new)
        })
    }

    /// Whether the next place is for the re-visit and not for the new URL.
    fn is_next(&self, revisit: &Revisit, new: Option<&UrlEstimate>) -> bool {
        let (by_new, by_again) = self.taken;
        // Spread over the batch, so that its head has its share, too.
        let is_due = |share: f64| (by_again + 1) as f64 <= share * (by_new + by_again + 1) as f64;
        match self.share {
            RevisitShare::None => false,
            RevisitShare::Auto => {
                new.is_none_or(|new| revisit.estimate > new.estimate) || is_due(self.least)
            }
            RevisitShare::Share(share) => new.is_none() || is_due(share),
        }
    }

    /// What was offered a place takes it.
    pub(crate) fn take(&mut self, offer: Offer<'_>) {
        match offer {
            Offer::New(_) => self.taken.0 += 1,
            Offer::Again(_) => self.taken.1 += 1,
        }
    }

    /// How much of the ranking was offered a place.
    pub(crate) fn offered(&self) -> usize {
        self.offered.0
    }
}
