//! What a batch is expected to bring (METHODS 5a), in two quantities that are never mixed: what *enters*,
//! the impact of the fetched picks that are in a list when their cycle is closed, and what *stays*, the impact
//! of those that are in it when the crawl has grown by a quarter since.
//!
//! A ranking score is no expected impact. This is: f(q) V summed over the chances of the candidate pairs to be in
//! the list at that time, by query at most what its places allow, times the share of such sums that past
//! cycles realised. Pages also enter lists of queries that nothing pointed to, and chances are off where models
//! are young: the share is learned, in the units of outcomes, from recent cycles more than from old ones.

use std::collections::BTreeMap;

use crate::results::impact::ExpectedImpact;
use crate::sketch::visibility::Places;
use crate::workload::{Query, QueryId};

/// Places at the mean frequency that the start of the share is worth.
const PRIOR_PLACES: f64 = 50.0;
/// What a cycle counts for in the next one.
const KEPT: f64 = 0.7;
/// Cycles that the start of the spread is worth.
const PRIOR_CYCLES: f64 = 2.0;
/// Standard deviation of the log of realised over expected before there is an outcome: a factor of 3
/// either way is then within the interval.
const PRIOR_SPREAD: f64 = 0.56;
/// Quantile of the normal distribution for 95 %.
const NORMAL: f64 = 1.96;

/// Mean frequency of queries; 0 of none.
pub(crate) fn mean_frequency(queries: &[Query]) -> f64 {
    queries.iter().fold(0.0, |sum, query| sum + query.frequency) / queries.len().max(1) as f64
}

/// What chances to be in lists say of a batch, by query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListChances {
    /// Each query with a candidate pair, its frequency, and the visibility that pages are expected to take.
    of_query: Vec<(QueryId, f64, f64)>,
    /// Mean frequency of all queries.
    mean_frequency: f64,
    /// Visibility that so many pages can take in one list.
    most: f64,
    /// What no such batch can exceed.
    ceiling: f64,
}

impl ListChances {
    /// Of `picks` pages with these chances to be in lists of queries.
    pub(crate) fn new(
        chances: impl Iterator<Item = (QueryId, f64)>,
        picks: usize,
        queries: &[Query],
        places: Places,
    ) -> Self {
        let mut pages: BTreeMap<QueryId, f64> = BTreeMap::new();
        for (query, chance) in chances {
            *pages.entry(query).or_default() += chance;
        }
        let of_query = |(query, pages): (QueryId, f64)| {
            (query, queries[query.index()].frequency, pages * places.mean())
        };
        let most = (1..=picks.min(places.k)).fold(0.0, |sum, rank| sum + places.at(rank));
        let of_query = pages.into_iter().map(of_query).collect();
        let frequency = queries.iter().fold(0.0, |sum, query| sum + query.frequency);
        Self { of_query, mean_frequency: mean_frequency(queries), most, ceiling: frequency * most }
    }

    /// Mean frequency of the workload's queries; 0 of none.
    pub(crate) fn mean_frequency(&self) -> f64 {
        self.mean_frequency
    }

    /// Impact, where this share of what chances say comes: of a query at most f(q) times the visibility
    /// that the pages can take.
    pub(crate) fn impact(&self, share: f64) -> f64 {
        let of_query = |(_, frequency, pages): &(QueryId, f64, f64)| {
            frequency * (share * pages).min(self.most)
        };
        self.of_query.iter().map(of_query).fold(0.0, |sum, impact| sum + impact).min(self.ceiling)
    }

    /// By query with a candidate pair: the visibility that pages take in its list where this share of what
    /// chances say comes, and which share that is of what they say of this query.
    pub(crate) fn visibility(&self, share: f64) -> impl Iterator<Item = (QueryId, f64, f64)> {
        self.of_query.iter().map(move |&(query, _, pages)| {
            let visibility = (share * pages).min(self.most);
            (query, visibility, if pages > 0.0 { visibility / pages } else { share })
        })
    }
}

