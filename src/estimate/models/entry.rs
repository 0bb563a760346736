//! The chance that a page is in a query's list, learned from the candidate pairs of past picks: when its cycle
//! is closed, and when the crawl has grown since.
//!
//! What tells most is the margin: the log odds to beat the score that a place will take (see
//! [`predicted`](crate::estimate::predict_entry)). The share of past pairs in the list rises with it; it is fitted by isotonic
//! regression (pool adjacent violators: Ayer et al., 1955) over narrow ranges of the margin, apart for
//! pairs that match and for those that are linked from answers. Pairs of earlier cycles count for
//! less, for lists get harder to enter as the crawl goes on.

use serde::{Deserialize, Serialize};

/// Ranges of margins.
const RANGES: usize = 400;
/// The margins they cover, a range for what lies beyond at either end included.
const LEAST: f64 = -10.0;
const MOST: f64 = 10.0;
/// What a pair counts for in the next cycle, where one is not small.
const KEPT: f64 = 0.7;
/// Pairs that a share of half is worth, so that no chance is 0 or 1.
const PRIOR: f64 = 1.0;
/// Pairs without which nothing is fitted, and a cycle is small: of plans of a few URLs too little would be left, however
/// many there are.
pub(crate) const FEWEST: f64 = 300.0;

/// Pairs of past picks by their margin: how many, and how many of them entered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryOutcomes {
    /// Of pairs that are linked, and of those that match.
    ranges: [Vec<(f64, f64)>; 2],
    /// Pairs of this cycle.
    of_cycle: f64,
}

impl Default for EntryOutcomes {
    fn default() -> Self {
        Self { ranges: [(); 2].map(|()| vec![(0.0, 0.0); RANGES]), of_cycle: 0.0 }
    }
}

fn range(margin: f64) -> usize {
    let share = (margin - LEAST) / (MOST - LEAST);
    ((share * RANGES as f64).max(0.0) as usize).min(RANGES - 1)
}

impl EntryOutcomes {
    /// Another cycle begins. One of fewer than [`FEWEST`] pairs takes as much less off what was before.
    pub(crate) fn next_cycle(&mut self) {
        let kept = 1.0 - (1.0 - KEPT) * (std::mem::take(&mut self.of_cycle) / FEWEST).min(1.0);
        for (pairs, entered) in self.ranges.iter_mut().flatten() {
            (*pairs, *entered) = (*pairs * kept, *entered * kept);
        }
    }

    /// Whether chances of some kind of pairs are learned from them.
    pub(crate) fn suffice(&self) -> bool {
        self.ranges.iter().any(|ranges| pairs(ranges) >= FEWEST)
    }

    /// A pair of a pick that was fetched.
    pub(crate) fn add(&mut self, matches: bool, margin: f64, entered: bool) {
        let (pairs, sum) = &mut self.ranges[usize::from(matches)][range(margin)];
        self.of_cycle += 1.0;
        *pairs += 1.0;
        *sum += f64::from(u8::from(entered));
    }
}

/// Chance by margin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EntryModel {
    /// For pairs that are linked, and for those that match; `None` where they are too few.
    by_range: [Option<Vec<f64>>; 2],
}

impl EntryModel {
    /// The rising chances that fit the outcomes best.
    pub(crate) fn fit(outcomes: &EntryOutcomes) -> Self {
        Self { by_range: outcomes.ranges.each_ref().map(|ranges| isotonic(ranges)) }
    }

    /// Whether chances of some kind of pairs are learned.
    pub(crate) fn is_learned(&self) -> bool {
        self.by_range.iter().any(Option::is_some)
    }

    /// Chance of a pair with this margin, if enough is known.
    pub(crate) fn chance(&self, matches: bool, margin: f64) -> Option<f64> {
        Some(self.by_range[usize::from(matches)].as_ref()?[range(margin)])
    }
}

