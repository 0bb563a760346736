//! The planner: from what is known of a crawl to a batch, and from what became of a batch to what the next
//! plan has learned.
//!
//! It works on tables in memory and has two hosts. [`campaign`](crate::campaign) keeps them in a store and
//! opens them anew for every command; a [policy](crate::policy::planned) keeps them in memory while a crawl
//! is simulated. Both see the crawl as a [`CrawlView`](crate::estimate::crawl_view::CrawlView),
//! [`choose`](choose::choose) by the same [`settings`], which people change by one table of [`options`], and [`close`](cycle::close) a cycle by the same rules, so that the same crawl
//! is planned the same, bit by bit, wherever it is kept.
//!
//! ```text
//! CrawlView + settings ─► scored pairs ─► choose ─► batch, and what it promises (OpenPlan)
//!                              ▲                                  │ fetched
//!                            Past ◄──────── close ◄───────────────┘
//! ```
//!
//! Not here: where tables come from and go to, files, and links that are hidden.

pub(crate) mod budget_share;
pub(crate) mod choose;
pub(crate) mod cycle;
pub(crate) mod dust;
pub(crate) mod expected_batch;
pub(crate) mod expected_impact;
pub mod options;
pub(crate) mod outcome;
pub(crate) mod retries;
pub(crate) mod revisits;
pub(crate) mod room;
pub(crate) mod running;
pub mod scope;
pub mod settings;
pub(crate) mod spellings;
pub(crate) mod stays;
pub(crate) mod within;

use crate::estimate::EstimateError;

/// Why a planner cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PlannerError {
    /// The text index cannot be read.
    #[error(transparent)]
    Index(#[from] prospect_index::error::StoreError),
    /// The estimators.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
}
