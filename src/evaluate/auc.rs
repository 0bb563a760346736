//! How well a figure tells two groups apart: the area under the ROC curve.
//!
//! It is the chance that one of the first group has more of it than one of the second, ties counting
//! half (Mann and Whitney). The interval is that of `DeLong` et al. (Biometrics 1988), computed from
//! ranks as by Sun and Xu (IEEE Signal Processing Letters 2014), O(n log n).

use statrs::distribution::{ContinuousCDF, Normal};

use super::statistics::CONFIDENCE;
use crate::results::Interval;

/// The area for values of the group that should have more, and of the other. None for an empty
/// group; the interval, cut to 0 and 1, is absent where a group has fewer than two.
///
/// # Panics
/// If a value is NaN.
pub(crate) fn auc(positive: &[f64], negative: &[f64]) -> Option<Interval> {
    if positive.is_empty() || negative.is_empty() {
        return None;
    }
    let all: Vec<f64> = positive.iter().chain(negative).copied().collect();
    let (m, n) = (positive.len() as f64, negative.len() as f64);
    let ranks = midranks(&all);
    let (of_positive, of_negative) = ranks.split_at(positive.len());
    // Of each one the share of the other group that it is told apart from.
    let placed = |ranks: &[f64], own: &[f64], others: f64| -> Vec<f64> {
        ranks.iter().zip(midranks(own)).map(|(rank, own)| (rank - own) / others).collect()
    };
    let above = placed(of_positive, positive, n);
    let below = placed(of_negative, negative, m);
    let mean = above.iter().sum::<f64>() / m;
    let mut interval = Interval { mean, low: None, high: None, values: Vec::new() };
    if let (Some(a), Some(b)) = (variance(&above), variance(&below)) {
        let reach = Normal::standard().inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
        let half = reach * (a / m + b / n).sqrt();
        interval.low = Some((mean - half).max(0.0));
        interval.high = Some((mean + half).min(1.0));
    }
    Some(interval)
}

/// Ranks from 1, ties with the mean of theirs.
///
/// # Panics
/// If a value is NaN.
pub(super) fn midranks(values: &[f64]) -> Vec<f64> {
    assert!(values.iter().all(|value| !value.is_nan()), "NaN has no rank");
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for run in order.chunk_by(|&a, &b| values[a] == values[b]).scan(0, |before, run| {
        *before += run.len();
        Some((*before - run.len(), run))
    }) {
        let (before, run) = run;
        for &at in run {
            ranks[at] = before as f64 + f64::midpoint(run.len() as f64, 1.0);
        }
    }
    ranks
}

/// Variance (n - 1); none for fewer than two values.
fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::auc;

    /// Of the six pairs of {3, 2} and {1, 2, 4}: 3 beats 1 and 2, 2 beats 1 and ties 2.
    #[test]
    fn ties_count_half() {
        let found = auc(&[3.0, 2.0], &[1.0, 2.0, 4.0]).unwrap();
        assert!((found.mean - 3.5 / 6.0).abs() < 1e-15);
        // Shares above: 2/3 and 1/2, their variance 1/72; below: 1, 3/4 and 0, their variance 13/48.
        // 1.96 times the root of 1/144 + 13/144 reaches over both ends.
        let half = 1.959_963_984_540_054 * (14.0_f64 / 144.0).sqrt();
        assert!(half > 0.5);
        assert_eq!((found.low, found.high), (Some(0.0), Some(1.0)));
    }

    #[test]
    fn the_interval_is_that_of_placements() {
        // Four above eight of ten, one above three: placements 0.8 (four times) and 0.3.
        let positive = [8.5, 8.5, 8.5, 8.5, 3.5];
        let negative: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = auc(&positive, &negative).unwrap();
        assert!((found.mean - 0.7).abs() < 1e-15);
        // The variance of these is 0.05. Of the ten, three are below all, five below four of five.
        let below: f64 = 3.0 * 0.09 + 5.0 * 0.01 + 2.0 * 0.49;
        let half = 1.959_963_984_540_054 * (0.05 / 5.0 + below / 9.0 / 10.0_f64).sqrt();
        assert!((found.low.unwrap() - (0.7 - half)).abs() < 1e-12);
        assert_eq!(found.high, Some(1.0));
    }

    #[test]
    fn groups_that_are_alike_or_apart() {
        assert_eq!(auc(&[1.0, 1.0], &[1.0, 1.0]).unwrap().mean, 0.5);
        assert_eq!(auc(&[2.0], &[1.0]).unwrap().mean, 1.0);
        assert_eq!(auc(&[2.0], &[1.0]).unwrap().low, None);
        assert!(auc(&[], &[1.0]).is_none());
    }
}
