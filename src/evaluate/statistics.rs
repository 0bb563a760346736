//! Whether a difference is more than chance: tests, corrections for many of them, intervals.
//!
//! Distributions are those of `statrs`; `tests/inside/statistics.rs` holds all of it against SciPy.
//! Methods: Student's paired t-test and the pooled two-proportion z-test as in Pezzuti, MacAvaney
//! and Tonellotto (ICTIR 2025); Holm, Scandinavian Journal of Statistics 1979; Efron, Annals of
//! Statistics 1979 (percentile bootstrap), over crossed factors as in Owen, Annals of Applied Statistics
//! 2007. Not here: at which level a difference counts.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::auc::midranks;
use crate::results::Interval;

/// Resamples of a bootstrap, where nothing else is asked for.
pub(crate) const RESAMPLES: usize = 4000;

/// Resamples of one of so many tests that are corrected together (Holm, Bonferroni) and judged at this level: the least p that a
/// bootstrap can have, 2 of one more than its resamples, is half of what the strictest correction asks for.
pub(crate) fn resamples_for(tests: usize, level: f64) -> usize {
    RESAMPLES.max((4.0 * tests as f64 / level).ceil().min(1e6) as usize)
}

/// Confidence of all intervals.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Two-sided p of Student's t-test on pairs: the chance of a mean difference at least as large, if
/// the true one is 0. None for fewer than two pairs. Where all differences are equal, p is 1 if
/// they are 0, else 0.
///
/// # Panics
/// If the sides differ in length.
pub(crate) fn paired_t_test(a: &[f64], b: &[f64]) -> Option<f64> {
    assert_eq!(a.len(), b.len(), "pairs have two sides");
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let (mean, error) = mean_and_error(&differences)?;
    if error == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let student = StudentsT::new(0.0, 1.0, (differences.len() - 1) as f64).ok()?;
    Some((2.0 * student.cdf(-(mean / error).abs())).min(1.0))
}

/// Two-sided p of the z-test on two proportions with pooled variance, `hits_a` of `all_a` against
/// `hits_b` of `all_b`. None where a side is empty; 1 where both are none or all.
pub(crate) fn two_proportion_z_test(
    hits_a: u64,
    all_a: u64,
    hits_b: u64,
    all_b: u64,
) -> Option<f64> {
    if all_a == 0 || all_b == 0 {
        return None;
    }
    let (n_a, n_b) = (all_a as f64, all_b as f64);
    let pooled = (hits_a + hits_b) as f64 / (n_a + n_b);
    let variance = pooled * (1.0 - pooled) * (1.0 / n_a + 1.0 / n_b);
    if variance <= 0.0 {
        return Some(1.0);
    }
    let z = (hits_a as f64 / n_a - hits_b as f64 / n_b) / variance.sqrt();
    Some((2.0 * Normal::standard().cdf(-z.abs())).min(1.0))
}

/// p after Bonferroni: times the number of tests, at most 1. In the order given.
pub(crate) fn bonferroni(p: &[f64]) -> Vec<f64> {
    p.iter().map(|one| (one * p.len() as f64).min(1.0)).collect()
}

/// p after Holm's step-down: the i-th smallest of m times m - i + 1, at most 1, and never less than
/// a smaller one's. In the order given.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut last = 0.0_f64;
    for (step, at) in order.into_iter().enumerate() {
        last = last.max((p[at] * (p.len() - step) as f64).min(1.0));
        adjusted[at] = last;
    }
    adjusted
}

/// Mean of a few values, such as one a seed set, with its 95 % interval from Student's t; the
/// interval is absent for one value. None for no value.
pub(crate) fn mean_interval(values: &[f64]) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    let half = mean_and_error(values).and_then(|(_, error)| {
        let student = StudentsT::new(0.0, 1.0, (values.len() - 1) as f64).ok()?;
        Some(error * student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)))
    });
    let mean = mean(values);
    let (low, high) = (half.map(|half| mean - half), half.map(|half| mean + half));
    Some(Interval { mean, low, high, values: values.to_vec() })
}

/// As [`mean_interval`], without the values that it is of; 0 for no value.
pub(crate) fn mean_interval_alone(values: &[f64]) -> Interval {
    let none = Interval { mean: 0.0, low: None, high: None, values: Vec::new() };
    let found = mean_interval(values).unwrap_or(none);
    Interval { values: Vec::new(), ..found }
}

/// A share, `hits` of `all`, with its 95 % score interval (Wilson, Journal of the American Statistical Association
/// 1927), which holds near 0 and 1 as well. None of none.
pub(crate) fn share_interval(hits: u64, all: u64) -> Option<Interval> {
    if all == 0 {
        return None;
    }
    let (n, share) = (all as f64, hits as f64 / all as f64);
    let z = Normal::standard().inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
    let (middle, spread) =
        (share + z * z / (2.0 * n), z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt());
    let end = |sign: f64| Some(((middle + sign * spread) / (1.0 + z * z / n)).clamp(0.0, 1.0));
    Some(Interval { mean: share, low: end(-1.0), high: end(1.0), values: Vec::new() })
}

