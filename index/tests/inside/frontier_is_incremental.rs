//! An n-gram index that grew with the crawl answers as one built anew, and History shows nothing
//! that was not known before a page's cycle.
//!
//! Story: each ingest adds a segment with what is new; pages are fetched, replaced and lost, and
//! segments merge. A forgotten anchor loses matches silently; an anchor from a page's own cycle
//! teaches the estimators to read the future. So after every ingest both views are compared with
//! an index built from nothing and with a plain computation over the raw records. proptest prints
//! the failing crawl.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::fetch_outcome::{FailureKind, FetchOutcome};
use crate::frontier::{NgramSegments, View};
use crate::manifest::{CycleEntry, PSEUDO_CYCLES, StoredPlan};
use crate::ngram::{NgramQuery, Scratch};
use crate::page::PageRecord;
use crate::store::{Store, StoreOptions};
use crate::words::{url_text, words};
use proptest::collection::vec;
use proptest::prelude::*;

use super::support::{WORDS, current, ingest, open, page, url};

/// A URL and the query's n-grams that it holds.
type Matches = BTreeMap<String, BTreeSet<String>>;

/// One page of an ingest: number, links with anchors, and how its fetch went.
type Fetched = (usize, Vec<(usize, Vec<usize>)>, Option<u16>);

/// An ingest, whether for a plan, and whether the indexes are brought up to date after it.
type Step = (Vec<Fetched>, bool, bool);

fn step() -> impl Strategy<Value = Step> {
    let link = (0..24usize, vec(0..7usize, 0..4));
    let status = prop_oneof![12 => Just(None), 1 => Just(Some(404)), 1 => Just(Some(500))];
    let fetched = (0..24usize, vec(link, 0..5), status);
    (vec(fetched, 0..14), any::<bool>(), proptest::bool::weighted(0.7))
}

fn record((number, links, status): &Fetched) -> PageRecord {
    PageRecord { status: *status, ..page(*number, &[0], links) }
}

/// Whether a URL whose fetch failed so may give a page later.
fn is_tried_again(status: u16) -> bool {
    matches!(status, 0 | 304)
        || FetchOutcome::from(status) == FetchOutcome::Failed(FailureKind::Temporary)
}

/// What the crawl was, as plainly as it can be said.
#[derive(Default)]
struct Crawl {
    records: Vec<PageRecord>,
    /// By record: the first `fetch_seq` of its cycle.
    cycle_start: Vec<u32>,
    /// The first record of the open plan's cycle.
    plan_start: Option<u32>,
}

impl Crawl {
    fn take(&mut self, new: Vec<PageRecord>) {
        let (first, count) = (self.records.len() as u32, new.len() as u32);
        let parts = PSEUDO_CYCLES.min(count);
        for at in 0..count {
            let start = (0..parts).map(|part| count * part / parts).rfind(|&start| start <= at);
            let pseudo = first + start.unwrap_or(0);
            self.cycle_start.push(self.plan_start.unwrap_or(pseudo));
        }
        self.records.extend(new);
    }

    /// Every URL that a record named: as page, or as link of a fetch that gave a page.
    fn urls(&self) -> BTreeSet<String> {
        let links = self.records.iter().filter(|record| record.is_success());
        let targets = links.flat_map(|record| record.outlinks.iter().map(|link| link.url.clone()));
        self.records.iter().map(|record| record.url.clone()).chain(targets).collect()
    }

    /// Versions of the page of a URL, since when there is one; the last is current.
    fn versions(&self, url: &str) -> Vec<(u32, &PageRecord)> {
        let mut versions = Vec::new();
        for (seq, record) in (0..).zip(&self.records).filter(|(_, record)| record.url == url) {
            match record.status {
                None => versions.push((seq, record)),
                Some(404) => versions.clear(),
                Some(_) => {}
            }
        }
        versions
    }

