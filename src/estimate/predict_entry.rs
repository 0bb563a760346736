//! What a batch is predicted to do to lists: the chance of each candidate pair of its picks to be in the
//! query's top K when the whole batch is fetched.
//!
//! The pages of a batch compete, early in a crawl for places that nobody holds yet. So what a pair has
//! to beat is the score that, in expectation, K pages are above after the batch: those served now and
//! the picks that are candidates. How many pages of about its expectation scored more is what
//! [`EntryModel`](crate::estimate::models::entry::EntryModel) learns chances from, in every cycle anew; drawn to the mean
//! of its query's pairs it is the chance before the first outcome. Before scores are learned, too, the picks of a query share its places.
//!
//! No one is picked for this chance: picks are made by the chance to be in the list for good.

use std::collections::BTreeMap;

use prospect_index::page::UrlId;
use rayon::prelude::*;

use crate::estimate::models::score_levels::{CELLS, ScoreLevels};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::url_estimate::PairEstimate;
use crate::sketch::served::ServedLists;
use crate::workload::QueryId;

/// Odds that are told apart: those of chances from this one to its opposite.
const LEAST_CHANCE: f64 = 1e-4;
/// Log odds that the idf mass is worth where the distribution of scores is not known.
const ODDS_OF_MASS: f64 = 10.0;
/// Before anything is known: the share of the places that picks which are candidates will hold, which no pair's chance
/// exceeds, and how many linked ones a matching one stands for.
const HELD: f64 = 2.0 / 3.0;
const MATCHING: f64 = 4.0;
/// Where scores are learned and outcomes are not: the part that holds of what a pair's own score says beyond the mean of its
/// query's pairs. Measured in the first cycle of two collections at two batch sizes each (`docs/figures.md`, "Calibration").
const UNTRIED: f64 = 0.4;

/// A candidate pair of a pick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EntryPrediction {
    /// The pair.
    pub(crate) pair: PairEstimate,
    /// Chance to be in the query's top K after the batch.
    pub(crate) chance: f64,
    /// What the chance rises with: the log odds to beat the score that K pages are expected to beat after
    /// the batch.
    pub(crate) margin: f64,
}

/// By pick: its candidate pairs, by query. `served` are the lists before the batch, of the queries of
/// the scored pairs.
pub(crate) fn predict_entry(
    scored: &ScoredPairs,
    served: &ServedLists,
    picks: &[UrlId],
) -> Vec<Vec<EntryPrediction>> {
    let mut of_query: BTreeMap<QueryId, Vec<PairEstimate>> = BTreeMap::new();
    for pair in picks.iter().flat_map(|&url| scored.pairs_of(url)) {
        of_query.entry(pair.query).or_default().push(pair);
    }
    let bars: BTreeMap<QueryId, Bar> = of_query
        .into_par_iter()
        .map(|(query, pairs)| {
            let bins = pairs.iter().map(|pair| usize::from(pair.bin));
            let weights = pairs.iter().map(weight).sum();
            (query, Bar::new(scored, served, query.index(), bins, weights))
        })
        .collect();
    let of_pair = |pair: PairEstimate| bars[&pair.query].predict(scored, pair);
    picks.par_iter().map(|&url| scored.pairs_of(url).map(of_pair).collect()).collect()
}

/// By query with a candidate among the picks: pages that are expected in its list after the batch, the sum of what
/// [`predict_entry`] predicts. `rivals` compete and are not counted.
pub(crate) fn expected_entries(
    scored: &ScoredPairs,
    served: &ServedLists,
    picks: &[UrlId],
    rivals: &[UrlId],
) -> Vec<(QueryId, f64)> {
    if scored.levels().is_none() {
        let both: Vec<UrlId> = picks.iter().chain(rivals).copied().collect();
        let predicted = predict_entry(scored, served, &both).into_iter().take(picks.len());
        return predicted.flatten().map(|pair| (pair.pair.query, pair.chance)).collect();
    }
    let picks = picks.iter().map(|&url| (url, true));
    let competing = picks.chain(rivals.iter().map(|&url| (url, false)));
    let pairs = competing.flat_map(|(url, is_pick)| {
        scored.pairs_of(url).map(move |pair| (pair.query, pair.bin, pair.matches, is_pick))
    });
    let mut pairs: Vec<Competing> = pairs.collect();
    pairs.sort_unstable();
    let of_query: Vec<&[Competing]> = pairs.chunk_by(|a, b| a.0 == b.0).collect();
    let of_query = of_query.into_par_iter();
    of_query.map(|pairs| (pairs[0].0, entries_of_query(scored, served, pairs))).collect()
}

