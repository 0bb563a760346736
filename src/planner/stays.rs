//! What stays (METHODS 5a): which pages of a closed cycle are in result lists when the crawl has grown by a
//! quarter since its close.
//!
//! Lists get harder to be in as a crawl goes on, and early ones hold the best of little: what a batch brought
//! for its queries shows only later.

use std::collections::HashSet;

use prospect_index::page::UrlId;

use crate::sketch::served::ServedLists;
use crate::workload::{Query, QueryId};

/// Pages of the crawl, over those at the close of a cycle, at which is seen what stays.
pub(crate) const GROWTH: f64 = 1.25;

/// Whether it can be seen what stays of a cycle that was closed with `then` pages, now that there are `now`.
pub(crate) fn is_due(then: usize, now: usize) -> bool {
    now as f64 >= GROWTH * then as f64
}

/// A list that a page of a cycle is in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StayedPage {
    /// The page.
    pub(crate) url: UrlId,
    /// The query, by place in the plan's workload.
    pub(crate) query: QueryId,
    /// Its rank in the query's list, from 1.
    pub(crate) rank: u32,
    /// Impact of that rank: f(q) V(rank).
    pub(crate) impact: f64,
}

/// What the lists of today have of the pages `fetched` for a plan, by query and rank.
pub(crate) fn stayed(
    fetched: &HashSet<UrlId>,
    queries: &[Query],
    lists: &ServedLists,
) -> Vec<StayedPage> {
    let mut stayed = Vec::new();
    for (at, list) in lists.lists.iter().enumerate() {
        let ranked = (1..).zip(list).filter(|(_, (url, _))| fetched.contains(url));
        stayed.extend(ranked.map(|(rank, &(url, _))| {
            let impact = queries[at].frequency * lists.places().at(rank as usize);
            StayedPage { url, query: QueryId::new(at), rank, impact }
        }));
    }
    stayed
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
    fn pages_of_the_cycle_are_told_and_no_others() {
        let queries = [("a", 2.0), ("b", 3.0)].map(|(qid, f)| Query::new(qid, "w", f, ""));
        let list = |urls: &[u32]| urls.iter().map(|&url| (UrlId(url), 1.0)).collect();
        let lists = ServedLists {
            k: 10,
            visibility: Visibility::Log,
            end_seq: 9,
            lists: vec![list(&[7, 1]), list(&[2, 1])],
        };
        // Page 7 is of another plan.
        let rows = stayed(&[UrlId(1), UrlId(2)].into(), &queries, &lists);
        let told: Vec<(u32, u32, u32)> =
            rows.iter().map(|row| (row.url.0, row.query.0, row.rank)).collect();
        assert_eq!(told, [(1, 0, 2), (2, 1, 1), (1, 1, 2)]);
        let second = 1.0 / 3.0_f64.log2();
        let impact: Vec<f64> = rows.iter().map(|row| row.impact).collect();
        assert_eq!(impact, [2.0 * second, 3.0, 3.0 * second]);
    }
}
