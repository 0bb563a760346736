//! Served lists, sketches and neediness: what search returns now, and which queries need help.
//!
//! A *served list* is the top K of a query over the crawled pages. A *sketch* (Pandey and Olston,
//! WSDM 2008) is the top K of crawled pages and matching uncrawled ones by expected score. Not
//! here: files, and what a page is worth.

pub(crate) mod need;
pub mod served;
pub(crate) mod visibility;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;

/// Length of a result list (METHODS, section 1: V(r) = 1 for r <= 10).
pub(crate) const DEFAULT_K: usize = 10;

/// Inserts into a list ranked by score descending, then canonical URL ascending, and keeps the
/// first `k`.
pub(crate) fn insert_ranked(
    top: &mut Vec<(UrlId, f64)>,
    entry: (UrlId, f64),
    k: usize,
    urls: &UrlTable,
) {
    if top.len() >= k && !top.last().is_some_and(|last| ranks_before(&entry, last, urls)) {
        return;
    }
    let at = top.partition_point(|kept| ranks_before(kept, &entry, urls));
    top.insert(at, entry);
    top.truncate(k);
}

#[inline]
fn ranks_before(a: &(UrlId, f64), b: &(UrlId, f64), urls: &UrlTable) -> bool {
    match a.1.total_cmp(&b.1) {
        std::cmp::Ordering::Equal => urls.url(a.0) < urls.url(b.0),
        order => order.is_gt(),
    }
}

/// T(p, q): the candidates, as `(URL, expected score)`, that are in the sketch of a query whose
/// served list is `served`, by URL, each with its rank from 1.
pub(crate) fn sketched(
    served: &[(UrlId, f64)],
    candidates: &[(UrlId, f64)],
    k: usize,
    urls: &UrlTable,
) -> Vec<(UrlId, usize)> {
    let mut top = served.to_vec();
    for &candidate in candidates.iter().filter(|(_, score)| *score > 0.0) {
        insert_ranked(&mut top, candidate, k, urls);
    }
    let mut entered: Vec<(UrlId, usize)> =
        top.iter().enumerate().map(|(at, (url, _))| (*url, at + 1)).collect();
    entered.retain(|(url, _)| !served.iter().any(|(old, _)| old == url));
    entered.sort_unstable();
    entered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_scores_the_url_that_comes_first_ranks_first() {
        let mut urls = UrlTable::default();
        let [b, a, c] = ["https://b.test/", "https://a.test/", "https://c.test/"]
            .map(|url| urls.insert(url, url));
        let mut top = Vec::new();
        for entry in [(b, 1.0), (c, 0.5), (a, 1.0)] {
            insert_ranked(&mut top, entry, 2, &urls);
        }
        assert_eq!(top, [(a, 1.0), (b, 1.0)]);
    }

    #[test]
    fn a_sketch_takes_candidates_above_the_last_place_only() {
        let mut urls = UrlTable::default();
        let ids: Vec<UrlId> = ["a", "b", "c", "d", "e"]
            .iter()
            .map(|name| urls.insert(&format!("https://x.test/{name}"), ""))
            .collect();
        let served = [(ids[0], 3.0), (ids[1], 1.0)];
        let candidates = [(ids[2], 2.0), (ids[3], 0.0), (ids[4], 0.5)];
        assert_eq!(sketched(&served, &candidates, 2, &urls), [(ids[2], 2)]);
        assert_eq!(sketched(&served, &candidates, 3, &urls), [(ids[2], 2)]);
        assert_eq!(sketched(&served, &candidates, 4, &urls), [(ids[2], 2), (ids[4], 4)]);
    }
}
