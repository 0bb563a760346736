//! Gradient-boosted regression trees (Friedman, "Greedy function approximation", 2001), squared
//! error. Fitted by forust, which bins features into histograms, and predicted from one flat array.
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

/// A leaf has no children: `left` is 0, which is the root of the first tree.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Node {
    /// Position of the left child; the right one follows it.
    left: u32,
    feature: u32,
    /// Where the rows part, or what the leaf adds.
    value: f32,
}

/// A fitted model.
#[derive(Serialize, Deserialize)]
pub(crate) struct Boosted {
    nodes: Vec<Node>,
    roots: Vec<u32>,
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
        let base = booster.base_score;
        let mut model = Self { nodes: Vec::new(), roots: Vec::new(), base };
        for tree in &booster.trees {
            model.add(tree);
        }
        Ok(model)
    }

    fn add(&mut self, tree: &Tree) {
        let root = self.nodes.len();
        self.roots.push(root as u32);
        self.nodes.push(Node::default());
        let mut open = vec![(0, root)];
        while let Some((from, to)) = open.pop() {
            let node = &tree.nodes[from];
            if node.is_leaf {
                self.nodes[to].value = node.weight_value;
                continue;
            }
            let left = self.nodes.len();
            self.nodes.extend([Node::default(); 2]);
            self.nodes[to] = Node {
                left: left as u32,
                feature: node.split_feature as u32,
                value: node.split_value as f32,
            };
            open.extend([(node.left_child, left), (node.right_child, left + 1)]);
        }
    }

    /// What is expected of a row.
    pub(crate) fn predict(&self, row: &[f32]) -> f64 {
        let mut sum = self.base;
        for &root in &self.roots {
            let mut node = self.nodes[root as usize];
            while node.left != 0 {
                let right = u32::from(row[node.feature as usize] >= node.value);
                node = self.nodes[(node.left + right) as usize];
            }
            sum += f64::from(node.value);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
