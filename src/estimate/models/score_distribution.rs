//! How a page will score for a query: a model of the expected score, and the scores that pages of
//! about the same expectation turned out to have.
//!
//! Scores are shares of the query's idf mass, so that they carry over between queries. The chance
//! to be among the best K for good is the chance to beat the score that, in expectation, K pages of
//! all beat: those served now and every candidate, of which each that matches stands for three more
//! that no link has shown yet. So the chances of a query add up to the places it has: candidates
//! compete.
//! It is the expected-case objective of Pandey and Olston (WSDM 2008, section 4.2) with the K-th
//! score at its expectation, which costs O(n) for n candidates where the whole distribution of ranks costs
//! O(n K L).

use serde::{Deserialize, Serialize};

use crate::estimate::EstimateError;
use crate::estimate::candidates::Candidate;
use crate::estimate::models::ridge::Ridge;
use crate::estimate::models::score_levels::ScoreLevels;
use crate::sketch::visibility::Places;

/// Pairs without which nothing is fitted.
const FEWEST: usize = 100;
/// Outcomes of the first bin, which holds the highest expectations, and growth from bin to bin.
const FIRST_BIN: f64 = 100.0;
const BIN_GROWTH: f64 = 1.1;
/// URLs that are not known yet for each matching candidate that is. Of those that answers link to, most
/// are known.
pub(crate) const UNSEEN: f64 = 3.0;
/// Halvings of the interval in which the threshold lies.
const HALVINGS: u32 = 24;

/// A fitted model.
#[derive(Serialize, Deserialize)]
pub(crate) struct ScoreModel {
    scores: Ridge,
    /// By expectation, descending.
    bins: Vec<Bin>,
    /// URLs that are not known yet for each matching candidate that is.
    unseen: f64,
}

#[derive(Serialize, Deserialize)]
struct Bin {
    /// Lowest expectation.
    low: f64,
    /// Scores, ascending.
    outcomes: Vec<f32>,
}

impl Bin {
    fn share_above(&self, score: f64) -> f64 {
        let below = self.outcomes.partition_point(|&outcome| f64::from(outcome) <= score);
        (self.outcomes.len() - below) as f64 / self.outcomes.len() as f64
    }
}

/// A bin of candidates while a threshold is looked for in an interval that narrows: where in its outcomes that may lie.
struct Narrowed<'a> {
    outcomes: &'a [f32],
    /// How many candidates it has.
    count: f64,
    /// Outcomes that are no higher than the score of the last question: between so many and so many.
    below: usize,
    least: usize,
    most: usize,
}

impl<'a> Narrowed<'a> {
    fn of(bin: &'a Bin, count: f64) -> Self {
        let outcomes = bin.outcomes.as_slice();
        Self { outcomes, count, below: 0, least: 0, most: outcomes.len() }
    }

    /// How many of its candidates are expected to score more.
    fn above(&mut self, score: f64) -> f64 {
        let between = &self.outcomes[self.least..self.most];
        self.below = self.least + between.partition_point(|&outcome| f64::from(outcome) <= score);
        let all = self.outcomes.len();
        self.count * ((all - self.below) as f64 / all as f64)
    }

    /// Only higher scores are asked about from now on, or only lower ones.
    fn narrow(&mut self, higher: bool) {
        *(if higher { &mut self.least } else { &mut self.most }) = self.below;
    }
}

