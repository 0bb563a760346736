//! Gradient-boosted regression trees (Friedman, "Greedy function approximation", 2001), squared
//! error. Fitted by forust, which bins features into histograms, and predicted from flat arrays.
//!
//! The same rows give the same trees whatever the number of threads.

use forust_ml::Matrix;
use forust_ml::gradientbooster::GradientBooster;
use forust_ml::objective::ObjectiveType;
use forust_ml::tree::Tree;
use serde::{Deserialize, Serialize};

use crate::estimate::EstimateError;

/// Bins of a feature.
const BINS: u16 = 64;

// Two models part the values of a feature by fewer thresholds than a byte counts: no more than one for each end of a bin.
const _: () = assert!(2 * (BINS + 1) < u8::MAX as u16);

/// Size of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Growth {
    /// Trees.
    pub(crate) trees: usize,
    /// Splits from the root to the deepest leaf.
    pub(crate) depth: usize,
    /// Share of each tree's prediction that is added.
    pub(crate) rate: f32,
    /// Rows that a leaf must hold.
    pub(crate) leaf: f32,
}

/// Where a node parts rows; where a tree ends before, the value is no number, and rows go left.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Split {
    feature: u32,
    value: f32,
}

const NO_SPLIT: Split = Split { feature: 0, value: f32::NAN };

/// A fitted model. All of its trees are of one depth: who walks one need not ask where it ends, so that many are walked at
/// once.
#[derive(Serialize, Deserialize)]
pub(crate) struct Boosted {
    depth: u32,
    /// Tree by tree, level by level.
    splits: Vec<Split>,
    /// Tree by tree: what each leaf adds.
    leaves: Vec<f32>,
    base: f64,
}

impl Boosted {
    /// Fits `targets` on `rows` of `width` features each, one after the other.
    ///
    /// # Errors
    /// forust refuses the data (never for finite numbers).
    pub(crate) fn fit(
        rows: &[f32],
        width: usize,
        targets: &[f64],
        growth: Growth,
    ) -> Result<Self, EstimateError> {
        let count = targets.len();
        let mut columns = vec![0.0; rows.len()];
        for (at, row) in rows.chunks_exact(width).enumerate() {
            for (feature, value) in row.iter().enumerate() {
                columns[feature * count + at] = f64::from(*value);
            }
        }
        let mut booster = GradientBooster::default()
            .set_objective_type(ObjectiveType::SquaredLoss)
            .set_initialize_base_score(true)
            .set_iterations(growth.trees)
            .set_max_depth(growth.depth)
            .set_learning_rate(growth.rate)
            .set_min_leaf_weight(growth.leaf)
            .set_nbins(BINS);
        booster.fit_unweighted(&Matrix::new(&columns, count, width), targets, None).map_err(
            |error| EstimateError::Fit { model: "boosted trees", what: error.to_string() },
        )?;
        let depth = booster.trees.iter().map(|tree| depth_below(tree, 0)).max().unwrap_or(0).max(1);
        let mut model =
            Self { depth, splits: Vec::new(), leaves: Vec::new(), base: booster.base_score };
        booster.trees.iter().for_each(|tree| model.add(tree));
        Ok(model)
    }

    fn add(&mut self, tree: &Tree) {
        let mut level = vec![0];
        for _ in 0..self.depth {
            let mut next = Vec::with_capacity(2 * level.len());
            for at in level {
                let node = &tree.nodes[at];
                let (split, children) = if node.is_leaf {
                    (NO_SPLIT, [at; 2])
                } else {
                    let (feature, value) = (node.split_feature as u32, node.split_value as f32);
                    (Split { feature, value }, [node.left_child, node.right_child])
                };
                self.splits.push(split);
                next.extend(children);
            }
            level = next;
        }
        self.leaves.extend(level.into_iter().map(|at| tree.nodes[at].weight_value));
    }

    /// What is expected of a row.
    pub(crate) fn predict(&self, row: &[f32]) -> f64 {
        let splits = (1 << self.depth) - 1;
        let trees = self.splits.chunks_exact(splits).zip(self.leaves.chunks_exact(splits + 1));
        trees.fold(self.base, |sum, (tree, leaves)| {
            let mut at = 0;
            for _ in 0..self.depth {
                let Split { feature, value } = tree[at];
                at = 2 * at + 1 + usize::from(row[feature as usize] >= value);
            }
            sum + f64::from(leaves[at - splits])
        })
    }
}

/// Splits from a node to the deepest leaf below it.
fn depth_below(tree: &Tree, at: usize) -> u32 {
    let node = &tree.nodes[at];
    if node.is_leaf {
        return 0;
    }
    let [left, right] = [node.left_child, node.right_child].map(|at| depth_below(tree, at));
    1 + left.max(right)
}

