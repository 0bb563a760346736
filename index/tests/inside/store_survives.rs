//! A store survives what happens to disks and processes, or says which file did not.
//!
//! Story: a crawl store lives for months on a machine that fills its disk, is killed, and now and
//! then flips a bit. So an ingest is stopped at every step it takes towards the disk, and every
//! file of a store is cut, flipped and removed. Afterwards the store is the one before or the one
//! after, a derived structure answers as ever, and a file of the truth that is not what it was is
//! named: no wrong answer, no panic.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bm25::{Bm25, Scorer, Scores};
use crate::check::check;
use crate::columns::Column;
use crate::columns::{ColumnType, Schema};
use crate::error::StoreError;
use crate::fetch_outcome::NO_ANSWER;
use crate::frontier::{NgramSegments, View};
use crate::ingest::{Committed, IngestSession, prepare};
use crate::manifest::{FORMAT, SegmentKind};
use crate::ngram::{NgramQuery, Scratch};
use crate::page::{PageRecord, UrlId};
use crate::page_store::{Fetch, for_each_text};
use crate::storage::{Checksum, FaultPlan};
use crate::store::{Store, StoreOptions};
use crate::text_index::TextIndex;
use crate::visits::visits;

use super::support::{WORDS, ingest, open, page, url};

fn first_pages() -> Vec<PageRecord> {
    (0..12)
        .map(|n| page(n, &[n % 7, 2, 3], &[(n + 1, vec![2, n % 5]), (n + 20, vec![3])]))
        .collect()
}

/// Replaces pages, loses one, and adds some.
fn second_pages() -> Vec<PageRecord> {
    let mut records: Vec<PageRecord> =
        (8..16).map(|n| page(n, &[4, n % 6], &[(n + 2, vec![6]), (n + 30, vec![4, 2])])).collect();
    records.push(PageRecord { status: Some(404), ..page(3, &[], &[]) });
    records
}

/// A store with two ingests, and its derived structures.
fn sample() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    ingest(dir.path(), &first_pages(), "first");
    ingest(dir.path(), &second_pages(), "second");
    ask(dir.path());
    dir
}

/// What a store says, in all the ways it can be asked.
#[derive(Clone, Debug, PartialEq)]
struct Answers {
    ranked: Vec<Vec<(UrlId, u64)>>,
    frontier: Vec<Vec<UrlId>>,
    history: Vec<Vec<UrlId>>,
    links: usize,
}

/// Why the text index, Frontier and History were built anew, if they were.
type Rebuilt = [Option<String>; 3];

fn ask(root: &Path) -> (Answers, Rebuilt) {
    ask_with(root, &StoreOptions::default()).unwrap()
}

fn ask_with(root: &Path, options: &StoreOptions) -> Result<(Answers, Rebuilt), StoreError> {
    let store = Store::open(root, options)?;
    let known = store.known()?;
    let (storage, manifest) = (store.storage(), store.manifest());
    let (index, text) = TextIndex::open(storage, manifest, &known.pages)?;
    let scorer = Scorer::new(&index, Bm25::default(), manifest.next_seq, WORDS)?;
    let mut scores = Scores::default();
    let mut ranked = Vec::new();
    for word in WORDS {
        let query = scorer.term_ids(&["crawl".to_owned(), word.to_owned()]);
        scorer.score(&query, 0..manifest.next_seq, &mut scores)?;
        let top = scorer.top_k(&scores, 100, &known.urls);
        ranked.push(top.into_iter().map(|(url, score)| (url, score.to_bits())).collect());
    }
    let mut views = Vec::new();
    let mut rebuilt = [text.rebuilt, None, None];
    for (at, view) in [View::Frontier, View::History].into_iter().enumerate() {
        let (segments, refresh) = NgramSegments::open(storage, manifest, &known, view, 3)?;
        rebuilt[at + 1] = refresh.rebuilt;
        let index = segments.index().unwrap();
        let masked = |url| view == View::Frontier && !known.pages.in_frontier(url);
        let found = WORDS.into_iter().map(|word| {
            let query = NgramQuery::new(&["test".to_owned(), word.to_owned()], 2);
            let query = query.needing_share(0.5).unwrap();
            let matches = index.match_query(&query, masked, &mut Scratch::default()).unwrap();
            matches.into_iter().map(|found| found.url).collect()
        });
        views.push(found.collect());
    }
    let history = views.pop().unwrap_or_default();
    let frontier = views.pop().unwrap_or_default();
    let links = known.links.count();
    Ok((Answers { ranked, frontier, history, links }, rebuilt))
}

