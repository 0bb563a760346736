//! What any batch of scored pairs is expected to bring: chances of its pairs to be in lists at the close, what any pages
//! bring unforeseen, and the shares of both that past cycles realised (METHODS 5a).

use prospect_index::page::UrlId;

use super::expected_impact::{BatchSize, ListChances, Lists, RealisedShares, Visible};
use crate::estimate::predict_entry::{EntryPrediction, expected_entries, predict_entry};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::plan::Batch;
use crate::plan::explore::Pool;
use crate::results::impact::{Both, ExpectedImpact};
use crate::sketch::served::ServedLists;
use crate::workload::{Query, QueryId};

/// What batches are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Expecting<'a> {
    /// Queries with their frequencies.
    pub(crate) queries: &'a [Query],
    /// Their served lists.
    pub(crate) served: &'a ServedLists,
    /// Pairs of all of them.
    pub(crate) scored: &'a ScoredPairs,
    /// URLs that compete with every batch for places.
    pub(crate) rivals: &'a [UrlId],
    /// Which shares of what is said of batches are realised.
    pub(crate) shares: RealisedShares,
    /// Pages of the crawl.
    pub(crate) pages: usize,
}

/// What a batch is expected to bring.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedBatch {
    /// Impact that it has in lists at the close, and that stays.
    pub(crate) impact: Both<ExpectedImpact>,
    /// What each of its URLs has of the impact at the close. In lists that nothing points to all new ones have as much.
    pub(crate) of_url: Vec<f64>,
    /// By query: visibility that it takes in the list, which is pages where all places count alike.
    pub(crate) of_query: Vec<f64>,
}

impl Expecting<'_> {
    /// What a batch is expected to bring.
    pub(crate) fn batch(&self, batch: &Batch) -> ExpectedBatch {
        let urls: Vec<UrlId> = batch.picks.iter().map(|pick| pick.estimate.url).collect();
        let (pairs, new) = (self.pairs(&urls), urls.len() - batch.revisits());
        let of_query = pairs.iter().flatten().map(|pair| (pair.pair.query, pair.chance));
        let chances = self.chances(of_query, new);
        let visible = self.shares.by_query(&chances);
        let unforeseen = visible.iter().zip(self.queries);
        let unforeseen: f64 =
            unforeseen.map(|(visible, query)| query.frequency * visible.unforeseen).sum();
        let of_new = unforeseen / new.max(1) as f64;
        let of_url = batch.picks.iter().zip(&pairs).map(|(pick, pairs)| {
            let foreseen = self.foreseen(pairs, &visible);
            if pick.pool == Pool::Revisit { foreseen } else { foreseen + of_new }
        });
        ExpectedBatch {
            impact: self.shares.expected(&chances),
            of_url: of_url.collect(),
            of_query: visible.iter().map(|visible| visible.visibility).collect(),
        }
    }

    /// Impact that these pairs are expected to have in lists at the close, where so much of a batch is visible by query.
    fn foreseen(&self, pairs: &[EntryPrediction], visible: &[Visible]) -> f64 {
        let of_pairs = pairs.iter().map(|pair| {
            let query = pair.pair.query.index();
            let seen = visible[query].of_chance * self.served.places().mean();
            pair.chance * self.queries[query].frequency * seen
        });
        of_pairs.sum()
    }

    /// Impact that these URLs are expected to have in lists at the close.
    pub(crate) fn enters(&self, urls: &[UrlId]) -> f64 {
        let entries = expected_entries(self.scored, self.served, urls, self.rivals).into_iter();
        self.shares.enters(&self.chances(entries, urls.len()))
    }

    fn pairs(&self, urls: &[UrlId]) -> Vec<Vec<EntryPrediction>> {
        let competing: Vec<UrlId> = urls.iter().chain(self.rivals).copied().collect();
        let mut pairs = predict_entry(self.scored, self.served, &competing);
        pairs.truncate(urls.len());
        pairs
    }

    fn chances(&self, of_query: impl Iterator<Item = (QueryId, f64)>, picks: usize) -> ListChances {
        let size = BatchSize::beside(self.pages, picks as f64);
        let (queries, taken) = (self.queries, &self.served.taken());
        ListChances::new(of_query, size, Lists { queries, taken, places: self.served.places() })
    }
}
