//! Scores are BM25 to the last bit, now and as of any earlier checkpoint.
//!
//! Story: a crawl is evaluated at every checkpoint *as if only the pages fetched by then had been
//! indexed* (METHODS, section 5), over one append-only index with several segments and replaced
//! pages. So random small crawls are scored by the index and by a plain loop over the raw texts
//! that knows nothing of postings, segments or tombstones. proptest prints the failing crawl.

use std::collections::BTreeMap;
use std::path::Path;

use crate::bm25::{Bm25, Scorer, Scores};
use crate::page::PageRecord;
use crate::text_index::TextIndex;
use crate::words::words;
use proptest::collection::vec;
use proptest::prelude::*;

use super::support::{WORDS, current, ingest, open, page};

const PARAMETERS: [Bm25; 4] = [
    Bm25 { k1: 0.9, b: 0.4 },
    Bm25 { k1: 1.2, b: 0.75 },
    Bm25 { k1: 0.0, b: 0.0 },
    Bm25 { k1: 2.0, b: 1.0 },
];

/// URL and bits of the score, best first.
type Ranking = Vec<(String, u64)>;

/// A URL number, the words of a text, and an HTTP status.
type Fetched = (usize, Vec<usize>, Option<u16>);

fn fetched() -> impl Strategy<Value = Fetched> {
    let status = prop_oneof![8 => Just(None), 2 => Just(Some(200)), 1 => Just(Some(404)), 1 => Just(Some(503)), 1 => Just(Some(0))];
    let word = prop_oneof![2 => 0..2usize, 1 => 0..7usize];
    (0..9usize, vec(word, 0..9), status)
}

fn records(fetched: &[Fetched]) -> Vec<PageRecord> {
    let records = fetched.iter().map(|(number, words, status)| {
        let mut record = page(*number, words, &[]);
        // What is no word: case and punctuation.
        record.text = record.text.replace("a b", "A, b!").replace('é', "É");
        record.status = *status;
        record
    });
    records.collect()
}

/// The words of each page that counts.
fn texts(records: &[PageRecord]) -> BTreeMap<&str, (u32, Vec<String>)> {
    let words_of = |page: &PageRecord| words(&format!("{} {}", page.title, page.text));
    current(records).into_iter().map(|(url, (seq, page))| (url, (seq, words_of(page)))).collect()
}

/// By record: the one that gave the version of its page, an earlier one where a page comes again as an ingest before has
/// stored it.
fn versions(ingests: &[Vec<Fetched>]) -> Vec<u32> {
    let mut stored: BTreeMap<usize, (u32, &[usize])> = BTreeMap::new();
    let mut versions = Vec::new();
    for fetched in ingests {
        let first = versions.len() as u32;
        for (number, words, status) in fetched {
            let seq = versions.len() as u32;
            let same = stored.get(number).filter(|(at, old)| *at < first && old == words);
            let same = same.map_or(seq, |(at, _)| *at);
            let is_page = matches!(status, None | Some(200..300));
            versions.push(if is_page { same } else { seq });
            match status {
                _ if is_page => drop(stored.insert(*number, (same, words))),
                Some(404 | 410) => drop(stored.remove(number)),
                _ => {}
            }
        }
    }
    versions
}

/// Scores the pages of `scored` with the statistics of `counted`.
fn plainly(counted: &[PageRecord], scored: &[PageRecord], bm25: Bm25, query: &[String]) -> Ranking {
    let counted = texts(counted);
    let documents = counted.len() as f64;
    let total: usize = counted.values().map(|(_, words)| words.len()).sum();
    let average = if counted.is_empty() { 0.0 } else { total as f64 / documents };
    let mut ranked: Vec<(&str, f64)> = Vec::new();
    let scored = texts(scored);
    for (url, (_, page)) in &scored {
        let mut score = 0.0;
        for word in query {
            let df = counted.values().filter(|(_, words)| words.contains(word)).count() as f64;
            let idf = (1.0 + (documents - df + 0.5) / (df + 0.5)).ln();
            let tf = page.iter().filter(|other| *other == word).count() as f64;
            let length = if average > 0.0 { page.len() as f64 / average } else { 0.0 };
            let norm = bm25.k1 * (1.0 - bm25.b + bm25.b * length);
            if tf > 0.0 {
                score += idf * (tf * (bm25.k1 + 1.0) / (tf + norm));
            }
        }
        if score > 0.0 {
            ranked.push((url, score));
        }
    }
    // Stable, over URLs in ascending order.
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.into_iter().map(|(url, score)| (url.to_owned(), score.to_bits())).collect()
}

