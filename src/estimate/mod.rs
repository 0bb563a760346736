//! Estimators: what fetching an uncrawled URL would bring, from what is known before the fetch.
//!
//! [`pairs`] finds candidate pairs and their features, [`around`] reads the text around links,
//! [`similarity`] compares meanings, [`score_tree`] predicts scores and chances, [`quality`] passes the quality of pages on to what they
//! link to, [`regression`] maps in-links and quality to impact, [`blend`] weighs the parts, [`scored`]
//! puts them together, [`newcomers`] holds back domains that nothing is known of. Not here: which URLs
//! are picked, and files.

pub mod blend;
pub mod cache;
pub mod candidates;
pub mod features;
pub mod horizon;
pub mod input;
mod learned;
pub mod models;
pub mod objective;
pub mod pandey_olston;
pub mod parts;
pub mod predict_entry;
pub mod running_mean;
pub mod scored_pairs;
pub mod settings;
pub mod site_reliability;
pub mod slow_start;
pub mod url_estimate;

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
