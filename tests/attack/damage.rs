//! Files of a store that flip a bit, are cut, or change places: told by name or made again, never a wrong answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::{Bench, assert_sound, copy, done, files, prospect, text};
use super::tried;

/// A store with all that commands leave in it, and the plan that is made of it.
struct Whole {
    bench: Bench,
    plan: String,
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let bench = Bench::with_store();
    let plan = done(&arguments(&bench, &bench.store())).stdout;
    assert_eq!(done(&arguments(&bench, &bench.store())).stdout, plan);
    Whole { bench, plan }
});

fn arguments(bench: &Bench, store: &Path) -> Vec<String> {
    bench.plan_arguments(store, &["--budget", "20", "--release", "all"])
}

/// The files of the store that are in use, each with its path below it. Those of a plan that was released lie there
/// until the next command.
fn stored() -> Vec<(PathBuf, Vec<u8>)> {
    let all = files(&WHOLE.bench.store());
    let manifest = String::from_utf8(all[Path::new("MANIFEST.json")].clone()).unwrap();
    let is_live =
        |path: &Path| !path.starts_with("segments") || manifest.contains(path.to_str().unwrap());
    all.into_iter().filter(|(path, _)| !is_lock(path) && is_live(path)).collect()
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lock")
}

/// With `damage` done, a plan is the same or refused by name, and `check` tells what is wrong.
#[track_caller]
fn check(path: &Path, case: &str, damage: impl FnOnce(&Path)) {
    let Whole { bench, plan } = &*WHOLE;
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    copy(&bench.store(), &store);
    damage(&store.join(path));
    let case = format!("{}: {case}", path.display());
    let checked = prospect(&["check", "--full", "--store", text(&store)]);
    let noticed = checked.code == Some(1) || checked.stderr.contains("will be rebuilt");
    assert!(noticed, "{case}: not noticed\n{}", checked.stderr);
    let run = prospect(&arguments(bench, &store));
    assert!(!run.stderr.contains("panicked"), "{case}: {}", run.stderr);
    if path.starts_with("derived") {
        assert_eq!(run.code, Some(0), "{case}: {}", run.stderr);
        assert!(run.stdout == *plan, "{case}: another plan");
        assert_sound(&store);
        return;
    }
    match run.code {
        // What no plan reads is found by `check` alone.
        Some(0) => assert!(run.stdout == *plan, "{case}: another plan"),
        code => {
            assert_eq!(code, Some(1), "{case}: {}", run.stderr);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(run.stderr.contains(name), "{case}: not named in {}", run.stderr);
        }
    }
}

#[test]
fn a_flipped_bit_is_told_or_mended() {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let all = stored();
    let flips = tried(1, 20_000 / all.len() + 1);
    for (path, bytes) in all.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        for _ in 0..flips {
            let (at, bit) = (random.random_range(0..bytes.len()), random.random_range(0..8));
            check(path, &format!("bit {bit} of byte {at} flipped"), |path| {
                let mut bytes = fs::read(path).unwrap();
                bytes[at] ^= 1 << bit;
                fs::write(path, bytes).unwrap();
            });
        }
    }
    println!("{} bit flips over {} files", flips * all.len(), all.len());
}

#[test]
fn a_file_that_is_cut_anywhere_is_told_or_mended() {
    let mut cuts = 0;
    for (path, bytes) in stored().iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let most = tried(1, if bytes.len() < 1_000 { 1_000 } else { 20 });
        for length in super::spread(bytes.len(), most) {
            check(path, &format!("cut to {} bytes", length - 1), |path| {
                fs::write(path, &bytes[..length - 1]).unwrap();
            });
            cuts += 1;
        }
    }
    println!("{cuts} cuts");
}

#[test]
fn files_that_change_places_are_told_or_mended() {
    let all = stored();
    let mut pairs: Vec<(&Path, &Path)> = Vec::new();
    for (one, first) in &all {
        for (other, second) in &all {
            if one.parent() == other.parent() && one != other && first != second {
                pairs.push((one, other));
            }
        }
    }
    let most = tried(12, 1_000);
    let chosen = super::spread(pairs.len(), most);
    for &at in &chosen {
        let (one, other) = pairs[at - 1];
        check(one, &format!("has the content of {}", other.display()), |path| {
            let other = path.with_file_name(other.file_name().unwrap());
            fs::copy(other, path).unwrap();
        });
    }
    println!("{} of {} pairs of neighbours", chosen.len(), pairs.len());
}
