//! A Bloom filter over the n-grams of a segment, asked before any dictionary: most n-grams of most
//! queries occur nowhere, and this says so with one cache line instead of a walk through an FST.
//!
//! Split-block Bloom filter as in the Apache Parquet format (`BloomFilter.md`), after Putze,
//! Sanders and Singler, "Cache-, hash- and space-efficient Bloom filters" (WEA 2007): a key sets one
//! bit in each of the eight 32-bit lanes of one block. At ten bits a key about one absent n-gram
//! in a hundred passes; answers never depend on that, since what passes is looked up.

use std::io::Read;

use xxhash_rust::xxh3::xxh3_64;

use super::NgramError;
use super::error::io_error;
use super::files::Temporary;

/// Bits for each n-gram.
const BITS_PER_KEY: u64 = 10;
const LANES: usize = 8;
/// Bytes of a block.
pub(super) const BLOCK_BYTES: usize = LANES * 4;
/// Odd multipliers, one a lane, from the Parquet specification.
const SALT: [u32; LANES] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// Hash of a word, on its own or as part of an n-gram.
pub(super) fn hash_word(word: &str) -> u64 {
    xxh3_64(word.as_bytes())
}

/// Hash of an n-gram from that of its first n-1 words and that of its last word.
#[inline]
pub(super) fn hash_ngram(parent: u64, word: u64) -> u64 {
    // Multiply and fold; the order of the words matters, equal words do not cancel out.
    let product = u128::from(parent ^ 0x9e37_79b9_7f4a_7c15) * u128::from(word | 1);
    (product as u64 ^ (product >> 64) as u64).wrapping_add(parent)
}

/// The filter.
#[derive(Default)]
pub(super) struct Filter {
    blocks: Vec<[u32; LANES]>,
}

impl Filter {
    /// Blocks for a number of n-grams; at least one.
    pub(crate) fn block_count(ngrams: u64) -> u64 {
        ngrams.saturating_mul(BITS_PER_KEY).div_ceil(8 * BLOCK_BYTES as u64).max(1)
    }

    /// Reads `count` hashes, eight bytes each, back from where they were collected.
    pub(crate) fn build(hashes: &mut Temporary, count: u64) -> Result<Self, NgramError> {
        let mut filter = Self { blocks: vec![[0; LANES]; Self::block_count(count) as usize] };
        let mut reader = hashes.read()?;
        for _ in 0..count {
            let mut bytes = [0; 8];
            reader.read_exact(&mut bytes).map_err(io_error("read", hashes.path()))?;
            filter.insert(u64::from_le_bytes(bytes));
        }
        Ok(filter)
    }

    /// The filter that was written as `bytes`; a last block that is cut is left out.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self { blocks: bytes.chunks_exact(BLOCK_BYTES).map(block).collect() }
    }

    /// The blocks' bytes, in order.
    pub(crate) fn to_bytes(&self) -> impl Iterator<Item = [u8; 4]> {
        self.blocks.iter().flatten().map(|lane| lane.to_le_bytes())
    }

    fn insert(&mut self, hash: u64) {
        let at = self.block_of(hash);
        if let Some(block) = self.blocks.get_mut(at) {
            for (lane, salt) in block.iter_mut().zip(SALT) {
                *lane |= bit(hash, salt);
            }
        }
    }

    /// Whether the n-gram may be there; never `false` for one that is.
    #[inline]
    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        let Some(block) = self.blocks.get(self.block_of(hash)) else { return false };
        block.iter().zip(SALT).all(|(lane, salt)| lane & bit(hash, salt) != 0)
    }

    /// The high half of the hash chooses the block, the low half the bits.
    #[inline]
    fn block_of(&self, hash: u64) -> usize {
        (((hash >> 32) * self.blocks.len() as u64) >> 32) as usize
    }
}

fn block(bytes: &[u8]) -> [u32; LANES] {
    let mut lanes = [0; LANES];
    for (lane, bytes) in lanes.iter_mut().zip(bytes.chunks_exact(4)) {
        *lane = super::layout::le_u32(bytes);
    }
    lanes
}

#[inline]
fn bit(hash: u64, salt: u32) -> u32 {
    1 << ((hash as u32).wrapping_mul(salt) >> 27)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_passes_and_about_one_in_a_hundred_others() {
        let dir = tempfile::tempdir().unwrap();
        let mut hashes = Temporary::create(dir.path(), "hashes").unwrap();
        let hash = |at: u32| hash_ngram(hash_word(&at.to_string()), hash_word("crawl"));
        for at in 0..10_000 {
            hashes.put(&hash(at).to_le_bytes()).unwrap();
        }
        let filter = Filter::build(&mut hashes, 10_000).unwrap();
        let bytes: Vec<u8> = filter.to_bytes().flatten().collect();
        assert_eq!(bytes.len() as u64, Filter::block_count(10_000) * BLOCK_BYTES as u64);
        let read = Filter::from_bytes(&bytes);
        assert!((0..10_000).all(|at| read.may_contain(hash(at))));
        let passing = (10_000..110_000).filter(|&at| read.may_contain(hash(at))).count();
        assert!(passing < 2_000, "{passing} of 100,000 absent n-grams pass");
    }
}
