//! Candidate pairs in 12 bytes each: by URL, then query. Where scores are learned, the chance of a pair is that of its
//! query and its bin of the score model, so that a list which changes changes a few numbers and not the pairs of its
//! query; otherwise pairs have chances of their own.
//!
//! Costs 12 bytes a pair, 8 a known URL, and 8 a query for each bin of the score model, or 16 a pair without one.

use std::borrow::Cow;
use std::ops::Range;

use prospect_index::page::UrlId;
use rayon::prelude::*;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zerocopy::little_endian::{F32, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::candidates::Candidate;
use super::models::score_distribution::ScoreModel;
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

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct PairTable {
    /// By URL: where its rows begin, and how many there are.
    spans: Vec<(u32, u32)>,
    /// Rows of a URL by query; those of URLs that got more of them since are left behind.
    rows: Vec<PairRow>,
    /// Rows that are of a URL.
    len: usize,
    chances: Chances,
}

impl Default for PairTable {
    fn default() -> Self {
        Self { spans: Vec::new(), rows: Vec::new(), len: 0, chances: Chances::Each(Vec::new()) }
    }
}

impl PairTable {
    /// Without pairs yet, for so many queries and bins of the score model.
    pub(super) fn by_bin(queries: usize, bins: usize) -> Self {
        let chances = Chances::ByBin { bins, chances: vec![0.0; queries * bins] };
        Self { chances, ..Self::default() }
    }

    /// Of pairs in any order, with their chances.
    pub(super) fn each(mut pairs: Vec<PairEstimate>, urls: usize) -> Self {
        pairs.par_sort_unstable_by_key(|pair| (pair.url, pair.query));
        let spans = placed(counts(pairs.iter().map(|pair| pair.url), urls));
        let rows: Vec<PairRow> = pairs.iter().map(PairRow::new).collect();
        let chances = pairs.iter().map(|pair| (pair.chance, pair.expected_score)).collect();
        let chances = Chances::Each(chances);
        Self { spans, len: rows.len(), rows, chances }
    }

    /// Of pairs query by query; `all` queries have as many `bins` of the score model, if there is one.
    pub(super) fn of_queries(
        mut found: Vec<QueryPairs>,
        urls: usize,
        (all, bins): (usize, Option<usize>),
    ) -> Self {
        found.sort_by_key(|of| of.query);
        let len = found.iter().map(|of| of.rows.len()).sum();
        let spans = placed(counts(found.iter().flat_map(|of| of.urls.iter().copied()), urls));
        // Where the next row of each URL goes.
        let mut next: Vec<u32> = spans.iter().map(|(start, _)| *start).collect();
        let mut rows = vec![PairRow::default(); len];
        let mut chances = match bins {
            Some(bins) => Chances::ByBin { bins, chances: vec![0.0; all * bins] },
            None => Chances::Each(vec![(0.0, 0.0); len]),
        };
        // What is put in its place is let go, query by query.
        for of in found {
            for (at, (url, row)) in of.urls.iter().zip(&of.rows).enumerate() {
                let place = next[url.index()] as usize;
                next[url.index()] += 1;
                rows[place] = *row;
                if let Chances::Each(chances) = &mut chances {
                    chances[place] = (of.chances[at], row.expected_score.get().into());
                }
            }
            if let Chances::ByBin { bins, chances } = &mut chances {
                let from = of.query.index() * *bins;
                chances[from..from + *bins].copy_from_slice(&of.chances);
            }
        }
        Self { spans, rows, len, chances }
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
        self.places(url).map(move |place| self.at(url, place))
    }

    /// All pairs, by URL, then query.
    pub(super) fn iter(&self) -> impl Iterator<Item = PairEstimate> + '_ {
        (0..self.spans.len() as u32).flat_map(|url| self.of(UrlId(url)))
    }

    /// The rows of a URL, by query.
    pub(super) fn rows_of(&self, url: UrlId) -> &[PairRow] {
        &self.rows[self.places(url)]
    }

    fn places(&self, url: UrlId) -> Range<usize> {
        let (start, len) = self.spans.get(url.index()).copied().unwrap_or_default();
        start as usize..(start + len) as usize
    }

    fn at(&self, url: UrlId, place: usize) -> PairEstimate {
        let row = self.rows[place];
        let (chance, expected_score) = match &self.chances {
            Chances::ByBin { bins, chances } => {
                let chance = chances[row.query().index() * bins + row.bin()];
                (chance, row.expected_score.get().into())
            }
            Chances::Each(each) => each[place],
        };
        PairEstimate {
            url,
            query: row.query(),
            expected_score,
            chance,
            matches: row.matches(),
            bin: row.bin.get(),
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
        if rows.len() > *len as usize {
            *start = self.rows.len() as u32;
            self.rows.extend_from_slice(rows);
        } else {
            let from = *start as usize;
            self.rows[from..from + rows.len()].copy_from_slice(rows);
        }
        *len = rows.len() as u32;
    }

    /// Chances of a query by bin of the score model.
    pub(super) fn set_chances(&mut self, query: usize, by_bin: &[f64]) {
        if let Chances::ByBin { bins, chances } = &mut self.chances {
            chances[query * *bins..(query + 1) * *bins].copy_from_slice(by_bin);
        }
    }

    /// Gives up the rows that were left behind, where they are as many as the others.
    pub(super) fn tidy(&mut self) {
        if self.rows.len() > 2 * self.len {
            self.rows = self.in_order();
            self.spans = placed(self.counts());
        }
    }

    /// By URL: how many rows it has.
    fn counts(&self) -> Vec<u32> {
        self.spans.iter().map(|(_, len)| *len).collect()
    }

    /// Rows by URL, then query, and none besides.
    fn in_order(&self) -> Vec<PairRow> {
        let mut rows = Vec::with_capacity(self.len);
        for url in 0..self.spans.len() as u32 {
            rows.extend_from_slice(self.rows_of(UrlId(url)));
        }
        rows
    }

    /// Whether rows are by URL, then query, and none besides.
    fn is_in_order(&self) -> bool {
        let in_order = self.spans.iter().filter(|(_, len)| *len > 0);
        self.rows.len() == self.len && in_order.is_sorted_by_key(|(start, _)| *start)
    }

    /// Whether every row has a place of its own, and its chance.
    fn is_whole(&self) -> bool {
        match &self.chances {
            Chances::ByBin { bins, chances } => {
                let has_chance = |row: &PairRow| {
                    row.bin() < *bins && row.query().index() * bins + row.bin() < chances.len()
                };
                self.rows.par_iter().all(has_chance)
            }
            Chances::Each(chances) => chances.len() == self.rows.len(),
        }
    }
}

/// How many pairs each URL has, by URL, of which there are so many.
fn counts(of_pairs: impl Iterator<Item = UrlId>, urls: usize) -> Vec<u32> {
    let mut counts = vec![0; urls];
    of_pairs.for_each(|url| counts[url.index()] += 1);
    counts
}

/// Where the rows of each URL begin if they are by URL, and how many they are.
fn placed(counts: Vec<u32>) -> Vec<(u32, u32)> {
    let mut end = 0_u32;
    let span = |len: u32| {
        let start = end;
        // What is more than fits is refused by who reads, before anybody asks for a row.
        end = end.saturating_add(len);
        (start, len)
    };
    counts.into_iter().map(span).collect()
}

/// A table as it is written: rows by URL, then query, and none besides.
#[derive(Serialize, Deserialize)]
#[serde(rename = "PairTable")]
struct Written<'a> {
    /// By URL: how many rows it has.
    counts: Vec<u32>,
    #[serde(borrow)]
    rows: Rows<'a>,
    chances: Cow<'a, Chances>,
}

