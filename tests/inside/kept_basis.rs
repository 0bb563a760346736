//! A scored pairs and models that a command left in the store give the plan that is made without them, bit by
//! bit; whatever they depend on makes them anew, and so does damage.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::synthetic::Shape;
use crate::campaign::OpenStore;
use crate::campaign::close::{self, Which};
use crate::campaign::history;
use crate::campaign::kept_planner::KeptPlanner;
use crate::campaign::plan::{self, Beside, GoingOn};
use crate::campaign::planned::{Plan, Recomputed};
use crate::campaign::tables::SCHEMAS;
use crate::estimate::objective::Objective;
use crate::estimate::parts::Part;
use crate::estimate::predict_entry::predict_entry;
use crate::estimate::settings::{ImpactReading, Importance};
use crate::planner::settings::PlanSettings;
use crate::sketch::need::Needy;
use crate::workload::Workload;
use prospect_index::check::check;
use prospect_index::compaction::Extent;
use prospect_index::derived::{Derived, Found};
use prospect_index::ingest::{ingest_all, prepare};
use prospect_index::limits;
use prospect_index::page::{Outlink, PageRecord, UrlId};
use prospect_index::seeds::{Seed, SeedSession};
use prospect_index::store::{Store, StoreOptions};

const SHAPE: Shape =
    Shape { pages: 2_000, links_per_page: 12, hosts: 60, vocabulary: 300, text_words: 40 };
const BUDGET: usize = 40;
const KEPT: [&str; 2] = ["basis", "models"];

/// Pages from which on all link to a URL that nobody fetches: so many links to it are looked at that those of later pages
/// change nothing, at once, or after a few of them.
const LINK_TO_HUBS: [u32; 3] = [0, 60, 305];

/// A page, with its links to hubs.
fn page(page: u32) -> PageRecord {
    let mut record = SHAPE.record(page);
    for (hub, from) in LINK_TO_HUBS.into_iter().enumerate() {
        if page >= from {
            let anchor = SHAPE.topics(page).join(" ");
            let url = format!("https://www.hub{hub}.test/");
            record.outlinks.push(Outlink::from((url, anchor)));
        }
    }
    record
}

fn open(path: &Path) -> OpenStore {
    OpenStore::open(path, "test", limits::BOUNDS.ngram_words).unwrap()
}

fn plan(path: &Path, workload: &Workload, settings: &PlanSettings) -> Plan {
    plan::plan(&open(path), workload, &[], settings, Beside::Others).unwrap()
}

/// The plan without anything kept, which is not kept either.
fn anew(path: &Path, workload: &Workload, settings: &PlanSettings) -> Plan {
    let aside = |name: &str| path.join(format!("aside-{name}"));
    let kept = |name: &str| path.join("derived").join(name);
    for name in KEPT {
        fs::rename(kept(name), aside(name)).unwrap();
    }
    let plan = plan(path, workload, settings);
    for name in KEPT {
        fs::remove_dir_all(kept(name)).unwrap();
        fs::rename(aside(name), kept(name)).unwrap();
    }
    assert_eq!(plan.refreshed.recomputed, Recomputed::All);
    plan
}

/// All of a plan, as bits.
fn bits(plan: &Plan) -> Vec<u64> {
    let batch = &plan.choice.batch;
    let mut bits: Vec<u64> = Vec::new();
    for url in batch.ranking.iter().chain(batch.picks.iter().map(|pick| &pick.estimate)) {
        bits.push(u64::from(url.url.0));
        bits.extend(
            url.parts
                .iter()
                .map(|(_, part)| part)
                .chain([url.estimate, url.reliability])
                .map(f64::to_bits),
        );
    }
    for pair in plan.scored.pairs() {
        bits.extend([u64::from(pair.url.0), u64::from(pair.query.0), u64::from(pair.bin)]);
        bits.extend([pair.chance, pair.expected_score].map(f64::to_bits));
    }
    let picks: Vec<UrlId> = batch.picks.iter().map(|pick| pick.estimate.url).collect();
    for found in predict_entry(&plan.scored, &plan.served, &picks).concat() {
        bits.extend([found.chance, found.margin].map(f64::to_bits));
    }
    bits
}

fn settings() -> Vec<(&'static str, PlanSettings)> {
    let with = |name, change: fn(&mut PlanSettings)| {
        let mut settings = PlanSettings::new(BUDGET);
        change(&mut settings);
        (name, settings)
    };
    vec![
        with("defaults", |_| ()),
        with("PageRank", |settings| settings.estimate.importance = Importance::PageRank),
        with("served", |settings| settings.estimate.objective = Objective::Served),
        with("needy", |settings| settings.needy = Some(Needy::Share(0.3))),
        with("undefended", |settings| settings.estimate.defended = false),
        with("few candidates", |settings| settings.estimate.candidates = 5),
    ]
}

