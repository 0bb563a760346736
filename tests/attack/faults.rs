//! A call to the disk that fails is told as what it is, and nothing is lost by it.
//!
//! Story: a disk that filled up while a dictionary was written was told as a fault of the program, with a hint that
//! did not help; one that could not be read, as damage to the store.

use super::disk::{Act, Calls, Disk};
use super::scenarios::{PLACE, Place, Scenario};
use super::{spread, tried};

const EPERM: i32 = 1;
const EIO: i32 = 5;
const EMFILE: i32 = 24;
const EROFS: i32 = 30;

const WRITE: [Act; 5] =
    [Act::Full, Act::Fail(EIO), Act::Fail(EPERM), Act::Fail(EMFILE), Act::Fail(EROFS)];

#[test]
fn a_call_that_fails_is_told_and_nothing_is_lost() {
    let Place { bench, scenarios } = &*PLACE;
    let (mut points, mut told) = (0, 0);
    let kinds = [(Calls::Write, &WRITE[..]), (Calls::Read, &[Act::Fail(EIO), Act::Fail(EMFILE)])];
    for scenario in scenarios {
        for (calls, kinds) in kinds {
            // An empty folder has nothing to read at first.
            if calls == Calls::Read && scenario.name == "first ingest" {
                continue;
            }
            let copied = scenario.copied();
            let all = Disk::count(copied.path(), calls, &scenario.arguments(bench, copied.path()));
            for &act in kinds {
                for at in spread(all, tried(3, 1_000)) {
                    told += usize::from(is_told(scenario, (calls, all), at, act));
                    points += 1;
                }
            }
        }
    }
    println!("{points} faults: {told} told, {} overcome", points - told);
    assert!(told > 0);
}

/// Lets a call fail; whether the command said so. It may as well do without.
fn is_told(scenario: &Scenario, (calls, all): (Calls, usize), at: usize, act: Act) -> bool {
    let bench = &PLACE.bench;
    let folder = scenario.copied();
    let root = folder.path();
    let disk = Disk { root, calls, at, act, log: None };
    let run = disk.run(&scenario.arguments(bench, root));
    let (name, said) = (scenario.name, &run.stderr);
    let case = format!("{calls:?} {at} of {all} fails: {act:?}");
    assert!(run.code.is_some() && !said.contains("panicked"), "{name}: {case}: {said}");
    let is_told = run.code != Some(0);
    if is_told {
        assert!(said.contains("error: "), "{name}: {case}: {said}");
        check_told(name, act, run.code, said, &case);
    }
    scenario.assert_nothing_torn(root, &case);
    scenario.assert_recovers(bench, root, &case);
    is_told
}

/// A full disk is told as one, with the way out and the exit code of what people can mend; a read that fails is not
/// told as damage.
fn check_told(name: &str, act: Act, code: Option<i32>, said: &str, case: &str) {
    if act == Act::Full {
        assert_eq!(code, Some(1), "{name}: {case}: {said}");
        assert!(
            said.contains("(os error 28)") || said.contains("o space left"),
            "{name}: {case}: {said}"
        );
    }
    if act == Act::Fail(EIO) && case.starts_with("Read") {
        assert!(!said.contains("is damaged"), "{name}: {case}: {said}");
    }
}
