//! How well chances were foreseen: pairs are predicted before their batch, and their outcome is what
//! the batch turned out to be.

use serde::Serialize;

use crate::plan::explore::Pool;

/// Bins of a table.
pub(crate) const BINS: usize = 10;
/// A chance of 0 or 1 that is wrong would cost without end: chances are kept so far away from both.
const LEAST: f64 = 1e-6;

/// One bin of pairs with about the same predicted chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct CalibrationBin {
    /// Pairs.
    pub(crate) pairs: usize,
    /// Mean predicted chance.
    pub(crate) predicted: f64,
    /// Share that entered the top K.
    pub(crate) realised: f64,
}

/// Predicted chances against outcomes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Calibration {
    /// Pairs.
    pub(crate) pairs: usize,
    /// Expected calibration error: over the bins, the difference between predicted and realised,
    /// weighted by pairs.
    pub(crate) error: f64,
    /// Mean of `-ln` of the probability that was given to what happened.
    pub(crate) log_loss: f64,
    /// The log-loss of the share that entered, given to every pair alike.
    pub(crate) base_log_loss: f64,
    /// Bins of equal count by predicted chance, ten where there are as many pairs; of one chance all pairs are in one.
    pub(crate) bins: Vec<CalibrationBin>,
}

impl Calibration {
    /// Of the pairs of greedy picks, and of those of all others, from the pool of each pair's pick, its
    /// predicted chance, and whether it entered.
    pub(crate) fn greedy_and_explored(pairs: &[(Pool, f64, bool)]) -> [Self; 2] {
        [true, false].map(|greedy| {
            let of_pool = pairs.iter().filter(|(pool, ..)| (*pool == Pool::Greedy) == greedy);
            Self::of(of_pool.map(|&(_, chance, entered)| (chance, entered)).collect())
        })
    }

    /// Of pairs with their predicted chance, and whether they entered.
    pub(crate) fn of(mut predictions: Vec<(f64, bool)>) -> Self {
        predictions.sort_by(|a, b| a.0.total_cmp(&b.0));
        let pairs = predictions.len();
        if pairs == 0 {
            return Self::default();
        }
        let bins = bins(&predictions);
        let off = |bin: &CalibrationBin| (bin.predicted - bin.realised).abs() * bin.pairs as f64;
        let base = share(&predictions);
        let count = pairs as f64;
        let losses = predictions.iter().map(|&(chance, entered)| log_loss(chance, entered));
        Self {
            pairs,
            error: bins.iter().map(off).sum::<f64>() / count,
            log_loss: losses.sum::<f64>() / count,
            base_log_loss: base * log_loss(base, true) + (1.0 - base) * log_loss(base, false),
            bins,
        }
    }
}

/// Bins of equal count of pairs in the order of their chances, as far as that can be: pairs with one chance, of which
/// isotonic regression makes many, are in one bin, the one in which the first of them falls.
fn bins(predictions: &[(f64, bool)]) -> Vec<CalibrationBin> {
    let (pairs, wanted) = (predictions.len(), BINS.min(predictions.len()));
    let mut bins = Vec::with_capacity(wanted);
    let mut start = 0;
    for bin in 1..=wanted {
        let end = (bin * pairs / wanted).max(start);
        let last = predictions[end - 1].0;
        let end = end + predictions[end..].partition_point(|(chance, _)| *chance <= last);
        let of_bin = &predictions[start..end];
        if !of_bin.is_empty() {
            let predicted = of_bin.iter().map(|(chance, _)| chance).sum::<f64>();
            bins.push(CalibrationBin {
                pairs: of_bin.len(),
                predicted: predicted / of_bin.len() as f64,
                realised: share(of_bin),
            });
        }
        start = end;
    }
    bins
}

/// What a pair costs by its chance, and whether it entered.
fn log_loss(chance: f64, entered: bool) -> f64 {
    let chance = chance.clamp(LEAST, 1.0 - LEAST);
    -if entered { chance.ln() } else { (1.0 - chance).ln() }
}

/// Share of the pairs that entered, of at least one.
fn share(pairs: &[(f64, bool)]) -> f64 {
    pairs.iter().filter(|(_, entered)| *entered).count() as f64 / pairs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_equal_counts_in_order_of_the_prediction() {
        let predictions = (0..100).map(|i| (f64::from(i) / 100.0, i >= 50)).collect();
        let bins = Calibration::of(predictions).bins;
        assert_eq!(bins.len(), BINS);
        assert!(bins.iter().all(|bin| bin.pairs == 10));
        assert!((bins[0].predicted - 0.045).abs() < 1e-12);
        assert_eq!((bins[4].realised, bins[5].realised), (0.0, 1.0));
        assert_eq!(Calibration::of(Vec::new()), Calibration::default());
    }

    #[test]
    fn pairs_of_one_chance_share_a_bin_whatever_became_of_them() {
        // Ten of 0, eighty of 0.5 of which every other one enters, ten more.
        let at = |i: u32| (f64::from(i.clamp(9, 90) - 9) / 81.0, i.is_multiple_of(2));
        let mut predictions: Vec<_> = (0..10).map(at).collect();
        predictions.extend((0..80).map(|i: u32| (0.5, i.is_multiple_of(2))));
        predictions.extend((90..100).map(at));
        let found = Calibration::of(predictions.clone());
        assert_eq!(found.bins.iter().map(|bin| bin.pairs).collect::<Vec<_>>(), [10, 80, 10]);
        assert_eq!((found.bins[1].predicted, found.bins[1].realised), (0.5, 0.5));
        predictions[10..90].reverse();
        assert_eq!(Calibration::of(predictions), found, "the order they came in is no matter");
    }

    #[test]
    fn chances_that_hold_have_no_error_and_beat_the_base_rate() {
        // 20 pairs of 0.1, 20 of 0.9: 2 and 18 enter.
        let at = |i: i32| if i < 20 { (0.1, i < 2) } else { (0.9, i < 38) };
        let found = Calibration::of((0..40).map(at).collect());
        assert!((found.base_log_loss - 2.0_f64.ln()).abs() < 1e-12);
        let entropy = -(0.1 * 0.1_f64.ln() + 0.9 * 0.9_f64.ln());
        assert!((found.log_loss - entropy).abs() < 1e-12);
        assert!(found.error < 1e-12, "{}", found.error);
        assert_eq!(found.bins.iter().map(|bin| bin.pairs).collect::<Vec<_>>(), [20, 20]);
        let wrong = Calibration::of(vec![(0.0, true), (1.0, false)]);
        assert!(wrong.log_loss > 10.0 && wrong.log_loss.is_finite());
    }
}