/// Which share of what chances say is realised, and how far cycles are from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RealisedShare {
    share: f64,
    spread: f64,
    cycles: usize,
    mean_frequency: f64,
}

impl RealisedShare {
    /// Learned from closed cycles, the oldest first, of a workload with this mean frequency, from a share to
    /// start with: of each, what chances said of its fetched picks, and the impact that they have in the lists.
    pub(crate) fn learned<'a>(
        cycles: impl Iterator<Item = (&'a ListChances, f64)>,
        mean_frequency: f64,
        start: f64,
    ) -> Self {
        let prior = PRIOR_PLACES * mean_frequency;
        if prior <= 0.0 {
            let cycles = cycles.count();
            return Self { share: start, spread: PRIOR_SPREAD, cycles, mean_frequency };
        }
        let (mut chances, mut realised) = (prior, prior * start);
        let (mut squares, mut counted) = (0.0, 0.0);
        let mut learned_from = 0;
        for (of_cycle, came) in cycles {
            // How far off the cycle was by what was known before it; an entry more or less is no surprise.
            let expected = of_cycle.impact(realised / chances);
            let off = ((came + mean_frequency) / (expected + mean_frequency)).ln();
            squares = KEPT * squares + off * off;
            counted = KEPT * counted + 1.0;
            chances = prior + KEPT * (chances - prior) + of_cycle.impact(1.0);
            realised = prior * start + KEPT * (realised - prior * start) + came;
            learned_from += 1;
        }
        let squares = squares + PRIOR_CYCLES * PRIOR_SPREAD * PRIOR_SPREAD;
        let spread = (squares / (counted + PRIOR_CYCLES)).sqrt();
        Self { share: realised / chances, spread, cycles: learned_from, mean_frequency }
    }

    /// The share.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// What is expected of a batch.
    pub(crate) fn expected(&self, chances: &ListChances) -> ExpectedImpact {
        let impact = chances.impact(self.share);
        let factor = (NORMAL * self.spread).exp();
        ExpectedImpact {
            impact,
            low: impact / factor,
            high: (impact * factor).min(chances.ceiling),
            ceiling: chances.ceiling,
            cycles: self.cycles,
        }
    }