/// An ingest with everything that a command does after it.
fn ingest_and_ask(
    root: &Path,
    records: &[PageRecord],
    faults: Option<Arc<FaultPlan>>,
) -> Result<Committed, StoreError> {
    let options = StoreOptions { create: true, faults, ..StoreOptions::default() };
    let mut session = IngestSession::start(Store::open(root, &options)?)?;
    for record in records {
        session.add(prepare(record.clone()).unwrap())?;
    }
    let (store, _, how) = session.commit("the ingest")?;
    drop(store);
    ask_with(root, &options)?;
    Ok(how)
}

/// Manifest and segments, byte for byte, and whatever else lies around.
fn truth(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in all_files(root) {
        let name = path.strip_prefix(root).unwrap().to_owned();
        if name.as_os_str() != "LOCK" && !name.starts_with("derived") {
            files.insert(name, fs::read(path).unwrap());
        }
    }
    files
}

fn all_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all_files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for path in all_files(from) {
        let target = to.path().join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    }
    to
}

fn open_plainly(root: &Path) -> Result<Store, StoreError> {
    Store::open(root, &StoreOptions::default())
}

/// Stops the ingest of `records` into a copy of `base` at every step.
fn stop_at_every_step(base: &Path, records: &[PageRecord]) {
    let creating = StoreOptions { create: true, ..StoreOptions::default() };
    let before = copy(base);
    drop(Store::open(before.path(), &creating).unwrap());
    let before = truth(before.path());
    let whole = copy(base);
    assert_eq!(ingest_and_ask(whole.path(), records, None).unwrap(), Committed::Stored);
    let (after, answers) = (truth(whole.path()), ask(whole.path()).0);

    let (mut found_before, mut found_after) = (0, 0);
    for step in 0.. {
        let stopped = copy(base);
        let faults = Arc::new(FaultPlan::new(step, ErrorKind::StorageFull));
        let Err(error) = ingest_and_ask(stopped.path(), records, Some(faults)) else { break };
        assert!(step < 1_000, "the ingest does not end");
        let is_full = |source: &std::io::Error| source.kind() == ErrorKind::StorageFull;
        let told = matches!(&error, StoreError::Io { source, .. } if is_full(source));
        assert!(told, "step {step}: {error:?}");

        drop(Store::open(stopped.path(), &creating).unwrap());
        let found = truth(stopped.path());
        let is_after = found == after;
        assert!(is_after || found == before, "step {step}: {:?}", found.keys());
        found_before += usize::from(!is_after);
        found_after += usize::from(is_after);

        let again = ingest_and_ask(stopped.path(), records, None).unwrap();
        let expected = if is_after { Committed::Unchanged } else { Committed::Stored };
        assert_eq!(again, expected, "step {step}");
        assert_eq!(truth(stopped.path()), after, "step {step}");
        assert_eq!(ask(stopped.path()), (answers.clone(), Rebuilt::default()), "step {step}");
        assert!(check(stopped.path(), true, &[]).unwrap().damage.is_empty(), "step {step}");
    }
    assert!(found_before > 10 && found_after > 10, "{found_before} before, {found_after} after");
}

#[test]
fn a_full_disk_at_any_step_of_a_first_ingest_leaves_nothing_or_all_of_it() {
    stop_at_every_step(tempfile::tempdir().unwrap().path(), &first_pages());
}

#[test]
fn a_full_disk_at_any_step_of_a_later_ingest_leaves_the_store_before_or_after_it() {
    let base = tempfile::tempdir().unwrap();
    ingest(base.path(), &first_pages(), "first");
    ask(base.path());
    stop_at_every_step(base.path(), &second_pages());
}

#[test]
fn after_a_failed_write_a_handle_writes_no_more() {
    let base = sample();
    let (before, mut failed) = (truth(base.path()), 0);
    for step in 0..20 {
        let faults = Some(Arc::new(FaultPlan::new(step, ErrorKind::Other)));
        let options = StoreOptions { faults, ..StoreOptions::default() };
        let mut store = Store::open(base.path(), &options).unwrap();
        let known_generation = store.manifest().generation;
        if store.commit(|_| {}).is_ok() {
            break;
        }
        failed += 1;
        assert_eq!(store.manifest().generation, known_generation);
        let error = store.commit(|_| {}).unwrap_err();
        assert!(matches!(error, StoreError::Poisoned { .. }), "step {step}: {error:?}");
        drop(store);
        let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        drop(open_plainly(base.path()).unwrap());
        assert_eq!(names(&truth(base.path())), names(&before), "step {step}");
    }
    assert!(failed > 3);
}

