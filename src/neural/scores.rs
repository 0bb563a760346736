//! From the numbers a graph gives to log-probabilities.

/// ln of the logistic function, exact at both ends.
pub(crate) fn log_sigmoid(x: f64) -> f64 {
    // Adding zero turns -0 into 0.
    if x >= 0.0 { 0.0 - (-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// ln of the share of the logit at `positive` among the exponentials of all.
pub(crate) fn log_softmax(logits: &[f32], positive: usize) -> f64 {
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|x| (f64::from(*x) - f64::from(highest)).exp()).sum();
    (f64::from(logits[positive]) - f64::from(highest) - sum.ln()).min(0.0)
}

/// Log-probability of "good" from the logits of a classifier: one logit is that of good against
/// bad, of two or more `positive` is the good one.
pub(crate) fn log_probability(logits: &[f32], positive: usize) -> f64 {
    match logits {
        [one] => log_sigmoid(f64::from(*one)),
        _ => log_softmax(logits, positive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_probabilities_hold_at_the_ends() {
        assert!((log_sigmoid(0.0) + std::f64::consts::LN_2).abs() < 1e-15);
        assert_eq!(log_sigmoid(1000.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(log_sigmoid(-1000.0), -1000.0);
        assert_eq!(log_probability(&[1000.0, -1000.0], 0), 0.0);
        assert_eq!(log_probability(&[1000.0, -1000.0], 1), -2000.0);
    }

    #[test]
    fn two_logits_say_what_their_difference_says() {
        for difference in [-3.0_f32, 0.5, 7.0] {
            let two = log_probability(&[1.0, 1.0 + difference], 1);
            assert!((two - log_probability(&[difference], 0)).abs() < 1e-12);
        }
    }
}
