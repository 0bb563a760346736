//! The n-gram index finds exactly what a plain scan over all strings finds.
//!
//! Story: an index that prunes can lose matches silently. So random frontiers of few words, in one
//! to four segments that share URLs, are matched by the index and by a scan that knows nothing of
//! postings, plans or segments. proptest prints the failing case with its seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::mapped::Bytes;
use crate::ngram::{
    BuildConfig, FILTER, NGRAMS, NgramIndex, NgramQuery, POSTINGS, STRINGS, Scratch, Segment,
    SegmentBuilder, SegmentParts, SegmentStats, TOKENS, merge,
};
use crate::page::UrlId;
use crate::words::words;
use proptest::collection::vec;
use proptest::prelude::*;

/// Words of all kinds: one is a prefix of another, two need more than one byte a letter, and `zz`
/// is a word that no generated page holds.
const VOCABULARY: [&str; 9] = ["a", "ab", "b", "crawl", "é", "москва", "7", "web", "zz"];
/// Weights are drawn from these.
const WEIGHTS: [f64; 5] = [0.0, 0.1, 0.7, 1.0, 4.25];
const SHARES: [f64; 6] = [0.0, 0.1, 0.3, 0.5, 0.75, 1.0];

/// The strings of each URL.
type Pages = BTreeMap<u32, Vec<Vec<usize>>>;

fn text(string: &[usize]) -> String {
    string.iter().map(|&at| VOCABULARY[at]).collect::<Vec<_>>().join(" ")
}

fn build_into(dir: &Path, pages: &Pages, config: BuildConfig) -> SegmentStats {
    let mut builder = SegmentBuilder::new(config, dir).unwrap();
    for (&url, strings) in pages {
        for string in strings {
            builder.add(UrlId(url), &text(string)).unwrap();
        }
    }
    builder.finish().unwrap()
}

fn config(max_words: usize) -> BuildConfig {
    BuildConfig { max_words, memory_budget_bytes: 1 << 20 }
}

fn build(pages: &Pages, max_words: usize) -> Segment {
    let dir = tempfile::tempdir().unwrap();
    build_into(dir.path(), pages, config(max_words));
    open(dir.path())
}

fn open(dir: &Path) -> Segment {
    Segment::read(dir).unwrap()
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    names
        .into_iter()
        .map(|name| (name.to_string_lossy().into_owned(), std::fs::read(dir.join(name)).unwrap()))
        .collect()
}

/// All n-grams of a list of words, as joined strings.
fn ngrams(words: &[&str], max_words: usize) -> BTreeSet<String> {
    (1..=max_words).flat_map(|n| words.windows(n)).map(|window| window.join(" ")).collect()
}

/// How much a page must hold.
#[derive(Clone, Debug)]
enum Need {
    Share(f64),
    Weight(f64, Vec<f64>),
}

impl Need {
    fn weight_of_word(&self, word: &str) -> f64 {
        match self {
            Self::Share(_) => 0.0,
            Self::Weight(_, weights) => {
                weights[VOCABULARY.iter().position(|w| *w == word).unwrap()]
            }
        }
    }

    fn is_met(&self, query: &BTreeSet<String>, matched: &BTreeSet<String>) -> bool {
        let weight = |set: &BTreeSet<String>| -> f64 {
            set.iter().flat_map(|ngram| ngram.split(' ')).map(|w| self.weight_of_word(w)).sum()
        };
        match self {
            Self::Share(rho) => {
                let needed = (rho * query.len() as f64 - 1e-9).ceil().max(1.0);
                matched.len() as f64 >= needed
            }
            Self::Weight(rho, _) => {
                !matched.is_empty() && weight(matched) >= rho * weight(query) * (1.0 - 1e-9)
            }
        }
    }
}

fn naive(
    segments: &[Pages],
    query: &[usize],
    max_words: usize,
    need: &Need,
    mask: &BTreeSet<u32>,
) -> Vec<(u32, BTreeSet<String>)> {
    let query_words: Vec<&str> = query.iter().map(|&at| VOCABULARY[at]).collect();
    let query = ngrams(&query_words, max_words);
    let mut pages: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for (&url, strings) in segments.iter().flatten() {
        for string in strings {
            let words: Vec<&str> = string.iter().map(|&at| VOCABULARY[at]).collect();
            pages.entry(url).or_default().extend(ngrams(&words, max_words));
        }
    }
    pages
        .into_iter()
        .filter(|(url, _)| !mask.contains(url))
        .map(|(url, page)| (url, page.intersection(&query).cloned().collect::<BTreeSet<_>>()))
        .filter(|(_, matched)| need.is_met(&query, matched))
        .collect()
}

