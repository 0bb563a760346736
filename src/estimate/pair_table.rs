//! Candidate pairs in 12 bytes each: by URL, then query. Where scores are learned, the chance of a pair is that of its
//! query and its bin of the score model, so that a list which changes changes a few numbers and not the pairs of its
//! query; otherwise pairs have chances of their own.
//!
//! Who has files ([`PairFiles`]) has the rows there, mapped; those that change later lie in memory behind them, and are what is
//! written when the table is stored again.
//!
//! Costs 12 bytes a pair, in the file if there is one, 8 a known URL, and 8 a query for each bin of the score model, or 16 a
//! pair without one, and twice that while they are found.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use rayon::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::little_endian::{F32, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::candidates::Candidate;
use super::models::score_distribution::ScoreModel;
use super::pair_sort::{PairBytes, PairFiles, PairSort, RowsIn, SortedRows, placed};
use super::url_estimate::PairEstimate;
use crate::workload::QueryId;

/// A pair without its URL and its chance, as it lies in memory and on disk.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct PairRow {
    query: U32,
    expected_score: F32,
    bin: U16,
    matches: U16,
}

impl PairRow {
    fn new(pair: &PairEstimate) -> Self {
        Self {
            query: U32::new(pair.query.0),
            expected_score: F32::new(pair.expected_score as f32),
            bin: U16::new(pair.bin),
            matches: U16::new(pair.matches.into()),
        }
    }

    /// Of a candidate of a query with this idf mass, by the score model if there is one.
    pub(super) fn of(
        candidate: &Candidate,
        query: QueryId,
        mass: f64,
        model: Option<&ScoreModel>,
    ) -> Self {
        let expected = model.map(|model| (model, model.expected_of(candidate)));
        let (expected, bin) = expected.map_or((0.0, 0), |(model, of)| (of, model.bin(of)));
        Self {
            query: U32::new(query.0),
            expected_score: F32::new((expected * mass) as f32),
            bin: U16::new(bin as u16),
            matches: U16::new(candidate.matches.into()),
        }
    }

    fn pair(self, url: UrlId, chance: f64, expected_score: f64) -> PairEstimate {
        PairEstimate {
            url,
            query: self.query(),
            expected_score,
            chance,
            matches: self.matches(),
            bin: self.bin.get(),
        }
    }

    /// The query.
    pub(super) fn query(self) -> QueryId {
        QueryId(self.query.get())
    }

    /// Bin of the score model.
    pub(super) fn bin(self) -> usize {
        self.bin.get().into()
    }

    /// Whether the URL or its anchors match the query.
    pub(super) fn matches(self) -> bool {
        self.matches.get() != 0
    }
}

/// Pairs of one query, ascending by URL.
pub(super) struct QueryPairs {
    /// Which query.
    pub(super) query: QueryId,
    /// URL of each pair.
    pub(super) urls: Vec<UrlId>,
    /// The rest of it.
    pub(super) rows: Vec<PairRow>,
    /// By bin of the score model, or by pair without one.
    pub(super) chances: Vec<f64>,
}

/// Chances of pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Chances {
    /// One after the other: by query, by bin of the score model, of which there are so many.
    ByBin { bins: usize, chances: Vec<f64> },
    /// By row, beside the expected score with all its digits.
    Each(Vec<(f64, f64)>),
}

/// Rows by place: those of a file, which never change, then those in memory.
#[derive(Clone, Debug, Default)]
struct PairRows {
    filed: Option<PairBytes>,
    /// How many are in the file.
    in_file: usize,
    own: Vec<PairRow>,
}

impl PairRows {
    fn of_file(filed: PairBytes) -> Self {
        Self { in_file: filed.of::<PairRow>().len(), filed: Some(filed), own: Vec::new() }
    }

    fn of_memory(own: Vec<PairRow>) -> Self {
        Self { own, ..Self::default() }
    }

    fn filed(&self) -> &[PairRow] {
        self.filed.as_ref().map_or(&[], PairBytes::of)
    }

    fn len(&self) -> usize {
        self.in_file + self.own.len()
    }

    /// Whether there are so many rows from a place on, all in the file or all behind it.
    fn has(&self, (start, len): (u32, u32)) -> bool {
        let (start, end) = (start as usize, start as usize + len as usize);
        end <= if start < self.in_file { self.in_file } else { self.len() }
    }

