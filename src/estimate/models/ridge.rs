//! The expected score of a candidate pair: least squares over its features with a ridge (Hoerl and Kennard,
//! 1970).
//!
//! Boosted trees and a random forest were level with it or behind in crawls, at seven times the cost and more
//! (docs/ablation.md).

use serde::{Deserialize, Serialize};
use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::ridge_regression::{RidgeRegression, RidgeRegressionParameters};

use crate::estimate::EstimateError;
use crate::estimate::candidates::Candidate;
use crate::estimate::features::table::Feature;

/// Weight of the squares of the coefficients.
const RIDGE: f64 = 1.0;

/// A fitted model.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ridge {
    /// By feature that is learned from.
    slopes: Vec<f64>,
    intercept: f64,
}

#[allow(clippy::needless_pass_by_value, reason = "it is passed to `map_err` by name")]
fn failed(what: impl ToString) -> EstimateError {
    EstimateError::Fit { model: "model of scores", what: what.to_string() }
}

impl Ridge {
    /// Fits the scores of candidates.
    ///
    /// # Errors
    /// smartcore refuses the data (never for finite features).
    pub(super) fn fit(candidates: &[Candidate]) -> Result<Self, EstimateError> {
        let features = Feature::learned();
        let rows = candidates.iter().flat_map(|one| one.features.of(features));
        let rows = rows.map(f64::from).collect();
        let x = DenseMatrix::new(candidates.len(), features.len(), rows, false).map_err(failed)?;
        let y: Vec<f64> = candidates.iter().map(|one| one.score).collect();
        let parameters =
            RidgeRegressionParameters::default().with_alpha(RIDGE).with_normalize(false);
        let fit = RidgeRegression::fit(&x, &y, parameters).map_err(failed)?;
        let slopes = fit.coefficients().iterator(0).copied().collect();
        Ok(Self { slopes, intercept: *fit.intercept() })
    }

    /// What is expected of candidates.
    pub(super) fn predict(&self, candidates: &[Candidate]) -> Vec<f64> {
        let features = Feature::learned();
        let rows = candidates.iter().map(|one| one.features.of(features));
        rows.map(|row| linear(row, &self.slopes, self.intercept)).collect()
    }

    /// What is expected of one candidate.
    pub(super) fn predict_one(&self, candidate: &Candidate) -> f64 {
        linear(candidate.features.of(Feature::learned()), &self.slopes, self.intercept)
    }
}

/// The intercept and the products of features and slopes, in their order, which is part of the result.
fn linear(row: impl Iterator<Item = f32>, slopes: &[f64], intercept: f64) -> f64 {
    row.zip(slopes).fold(intercept, |sum, (x, slope)| sum + f64::from(x) * slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::features::table::FeatureRow;
    use prospect_index::page::UrlId;

    /// Pairs whose score is half of one number and twice another, which the features tell in turn.
    fn candidates() -> Vec<Candidate> {
        let mut made = Vec::new();
        for at in 0..2_000_u32 {
            let number = |by: u32| f64::from((at + 1).wrapping_mul(by) >> 16 & 1023) / 1023.0;
            let (a, b) = (number(2_654_435_761), number(2_246_822_519));
            let mut features = FeatureRow::default();
            for (at, feature) in Feature::learned().iter().copied().enumerate() {
                features[feature] = if at % 2 == 0 { a as f32 } else { b as f32 };
            }
            made.push(Candidate {
                url: UrlId(at),
                features,
                matches: true,
                score: 0.5 * a + 2.0 * b,
            });
        }
        made
    }

    #[test]
    fn scores_are_learned_and_the_same_again() {
        let candidates = candidates();
        let predict = || Ridge::fit(&candidates).unwrap().predict(&candidates);
        let expected = predict();
        let pairs = expected.iter().zip(&candidates);
        let error: f64 = pairs.map(|(e, one)| (e - one.score).powi(2)).sum();
        assert!(error / 2_000.0 < 0.01, "{error}");
        assert_eq!(expected, predict());
        assert!(Ridge::fit(&candidates).unwrap().predict(&[]).is_empty());
    }
}
