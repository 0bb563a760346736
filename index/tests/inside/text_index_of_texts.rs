//! One index of a whole corpus answers as the index of any part of it would.
//!
//! Story: a hundred simulated crawls fetch the same pages in a hundred orders. The texts are indexed
//! once, and each crawl sees them through a document table of its own; what it has not fetched must
//! leave no trace in a score, a statistic or a list. So random halves of small random corpora are
//! scored both through such a table and by an index of the half alone. And the index on the disk
//! must be whole or be refused.

use crate::bm25::{Bm25, Scorer, Scores};
use crate::page::UrlId;
use crate::page_store::NONE;
use crate::text_index::{DocTable, TextIndex};
use crate::url_table::UrlTable;
use proptest::collection::vec;
use proptest::prelude::*;

use super::support::{WORDS, text, url};

type Text = (String, String);

fn texts(pages: &[Vec<usize>]) -> Vec<Text> {
    pages
        .iter()
        .map(|words| (text(&words[..words.len() / 3]), text(&words[words.len() / 3..])))
        .collect()
}

/// The table of a crawl that fetches the pages of `order`, in that order; ids are page numbers.
fn table(index: &TextIndex, order: &[usize]) -> DocTable {
    let mut docs = index.docs().clone();
    for doc in 0..docs.url.len() {
        let place = order.iter().position(|&page| page == docs.url[doc].index());
        docs.seq[doc] = place.map_or(NONE, |place| place as u32);
    }
    docs
}

/// Best pages of a query with the bits of their scores, and the bits of the score of every page.
fn answers(
    index: &TextIndex,
    urls: &UrlTable,
    end: u32,
    query: &[String],
) -> (Vec<(UrlId, u64)>, Vec<u64>) {
    let scorer = Scorer::new(index, Bm25::default(), end, WORDS).unwrap();
    let mut scores = Scores::default();
    scorer.score(&scorer.term_ids(query), 0..end, &mut scores).unwrap();
    let top = scorer.top_k(&scores, 4, urls).into_iter().map(|(url, score)| (url, score.to_bits()));
    let all = urls.ids().map(|url| scorer.score_of(&scores, url).to_bits());
    let counts = WORDS.map(|word| scorer.idf(word).to_bits());
    let statistics = scorer.statistics();
    let all = all.chain(counts).chain([statistics.documents, statistics.words]);
    (top.collect(), all.collect())
}

fn urls(pages: usize) -> UrlTable {
    let mut urls = UrlTable::default();
    // Ascending ids are not ascending URLs.
    for page in (0..pages).rev() {
        urls.insert(&url(page), "");
    }
    urls
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_crawl_over_the_shared_index_scores_as_an_index_of_its_pages_alone(
        pages in vec(vec(0..7usize, 0..9), 1..14),
        shuffle in vec(any::<u32>(), 14),
        query in vec((0..WORDS.len()).prop_map(|word| WORDS[word].to_owned()), 0..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let texts = texts(&pages);
        let whole = TextIndex::build(&dir.path().join("whole"), texts.clone()).unwrap();
        let mut order: Vec<usize> = (0..pages.len()).collect();
        order.sort_by_key(|&page| shuffle[page]);
        order.truncate(pages.len().div_ceil(2));
        let urls = urls(pages.len());
        let crawl = whole.with_docs(table(&whole, &order));
        for end in 0..=order.len() {
            let fetched = order[..end].iter().map(|&page| texts[page].clone());
            let fresh = TextIndex::build(&dir.path().join(format!("{end}")), fetched).unwrap();
            let mut docs = fresh.docs().clone();
            docs.url.iter_mut().for_each(|id| *id = UrlId(order[id.index()] as u32));
            let fresh = fresh.with_docs(docs);
            let expected = answers(&fresh, &urls, end as u32, &query);
            let mut got = answers(&crawl, &urls, end as u32, &query);
            prop_assert_eq!(&got, &expected, "{} of {:?}", end, order);
            if end == order.len() {
                got = answers(&crawl, &urls, NONE, &query);
                prop_assert_eq!(&got, &expected, "no end counts what is not fetched");
            }
        }
        // The table of one crawl changes no other.
        let all: Vec<usize> = (0..pages.len()).collect();
        let end = pages.len() as u32;
        let again = whole.with_docs(table(&whole, &all));
        prop_assert_eq!(answers(&again, &urls, end, &query), answers(&whole, &urls, end, &query));
    }
}

#[test]
fn documents_keep_their_numbers_whatever_the_segments_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    // More than two chunks, so that both threads of the writer get some.
    let body = "filler ".repeat(6_000);
    let texts =
        (0..500).map(|page| (format!("page{page}"), body[..page % 7 * 7].to_owned() + &body));
    let built = TextIndex::build(&path, texts).unwrap();
    let docs = built.docs();
    let mut ids: Vec<u32> = docs.url.iter().map(|url| url.0).collect();
    assert_eq!(docs.seq, ids);
    ids.sort_unstable();
    assert_eq!(ids, (0..500).collect::<Vec<_>>());
    for page in [0, 123, 499] {
        let scorer =
            Scorer::new(&built, Bm25::default(), 500, [format!("page{page}").as_str()]).unwrap();
        let mut scores = Scores::default();
        scorer.score(&[0], 0..500, &mut scores).unwrap();
        assert!(scorer.score_of(&scores, UrlId(page)) > 0.0, "page {page}");
        let doc = docs.url.iter().position(|url| url.0 == page).unwrap();
        assert_eq!(docs.length[doc], 6_001 + page % 7);
    }
}

#[test]
fn an_iterator_that_ends_in_a_panic_leaves_no_index() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index");
    let texts = (0..3).map(|page| if page < 2 { Text::default() } else { panic!("interrupted") });
    let build = std::panic::AssertUnwindSafe(|| TextIndex::build(&path, texts).is_ok());
    assert!(std::panic::catch_unwind(build).is_err());
    assert!(!path.join("STATE.json").exists());
}

#[test]
fn a_build_does_not_empty_a_directory_of_something_else() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "two years of work").unwrap();
    assert!(TextIndex::build(dir.path(), texts(&[vec![0]])).is_err());
    assert!(dir.path().join("thesis.txt").exists());
}
