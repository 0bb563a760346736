//! S': the expected score of an uncrawled page for a query, by a regression tree over
//! content-independent features (METHODS, section 1).
//!
//! The tree is fitted by smartcore and kept as a flat array of ours. The target is
//! `S / (idf mass of the query)`, so that it carries over between queries.

use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::tree::decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorParameters,
};

use crate::estimate::EstimateError;
use crate::estimate::features::table::{Feature, FeatureRow};

/// What the tree reads (METHODS, section 1).
pub(crate) const FEATURES: [Feature; 16] = [
    Feature::UrlShare,
    Feature::UrlIdfShare,
    Feature::BestAnchorShare,
    Feature::BestAnchorIdfShare,
    Feature::AllAnchorsShare,
    Feature::AllAnchorsIdfShare,
    Feature::AnchorIsQuery,
    Feature::MatchingSites,
    Feature::Inlinks,
    Feature::PageRank,
    Feature::UrlDepth,
    Feature::UrlLength,
    Feature::SiteMean,
    Feature::BestParent,
    Feature::MeanParent,
    Feature::ExpectedQuality,
];
/// Depth of the tree.
const MAX_DEPTH: u16 = 8;
/// Training pairs in a leaf.
const MIN_LEAF: usize = 50;

/// One training pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Example {
    /// Features as of the start of the page's cycle.
    pub(crate) features: FeatureRow,
    /// S(page, query) divided by the idf mass of the query.
    pub(crate) outcome: f32,
}

enum Node {
    Split { feature: Feature, value: f32, low: usize, high: usize },
    Leaf { mean: f64 },
}

/// A fitted tree with the mean outcome in every leaf.
pub(crate) struct ScoreTree {
    nodes: Vec<Node>,
}

impl ScoreTree {
    /// Fits the tree; with fewer than `2 * 50` examples it is one leaf, and with none it expects 0.
    ///
    /// # Errors
    /// smartcore refuses the data (never for finite features).
    pub(crate) fn fit(examples: &[Example]) -> Result<Self, EstimateError> {
        let mut tree = Self { nodes: vec![Node::Leaf { mean: 0.0 }] };
        if examples.len() >= 2 * MIN_LEAF {
            tree.nodes = fit_nodes(examples)?;
        }
        let mut outcomes: Vec<Vec<f32>> = vec![Vec::new(); tree.nodes.len()];
        for example in examples {
            outcomes[tree.leaf(&example.features)].push(example.outcome);
        }
        for (node, mut outcomes) in tree.nodes.iter_mut().zip(outcomes) {
            if let Node::Leaf { mean } = node
                && !outcomes.is_empty()
            {
                // In their own order, the sum does not depend on that of the examples.
                outcomes.sort_by(f32::total_cmp);
                *mean = outcomes.iter().map(|&o| f64::from(o)).sum::<f64>() / outcomes.len() as f64;
            }
        }
        Ok(tree)
    }

    /// Expected outcome.
    pub(crate) fn mean(&self, features: &FeatureRow) -> f64 {
        match &self.nodes[self.leaf(features)] {
            Node::Leaf { mean } => *mean,
            Node::Split { .. } => 0.0,
        }
    }

    /// Whether some split reads a feature.
    pub(crate) fn reads(&self, feature: Feature) -> bool {
        let is_read =
            |node: &Node| matches!(node, Node::Split { feature: at, .. } if *at == feature);
        self.nodes.iter().any(is_read)
    }

    #[cfg(test)]
    fn leaves(&self) -> usize {
        self.nodes.iter().filter(|node| matches!(node, Node::Leaf { .. })).count()
    }

    fn leaf(&self, features: &FeatureRow) -> usize {
        let mut at = 0;
        while let Node::Split { feature, value, low, high } = &self.nodes[at] {
            at = if features[*feature] <= *value { *low } else { *high };
        }
        at
    }
}

#[allow(clippy::needless_pass_by_value, reason = "it is passed to `map_err` by name")]
fn failed(what: impl ToString) -> EstimateError {
    EstimateError::Fit { model: "score tree", what: what.to_string() }
}

/// Fits with smartcore and reads the nodes out of the serialised form, since the fields are
/// private.
fn fit_nodes(examples: &[Example]) -> Result<Vec<Node>, EstimateError> {
    let flat: Vec<f32> =
        examples.iter().flat_map(|example| example.features.of(&FEATURES)).collect();
    let x = DenseMatrix::new(examples.len(), FEATURES.len(), flat, false).map_err(failed)?;
    let y: Vec<f32> = examples.iter().map(|example| example.outcome).collect();
    let parameters = DecisionTreeRegressorParameters {
        max_depth: Some(MAX_DEPTH),
        min_samples_leaf: MIN_LEAF,
        min_samples_split: 2 * MIN_LEAF,
        seed: Some(1),
    };
    let model = DecisionTreeRegressor::fit(&x, &y, parameters).map_err(failed)?;
    let value = serde_json::to_value(&model).map_err(failed)?;
    let nodes = value["tree_regressor"]["nodes"].as_array().ok_or_else(|| failed("no nodes"))?;
    nodes.iter().map(node).collect()
}

fn node(value: &serde_json::Value) -> Result<Node, EstimateError> {
    let child = |name: &str| value[name].as_u64().map(|at| at as usize);
    let (Some(low), Some(high)) = (child("true_child"), child("false_child")) else {
        return Ok(Node::Leaf { mean: 0.0 });
    };
    let feature = child("split_feature").and_then(|at| FEATURES.get(at).copied());
    let feature = feature.ok_or_else(|| failed("a split by no feature"))?;
    let split = value["split_value"].as_f64().ok_or_else(|| failed("a split without value"))?;
    Ok(Node::Split { feature, value: split as f32, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_the_leaf() {
        let examples: Vec<Example> = (0..1000)
            .map(|i| {
                let mut features = FeatureRow::default();
                features[Feature::BestAnchorIdfShare] = f32::from(u8::from(i % 2 == 0));
                let outcome = if i % 2 == 0 { (i % 10) as f32 / 10.0 } else { 0.0 };
                Example { features, outcome }
            })
            .collect();
        let tree = ScoreTree::fit(&examples).unwrap();
        let mut good = FeatureRow::default();
        good[Feature::BestAnchorIdfShare] = 1.0;
        assert!((tree.mean(&good) - 0.4).abs() < 1e-6);
        assert_eq!(tree.mean(&FeatureRow::default()), 0.0);
        assert!(tree.reads(Feature::BestAnchorIdfShare) && tree.leaves() >= 2);
    }

    #[test]
    fn few_examples_are_one_leaf_and_none_expect_nothing() {
        let example = |outcome| Example { features: FeatureRow::default(), outcome };
        let tree = ScoreTree::fit(&[example(0.25), example(0.75)]).unwrap();
        assert_eq!((tree.leaves(), tree.mean(&FeatureRow::default())), (1, 0.5));
        assert_eq!(ScoreTree::fit(&[]).unwrap().mean(&FeatureRow::default()), 0.0);
    }
}
