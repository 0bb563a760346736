//! Sorting more occurrences than fit in memory: sorted runs on disk, then a k-way merge.
//!
//! An occurrence is one 128-bit number: `(a+1) << 96 | (b+1) << 64 | (c+1) << 32 | local` for the
//! n-gram of tokens a, b, c (0 where there is no b or c) in the URL with that local id. Numeric
//! order is the byte order of the FST's keys, then ascending URLs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rayon::slice::ParallelSliceMut;

use super::NgramError;
use super::error::io_error;
use super::files::Temporary;

/// Runs that are merged at once. More are first merged into one, so that open files and read
/// buffers (64 KiB each) stay bounded.
const MAX_RUNS: usize = 128;
const OCCURRENCE_BYTES: usize = size_of::<u128>();
/// Fewer than this many occurrences in memory would be all files and no sorting.
const MIN_CAPACITY: usize = 64;

/// Packs the n-gram of `tokens` (1 to 3 of them) in the URL `local`.
pub(super) fn pack(tokens: &[u32], local: u32) -> u128 {
    let mut key = 0u128;
    for at in 0..3 {
        key = key << 32 | tokens.get(at).map_or(0, |&id| u128::from(id) + 1);
    }
    key << 32 | u128::from(local)
}

/// Takes occurrences in any order and gives them back sorted and distinct.
pub(super) struct Sorter {
    dir: PathBuf,
    buffer: Vec<u128>,
    capacity: usize,
    runs: Vec<Temporary>,
    runs_made: usize,
}

impl Sorter {
    /// Sorts at most `expected` occurrences within about `budget_bytes` (at least 1 KiB) of memory.
    pub(crate) fn new(dir: &Path, budget_bytes: usize, expected: u64) -> Self {
        let capacity = (budget_bytes / OCCURRENCE_BYTES).max(MIN_CAPACITY);
        let reserve = usize::try_from(expected).unwrap_or(usize::MAX).min(capacity);
        Self {
            dir: dir.to_owned(),
            buffer: Vec::with_capacity(reserve),
            capacity,
            runs: Vec::new(),
            runs_made: 0,
        }
    }

    /// Adds an occurrence.
    pub(crate) fn push(&mut self, occurrence: u128) -> Result<(), NgramError> {
        if self.buffer.len() == self.capacity {
            self.spill()?;
        }
        self.buffer.push(occurrence);
        Ok(())
    }

    /// Ends adding.
    pub(crate) fn finish(mut self) -> Result<Sorted, NgramError> {
        if self.runs.is_empty() {
            self.sort_buffer();
            return Ok(Sorted::Memory(self.buffer.into_iter()));
        }
        self.spill()?;
        Ok(Sorted::Runs(Merge::new(self.runs)?))
    }

    fn sort_buffer(&mut self) {
        self.buffer.par_sort_unstable();
        self.buffer.dedup();
    }

    fn spill(&mut self) -> Result<(), NgramError> {
        self.sort_buffer();
        let mut run = self.new_run()?;
        for occurrence in self.buffer.drain(..) {
            run.put(&occurrence.to_le_bytes())?;
        }
        self.runs.push(run);
        if self.runs.len() == MAX_RUNS {
            let mut merged = self.new_run()?;
            for occurrence in Merge::new(std::mem::take(&mut self.runs))? {
                merged.put(&occurrence?.to_le_bytes())?;
            }
            self.runs.push(merged);
        }
        Ok(())
    }

    fn new_run(&mut self) -> Result<Temporary, NgramError> {
        self.runs_made += 1;
        Temporary::create(&self.dir, &format!("run-{}.tmp", self.runs_made))
    }
}

/// Sorted, distinct occurrences.
pub(super) enum Sorted {
    /// All fitted in memory.
    Memory(std::vec::IntoIter<u128>),
    /// Some went through files.
    Runs(Merge),
}

impl Iterator for Sorted {
    type Item = Result<u128, NgramError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Memory(all) => all.next().map(Ok),
            Self::Runs(merge) => merge.next(),
        }
    }
}

/// Merges sorted runs and drops duplicates between them.
pub(super) struct Merge {
    runs: Vec<(BufReader<File>, Temporary)>,
    heads: BinaryHeap<Reverse<(u128, usize)>>,
    previous: Option<u128>,
}

impl Merge {
    fn new(runs: Vec<Temporary>) -> Result<Self, NgramError> {
        let mut merge = Self { runs: Vec::new(), heads: BinaryHeap::new(), previous: None };
        for mut run in runs {
            merge.runs.push((run.read()?, run));
            merge.refill(merge.runs.len() - 1)?;
        }
        Ok(merge)
    }

    fn refill(&mut self, at: usize) -> Result<(), NgramError> {
        let (reader, file) = &mut self.runs[at];
        let mut bytes = [0; OCCURRENCE_BYTES];
        match reader.read_exact(&mut bytes) {
            Ok(()) => self.heads.push(Reverse((u128::from_le_bytes(bytes), at))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(io_error("read", file.path())(error)),
        }
        Ok(())
    }
}

impl Iterator for Merge {
    type Item = Result<u128, NgramError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(Reverse((occurrence, at))) = self.heads.pop() {
            if let Err(error) = self.refill(at) {
                return Some(Err(error));
            }
            if self.previous.replace(occurrence) != Some(occurrence) {
                return Some(Ok(occurrence));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 numbers without an order, sorted.
    fn sorted(dir: &Path, budget_bytes: usize) -> Vec<u128> {
        let mut sorter = Sorter::new(dir, budget_bytes, 0);
        let mut value = 1u64;
        for _ in 0..20_000 {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            sorter.push(u128::from(value >> 50)).unwrap();
        }
        sorter.finish().unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn many_runs_give_the_same_sequence_as_memory() {
        let dir = tempfile::tempdir().unwrap();
        let in_memory = sorted(dir.path(), usize::MAX);
        assert!(in_memory.is_sorted_by(|a, b| a < b));
        // 20,000 occurrences in runs of 64 are 313 runs: the cap on runs is passed twice.
        assert_eq!(sorted(dir.path(), 0), in_memory);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "runs are removed");
    }

    #[test]
    fn packed_order_is_prefix_first_then_token_then_url() {
        let order = [
            pack(&[0], 7),
            pack(&[0, 0], 0),
            pack(&[0, 0, 5], 0),
            pack(&[0, 1], 3),
            pack(&[1], 0),
            pack(&[1], 1),
        ];
        assert!(order.is_sorted_by(|a, b| a < b));
    }
}