fn indexed(
    index: &NgramIndex<'_>,
    query: &[usize],
    max_words: usize,
    need: &Need,
    mask: &BTreeSet<u32>,
    scratch: &mut Scratch,
) -> Vec<(u32, BTreeSet<String>)> {
    let query = NgramQuery::new(&words(&text(query)), max_words);
    let query = match need {
        Need::Share(rho) => query.needing_share(*rho).unwrap(),
        Need::Weight(rho, _) => {
            query.needing_weight(*rho, |word| need.weight_of_word(word)).unwrap()
        }
    };
    let matches = index.match_query(&query, |url| mask.contains(&url.0), scratch).unwrap();
    matches
        .iter()
        .map(|found| {
            let set = found.matched.iter().map(|ngram| query.ngram(ngram).join(" ")).collect();
            (found.url.0, set)
        })
        .collect()
}

fn pages() -> impl Strategy<Value = Pages> {
    // Ids up to 5,000 lie in three windows; the skewed words make lists of all lengths.
    let word = prop_oneof![3 => 0..2usize, 1 => 0..8usize];
    let url = prop_oneof![3 => 0..40u32, 1 => 0..5_000u32];
    proptest::collection::btree_map(url, vec(vec(word, 0..7), 1..4), 0..60)
}

fn need() -> impl Strategy<Value = Need> {
    let share = proptest::sample::select(SHARES.to_vec());
    let weights = vec(proptest::sample::select(WEIGHTS.to_vec()), VOCABULARY.len());
    prop_oneof![
        share.clone().prop_map(Need::Share),
        (share, weights).prop_map(|(rho, weights)| Need::Weight(rho, weights)),
    ]
}

fn query() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![9 => vec(0..VOCABULARY.len(), 0..6), 1 => vec(0..VOCABULARY.len(), 6..60)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_frontiers_match_as_in_a_plain_scan(
        segments in vec(pages(), 1..=4),
        queries in vec((query(), need()), 12),
        mask in proptest::collection::btree_set(0..60u32, 0..20),
        max_words in 1..=3usize,
    ) {
        let built: Vec<Segment> = segments.iter().map(|pages| build(pages, max_words)).collect();
        let index = NgramIndex::new(built.iter().collect()).unwrap();
        let mut scratch = Scratch::default();
        for (query, need) in &queries {
            let got = indexed(&index, query, max_words, need, &mask, &mut scratch);
            let expected = naive(&segments, query, max_words, need, &mask);
            prop_assert_eq!(got, expected, "query '{}', {:?}", text(query), need);
        }
    }

    #[test]
    fn a_build_that_spills_writes_the_same_bytes(pages in pages(), max_words in 1..=3usize) {
        let (roomy, tight) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let in_memory = build_into(roomy.path(), &pages, config(max_words));
        let budget = BuildConfig { max_words, memory_budget_bytes: 0 };
        prop_assert_eq!(build_into(tight.path(), &pages, budget), in_memory);
        prop_assert_eq!(files(tight.path()), files(roomy.path()));
        prop_assert_eq!(files(roomy.path()).len(), 5, "temporary files are gone");
    }

    #[test]
    fn merging_equals_building_the_union_anew(
        segments in vec(pages(), 0..=4),
        dropped in proptest::collection::btree_set(0..60u32, 0..20),
        max_words in 1..=3usize,
    ) {
        let built: Vec<Segment> = segments.iter().map(|pages| build(pages, max_words)).collect();
        let (merged, anew) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keep = |url: UrlId| !dropped.contains(&url.0);
        let stats =
            merge(&built.iter().collect::<Vec<_>>(), keep, config(max_words), merged.path());
        let mut union = Pages::new();
        for (&url, strings) in segments.iter().flatten() {
            if keep(UrlId(url)) {
                union.entry(url).or_default().extend(strings.iter().cloned());
            }
        }
        prop_assert_eq!(stats.unwrap(), build_into(anew.path(), &union, config(max_words)));
        prop_assert_eq!(files(merged.path()), files(anew.path()));
    }
}

/// The strings of a page: two common words, and rare ones on few pages.
fn with_common_words(url: u32, salt: u32) -> Vec<Vec<usize>> {
    let rare = |every: u32, word: usize| (url * 7 + salt).is_multiple_of(every).then_some(word);
    let tail = [rare(701, 3), rare(397, 4), rare(211, 5)].into_iter().flatten();
    vec![[0, 1].into_iter().chain(tail.clone()).collect(), tail.chain([2, 0]).collect()]
}

