//! A disk after a power cut: what was not synced may be there, cut, full of zeros or gone, and a rename that was not
//! synced may not have happened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::disk::{Act, Calls, Disk};
use super::scenarios::{PLACE, Place, Scenario};
use super::{spread, tried};

/// What happens to a file that was not synced.
const FATES: [&str; 4] = ["left", "zeroed", "halved", "emptied"];

/// What a process did, as the log of its calls has it.
#[derive(Default)]
struct Done {
    /// Files with bytes that were not synced.
    unsynced: BTreeSet<PathBuf>,
    /// Renames, by folder, that no sync of the folder followed: from, to, and where what they replaced was kept.
    renames: BTreeMap<PathBuf, Vec<[PathBuf; 3]>>,
}

impl Done {
    fn read(log: &str) -> Self {
        let mut done = Self::default();
        for line in log.lines() {
            let mut fields = line.split('\t');
            let Some(call) = fields.next() else { continue };
            let [path, other, kept] =
                [(); 3].map(|()| PathBuf::from(fields.next().unwrap_or_default()));
            match call {
                "write" | "open" => drop(done.unsynced.insert(path)),
                "sync" => {
                    done.unsynced.remove(&path);
                    done.renames.remove(&path);
                }
                "rename" => {
                    if done.unsynced.remove(&path) {
                        done.unsynced.insert(other.clone());
                    }
                    let folder = other.parent().unwrap().to_owned();
                    done.renames.entry(folder).or_default().push([path, other, kept]);
                }
                _ => {}
            }
        }
        done
    }

    /// Brings the folder into a state that the disk may be in.
    fn happen(&self, fate: &str, undo: bool) {
        if undo {
            for [from, to, replaced] in self.renames.values().flatten().rev() {
                if to.exists() {
                    fs::rename(to, from).unwrap();
                }
                if replaced.is_file() {
                    // The folder may have been removed since, and that is not synced either.
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::copy(replaced, to).unwrap();
                }
            }
        }
        for path in self.unsynced.iter().filter(|path| path.is_file()) {
            let bytes = fs::read(path).unwrap();
            let bytes = match fate {
                "zeroed" => vec![0; bytes.len()],
                "halved" => bytes[..bytes.len() / 2].to_vec(),
                "emptied" => Vec::new(),
                _ => continue,
            };
            fs::write(path, bytes).unwrap();
        }
    }
}

fn cut(scenario: &Scenario, at: usize, calls: usize) -> usize {
    let bench = &PLACE.bench;
    let mut images = 0;
    for fate in FATES {
        for undo in [false, true] {
            let (folder, logged) = (scenario.copied(), tempfile::tempdir().unwrap());
            let (root, log) = (folder.path(), logged.path().join("log"));
            let disk = Disk { root, calls: Calls::Write, at, act: Act::Kill, log: Some(&log) };
            disk.run(&scenario.arguments(bench, root));
            // The first call leaves no log.
            let done = Done::read(&fs::read_to_string(&log).unwrap_or_default());
            done.happen(fate, undo);
            let undone = if undo { ", renames undone" } else { "" };
            let case = format!("power cut at call {at} of {calls}, files {fate}{undone}");
            scenario.assert_recovers(bench, root, &case);
            images += 1;
        }
    }
    images
}

#[test]
fn a_power_cut_at_any_call_loses_nothing_that_was_told_as_done() {
    let Place { bench, scenarios } = &*PLACE;
    let mut images = 0;
    for scenario in scenarios {
        let copied = scenario.copied();
        let arguments = scenario.arguments(bench, copied.path());
        let calls = Disk::count(copied.path(), Calls::Write, &arguments);
        for at in spread(calls, tried(2, 45)) {
            images += cut(scenario, at, calls);
        }
    }
    println!("{images} images of a disk after a power cut");
}