    /// Rows that stand beside each other, all in the file or all behind it.
    fn rows_at(&self, places: Range<usize>) -> &[PairRow] {
        match places.start.checked_sub(self.in_file) {
            Some(behind) => &self.own[behind..places.end - self.in_file],
            None => &self.filed()[places],
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct PairTable {
    /// By URL: where its rows begin, and how many there are.
    spans: Vec<(u32, u32)>,
    /// Rows of a URL by query; those of URLs that got others since are left behind.
    rows: PairRows,
    /// Rows that are of a URL.
    len: usize,
    chances: Chances,
}

impl Default for PairTable {
    fn default() -> Self {
        Self {
            spans: Vec::new(),
            rows: PairRows::default(),
            len: 0,
            chances: Chances::Each(Vec::new()),
        }
    }
}

/// Pairs of queries on their way into a table.
pub(super) struct PairsOfQueries<'f> {
    sort: PairSort<'f>,
    /// With chances by bin of the score model, if there is one, and no pair.
    table: PairTable,
    /// Pairs with chances of their own, before there is a score model: some 40 bytes each, in memory.
    each: Vec<PairEstimate>,
}

impl<'f> PairsOfQueries<'f> {
    /// Of `all` queries, which have as many `bins` of the score model, if there is one, with so many URLs.
    pub(super) fn new(
        urls: usize,
        (all, bins): (usize, Option<usize>),
        files: Option<&'f dyn PairFiles>,
    ) -> Self {
        let table = bins.map_or_else(PairTable::default, |bins| PairTable::by_bin(all, bins));
        Self { sort: PairSort::new(urls, files), table, each: Vec::new() }
    }

    /// Takes pairs of queries which follow, ascending, all that came before.
    ///
    /// # Errors
    /// They cannot be written.
    pub(super) fn add(&mut self, found: &[QueryPairs]) -> Result<(), StoreError> {
        if self.table.bins().is_none() {
            self.each.extend(found.iter().flat_map(QueryPairs::each));
            return Ok(());
        }
        for of in found {
            self.table.set_chances(of.query.index(), &of.chances);
        }
        self.sort.add(found)
    }

    /// The table.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn finish(self) -> Result<PairTable, StoreError> {
        if self.table.bins().is_none() {
            return Ok(PairTable::each(self.each, self.sort.urls()));
        }
        let SortedRows { spans, rows } = self.sort.finish()?;
        let rows = match rows {
            RowsIn::File(filed) => PairRows::of_file(filed),
            RowsIn::Memory(own) => PairRows::of_memory(own),
        };
        Ok(PairTable { spans, len: rows.len(), rows, ..self.table })
    }
}

impl QueryPairs {
    /// Its pairs, which have chances of their own.
    fn each(&self) -> impl Iterator<Item = PairEstimate> + '_ {
        let pairs = self.urls.iter().zip(&self.rows).zip(&self.chances);
        pairs.map(|((&url, row), &chance)| row.pair(url, chance, row.expected_score.get().into()))
    }
}

impl PairTable {
    /// Without pairs yet, for so many queries and bins of the score model.
    fn by_bin(queries: usize, bins: usize) -> Self {
        let chances = Chances::ByBin { bins, chances: vec![0.0; queries * bins] };
        Self { chances, ..Self::default() }
    }

    /// Of pairs in any order, with their chances.
    pub(super) fn each(mut pairs: Vec<PairEstimate>, urls: usize) -> Self {
        pairs.par_sort_unstable_by_key(|pair| (pair.url, pair.query));
        let mut counts = vec![0; urls];
        for pair in &pairs {
            counts[pair.url.index()] += 1;
        }
        let rows: Vec<PairRow> = pairs.iter().map(PairRow::new).collect();
        let chances = pairs.iter().map(|pair| (pair.chance, pair.expected_score)).collect();
        let (len, rows) = (rows.len(), PairRows::of_memory(rows));
        Self { spans: placed(&counts), len, rows, chances: Chances::Each(chances) }
    }

    /// How many pairs there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bins of the score model, if chances are by bin.
    pub(super) fn bins(&self) -> Option<usize> {
        match self.chances {
            Chances::ByBin { bins, .. } => Some(bins),
            Chances::Each(_) => None,
        }
    }

