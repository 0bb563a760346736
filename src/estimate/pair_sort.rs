//! From pairs as they are found, query by query, to rows by URL, then query.
//!
//! A distribution sort in two steps. Pairs come in runs of queries; a run is set out by blocks of URLs. Once all runs
//! are there, the rows of a block are read from each of them and put in their places. Who has [`PairFiles`] has runs and rows
//! there: pairs of any number take memory for one run and a block for each thread.
//!
//! Costs 4 bytes a URL, 16 a pair and 12 a row of the result, in files where there are some.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::ops::Deref;
use std::sync::Arc;

use prospect_index::error::StoreError;
use rayon::prelude::*;
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::pair_table::{PairRow, QueryPairs};

/// Pairs that a table is made of: it has places for three times as many, as some are put behind the others later.
const MOST_PAIRS: u64 = u32::MAX as u64 / 3;
/// URLs of a block.
const BLOCK: usize = 1 << 16;

/// Where pairs go that memory need not hold.
pub(crate) trait PairFiles: Send + Sync {
    /// A run of pairs, mapped: it is needed until all rows are written.
    ///
    /// # Errors
    /// It cannot be written.
    fn run(&self, number: usize, bytes: &[u8]) -> Result<PairBytes, StoreError>;

    /// The rows of all pairs, as `write` gives them, mapped.
    ///
    /// # Errors
    /// They cannot be written.
    fn rows(&self, write: &mut WriteRows<'_>) -> Result<PairBytes, StoreError>;
}

/// Writes rows one after the other.
pub(crate) type WriteRows<'w> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'w;

/// Bytes of a file that is mapped.
#[derive(Clone)]
pub(crate) struct PairBytes(Arc<dyn Deref<Target = [u8]> + Send + Sync>);

impl PairBytes {
    /// Of a file.
    pub(crate) fn new(mapped: impl Deref<Target = [u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(mapped))
    }

    /// As values of one size.
    pub(super) fn of<T: FromBytes + Immutable + KnownLayout>(&self) -> &[T] {
        <[T]>::ref_from_bytes(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for PairBytes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} bytes", self.0.len())
    }
}

/// A pair on its way.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Placed {
    url: U32,
    row: PairRow,
}

/// Pairs of some queries, by block of URLs, then query.
struct Run {
    /// Where each block begins; one more at the end.
    starts: Vec<usize>,
    pairs: Held,
}

enum Held {
    InMemory(Vec<Placed>),
    Filed(PairBytes),
}

impl Run {
    fn len(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn block(&self, block: usize) -> &[Placed] {
        let pairs = match &self.pairs {
            Held::InMemory(pairs) => pairs,
            Held::Filed(bytes) => bytes.of(),
        };
        &pairs[self.starts[block]..self.starts[block + 1]]
    }
}

/// See the module.
pub(super) struct PairSort<'f> {
    files: Option<&'f dyn PairFiles>,
    /// By URL: its pairs.
    counts: Vec<u32>,
    runs: Vec<Run>,
}

/// Rows by URL, then query, and where those of each URL are.
pub(super) struct SortedRows {
    /// By URL: where its rows begin, and how many there are.
    pub(super) spans: Vec<(u32, u32)>,
    pub(super) rows: RowsIn,
}

/// Where rows are.
pub(super) enum RowsIn {
    /// Here.
    Memory(Vec<PairRow>),
    /// In a file.
    File(PairBytes),
}

impl<'f> PairSort<'f> {
    /// No pair yet, of so many URLs.
    pub(super) fn new(urls: usize, files: Option<&'f dyn PairFiles>) -> Self {
        Self { files, counts: vec![0; urls], runs: Vec::new() }
    }

    /// URLs there are.
    pub(super) fn urls(&self) -> usize {
        self.counts.len()
    }

