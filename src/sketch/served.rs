//! Served lists: the top K of every query over the crawled pages, kept up to date incrementally.

use std::ops::Range;

use prospect_index::bm25::{OrderedPostings, Scorer};
use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use prospect_index::page_store::PageTable;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use super::insert_ranked;
use super::visibility::{Places, Visibility};
use crate::workload::Query;

/// The top K of each query, in the order of the queries: score descending, then URL ascending.
///
/// ```
/// use prospect::sketch::served::ServedLists;
/// use prospect::workload::{Query, Workload};
/// use prospect_index::bm25::{Bm25, Scorer};
/// # use prospect_index::text_index::TextIndex;
/// # use prospect_index::url_table::UrlTable;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let texts = ["crawl", "crawl budget", "ships"].map(|text| (String::new(), text.to_owned()));
/// # let index = TextIndex::build(&dir.path().join("index"), texts)?;
/// # let mut urls = UrlTable::default();
/// # for url in ["https://a.test/", "https://b.test/", "https://c.test/"] {
/// #     urls.insert(url, url);
/// # }
/// // `index` holds three pages: "crawl", "crawl budget" and "ships".
/// let workload = Workload { queries: vec![Query::new("1", "crawl budget", 1.0, "")] };
/// let scorer = Scorer::new(&index, Bm25::default(), 3, workload.words())?;
/// let served = |k: usize| ServedLists::build(&scorer, &workload.queries, k, 3, &urls);
/// let pages: Vec<u32> = served(10)?.lists[0].iter().map(|(page, _)| page.0).collect();
/// assert_eq!(pages, [1, 0]);
/// assert_eq!(served(1)?.lists[0].len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServedLists {
    /// K.
    pub(crate) k: usize,
    /// How visible the places are.
    pub(crate) visibility: Visibility,
    /// Pages of `fetch_seq` below this are counted.
    pub(crate) end_seq: u32,
    /// One list per query, at most K long; pages with a score of 0 are not in it.
    pub lists: Vec<Vec<(UrlId, f64)>>,
}

impl ServedLists {
    /// The best of all pages with `fetch_seq` below `end_seq` for all queries, in parallel.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn build(
        scorer: &Scorer<'_>,
        queries: &[Query],
        places: impl Into<Places>,
        end_seq: u32,
        urls: &UrlTable,
    ) -> Result<Self, StoreError> {
        let Places { k, visibility } = places.into();
        let postings = postings(scorer, queries, 0..end_seq)?;
        let list = |query| list(scorer, query, k, &postings, urls);
        let lists = queries.par_iter().map(list).collect();
        Ok(Self { k, visibility, end_seq, lists })
    }

    /// The places of these lists.
    pub(crate) fn places(&self) -> Places {
        Places { k: self.k, visibility: self.visibility }
    }

    /// By query: places that are taken.
    pub(crate) fn taken(&self) -> Vec<u32> {
        self.lists.iter().map(|list| list.len() as u32).collect()
    }

    /// By URL, of which there are `urls`: impact of the pages of these lists, which is f(q) V(rank)
    /// summed over those a page is in. `queries` are those of the lists.
    pub(crate) fn impact(&self, queries: &[Query], urls: usize) -> Vec<f64> {
        self.impact_of(queries.iter().map(|query| query.frequency), urls)
    }

    /// The same where queries are asked so often.
    pub(crate) fn impact_of(
        &self,
        frequencies: impl Iterator<Item = f64>,
        urls: usize,
    ) -> Vec<f64> {
        let (mut impact, places) = (vec![0.0; urls], self.places());
        for (frequency, list) in frequencies.zip(&self.lists) {
            for (at, (url, _)) in list.iter().enumerate() {
                impact[url.index()] += frequency * places.at(at + 1);
            }
        }
        impact
    }

    /// Brings the lists up to `end_seq`: new pages are scored for the queries whose words they
    /// hold; a query that served a page which has been replaced since is scored anew. Returns how
    /// many were. Equal to building from nothing under the same statistics.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn update(
        &mut self,
        scorer: &Scorer<'_>,
        queries: &[Query],
        end_seq: u32,
        pages: &PageTable,
        urls: &UrlTable,
    ) -> Result<u64, StoreError> {
        let (k, old_end) = (self.k, self.end_seq);
        // A page is in a list by the version of before `old_end`; gone or replaced means stale.
        let stale = |(url, _): &(UrlId, f64)| pages.page_seq(*url).is_none_or(|s| s >= old_end);
        let is_anew: Vec<bool> = self.lists.par_iter().map(|list| list.iter().any(stale)).collect();
        let anew = || queries.iter().zip(&is_anew).filter(|(_, is_anew)| **is_anew);
        let all = postings(scorer, anew().map(|(query, _)| query), 0..end_seq)?;
        let new = postings(scorer, queries, old_end..end_seq)?;
        let lists = self.lists.par_iter_mut().zip(queries).zip(&is_anew);
        lists.for_each(|((kept, query), is_anew)| {
            if *is_anew {
                *kept = list(scorer, query, k, &all, urls);
                return;
            }
            for entry in list(scorer, query, k, &new, urls) {
                insert_ranked(kept, entry, k, urls);
            }
        });
        self.end_seq = end_seq;
        Ok(anew().count() as u64)
    }

    /// K-th score of a query: what a page has to beat; 0 while the list is not full.
    pub(crate) fn kth_score(&self, query: usize) -> f64 {
        let list = &self.lists[query];
        if list.len() < self.k { 0.0 } else { list[self.k - 1].1 }
    }

    /// Mean score over the K places, empty places 0.
    pub(crate) fn mean_score(&self, query: usize) -> f64 {
        self.lists[query].iter().map(|(_, score)| score).sum::<f64>() / self.k as f64
    }
}

/// Postings of the words of these queries over the pages with a `fetch_seq` in `seqs`.
fn postings<'q>(
    scorer: &Scorer<'_>,
    queries: impl IntoIterator<Item = &'q Query>,
    seqs: Range<u32>,
) -> Result<OrderedPostings, StoreError> {
    let words = queries.into_iter().flat_map(|query| scorer.term_ids(&query.words));
    scorer.ordered(words, seqs, |seq, _| seq)
}

/// The `k` best of these pages for a query.
fn list(
    scorer: &Scorer<'_>,
    query: &Query,
    k: usize,
    postings: &OrderedPostings,
    urls: &UrlTable,
) -> Vec<(UrlId, f64)> {
    let contenders = scorer.contenders(&scorer.term_ids(&query.words), postings, k);
    let mut list = Vec::with_capacity(k.min(contenders.len()) + 1);
    for page in contenders {
        insert_ranked(&mut list, (page.url, page.score), k, urls);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impact_is_frequency_times_the_visibility_of_the_rank() {
        let query = |qid, frequency| Query::new(qid, "flour", frequency, "");
        let queries = [query("q1", 6.0), query("q2", 2.0)];
        let lists =
            vec![vec![(UrlId(0), 3.0), (UrlId(1), 2.0), (UrlId(2), 1.0)], vec![(UrlId(2), 1.0)]];
        let mut served = ServedLists { k: 3, end_seq: 3, lists, ..ServedLists::default() };
        for (visibility, impact) in [
            ("top", [6.0, 6.0, 8.0, 0.0]),
            ("log", [6.0, 6.0 * (1.0 / 3.0_f64.log2()), 5.0, 0.0]),
            ("geometric:0.5", [6.0, 3.0, 3.5, 0.0]),
        ] {
            served.visibility = visibility.parse().unwrap();
            assert_eq!(served.impact(&queries, 4), impact, "{visibility}");
        }
    }
}
