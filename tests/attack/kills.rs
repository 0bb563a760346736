//! A command that is killed loses nothing, and goes on.
//!
//! Story: of 31 killed simulations 6 refused to go on; of 459 killed commands 21 left a half of a plan under its name,
//! and a crawler would have fetched half of a batch.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::command;
use super::disk::{Act, Calls, Disk};
use super::scenarios::{PLACE, Place};
use super::{spread, tried};

#[test]
fn a_command_that_is_killed_at_any_call_goes_on() {
    let Place { bench, scenarios } = &*PLACE;
    let mut points = 0;
    for scenario in scenarios {
        let copied = scenario.copied();
        let calls =
            Disk::count(copied.path(), Calls::Write, &scenario.arguments(bench, copied.path()));
        for at in spread(calls, tried(6, 400)) {
            let folder = scenario.copied();
            let root = folder.path();
            let disk = Disk { root, calls: Calls::Write, at, act: Act::Kill, log: None };
            let run = disk.run(&scenario.arguments(bench, root));
            // The order of calls of several threads may differ: some runs have fewer.
            assert!(run.code.is_none() || run.code == Some(0), "{at} of {calls}: {}", run.stderr);
            let case = format!("killed at call {at} of {calls}");
            scenario.assert_nothing_torn(root, &case);
            scenario.assert_recovers(bench, root, &case);
            points += 1;
        }
        println!("{}: {calls} calls that change files", scenario.name);
    }
    println!("{points} kill points");
}

#[test]
fn a_command_that_is_killed_at_any_time_goes_on() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let Place { bench, scenarios } = &*PLACE;
    let (mut kills, mut at_work) = (0, 0);
    for scenario in scenarios {
        let copied = scenario.copied();
        let start = Instant::now();
        let whole = command(&scenario.arguments(bench, copied.path())).output().unwrap();
        assert!(whole.status.success());
        let took = start.elapsed();
        for _ in 0..tried(2, 170) {
            let folder = scenario.copied();
            let mut child = command(&scenario.arguments(bench, folder.path())).spawn().unwrap();
            let delay = took.mul_f64(random.random_range(0.0..1.0));
            thread::sleep(delay.max(Duration::from_micros(200)));
            child.kill().unwrap();
            at_work += usize::from(child.wait_with_output().unwrap().status.code().is_none());
            let case = format!("killed after {delay:?}, seed {seed}");
            scenario.assert_nothing_torn(folder.path(), &case);
            scenario.assert_recovers(bench, folder.path(), &case);
            kills += 1;
        }
    }
    println!("{kills} kills, {at_work} of them at work");
    assert!(at_work > 0);
}