/// A mean difference with what its bootstrap says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resampled {
    /// The mean with its 95 % percentile interval (ends interpolated linearly); absent for one difference
    /// or no sample.
    pub(crate) interval: Interval,
    /// Two-sided p: twice the share of samples whose mean is 0 or on the other side of it, the difference
    /// that was found counting as one more sample; at most 1. Absent where the interval is.
    pub(crate) p: Option<f64>,
}

/// Mean of paired differences over two crossed factors, by one and then the other, such as seed sets and
/// queries. Each of `resamples` bootstrap samples draws anew of both (Owen, "The pigeonhole bootstrap",
/// Annals of Applied Statistics 2007), so that what was found holds for other seed sets and other queries;
/// with one row it is the plain bootstrap. The same for any number of threads: sample i draws from stream
/// i of the seed. None for no difference.
///
/// # Panics
/// If rows differ in length.
pub(crate) fn paired_bootstrap(
    differences: &[Vec<f64>],
    resamples: usize,
    seed: u64,
) -> Option<Resampled> {
    let (rows, columns) = (differences.len(), differences.first().map_or(0, Vec::len));
    assert!(differences.iter().all(|row| row.len() == columns), "factors are crossed");
    if columns == 0 {
        return None;
    }
    let mut means: Vec<f64> = if rows * columns == 1 {
        Vec::new()
    } else {
        let resample = |sample| resampled_mean(differences, seed, sample);
        (0..resamples).into_par_iter().map(resample).collect()
    };
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let (low, high) = (percentile(&means, tail), percentile(&means, 1.0 - tail));
    let all: Vec<f64> = differences.iter().flatten().copied().collect();
    let interval = Interval { mean: mean(&all), low, high, values: Vec::new() };
    let not_above = means.partition_point(|&mean| mean <= 0.0);
    let not_below = means.len() - means.partition_point(|&mean| mean < 0.0);
    let beyond = not_above.min(not_below) + 1;
    let p = 2.0 * beyond as f64 / (means.len() + 1) as f64;
    let p = (!means.is_empty()).then_some(p.min(1.0));
    Some(Resampled { interval, p })
}

/// The mean of the differences in one bootstrap sample. There are some, and all rows have as many.
fn resampled_mean(differences: &[Vec<f64>], seed: u64, sample: usize) -> f64 {
    let (rows, columns) = (differences.len(), differences[0].len());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(sample as u64);
    let mut draw = |of: usize| if of == 1 { 0 } else { random.random_range(0..of as u32) as usize };
    let drawn: Vec<usize> = (0..rows).map(|_| draw(rows)).collect();
    let mut sum = 0.0;
    for _ in 0..columns {
        let column = draw(columns);
        sum += drawn.iter().map(|&row| differences[row][column]).sum::<f64>();
    }
    sum / (rows * columns) as f64
}

/// Pearson's correlation. None for fewer than two pairs, or where a side does not vary.
///
/// # Panics
/// If the sides differ in length.
pub(crate) fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    assert_eq!(x.len(), y.len(), "pairs have two sides");
    if !varies(x) || !varies(y) {
        return None;
    }
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (dx, dy) = (x - mean_x, y - mean_y);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    (xx > 0.0 && yy > 0.0).then(|| (xy / (xx.sqrt() * yy.sqrt())).clamp(-1.0, 1.0))
}

/// Spearman's correlation: Pearson's of the ranks, of which ties share theirs.
///
/// # Panics
/// If the sides differ in length, or a value is NaN.
pub(crate) fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    pearson(&midranks(x), &midranks(y))
}

/// Pearson's with its interval by Fisher's z; none for fewer than four pairs either.
///
/// # Panics
/// If the sides differ in length.
pub(crate) fn pearson_interval(x: &[f64], y: &[f64]) -> Option<Interval> {
    let mean = pearson(x, y).filter(|_| x.len() > 3)?;
    let reach = Normal::standard().inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
    let spread = reach / (x.len() as f64 - 3.0).sqrt();
    // A perfect correlation has no finite z.
    let z = mean.clamp(-1.0 + 1e-12, 1.0 - 1e-12).atanh();
    let [low, high] = [z - spread, z + spread].map(|end| Some(end.tanh()));
    Some(Interval { mean, low, high, values: Vec::new() })
}

/// Least squares `y = a + b x`; none where x does not vary.
///
/// # Panics
/// If the sides differ in length.
pub(crate) fn least_squares(xs: &[f64], ys: &[f64]) -> Option<(f64, f64)> {
    assert_eq!(xs.len(), ys.len(), "pairs have two sides");
    let (mx, my) = (mean(xs), mean(ys));
    let sxx: f64 = xs.iter().map(|x| (x - mx).powi(2)).sum();
    let sxy: f64 = xs.iter().zip(ys).map(|(x, y)| (x - mx) * (y - my)).sum();
    (sxx > 0.0).then(|| (my - sxy / sxx * mx, sxy / sxx))
}

/// Whether two values differ. The mean of equal ones may differ from them in the last bit, which
/// would pass for spread.
fn varies(values: &[f64]) -> bool {
    values.iter().any(|&value| value != values[0])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Mean and its standard error (n - 1); none for fewer than two values.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    if !varies(values) {
        return Some((values[0], 0.0));
    }
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, (squares / (n - 1.0) / n).sqrt()))
}

/// A percentile of sorted values, linear between neighbours; none of none.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)?) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}
