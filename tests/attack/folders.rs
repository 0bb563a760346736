//! Derived folders that change places: each says what it is and whose, and is made again where that does not fit.
//!
//! Story: the frontier index was copied over the text index. The store answered with statistics of no page, the plan
//! had another batch under the same id, and `check --full` called it sound.

use std::fs;
use std::path::{Path, PathBuf};

use super::common::{Bench, assert_sound, copy, done, lines, page, page_at, prospect, text, urls};
use super::tried;

/// A store with every derived structure, whose next plan is known.
struct Kept {
    bench: Bench,
    plan: String,
    folders: Vec<String>,
}

fn arguments(bench: &Bench, store: &Path) -> Vec<String> {
    let mut options = vec!["--budget", "20", "--release", "all", "--explore", "0"];
    let model = format!("{}/tests/models/embedding-mean", env!("CARGO_MANIFEST_DIR"));
    if cfg!(feature = "neural") {
        options.extend(["--embedding-model", &model]);
    }
    bench.plan_arguments(store, &options)
}

fn folders(store: &Path) -> Vec<String> {
    let entries = fs::read_dir(store.join("derived")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn kept() -> Kept {
    let bench = Bench::with_store();
    let store = bench.store();
    let plan = done(&arguments(&bench, &store)).stdout;
    done(&["sufficiency", "--store", text(&store), "--workload", &bench.path("queries.tsv")]);
    assert_eq!(done(&arguments(&bench, &store)).stdout, plan);
    let folders = folders(&store);
    assert!(folders.len() >= 7, "{folders:?}");
    Kept { bench, plan, folders }
}

/// Puts a folder in the place of one of a copy of the store; the plan stays, and `check` tells.
#[track_caller]
fn swapped(kept: &Kept, from: &Path, to: &str) {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    copy(&kept.bench.store(), &store);
    let place = store.join("derived").join(to);
    fs::remove_dir_all(&place).unwrap();
    copy(from, &place);
    let case = format!("{} as {to}", from.display());
    let checked = prospect(&["check", "--full", "--store", text(&store)]);
    assert!(
        checked.stderr.contains(&format!("will be rebuilt at the next use: {to}: ")),
        "{case}: {}",
        checked.stderr
    );
    let run = done(&arguments(&kept.bench, &store));
    assert!(run.stdout == kept.plan, "{case}: another plan");
    done(&["sufficiency", "--store", text(&store), "--workload", &kept.bench.path("queries.tsv")]);
    assert_sound(&store);
    let checked = prospect(&["check", "--full", "--store", text(&store)]);
    assert!(!checked.stderr.contains("will be rebuilt"), "{case}: {}", checked.stderr);
}

#[test]
fn a_folder_in_the_place_of_another_is_made_again() {
    let kept = kept();
    let own = |name: &String| kept.bench.store().join("derived").join(name);
    let mut swaps: Vec<(PathBuf, String)> = Vec::new();
    for to in &kept.folders {
        let others = kept.folders.iter().filter(|from| *from != to);
        swaps.extend(others.map(|from| (own(from), to.clone())));
    }
    // Those of another store, and of a later state of this one.
    let other = Bench::new();
    let store = other.store();
    let second = other.write("other.jsonl", lines((150..260).map(page)));
    done(&["ingest", "--store", text(&store), &second]);
    done(&arguments(&kept.bench, &store));
    done(&["sufficiency", "--store", text(&store), "--workload", &kept.bench.path("queries.tsv")]);
    let later = kept.bench.copy_of_store("later");
    let next = urls(&kept.plan)[..9].iter().map(|url| page(page_at(url))).collect::<Vec<_>>();
    let next = kept.bench.write("next.jsonl", lines(next));
    done(&["ingest", "--close", "--store", text(&later), &next]);
    done(&arguments(&kept.bench, &later));
    done(&["sufficiency", "--store", text(&later), "--workload", &kept.bench.path("queries.tsv")]);
    for foreign in [&store, &later] {
        for name in &kept.folders {
            let from = foreign.join("derived").join(name);
            assert!(from.is_dir(), "{name}");
            swaps.push((from, name.clone()));
        }
    }
    let chosen = super::spread(swaps.len(), tried(24, 1_000));
    for at in &chosen {
        let (from, to) = &swaps[at - 1];
        swapped(&kept, from, to);
    }
    println!("{} of {} swaps of derived folders", chosen.len(), swaps.len());
}

#[test]
fn a_folder_holds_its_own_files_alone() {
    let kept = kept();
    for name in &kept.folders {
        let store = kept.bench.copy_of_store(&format!("foreign-{name}"));
        let folder = store.join("derived").join(name);
        fs::write(folder.join("thesis.tex"), "x").unwrap();
        let checked = done(&["check", "--full", "--store", text(&store)]);
        assert!(checked.stderr.contains("thesis.tex is none of its files"), "{}", checked.stderr);
        assert!(done(&arguments(&kept.bench, &store)).stdout == kept.plan, "{name}");
        done(&[
            "sufficiency",
            "--store",
            text(&store),
            "--workload",
            &kept.bench.path("queries.tsv"),
        ]);
        assert!(!folder.join("thesis.tex").exists(), "{name}");
        assert_sound(&store);
    }
}