/// By feature: where the trees of one or two models part rows, ascending. Rows that have reached the same are expected to
/// be worth the same.
#[derive(Default)]
pub(crate) struct Thresholds(Vec<Vec<f32>>);

impl Thresholds {
    /// Of models of rows of `width` features.
    pub(crate) fn of<'a>(models: impl IntoIterator<Item = &'a Boosted>, width: usize) -> Self {
        let mut of_feature = vec![Vec::new(); width];
        let splits = models.into_iter().flat_map(|model| &model.splits);
        for split in splits.filter(|split| !split.value.is_nan()) {
            of_feature[split.feature as usize].push(split.value);
        }
        for thresholds in &mut of_feature {
            thresholds.sort_unstable_by(f32::total_cmp);
            thresholds.dedup();
        }
        Self(of_feature)
    }

    /// Whether a row has reached other thresholds than `reached` tells, which it tells from then on: how many of each
    /// feature, or more than there are where that is not known.
    pub(crate) fn passed(&self, row: &[f32], reached: &mut [u8]) -> bool {
        let mut has_passed = false;
        for ((thresholds, &value), reached) in self.0.iter().zip(row).zip(reached) {
            let at = usize::from(*reached);
            let has_reached = |threshold: Option<&f32>| threshold.is_some_and(|it| value >= *it);
            let is_same = (at == 0 || has_reached(thresholds.get(at - 1)))
                && !has_reached(thresholds.get(at));
            if !is_same {
                *reached = thresholds.partition_point(|&threshold| value >= threshold) as u8;
                has_passed = true;
            }
        }
        has_passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_pass_no_threshold_are_expected_to_be_worth_the_same() {
        let (x, y) = rows(2_000);
        let model = Boosted::fit(&x, 2, &y, GROWTH).unwrap();
        let other = Boosted::fit(&x, 2, &y.iter().map(|y| 1.0 - y).collect::<Vec<_>>(), GROWTH);
        let models = [model, other.unwrap()];
        let thresholds = Thresholds::of(&models, 2);
        let expected = |row: &[f32]| [0, 1].map(|at| models[at].predict(row));
        // By how much both features move: within a bin, and beyond.
        for step in [0.0002, 0.01, 0.3] {
            let (mut reached, mut kept, mut passed) = ([u8::MAX; 2], [0.0; 2], 0);
            for at in 0..3_000 {
                let at = at as f32 * step;
                let row = [(at * 0.37).fract(), 1.2 - (at * 0.11).fract()];
                if thresholds.passed(&row, &mut reached) {
                    (kept, passed) = (expected(&row), passed + 1);
                }
                assert_eq!(kept, expected(&row), "{row:?}");
            }
            assert!(passed > 0 && (passed < 300 || step > 0.001), "{passed} of 3,000 by {step}");
        }
        assert!(
            !thresholds.passed(&[f32::NAN; 2], &mut [0; 2]),
            "what is no number reaches nothing"
        );
    }

    const GROWTH: Growth = Growth { trees: 60, depth: 3, rate: 0.2, leaf: 5.0 };

    fn rows(count: u32) -> (Vec<f32>, Vec<f64>) {
        let number = |at: u32, by: u32| (at.wrapping_mul(by) >> 16 & 1023) as f32 / 1023.0;
        let pair = |at| [number(at + 1, 2_654_435_761), number(at + 1, 2_246_822_519)];
        let rows: Vec<f32> = (0..count).flat_map(pair).collect();
        let target = |row: &[f32]| f64::from(u8::from(row[0] > 0.5)) * f64::from(row[1]);
        let targets = rows.chunks(2).map(target).collect();
        (rows, targets)
    }

    #[test]
    fn an_interaction_is_learned() {
        let (x, y) = rows(4_000);
        let model = Boosted::fit(&x, 2, &y, GROWTH).unwrap();
        let error = |row: &[f32], y: f64| (model.predict(row) - y).powi(2);
        let mean = x.chunks(2).zip(&y).map(|(row, y)| error(row, *y)).sum::<f64>() / 4_000.0;
        assert!(mean < 0.001, "{mean}");
        assert!(model.predict(&[0.9, 0.9]) > 0.8 && model.predict(&[0.1, 0.9]) < 0.1);
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let (x, y) = rows(3_000);
        let [one, two, five] = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let model = pool.install(|| Boosted::fit(&x, 2, &y, GROWTH)).unwrap();
            let bits = |row| model.predict(row).to_bits();
            x.chunks(2).map(bits).collect::<Vec<u64>>()
        });
        assert_eq!(one, two);
        assert_eq!(one, five);
    }

    #[test]
    fn equal_targets_are_predicted_as_they_are() {
        let model = Boosted::fit(&[1.0, 2.0, 3.0], 1, &[0.5; 3], GROWTH).unwrap();
        assert!((model.predict(&[9.0]) - 0.5).abs() < 1e-6);
    }
}
