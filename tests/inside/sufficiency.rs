//! Sufficiency of a store must not depend on how often it was asked: what is followed from command to command is
//! what following the crawl from its start gives, pages that are replaced or gone included. Within an epoch
//! coverage never falls when pages are added, and how a workload is split among lines of a file changes nothing.

use std::path::Path;

use prospect_index::bm25::Bm25;
use prospect_index::ingest::ingest_all;
use prospect_index::page::{Outlink, PageRecord};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::campaign::OpenStore;
use crate::campaign::sufficiency::StoreSufficiency;
use crate::sufficiency::verdict::THETA;
use crate::workload::{Query, Workload};

const WORDS: u32 = 14;

/// A page; some say nearly the same as all others of their kind.
fn record(random: &mut ChaCha8Rng, url: u32, gone: bool) -> PageRecord {
    let copied = random.random_range(0..6) == 0;
    let word = |random: &mut ChaCha8Rng| format!("w{}", random.random_range(0..WORDS));
    let words: Vec<String> = if copied {
        (0..WORDS).map(|word| format!("w{word} the same again")).collect()
    } else {
        (0..random.random_range(1..9)).map(|_| word(random)).collect()
    };
    PageRecord {
        url: format!("https://x.test/{url}"),
        text: words.join(" "),
        status: gone.then_some(404),
        ..PageRecord::default()
    }
}

fn workload() -> Workload {
    let query = |at: u32| {
        let text = format!("w{at} w{} w{}", at / 2, WORDS - 1 - at);
        Query::new(&format!("q{at:02}"), &text, f64::from(1 + at % 3), "")
    };
    Workload { queries: (0..WORDS).map(query).collect() }
}

fn found(root: &Path, workload: &Workload) -> StoreSufficiency {
    let open = OpenStore::open(root, "a test", 3).unwrap();
    StoreSufficiency::new(&open, workload, Bm25::default()).unwrap()
}

/// The epoch of now is that of the next commands, as when a plan is made.
fn hold_epoch(root: &Path, found: &StoreSufficiency) {
    let mut open = OpenStore::open(root, "a test", 3).unwrap();
    let epoch = found.epoch;
    open.store.commit(|manifest| manifest.epoch = epoch).unwrap();
}

fn assert_same(kept: &StoreSufficiency, anew: &StoreSufficiency, what: &str) {
    assert!(kept.parts == anew.parts, "{what}: {:?} and {:?}", kept.parts, anew.parts);
    assert_eq!(kept.missing, anew.missing, "{what}");
    assert_eq!(kept.saturation, anew.saturation, "{what}");
}

#[test]
fn what_is_kept_is_what_the_crawl_says() {
    let workload = workload();
    let mut saturated = 0;
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("store");
        let first = (0..210).map(|url| record(&mut random, url, false)).collect();
        ingest_all(&root, first, "first").unwrap();
        hold_epoch(&root, &found(&root, &workload));
        for step in 0..6_u32 {
            let url = |at: u32, random: &mut ChaCha8Rng| {
                // Pages of before, or new ones.
                if at.is_multiple_of(3) {
                    random.random_range(0..210)
                } else {
                    300 + step * 10 + at
                }
            };
            let records = (0..3_u32 + 20 * (step / 4))
                .map(|at| {
                    let url = url(at, &mut random);
                    let gone = random.random_range(0..5) == 0;
                    record(&mut random, url, gone)
                })
                .collect();
            ingest_all(&root, records, &format!("step {step}")).unwrap();
            let kept = found(&root, &workload);
            std::fs::remove_dir_all(root.join("derived/sufficiency")).unwrap();
            let anew = found(&root, &workload);
            assert_same(&kept, &anew, &format!("seed {seed}, step {step}"));
            saturated += usize::from(kept.saturation.is_some());
            hold_epoch(&root, &kept);
        }
    }
    assert!(saturated > 0, "some crawls have two windows");
}

/// Story: a hundred pages that came again with a word that nobody asks for had left their windows and entered the last
/// one, and the crawl seemed less saturated than before.
#[test]
fn pages_that_come_again_enter_no_list_by_that() {
    let (workload, dir) = (workload(), tempfile::tempdir().unwrap());
    let root = dir.path().join("store");
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let pages: Vec<PageRecord> = (0..400).map(|url| record(&mut random, url, false)).collect();
    let again = pages[..100]
        .iter()
        .map(|page| PageRecord { text: format!("{} unasked", page.text), ..page.clone() });
    let again = again.collect();
    ingest_all(&root, pages, "first").unwrap();
    let before = found(&root, &workload);
    hold_epoch(&root, &before);
    ingest_all(&root, again, "again").unwrap();
    let after = found(&root, &workload);
    let saturation = |found: &StoreSufficiency| found.whole(THETA).parts.saturation;
    let [before, after] = [&before, &after].map(saturation);
    assert!(before > 0.0 && after > before, "{before} {after}");
}

#[test]
fn coverage_never_falls_within_an_epoch() {
    let workload = workload();
    for seed in 0..4 {
        let mut random = ChaCha8Rng::seed_from_u64(100 + seed);
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("store");
        let first = (0..60).map(|url| record(&mut random, url, false)).collect();
        ingest_all(&root, first, "first").unwrap();
        let mut before = found(&root, &workload);
        hold_epoch(&root, &before);
        for step in 0..5 {
            let records = vec![record(&mut random, 100 + step, false)];
            ingest_all(&root, records, &format!("step {step}")).unwrap();
            let now = found(&root, &workload);
            assert_eq!(now.epoch, before.epoch);
            for (now, before) in now.parts.iter().zip(&before.parts) {
                assert!(now.coverage >= before.coverage && now.words >= before.words);
                assert!(now.domain_coverage >= before.domain_coverage);
            }
            before = now;
        }
    }
}

#[test]
fn how_a_workload_is_split_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    ingest_all(&root, (0..80).map(|url| record(&mut random, url, false)).collect(), "all").unwrap();
    let one = workload();
    let halves = one.queries.iter().flat_map(|query| {
        let mut words = query.words.clone();
        words.reverse();
        let half = |qid: String, text: &str| Query::new(&qid, text, query.frequency / 2.0, "");
        [
            half(format!("{}a", query.qid), &query.text),
            half(format!("{}b", query.qid), &words.join(" ")),
        ]
    });
    let split = Workload { queries: halves.collect() };
    let (one, split) = (found(&root, &one), found(&root, &split));
    assert!(one.parts == split.parts);
    assert_eq!(one.whole(THETA), split.whole(THETA));
    assert!(one.whole(THETA).parts.redundancy > 0.0, "some pages repeat others");
    let between = |value: f64| (0.0..=1.0).contains(&value);
    for parts in &one.parts {
        let all = [
            parts.coverage,
            parts.words,
            parts.consistency,
            parts.saturation,
            parts.redundancy,
            parts.domain_coverage,
        ];
        assert!(all.into_iter().all(between), "{parts:?}");
    }
}

#[test]
fn a_store_without_a_text_has_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("store");
    let link = Outlink::from(("https://y.test/", "w1"));
    let page =
        PageRecord { url: "https://x.test/".into(), outlinks: vec![link], ..PageRecord::default() };
    ingest_all(&root, vec![page], "one page").unwrap();
    let found = found(&root, &workload());
    let whole = found.whole(THETA);
    assert_eq!((whole.sufficiency, whole.confidence, whole.parts.coverage), (0.0, 0.0, 0.0));
    assert!(found.parts.iter().all(|parts| parts.words == 0.0 && parts.consistency == 0.0));
    assert!(found.missing.iter().all(|words| !words.is_empty()));
}