    /// Takes pairs of queries which follow, ascending, all that came before.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn add(&mut self, found: &[QueryPairs]) -> Result<(), StoreError> {
        self.has_places()?;
        let urls = || found.iter().flat_map(|of| &of.urls);
        let mut starts = vec![0; self.counts.len().div_ceil(BLOCK) + 1];
        for url in urls() {
            self.counts[url.index()] += 1;
            starts[url.index() / BLOCK + 1] += 1;
        }
        for block in 1..starts.len() {
            starts[block] += starts[block - 1];
        }
        let (mut next, len) = (starts.clone(), starts[starts.len() - 1]);
        let mut pairs = vec![Placed::default(); len];
        for of in found {
            for (url, &row) in of.urls.iter().zip(&of.rows) {
                let place = &mut next[url.index() / BLOCK];
                pairs[*place] = Placed { url: U32::new(url.0), row };
                *place += 1;
            }
        }
        let pairs = match self.files {
            Some(files) => Held::Filed(files.run(self.runs.len(), pairs.as_bytes())?),
            None => Held::InMemory(pairs),
        };
        self.runs.push(Run { starts, pairs });
        Ok(())
    }

    /// All rows in their places.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn finish(self) -> Result<SortedRows, StoreError> {
        self.has_places()?;
        let spans = placed(&self.counts);
        let rows = if let Some(files) = self.files {
            let mut write =
                |to: &mut dyn Write| self.each_block(&spans, |rows| to.write_all(rows.as_bytes()));
            RowsIn::File(files.rows(&mut write)?)
        } else {
            let mut all =
                Vec::with_capacity(spans.last().map_or(0, |(from, len)| from + len) as usize);
            let Ok(()) = self.each_block(&spans, |rows| {
                all.extend_from_slice(rows);
                Ok::<_, Infallible>(())
            });
            RowsIn::Memory(all)
        };
        Ok(SortedRows { spans, rows })
    }

    /// Fails if there are more pairs than places.
    fn has_places(&self) -> Result<(), StoreError> {
        let pairs: u64 = self.runs.iter().map(|run| run.len() as u64).sum();
        if pairs > MOST_PAIRS {
            let what = format!(
                "there are {pairs}, and places for {MOST_PAIRS}: plan for fewer queries, or with fewer candidates of each"
            );
            return Err(StoreError::Derived { structure: "candidate pairs", what });
        }
        Ok(())
    }

    /// Gives the rows of each block to `take`, one after the other.
    fn each_block<E>(
        &self,
        spans: &[(u32, u32)],
        mut take: impl FnMut(&[PairRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        let blocks: Vec<usize> = (0..spans.len()).step_by(BLOCK).collect();
        for at_once in blocks.chunks(rayon::current_num_threads()) {
            let rows = at_once
                .par_iter()
                .map(|&first| self.rows_of(&spans[first..spans.len().min(first + BLOCK)], first));
            let rows: Vec<Vec<PairRow>> = rows.collect();
            rows.iter().try_for_each(|rows| take(rows))?;
        }
        Ok(())
    }

    /// Rows of a block of URLs that begins with `first`.
    fn rows_of(&self, spans: &[(u32, u32)], first: usize) -> Vec<PairRow> {
        let start = spans.first().map_or(0, |(start, _)| *start);
        // Where the next row of each URL goes.
        let mut next: Vec<u32> = spans.iter().map(|(from, _)| from - start).collect();
        let len = spans.last().map_or(0, |(from, len)| from - start + len);
        let mut rows = vec![PairRow::default(); len as usize];
        for run in &self.runs {
            for pair in run.block(first / BLOCK) {
                let place = &mut next[pair.url.get() as usize - first];
                rows[*place as usize] = pair.row;
                *place += 1;
            }
        }
        rows
    }
}

/// Where the rows of each URL begin if they are by URL, and how many they are, given how many it has.
pub(super) fn placed(counts: &[u32]) -> Vec<(u32, u32)> {
    let (mut spans, mut start) = (Vec::with_capacity(counts.len()), 0_u32);
    for &len in counts {
        spans.push((start, len));
        start += len;
    }
    spans
}
