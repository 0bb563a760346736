//! Distributions of scores on a grid: for every bin of a score model the share of its outcomes above
//! each of [`CELLS`] evenly spaced scores.

use serde::{Deserialize, Serialize};

/// Cells of the grid.
pub(crate) const CELLS: usize = 256;

/// Distributions of the scores of candidates, by bin of the model they come from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScoreLevels {
    /// Of one cell, as a share of the idf mass.
    width: f64,
    /// By bin: share of outcomes above each edge, from score 0 to the highest, where none is.
    above: Vec<Vec<f64>>,
}

impl ScoreLevels {
    /// The grid up to the `highest` score. `share_above` tells of a bin and a score how many of the
    /// bin's outcomes lie above.
    pub(crate) fn new(bins: usize, highest: f64, share_above: impl Fn(usize, f64) -> f64) -> Self {
        let width = highest / CELLS as f64;
        let mut above = Vec::with_capacity(bins);
        for bin in 0..bins {
            let edge = |edge| share_above(bin, width * edge as f64);
            // Not left to the rounding of the last edge.
            above.push((0..CELLS).map(edge).chain([0.0]).collect());
        }
        Self { width, above }
    }

    /// Width of a cell, as a share of the idf mass.
    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    /// The score in the middle of a cell, as a share of the idf mass.
    pub(crate) fn middle(&self, cell: usize) -> f64 {
        self.width * (cell as f64 + 0.5)
    }

    /// Mean score of a bin's outcomes, as a share of the idf mass.
    pub(crate) fn mean(&self, bin: usize) -> f64 {
        let cells = self.above[bin].windows(2).map(|edges| edges.iter().sum::<f64>() / 2.0);
        self.width * cells.sum::<f64>()
    }

    /// The score, as a share of the idf mass, that this share of a bin's outcomes lies above.
    pub(crate) fn quantile(&self, bin: usize, share: f64) -> f64 {
        self.width * self.above[bin].partition_point(|&above| above > share) as f64
    }

    /// Share of the outcomes of a bin above every edge: cell `i` lies between edges `i` and `i + 1`.
    pub(crate) fn above(&self, bin: usize) -> &[f64] {
        &self.above[bin]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fall_from_all_that_score_to_none() {
        let uniform = |_, score: f64| 1.0 - score / 2.0;
        let levels = ScoreLevels::new(1, 2.0, uniform);
        let above = levels.above(0);
        assert_eq!(above.len(), CELLS + 1);
        assert_eq!((above[0], above[CELLS / 2], above[CELLS]), (1.0, 0.5, 0.0));
        assert_eq!(
            [0.975, 0.5, 0.0].map(|share| (levels.quantile(0, share) * 20.0).round()),
            [1.0, 20.0, 40.0]
        );
        assert!((levels.mean(0) - 1.0).abs() < 0.01, "{}", levels.mean(0));
        assert!((levels.middle(CELLS - 1) - (2.0 - levels.width() / 2.0)).abs() < 1e-12);
    }
}