    /// Pairs of a URL, by query.
    pub(super) fn of(&self, url: UrlId) -> impl Iterator<Item = PairEstimate> + Clone + '_ {
        let places = self.places(url);
        let rows = self.rows.rows_at(places.clone());
        rows.iter().zip(places).map(move |(row, place)| self.pair(url, row, place))
    }

    /// All pairs, by URL, then query.
    pub(super) fn iter(&self) -> impl Iterator<Item = PairEstimate> + '_ {
        (0..self.spans.len() as u32).flat_map(|url| self.of(UrlId(url)))
    }

    /// The rows of a URL, by query.
    pub(super) fn rows_of(&self, url: UrlId) -> &[PairRow] {
        self.rows.rows_at(self.places(url))
    }

    fn places(&self, url: UrlId) -> Range<usize> {
        let (start, len) = self.spans.get(url.index()).copied().unwrap_or_default();
        start as usize..start as usize + len as usize
    }

    fn pair(&self, url: UrlId, row: &PairRow, place: usize) -> PairEstimate {
        match &self.chances {
            Chances::ByBin { bins, chances } => {
                let chance = chances[row.query().index() * bins + row.bin()];
                row.pair(url, chance, row.expected_score.get().into())
            }
            Chances::Each(each) => {
                let (chance, expected_score) = each[place];
                row.pair(url, chance, expected_score)
            }
        }
    }

    /// Makes room for so many URLs.
    pub(super) fn grow(&mut self, urls: usize) {
        self.spans.resize(urls.max(self.spans.len()), (0, 0));
    }

    /// Puts rows, by query, in the place of those of a URL; for tables whose chances are by bin.
    pub(super) fn put(&mut self, url: UrlId, rows: &[PairRow]) {
        let (start, len) = &mut self.spans[url.index()];
        self.len = self.len - *len as usize + rows.len();
        let own = (*start as usize).checked_sub(self.rows.in_file);
        if let Some(from) = own.filter(|_| rows.len() <= *len as usize) {
            self.rows.own[from..from + rows.len()].copy_from_slice(rows);
        } else {
            *start = self.rows.len() as u32;
            self.rows.own.extend_from_slice(rows);
        }
        *len = rows.len() as u32;
    }

    /// Chances of a query by bin of the score model.
    pub(super) fn set_chances(&mut self, query: usize, by_bin: &[f64]) {
        if let Chances::ByBin { bins, chances } = &mut self.chances {
            chances[query * *bins..(query + 1) * *bins].copy_from_slice(by_bin);
        }
    }

    /// Gives up the rows that were left behind, where they are as many as the others: those of memory.
    pub(super) fn tidy(&mut self) {
        if self.rows.own.len() > 2 * self.len {
            let mut rows = Vec::with_capacity(self.len);
            self.by_url().for_each(|of_url| rows.extend_from_slice(of_url));
            (self.rows, self.spans) = (PairRows::of_memory(rows), self.in_order());
        }
    }

    /// Puts all rows into a file, in their order, where so many of them are in memory that the next plan would read and
    /// write a fourth of them again.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn settle(&mut self, files: &dyn PairFiles) -> Result<(), StoreError> {
        if self.bins().is_none() || 4 * self.rows.own.len() <= self.len {
            return Ok(());
        }
        let mut write = |to: &mut dyn Write| {
            self.by_url().try_for_each(|of_url| to.write_all(of_url.as_bytes()))
        };
        let filed = files.rows(&mut write)?;
        (self.rows, self.spans) = (PairRows::of_file(filed), self.in_order());
        Ok(())
    }

    /// The rows of each URL.
    fn by_url(&self) -> impl Iterator<Item = &[PairRow]> {
        (0..self.spans.len() as u32).map(|url| self.rows_of(UrlId(url)))
    }

    /// Where rows would be that are by URL, and none besides.
    fn in_order(&self) -> Vec<(u32, u32)> {
        placed(&self.spans.iter().map(|(_, len)| *len).collect::<Vec<u32>>())
    }

    /// Takes the rows of the file that the table was written beside, if there was one.
    ///
    /// # Errors
    /// It is not that file.
    pub(super) fn with_file(mut self, filed: Option<PairBytes>) -> Result<Self, &'static str> {
        let in_file = self.rows.in_file;
        if let Some(filed) = filed.filter(|_| in_file > 0) {
            self.rows.filed = Some(filed);
        }
        let whole = self.rows.filed().len() == in_file && self.is_whole(self.rows.filed());
        whole.then_some(self).ok_or("the rows of pairs are those of another table")
    }

    /// Whether each of these rows has a chance.
    fn is_whole(&self, rows: &[PairRow]) -> bool {
        match &self.chances {
            Chances::ByBin { bins, chances } => {
                let has_chance = |row: &PairRow| {
                    row.bin() < *bins && row.query().index() * bins + row.bin() < chances.len()
                };
                rows.par_iter().all(has_chance)
            }
            Chances::Each(chances) => chances.len() == self.rows.len(),
        }
    }
}

/// A table as it is written, beside a file with the first of its rows.
#[derive(Serialize, Deserialize)]
#[serde(rename = "PairTable")]
struct Written<'a> {
    /// By URL: where its rows begin, and how many there are.
    #[serde(borrow)]
    spans: Cells<'a, [U32; 2]>,
    in_file: u64,
    own: Cells<'a, PairRow>,
    chances: Cow<'a, Chances>,
}

