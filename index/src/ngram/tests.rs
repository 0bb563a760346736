//! What the parts of the index promise one by one. That matching is exact is shown by the
//! crate's test `ngram_matches_naive`.

use std::path::Path;

use super::{
    BuildConfig, NgramError, NgramIndex, NgramQuery, Scratch, Segment, SegmentBuilder, SegmentStats,
};
use crate::limits;
use crate::page::UrlId;
use crate::words::{Analyzer, words};

fn build(strings: &[(u32, &str)], max_words: usize, dir: &Path) -> SegmentStats {
    let config = BuildConfig { max_words, ..BuildConfig::default() };
    let mut builder = SegmentBuilder::new(config, dir).unwrap();
    for (url, text) in strings {
        builder.add(UrlId(*url), text).unwrap();
    }
    builder.finish().unwrap()
}

fn segment(strings: &[(u32, &str)], max_words: usize) -> Segment {
    let dir = tempfile::tempdir().unwrap();
    build(strings, max_words, dir.path());
    Segment::read(dir.path()).unwrap()
}

fn query(text: &str) -> NgramQuery {
    NgramQuery::new(&words(text), 3)
}

fn matching(segments: Vec<&Segment>, query: &NgramQuery) -> Vec<u32> {
    let index = NgramIndex::new(segments).unwrap();
    let matches = index.match_query(query, |_| false, &mut Scratch::default()).unwrap();
    matches.iter().map(|found| found.url.0).collect()
}

#[test]
fn statistics_count_distinct_strings_and_pairs() {
    let dir = tempfile::tempdir().unwrap();
    let strings = [(3, "Crawl budget"), (3, "crawl-BUDGET"), (3, "--"), (3, "crawl"), (8, "")];
    let stats = build(&strings, 2, dir.path());
    assert_eq!((stats.urls, stats.strings, stats.tokens), (2, 2, 2));
    assert_eq!((stats.occurrences, stats.ngrams, stats.postings), (4, 3, 3));
}

#[test]
fn document_frequency_is_that_of_the_exact_sequence() {
    let strings = [(1, "new york"), (2, "york new york"), (4, "new"), (4, "york")];
    let segment = segment(&strings, 3);
    let cases: [(&[&str], u32); 7] = [
        (&["new"], 3),
        (&["new", "york"], 2),
        (&["york", "new"], 1),
        (&["york", "new", "york"], 1),
        (&["new", "york", "new"], 0),
        (&["absent"], 0),
        (&[], 0),
    ];
    for (ngram, expected) in cases {
        assert_eq!(segment.document_frequency(ngram), expected, "{ngram:?}");
    }
    assert_eq!(segment.urls().map(|url| url.0).collect::<Vec<_>>(), [1, 2, 4]);
}

#[test]
fn ngrams_do_not_cross_strings_but_a_page_joins_its_strings_and_segments() {
    let one = segment(&[(1, "new"), (1, "york"), (2, "new york"), (3, "new")], 3);
    let two = segment(&[(3, "york"), (9, "paris")], 3);
    assert_eq!(matching(vec![&one, &two], &query("new york")), [2]);
    let most = query("new york").needing_share(0.6).unwrap();
    assert_eq!(matching(vec![&one, &two], &most), [1, 2, 3]);
    assert_eq!(matching(vec![&one], &most), [1, 2]);
}