#[test]
fn plans_from_what_is_kept_are_those_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let workload = SHAPE.queries(100);
    ingest_all(path, (0..400).map(|page| SHAPE.record(page)).collect(), "first").unwrap();
    for (name, settings) in settings() {
        let first = plan(path, &workload, &settings);
        assert_ne!(first.refreshed.recomputed, Recomputed::Nothing, "{name}");
        assert!(first.scored.training_pairs() > 0, "{name}");
        let second = plan(path, &workload, &settings);
        assert_eq!(second.refreshed.recomputed, Recomputed::Nothing, "{name}");
        assert!(bits(&first) == bits(&second), "{name}");
        let mut blended = settings.clone();
        blended.estimate.weights[Part::Query] = 0.1;
        blended.selection.budget = 2 * BUDGET;
        blended.selection.caps.per_host = Some(3);
        let kept = plan(path, &workload, &blended);
        assert_eq!(kept.refreshed.recomputed, Recomputed::Nothing, "{name}");
        assert!(bits(&kept) == bits(&anew(path, &workload, &blended)), "{name}");
        assert!(bits(&kept) != bits(&second), "{name}");
    }
}

/// Cycles of one epoch, with pages that are fetched again and pages that are gone.
#[test]
fn models_of_the_epoch_serve_its_later_cycles() {
    for (name, settings) in settings() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let workload = SHAPE.queries(100);
        ingest_all(path, (0..400).map(page).collect(), "first").unwrap();
        for cycle in 0..3 {
            let mut store = open(path);
            let next = plan::plan(&store, &workload, &[], &settings, Beside::Others).unwrap();
            plan::commit(&mut store, &next.record(), &settings, None).unwrap();
            drop(store);
            let planned = anew(path, &workload, &settings);
            assert!(bits(&next) == bits(&planned), "{name}, cycle {cycle}");
            // A page of the epoch changed in the first cycle; another was fetched again and had not.
            let expected = match cycle {
                0 | 1 => Recomputed::All,
                _ if settings.needy.is_none() => Recomputed::Changes,
                _ => Recomputed::Pairs,
            };
            assert_eq!(next.refreshed.recomputed, expected, "{name}, cycle {cycle}");
            let start = 400 + cycle * 10;
            let mut records: Vec<_> = (start..start + 10).map(page).collect();
            match cycle {
                0 => {
                    let changed = page(7);
                    let text = format!("{} news", changed.text);
                    records.extend([PageRecord { text, ..changed }, page(8)]);
                }
                _ => records[0].status = Some(404),
            }
            ingest_all(path, records, &format!("cycle {cycle}")).unwrap();
            close::close_plans(&mut open(path), Which::All, None).unwrap();
        }
    }
}

/// The file with the rows of pairs that a store has.
fn rows_of(path: &Path) -> String {
    let files = fs::read_dir(path.join("derived/basis")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("basis")).collect();
    names.retain(|name| name != "STATE.json");
    assert_eq!(names.len(), 1, "no run, and no file of an earlier plan: {names:?}");
    names.remove(0)
}

#[test]
fn rows_of_pairs_stay_in_their_file_until_many_have_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (workload, settings) = (SHAPE.queries(100), PlanSettings::new(BUDGET));
    ingest_all(path, (0..400).map(page).collect(), "first").unwrap();
    let mut store = open(path);
    let first = plan::plan(&store, &workload, &[], &settings, Beside::Others).unwrap();
    plan::commit(&mut store, &first.record(), &settings, None).unwrap();
    drop((store, first));
    let (mut file, mut stayed, mut settled) = (rows_of(path), 0, 0);
    for cycle in 0..12 {
        let start = 400 + cycle * 3;
        ingest_all(path, (start..start + 3).map(page).collect(), &format!("cycle {cycle}"))
            .unwrap();
        let next = plan(path, &workload, &settings);
        assert_eq!(next.refreshed.recomputed, Recomputed::Changes, "cycle {cycle}");
        let expected = anew(path, &workload, &settings);
        assert!(bits(&next) == bits(&expected), "cycle {cycle}");
        let again = plan(path, &workload, &settings);
        assert_eq!(again.refreshed.recomputed, Recomputed::Nothing, "cycle {cycle}");
        assert!(bits(&again) == bits(&expected), "cycle {cycle}");
        let found = rows_of(path);
        *(if found == file { &mut stayed } else { &mut settled }) += 1;
        file = found;
    }
    assert!(stayed > 0 && settled > 0, "{stayed} and {settled}");
    // What a plan that was killed has left is gone with the next that makes all pairs.
    fs::write(path.join("derived/basis/run-7.tmp"), "rest").unwrap();
    fs::remove_file(path.join("derived/basis/STATE.json")).unwrap();
    plan(path, &workload, &settings);
    rows_of(path);
}