    /// Anchors of links to `target` that current pages show, and showed in a version before a record and in all
    /// since.
    fn anchors(&self, target: &str, before_seq: u32) -> Vec<String> {
        let mut anchors = Vec::new();
        for from in current(&self.records).into_keys().filter(|from| *from != target) {
            let versions = self.versions(from);
            let (_, last) = versions.last().unwrap();
            for link in last.outlinks.iter().filter(|link| link.url == target) {
                let shows = |page: &PageRecord| {
                    page.outlinks.iter().any(|l| (&l.url, &l.anchor) == (&link.url, &link.anchor))
                };
                let with_it = versions.iter().rev().take_while(|(_, page)| shows(page));
                if with_it.last().unwrap().0 < before_seq {
                    anchors.push(link.anchor.clone());
                }
            }
        }
        anchors
    }

    /// The strings by which each URL of a view is known.
    fn strings(&self, view: View) -> BTreeMap<String, Vec<String>> {
        let pages = current(&self.records);
        let mut strings = BTreeMap::new();
        for url in self.urls() {
            let mut records = self.records.iter().filter(|record| record.url == url);
            let may_come = records.all(|record| record.status.is_some_and(is_tried_again));
            let anchors = match (view, pages.get(url.as_str())) {
                (View::Frontier, None) if may_come => self.anchors(&url, u32::MAX),
                (View::History, Some(_)) => {
                    let first = self.versions(&url)[0].0;
                    let anchors = self.anchors(&url, self.cycle_start[first as usize]);
                    if anchors.is_empty() {
                        continue;
                    }
                    anchors
                }
                _ => continue,
            };
            let own = url_text(&url).into_owned();
            strings.insert(url, anchors.into_iter().chain([own]).collect());
        }
        strings
    }

    fn matches(&self, view: View, query: &NgramQuery) -> Matches {
        let mut matches = Matches::new();
        for (url, strings) in self.strings(view) {
            let mut found = BTreeSet::new();
            for words in strings.iter().map(|string| words(string)) {
                let ngrams = (1..=3).flat_map(|n| words.windows(n)).map(|ngram| ngram.join(" "));
                found.extend(ngrams);
            }
            let wanted = (0..query.len()).map(|number| query.ngram(number).join(" "));
            let matched: BTreeSet<String> = wanted.filter(|ngram| found.contains(ngram)).collect();
            if !matched.is_empty() {
                matches.insert(url, matched);
            }
        }
        matches
    }
}

/// All that the index of a view says of a query: every URL with at least one of its n-grams.
fn indexed(root: &Path, view: View, query: &NgramQuery) -> Matches {
    let (store, known) = open(root);
    let (segments, _) =
        NgramSegments::open(store.storage(), store.manifest(), &known, view, 3).unwrap();
    let masked = |url| view == View::Frontier && !known.pages.in_frontier(url);
    let index = segments.index().unwrap();
    let matches = index.match_query(query, masked, &mut Scratch::default()).unwrap();
    let ngrams = |found: &crate::ngram::Match| {
        found.matched.iter().map(|number| query.ngram(number).join(" ")).collect()
    };
    matches.iter().map(|found| (known.urls.url(found.url).to_owned(), ngrams(found))).collect()
}

/// Opens or closes a plan, whose ingests are one cycle.
fn set_plan(root: &Path, crawl: &mut Crawl, planned: bool) {
    if planned == crawl.plan_start.is_some() {
        return;
    }
    let mut store =
        Store::open(root, &StoreOptions { create: true, ..StoreOptions::default() }).unwrap();
    let first_seq = store.manifest().next_seq;
    store
        .commit(|manifest| {
            let id = format!("plan {}", manifest.generation);
            if planned {
                manifest.cycles.push(CycleEntry {
                    first_seq,
                    plan: Some(id.clone()),
                    streamed: false,
                });
            }
            let plan = StoredPlan { id, first_seq, ..StoredPlan::default() };
            manifest.plans = if planned { vec![plan] } else { Vec::new() };
        })
        .unwrap();
    crawl.plan_start = planned.then_some(first_seq);
}

fn query(text: &str) -> NgramQuery {
    NgramQuery::new(&words(text), 3).needing_share(0.0).unwrap()
}

