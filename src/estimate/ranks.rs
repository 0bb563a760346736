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

use super::score_levels::{CELLS, ScoreLevels};

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
    let crowds: Vec<Crowd<'_>> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(bin, &count)| Crowd {
            bin,
            count,
            above: levels.above(bin),
            ways: log_ways(count - 1, k),
        })
        .collect();
    let mut chances = vec![0.0; counts.len()];
    for level in decisive(levels, served, &crowds, k) {
        let left = chances_left(&crowds, &level, k - level.served);
        for (crowd, left) in crowds.iter().zip(left) {
            let within = crowd.above[level.low] - crowd.above[level.high];
            chances[crowd.bin] += within * left;
        }
    }
    chances
}

/// Levels from the top down to where no place is left.
fn decisive(levels: &ScoreLevels, served: &[f64], crowds: &[Crowd<'_>], k: usize) -> Vec<Level> {
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
            && expected[low - 1] - expected[high] <= STEP
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
    let none = {
        let mut none = vec![0.0; places];
        none[0] = 1.0;
        none
    };
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