/// Small frontiers scan every list. Here `a` and `b` are on nearly all of 3,000 pages and the rest
/// on few, so that common words are left unread and candidates are verified by their strings.
#[test]
fn common_words_are_verified_and_not_lost() {
    let segments: Vec<Pages> = [(0, 0..3_000), (5, 2_000..2_500)]
        .map(|(salt, urls)| urls.map(|url| (url, with_common_words(url, salt))).collect())
        .into();
    let built: Vec<Segment> = segments.iter().map(|pages| build(pages, 3)).collect();
    let index = NgramIndex::new(built.iter().collect()).unwrap();
    let mut scratch = Scratch::default();
    let mask = BTreeSet::from([397, 802]);
    let queries: [&[usize]; 6] =
        [&[0, 3], &[3, 0, 1], &[0, 1, 3], &[3, 4, 5, 0, 1, 2], &[0, 5, 0], &[8, 3, 1, 0]];
    for query in queries {
        for rho in SHARES {
            let weights = vec![0.1, 0.2, 0.1, 4.0, 3.0, 2.0, 1.0, 1.0, 5.0];
            for need in [Need::Share(rho), Need::Weight(rho, weights)] {
                let got = indexed(&index, query, 3, &need, &mask, &mut scratch);
                let expected = naive(&segments, query, 3, &need, &mask);
                assert_eq!(got, expected, "query '{}', {need:?}", text(query));
            }
        }
    }
}

/// Some pages of every kind, with lists and singles.
fn sample() -> Pages {
    (0..50).map(|url| (url * 3, vec![vec![0, 1, url as usize % 8], vec![2, 3]])).collect()
}

fn sample_parts() -> SegmentParts {
    let dir = tempfile::tempdir().unwrap();
    build_into(dir.path(), &sample(), config(3));
    SegmentParts::read(dir.path()).unwrap()
}

fn part(parts: &SegmentParts, name: &str) -> Vec<u8> {
    match name {
        TOKENS => parts.tokens.clone(),
        NGRAMS => parts.ngrams.to_vec(),
        POSTINGS => parts.postings.to_vec(),
        FILTER => parts.filter.clone(),
        _ => parts.strings.to_vec(),
    }
}

/// With other bytes in the place of a part.
fn with(parts: &SegmentParts, name: &str, bytes: Vec<u8>) -> SegmentParts {
    let mut parts = parts.clone();
    match name {
        TOKENS => parts.tokens = bytes,
        NGRAMS => parts.ngrams = Bytes::new(bytes),
        POSTINGS => parts.postings = Bytes::new(bytes),
        FILTER => parts.filter = bytes,
        _ => parts.strings = Bytes::new(bytes),
    }
    parts
}

#[test]
fn a_part_that_is_cut_anywhere_or_lengthened_is_an_error() {
    let whole = sample_parts();
    assert!(Segment::from_parts(whole.clone()).is_ok());
    for name in [TOKENS, NGRAMS, POSTINGS, FILTER, STRINGS] {
        let bytes = part(&whole, name);
        for length in 0..bytes.len() {
            let error = Segment::from_parts(with(&whole, name, bytes[..length].to_vec())).err();
            let error = error.unwrap_or_else(|| panic!("{name} cut to {length} was opened"));
            assert!(error.to_string().contains("damaged"), "{error}");
        }
        let longer = with(&whole, name, [bytes, vec![0]].concat());
        assert!(Segment::from_parts(longer).is_err(), "{name} with a byte more");
    }
}

/// A flip is an error wherever it could make the readers panic; inside lists and strings, where
/// only the store's checksum can see it, matching still ends and gives URLs of the segment.
#[test]
fn a_flipped_bit_never_panics() {
    let whole = sample_parts();
    let need = Need::Share(0.1);
    for name in [TOKENS, NGRAMS, POSTINGS, FILTER, STRINGS] {
        let bytes = part(&whole, name);
        for at in 0..bytes.len() {
            for bit in [0, 6, 7] {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let flipped = Segment::from_parts(with(&whole, name, flipped));
                let Ok(segment) = flipped else { continue };
                assert!(
                    [POSTINGS, FILTER, STRINGS].contains(&name),
                    "{name} flipped at {at} was opened"
                );
                let index = NgramIndex::new(vec![&segment]).unwrap();
                let mut scratch = Scratch::default();
                let none = BTreeSet::new();
                for (url, _) in indexed(&index, &[0, 1, 2, 3], 2, &need, &none, &mut scratch) {
                    assert!(segment.urls().any(|known| known.0 == url));
                }
                let dir = tempfile::tempdir().unwrap();
                let _ = merge(&[&segment], |_| true, config(3), dir.path());
            }
        }
    }
}

#[test]
fn parts_of_two_segments_do_not_go_together() {
    let (one, other) = (sample_parts(), {
        let dir = tempfile::tempdir().unwrap();
        build_into(dir.path(), &Pages::from([(1, vec![vec![0, 1, 2]])]), config(3));
        SegmentParts::read(dir.path()).unwrap()
    });
    for name in [TOKENS, NGRAMS, POSTINGS, FILTER, STRINGS] {
        let mixed = with(&one, name, part(&other, name));
        assert!(Segment::from_parts(mixed).is_err(), "{name} of another segment");
    }
}