#[test]
fn what_a_killed_process_leaves_behind_is_removed_at_the_next_opening() {
    let dir = sample();
    let before = truth(dir.path());
    for name in
        ["segments/pages-000009.parquet", "segments/urls-000004.parquet.tmp", "MANIFEST.json.tmp"]
    {
        fs::write(dir.path().join(name), "half a").unwrap();
    }
    drop(open_plainly(dir.path()).unwrap());
    assert_eq!(truth(dir.path()), before);
}

#[test]
fn the_same_inputs_again_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    ingest_and_ask(dir.path(), &first_pages(), None).unwrap();
    let (before, answers) = (truth(dir.path()), ask(dir.path()));
    let again = ingest_and_ask(dir.path(), &first_pages(), None).unwrap();
    assert_eq!(again, Committed::Unchanged);
    assert_eq!(truth(dir.path()), before);
    assert_eq!(ask(dir.path()), answers);
    let options = StoreOptions::default();
    let session = IngestSession::start(Store::open(dir.path(), &options).unwrap()).unwrap();
    let (_, _, how) = session.commit("of nothing").unwrap();
    assert_eq!(how, Committed::Empty);
    assert_eq!(truth(dir.path()), before);
}

#[test]
fn a_url_that_is_ingested_again_keeps_its_id_and_gets_a_new_text_and_new_links() {
    let dir = tempfile::tempdir().unwrap();
    ingest(dir.path(), &[page(0, &[2], &[(1, vec![2])]), page(2, &[3], &[(1, vec![4])])], "first");
    let id = |root: &Path, number| open(root).1.urls.get(&url(number)).unwrap();
    let (page_id, target) = (id(dir.path(), 0), id(dir.path(), 1));
    let counts = ingest(dir.path(), &[page(0, &[6], &[(3, vec![5])])], "second");
    assert_eq!((counts.pages, counts.replaced, counts.new_urls), (1, 1, 1));

    assert_eq!(id(dir.path(), 0), page_id);
    let (store, known) = open(dir.path());
    assert_eq!(known.pages.fetch(page_id), Fetch::Page { seq: 2 });
    assert_eq!((known.pages.len(), known.pages.records()), (2, 3));
    let anchors: Vec<&str> = known
        .links
        .incoming(target, u32::MAX)
        .map(|link| known.links.anchor(link.anchor))
        .collect();
    assert_eq!(anchors, ["é"], "the link of the replaced version is gone");
    let mut texts = Vec::new();
    for_each_text(store.storage(), store.manifest(), 0, |pages| {
        texts.extend(pages.into_iter().map(|page| (page.url, page.text)));
        Ok(())
    })
    .unwrap();
    let versions: Vec<&str> =
        texts.iter().filter(|(url, _)| *url == page_id).map(|(_, text)| text.as_str()).collect();
    assert_eq!(versions, ["crawl", "tail"], "the replaced version stays readable");
}

/// Some crawlers write status 0 for a fetch without an answer.
#[test]
fn a_fetch_without_an_answer_is_a_failed_fetch_and_no_page() {
    let dir = tempfile::tempdir().unwrap();
    let unanswered = PageRecord { status: Some(0), ..page(0, &[2], &[(1, vec![2])]) };
    let counts = ingest(dir.path(), &[unanswered], "first");
    assert_eq!((counts.pages, counts.failed), (0, 1));
    let (_, known) = open(dir.path());
    assert_eq!(known.pages.fetch(UrlId(0)), Fetch::Failed { seq: 0, status: NO_ANSWER });
    assert_eq!(known.pages.len(), 0);
}

/// A damaged file, and how it came to be.
const WAYS: [&str; 5] =
    ["first bit flipped", "middle bit flipped", "last bit flipped", "cut", "removed"];

fn damage(path: &Path, way: &str) {
    let mut bytes = fs::read(path).unwrap();
    let last = bytes.len() - 1;
    match way {
        "first bit flipped" => bytes[0] ^= 1,
        "middle bit flipped" => bytes[last / 2] ^= 0x10,
        "last bit flipped" => bytes[last] ^= 0x80,
        "cut" => bytes.truncate(last),
        _ => return fs::remove_file(path).unwrap(),
    }
    fs::write(path, bytes).unwrap();
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn assert_damaged<T>(result: Result<T, StoreError>, path: &Path, case: &str) {
    let error = result.err().unwrap_or_else(|| panic!("{case}: nothing was noticed"));
    let StoreError::Damaged { path: named, .. } = &error else { panic!("{case}: {error:?}") };
    assert_eq!(named.file_name(), path.file_name(), "{case}: {error}");
}

const NOTES: Schema =
    Schema { name: "outcomes", version: 1, columns: &[("id", ColumnType::U32)], later: &[] };

/// A store with a table besides pages, and the files of its truth.
fn sample_with_outcomes() -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = sample();
    let mut store = open_plainly(dir.path()).unwrap();
    let rows = [Column::U32((0..50).collect())];
    let segment = store.write_segment(SegmentKind::Outcomes, NOTES, [&rows]).unwrap();
    store.commit(|manifest| manifest.segments.push(segment)).unwrap();
    drop(store);
    let segments = all_files(&dir.path().join("segments"));
    assert_eq!(segments.len(), 11);
    (dir, segments)
}

