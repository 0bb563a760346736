//! Small files of a store are merged, and nobody notices but by their number.
//!
//! Story: a crawl of many small cycles. Somebody wonders about the thousands of files, and merges them between two cycles;
//! beside a crawler, and where commands follow each other for long, that happens by itself.

mod common;

use std::fs;
use std::path::Path;

use common::{Bench, assert_sound, done, lines, page, page_at, text, urls};
use serde_json::Value;

fn told(store: &Path, command: &[&str]) -> Value {
    let arguments = [command, &["--store", text(store), "--json"]].concat();
    serde_json::from_str(&done(&arguments).stdout).unwrap()
}

/// Plans two URLs, and reports both.
fn cycle(bench: &Bench, store: &Path) {
    let planned = urls(&done(&bench.plan_arguments(store, &["--budget", "2"])).stdout);
    let pages = planned.iter().map(|url| page(page_at(url)));
    let file = bench.write("came.jsonl", lines(pages));
    done(&["ingest", "--store", text(store), &file]);
}

fn segments(store: &Path) -> usize {
    fs::read_dir(store.join("segments")).unwrap().count()
}

#[test]
fn a_store_tells_the_same_when_its_files_are_merged_and_the_next_plan_is_the_same() {
    let bench = Bench::with_store();
    let store = bench.store();
    (0..6).for_each(|_| cycle(&bench, &store));
    let aside = bench.copy_of_store("aside");
    let before = (told(&store, &["status"]), told(&store, &["log"]), segments(&store));
    let merged = told(&store, &["compact"]);
    assert_eq!(merged["files_before"], before.2);
    assert_eq!(merged["files"], segments(&store));
    assert!(3 * segments(&store) < before.2, "{merged}");
    assert_eq!((told(&store, &["status"]), told(&store, &["log"])), (before.0, before.1));
    assert_sound(&store);
    let again = done(&["compact", "--store", text(&store)]);
    assert!(again.stderr.contains("none of which can be merged with another"), "{}", again.stderr);

    let plan = |store: &Path| done(&bench.plan_arguments(store, &["--budget", "9"])).stdout;
    assert_eq!(plan(&store), plan(&aside));
    // Files of what is open stay as they are until it is closed.
    let open = fs::read_dir(store.join("segments")).unwrap();
    let open = open
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("plans-"));
    assert_eq!(
        (open.count(), told(&store, &["compact"])["files"].as_u64()),
        (2, Some(segments(&store) as u64))
    );
    cycle(&bench, &aside);
}

#[test]
fn where_there_are_many_an_ingest_merges_some_in_passing() {
    let bench = Bench::with_store();
    let store = bench.store();
    let mut most = 0;
    for _ in 0..60 {
        cycle(&bench, &store);
        most = most.max(segments(&store));
    }
    assert!(most > 500 && segments(&store) < 400, "{most}, then {}", segments(&store));
    assert_eq!(told(&store, &["status"])["cycles_closed"], 60);
    assert_sound(&store);
}
