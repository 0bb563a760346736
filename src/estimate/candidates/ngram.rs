//! Candidates by words: URLs whose own strings, or anchors that lead to them, hold enough of a query's
//! n-grams.

use prospect_index::ngram::{NgramIndex, NgramQuery, Scratch};
use prospect_index::page::UrlId;

use crate::estimate::EstimateError;
use crate::workload::QueryId;

/// Where the candidate URLs of a query come from.
pub(crate) trait MatchSource: Sync {
    /// URLs, ascending, that are not `masked` and whose strings may hold what `query`, the query
    /// number `at` of the workload, needs: all that match by the links that are looked at, and perhaps more. With each
    /// comes a weight of the query's n-grams; its strings hold no more. Those that hold less than `least` may be left out.
    ///
    /// # Errors
    /// The query holds longer n-grams than are indexed, or the index cannot be read.
    fn candidates(
        &self,
        at: QueryId,
        query: &NgramQuery,
        least: f64,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<(UrlId, f64)>, EstimateError>;

    /// A weight that perhaps as many as `count` URLs hold of a query; 0 where nobody knows.
    fn held_by(&self, _query: &NgramQuery, _count: usize, _scratch: &mut Scratch) -> f64 {
        0.0
    }
}

impl MatchSource for NgramIndex<'_> {
    fn candidates(
        &self,
        _at: QueryId,
        query: &NgramQuery,
        least: f64,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<(UrlId, f64)>, EstimateError> {
        let raised = (least > 0.0).then(|| query.clone().needing_at_least(least));
        let matches = self.match_query(raised.as_ref().unwrap_or(query), masked, scratch)?;
        let weighed = matches.into_iter().map(|found| (found.url, query.weight_of(&found.matched)));
        Ok(weighed.collect())
    }

    fn held_by(&self, query: &NgramQuery, count: usize, scratch: &mut Scratch) -> f64 {
        NgramIndex::held_by(self, query, count as u64, scratch)
    }
}

/// A fixed pseudo-random order of pairs, for samples that do not depend on threads or history.
pub(in crate::estimate) fn sample_key(query: QueryId, url: UrlId) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&query.0.to_le_bytes());
    bytes[4..].copy_from_slice(&url.0.to_le_bytes());
    xxhash_rust::xxh3::xxh3_64(&bytes)
}
