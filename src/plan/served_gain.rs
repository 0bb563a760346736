//! The objective `served`: what the top K hold after the batch, so that two pages after one place are
//! not worth twice.
//!
//! The expected sum of the scores of a query's top K is an integral over scores t: of the expected
//! number of served and picked pages above t, of which at most K count. Within the minimum stands
//! the expectation here, `F(S) = sum_q f(q) ∫ min(K, served above t + E[picks above t]) dt`, an upper
//! bound by Jensen's inequality that costs a sum over a grid; for independent pages it is at most
//! `1 / (1 - K^K e^-K / K!)` times too high, a seventh for K = 10. A pick counts for as much as the
//! blend weighs its part and its site is trusted. The parts of an estimate that know no query are
//! added. A gain in scores becomes impact by one factor, with which all pairs of the frontier together
//! promise as much as their chances do.
//!
//! Where places are not seen alike, each counts by its visibility: `F(S) = sum_q f(q) sum_k (V(k) -
//! V(k + 1)) ∫ min(k, …) dt`, so that within the integral stands the visibility of the places that
//! are taken, from the first on.
//!
//! F is a concave function of sums over the picks, so it is monotone and submodular, and
//! `lazy_greedy` is as good as it says. It needs [`CELLS`] numbers for each query that has
//! candidates, 2 KiB.

use prospect_index::page::UrlId;
use rayon::prelude::*;

use super::SelectionSettings;
use super::caps::SoFar;
use super::lazy_greedy::{Gains, rank_by_gain};
use crate::estimate::blend::Blend;
use crate::estimate::models::score_levels::{CELLS, ScoreLevels};
use crate::estimate::parts::Part;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::slow_start::DEFERRED;
use crate::estimate::url_estimate::{PairEstimate, UrlEstimate};
use crate::sketch::served::ServedLists;
use crate::sketch::visibility;

/// Scored pairs, and the served lists of their queries.
pub(crate) struct ServedInput<'a> {
    /// Pairs.
    pub(crate) scored: &'a ScoredPairs,
    /// Lists.
    pub(crate) served: &'a ServedLists,
}

/// For how much queries and URLs count.
pub(crate) struct Demand<'a> {
    /// By query: how often it is asked.
    pub(crate) counted: &'a [f64],
    /// By position of the URL: what its gain is multiplied with; empty for 1.
    pub(crate) factors: &'a [f64],
}

/// Ranks URLs, given by id, by what they add to a batch. Nothing changes where no model of scores is
/// fitted.
pub(crate) fn rank(
    urls: &mut [UrlEstimate],
    input: &ServedInput<'_>,
    demand: &Demand<'_>,
    blend: &Blend,
    so_far: SoFar<'_>,
    settings: &SelectionSettings,
) {
    let Some(levels) = input.scored.levels() else { return };
    let mut value = BatchValue::new(urls, input, demand, blend, levels);
    rank_by_gain(urls, &mut value, so_far, settings);
}

/// What URLs add to the lists of all queries, while a batch is picked.
struct BatchValue<'a> {
    scored: &'a ScoredPairs,
    levels: &'a ScoreLevels,
    urls: Vec<Pickable>,
    /// By query.
    lists: Vec<List>,
    places: Worth,
    /// For how much pairs count, by the part that they are in.
    weights: [f64; 2],
}

/// A URL that may be picked.
#[derive(Clone, Copy)]
struct Pickable {
    url: UrlId,
    /// What is left for past picks of its site.
    reliability: f64,
    /// What it adds that knows no query.
    other: f64,
    /// What all it adds is multiplied with.
    factor: f64,
}

/// The list of a query.
struct List {
    places: Places,
    /// Impact of a score, in shares of the idf mass.
    worth: f64,
}

/// What the last places of a list are worth: the sum of their visibilities.
struct Worth {
    /// Of the last 0, 1, … K places, where these are not seen alike; else empty.
    sums: Vec<f64>,
}

impl Worth {
    fn new(places: visibility::Places) -> Self {
        let mut sums = vec![0.0];
        if !places.visibility.is_default() {
            sums.extend((1..=places.k).rev().scan(0.0, |sum, rank| {
                *sum += places.at(rank);
                Some(*sum)
            }));
        }
        Self { sums }
    }

    /// Of the first `more` of so many free places.
    fn of(&self, more: f64, free: f64) -> f64 {
        if self.sums.len() == 1 {
            return free.min(more);
        }
        self.last(free) - self.last((free - more).max(0.0))
    }

    /// Of the last so many places, between whole numbers in proportion.
    fn last(&self, places: f64) -> f64 {
        let whole = places as usize;
        let next = self.sums.get(whole + 1).map_or(0.0, |next| next - self.sums[whole]);
        self.sums[whole] + places.fract() * next
    }
}