#[test]
fn a_damaged_segment_is_named_by_whoever_reads_it_first() {
    let (dir, segments) = sample_with_outcomes();
    for path in &segments {
        let whole = fs::read(path).unwrap();
        let name = file_name(path);
        for way in WAYS {
            let case = format!("{name}, {way}");
            damage(path, way);
            if !way.contains("flipped") {
                assert_damaged(open_plainly(dir.path()), path, &case);
                fs::write(path, &whole).unwrap();
                continue;
            }
            let store = open_plainly(dir.path()).unwrap();
            if name.starts_with("outcomes") {
                let read = |segment| store.read_segment(segment, NOTES, &NOTES.names(), |_| Ok(()));
                let mut segments = store.manifest().segments_of(SegmentKind::Outcomes);
                assert_damaged(segments.try_for_each(read), path, &case);
            } else if name.starts_with("digests") {
                let known = store.known().unwrap();
                assert_damaged(visits(&store, &known), path, &case);
            } else if name.starts_with("around") {
                let known = store.known().unwrap();
                assert_damaged(store.link_context(&known, None), path, &case);
            } else {
                assert_damaged(store.known(), path, &case);
            }
            if ["urls", "pages", "digests"].iter().any(|read| name.starts_with(read)) {
                assert_damaged(IngestSession::start(store).map(drop), path, &case);
            }
            fs::write(path, &whole).unwrap();
        }
        fs::write(path, [&whole[..], b"x"].concat()).unwrap();
        assert_damaged(open_plainly(dir.path()), path, &format!("{name}, lengthened"));
        fs::write(path, &whole).unwrap();
    }
    let (_, rebuilt) = ask(dir.path());
    assert_eq!(rebuilt, Rebuilt::default(), "nothing above touched what was whole");
}

#[test]
fn a_manifest_with_any_byte_flipped_or_cut_anywhere_is_damaged() {
    let dir = sample();
    let path = dir.path().join("MANIFEST.json");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        for (bytes, way) in [(&flipped[..], "flipped"), (&whole[..at], "cut")] {
            fs::write(&path, bytes).unwrap();
            assert_damaged(open_plainly(dir.path()), &path, &format!("{way} at {at}"));
        }
    }
    assert_damaged(check(dir.path(), true, &[]), &path, "cut");
    fs::remove_file(&path).unwrap();
    assert!(matches!(open_plainly(dir.path()), Err(StoreError::NotAStore { .. })));
}

#[test]
fn check_lists_every_damaged_file_and_no_other() {
    let (dir, segments) = sample_with_outcomes();
    let whole = check(dir.path(), true, &[]).unwrap();
    assert_eq!((whole.files, whole.pages, whole.generation), (11, Some(15), 4));
    assert_eq!((whole.damage.len(), whole.to_rebuild.len()), (0, 0), "{whole:?}");
    for path in &segments {
        let bytes = fs::read(path).unwrap();
        for way in WAYS {
            damage(path, way);
            let damaged = check(dir.path(), true, &[]).unwrap().damage;
            assert_eq!(damaged.len(), 1, "{way}: {damaged:?}");
            assert!(damaged[0].contains(&file_name(path)), "{way}: {damaged:?}");
            let at_a_glance = check(dir.path(), false, &[]).unwrap().damage.len();
            assert_eq!(at_a_glance, usize::from(!way.contains("flipped")), "{way}");
            fs::write(path, &bytes).unwrap();
        }
    }
    for path in &segments {
        damage(path, "cut");
    }
    assert_eq!(check(dir.path(), true, &[]).unwrap().damage.len(), segments.len());
}

/// The three derived structures, in the order of [`Rebuilt`].
const STRUCTURES: [&str; 3] = ["text", "frontier", "history"];

