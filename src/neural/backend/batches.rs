//! Rows in batches of fixed shapes, for a device that works on many rows at once.
//!
//! The length of a row alone says to how many tokens it is padded, and that length how many rows its batch
//! has; a batch that is not full is filled up with copies of its last row. So a row meets the same kernels
//! whatever it is scored with.

use crate::neural::tokens::TokenRow;

/// Tokens of a batch, padding included. Four times as many make T5-small 8 % faster on an H200. Another number gives
/// other last digits, which fingerprints of models do not tell.
const TOKENS: usize = 16_384;

/// The item that a row is of, and which of its rows it is.
pub(crate) type RowPlace = (usize, usize);

/// Rows that are padded to one length.
pub(crate) struct RowBatch {
    pub(crate) rows: Vec<(RowPlace, TokenRow)>,
    /// Rows that a full one has.
    size: usize,
}

impl RowBatch {
    fn empty(length: usize) -> Self {
        Self { rows: Vec::new(), size: size(length) }
    }

    /// Rows that a full one has.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// As many rows as a full batch has.
    pub(crate) fn filled(&self) -> Vec<&TokenRow> {
        let last = self.rows.last().into_iter().cycle();
        self.rows.iter().chain(last).map(|(_, row)| row).take(self.size).collect()
    }
}

/// Rows by the length that they are padded to, which wait until a batch of it is full.
pub(crate) struct LengthBuckets {
    /// Ascending.
    lengths: Vec<usize>,
    /// By length.
    buckets: Vec<RowBatch>,
    items: usize,
}

impl LengthBuckets {
    /// For rows that are padded to these lengths, ascending.
    pub(crate) fn new(lengths: &[usize]) -> Self {
        let buckets = lengths.iter().map(|&length| RowBatch::empty(length)).collect();
        Self { lengths: lengths.to_vec(), buckets, items: 0 }
    }

    /// Takes the rows of the next items; the batches that they fill.
    pub(crate) fn add(&mut self, items: Vec<Vec<TokenRow>>) -> Vec<RowBatch> {
        let mut full = Vec::new();
        for rows in items {
            for (number, row) in rows.into_iter().enumerate() {
                let at = padded(&self.lengths, row.ids.len());
                let bucket = &mut self.buckets[at];
                bucket.rows.push(((self.items, number), row));
                if bucket.rows.len() == bucket.size {
                    full.push(std::mem::replace(bucket, RowBatch::empty(self.lengths[at])));
                }
            }
            self.items += 1;
        }
        full
    }

    /// The batches that are not full.
    pub(crate) fn rest(self) -> Vec<RowBatch> {
        self.buckets.into_iter().filter(|batch| !batch.rows.is_empty()).collect()
    }
}

/// Which of some lengths, ascending, a row of so many tokens is padded to: the first that it fits in.
pub(crate) fn padded(lengths: &[usize], tokens: usize) -> usize {
    lengths.partition_point(|length| *length < tokens)
}

/// Rows of a batch that is padded to `length` tokens.
pub(crate) fn size(length: usize) -> usize {
    (TOKENS / length).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tokens: usize) -> TokenRow {
        TokenRow { ids: vec![1; tokens], ..TokenRow::default() }
    }

    #[test]
    fn a_batch_has_rows_of_one_length_and_always_as_many() {
        let mut buckets = LengthBuckets::new(&[4_096, 8_192]);
        assert!(buckets.add(vec![vec![row(3), row(5_000)], vec![row(4_096)]]).is_empty());
        let full = buckets.add(vec![vec![], vec![row(8_192), row(1), row(2), row(7)]]);
        let places =
            |batch: &RowBatch| batch.rows.iter().map(|(place, _)| *place).collect::<Vec<_>>();
        let full: Vec<_> = full.iter().map(places).collect();
        assert_eq!(full, [vec![(0, 1), (3, 0)], vec![(0, 0), (1, 0), (3, 1), (3, 2)]]);
        let rest = buckets.rest();
        assert_eq!(rest.len(), 1);
        assert_eq!(places(&rest[0]), [(3, 3)]);
        let filled: Vec<usize> = rest[0].filled().iter().map(|row| row.ids.len()).collect();
        assert_eq!(filled, [7, 7, 7, 7]);
    }
}