/// Places of a list that are not taken, for each cell of the grid, from which cell on there are any.
struct Places {
    free: Vec<f64>,
    first: usize,
}

impl Places {
    fn new(served: &[f64], k: usize, levels: &ScoreLevels) -> Self {
        let above = |cell| served.iter().filter(|&&score| score > levels.middle(cell)).count();
        let free: Vec<f64> = (0..CELLS).map(|cell| k.saturating_sub(above(cell)) as f64).collect();
        let first = free.partition_point(|&free| free <= 0.0);
        Self { free, first }
    }

    /// What a page adds to the sum of the scores of the list, as a share of the idf mass. `above` is
    /// its distribution, `weight` for how much it counts.
    fn gain(&self, above: &[f64], weight: f64, width: f64, worth: &Worth) -> f64 {
        let in_cell = |cell| weight * f64::midpoint(above[cell], above[cell + 1]);
        let cells = self.first..CELLS;
        let sum: f64 = cells.map(|cell| worth.of(in_cell(cell), self.free[cell])).sum();
        width * sum
    }

    fn take(&mut self, above: &[f64], weight: f64) {
        for cell in self.first..CELLS {
            let taken = weight * f64::midpoint(above[cell], above[cell + 1]);
            self.free[cell] = (self.free[cell] - taken).max(0.0);
        }
        self.first += self.free[self.first..].partition_point(|&free| free <= 0.0);
    }
}

impl<'a> BatchValue<'a> {
    fn new(
        urls: &[UrlEstimate],
        input: &ServedInput<'a>,
        demand: &Demand<'_>,
        blend: &Blend,
        levels: &'a ScoreLevels,
    ) -> Self {
        let mut value = Self {
            scored: input.scored,
            levels,
            urls: pickable(urls, demand.factors, blend),
            lists: lists(input, demand.counted, levels),
            places: Worth::new(input.served.places()),
            weights: [blend.weights[Part::Query], blend.weights[Part::Locality]],
        };
        let factor = value.impact_of_score();
        for list in &mut value.lists {
            list.worth *= factor;
        }
        value
    }

    /// Impact that the pairs of all URLs promise, to what they gain.
    fn impact_of_score(&self) -> f64 {
        let of_urls: Vec<(f64, f64)> =
            self.urls.par_iter().map(|url| self.impact_and_gain(url)).collect();
        let (impact, gain) = of_urls.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        if gain > 0.0 { impact / gain } else { 0.0 }
    }

    /// Impact that the pairs of a URL promise, and what they gain.
    fn impact_and_gain(&self, url: &Pickable) -> (f64, f64) {
        let (mut impact, mut gain) = (0.0, 0.0);
        for pair in self.scored.own_pairs_of(url.url) {
            let promised = self.lists[pair.query.index()].worth * pair.chance;
            impact += promised * self.weight(&pair, url.reliability);
            gain += self.gain_of(&pair, url.reliability);
        }
        (impact, gain)
    }

    fn weight(&self, pair: &PairEstimate, reliability: f64) -> f64 {
        reliability * self.weights[usize::from(!pair.matches)]
    }

    fn gain_of(&self, pair: &PairEstimate, reliability: f64) -> f64 {
        let List { places, worth } = &self.lists[pair.query.index()];
        let above = self.levels.above(usize::from(pair.bin));
        worth
            * places.gain(above, self.weight(pair, reliability), self.levels.width(), &self.places)
    }
}

impl Gains for BatchValue<'_> {
    fn gain(&self, at: usize) -> f64 {
        let Pickable { url, reliability, other, factor } = &self.urls[at];
        let pairs = self.scored.own_pairs_of(*url);
        // With a fixed order and terms that only fall, the sum only falls, rounded or not.
        factor * (other + pairs.map(|pair| self.gain_of(&pair, *reliability)).sum::<f64>())
    }

    fn pick(&mut self, at: usize) {
        let (scored, Pickable { url, reliability, .. }) = (self.scored, self.urls[at]);
        for pair in scored.own_pairs_of(url) {
            let weight = self.weight(&pair, reliability);
            let above = self.levels.above(usize::from(pair.bin));
            self.lists[pair.query.index()].places.take(above, weight);
        }
    }
}

fn pickable(urls: &[UrlEstimate], factors: &[f64], blend: &Blend) -> Vec<Pickable> {
    let mut without = *blend;
    (without.weights[Part::Query], without.weights[Part::Locality]) = (0.0, 0.0);
    let mut pickable = Vec::with_capacity(urls.len());
    for (at, url) in urls.iter().enumerate() {
        let factor = factors.get(at).copied().unwrap_or(1.0);
        pickable.push(Pickable {
            url: url.url,
            reliability: url.reliability,
            other: url.reliability * without.of(url.parts),
            factor: factor * url.fetch * url.text * if url.deferred { DEFERRED } else { 1.0 },
        });
    }
    pickable
}