/// Records of a round: URLs that were asked for come as pages, fail for now or for good, or lead to another; pages of
/// earlier rounds come again, changed or not, or are gone, or have moved.
fn reports(asked: &[String], round: usize) -> Vec<PageRecord> {
    let page_of: HashMap<String, u32> =
        (0..SHAPE.pages).map(|page| (SHAPE.url(page), page)).collect();
    let mut records = Vec::new();
    for (at, url) in asked.iter().enumerate() {
        let Some(&number) = page_of.get(url) else {
            records.push(PageRecord { url: url.clone(), status: Some(503), ..Default::default() });
            continue;
        };
        let mut record = page(number);
        match (at + round) % 11 {
            3 => (record.text, record.outlinks, record.status) = Default::default(),
            5 => record.status = Some(404),
            7 => record.status = Some(503),
            9 => {
                record = page(SHAPE.pages - 1 - number);
                record.requested_url = Some(url.clone());
            }
            _ => (),
        }
        records.push(record);
    }
    match round {
        4 => {
            let changed = page(7);
            let text = format!("{} news", changed.text);
            records.extend([PageRecord { text, ..changed }, page(8)]);
        }
        7 => records.push(PageRecord { status: Some(410), ..page(9) }),
        8 => {
            let moved = page(10);
            let (url, requested_url) = (format!("{}/here", moved.url), Some(moved.url.clone()));
            records.push(PageRecord { url, requested_url, ..moved });
        }
        _ => (),
    }
    records
}

#[test]
fn a_planner_that_goes_on_plans_and_closes_as_one_that_opens_the_store_anew() {
    for (name, mut settings) in settings() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let workload = SHAPE.queries(60);
        name_seeds(path, 300..700);
        ingest_all(path, (0..150).map(page).collect(), "first").unwrap();
        let (mut store, mut kept) = (open(path), KeptPlanner::default());
        let (mut pending, mut went_on) = (VecDeque::new(), 0);
        for round in 0..14 {
            settings.selection.budget = BUDGET - pending.len();
            let anew = Store::snapshot(path, "test").unwrap();
            let anew = OpenStore::of(anew, limits::BOUNDS.ngram_words).unwrap();
            let expected = plan::plan(&anew, &workload, &[], &settings, Beside::All).unwrap();
            let mut plan_on = |whole_ranking| {
                let going_on = Some(GoingOn { kept: &mut kept, whole_ranking });
                plan::plan_on(&store, &workload, &[], &settings, Beside::All, going_on).unwrap()
            };
            let picked = plan_on(false).choice.batch.picks;
            let found = plan_on(true);
            assert_eq!(found.id, expected.id, "{name}, round {round}");
            assert_eq!(picked, found.choice.batch.picks, "whoever looks at the ranking");
            assert!(bits(&found) == bits(&expected), "{name}, round {round}");
            went_on += u32::from(store.ngrams().is_none());
            plan::commit(&mut store, &found.record(), &settings, None).unwrap();
            kept.made(&found);
            let picks = found.choice.batch.picks.iter();
            pending
                .extend(picks.map(|pick| store.known.urls.spelling(pick.estimate.url).to_owned()));
            let asked: Vec<String> = pending.drain(..pending.len().min(12)).collect();
            let pages = reports(&asked, round).into_iter().map(|page| prepare(page).unwrap());
            store = store.after_ingest(pages.collect(), &format!("round {round}")).unwrap().0;
            let copy = tempfile::tempdir().unwrap();
            copy_of(path, copy.path());
            let expected = close::close_plans(&mut open(copy.path()), Which::Over, None).unwrap();
            let found = close::close_plans(&mut store, Which::Over, Some(&mut kept)).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name}, round {round}");
            if matches!(round, 5 | 9 | 12) {
                let extent = if round == 9 { Extent::InPassing(0) } else { Extent::All };
                assert_compacts(&mut store, &workload, &settings, extent);
            }
        }
        assert_eq!(went_on > 3, settings.needy.is_none(), "{name}: {went_on}");
        drop(store);
        assert_eq!(check(path, true, &SCHEMAS).unwrap().damage, [""; 0]);
    }
}