/// The query of a pair, its bin, whether it matches, and whether its URL is a pick.
type Competing = (QueryId, u16, bool, bool);

/// Pages that are expected in the list of a query, given its pairs, where scores are learned.
fn entries_of_query(scored: &ScoredPairs, served: &ServedLists, pairs: &[Competing]) -> f64 {
    let bins = pairs.iter().map(|pair| usize::from(pair.1));
    let bar = Bar::new(scored, served, pairs[0].0.index(), bins, 0.0);
    // Pairs that score alike and match alike have one chance.
    let picks = pairs.chunk_by(|a, b| a == b).filter(|alike| alike[0].3);
    let entering = picks.map(|alike| {
        let (_, bin, matches, _) = alike[0];
        let (margin, untried) = bar.beaten(scored, bin);
        alike.len() as f64 * scored.entry().chance(matches, margin).unwrap_or(untried)
    });
    entering.sum()
}

/// How many linked pairs one counts for before anything is known.
fn weight(pair: &PairEstimate) -> f64 {
    if pair.matches { MATCHING } else { 1.0 }
}

/// What the picks of a query have to beat.
struct Bar {
    /// The query's idf mass.
    mass: f64,
    /// The score that K pages are expected to beat, as a share of the idf mass; that of the K-th page now,
    /// where scores are not learned.
    score: f64,
    /// Chance to beat it of the query's pairs, in the mean.
    mean: f64,
    /// Places for each linked pair.
    share: f64,
}

impl Bar {
    fn new(
        scored: &ScoredPairs,
        served: &ServedLists,
        query: usize,
        bins: impl Iterator<Item = usize>,
        weights: f64,
    ) -> Self {
        let mass = scored.mass(query);
        let kth = (served.kth_score(query) / mass, 0.0);
        let (score, mean) = scored.levels().map_or(kth, |levels| {
            let list = served.lists[query].iter();
            let scores: Vec<f64> = list.map(|(_, score)| score / mass).collect();
            let counts = counted(bins);
            let score = bar(levels, &scores, &counts, served.k);
            // By bin, so that the sum depends on no order of pairs.
            let chances = counts.iter().map(|(&bin, count)| count * above(levels, bin, score));
            (score, chances.sum::<f64>() / counts.values().sum::<f64>().max(1.0))
        });
        Self { mass, score, mean, share: HELD * served.k as f64 / weights }
    }

    /// The margin of a pair of this bin, and its chance before the first outcome.
    fn beaten(&self, scored: &ScoredPairs, bin: u16) -> (f64, f64) {
        let of = |levels| above(levels, usize::from(bin), self.score);
        let chance = scored.levels().map_or(0.0, of);
        let untried = self.mean + UNTRIED * (chance - self.mean);
        (log_odds(chance), untried.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE))
    }

    /// Chance of a pair of this weight before anything is known.
    fn held(&self, weight: f64) -> f64 {
        (self.share * weight).min(HELD)
    }

    /// What is predicted of a pair of the query.
    fn predict(&self, scored: &ScoredPairs, pair: PairEstimate) -> EntryPrediction {
        let (margin, untried) = if scored.levels().is_some() {
            self.beaten(scored, pair.bin)
        } else {
            let margin = ODDS_OF_MASS * (pair.expected_score / self.mass - self.score);
            (margin, self.held(weight(&pair)))
        };
        let chance = scored.entry().chance(pair.matches, margin).unwrap_or(untried);
        EntryPrediction { pair, chance, margin }
    }
}

/// Log odds of a chance; those of the ends are told apart from others no further than [`LEAST_CHANCE`].
fn log_odds(chance: f64) -> f64 {
    let chance = chance.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE);
    (chance / (1.0 - chance)).ln()
}

/// Pairs by bin.
fn counted(bins: impl Iterator<Item = usize>) -> BTreeMap<usize, f64> {
    let mut counts = BTreeMap::new();
    for bin in bins {
        *counts.entry(bin).or_default() += 1.0;
    }
    counts
}

/// The score, as a share of the idf mass, that `k` pages are expected to beat: of those `served` and of
/// picks, counted by bin; 0 where they are too few.
fn bar(levels: &ScoreLevels, served: &[f64], counts: &BTreeMap<usize, f64>, k: usize) -> f64 {
    let expected = |edge: usize| expected_above(levels, served, counts, edge);
    // Falls from edge to edge: the first one that fewer than K are above.
    if expected(0) < k as f64 {
        return 0.0;
    }
    let (mut low, mut high) = (0, CELLS);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if expected(middle) < k as f64 { high = middle } else { low = middle }
    }
    let (more, fewer) = (expected(low), expected(high));
    let within = if more > fewer { (more - k as f64) / (more - fewer) } else { 0.0 };
    levels.width() * (low as f64 + within.clamp(0.0, 1.0))
}

