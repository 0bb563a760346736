//! Neediness: which queries gain most from new pages (Pandey and Olston, WSDM 2008, section 3.1).

use serde::{Deserialize, Serialize};

/// What became of one query in a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueryOutcome {
    /// Mean score of its top K before the cycle, empty places 0.
    pub(crate) mean_before: f64,
    /// New results in its top K after it.
    pub(crate) new_results: f64,
}

/// Buckets of equal count that the regression is fitted on.
const BUCKETS: usize = 20;
/// With fewer distinct means the regression says nothing.
const DISTINCT_MEANS: usize = 3;

/// How much a query's top K can be improved, from its mean score:
/// `ln((new results + 0.5) / queries) = a + b * mean`, fitted over buckets of past queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Improvability {
    fit: Option<ImprovabilityFit>,
    /// Places of a list: no cycle has more new results.
    places: usize,
}

/// The fitted regression, and how well it fits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct ImprovabilityFit {
    /// Its constant.
    pub(crate) a: f64,
    /// Its slope.
    pub(crate) b: f64,
    /// Share of the variance between buckets that it explains.
    pub(crate) r_squared: f64,
}

impl Improvability {
    /// Fits the regression on past outcomes; before the first, or with fewer than 3 distinct
    /// means, every query is as improvable as any other. Lists have so many `places`.
    pub(crate) fn fit(outcomes: &[QueryOutcome], places: usize) -> Self {
        let mut sorted = outcomes.to_vec();
        sorted.sort_by(|a, b| {
            a.mean_before.total_cmp(&b.mean_before).then(a.new_results.total_cmp(&b.new_results))
        });
        let buckets = BUCKETS.min(sorted.len());
        let points: Vec<(f64, f64)> = (0..buckets)
            .map(|at| &sorted[at * sorted.len() / buckets..(at + 1) * sorted.len() / buckets])
            .map(|bucket| {
                let count = bucket.len() as f64;
                let mean = bucket.iter().map(|o| o.mean_before).sum::<f64>() / count;
                let new: f64 = bucket.iter().map(|o| o.new_results).sum();
                (mean, ((new + 0.5) / count).ln())
            })
            .collect();
        let mut means: Vec<u64> = points.iter().map(|(mean, _)| mean.to_bits()).collect();
        means.dedup();
        Self::new((means.len() >= DISTINCT_MEANS).then(|| line(&points)), places)
    }

    /// By a regression, if there is one, of lists with so many `places`.
    pub(crate) fn new(fit: Option<ImprovabilityFit>, places: usize) -> Self {
        Self { fit, places }
    }

    /// Improvability of a query with this mean score.
    pub(crate) fn of(&self, mean: f64) -> f64 {
        self.fit.map_or(1.0, |fit| (fit.a + fit.b * mean).exp().min(self.places as f64))
    }

    /// Neediness of a query with this frequency and mean score.
    pub(crate) fn need(&self, frequency: f64, mean: f64) -> f64 {
        frequency * self.of(mean)
    }

    /// The fitted regression.
    pub(crate) fn fitted(&self) -> Option<ImprovabilityFit> {
        self.fit
    }
}

/// Least squares through points with at least two distinct x.
fn line(points: &[(f64, f64)]) -> ImprovabilityFit {
    let n = points.len() as f64;
    let (mx, my) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    let b = sxy / sxx;
    let a = my - b * mx;
    ImprovabilityFit { a, b, r_squared: r_squared(points, a, b) }
}

/// Share of the variance of y that a line explains.
fn r_squared(points: &[(f64, f64)], a: f64, b: f64) -> f64 {
    let mean = points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64;
    let total: f64 = points.iter().map(|p| (p.1 - mean).powi(2)).sum();
    let left: f64 = points.iter().map(|p| (p.1 - a - b * p.0).powi(2)).sum();
    if total > 0.0 { 1.0 - left / total } else { 0.0 }
}

/// How many queries to plan for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Needy {
    /// So many.
    Count(usize),
    /// This share of them, rounded down, at least one.
    Share(f64),
}

impl Needy {
    /// Number of queries out of `queries`.
    pub(crate) fn of(self, queries: usize) -> usize {
        match self {
            Self::Count(count) => count.min(queries),
            // What is meant as a whole number may be a hair less in binary.
            Self::Share(share) => {
                ((share * queries as f64 + 1e-9).floor() as usize).max(1).min(queries)
            }
        }
    }
}

/// Indices of queries, the neediest first. Ties by index, which is the order of qids.
pub(crate) fn by_need(need: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..need.len()).collect();
    order.sort_by(|&a, &b| need[b].total_cmp(&need[a]).then(a.cmp(&b)));
    order
}

/// The neediest queries: indices, ascending.
pub(crate) fn neediest(need: &[f64], keep: usize) -> Vec<usize> {
    let mut order = by_need(need);
    order.truncate(keep);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvability_falls_with_the_mean_where_outcomes_say_so() {
        assert_eq!(Improvability::fit(&[], 10).of(5.0), 1.0);
        let same = vec![QueryOutcome { mean_before: 1.0, new_results: 2.0 }; 50];
        assert_eq!(Improvability::fit(&same, 10).of(5.0), 1.0);
        let outcomes: Vec<_> = (0..200)
            .map(|i| f64::from(i) / 20.0)
            .map(|mean| QueryOutcome { mean_before: mean, new_results: (1.0 - 0.3 * mean).exp() })
            .collect();
        let fit = Improvability::fit(&outcomes, 10);
        let ImprovabilityFit { a, b, r_squared } = fit.fitted().unwrap();
        assert!((b + 0.3).abs() < 0.05 && (a - 1.0).abs() < 0.2, "{a} {b}");
        assert!(r_squared > 0.95, "{r_squared}");
        assert!(fit.of(1.0) > fit.of(9.0));
        assert_eq!(fit.of(-30.0), 10.0, "no list has more places");
    }

    #[test]
    fn the_neediest_are_kept_in_query_order() {
        assert_eq!(neediest(&[1.0, 3.0, 2.0, 3.0], 3), [1, 2, 3]);
        assert_eq!(neediest(&[1.0, 1.0, 1.0], 2), [0, 1]);
        assert_eq!(
            (Needy::Share(0.5).of(7), Needy::Share(0.0001).of(7), Needy::Count(9).of(7)),
            (3, 1, 7)
        );
    }
}
