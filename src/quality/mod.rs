//! Quality of documents: scoring files of them, what the scores tell about a collection, and
//! pruning by them (Pezzuti, Mueller, MacAvaney and Tonellotto, 2025).
//!
//! [`score`] runs a model over a stream of documents; its [`journal`] lets a killed run go on.
//! [`analysis`] looks at scored collections, [`prune`] cuts one at a score. Not here: which model it
//! is, files in the making, and printing.

pub mod analysis;
mod error;
pub mod journal;
mod pages;
pub mod prune;
pub mod score;
pub mod texts;

use std::collections::BTreeMap;

pub use error::QualityError;

use crate::documents::BadRow;

/// Rows that were counted by reason, each reason with its first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts(pub BTreeMap<&'static str, (u64, BadRow)>);

impl Counts {
    /// Counts a row.
    pub fn add(&mut self, row: BadRow) {
        self.0.entry(row.reason).or_insert_with(|| (0, row)).0 += 1;
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.values().map(|(count, _)| count).sum()
    }
}