#[test]
fn a_repeated_word_counts_once_in_a_query() {
    let query = query("crawl crawl crawl");
    let ngrams: Vec<String> = (0..query.len()).map(|at| query.ngram(at).join(" ")).collect();
    assert_eq!(ngrams, ["crawl", "crawl crawl", "crawl crawl crawl"]);
    let text = query.matched_in(&Analyzer::default(), "crawl a crawl crawl");
    assert_eq!(text.iter().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_query_is_cut_at_its_limit_and_says_so() {
    let many: Vec<String> =
        (0..limits::BOUNDS.query_words + 5).map(|at| format!("w{at}")).collect();
    let query = NgramQuery::new(&many, 9);
    assert_eq!(query.len(), 3 * limits::BOUNDS.query_words - 3);
}

#[test]
fn empty_queries_segments_and_indexes_match_nothing() {
    let (empty, full) = (segment(&[], 3), segment(&[(1, "été 東京")], 3));
    assert!(empty.urls().len() == 0 && full.urls().len() == 1);
    assert_eq!(matching(vec![&full], &query("")), [0u32; 0]);
    assert_eq!(matching(vec![], &query("été")), [0u32; 0]);
    assert_eq!(matching(vec![&empty], &query("été")), [0u32; 0]);
    assert_eq!(matching(vec![&empty, &full], &query("ÉTÉ 東京")), [1]);
}

#[test]
fn all_weights_zero_or_no_share_still_need_one_ngram() {
    let segment = segment(&[(1, "crawl"), (2, "budget"), (3, "other")], 3);
    let free = query("crawl budget").needing_weight(1.0, |_| 0.0).unwrap();
    assert_eq!(matching(vec![&segment], &free), [1, 2]);
    let none = query("crawl budget").needing_share(0.0).unwrap();
    assert_eq!(matching(vec![&segment], &none), [1, 2]);
}

#[test]
fn misuse_is_a_typed_error() {
    let dir = tempfile::tempdir().unwrap();
    for got in [0, 4] {
        let config = BuildConfig { max_words: got, ..BuildConfig::default() };
        let error = SegmentBuilder::new(config, dir.path()).err();
        assert!(matches!(error, Some(NgramError::MaxWords { limit: 3, .. })));
    }
    let mut builder = SegmentBuilder::new(BuildConfig::default(), dir.path()).unwrap();
    builder.add(UrlId(5), "a").unwrap();
    builder.add(UrlId(5), "b").unwrap();
    let error = builder.add(UrlId(4), "c").unwrap_err();
    assert!(matches!(error, NgramError::Order { previous: UrlId(5), got: UrlId(4) }), "{error}");
    for rho in [-0.1, 1.1, f64::NAN] {
        assert!(matches!(query("a").needing_share(rho), Err(NgramError::Share { .. })));
    }
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let error = query("a").needing_weight(0.5, |_| weight);
        assert!(matches!(error, Err(NgramError::Weight { .. })));
    }
    let (short, long) = (segment(&[(1, "a b")], 1), segment(&[(1, "a b")], 3));
    let mixed = NgramIndex::new(vec![&long, &short]).err();
    assert!(matches!(mixed, Some(NgramError::MixedSegments { expected: 3, got: 1 })));
    let index = NgramIndex::new(vec![&short]).unwrap();
    let error = index.match_query(&query("a b"), |_| false, &mut Scratch::default());
    assert!(matches!(error, Err(NgramError::QueryTooLong { got: 2, indexed: 1 })));
}

#[test]
fn who_needs_more_finds_those_that_hold_as_much() {
    let vocabulary = ["rye", "bread", "oven", "flour", "salt"];
    let texts = (0..400_u32).map(|url| {
        let word = |at: u32| vocabulary[(url.wrapping_mul(2_654_435_761) >> (3 * at)) as usize % 5];
        (url, (0..=url % 5).map(word).collect::<Vec<_>>().join(" "))
    });
    let texts: Vec<(u32, String)> = texts.collect();
    let strings: Vec<(u32, &str)> = texts.iter().map(|(url, text)| (*url, text.as_str())).collect();
    let (one, other) = strings.split_at(150);
    let segments = [segment(one, 3), segment(other, 3)];
    let index = NgramIndex::new(segments.iter().collect()).unwrap();
    let weight = |word: &str| 1.0 + word.len() as f64 / 7.0;
    let plain = query("rye bread oven salt");
    let counted = plain.clone().needing_share(0.05).unwrap();
    for query in [plain.needing_weight(0.05, weight).unwrap(), counted] {
        let matches = |query: &NgramQuery| {
            index.match_query(query, |_| false, &mut Scratch::default()).unwrap()
        };
        let all = matches(&query);
        let weights: Vec<f64> = all.iter().map(|found| query.weight_of(&found.matched)).collect();
        for &least in &weights {
            let mut raised = matches(&query.clone().needing_at_least(least));
            // What is less by a rounding may be among them.
            let weight = |found: &super::Match| query.weight_of(&found.matched);
            assert!(raised.iter().all(|found| weight(found) > least * (1.0 - 1e-8)), "{least}");
            raised.retain(|found| weight(found) >= least);
            let with_weights = all.iter().zip(&weights);
            let enough = with_weights.filter(|(_, weight)| **weight >= least);
            assert_eq!(raised, enough.map(|(found, _)| *found).collect::<Vec<_>>(), "{least}");
        }
        assert!(all.len() > 200);
    }
}
