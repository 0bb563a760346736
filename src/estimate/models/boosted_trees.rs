//! Gradient-boosted regression trees (Friedman, "Greedy function approximation", 2001), squared
//! error. Fitted by forust, which bins features into histograms, and asked all at once ([`Forest`]).
//!
//! The same rows give the same trees whatever the number of threads.

use std::cmp::Ordering;

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

/// Leaves of a tree, at most: as many as a mask has bits.
pub(crate) const LEAVES: usize = u16::BITS as usize;
/// Trees whose masks are combined at once.
const AT_ONCE: usize = 64;

/// A fitted model. All of its trees are of one depth.
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

    /// What is expected of a row, by walking tree after tree: what a [`Forest`] tells.
    #[cfg(test)]
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

/// Whether a value has reached so many thresholds of a feature, as a [`Forest`] has them, and no more.
fn is_between(thresholds: &[f32], value: f32, reached: u8) -> bool {
    let at = usize::from(reached);
    let is_below = |end: f32| value.partial_cmp(&end).is_none_or(Ordering::is_lt);
    let around = thresholds.get(at..at + 2);
    around.is_some_and(|around| (at == 0 || value >= around[0]) && is_below(around[1]))
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

/// Two models, either of which may be missing, made ready to be asked about many rows: the `QuickScorer` of Lucchese et al.
/// (SIGIR 2015). A row is told by how many thresholds it has reached of each feature; for each such number, and each tree,
/// there is a mask of the leaves that it leaves possible, and of those that all leave, the first is the leaf.
///
/// Costs 2 bytes for each threshold and tree, and 64 a tree.
#[derive(Default)]
pub(crate) struct Forest {
    /// By feature: where its thresholds begin; one more at the end.
    starts: Vec<usize>,
    /// Where the trees of either model part rows, ascending, behind one that everything has reached, and before one that
    /// nothing reaches: no number.
    thresholds: Vec<f32>,
    /// By feature, and how many of its thresholds are reached: by tree, which leaves are possible.
    masks: Vec<u16>,
    /// By tree: what each leaf adds.
    leaves: Vec<[f32; LEAVES]>,
    /// By model: what is expected without its trees; 0 where it is missing.
    bases: [f64; 2],
    /// Trees of the first model, which come first.
    of_first: usize,
}

impl Forest {
    /// Of models of rows of `width` features.
    pub(crate) fn of(models: [Option<&Boosted>; 2], width: usize) -> Self {
        let some = || models.into_iter().flatten();
        let mut of_feature = vec![vec![f32::NEG_INFINITY, f32::NAN]; width];
        for split in some().flat_map(|model| &model.splits).filter(|split| !split.value.is_nan()) {
            of_feature[split.feature as usize].push(split.value);
        }
        let mut forest = Self::default();
        for mut thresholds in of_feature {
            thresholds.sort_unstable_by(f32::total_cmp);
            thresholds.dedup();
            forest.starts.push(forest.thresholds.len());
            forest.thresholds.extend(thresholds);
        }
        forest.starts.push(forest.thresholds.len());
        for of_tree in some().flat_map(|model| model.leaves.chunks_exact(1 << model.depth)) {
            let mut leaves = [0.0; LEAVES];
            leaves[..of_tree.len()].copy_from_slice(of_tree);
            forest.leaves.push(leaves);
        }
        forest.bases = models.map(|model| model.map_or(0.0, |model| model.base));
        forest.of_first = models[0].map_or(0, |model| model.leaves.len() >> model.depth);
        forest.masks = vec![u16::MAX; forest.thresholds.len() * forest.room()];
        let mut tree = 0;
        for model in some() {
            for splits in model.splits.chunks_exact((1 << model.depth) - 1) {
                forest.mask(tree, splits, model.depth);
                tree += 1;
            }
        }
        forest
    }

    /// Places for trees, a multiple of those that are combined at once.
    fn room(&self) -> usize {
        self.leaves.len().next_multiple_of(AT_ONCE)
    }

    /// Masks the leaves of a tree on the left of each split that is reached.
    fn mask(&mut self, tree: usize, splits: &[Split], depth: u32) {
        let room = self.room();
        for (at, split) in (1_usize..).zip(splits).filter(|(_, split)| !split.value.is_nan()) {
            let level = at.ilog2();
            // Leaves below the split, the first of them, and those of its left half.
            let below = 1_usize << (depth - level);
            let first = (at - (1 << level)) * below;
            let left = ((1_u32 << (below / 2)) - 1) << first;
            let feature = split.feature as usize;
            let [start, end] = [self.starts[feature], self.starts[feature + 1]];
            let reached = start
                + self.thresholds[start + 1..end].partition_point(|&other| other <= split.value);
            for cell in reached..end {
                self.masks[cell * room + tree] &= !(left as u16);
            }
        }
    }

    /// Whether a row has reached other thresholds than `reached` tells, which it tells from then on: how many of each
    /// feature, or more than there are where that is not known.
    pub(crate) fn passed(&self, row: &[f32], reached: &mut [u8]) -> bool {
        let of_feature = || self.starts.windows(2).map(|ends| &self.thresholds[ends[0]..ends[1]]);
        let mut before = of_feature().zip(row.iter().zip(&*reached));
        if before.all(|(thresholds, (value, reached))| is_between(thresholds, *value, *reached)) {
            return false;
        }
        for (thresholds, (&value, reached)) in of_feature().zip(row.iter().zip(reached)) {
            *reached = thresholds[1..].partition_point(|&threshold| value >= threshold) as u8;
        }
        true
    }

    /// What either model expects of a row that has reached so many thresholds of each feature; 0 where it is missing.
    pub(crate) fn expected(&self, reached: &[u8]) -> [f64; 2] {
        let (room, trees) = (self.room(), self.leaves.len());
        let mut sums = self.bases;
        for block in (0..trees).step_by(AT_ONCE) {
            let mut possible = [u16::MAX; AT_ONCE];
            for (&start, &reached) in self.starts.iter().zip(reached) {
                let from = (start + usize::from(reached)) * room + block;
                let masks = &self.masks[from..from + AT_ONCE];
                possible.iter_mut().zip(masks).for_each(|(possible, mask)| *possible &= mask);
            }
            for (tree, possible) in (block..trees).zip(possible) {
                let model = usize::from(tree >= self.of_first);
                sums[model] += f64::from(self.leaves[tree][possible.trailing_zeros() as usize]);
            }
        }
        sums
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
        let forest = Forest::of([Some(&models[0]), Some(&models[1])], 2);
        let expected = |row: &[f32]| [0, 1].map(|at| models[at].predict(row));
        // By how much both features move: within a bin, and beyond.
        for step in [0.0002, 0.01, 0.3] {
            let (mut reached, mut kept, mut passed) = ([u8::MAX; 2], [0.0; 2], 0);
            for at in 0..3_000 {
                let at = at as f32 * step;
                let row = [(at * 0.37).fract(), 1.2 - (at * 0.11).fract()];
                if forest.passed(&row, &mut reached) {
                    (kept, passed) = (forest.expected(&reached), passed + 1);
                }
                assert_eq!(kept, expected(&row), "{row:?}");
            }
            assert!(passed > 0 && (passed < 300 || step > 0.001), "{passed} of 3,000 by {step}");
        }
        assert!(!forest.passed(&[f32::NAN; 2], &mut [0; 2]), "what is no number reaches nothing");
        let (mut reached, infinite) = ([1; 2], [f32::INFINITY; 2]);
        assert!(forest.passed(&[f32::NAN; 2], &mut reached));
        assert_eq!(reached, [0; 2]);
        assert!(forest.passed(&infinite, &mut reached) && !forest.passed(&infinite, &mut reached));
        for (first, second) in [(None, Some(&models[1])), (Some(&models[0]), None), (None, None)] {
            let (some, mut reached) = (Forest::of([first, second], 2), [u8::MAX; 2]);
            assert!(some.passed(&[0.3, f32::INFINITY], &mut reached));
            let alone = |model: Option<&Boosted>| {
                model.map_or(0.0, |model| model.predict(&[0.3, f32::INFINITY]))
            };
            assert_eq!(some.expected(&reached), [alone(first), alone(second)]);
        }
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