    /// The interval that holds 95 % of what a change of the batch comes to, whose gains and losses are expected
    /// to be these: they are off as batches are, but not together, and entries come or not.
    pub(crate) fn interval(&self, gains: f64, losses: f64) -> (f64, f64) {
        let factor = (NORMAL * self.spread).exp();
        let (over, under) = (factor - 1.0, 1.0 - 1.0 / factor);
        let change = gains - losses;
        let count = NORMAL * (self.mean_frequency * (gains + losses)).sqrt();
        let half = |gains: f64, losses: f64| gains.hypot(losses).hypot(count);
        (change - half(under * gains, over * losses), change + half(over * gains, under * losses))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn queries(frequencies: &[f64]) -> Vec<Query> {
        let query =
            |(at, frequency): (usize, &f64)| Query::new(&at.to_string(), "w", *frequency, "");
        frequencies.iter().enumerate().map(query).collect()
    }

    fn chances(
        pairs: &[(u32, f64)],
        picks: usize,
        queries: &[Query],
        places: Places,
    ) -> ListChances {
        let pairs = pairs.iter().map(|&(query, chance)| (QueryId(query), chance));
        ListChances::new(pairs, picks, queries, places)
    }

    #[test]
    fn chances_add_up_to_what_places_allow() {
        let (queries, places) = (queries(&[2.0, 1.0, 5.0]), Places::from(10));
        let impact =
            |pairs: &[(u32, f64)], picks| chances(pairs, picks, &queries, places).impact(1.0);
        assert_eq!(impact(&[(0, 0.5), (0, 0.25), (1, 0.9)], 3), 2.0 * 0.75 + 0.9);
        assert_eq!(impact(&[(0, 0.5); 40], 40), 20.0, "ten places");
        assert_eq!(impact(&[(0, 0.5); 40], 3), 6.0, "three pages");
        assert_eq!(chances(&[], 3, &queries, places).ceiling, 24.0);
        assert_eq!(chances(&[], 1_000, &queries, places).ceiling, 80.0);
    }

    #[test]
    fn shares_are_learned_and_the_start_is_wide() {
        let (queries, places) = (queries(&[1.0; 100]), Places::from(10));
        let of = |entries: usize| {
            let pairs: Vec<(u32, f64)> = (0..entries as u32).map(|at| (at % 100, 1.0)).collect();
            chances(&pairs, 500, &queries, places)
        };
        let expected = RealisedShare::learned(std::iter::empty(), 1.0, 1.0).expected(&of(100));
        assert_eq!((expected.impact, expected.cycles, expected.ceiling), (100.0, 0, 1_000.0));
        assert!((expected.low - 33.4).abs() < 0.1 && (expected.high - 299.7).abs() < 0.3);
        let cycle = of(500);
        let later =
            RealisedShare::learned((0..6).map(|_| (&cycle, 250.0)), 1.0, 1.0).expected(&of(100));
        assert!((later.impact - 51.6).abs() < 0.5, "{later:?}");
        assert!(later.high / later.low < expected.high / expected.low, "{later:?}");
        let share = RealisedShare::learned(std::iter::empty(), 1.0, 1.0);
        let (low, high) = share.interval(1e6, 0.0);
        let wide = share.expected(&of(500));
        assert!((low / 1e6 - wide.low / 500.0).abs() < 1e-3, "of many entries as of a batch");
        assert!((high / 1e6 - wide.high / 500.0).abs() < 1e-3 || wide.high == 1_000.0);
        let (low, high) = share.interval(100.0, 100.0);
        assert!(low < -200.0 && (low + high).abs() < 1e-9, "{low} {high}");
        assert_eq!(share.interval(0.0, 0.0), (0.0, 0.0));
        let nothing = ListChances::default();
        let nothing =
            RealisedShare::learned(std::iter::once((&nothing, 0.0)), 0.0, 1.0).expected(&nothing);
        assert_eq!((nothing.impact, nothing.high), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn nothing_is_expected_beyond_the_ceiling(
            frequencies in vec(0.0f64..1e6, 1..6),
            pairs in vec((0u32..6, 0.0f64..1.0), 0..80),
            picks in 0usize..40,
            past in vec((0.0f64..60.0, 0.0f64..1e7), 0..5),
            visibility in prop_oneof!["top", "log", "geometric"],
            start in 0.0f64..10.0,
        ) {
            let queries = queries(&frequencies);
            let places = Places { k: 10, visibility: visibility.parse().unwrap() };
            let mut pairs = pairs;
            pairs.retain(|(query, _)| (*query as usize) < queries.len());
            let past: Vec<(ListChances, f64)> = past
                .into_iter()
                .map(|(chance, came)| (chances(&[(0, chance)], 40, &queries, places), came))
                .collect();
            let batch = chances(&pairs, picks, &queries, places);
            let share = RealisedShare::learned(
                past.iter().map(|(chances, came)| (chances, *came)),
                batch.mean_frequency(),
                start,
            );
            let found = share.expected(&batch);
            let visible: f64 = (1..=picks.min(10)).map(|rank| places.at(rank)).sum();
            let ceiling = visible * frequencies.iter().sum::<f64>();
            prop_assert!(found.impact <= ceiling * (1.0 + 1e-9), "{found:?} {ceiling}");
            prop_assert!(found.high <= found.ceiling && found.low <= found.impact);
            prop_assert!(found.low >= 0.0 && found.impact.is_finite());
        }
    }
}