/// Values of one size, as bytes.
struct Cells<'a, T: Clone>(Cow<'a, [T]>);

impl<T: Clone + IntoBytes + Immutable> Serialize for Cells<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_bytes())
    }
}

impl<'de: 'a, 'a, T: Clone + FromBytes + Immutable + KnownLayout> Deserialize<'de>
    for Cells<'a, T>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&'de [u8]>::deserialize(deserializer)?;
        <[T]>::ref_from_bytes(bytes).map(|cells| Self(cells.into())).map_err(D::Error::custom)
    }
}

impl Serialize for PairTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let span = |&(start, len): &(u32, u32)| [start, len].map(U32::new);
        let spans: Vec<[U32; 2]> = self.spans.iter().map(span).collect();
        let (own, in_file) = (self.rows.own.as_slice(), self.rows.in_file as u64);
        let (spans, own) = (Cells(spans.into()), Cells(own.into()));
        Written { spans, in_file, own, chances: Cow::Borrowed(&self.chances) }.serialize(serializer)
    }
}

/// Without the rows of its file: see [`PairTable::with_file`].
impl<'de> Deserialize<'de> for PairTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { spans, in_file, own, chances } = Written::deserialize(deserializer)?;
        let spans: Vec<(u32, u32)> =
            spans.0.iter().map(|[start, len]| (start.get(), len.get())).collect();
        let in_file = usize::try_from(in_file).map_err(D::Error::custom)?;
        let rows = PairRows { in_file, ..PairRows::of_memory(own.0.into_owned()) };
        let len = spans.iter().map(|(_, len)| *len as usize).sum();
        let is_placed = spans.par_iter().all(|span| rows.has(*span));
        let table = Self { spans, len, rows, chances: chances.into_owned() };
        if is_placed && table.is_whole(&table.rows.own) {
            Ok(table)
        } else {
            Err(D::Error::custom("pairs and their places do not fit each other"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::estimate::pair_sort::WriteRows;

    const QUERIES: usize = 9;
    const BINS: usize = 3;
    const URLS: u32 = 40;

    fn pair(url: u32, query: u32, bin: u16) -> PairEstimate {
        PairEstimate {
            url: UrlId(url),
            query: QueryId(query),
            expected_score: f64::from(query) + 0.25,
            chance: 0.1 * f64::from(query) + 0.01 * f64::from(bin),
            matches: query.is_multiple_of(2),
            bin,
        }
    }

    fn chances(query: usize) -> Vec<f64> {
        (0..BINS as u16).map(|bin| pair(0, query as u32, bin).chance).collect()
    }

    fn read(bytes: &[u8]) -> Result<PairTable, postcard::Error> {
        postcard::from_bytes(bytes)
    }

    /// Files in memory; the rows are what was written last.
    #[derive(Default)]
    struct Files {
        runs: Mutex<usize>,
        rows: Mutex<Option<PairBytes>>,
    }

    impl PairFiles for Files {
        fn run(&self, number: usize, bytes: &[u8]) -> Result<PairBytes, StoreError> {
            *self.runs.lock().unwrap() = number + 1;
            Ok(PairBytes::new(bytes.to_vec()))
        }

        fn rows(&self, write: &mut WriteRows<'_>) -> Result<PairBytes, StoreError> {
            let mut bytes = Vec::new();
            write(&mut bytes).unwrap();
            Ok(self.rows.lock().unwrap().insert(PairBytes::new(bytes)).clone())
        }
    }

    impl Files {
        /// A table that was stored and read again.
        fn again(&self, table: &PairTable) -> PairTable {
            let table = read(&postcard::to_stdvec(table).unwrap()).unwrap();
            table.with_file(self.rows.lock().unwrap().clone()).unwrap()
        }
    }

    /// Pairs of a query and all URLs but every third.
    fn of_query(query: u32, urls: u32) -> QueryPairs {
        let urls: Vec<u32> = (0..urls).filter(|url| !(url + query).is_multiple_of(3)).collect();
        let rows = urls.iter().map(|&url| PairRow::new(&pair(url, query, 1))).collect();
        let urls = urls.into_iter().map(UrlId).collect();
        QueryPairs { query: QueryId(query), urls, rows, chances: chances(query as usize) }
    }

    /// All pairs of so many queries but every third, found two queries at a time.
    fn found(urls: u32, files: Option<&dyn PairFiles>) -> PairTable {
        let found: Vec<QueryPairs> =
            (0..QUERIES as u32).map(|query| of_query(query, urls)).collect();
        let mut pairs = PairsOfQueries::new(urls as usize, (QUERIES, Some(BINS)), files);
        found.chunks(2).for_each(|some| pairs.add(some).unwrap());
        pairs.finish().unwrap()
    }

    #[test]
    fn what_is_put_in_its_place_is_there_and_nothing_else() {
        for seed in 0..20 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let files = Files::default();
            // Every other table begins with rows in a file.
            let mut table = if seed % 2 == 0 {
                PairTable::by_bin(QUERIES, BINS)
            } else {
                found(URLS / 2, Some(&files))
            };
            (0..QUERIES).for_each(|query| table.set_chances(query, &chances(query)));
            let mut expected: BTreeMap<u32, Vec<PairEstimate>> = BTreeMap::new();
            for pair in table.iter() {
                expected.entry(pair.url.0).or_default().push(pair);
            }
            table.grow(URLS as usize);
            for _ in 0..200 {
                let url = random.random_range(0..URLS);
                let queries = (0..QUERIES as u32).filter(|_| random.random_range(0..3) == 0);
                let queries: Vec<u32> = queries.collect();
                let some = queries.into_iter();
                let some = some.map(|query| pair(url, query, random.random_range(0..BINS as u16)));
                let some: Vec<PairEstimate> = some.collect();
                table.put(UrlId(url), &some.iter().map(PairRow::new).collect::<Vec<_>>());
                expected.insert(url, some);
                table.tidy();
                if random.random_range(0..20) == 0 {
                    table = files.again(&table);
                }
            }
            let expected: Vec<PairEstimate> = expected.into_values().flatten().collect();
            assert_eq!(table.iter().collect::<Vec<_>>(), expected);
            assert_eq!(table.len(), expected.len());
            table.settle(&files).unwrap();
            assert!(4 * table.rows.own.len() <= expected.len(), "they are in the file");
            let again = files.again(&table);
            assert_eq!(again.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn pairs_are_in_one_order_wherever_they_were_put_in_order() {
        // Several blocks of URLs.
        let (few, many) = (URLS, 200_000);
        for urls in [few, many] {
            let table = found(urls, None);
            let files = Files::default();
            let filed = found(urls, Some(&files));
            assert_eq!((*files.runs.lock().unwrap(), filed.rows.own.len()), (5, 0));
            assert!(table.iter().eq(filed.iter()));
            let each = PairTable::each(table.iter().collect(), urls as usize);
            assert!(each.iter().eq(table.iter()));
            let order: Vec<(UrlId, QueryId)> =
                table.iter().map(|pair| (pair.url, pair.query)).collect();
            assert!(order.is_sorted() && order.len() > 5 * urls as usize);
            assert_eq!(table.of(UrlId(urls + 7)).count(), 0);
        }
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        let whole = PairTable::each(vec![pair(1, 2, 0), pair(3, 0, 0)], 4);
        assert!(read(&postcard::to_stdvec(&whole).unwrap()).is_ok());
        let chances = |len| Chances::Each(vec![(0.5, 1.0); len]);
        let by_bin = |bins| Chances::ByBin { bins, chances: vec![0.5; 2 * bins] };
        for (last, in_file, chances) in [
            ([1, 2], 0, chances(2)),
            ([1, 1], 0, chances(3)),
            ([1, 1], 0, by_bin(1)),
            ([1, u32::MAX], 0, chances(2)),
            ([1, 2], 2, by_bin(9)),
            ([4, 1], 2, by_bin(9)),
        ] {
            let spans = [[0, 0], [0, 1], [1, 0], last].map(|span| span.map(U32::new));
            let (spans, own) = (Cells(spans.to_vec().into()), Cells(whole.rows.own.clone().into()));
            let bytes =
                postcard::to_stdvec(&Written { spans, in_file, own, chances: Cow::Owned(chances) });
            assert!(read(&bytes.unwrap()).is_err(), "{last:?}");
        }
        let files = Files::default();
        let bytes = postcard::to_stdvec(&found(URLS, Some(&files))).unwrap();
        let rows = files.rows.lock().unwrap().clone().unwrap();
        let of = |rows: &[u8]| Some(PairBytes::new(rows.to_vec()));
        let rows: &[u8] = rows.of();
        assert!(read(&bytes).unwrap().with_file(of(rows)).is_ok());
        let mut other = rows.to_vec();
        other[9] = 200;
        for wrong in [None, of(&rows[12..]), of(&rows[1..]), of(&other)] {
            assert!(read(&bytes).unwrap().with_file(wrong).is_err());
        }
    }
}