/// The files that the state of a derived structure vouches for, the state itself last.
fn derived_files(root: &Path, structure: &str) -> Vec<PathBuf> {
    let mut files = all_files(&root.join("derived").join(structure));
    files.retain(|path| path.extension().is_none_or(|extension| extension != "lock"));
    files.sort_by_key(|path| file_name(path) == "STATE.json");
    files
}

#[test]
fn a_damaged_derived_file_is_listed_and_rebuilt_and_the_answers_stay() {
    let base = sample();
    let answers = ask(base.path()).0;
    for (at, structure) in STRUCTURES.into_iter().enumerate() {
        let files = derived_files(base.path(), structure);
        assert!(files.len() > 5, "{files:?}");
        for path in files {
            for way in WAYS {
                let dir = copy(base.path());
                let path = dir.path().join(path.strip_prefix(base.path()).unwrap());
                let case = format!("{structure}/{}, {way}", file_name(&path));
                damage(&path, way);
                let forgotten = file_name(&path) == "STATE.json" && way == "removed";
                let listed = check(dir.path(), true, &[]).unwrap();
                assert_eq!(listed.damage.len(), 0, "{case}");
                assert_eq!(listed.to_rebuild.len(), 1, "{case}");

                let (found, rebuilt) = ask(dir.path());
                assert_eq!(found, answers, "{case}");
                for (other, why) in rebuilt.iter().enumerate() {
                    let expected = other == at && !forgotten;
                    assert_eq!(why.is_some(), expected, "{case}: {rebuilt:?}");
                }
                if let (Some(why), true) = (&rebuilt[at], file_name(&path) != "STATE.json") {
                    assert!(why.contains(&file_name(&path)), "{case}: {why}");
                    assert!(listed.to_rebuild[0].contains(&file_name(&path)), "{case}");
                }
                assert_eq!(ask(dir.path()), (answers.clone(), Rebuilt::default()), "{case}");
            }
        }
    }
}

#[test]
fn derived_structures_of_another_store_are_not_believed() {
    let (base, other) = (sample(), tempfile::tempdir().unwrap());
    ingest(other.path(), &second_pages(), "first");
    ingest(other.path(), &first_pages(), "second");
    ask(other.path());
    let answers = ask(base.path()).0;
    fs::remove_dir_all(base.path().join("derived")).unwrap();
    fs::rename(other.path().join("derived"), base.path().join("derived")).unwrap();
    let (found, rebuilt) = ask(base.path());
    assert_eq!(found, answers);
    assert!(rebuilt.iter().all(|why| why.as_deref() == Some("it was built from other pages")));
}

#[test]
fn a_store_of_a_newer_format_is_left_alone() {
    let dir = sample();
    let body = format!(r#"{{"format":{},"unheard":"of"}}"#, FORMAT + 1);
    let sealed = format!(r#"{{"manifest":{body},"checksum":"{}"}}"#, Checksum::of(body.as_bytes()));
    fs::write(dir.path().join("MANIFEST.json"), sealed).unwrap();
    let before = truth(dir.path());
    let creating = StoreOptions { create: true, ..StoreOptions::default() };
    let error = Store::open(dir.path(), &creating).unwrap_err();
    let newer = FORMAT + 1;
    assert!(matches!(error, StoreError::NewerFormat { found, .. } if found == newer), "{error:?}");
    assert_eq!(truth(dir.path()), before);
}

#[test]
fn a_store_in_use_is_refused_and_says_by_whom() {
    let dir = sample();
    let holder = "prospect plan".to_owned();
    let store = Store::open(dir.path(), &StoreOptions { holder, ..StoreOptions::default() });
    let error = open_plainly(dir.path()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(text.contains("prospect plan") && text.contains(&std::process::id().to_string()));
    let report = check(dir.path(), true, &[]).unwrap();
    assert!(report.damage.is_empty() && report.urls > 0, "{report:?}");
    assert!(report.in_use_by.is_some_and(|holder| holder.contains("prospect plan")));
    drop(store);
    assert!(open_plainly(dir.path()).is_ok());
}

#[test]
fn a_place_that_is_no_store_is_refused_and_left_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let creating = StoreOptions { create: true, ..StoreOptions::default() };
    let absent = dir.path().join("absent");
    assert!(matches!(open_plainly(&absent), Err(StoreError::Missing { .. })));
    assert!(!absent.exists());
    let file = dir.path().join("thesis.tex");
    fs::write(&file, "x").unwrap();
    for place in [&file, &dir.path().to_owned()] {
        let error = Store::open(place, &creating).unwrap_err();
        assert!(matches!(error, StoreError::NotAStore { .. }), "{error:?}");
    }
    assert_eq!(all_files(dir.path()), [file]);
}
