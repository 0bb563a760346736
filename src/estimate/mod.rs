//! Estimators: what fetching an uncrawled URL would bring, from what is known before the fetch.
//!
//! [`pairs`] finds candidate pairs and their features, [`around`] reads the text around links,
//! [`similarity`] compares meanings, [`score_tree`] predicts scores and chances, [`quality`] passes the quality of pages on to what they
//! link to, [`regression`] maps in-links and quality to impact, [`blend`] weighs the parts, [`basis`]
//! puts them together, [`newcomers`] holds back domains that nothing is known of. Not here: which URLs
//! are picked, and files.

pub mod around;
pub mod basis;
pub mod blend;
pub mod boosted;
mod by_tree;
pub mod candidates;
pub mod entry;
pub mod evidence;
pub mod features;
pub mod foretold;
pub mod frontier;
pub mod groups;
mod lasting;
pub mod memory;
pub mod newcomers;
pub mod objective;
pub mod page_features;
pub mod page_ranks;
pub mod pair_model;
pub mod pairs;
pub mod promises;
pub mod quality;
mod ranks;
pub mod regions;
pub mod regression;
pub mod score_levels;
pub mod score_model;
pub mod score_tree;
pub mod similarity;
pub mod sites;
pub mod strings;

/// Why estimates cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// The index cannot be read.
    #[error(transparent)]
    Store(#[from] prospect_index::error::StoreError),
    /// A query cannot be matched with the n-gram index.
    #[error(transparent)]
    Ngram(#[from] prospect_index::ngram::NgramError),
    /// A model could not be fitted.
    #[error("cannot fit the {model}: {what}")]
    Fit {
        /// The model.
        model: &'static str,
        /// What the library said.
        what: String,
    },
}
