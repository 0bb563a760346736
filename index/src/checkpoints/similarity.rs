//! The two formulas a checkpoint can be scored by, each as a weight of a term and a norm of a
//! length: a posting adds `weight (tf scale / (tf + norm))`.

use super::lanes::Real;
use crate::bm25::{Bm25, CollectionStatistics};
use crate::text_index::rounded_length;

/// How pages are scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Similarity {
    /// BM25 of [`crate::bm25`]: exact lengths, f64.
    Exact(Bm25),
    /// As Tantivy 0.27 scores a union of terms: k1 1.2, b 0.75, lengths rounded to one byte, f32,
    /// summed in query order. (Where Tantivy prunes a search by block maxima, it sums in an order
    /// of its own, so that its last bit can differ.) Words of more than 65,530 bytes, which
    /// Tantivy does not count, count here.
    Tantivy,
}

/// A formula in the numbers it is computed in.
pub(super) trait Formula: Sync {
    /// Those numbers.
    type Number: Real;

    /// What a term frequency is multiplied with above the line.
    fn scale(&self) -> Self::Number;

    /// The length that counts of an exact one.
    fn length(&self, length: u32) -> u32;

    /// Weight of a term that is in `df` documents.
    fn weight(&self, statistics: CollectionStatistics, df: u64) -> Self::Number;

    /// What stands beside the term frequency below the line, for a length that counts.
    fn norm(&self, statistics: CollectionStatistics, length: u32) -> Self::Number;
}

impl Formula for Bm25 {
    type Number = f64;

    fn scale(&self) -> f64 {
        self.k1 + 1.0
    }

    fn length(&self, length: u32) -> u32 {
        length
    }

    fn weight(&self, statistics: CollectionStatistics, df: u64) -> f64 {
        Self::idf(statistics.documents, df)
    }

    fn norm(&self, statistics: CollectionStatistics, length: u32) -> f64 {
        Self::norm(*self, length, statistics.average_length())
    }
}

/// Tantivy's constants and order of operations (`query/bm25.rs` of tantivy 0.27).
pub(super) struct TantivyBm25;

const K1: f32 = 1.2;
const B: f32 = 0.75;

impl Formula for TantivyBm25 {
    type Number = f32;

    fn scale(&self) -> f32 {
        1.0
    }

    fn length(&self, length: u32) -> u32 {
        rounded_length(length)
    }

    fn weight(&self, statistics: CollectionStatistics, df: u64) -> f32 {
        let x = ((statistics.documents - df) as f32 + 0.5) / (df as f32 + 0.5);
        (1.0 + x).ln() * (1.0 + K1)
    }

    fn norm(&self, statistics: CollectionStatistics, length: u32) -> f32 {
        let average = statistics.words as f32 / statistics.documents as f32;
        K1 * (1.0 - B + B * length as f32 / average)
    }
}
