//! The frontier in the order of its estimates, as far as somebody looks: a batch needs the first of millions.

use std::cmp::Ordering;

use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use crate::estimate::url_estimate::UrlEstimate;

/// URLs by estimate, the highest first, of equals by canonical URL. No two URLs are equal, so there is one order.
///
/// The first are in it, and all others behind them in none. Costs 16 bytes a URL, a pass over them, and the order of
/// what is looked at.
pub(super) struct Ranking<'a> {
    frontier: &'a [UrlEstimate],
    urls: &'a UrlTable,
    /// Place in the order of estimates alone, and in `frontier`.
    keys: Vec<(u64, u32)>,
    /// So many keys are in order.
    sorted: usize,
}

impl<'a> Ranking<'a> {
    /// Of a frontier in any order.
    pub(super) fn new(frontier: &'a [UrlEstimate], urls: &'a UrlTable) -> Self {
        Self { frontier, urls, keys: keys(frontier), sorted: 0 }
    }

    /// The first so many, or all if there are fewer.
    pub(super) fn first(&mut self, count: usize) -> Vec<UrlEstimate> {
        let count = count.min(self.keys.len());
        if count > self.sorted {
            let (frontier, urls) = (self.frontier, self.urls);
            let order = |a: &(u64, u32), b: &(u64, u32)| compare(frontier, urls, a, b);
            let rest = &mut self.keys[self.sorted..];
            let more = count - self.sorted;
            if more < rest.len() {
                rest.select_nth_unstable_by(more, order);
            }
            rest[..more].par_sort_unstable_by(order);
            self.sorted = count;
        }
        self.keys[..count].par_iter().map(|&(_, at)| self.frontier[at as usize]).collect()
    }

    /// All from a place on, behind what was looked at in no order.
    pub(super) fn from(&self, place: usize) -> impl IndexedParallelIterator<Item = &UrlEstimate> {
        self.keys[place..].par_iter().map(|&(_, at)| &self.frontier[at as usize])
    }

    /// URLs at these places, each with its place in the order.
    pub(super) fn ranked(&self, places: &[usize]) -> Vec<(usize, UrlEstimate)> {
        let order = |a: &(u64, u32), b: &(u64, u32)| compare(self.frontier, self.urls, a, b);
        let behind = places.iter().filter(|place| **place >= self.sorted);
        let mut behind: Vec<(u64, u32)> = behind.map(|&place| self.keys[place]).collect();
        behind.sort_unstable_by(order);
        // By how many of them come before it: keys.
        let mut before = vec![0; behind.len() + 1];
        if !behind.is_empty() {
            for key in &self.keys[self.sorted..] {
                before[behind.partition_point(|other| order(other, key).is_le())] += 1;
            }
        }
        let ranked = places.iter().map(|&place| {
            let key = self.keys[place];
            let rank = if place < self.sorted {
                place
            } else {
                let at = behind.partition_point(|other| order(other, &key).is_lt());
                self.sorted + before[..=at].iter().sum::<usize>()
            };
            (rank, self.frontier[key.1 as usize])
        });
        ranked.collect()
    }
}

/// A frontier, put in order in its place.
pub(super) fn in_order(mut frontier: Vec<UrlEstimate>, urls: &UrlTable) -> Vec<UrlEstimate> {
    let mut keys = keys(&frontier);
    keys.par_sort_unstable_by(|a, b| compare(&frontier, urls, a, b));
    // Along each cycle of places, what belongs at one is where the key says that it was.
    for start in 0..keys.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut keys[at].1, at as u32) as usize;
            if from == start {
                break;
            }
            frontier.swap(at, from);
            at = from;
        }
    }
    frontier
}

fn keys(frontier: &[UrlEstimate]) -> Vec<(u64, u32)> {
    let key = |(at, url): (usize, &UrlEstimate)| (descending(url.estimate), at as u32);
    frontier.par_iter().enumerate().map(key).collect()
}

/// The order of two URLs of a frontier.
fn compare(frontier: &[UrlEstimate], urls: &UrlTable, a: &(u64, u32), b: &(u64, u32)) -> Ordering {
    let address = |key: &(u64, u32)| urls.url(frontier[key.1 as usize].url);
    a.0.cmp(&b.0).then_with(|| address(a).cmp(address(b)))
}

/// A number whose order is the reverse of that of `f64::total_cmp`.
fn descending(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { bits } else { !(bits | 1 << 63) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_at_is_as_in_the_whole_order() {
        let mut urls = UrlTable::default();
        let frontier: Vec<UrlEstimate> = (0..500_u32)
            .map(|at| {
                let id = urls.insert(&format!("https://a.test/{}", at * 7919 % 500), "");
                UrlEstimate::valued(id, f64::from(at * at % 23) - 5.0)
            })
            .collect();
        let whole = in_order(frontier.clone(), &urls);
        assert_eq!(Ranking::new(&frontier, &urls).first(usize::MAX), whole);
        let address = |url: &UrlEstimate| urls.url(url.url).to_owned();
        assert!(whole.is_sorted_by_key(|url| (-url.estimate, address(url))));
        for counts in [vec![0, 10, 100], vec![500], vec![1, 2, 499], vec![3]] {
            let mut ranking = Ranking::new(&frontier, &urls);
            for &count in &counts {
                assert_eq!(ranking.first(count), whole[..count], "{counts:?}");
            }
            let places: Vec<usize> = (0..500).step_by(7).collect();
            let behind: Vec<UrlEstimate> = ranking.from(0).copied().collect();
            for ((rank, url), place) in ranking.ranked(&places).into_iter().zip(places) {
                assert_eq!((whole[rank], behind[place]), (url, url), "{counts:?}");
            }
        }
    }
}
