//! From what is known of a page before its fetch, whatever is asked, to impact: a quadratic
//! regression on crawled pages (METHODS, section 1). Importance and quality are mapped so.

use serde::Serialize;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::linear_regression::{LinearRegression, LinearRegressionParameters};

use crate::estimate::EstimateError;

/// `impact = c0 + c1 x + c2 x²` clamped at the vertex and at 0; x is ln(1 + importance), or
/// the probability that the page is good. A vertex outside the x that were seen is taken to lie at their end: a parabola
/// that is next to a line has it anywhere, with any value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ImpactRegression {
    /// c0, c1, c2.
    pub(crate) coefficients: [f64; 3],
    /// Crawled pages it was fitted on.
    pub(crate) pages: usize,
    /// Where the vertex is taken to lie.
    #[serde(skip)]
    vertex: f64,
}

impl ImpactRegression {
    /// Fits on `(x, impact)` of crawled pages, x as known before their fetch. With fewer than three
    /// distinct x the mean impact is the estimate of all.
    ///
    /// # Errors
    /// smartcore refuses the data (never for finite values).
    pub(crate) fn fit(points: &[(f64, f64)]) -> Result<Self, EstimateError> {
        let pages = points.len();
        let mut xs: Vec<u64> = points.iter().map(|(x, _)| x.to_bits()).collect();
        xs.sort_unstable();
        xs.dedup();
        if xs.len() < 3 {
            let mean = points.iter().map(|(_, y)| y).sum::<f64>() / pages.max(1) as f64;
            return Ok(Self { coefficients: [mean, 0.0, 0.0], pages, vertex: 0.0 });
        }
        let of_all = |pick: fn(f64, f64) -> f64| points.iter().map(|(x, _)| *x).reduce(pick);
        let (least, most) = (of_all(f64::min).unwrap_or(0.0), of_all(f64::max).unwrap_or(0.0));
        let flat: Vec<f64> = points.iter().flat_map(|(x, _)| [*x, x * x]).collect();
        let x = DenseMatrix::new(pages, 2, flat, false).map_err(|e| refused(&e))?;
        let y: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
        let model = LinearRegression::fit(&x, &y, LinearRegressionParameters::default())
            .map_err(|e| refused(&e))?;
        let slopes: Vec<f64> =
            smartcore::linalg::basic::arrays::Array::iterator(model.coefficients(), 0)
                .copied()
                .collect();
        let (c1, c2) = (slopes[0], slopes[1]);
        let vertex = if c2 == 0.0 { 0.0 } else { (-c1 / (2.0 * c2)).clamp(least, most) };
        Ok(Self { coefficients: [*model.intercept(), c1, c2], pages, vertex })
    }

    /// Impact of a page with this x. Beyond the vertex of the parabola the value at the vertex
    /// holds, so that the estimate is monotone on the side where most pages lie.
    pub(crate) fn impact(&self, x: f64) -> f64 {
        let [c0, c1, c2] = self.coefficients;
        // An opening-down parabola falls behind its vertex, an opening-up one falls before it.
        let x = if c2 < 0.0 {
            x.min(self.vertex)
        } else if c2 > 0.0 {
            x.max(self.vertex)
        } else {
            x
        };
        (c0 + c1 * x + c2 * x * x).max(0.0)
    }
}

/// smartcore refused the data.
fn refused(what: &dyn std::fmt::Display) -> EstimateError {
    EstimateError::Fit { model: "impact regression", what: what.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parabola_is_recovered_and_clamped() {
        let points: Vec<(f64, f64)> = (0..50)
            .map(|i| f64::from(i) / 10.0)
            .map(|x| (x, -1.0 + 2.0 * x - 0.25 * x * x))
            .collect();
        let fit = ImpactRegression::fit(&points).unwrap();
        for (found, expected) in fit.coefficients.iter().zip([-1.0, 2.0, -0.25]) {
            assert!((found - expected).abs() < 1e-6, "{fit:?}");
        }
        assert_eq!(fit.impact(0.0), 0.0);
        assert!((fit.impact(9.0) - fit.impact(4.0)).abs() < 1e-6);
        assert_eq!(ImpactRegression::fit(&[]).unwrap().impact(3.0), 0.0);
        assert_eq!(ImpactRegression::fit(&[(1.0, 2.0), (1.0, 4.0)]).unwrap().impact(9.0), 3.0);
    }

    /// Story: of pages that 1, 3 and 7 pages linked to, the more were linked to the less they were worth, next to a line;
    /// a URL of theirs was expected to bring 1e14.
    #[test]
    fn a_vertex_beyond_what_was_seen_promises_nothing() {
        for impacts in [[9.0, 7.0, 5.0], [90.0, 70.0, 49.0], [30.0, 26.0, 21.0], [5.0, 7.0, 9.0]] {
            let points = impacts.iter().zip([1.0_f64, 3.0, 7.0]);
            let points: Vec<(f64, f64)> =
                points.flat_map(|(impact, links)| vec![(links.ln_1p(), *impact); 30]).collect();
            let fit = ImpactRegression::fit(&points).unwrap();
            let most = impacts.iter().copied().fold(0.0, f64::max);
            for links in [0.0_f64, 1.0, 2.0, 7.0] {
                assert!(fit.impact(links.ln_1p()) <= 1.5 * most, "{links}: {fit:?}");
            }
        }
    }
}
