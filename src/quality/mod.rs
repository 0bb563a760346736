//! Quality of documents: scoring files of them, what the scores tell about a collection, and
//! pruning by them (Pezzuti, Mueller, MacAvaney and Tonellotto, 2025).
//!
//! [`score`] runs a model over a stream of documents; its [`journal`] lets a killed run go on.
//! [`analysis`] looks at scored collections, [`prune`] cuts one at a score. Not here: which model it
//! is, files in the making, and printing.

pub(crate) mod analysis;
mod error;
pub(crate) mod journal;
mod pages;
pub(crate) mod prune;
pub(crate) mod score;
pub(crate) mod texts;

use std::collections::BTreeMap;

pub(crate) use error::QualityError;

use crate::documents::BadRow;

/// Rows that were counted by reason, each reason with its first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts(pub(crate) BTreeMap<&'static str, (u64, BadRow)>);

impl Counts {
    /// Counts a row.
    pub(crate) fn add(&mut self, row: BadRow) {
        self.0.entry(row.reason).or_insert_with(|| (0, row)).0 += 1;
    }
}