/// How many pages are expected to score more than an edge of the grid: of those `served`, and of picks
/// counted by bin.
fn expected_above(
    levels: &ScoreLevels,
    served: &[f64],
    counts: &BTreeMap<usize, f64>,
    edge: usize,
) -> f64 {
    let score = levels.width() * edge as f64;
    let picks: f64 = counts.iter().map(|(&bin, count)| count * levels.above(bin)[edge]).sum();
    served.iter().filter(|&&served| served > score).count() as f64 + picks
}

/// Share of a bin's outcomes above a score, between the edges of the grid.
fn above(levels: &ScoreLevels, bin: usize, score: f64) -> f64 {
    // Where no page ever had a word of its query none is above anything.
    if levels.width() <= 0.0 {
        return 0.0;
    }
    let place = (score / levels.width()).clamp(0.0, CELLS as f64 - 1.0);
    let edges = levels.above(bin);
    let (low, high) = (edges[place as usize], edges[place as usize + 1]);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of bin 0 are evenly spread up to 1, those of bin 1 up to 2.
    fn levels() -> ScoreLevels {
        let share = |bin, score: f64| (1.0 - score / (bin as f64 + 1.0)).max(0.0);
        ScoreLevels::new(2, 2.0, share)
    }

    #[test]
    fn the_bar_is_what_k_pages_are_expected_to_beat() {
        let levels = levels();
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 2.0 * levels.width(), "{found} {expected}");
        };
        // Of 20 picks evenly spread up to 1, 10 are above 0.5.
        close(bar(&levels, &[], &counted([0; 20].into_iter()), 10), 0.5);
        // 6 served pages above leave 4 places: 4 of 20 are above 0.8.
        close(bar(&levels, &[1.5; 6], &counted([0; 20].into_iter()), 10), 0.8);
        // Fewer than places: whoever scores has one.
        assert_eq!(bar(&levels, &[], &counted([0; 5].into_iter()), 10), 0.0);
        // All places are held.
        close(bar(&levels, &[1.5; 10], &counted([0; 20].into_iter()), 10), 1.5);
        // 10 of bin 0 and 10 of bin 1 above t: 10 (1 - t) + 10 (1 - t / 2) = 10 at 2 / 3.
        close(bar(&levels, &[], &counted((0..20).map(|at| at % 2)), 10), 2.0 / 3.0);
    }

    #[test]
    fn the_mean_chance_of_a_querys_pairs_fills_its_places() {
        let levels = levels();
        let counts = counted((0..20).map(|at| at % 2));
        let score = bar(&levels, &[], &counts, 10);
        let own = [0, 1].map(|bin| above(&levels, bin, score));
        let mean = f64::midpoint(own[0], own[1]);
        assert!((20.0 * mean - 10.0).abs() < 0.2, "as many as there are places: {mean}");
    }

    #[test]
    fn where_no_candidate_ever_scored_none_is_expected_to() {
        let levels = ScoreLevels::new(1, 0.0, |_, _| 0.0);
        let bar = bar(&levels, &[], &counted([0; 50].into_iter()), 10);
        assert_eq!((bar, above(&levels, 0, bar), above(&levels, 0, 0.5)), (0.0, 0.0, 0.0));
    }

    /// Story: first plans said of every second pair of theirs that it would enter for certain. A third did.
    #[test]
    fn nobody_is_sure_before_anything_is_known() {
        let bar =
            |weights: f64| Bar { mass: 1.0, score: 0.0, mean: 0.0, share: HELD * 10.0 / weights };
        assert_eq!(bar(MATCHING).held(MATCHING), HELD, "a candidate alone");
        let [linked, matching] =
            [1.0, MATCHING].map(|weight| bar(60.0 + 10.0 * MATCHING).held(weight));
        assert!((60.0 * linked + 10.0 * matching - HELD * 10.0).abs() < 1e-9, "places are shared");
    }

    #[test]
    fn chances_lie_between_the_edges_of_the_grid() {
        let levels = levels();
        assert!((above(&levels, 0, 0.25) - 0.75).abs() < 1e-9);
        assert!((above(&levels, 1, 1.003) - (1.0 - 1.003 / 2.0)).abs() < 1e-9);
        assert_eq!(above(&levels, 0, 5.0), 0.0);
        assert_eq!(above(&levels, 1, 0.0), 1.0);
    }
}
