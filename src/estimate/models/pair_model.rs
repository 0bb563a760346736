//! Models of the expected score of a candidate pair, by its features. A ridge is what is used; the
//! others are there to compare with (`benches/pair_models.rs`, and simulated crawls).

use serde::{Deserialize, Serialize};
use smartcore::ensemble::random_forest_regressor::{
    RandomForestRegressor, RandomForestRegressorParameters,
};
use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::ridge_regression::{RidgeRegression, RidgeRegressionParameters};

use crate::estimate::EstimateError;
use crate::estimate::candidates::Candidate;
use crate::estimate::features::table::Feature;
use crate::estimate::models::boosted_trees::{Boosted, Growth};

const GROWTH: Growth = Growth { trees: 30, depth: 5, rate: 0.1, leaf: 5.0 };
/// Pairs that a forest is fitted on, evenly spread over all: it sorts them anew for every tree.
const FOREST_PAIRS: usize = 10_000;
const FOREST_TREES: usize = 20;
const FOREST_DEPTH: u16 = 10;
const FOREST_LEAF: usize = 5;
/// Weight of the squares of a ridge's coefficients.
const RIDGE: f64 = 1.0;

/// Which model is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairModel {
    /// Linear least squares with a ridge.
    #[default]
    Linear,
    /// Gradient-boosted trees.
    Boosted,
    /// A random forest on a sample of the pairs.
    Forest,
}

impl PairModel {
    /// Whether it is the one that is used where nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

type Forest = RandomForestRegressor<f32, f32, DenseMatrix<f32>, Vec<f32>>;

/// A fitted model.
#[derive(Serialize, Deserialize)]
pub(super) enum Fitted {
    Boosted(Boosted),
    Linear { slopes: Vec<f64>, intercept: f64 },
    Forest(Forest),
}

#[allow(clippy::needless_pass_by_value, reason = "it is passed to `map_err` by name")]
fn failed(what: impl ToString) -> EstimateError {
    EstimateError::Fit { model: "pair model", what: what.to_string() }
}

impl Fitted {
    /// Fits the scores of candidates.
    pub(super) fn fit(model: PairModel, candidates: &[Candidate]) -> Result<Self, EstimateError> {
        let features = Feature::learned();
        Ok(match model {
            PairModel::Boosted => {
                let rows = candidates.iter().flat_map(|one| one.features.of(&features));
                let rows: Vec<f32> = rows.collect();
                let scores: Vec<f64> = candidates.iter().map(|one| one.score).collect();
                Self::Boosted(Boosted::fit(&rows, features.len(), &scores, GROWTH)?)
            }
            PairModel::Linear => {
                let rows = candidates.iter().flat_map(|one| one.features.of(&features));
                let rows = rows.map(f64::from).collect();
                let x = DenseMatrix::new(candidates.len(), features.len(), rows, false)
                    .map_err(failed)?;
                let y: Vec<f64> = candidates.iter().map(|one| one.score).collect();
                let parameters =
                    RidgeRegressionParameters::default().with_alpha(RIDGE).with_normalize(false);
                let fit = RidgeRegression::fit(&x, &y, parameters).map_err(failed)?;
                let slopes = fit.coefficients().iterator(0).copied().collect();
                Self::Linear { slopes, intercept: *fit.intercept() }
            }
            PairModel::Forest => {
                let step = candidates.len().div_ceil(FOREST_PAIRS);
                let sample: Vec<&Candidate> = candidates.iter().step_by(step).collect();
                let rows = sample.iter().flat_map(|one| one.features.of(&features)).collect();
                let x =
                    DenseMatrix::new(sample.len(), features.len(), rows, false).map_err(failed)?;
                let y: Vec<f32> = sample.iter().map(|one| one.score as f32).collect();
                let parameters = RandomForestRegressorParameters::default()
                    .with_n_trees(FOREST_TREES)
                    .with_max_depth(FOREST_DEPTH)
                    .with_min_samples_leaf(FOREST_LEAF)
                    .with_seed(1);
                Self::Forest(Forest::fit(&x, &y, parameters).map_err(failed)?)
            }
        })
    }

    /// What is expected of candidates.
    pub(super) fn predict(&self, candidates: &[Candidate]) -> Result<Vec<f64>, EstimateError> {
        let features = Feature::learned();
        let rows = || candidates.iter().map(|one| one.features.of(&features));
        Ok(match self {
            Self::Boosted(trees) => {
                rows().map(|row| trees.predict(&row.collect::<Vec<f32>>())).collect()
            }
            Self::Linear { slopes, intercept } => {
                rows().map(|row| linear(row, slopes, *intercept)).collect()
            }
            Self::Forest(_) if candidates.is_empty() => Vec::new(),
            Self::Forest(forest) => {
                let flat = rows().flatten().collect();
                let x = DenseMatrix::new(candidates.len(), features.len(), flat, false)
                    .map_err(failed)?;
                let expected = forest.predict(&x).map_err(failed)?;
                expected.into_iter().map(f64::from).collect()
            }
        })
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

    /// Pairs whose score is twice one number and some of another, which the features tell in turn.
    fn candidates() -> Vec<Candidate> {
        let made = (0..2_000_u32).map(|at| {
            let number = |by: u32| f64::from((at + 1).wrapping_mul(by) >> 16 & 1023) / 1023.0;
            let (a, b) = (number(2_654_435_761), number(2_246_822_519));
            let mut features = FeatureRow::default();
            for (at, feature) in Feature::learned().into_iter().enumerate() {
                features[feature] = if at % 2 == 0 { a as f32 } else { b as f32 };
            }
            Candidate { url: UrlId(at), features, matches: true, score: 0.5 * a + 2.0 * b }
        });
        made.collect()
    }

    #[test]
    fn every_model_learns_and_does_so_again() {
        let candidates = candidates();
        for model in [PairModel::Boosted, PairModel::Linear, PairModel::Forest] {
            let predict = || Fitted::fit(model, &candidates).unwrap().predict(&candidates).unwrap();
            let expected = predict();
            let pairs = expected.iter().zip(&candidates);
            let error: f64 = pairs.map(|(e, one)| (e - one.score).powi(2)).sum();
            // Half of the variance.
            assert!(error / 2_000.0 < 0.18, "{model:?}: {error}");
            assert_eq!(expected, predict(), "{model:?}");
        }
        assert!(
            Fitted::fit(PairModel::Forest, &candidates).unwrap().predict(&[]).unwrap().is_empty()
        );
    }
}
