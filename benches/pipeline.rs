//! The steps of a first plan on `uci-web` below `PROSPECT_DATA`: ingest (pages/s), served lists
//! (queries/s), and a whole plan. `cargo bench --bench pipeline`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use prospect::campaign::OpenStore;
use prospect::campaign::plan::{self, Beside};
use prospect::ingest::{self, SourceItem, SourceOptions};
use prospect::plan::caps::Caps;
use prospect::planner::settings::PlanSettings;
use prospect::sketch::served::ServedLists;
use prospect::workload::{self, Workload};
use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::ingest::ingest_all;
use prospect_index::limits;
use prospect_index::page::PageRecord;

/// Records of the corpus that are ingested.
const RECORDS: usize = 4_600;

struct Data {
    records: Vec<PageRecord>,
    workload: Workload,
}

fn data() -> Option<&'static Data> {
    static DATA: OnceLock<Option<Data>> = OnceLock::new();
    DATA.get_or_init(|| {
        let root = std::env::var_os("PROSPECT_DATA")
            .map_or_else(|| "../shared/data".into(), PathBuf::from);
        let folder = root.join("uci-web");
        if !folder.join("pages.jsonl.zst").exists() {
            println!("skipped: {} is not there", folder.display());
            return None;
        }
        let paths = [folder.join("pages.jsonl.zst")];
        let mut source = ingest::open(&paths, &SourceOptions::default()).expect("corpus");
        let mut records = Vec::new();
        while records.len() < RECORDS {
            for item in source.next_batch(RECORDS - records.len()).expect("records") {
                if let SourceItem::Page { record, .. } = item {
                    records.push(record);
                }
            }
        }
        let workload = workload::load(&folder.join("queries.tsv")).expect("workload");
        Some(Data { records, workload: workload.for_planning() })
    })
    .as_ref()
}

fn open(path: &Path) -> OpenStore {
    OpenStore::open(path, "bench", limits::BOUNDS.ngram_words).expect("store")
}

/// A store of the records, with the directory that holds it.
fn ingested(data: &Data) -> (OpenStore, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("directory");
    ingest_all(directory.path(), data.records.clone(), "bench").expect("ingest");
    (open(directory.path()), directory)
}

#[divan::bench(sample_count = 5)]
fn ingest_pages(bencher: Bencher<'_, '_>) {
    let Some(data) = data() else { return };
    bencher
        .counter(ItemsCount::new(data.records.len()))
        .with_inputs(|| (tempfile::tempdir().expect("directory"), data.records.clone()))
        .bench_local_values(|(directory, records)| {
            ingest_all(directory.path(), records, "bench").expect("ingest");
            (open(directory.path()), directory)
        });
}

#[divan::bench(sample_count = 10)]
fn served_lists(bencher: Bencher<'_, '_>) {
    let Some(data) = data() else { return };
    let (store, _directory) = ingested(data);
    let queries = &data.workload.queries;
    let end = store.store.manifest().next_seq;
    let scorer =
        Scorer::new(&store.text, Bm25::default(), end, data.workload.words()).expect("scorer");
    bencher
        .counter(ItemsCount::new(queries.len()))
        .bench_local(|| ServedLists::build(&scorer, queries, 10, end, &store.known.urls));
}

#[divan::bench(sample_count = 10)]
fn plan_a_thousand(bencher: Bencher<'_, '_>) {
    let Some(data) = data() else { return };
    let (store, _directory) = ingested(data);
    let mut settings = PlanSettings::new(1_000);
    (settings.selection.caps, settings.selection.explore) = (Caps::default(), 0.0);
    // Nothing is kept of pairs and models from one plan to the next.
    bencher
        .with_inputs(|| {
            for kept in ["derived/basis", "derived/models"] {
                let _ = std::fs::remove_dir_all(store.store.storage().path(kept));
            }
        })
        .bench_local_refs(|()| {
            plan::plan(&store, &data.workload, &[], &settings, Beside::Others).map(|p| p.id)
        });
}

fn main() {
    divan::main();
}
