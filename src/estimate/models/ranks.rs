//! Chances over all ranks: the expected-case objective of Pandey and Olston (WSDM 2008, section 4.2).
//!
//! The chance of a page to be in the top K is `sum_l P(its score is l) P(fewer than K others are
//! above l)`. Scores are independent, each with the distribution of its bin; those of served pages
//! are known. The number of others above is then a Poisson-binomial variable, cut off at K. To leave
//! each page out in turn takes products of those before it and of those after it, no division, which
//! would lose all digits where a page is nearly sure to be above.
//!
//! With L levels that costs O(n K L) for n candidates. Candidates of one bin have one distribution,
//! so that here they are binomial together: O(B K^2 L) for B bins, whatever n. Levels lie where the
//! places are decided, at most [`STEP`] pages apart in expectation.

use crate::estimate::models::score_levels::{CELLS, ScoreLevels};

/// Pages expected between one level and the next.
const STEP: f64 = 1.0;
/// Where so many standard deviations more than K pages are expected above, no page has a chance.
const HOPELESS: f64 = 5.0;

/// Candidates of one bin.
struct Crowd<'a> {
    bin: usize,
    count: u32,
    /// Share of them above each edge of the grid.
    above: &'a [f64],
    /// Logarithms of the ways to choose 0, 1, … of all but one.
    ways: Vec<f64>,
}

/// A level: scores between two edges of the grid, and the served pages above.
struct Level {
    low: usize,
    high: usize,
    served: usize,
}

/// By bin: chance of one of its candidates to be among the `k` best, beside the others and pages of
/// the scores `served`; 0 for bins without candidates. `counts` are by bin.
pub fn chances(levels: &ScoreLevels, served: &[f64], counts: &[u32], k: usize) -> Vec<f64> {
    chances_at(levels, served, counts, k, STEP)
}

fn chances_at(
    levels: &ScoreLevels,
    served: &[f64],
    counts: &[u32],
    k: usize,
    step: f64,
) -> Vec<f64> {
    let crowds = crowds(levels, counts, k);
    let mut chances = vec![0.0; counts.len()];
    for level in decisive(levels, served, &crowds, k, step) {
        let left = chances_left(&crowds, &level, k - level.served);
        for (crowd, left) in crowds.iter().zip(left) {
            let within = crowd.above[level.low] - crowd.above[level.high];
            chances[crowd.bin] += within * left;
        }
    }
    chances
}

/// The bins that have candidates.
fn crowds<'a>(levels: &'a ScoreLevels, counts: &[u32], k: usize) -> Vec<Crowd<'a>> {
    let bins = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    bins.map(|(bin, &count)| {
        let ways = log_ways(count - 1, k);
        Crowd { bin, count, above: levels.above(bin), ways }
    })
    .collect()
}

