//! The objective `served`: what the top K hold after the batch, so that two pages after one place are
//! not worth twice.
//!
//! The expected sum of the scores of a query's top K is an integral over scores t: of the expected
//! number of served and picked pages above t, of which at most K count. Within the minimum stands
//! the expectation here, `F(S) = sum_q f(q) ∫ min(K, served above t + E[picks above t]) dt`, an upper
//! bound by Jensen's inequality: it is monotone and submodular, costs a sum over the grid, and for
//! sums of independent entries it is at most `1 / (1 - K^K e^-K / K!)` times too high, a seventh for
//! K = 10. To it the parts of an estimate that know no query are added. A gain in scores becomes
//! impact by one factor, with which the pairs of the whole frontier are worth as much as their
//! chances say.
//!
//! Gains of this kind only fall as picks are made, so that [`super::lazy_greedy`] is as good as it says.

use std::ops::Range;

use rayon::prelude::*;

use super::SelectionSettings;
use super::lazy_greedy::{Gains, rank_by_gain};
use crate::estimate::blend;
use crate::estimate::frontier::{EstimateInput, FrontierEstimates, PairEstimate, UrlEstimate};
use crate::estimate::pairs::idf_mass;
use crate::estimate::score_levels::{CELLS, ScoreLevels};

/// Ranks URLs, given by id, by what they add to a batch. Nothing changes where no model of scores is
/// fitted.
pub fn rank(
    urls: &mut [UrlEstimate],
    estimates: &FrontierEstimates,
    input: &EstimateInput<'_>,
    settings: &SelectionSettings,
) {
    let Some(levels) = &estimates.levels else { return };
    let mut lists = Lists::new(urls, estimates, input, levels);
    rank_by_gain(urls, &mut lists, &input.known.urls, settings);
}

/// The lists of all queries, while a batch is picked.
struct Lists<'a> {
    levels: &'a ScoreLevels,
    pairs: &'a [PairEstimate],
    /// By URL: its pairs.
    of_url: Vec<Range<usize>>,
    /// By URL: what the parts add that know no query, and the trust in its site.
    other: Vec<(f64, f64)>,
    /// By query: its places, above every middle of a cell.
    places: Vec<Places>,
    /// By query: impact of a score, of URLs that match and of others.
    worth: Vec<[f64; 2]>,
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
    /// its distribution.
    fn gain(&self, above: &[f64], width: f64) -> f64 {
        let sum: f64 = (self.first..CELLS)
            .map(|cell| self.free[cell].min(f64::midpoint(above[cell], above[cell + 1])))
            .sum();
        width * sum
    }

    fn take(&mut self, above: &[f64]) {
        for cell in self.first..CELLS {
            let taken = f64::midpoint(above[cell], above[cell + 1]);
            self.free[cell] = (self.free[cell] - taken).max(0.0);
        }
        self.first += self.free[self.first..].partition_point(|&free| free <= 0.0);
    }
}

impl<'a> Lists<'a> {
    fn new(
        urls: &[UrlEstimate],
        estimates: &'a FrontierEstimates,
        input: &EstimateInput<'_>,
        levels: &'a ScoreLevels,
    ) -> Self {
        let FrontierEstimates { pairs, blend, .. } = estimates;
        let mut end = 0;
        let of_url = urls.iter().map(|url| {
            let start = end + pairs[end..].partition_point(|pair| pair.url < url.url);
            end = start + pairs[start..].partition_point(|pair| pair.url == url.url);
            start..end
        });
        let of_url = of_url.collect();
        let mut without = *blend;
        (without.weights[blend::QUERY], without.weights[blend::LOCALITY]) = (0.0, 0.0);
        let other = urls.iter().map(|url| (without.of(url.parts), url.trust)).collect();
        let queries = (0..input.queries.len()).into_par_iter();
        let places = queries.map(|at| {
            let mass = idf_mass(&input.queries[at], input.scorer).max(f64::MIN_POSITIVE);
            let served = input.served.lists[at].iter().map(|(_, score)| score / mass);
            Places::new(&served.collect::<Vec<f64>>(), input.served.k, levels)
        });
        let places = places.collect();
        let weights = [blend.weights[blend::QUERY], blend.weights[blend::LOCALITY]];
        let worth = |frequency: f64| weights.map(|weight| weight * frequency);
        let worth = input.queries.iter().map(|query| worth(query.frequency)).collect();
        let mut lists = Self { levels, pairs, of_url, other, places, worth };
        lists.make_impact();
        lists
    }