/// Whether more than `k` pages are expected to beat a score, of those `served` and of candidates; which narrows where others
/// are asked about.
fn do_beat(score: f64, served: &[f64], bins: &mut [Narrowed<'_>], k: usize) -> bool {
    let served = served.iter().filter(|&&served| served > score).count() as f64;
    let above = bins.iter_mut().fold(served, |sum, bin| sum + bin.above(score));
    for bin in bins {
        bin.narrow(above > k as f64);
    }
    above > k as f64
}

impl ScoreModel {
    /// Fits on candidates that were fetched; `None` if they are too few. Each candidate competes with
    /// `unseen` more of its kind that are not known yet.
    ///
    /// # Errors
    /// The model cannot be fitted.
    pub(crate) fn fit(
        candidates: &[Candidate],
        unseen: f64,
    ) -> Result<Option<Self>, EstimateError> {
        if candidates.len() < FEWEST {
            return Ok(None);
        }
        let scores = Ridge::fit(candidates)?;
        let outcomes = candidates.iter().map(|candidate| candidate.score as f32);
        let mut known: Vec<(f64, f32)> =
            scores.predict(candidates).into_iter().zip(outcomes).collect();
        known.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut bins, mut size, mut rest) = (Vec::new(), FIRST_BIN, known.as_slice());
        while let Some(last) = rest.len().min(size as usize).checked_sub(1) {
            let edge = rest[last].0;
            // Equal expectations share a bin, and what is left is no bin of a few.
            let mut end = last + 1 + rest[last + 1..].partition_point(|(e, _)| *e >= edge);
            if rest.len() - end < FIRST_BIN as usize {
                end = rest.len();
            }
            let (bin, others) = rest.split_at(end);
            let mut outcomes: Vec<f32> = bin.iter().map(|(_, score)| *score).collect();
            outcomes.sort_by(f32::total_cmp);
            bins.push(Bin { low: bin[end - 1].0, outcomes });
            (rest, size) = (others, size * BIN_GROWTH);
        }
        Ok(Some(Self { scores, bins, unseen }))
    }

    /// Expected score of one candidate, as a share of the idf mass.
    pub(crate) fn expected_of(&self, candidate: &Candidate) -> f64 {
        self.scores.predict_one(candidate)
    }

    /// How many bins there are.
    pub(crate) fn bins(&self) -> usize {
        self.bins.len()
    }

    /// How many URLs a candidate counts for: those that are not known yet with it, if it matches.
    pub(crate) fn weight(&self, matches: bool) -> f64 {
        if matches { 1.0 + self.unseen } else { 1.0 }
    }

    /// The bin that an expectation falls in.
    pub(crate) fn bin(&self, expected: f64) -> usize {
        self.bins.partition_point(|bin| bin.low > expected).min(self.bins.len() - 1)
    }

    /// The score that `k` pages beat in expectation: of those `served`, and of candidates by bin.
    fn threshold(&self, served: &[f64], counts: &[f64], k: usize, highest: f64) -> f64 {
        let some = self.bins.iter().zip(counts).filter(|(_, count)| **count > 0.0);
        let mut bins: Vec<Narrowed<'_>> =
            some.map(|(bin, &count)| Narrowed::of(bin, count)).collect();
        let (mut low, mut high) = (0.0, highest);
        if !do_beat(low, served, &mut bins, k) {
            return low;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let end = if do_beat(middle, served, &mut bins, k) { &mut low } else { &mut high };
            *end = middle;
        }
        high
    }

    /// By bin: visibility that a candidate is expected to have for good, beside pages of the scores `served` and others
    /// that are counted by bin: the chance to be in the list where all `places` are seen alike. No score is above `highest`.
    pub(crate) fn chances_by_bin(
        &self,
        served: &[f64],
        counts: &[f64],
        places: Places,
        highest: f64,
    ) -> Vec<f64> {
        let mut by_bin = vec![0.0; self.bins.len()];
        for (k, lost) in places.steps() {
            let threshold = self.threshold(served, counts, k, highest);
            for (sum, bin) in by_bin.iter_mut().zip(&self.bins) {
                *sum += lost * bin.share_above(threshold);
            }
        }
        by_bin
    }

    /// The distributions of scores by bin.
    pub(crate) fn levels(&self) -> ScoreLevels {
        let last = self.bins.iter().filter_map(|bin| bin.outcomes.last());
        let highest = last.fold(0.0, |highest: f32, &score| highest.max(score));
        let share_above = |bin: usize, score| self.bins[bin].share_above(score);
        ScoreLevels::new(self.bins.len(), f64::from(highest), share_above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::features::table::{Feature, FeatureRow};
    use prospect_index::page::UrlId;

    fn candidates(count: u32) -> Vec<Candidate> {
        let made = (0..count).map(|at| {
            let number = |by: u32| f64::from((at + 1).wrapping_mul(by) >> 16 & 1023) / 1023.0;
            let mut features = FeatureRow::default();
            features[Feature::BestAnchorIdfShare] = number(2_654_435_761) as f32;
            let score = number(2_654_435_761) * 0.6 + number(2_246_822_519) * 0.2;
            Candidate { url: UrlId(at), features, matches: true, score }
        });
        made.collect()
    }

    fn features(value: f32) -> FeatureRow {
        let mut features = FeatureRow::default();
        features[Feature::BestAnchorIdfShare] = value;
        features
    }

    /// What a model expects of a thousand pages, less to more.
    fn expected(model: &ScoreModel) -> Vec<f64> {
        let mut pages = candidates(1_000);
        for (at, page) in pages.iter_mut().enumerate() {
            page.features = features(at as f32 / 1_000.0);
        }
        pages.iter().map(|page| model.expected_of(page)).collect()
    }

    /// The same of each candidate, given its expectation and whether it matches.
    fn chances(
        model: &ScoreModel,
        served: &[f64],
        candidates: impl Iterator<Item = (f64, bool)>,
        places: impl Into<Places>,
        highest: f64,
    ) -> Vec<f64> {
        let mut counts = vec![0.0; model.bins()];
        let mut bins = Vec::new();
        for (expected, matches) in candidates {
            let bin = model.bin(expected);
            counts[bin] += model.weight(matches);
            bins.push(bin);
        }
        let by_bin = model.chances_by_bin(served, &counts, places.into(), highest);
        bins.into_iter().map(|bin| by_bin[bin]).collect()
    }

    #[test]
    fn few_pairs_fit_nothing() {
        assert!(ScoreModel::fit(&candidates(99), UNSEEN).unwrap().is_none());
        assert!(ScoreModel::fit(&[], UNSEEN).unwrap().is_none());
    }

    #[test]
    fn equal_expectations_share_a_bin_and_no_bin_is_small() {
        let mut equal = candidates(10_000);
        for candidate in &mut equal {
            candidate.features = features(0.5);
        }
        assert_eq!(ScoreModel::fit(&equal, UNSEEN).unwrap().unwrap().bins.len(), 1);
        let model = ScoreModel::fit(&candidates(1_011), UNSEEN).unwrap().unwrap();
        assert!(model.bins.iter().all(|bin| bin.outcomes.len() >= FIRST_BIN as usize));
        assert!(model.bins.len() > 3);
    }

    #[test]
    fn without_the_unseen_the_known_candidates_share_the_places() {
        let model = ScoreModel::fit(&candidates(20_000), 0.0).unwrap().unwrap();
        let expected = expected(&model);
        let matching = || expected.iter().map(|&expected| (expected, true));
        let sum: f64 = chances(&model, &[], matching(), 10, 1.9).iter().sum();
        assert!((sum - 10.0).abs() < 1.0, "{sum}");
    }

    #[test]
    fn places_that_are_not_seen_alike_are_shared_out_by_their_visibility() {
        let model = ScoreModel::fit(&candidates(20_000), 0.0).unwrap().unwrap();
        let expected = expected(&model);
        let matching = || expected.iter().map(|&expected| (expected, true));
        let places = |visibility: &str| Places { k: 10, visibility: visibility.parse().unwrap() };
        let of = |visibility| chances(&model, &[], matching(), places(visibility), 1.9);
        for visibility in ["log", "geometric:0.7"] {
            let seen: f64 = (1..=10).map(|rank| places(visibility).at(rank)).sum();
            let sum: f64 = of(visibility).iter().sum();
            assert!((sum - seen).abs() < 0.1 * seen, "{visibility}: {sum} of {seen}");
        }
        // Who is likely to be seen first gains on who just gets in.
        let (top, first) = (of("top"), of("geometric:0.5"));
        let share = |chances: &[f64], at: usize| chances[at] / chances.iter().sum::<f64>();
        let best = expected.len() - 1;
        assert!(share(&first, best) > share(&top, best));
    }

    #[test]
    fn chances_add_up_to_the_places_and_rise_with_the_expectation() {
        let model = ScoreModel::fit(&candidates(20_000), UNSEEN).unwrap().unwrap();
        let expected = expected(&model);
        let all = |matches| expected.iter().map(move |&expected| (expected, matches));
        // Four pages that nothing beats leave six places.
        for (unbeaten, places, off) in [(0, 10.0, 1.0), (4, 6.0, 1.0), (10, 0.0, 0.1)] {
            let chances = chances(&model, &vec![1.5; unbeaten], all(true), 10, 1.9);
            assert!(chances.first() <= chances.last());
            let sum = chances.iter().sum::<f64>() * (1.0 + UNSEEN);
            assert!((sum - places).abs() < off, "{unbeaten}: {sum}");
        }
        // Fewer candidates than places: whoever scores at all has one.
        let few = chances(&model, &[], all(true).skip(500).take(2), 10, 1.9);
        assert_eq!(few, [1.0, 1.0]);
        // Those that do not match stand for nobody else.
        let linked: f64 = chances(&model, &[], all(false), 10, 1.9).iter().sum();
        assert!((linked - 10.0).abs() < 1.0, "{linked}");
    }
}