/// Levels from the top down to where no place is left.
fn decisive(
    levels: &ScoreLevels,
    served: &[f64],
    crowds: &[Crowd<'_>],
    k: usize,
    step: f64,
) -> Vec<Level> {
    let mut expected = vec![0.0; CELLS + 1];
    for crowd in crowds {
        for (sum, share) in expected.iter_mut().zip(crowd.above) {
            *sum += f64::from(crowd.count) * share;
        }
    }
    let served_above = |cell| served.iter().filter(|&&score| score > levels.middle(cell)).count();
    let most = k as f64 + HOPELESS * (1.0 + (k as f64).sqrt());
    let (mut found, mut high) = (Vec::new(), CELLS);
    while high > 0 {
        let served = served_above(high - 1);
        if served >= k || expected[high] + served as f64 > most {
            break;
        }
        let mut low = high - 1;
        while low > 0
            && expected[low - 1] - expected[high] <= step
            && served_above(low - 1) == served
        {
            low -= 1;
        }
        found.push(Level { low, high, served });
        high = low;
    }
    found
}

/// By crowd: the chance of one of its members that fewer than `places` others are above the middle of
/// a level.
fn chances_left(crowds: &[Crowd<'_>], level: &Level, places: usize) -> Vec<f64> {
    let share = |crowd: &Crowd<'_>| f64::midpoint(crowd.above[level.low], crowd.above[level.high]);
    let mut none = vec![0.0; places];
    none[0] = 1.0;
    // Of each crowd all but one; with that one they are the whole crowd.
    let others: Vec<Vec<f64>> =
        crowds.iter().map(|crowd| binomial(crowd, share(crowd), places)).collect();
    let whole = |at: usize| with_one(&others[at], share(&crowds[at]));
    let mut after = vec![none.clone()];
    for at in (1..crowds.len()).rev() {
        let last = &after[after.len() - 1];
        after.push(convolved(last, &whole(at)));
    }
    let mut before = none;
    let mut chances = Vec::with_capacity(crowds.len());
    for (at, others_of) in others.iter().enumerate() {
        let rest = convolved(&before, others_of);
        let after = &after[crowds.len() - 1 - at];
        chances.push(fewer(&rest, after));
        before = convolved(&before, &whole(at));
    }
    chances
}

/// Logarithms of the ways to choose fewer than `k` of `count`.
fn log_ways(count: u32, k: usize) -> Vec<f64> {
    let mut ways = vec![0.0_f64];
    for chosen in 1..k.min(count as usize + 1) {
        let factor = f64::from(count + 1 - chosen as u32) / chosen as f64;
        ways.push(ways[chosen - 1] + factor.ln());
    }
    ways
}

/// Chances that 0, 1, … fewer than `places` of all but one of a crowd are above, each with `share`.
fn binomial(crowd: &Crowd<'_>, share: f64, places: usize) -> Vec<f64> {
    let count = crowd.count - 1;
    let mut chances = vec![0.0; places];
    if share <= 0.0 || count == 0 {
        chances[0] = 1.0;
        return chances;
    }
    if share >= 1.0 {
        if let Some(all) = chances.get_mut(count as usize) {
            *all = 1.0;
        }
        return chances;
    }
    // By logarithms: powers of a large crowd would vanish where their product with the ways does not.
    let (is_above, is_not) = (share.ln(), (-share).ln_1p());
    for (above, (chance, ways)) in chances.iter_mut().zip(&crowd.ways).enumerate() {
        let rest = f64::from(count) - above as f64;
        *chance = (ways + above as f64 * is_above + rest * is_not).exp();
    }
    chances
}

/// The distribution with one more page that is above with the chance `share`.
fn with_one(chances: &[f64], share: f64) -> Vec<f64> {
    let below = |above: usize| above.checked_sub(1).map_or(0.0, |below| chances[below]);
    let all = chances.iter().enumerate();
    all.map(|(above, chance)| chance * (1.0 - share) + below(above) * share).collect()
}

/// The distribution of a sum, cut off where those of its terms are.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; a.len()];
    for (at, a) in a.iter().enumerate() {
        for (sum, b) in sums[at..].iter_mut().zip(b) {
            *sum += a * b;
        }
    }
    sums
}

/// The chance that a sum is not cut off.
fn fewer(a: &[f64], b: &[f64]) -> f64 {
    let (mut below, mut chance) = (0.0, 0.0);
    // With the most of `a`, only the least of `b` fits.
    for (a, b) in a.iter().rev().zip(b) {
        below += b;
        chance += a * below;
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One score a cell: bins have outcomes at the middles of these cells.
    fn levels(bins: &[&[usize]]) -> ScoreLevels {
        let share_above = |bin: usize, score: f64| {
            let above = bins[bin].iter().filter(|&&cell| cell as f64 + 0.5 > score).count();
            above as f64 / bins[bin].len() as f64
        };
        ScoreLevels::new(bins.len(), CELLS as f64, share_above)
    }

    /// Evenly spread scores between two bounds each.
    fn spread(bounds: &[(f64, f64)]) -> ScoreLevels {
        let share_above = |bin: usize, score: f64| {
            let (low, high) = bounds[bin];
            ((high - score) / (high - low)).clamp(0.0, 1.0)
        };
        ScoreLevels::new(bounds.len(), CELLS as f64, share_above)
    }

    fn close(found: &[f64], expected: &[f64], error: f64) {
        assert_eq!(found.len(), expected.len());
        let mut all = found.iter().zip(expected);
        assert!(all.all(|(a, b)| (a - b).abs() <= error), "{found:?} {expected:?}");
    }

    /// By bin: the chance of its first page to be among the k best, over all joint outcomes; pages
    /// that tie come in either order.
    fn over_all_orders(bins: &[&[usize]], counts: &[u32], served: &[f64], k: usize) -> Vec<f64> {
        let pages: Vec<usize> =
            (0..bins.len()).flat_map(|bin| vec![bin; counts[bin] as usize]).collect();
        let joint: usize = pages.iter().map(|&bin| bins[bin].len()).product();
        let mut chances = vec![0.0; bins.len()];
        for outcome in 0..joint {
            let mut rest = outcome;
            let score = |&bin: &usize| {
                let at = rest % bins[bin].len();
                rest /= bins[bin].len();
                bins[bin][at] as f64 + 0.5
            };
            let scores: Vec<f64> = pages.iter().map(score).collect();
            for (bin, chance) in chances.iter_mut().enumerate() {
                let own = pages.iter().position(|&of| of == bin).unwrap();
                let others = || scores.iter().enumerate().filter(|(at, _)| *at != own);
                let ties = others().filter(|(_, score)| **score == scores[own]).count();
                assert!(ties < 2, "the midpoint is exact for one tie");
                let above = others().filter(|(_, score)| **score > scores[own]).count();
                let above = above + served.iter().filter(|&&score| score > scores[own]).count();
                let enters = |above| f64::from(u8::from(above < k));
                *chance += f64::midpoint(enters(above), enters(above + ties)) / joint as f64;
            }
        }
        chances
    }

    #[test]
    fn chances_are_those_over_all_orders() {
        let bins: [&[usize]; 4] = [&[200, 90, 12], &[120, 91, 40, 7], &[150, 30], &[60, 20, 3]];
        let counts = [1, 2, 1, 2];
        for served in [&[][..], &[100.5], &[250.0, 50.0, 2.0]] {
            for k in 1..6 {
                let found = chances_at(&levels(&bins), served, &counts, k, 0.0);
                close(&found, &over_all_orders(&bins, &counts, served, k), 1e-12);
            }
        }
    }

    /// The plain way: every candidate in turn, all others one by one.
    fn one_by_one(levels: &ScoreLevels, served: &[f64], counts: &[u32], k: usize) -> Vec<f64> {
        let crowds = crowds(levels, counts, k);
        let mut chances = vec![0.0; counts.len()];
        for level in decisive(levels, served, &crowds, k, STEP) {
            let share = |above: &[f64]| f64::midpoint(above[level.low], above[level.high]);
            for own in &crowds {
                let mut numbers = vec![0.0; k - level.served];
                numbers[0] = 1.0;
                for other in &crowds {
                    let left_out = u32::from(other.bin == own.bin);
                    for _ in 0..other.count - left_out {
                        numbers = with_one(&numbers, share(other.above));
                    }
                }
                let within = own.above[level.low] - own.above[level.high];
                chances[own.bin] += within * numbers.iter().sum::<f64>();
            }
        }
        chances
    }

    #[test]
    fn crowds_give_what_candidates_give_one_by_one() {
        let levels = spread(&[(100.0, 250.0), (180.0, 181.0), (20.0, 200.0), (0.0, 90.0)]);
        for counts in [[3, 0, 40, 200], [1, 1, 1, 1], [0, 9, 0, 1], [0, 30, 5, 0]] {
            for served in [&[][..], &[90.0, 30.0], &[240.0, 239.0, 190.0, 180.5, 20.0]] {
                for k in [1, 4, 10] {
                    let found = chances(&levels, served, &counts, k);
                    close(&found, &one_by_one(&levels, served, &counts, k), 1e-12);
                }
            }
        }
    }

    #[test]
    fn chances_share_out_the_places_at_any_size() {
        let levels = spread(&[(0.0, 200.0), (50.0, 250.0), (100.0, 180.0)]);
        let share_out = |counts: [u32; 3], k: usize| {
            let found = chances(&levels, &[], &counts, k);
            let sum: f64 = found.iter().zip(counts).map(|(c, n)| c * f64::from(n)).sum();
            assert!((sum / k as f64 - 1.0).abs() < 0.02, "{sum} of {k}");
        };
        share_out([30, 10, 5], 10);
        share_out([1_000, 0, 90], 10);
        share_out([5_000, 300, 90], 1_000);
    }

    #[test]
    fn levels_are_close_enough() {
        let levels = spread(&[(0.0, 200.0), (50.0, 250.0), (100.0, 180.0)]);
        for counts in [[30, 10, 5], [2_000, 100, 3], [1, 1, 15]] {
            let fine = chances_at(&levels, &[140.0, 90.0], &counts, 10, 0.0);
            close(&chances(&levels, &[140.0, 90.0], &counts, 10), &fine, 0.002);
        }
    }

    #[test]
    fn served_pages_that_nothing_beats_leave_nothing() {
        let levels = spread(&[(0.0, 200.0)]);
        assert_eq!(chances(&levels, &[201.0; 10], &[50], 10), [0.0]);
        assert_eq!(chances(&levels, &[], &[0], 10), [0.0]);
        // Six for six places.
        close(&chances(&levels, &[201.0; 4], &[6], 10), &[1.0], 1e-9);
    }
}
