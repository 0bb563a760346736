//! What stays (METHODS 5a): which pages of a closed cycle are in result lists when the crawl has grown by a
//! quarter since its close.
//!
//! Lists get harder to be in as a crawl goes on, and early ones hold the best of little: what a batch brought
//! for its queries shows only later.

use std::collections::{HashMap, HashSet};

use prospect_index::page::UrlId;

use super::cycle::PlannedPair;
use crate::estimate::predict_entry::GROWTH;
use crate::sketch::served::ServedLists;
use crate::workload::{Query, QueryId};

/// Whether it can be seen what stays of a cycle that was closed with `then` pages, now that there are `now`.
pub(crate) fn is_due(then: usize, now: usize) -> bool {
    now as f64 >= GROWTH * then as f64
}

/// A page of a cycle and a query: a candidate pair of a fetched pick, or a list that one is in unforeseen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StayedPair {
    /// The page.
    pub(crate) url: UrlId,
    /// The query, by place in the plan's workload.
    pub(crate) query: QueryId,
    /// What was expected, if it was a candidate.
    pub(crate) planned: Option<PlannedPair>,
    /// Its rank in the query's list, from 1; 0 where it is not in it.
    pub(crate) rank: u32,
    /// Impact of that rank: f(q) V(rank).
    pub(crate) impact: f64,
}

/// What the lists of today have of the pages `fetched` for a plan with these candidate pairs: the pairs in
/// their order, then lists that nobody expected one in, by query and rank.
pub(crate) fn stayed(
    pairs: &[PlannedPair],
    fetched: &HashSet<UrlId>,
    queries: &[Query],
    lists: &ServedLists,
) -> Vec<StayedPair> {
    let mut ranks: HashMap<(QueryId, UrlId), u32> = HashMap::new();
    for (at, list) in lists.lists.iter().enumerate() {
        let ranked = list.iter().zip(1..).filter(|((url, _), _)| fetched.contains(url));
        ranks.extend(ranked.map(|((url, _), rank)| ((QueryId::new(at), *url), rank)));
    }
    let row = |url, query: QueryId, planned, rank: u32| {
        let visibility = if rank > 0 { lists.places().at(rank as usize) } else { 0.0 };
        let impact = queries[query.index()].frequency * visibility;
        StayedPair { url, query, planned, rank, impact }
    };
    let mut rows = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().filter(|pair| fetched.contains(&pair.url)) {
        let rank = ranks.remove(&(pair.query, pair.url)).unwrap_or(0);
        rows.push(row(pair.url, pair.query, Some(*pair), rank));
    }
    let mut unforeseen: Vec<_> = ranks.into_iter().collect();
    unforeseen.sort_unstable_by_key(|((query, _), rank)| (*query, *rank));
    rows.extend(unforeseen.into_iter().map(|((query, url), rank)| row(url, query, None, rank)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketch::visibility::Visibility;

    #[test]
    fn a_quarter_more_pages_are_enough() {
        assert!(!is_due(100, 124) && is_due(100, 125) && is_due(0, 0));
    }

    #[test]
    fn candidates_and_lists_that_nobody_expected_are_told() {
        let pair = |url, query| PlannedPair {
            url: UrlId(url),
            query: QueryId(query),
            chance: 0.5,
            entry_chance: 0.5,
            stay_chance: 0.5,
            margin: 0.0,
            matches: true,
        };
        let queries = [("a", 2.0), ("b", 3.0)].map(|(qid, f)| Query::new(qid, "w", f, ""));
        let list = |urls: &[u32]| urls.iter().map(|&url| (UrlId(url), 1.0)).collect();
        let lists = ServedLists {
            k: 10,
            visibility: Visibility::Log,
            end_seq: 9,
            lists: vec![list(&[7, 1]), list(&[2, 1])],
        };
        // Page 3 was not fetched; page 7 is of another plan.
        let (pairs, fetched) = ([pair(1, 0), pair(2, 0), pair(3, 0)], [UrlId(1), UrlId(2)]);
        let rows = stayed(&pairs, &fetched.into(), &queries, &lists);
        let told: Vec<(u32, u32, bool, u32)> = rows
            .iter()
            .map(|row| (row.url.0, row.query.0, row.planned.is_some(), row.rank))
            .collect();
        let second = 1.0 / 3.0_f64.log2();
        assert_eq!(told, [(1, 0, true, 2), (2, 0, true, 0), (2, 1, false, 1), (1, 1, false, 2)]);
        let impact: Vec<f64> = rows.iter().map(|row| row.impact).collect();
        assert_eq!(impact, [2.0 * second, 0.0, 3.0, 3.0 * second]);
    }
}