/// A store with its index, to be asked for rankings.
struct Indexed {
    index: TextIndex,
    known: crate::page_store::Known,
    next_seq: u32,
}

impl Indexed {
    fn open(root: &Path) -> Self {
        let (store, known) = open(root);
        let (index, refresh) =
            TextIndex::open(store.storage(), store.manifest(), &known.pages).unwrap();
        assert_eq!(refresh.rebuilt, None, "an index that is only behind is extended");
        Self { index, next_seq: store.manifest().next_seq, known }
    }

    /// The best `k` pages as of `seqs.end`, with statistics as of `epoch_end`.
    fn top(
        &self,
        epoch_end: u32,
        seqs: std::ops::Range<u32>,
        bm25: Bm25,
        query: &[String],
        k: usize,
    ) -> Ranking {
        let scorer = Scorer::new(&self.index, bm25, epoch_end, WORDS).unwrap();
        let mut scores = Scores::default();
        // A thread uses its scores again and again: what an earlier query left must not count.
        let all = scorer.term_ids(&WORDS.map(str::to_owned));
        scorer.score(&all, 0..self.next_seq, &mut scores).unwrap();
        scorer.score(&scorer.term_ids(query), seqs.clone(), &mut scores).unwrap();
        let top = scorer.top_k(&scores, k, &self.known.urls);
        if seqs.end == self.next_seq {
            for &(url, score) in &top {
                assert_eq!(scorer.score_of(&scores, url).to_bits(), score.to_bits());
            }
        }
        let name = |url| self.known.urls.url(url).to_owned();
        top.into_iter().map(|(url, score)| (name(url), score.to_bits())).collect()
    }

    fn as_of(&self, end: u32, bm25: Bm25, query: &[String]) -> Ranking {
        self.top(end, 0..end, bm25, query, usize::MAX)
    }
}

fn store_of(ingests: &[Vec<Fetched>]) -> (tempfile::TempDir, Indexed) {
    let dir = tempfile::tempdir().unwrap();
    ingest(dir.path(), &[], "none");
    for (number, fetched) in ingests.iter().enumerate() {
        ingest(dir.path(), &records(fetched), &number.to_string());
        Indexed::open(dir.path());
    }
    let indexed = Indexed::open(dir.path());
    (dir, indexed)
}

