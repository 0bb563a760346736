//! From what is known of a page before its fetch, whatever is asked, to impact: a quadratic
//! regression on crawled pages (METHODS, section 1). Importance and quality are mapped so.

use serde::Serialize;

/// Share of their size by which x differ that are told apart: expected qualities are no more exact.
const APART: f64 = 1e-6;
/// Mean distance from a line, in squares of the span of x, below which points are taken to lie on it.
const FLAT: f64 = 1e-9;

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
    /// distinct x, or x that all but coincide, the mean impact is the estimate of all.
    pub(crate) fn fit(points: &[(f64, f64)]) -> Self {
        let pages = points.len();
        let of_all = |pick: fn(f64, f64) -> f64| points.iter().map(|(x, _)| *x).reduce(pick);
        let (least, most) = (of_all(f64::min).unwrap_or(0.0), of_all(f64::max).unwrap_or(0.0));
        let is_point = most - least <= APART * least.abs().max(most.abs());
        if is_point || !has_three_places(points) {
            let mean = points.iter().map(|(_, y)| y).sum::<f64>() / pages.max(1) as f64;
            return Self { coefficients: [mean, 0.0, 0.0], pages, vertex: 0.0 };
        }
        let coefficients = parabola(points, most - least);
        let [_, c1, c2] = coefficients;
        let vertex = if c2 == 0.0 { 0.0 } else { (-c1 / (2.0 * c2)).clamp(least, most) };
        Self { coefficients, pages, vertex }
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

/// Whether there are three distinct x.
fn has_three_places(points: &[(f64, f64)]) -> bool {
    let mut found = Vec::with_capacity(3);
    points.iter().any(|(x, _)| {
        if !found.contains(&x.to_bits()) {
            found.push(x.to_bits());
        }
        found.len() == 3
    })
}

/// Least squares through points of at least three distinct x, which lie within a `span`, by polynomials that are orthogonal
/// over them (Forsythe, "Generation and use of orthogonal polynomials for data-fitting", 1957): a few passes and no matrix, as
/// every plan fits all crawled pages.
fn parabola(points: &[(f64, f64)], span: f64) -> [f64; 3] {
    let n = points.len() as f64;
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().fold(0.0, |sum, &(x, y)| sum + of(x, y));
    let (mean, base) = (sum(&|x, _| x) / n, sum(&|_, y| y) / n);
    let squares = sum(&|x, _| (x - mean).powi(2));
    let slope = sum(&|x, y| (x - mean) * y) / squares;
    // (x - mean)² less what the line and the constant have of it.
    let (tilt, lift) = (sum(&|x, _| (x - mean).powi(3)) / squares, squares / n);
    let bend = |x: f64| (x - mean).powi(2) - tilt * (x - mean) - lift;
    let left = sum(&|x, _| bend(x).powi(2));
    // Of x that all but coincide in two places a line is all that can be told.
    let is_curved = left > n * (FLAT * span * span).powi(2);
    let curve = if is_curved { sum(&|x, y| bend(x) * y) / left } else { 0.0 };
    [
        base - slope * mean + curve * (mean * mean + tilt * mean - lift),
        slope - curve * (2.0 * mean + tilt),
        curve,
    ]
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
        let fit = ImpactRegression::fit(&points);
        for (found, expected) in fit.coefficients.iter().zip([-1.0, 2.0, -0.25]) {
            assert!((found - expected).abs() < 1e-6, "{fit:?}");
        }
        assert_eq!(fit.impact(0.0), 0.0);
        assert!((fit.impact(9.0) - fit.impact(4.0)).abs() < 1e-6);
        assert_eq!(ImpactRegression::fit(&[]).impact(3.0), 0.0);
        assert_eq!(ImpactRegression::fit(&[(1.0, 2.0), (1.0, 4.0)]).impact(9.0), 3.0);
    }

    #[test]
    fn what_is_fitted_is_at_right_angles_to_what_is_left() {
        let number = |at: u32, by: u32| f64::from(at.wrapping_mul(by) >> 16 & 1023) / 1023.0;
        for (scale, shift) in [(1.0, 0.0), (1e-3, 4.0), (3.0, -40.0)] {
            let point = |at| (shift + scale * number(at, 2_654_435_761), number(at, 2_246_822_519));
            let points: Vec<(f64, f64)> = (1..200).map(point).collect();
            let ImpactRegression { coefficients: [c0, c1, c2], .. } =
                ImpactRegression::fit(&points);
            for power in 0..3 {
                let of = |&(x, y): &(f64, f64)| {
                    (y - c0 - c1 * x - c2 * x * x) * ((x - shift) / scale).powi(power)
                };
                let along: f64 = points.iter().map(of).sum();
                assert!(along.abs() < 1e-3, "{scale}, {shift}: {along} of x^{power}");
            }
        }
        let together = [0.7, 0.7 + 1e-16, 0.7 + 2e-16, 0.7 + 4e-16].map(|x| (x, 100.0 * x));
        assert_eq!(ImpactRegression::fit(&together).coefficients[1..], [0.0; 2]);
        let twice = [(0.0, 1.0), (1.0, 2.0), (1.0 + 1e-12, 9.0)];
        let [c0, c1, c2] = ImpactRegression::fit(&twice).coefficients;
        assert!(c2 == 0.0 && (c0 - 1.0).abs() < 1e-6 && (c1 - 4.5).abs() < 1e-6);
    }

    /// Story: of pages that 1, 3 and 7 pages linked to, the more were linked to the less they were worth, next to a line;
    /// a URL of theirs was expected to bring 1e14.
    #[test]
    fn a_vertex_beyond_what_was_seen_promises_nothing() {
        for impacts in [[9.0, 7.0, 5.0], [90.0, 70.0, 49.0], [30.0, 26.0, 21.0], [5.0, 7.0, 9.0]] {
            let points = impacts.iter().zip([1.0_f64, 3.0, 7.0]);
            let points: Vec<(f64, f64)> =
                points.flat_map(|(impact, links)| vec![(links.ln_1p(), *impact); 30]).collect();
            let fit = ImpactRegression::fit(&points);
            let most = impacts.iter().copied().fold(0.0, f64::max);
            for links in [0.0_f64, 1.0, 2.0, 7.0] {
                assert!(fit.impact(links.ln_1p()) <= 1.5 * most, "{links}: {fit:?}");
            }
        }
    }
}
