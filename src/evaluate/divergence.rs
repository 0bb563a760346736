//! How far two collections of figures are apart: histograms over one range, and the Jensen-Shannon
//! distance between them.

/// Bins of a histogram of quality (Pezzuti et al., 2025).
pub(crate) const BINS: usize = 15;

/// How many of the values lie in each of `bins` equal parts of `low` to `high`; the last part holds
/// its upper end. Values outside are left out.
pub(crate) fn histogram(values: &[f64], low: f64, high: f64, bins: usize) -> Vec<u64> {
    let mut counts = vec![0; bins];
    for value in values.iter().filter(|value| (low..=high).contains(*value)) {
        let share = if high > low { (value - low) / (high - low) } else { 0.0 };
        counts[((share * bins as f64) as usize).min(bins - 1)] += 1;
    }
    counts
}

/// The square root of the Jensen-Shannon divergence (natural log) of two histograms: 0 for equal
/// shares, the root of ln 2 for histograms without a common bin. None where one is empty.
///
/// # Panics
/// If they differ in the number of bins.
pub(crate) fn jensen_shannon_distance(a: &[u64], b: &[u64]) -> Option<f64> {
    assert_eq!(a.len(), b.len(), "histograms over the same bins");
    let (all_a, all_b) = (a.iter().sum::<u64>() as f64, b.iter().sum::<u64>() as f64);
    if all_a == 0.0 || all_b == 0.0 {
        return None;
    }
    let part = |p: f64, m: f64| if p > 0.0 { p * (p / m).ln() } else { 0.0 };
    let mut divergence = 0.0;
    for (a, b) in a.iter().zip(b) {
        let (p, q) = (*a as f64 / all_a, *b as f64 / all_b);
        let m = f64::midpoint(p, q);
        divergence += 0.5 * (part(p, m) + part(q, m));
    }
    Some(divergence.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::{histogram, jensen_shannon_distance};

    #[test]
    fn bins_are_equal_and_the_last_holds_the_end() {
        assert_eq!(histogram(&[0.0, 0.99, 1.0, 2.0, 3.0, 4.0], 0.0, 3.0, 3), [2, 1, 2]);
        assert_eq!(histogram(&[5.0, 5.0], 5.0, 5.0, 3), [2, 0, 0]);
    }

    #[test]
    fn distances_of_equal_disjoint_and_overlapping_histograms() {
        assert_eq!(jensen_shannon_distance(&[1, 3], &[10, 30]), Some(0.0));
        let apart = jensen_shannon_distance(&[4, 0], &[0, 9]).unwrap();
        assert!((apart - 2.0_f64.ln().sqrt()).abs() < 1e-15);
        // p = (1, 0), q = (1/2, 1/2), m = (3/4, 1/4).
        let half = jensen_shannon_distance(&[2, 0], &[1, 1]).unwrap();
        let (third, two) = ((4.0_f64 / 3.0).ln(), 2.0_f64.ln());
        let expected = 0.5 * third + 0.5 * (0.5 * (2.0_f64 / 3.0).ln() + 0.5 * two);
        assert!((half - expected.sqrt()).abs() < 1e-15);
        assert_eq!(jensen_shannon_distance(&[0, 0], &[1, 1]), None);
    }
}
