//! A window of consecutive URL ids in which candidates collect their n-grams: lists are read window
//! by window, as in document-at-a-time unions, so that memory does not grow with the index and
//! matches come out in ascending order without sorting.

use super::NgramSet;

const BITS: usize = u64::BITS as usize;
/// URLs of a window: as many as two levels of 64-bit maps address. The sets take 96 KiB.
const SIZE: usize = BITS * BITS;

/// The URLs `base .. base + SIZE` with the n-grams found so far; empty between queries.
#[derive(Debug)]
pub(super) struct Window {
    base: u64,
    sets: Vec<NgramSet>,
    /// One bit for each URL that has a set.
    known: [u64; BITS],
    /// One bit for each of `known` that is not 0, so that a nearly empty window is drained at once.
    blocks: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { base: 0, sets: vec![NgramSet::default(); SIZE], known: [0; BITS], blocks: 0 }
    }
}

/// Start of the window that holds `url`.
pub(super) fn base_of(url: u64) -> u64 {
    url - url % SIZE as u64
}

impl Window {
    /// Moves to another window; the present one must have been drained.
    pub(crate) fn move_to(&mut self, base: u64) {
        self.base = base;
    }

    /// First URL, and the one after the last.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.base, self.base + SIZE as u64)
    }

    /// Adds n-grams to the URL at `offset` from the base.
    #[inline]
    pub(crate) fn add(&mut self, offset: usize, ngrams: &NgramSet) {
        self.blocks |= 1 << (offset / BITS);
        self.known[offset / BITS] |= 1 << (offset % BITS);
        self.sets[offset] |= *ngrams;
    }

    /// The same for a URL that has some n-gram already; nothing otherwise.
    #[inline]
    pub(crate) fn add_if_known(&mut self, offset: usize, ngrams: &NgramSet) {
        if self.known[offset / BITS] >> (offset % BITS) & 1 == 1 {
            self.sets[offset] |= *ngrams;
        }
    }

    /// Empties the window; gives every URL with its set to `take`, ascending.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(u32, NgramSet)) {
        let mut blocks = std::mem::take(&mut self.blocks);
        while blocks != 0 {
            let block = blocks.trailing_zeros() as usize;
            blocks &= blocks - 1;
            let mut bits = std::mem::take(&mut self.known[block]);
            while bits != 0 {
                let offset = block * BITS + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let set = std::mem::take(&mut self.sets[offset]);
                take((self.base + offset as u64) as u32, set);
            }
        }
    }
}