/// How many pairs there are, each for what it counts now.
fn pairs(ranges: &[(f64, f64)]) -> f64 {
    ranges.iter().map(|(pairs, _)| pairs).sum()
}

/// The rising shares that fit best; `None` of too few pairs.
fn isotonic(ranges: &[(f64, f64)]) -> Option<Vec<f64>> {
    if pairs(ranges) < FEWEST {
        return None;
    }
    // Blocks of neighbouring ranges: pairs, entered, ranges.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(RANGES);
    let share = |(pairs, entered, _): (f64, f64, usize)| (entered + PRIOR / 2.0) / (pairs + PRIOR);
    for &(pairs, entered) in ranges {
        blocks.push((pairs, entered, 1));
        while let [.., before, last] = blocks[..]
            && (share(before) >= share(last) || last.0 < PRIOR || before.0 < PRIOR)
        {
            blocks.pop();
            blocks.pop();
            blocks.push((before.0 + last.0, before.1 + last.1, before.2 + last.2));
        }
    }
    Some(blocks.iter().flat_map(|&block| vec![share(block); block.2]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 pairs at each of nine margins; of those at m, the share `chance(m)` entered.
    fn outcomes(chance: impl Fn(f64) -> f64) -> EntryOutcomes {
        let mut outcomes = EntryOutcomes::default();
        for step in -4..=4 {
            let margin = f64::from(step) / 5.0;
            for pair in 0..1_000 {
                outcomes.add(true, margin, f64::from(pair) < 1_000.0 * chance(margin));
            }
        }
        outcomes
    }

    #[test]
    fn chances_are_the_shares_that_entered_and_rise() {
        let model = EntryModel::fit(&outcomes(|margin| 0.5 + margin / 2.0));
        let chance = |margin| model.chance(true, margin).unwrap();
        assert!((chance(0.2) - 0.6).abs() < 0.001);
        assert!((chance(-0.8) - 0.1).abs() < 0.001);
        let all: Vec<f64> = (-30..30).map(|at| chance(f64::from(at) / 20.0)).collect();
        assert!(all.is_sorted() && all[0] > 0.0 && all[59] < 1.0);
        // Where nothing was seen, as at the nearest margins that were.
        assert_eq!(chance(-5.0), chance(-0.8));
    }

    #[test]
    fn shares_that_fall_are_pooled() {
        let model = EntryModel::fit(&outcomes(|margin| 0.5 - margin / 4.0));
        let chance = |margin| model.chance(true, margin).unwrap();
        assert!((chance(0.8) - 0.5).abs() < 0.001);
        assert_eq!(chance(-0.8), chance(0.8));
    }

    #[test]
    fn few_pairs_fit_nothing_and_later_cycles_count_for_more() {
        let mut seen = EntryOutcomes::default();
        assert!(!seen.suffice() && EntryModel::fit(&seen).chance(true, 0.0).is_none());
        (0..1_000).for_each(|_| seen.add(true, 0.0, false));
        seen.next_cycle();
        (0..700).for_each(|_| seen.add(true, 0.0, true));
        let model = EntryModel::fit(&seen);
        assert!(seen.suffice());
        assert!((model.chance(true, 0.0).unwrap() - 0.5).abs() < 1e-9);
        assert!(model.chance(false, 0.0).is_none(), "of those nothing is known");
    }

    #[test]
    fn small_cycles_are_enough_together_and_stay_so() {
        for of_cycle in [1, 10, 75, 299] {
            let (mut seen, mut came) = (EntryOutcomes::default(), 0);
            while came < 3_000 {
                seen.next_cycle();
                (0..of_cycle).for_each(|pair| seen.add(true, 0.0, pair % 2 == 0));
                came += of_cycle;
                // Some of the first have faded before there are 300.
                assert!(seen.suffice() || came < 400, "{of_cycle}: {came}");
            }
            let held = pairs(&seen.ranges[1]);
            assert!((700.0..=1_010.0).contains(&held), "{of_cycle}: {held}");
        }
    }
}