/// Merging the files of a store changes nothing of what is told of it, nor the next plan.
#[track_caller]
fn assert_compacts(
    store: &mut OpenStore,
    workload: &Workload,
    settings: &PlanSettings,
    extent: Extent,
) {
    let path = store.store.storage().path("");
    let told = || {
        let anew = Store::snapshot(&path, "test").unwrap();
        let anew = OpenStore::of(anew, limits::BOUNDS.ngram_words).unwrap();
        let plan = plan::plan(&anew, workload, &[], settings, Beside::All).unwrap();
        let cycles = history::closed_cycles(&anew.store, &anew.known.pages, settings.places());
        let manifest = anew.store.manifest();
        let lineages: Vec<String> =
            [manifest.epoch.end_seq, manifest.next_seq].map(|end| manifest.lineage(end)).into();
        let cycles = serde_json::to_string(&cycles.unwrap()).unwrap();
        (plan.id.clone(), bits(&plan), cycles, lineages)
    };
    let before = told();
    let [was, is] = store.store.compact(&SCHEMAS, extent).unwrap();
    assert!(is.0 < was.0 || extent == Extent::InPassing(0), "{was:?} {is:?}");
    let after = told();
    assert_eq!(after.0, before.0, "{extent:?}");
    assert_eq!((&after.2, &after.3), (&before.2, &before.3), "{extent:?}");
    assert!(after.1 == before.1, "{extent:?}");
    // What was derived before is that of the store still.
    for name in store.store.storage().list("derived").unwrap() {
        let derived = Derived::new(store.store.storage(), store.store.manifest(), &name, 0);
        assert!(!matches!(derived.find::<serde_json::Value>(), Found::Damaged(_)), "{name}");
    }
}

/// URLs that are known without a link.
fn name_seeds(path: &Path, pages: Range<u32>) {
    let store = Store::open(path, &StoreOptions { create: true, ..StoreOptions::default() });
    let mut session = SeedSession::start(store.unwrap()).unwrap();
    let seed = || Seed { source: "list".into(), priority: f64::NAN, ..Seed::default() };
    for page in pages {
        session.add(&SHAPE.url(page), seed()).unwrap().unwrap();
    }
    session.commit().unwrap();
}

/// Copies a folder with what is in it.
fn copy_of(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            fs::create_dir(&to).unwrap();
            copy_of(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn another_workload_or_damage_makes_all_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let settings = PlanSettings::new(BUDGET);
    let mut workload = SHAPE.queries(100);
    ingest_all(path, (0..400).map(|page| SHAPE.record(page)).collect(), "first").unwrap();
    plan(path, &workload, &settings);
    workload.queries[0].frequency += 1.0;
    let other = plan(path, &workload, &settings);
    assert_eq!(other.refreshed.recomputed, Recomputed::All);
    // Its rows are mapped, and would be damaged with the file.
    let expected = bits(&other);
    drop(other);
    assert!(expected == bits(&anew(path, &workload, &settings)));
    let kept = |name: &str, prefix: &str| {
        let files = fs::read_dir(path.join("derived").join(name)).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        let is_it =
            |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(prefix);
        paths.find(is_it).unwrap()
    };
    for (name, prefix, recomputed) in [
        ("basis", "basis", Recomputed::Pairs),
        ("basis", "rows", Recomputed::Pairs),
        ("models", "models", Recomputed::All),
    ] {
        let file = kept(name, prefix);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&file, bytes).unwrap();
        let again = plan(path, &workload, &settings);
        assert_eq!(again.refreshed.recomputed, recomputed, "{prefix}");
        assert!(bits(&again) == expected, "{prefix}");
    }
}

#[test]
fn a_score_tree_is_made_with_every_basis() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let workload = SHAPE.queries(100);
    ingest_all(path, (0..400).map(|page| SHAPE.record(page)).collect(), "first").unwrap();
    let mut settings = PlanSettings::new(BUDGET);
    settings.estimate.reading = ImpactReading::Sketch;
    let first = plan(path, &workload, &settings);
    let second = plan(path, &workload, &settings);
    assert_eq!(
        (first.refreshed.recomputed, second.refreshed.recomputed),
        (Recomputed::All, Recomputed::Nothing)
    );
    assert!(bits(&first) == bits(&second));
    settings.needy = Some(Needy::Share(0.3));
    let needy = plan(path, &workload, &settings);
    assert_eq!(needy.refreshed.recomputed, Recomputed::All);
}
