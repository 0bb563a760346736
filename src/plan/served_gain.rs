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
//! The greedy set has at least 1 - 1/e of the best set's value within a budget (Nemhauser, Wolsey and
//! Fisher, 1978), half of it under nested caps, a matroid (Fisher, Nemhauser and Wolsey, 1978). Gains
//! only fall as picks are made, so greedy is lazy (Minoux, 1978): what a URL gained when it was last
//! looked at is an upper bound, and only the highest is looked at again.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use super::SelectionSettings;
use super::caps::CapCounter;
use super::explore::Draws;
use crate::estimate::blend;
use crate::estimate::frontier::{EstimateInput, FrontierEstimates, PairEstimate, UrlEstimate};
use crate::estimate::pairs::idf_mass;
use crate::estimate::score_levels::{CELLS, ScoreLevels};

/// Ranks URLs, given by id, by what they add to a batch: picks by what they added when they were
/// picked, the others by what they would add to it. Greedy in this order makes the same picks.
/// Nothing changes where no model of scores is fitted.
pub fn rank(
    urls: &mut [UrlEstimate],
    estimates: &FrontierEstimates,
    input: &EstimateInput<'_>,
    settings: &SelectionSettings,
) {
    let Some(levels) = &estimates.levels else { return };
    let mut lists = Lists::new(urls, estimates, input, levels);
    let table = &input.known.urls;
    let gains: Vec<f64> = (0..urls.len()).into_par_iter().map(|at| lists.gain(at)).collect();
    let picked = greedy(urls, gains, &mut lists, table, settings);
    let left: Vec<f64> = (0..urls.len()).into_par_iter().map(|at| lists.gain(at)).collect();
    for (url, gain) in urls.iter_mut().zip(left) {
        url.estimate = gain;
    }
    for (at, gain) in picked {
        urls[at].estimate = gain;
    }
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

    /// What a URL adds to what is picked.
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

/// A URL with what it gained when it was last looked at.
struct Bound<'a> {
    gain: f64,
    url: &'a str,
    at: usize,
    /// Picks made by then.
    picks: usize,
}

impl Ord for Bound<'_> {
    /// By gain, of equal ones the first URL is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.url.cmp(self.url))
    }
}

impl PartialOrd for Bound<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bound<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bound<'_> {}

/// The greedy picks of a batch in order, each with what it added.
fn greedy(
    urls: &[UrlEstimate],
    gains: Vec<f64>,
    lists: &mut Lists<'_>,
    table: &UrlTable,
    settings: &SelectionSettings,
) -> Vec<(usize, f64)> {
    let SelectionSettings { budget, caps, explore, .. } = *settings;
    let most = budget.saturating_sub(Draws::of(explore, budget).count);
    let mut counter = CapCounter::new(caps, budget, urls.iter().map(|url| url.url), table);
    let bound =
        |(at, gain): (usize, f64)| Bound { gain, url: table.url(urls[at].url), at, picks: 0 };
    let mut heap: BinaryHeap<Bound<'_>> = gains.into_iter().enumerate().map(bound).collect();
    let mut picked = Vec::new();
    while picked.len() < most {
        let Some(best) = heap.pop() else { break };
        if best.picks < picked.len() {
            heap.push(Bound { gain: lists.gain(best.at), picks: picked.len(), ..best });
        } else if counter.take(urls[best.at].url).is_ok() {
            lists.pick(best.at);
            picked.push((best.at, best.gain));
        }
    }
    picked
}