fn queries() -> impl Strategy<Value = Vec<String>> {
    let word = (0..WORDS.len()).prop_map(|word| WORDS[word]);
    vec(vec(word, 1..5).prop_map(|words| words.join(" ")), 2)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_grown_index_matches_as_one_built_anew_and_as_a_plain_scan(
        steps in vec(step(), 1..8),
        queries in queries(),
    ) {
        let (grown, anew) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut crawl = Crawl::default();
        // The first query finds every URL.
        let queries: Vec<NgramQuery> =
            std::iter::once("test").chain(queries.iter().map(String::as_str)).map(query).collect();
        for (number, (fetched, planned, asked)) in steps.iter().enumerate() {
            let new: Vec<PageRecord> = fetched.iter().map(record).collect();
            set_plan(grown.path(), &mut crawl, *planned);
            ingest(grown.path(), &new, &number.to_string());
            crawl.take(new);
            if !asked && number + 1 < steps.len() {
                continue;
            }
            copy(grown.path(), anew.path());
            let _ = std::fs::remove_dir_all(anew.path().join("derived"));
            for view in [View::Frontier, View::History] {
                for query in &queries {
                    let got = indexed(grown.path(), view, query);
                    let (words, step) = (query.words(), number);
                    prop_assert_eq!(
                        &got, &indexed(anew.path(), view, query),
                        "grown and anew: {:?} after ingest {}, {:?}", view, step, words
                    );
                    prop_assert_eq!(
                        got, crawl.matches(view, query),
                        "grown and plain: {:?} after ingest {}, {:?}", view, step, words
                    );
                }
            }
        }
    }
}

/// Copies the truth of a store.
fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to.join("segments"));
    std::fs::create_dir_all(to.join("segments")).unwrap();
    std::fs::copy(from.join("MANIFEST.json"), to.join("MANIFEST.json")).unwrap();
    let Ok(entries) = std::fs::read_dir(from.join("segments")) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join("segments").join(entry.file_name())).unwrap();
    }
}

/// How an index is brought up to date after a step.
fn rebuilt(root: &Path, view: View) -> (u64, Option<String>) {
    let (store, known) = open(root);
    let (_, refresh) =
        NgramSegments::open(store.storage(), store.manifest(), &known, view, 3).unwrap();
    (refresh.added, refresh.rebuilt)
}

#[test]
fn a_replaced_page_costs_what_it_lost_and_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let many: Vec<(usize, Vec<usize>)> = (1..20).map(|to| (to, vec![to % 7])).collect();
    ingest(dir.path(), &[page(0, &[0], &many)], "first");
    assert_eq!(rebuilt(dir.path(), View::Frontier), (19, None));
    assert_eq!(rebuilt(dir.path(), View::Frontier), (0, None));
    ingest(dir.path(), &[page(1, &[0], &[(2, vec![3]), (21, vec![4])])], "second");
    assert_eq!(rebuilt(dir.path(), View::Frontier), (2, None));
    let mut fewer = many.clone();
    fewer.retain(|(to, _)| *to != 9);
    fewer.push((22, vec![5]));
    ingest(dir.path(), &[page(0, &[0], &fewer)], "third");
    assert!(indexed(dir.path(), View::Frontier, &query("crawl")).contains_key(&url(16)));
    // One URL lost its only anchor, another is new.
    ingest(dir.path(), &[page(2, &[0], &[])], "fourth");
    let gone = indexed(dir.path(), View::Frontier, &query("crawl"));
    assert!(!gone.contains_key(&url(9)), "an anchor of the replaced version still matches");
    ingest(dir.path(), &[page(0, &[3], &many[..17])], "fifth");
    assert_eq!(rebuilt(dir.path(), View::Frontier), (4, None), "three lost, and one there again");
}

#[test]
fn history_keeps_out_an_anchor_that_came_with_the_page_s_own_cycle() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::default();
    ingest(dir.path(), &[page(0, &[0], &[(5, vec![2])])], "before");
    set_plan(dir.path(), &mut crawl, true);
    // Two ingests of one plan are one cycle.
    ingest(dir.path(), &[page(1, &[0], &[(5, vec![3]), (6, vec![3])])], "its cycle");
    ingest(dir.path(), &[page(5, &[0], &[]), page(6, &[0], &[])], "its cycle, later");
    set_plan(dir.path(), &mut crawl, false);
    ingest(dir.path(), &[page(2, &[0], &[(5, vec![4])])], "after");
    let all = BTreeSet::from(["crawl".to_owned()]);
    let found = indexed(dir.path(), View::History, &query("crawl budget é"));
    assert_eq!(found, Matches::from([(url(5), all)]));
}