    /// Brings the worth of scores to impact.
    fn make_impact(&mut self) {
        let of_pairs = |pairs: &[PairEstimate]| {
            pairs.iter().fold((0.0, 0.0), |(impact, gain), pair| {
                (impact + self.worth_of(pair) * pair.chance, gain + self.gain_of(pair))
            })
        };
        // The pieces do not depend on the number of threads, so neither does the sum.
        let sums: Vec<(f64, f64)> = self.pairs.par_chunks(1 << 12).map(of_pairs).collect();
        let (impact, gain) = sums.iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let factor = if gain > 0.0 { impact / gain } else { 0.0 };
        for worth in &mut self.worth {
            *worth = worth.map(|worth| worth * factor);
        }
    }

    fn worth_of(&self, pair: &PairEstimate) -> f64 {
        self.worth[pair.query as usize][usize::from(!pair.matches)]
    }

    fn gain_of(&self, pair: &PairEstimate) -> f64 {
        let above = self.levels.above(usize::from(pair.bin));
        let gain = self.places[pair.query as usize].gain(above, self.levels.width());
        self.worth_of(pair) * gain
    }
}

impl Gains for Lists<'_> {
    fn gain(&self, at: usize) -> f64 {
        let pairs = &self.pairs[self.of_url[at].clone()];
        let (other, trust) = self.other[at];
        // With a fixed order and terms that only fall, the sum only falls, rounded or not.
        trust * (other + pairs.iter().map(|pair| self.gain_of(pair)).sum::<f64>())
    }

    fn pick(&mut self, at: usize) {
        for pair in &self.pairs[self.of_url[at].clone()] {
            let above = self.levels.above(usize::from(pair.bin));
            self.places[pair.query as usize].take(above);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of bin 0 are 0.5, those of bin 1 are 1, those of bin 2 evenly spread up to 2.
    fn levels() -> ScoreLevels {
        let share_above = |bin, score: f64| match bin {
            0 => f64::from(u8::from(score < 0.5)),
            1 => f64::from(u8::from(score < 1.0)),
            _ => 1.0 - score / 2.0,
        };
        ScoreLevels::new(3, 2.0, share_above)
    }

    fn gain(places: &Places, levels: &ScoreLevels, bin: usize) -> f64 {
        places.gain(levels.above(bin), levels.width())
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
    fn two_pages_after_one_place_are_not_worth_twice() {
        let levels = levels();
        let mut places = Places::new(&[1.5], 2, &levels);
        assert!((gain(&places, &levels, 1) - 1.0).abs() < 1.5 * levels.width());
        places.take(levels.above(1));
        assert!(gain(&places, &levels, 1) < levels.width(), "the grid is no finer");
        assert!(gain(&places, &levels, 2) > 0.2, "a better one still adds");
    }

    #[test]
    fn gains_never_rise() {
        let levels = levels();
        let mut places = Places::new(&[0.7, 0.1], 3, &levels);
        let all = |places: &Places| [0, 1, 2].map(|bin| gain(places, &levels, bin));
        for bin in [2, 0, 2, 1, 2, 2, 0, 1] {
            let before = all(&places);
            places.take(levels.above(bin));
            assert!(all(&places).iter().zip(before).all(|(after, before)| *after <= before));
        }
        assert_eq!(all(&places)[..2], [0.0, 0.0]);
    }
}
