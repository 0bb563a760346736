//! A set of a query's n-grams, small enough to copy.

use std::ops::BitOrAssign;

use crate::limits;

const BITS: usize = u64::BITS as usize;
const BLOCKS: usize = 3;

// A query of w words has at most w + (w - 1) + (w - 2) distinct n-grams.
const _: () = assert!(limits::BOUNDS.ngram_words * limits::BOUNDS.query_words <= BLOCKS * BITS);

/// Which of a query's distinct n-grams occur; numbers are those of
/// [`NgramQuery::ngram`](super::NgramQuery::ngram).
///
/// ```
/// use prospect_index::ngram::NgramSet;
///
/// let (mut url, mut anchor) = (NgramSet::default(), NgramSet::default());
/// url.insert(3);
/// anchor.insert(0);
/// anchor.insert(3);
/// url |= anchor;
/// assert_eq!(url.len(), 2);
/// assert_eq!(url.iter().collect::<Vec<_>>(), [0, 3]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NgramSet([u64; BLOCKS]);

impl NgramSet {
    /// Adds an n-gram.
    ///
    /// # Panics
    /// When `ngram` is at least 192; no query has so many.
    #[inline]
    pub fn insert(&mut self, ngram: usize) {
        self.0[ngram / BITS] |= 1 << (ngram % BITS);
    }

    /// Whether it holds the n-gram.
    pub(crate) fn contains(&self, ngram: usize) -> bool {
        self.0.get(ngram / BITS).is_some_and(|block| block >> (ngram % BITS) & 1 == 1)
    }

    /// Number of n-grams.
    pub fn len(&self) -> usize {
        self.0.iter().map(|block| block.count_ones() as usize).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; BLOCKS]
    }

    /// Every n-gram a query can have.
    pub(super) fn all() -> Self {
        Self([u64::MAX; BLOCKS])
    }

    /// Keeps what is also in `other`.
    pub(super) fn retain(&mut self, other: &Self) {
        for (block, kept) in self.0.iter_mut().zip(other.0) {
            *block &= kept;
        }
    }

    /// The n-grams, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let blocks = self.0;
        blocks.into_iter().enumerate().flat_map(|(at, mut block)| {
            std::iter::from_fn(move || {
                let bit = block.trailing_zeros() as usize;
                block &= block.wrapping_sub(1);
                (bit < BITS).then_some(at * BITS + bit)
            })
        })
    }
}

/// All of both.
impl BitOrAssign for NgramSet {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        for (block, more) in self.0.iter_mut().zip(other.0) {
            *block |= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_what_was_put_in_ascending() {
        let mut set = NgramSet::default();
        assert!(set.is_empty());
        for ngram in [191, 0, 64, 63, 64] {
            set.insert(ngram);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 191]);
        assert_eq!(set.len(), 4);
        assert!(set.contains(63) && !set.contains(62) && !set.contains(1_000));
        let mut other = NgramSet::default();
        other.insert(5);
        other |= set;
        assert_eq!(other.len(), 5);
        assert!(set.iter().all(|ngram| other.contains(ngram)) && !set.contains(5));
    }
}