/// Rows as bytes.
struct Rows<'a>(Cow<'a, [PairRow]>);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_bytes())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Rows<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&'de [u8]>::deserialize(deserializer)?;
        <[PairRow]>::ref_from_bytes(bytes).map(|rows| Self(rows.into())).map_err(D::Error::custom)
    }
}

impl Serialize for PairTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let in_order = if self.is_in_order() {
            Cow::Borrowed(self.rows.as_slice())
        } else {
            Cow::Owned(self.in_order())
        };
        let (counts, chances) = (self.counts(), Cow::Borrowed(&self.chances));
        Written { counts, rows: Rows(in_order), chances }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PairTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { counts, rows: Rows(rows), chances } = Written::deserialize(deserializer)?;
        let counted: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let (rows, chances) = (rows.into_owned(), chances.into_owned());
        let table = Self { spans: placed(counts), len: rows.len(), rows, chances };
        if counted == table.len as u64 && table.is_whole() {
            Ok(table)
        } else {
            Err(D::Error::custom("pairs and their places do not fit each other"))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

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

    #[test]
    fn what_is_put_in_its_place_is_there_and_nothing_else() {
        for seed in 0..20 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut table = PairTable::by_bin(QUERIES, BINS);
            (0..QUERIES).for_each(|query| table.set_chances(query, &chances(query)));
            table.grow(URLS as usize);
            let mut expected = BTreeMap::new();
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
            }
            let expected: Vec<PairEstimate> = expected.into_values().flatten().collect();
            assert_eq!(table.iter().collect::<Vec<_>>(), expected);
            assert_eq!(table.len(), expected.len());
            let again = read(&postcard::to_stdvec(&table).unwrap()).unwrap();
            assert_eq!(again.iter().collect::<Vec<_>>(), expected);
            assert_eq!(again.rows.len(), expected.len(), "nothing that was left behind is written");
        }
    }

    #[test]
    fn pairs_are_in_one_order_however_they_were_found() {
        let by_query = |query: u32| {
            let urls: Vec<u32> = (0..URLS).filter(|url| !(url + query).is_multiple_of(3)).collect();
            let rows = urls.iter().map(|&url| PairRow::new(&pair(url, query, 1))).collect();
            let urls = urls.into_iter().map(UrlId).collect();
            QueryPairs { query: QueryId(query), urls, rows, chances: chances(query as usize) }
        };
        let found = (0..QUERIES as u32).rev().map(by_query).collect();
        let table = PairTable::of_queries(found, URLS as usize, (QUERIES, Some(BINS)));
        let each = PairTable::each(table.iter().collect(), URLS as usize);
        assert_eq!(each.iter().collect::<Vec<_>>(), table.iter().collect::<Vec<_>>());
        let order: Vec<(UrlId, QueryId)> =
            table.iter().map(|pair| (pair.url, pair.query)).collect();
        assert!(order.is_sorted() && order.len() > 200);
        assert_eq!(table.of(UrlId(URLS + 7)).count(), 0);
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        let whole = PairTable::each(vec![pair(1, 2, 0), pair(3, 0, 0)], 4);
        assert!(read(&postcard::to_stdvec(&whole).unwrap()).is_ok());
        let chances = |len| Chances::Each(vec![(0.5, 1.0); len]);
        let by_bin = |bins| Chances::ByBin { bins, chances: vec![0.5; 2 * bins] };
        for (counts, chances) in [
            (vec![0, 1, 0, 2], chances(2)),
            (vec![0, 1, 0, 1], chances(3)),
            (vec![0, 1, 0, 1], by_bin(1)),
            (vec![0, 1, 0, u32::MAX], chances(2)),
        ] {
            let rows = Rows(whole.rows.clone().into());
            let bytes =
                postcard::to_stdvec(&Written { counts, rows, chances: Cow::Owned(chances) });
            assert!(read(&bytes.unwrap()).is_err());
        }
    }
}