fn queries() -> impl Strategy<Value = Vec<Vec<String>>> {
    let word = (0..WORDS.len()).prop_map(|word| WORDS[word].to_owned());
    vec(vec(word, 0..5), 3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn at_every_checkpoint_scores_equal_a_plain_loop_over_the_pages_fetched_by_then(
        ingests in vec(vec(fetched(), 0..9), 1..5),
        queries in queries(),
    ) {
        let records = records(&ingests.concat());
        let (_dir, indexed) = store_of(&ingests);
        for end in 0..=records.len() {
            for (query, bm25) in queries.iter().zip(PARAMETERS.iter().cycle().skip(end)) {
                let expected = plainly(&records[..end], &records[..end], *bm25, query);
                let top = indexed.top(end as u32, 0..end as u32, *bm25, query, 3);
                prop_assert_eq!(&top[..], &expected[..expected.len().min(3)], "top 3 of {:?}", query);
                let got = indexed.as_of(end as u32, *bm25, query);
                prop_assert_eq!(got, expected, "{} records, {:?}, {:?}", end, query, bm25);
            }
        }
    }

    #[test]
    fn new_pages_are_scored_under_the_statistics_of_an_earlier_epoch(
        ingests in vec(vec(fetched(), 0..9), 1..5),
        queries in queries(),
        cuts in (0..40usize, 0..40usize, 0..40usize),
    ) {
        let records = records(&ingests.concat());
        let (_dir, indexed) = store_of(&ingests);
        let mut cuts = [cuts.0, cuts.1, cuts.2].map(|cut| cut.min(records.len()));
        cuts.sort_unstable();
        let [epoch, from, end] = cuts;
        let (versions, pages) = (versions(&ingests), current(&records[..end]));
        for (query, bm25) in queries.iter().zip(PARAMETERS) {
            let mut expected = plainly(&records[..epoch], &records[..end], bm25, query);
            expected.retain(|(url, _)| versions[pages[url.as_str()].0 as usize] >= from as u32);
            let seqs = from as u32..end as u32;
            let got = indexed.top(epoch as u32, seqs, bm25, query, usize::MAX);
            prop_assert_eq!(got, expected, "epoch {}, {}..{}, {:?}", epoch, from, end, query);
        }
    }

    #[test]
    fn an_index_grown_by_several_ingests_answers_as_one_and_as_a_store_of_the_first_records(
        ingests in vec(vec(fetched(), 0..9), 2..6),
        queries in queries(),
        cut in 0..40usize,
    ) {
        let all = ingests.concat();
        let end = cut.min(all.len());
        let (_grown_dir, grown) = store_of(&ingests);
        let (_one_dir, one) = store_of(std::slice::from_ref(&all));
        let (_fresh_dir, fresh) = store_of(&[all[..end].to_vec()]);
        for (query, bm25) in queries.iter().zip(PARAMETERS) {
            let at_end = grown.as_of(all.len() as u32, bm25, query);
            prop_assert_eq!(&at_end, &one.as_of(all.len() as u32, bm25, query));
            let then = grown.as_of(end as u32, bm25, query);
            prop_assert_eq!(&then, &fresh.as_of(end as u32, bm25, query));
            // The plain loop must find something, now and then, or all of this says nothing.
            prop_assert_eq!(then, plainly(&records(&all[..end]), &records(&all[..end]), bm25, query));
        }
    }
}

#[test]
fn pages_of_one_score_rank_by_canonical_url_and_not_by_the_order_of_their_fetch() {
    let dir = tempfile::tempdir().unwrap();
    for (number, part) in [[8, 3], [6, 0], [1, 7]].iter().enumerate() {
        let records = part.map(|page_number| page(page_number, &[2, 3, 3], &[]));
        ingest(dir.path(), &records, &number.to_string());
        Indexed::open(dir.path());
    }
    let indexed = Indexed::open(dir.path());
    let ranking = indexed.top(6, 0..6, Bm25::default(), &words("crawl budget"), 4);
    let mut urls: Vec<String> = [8, 3, 6, 0, 1, 7].map(super::support::url).to_vec();
    urls.sort_unstable();
    let found: Vec<&String> = ranking.iter().map(|(url, _)| url).collect();
    assert_eq!(found, urls[..4].iter().collect::<Vec<_>>());
    assert!(ranking.iter().all(|(_, bits)| *bits == ranking[0].1));
}

#[test]
fn a_word_that_occurs_twice_in_the_query_counts_twice() {
    let dir = tempfile::tempdir().unwrap();
    ingest(dir.path(), &[page(0, &[2, 3], &[]), page(1, &[3], &[])], "pages");
    let indexed = Indexed::open(dir.path());
    let score = |query: &str| f64::from_bits(indexed.as_of(2, Bm25::default(), &words(query))[0].1);
    assert_eq!(score("crawl crawl"), 2.0 * score("crawl"));
}
