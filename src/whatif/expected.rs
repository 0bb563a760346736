//! What a batch is expected to bring under an answer: chances of its pairs to be in lists at the close, and still
//! when the crawl has grown by a quarter, times the share of such chances that past cycles realised (METHODS 5a).

use std::collections::HashMap;

use prospect_index::page::UrlId;

use crate::estimate::predict_entry::{EntryPrediction, expected_entries, predict_entry};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::planner::expected_impact::{ListChances, RealisedShare};
use crate::results::impact::{Both, ExpectedImpact};
use crate::sketch::served::ServedLists;
use crate::workload::{Query, QueryId};

/// What batches of an answer are judged by.
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
    /// Which share of what chances say is realised.
    pub(crate) shares: Both<RealisedShare>,
}

/// What a batch is expected to bring.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedBatch {
    /// Impact that it has in lists at the close, and that stays.
    pub(crate) impact: Both<ExpectedImpact>,
    /// What each of its URLs has of the impact at the close.
    pub(crate) of_url: Vec<f64>,
    /// By query: visibility that it takes in the list, which is pages where all places count alike.
    pub(crate) of_query: Vec<f64>,
}

impl Expecting<'_> {
    /// What these URLs are expected to bring.
    pub(crate) fn batch(&self, urls: &[UrlId]) -> ExpectedBatch {
        let pairs = self.pairs(urls);
        let (enters, stays) = (
            self.chances(&pairs, |pair| pair.chance),
            self.chances(&pairs, |pair| pair.stay_chance),
        );
        let mut of_query = vec![0.0; self.queries.len()];
        let mut of_page: HashMap<QueryId, f64> = HashMap::with_capacity(of_query.len());
        for (query, visibility, share) in enters.visibility(self.shares.enters.share()) {
            of_query[query.index()] = visibility;
            let seen = share * self.served.places().mean();
            of_page.insert(query, self.queries[query.index()].frequency * seen);
        }
        let of_pair = |pair: &EntryPrediction| pair.chance * of_page[&pair.pair.query];
        let of_url = |pairs: &Vec<EntryPrediction>| pairs.iter().map(of_pair).sum();
        ExpectedBatch {
            impact: Both {
                enters: self.shares.enters.expected(&enters),
                stays: self.shares.stays.expected(&stays),
            },
            of_url: pairs.iter().map(of_url).collect(),
            of_query,
        }
    }

    /// Impact that these URLs are expected to have in lists at the close.
    pub(crate) fn enters(&self, urls: &[UrlId]) -> f64 {
        let entries = expected_entries(self.scored, self.served, urls, self.rivals).into_iter();
        let chances = ListChances::new(entries, urls.len(), self.queries, self.served.places());
        chances.impact(self.shares.enters.share())
    }

    fn pairs(&self, urls: &[UrlId]) -> Vec<Vec<EntryPrediction>> {
        let competing: Vec<UrlId> = urls.iter().chain(self.rivals).copied().collect();
        let mut pairs = predict_entry(self.scored, self.served, &competing);
        pairs.truncate(urls.len());
        pairs
    }

    fn chances(
        &self,
        pairs: &[Vec<EntryPrediction>],
        chance: fn(&EntryPrediction) -> f64,
    ) -> ListChances {
        let of_query = pairs.iter().flatten().map(|pair| (pair.pair.query, chance(pair)));
        ListChances::new(of_query, pairs.len(), self.queries, self.served.places())
    }
}