/// The lists as they are served; without places where there is no candidate.
fn lists(input: &ServedInput<'_>, counted: &[f64], levels: &ScoreLevels) -> Vec<List> {
    let mut has_pairs = vec![false; counted.len()];
    for pair in input.scored.pairs() {
        has_pairs[pair.query.index()] = true;
    }
    has_pairs
        .into_par_iter()
        .enumerate()
        .map(|(at, has_pairs)| list(input, levels, at, has_pairs, counted[at]))
        .collect()
}

/// The list of the query at a place, of which a score is worth so much.
fn list(
    input: &ServedInput<'_>,
    levels: &ScoreLevels,
    at: usize,
    has_pairs: bool,
    worth: f64,
) -> List {
    if !has_pairs {
        return List { places: Places { free: Vec::new(), first: CELLS }, worth };
    }
    let mass = input.scored.mass(at);
    let served: Vec<f64> = input.served.lists[at].iter().map(|(_, score)| score / mass).collect();
    List { places: Places::new(&served, input.served.k, levels), worth }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of bin 0 are 0.5, those of bin 1 are 1, those of bin 2 evenly spread up to 2.
    fn levels() -> ScoreLevels {
        ScoreLevels::new(3, 2.0, |bin, score| match bin {
            0 => f64::from(u8::from(score < 0.5)),
            1 => f64::from(u8::from(score < 1.0)),
            _ => 1.0 - score / 2.0,
        })
    }

    fn gain(places: &Places, levels: &ScoreLevels, bin: usize) -> f64 {
        places.gain(levels.above(bin), 1.0, levels.width(), &Worth::new(9.into()))
    }

    #[test]
    fn a_page_adds_its_score_less_that_of_the_page_it_displaces() {
        let levels = levels();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1.5 * levels.width(), "{a} {b}");
        let empty = Places::new(&[], 2, &levels);
        close(gain(&empty, &levels, 0), 0.5);
        close(gain(&empty, &levels, 2), 1.0);
        let full = Places::new(&[1.5, 0.25], 2, &levels);
        close(gain(&full, &levels, 0), 0.25);
        close(gain(&full, &levels, 1), 0.75);
        let best = Places::new(&[1.5, 1.2], 2, &levels);
        assert_eq!(gain(&best, &levels, 0), 0.0);
        // Evenly spread scores: the integral of 1 - t/2 from 1.2 to 2.
        close(gain(&best, &levels, 2), 0.16);
    }

    #[test]
    fn who_is_trusted_by_half_takes_half_a_place() {
        let levels = levels();
        let mut places = Places::new(&[], 1, &levels);
        let whole = gain(&places, &levels, 2);
        let half = places.gain(levels.above(2), 0.5, levels.width(), &Worth::new(9.into()));
        assert!((half - whole / 2.0).abs() < 1e-12);
        places.take(levels.above(1), 0.5);
        let left = gain(&places, &levels, 1);
        assert!((left - 0.5).abs() < 1.5 * levels.width(), "{left}");
    }

    #[test]
    fn two_pages_after_one_place_are_not_worth_twice() {
        let levels = levels();
        let mut places = Places::new(&[1.5], 2, &levels);
        assert!((gain(&places, &levels, 1) - 1.0).abs() < 1.5 * levels.width());
        places.take(levels.above(1), 1.0);
        assert!(gain(&places, &levels, 1) < levels.width(), "the grid is no finer");
        assert!(gain(&places, &levels, 2) > 0.2, "a better one still adds");
    }

    #[test]
    fn a_place_counts_by_its_visibility() {
        let visibility = "geometric:0.5".parse().unwrap();
        let worth = Worth::new(visibility::Places { k: 3, visibility });
        let of = |more, free| worth.of(more, free);
        // The first of three places, the second, all that are left, half of the last.
        assert_eq!([of(1.0, 3.0), of(1.0, 2.0), of(9.0, 2.0)], [1.0, 0.5, 0.75]);
        assert_eq!([of(0.5, 1.0), of(0.5, 0.5), of(0.5, 1.25)], [0.125, 0.125, 0.1875]);
        assert_eq!([of(0.0, 2.5), of(1.0, 0.0)], [0.0, 0.0]);
    }

    #[test]
    fn gains_never_rise() {
        let levels = levels();
        let mut places = Places::new(&[0.7, 0.1], 3, &levels);
        let all = |places: &Places| [0, 1, 2].map(|bin| gain(places, &levels, bin));
        for bin in [2, 0, 2, 1, 2, 2, 0, 1, 1, 1] {
            let before = all(&places);
            places.take(levels.above(bin), 0.7);
            assert!(all(&places).iter().zip(before).all(|(after, before)| *after <= before));
        }
        assert!(
            all(&places)[..2].iter().all(|&gain| gain < levels.width()),
            "their places are gone"
        );
    }
}
