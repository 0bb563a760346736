//! A real file system that is full, or has a little room: what does not fit is told, and nothing is lost by it.
//!
//! Errors that a library invents come at once and whole. A file system writes half of what it was given, has room for
//! a file and none for its name, and tells of a full disk when the file is synced or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::common::{Bench, assert_sound, prospect, text};
use super::scenarios::{PLACE, Place, Scenario};
use super::tried;

const MIB: u64 = 1 << 20;

/// A small ext4 in a file, mounted.
struct Mounted(tempfile::TempDir);

impl Mounted {
    /// Nothing where this user may not mount, or the tools are not there.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        File::create(&image).unwrap().set_len(24 * MIB).unwrap();
        fs::create_dir(directory.path().join("disk")).unwrap();
        let disk = Self(directory);
        let made = ran(Command::new("mkfs.ext4").args(["-q", "-m", "0"]).arg(image.as_os_str()));
        let mut mount = Command::new("mount");
        let mounted = made && ran(mount.args(["-o", "loop"]).arg(image).arg(disk.root()));
        mounted.then_some(disk)
    }

    fn root(&self) -> std::path::PathBuf {
        self.0.path().join("disk")
    }

    /// Nothing is left on it but so many bytes, less what the system needs for itself.
    fn leave(&self, room: u64) {
        let mut filler = File::create(self.filler()).unwrap();
        let mut size = MIB as usize;
        let zeros = vec![0; size];
        while size >= 512 {
            if filler.write_all(&zeros[..size]).is_err() {
                size /= 2;
            }
        }
        let length = filler.seek(SeekFrom::End(0)).unwrap();
        filler.set_len(length.saturating_sub(room)).unwrap();
        filler.sync_all().unwrap();
    }

    fn filler(&self) -> std::path::PathBuf {
        self.root().join("filler")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        ran(Command::new("umount").arg(self.root()));
    }
}

fn ran(command: &mut Command) -> bool {
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Bytes of all files below a folder.
fn held(folder: &Path) -> u64 {
    super::common::files(folder).values().map(|file| file.len() as u64).sum()
}

#[test]
fn a_disk_that_is_full_is_told_and_nothing_is_lost() {
    let Some(disk) = Mounted::new() else {
        println!("skipped: this user cannot mount a file system");
        return;
    };
    let Place { scenarios, .. } = &*PLACE;
    let (mut points, mut told) = (0, 0);
    for scenario in scenarios {
        let (before, after) = (scenario.copied(), scenario.copied());
        assert_eq!(prospect(&scenario.arguments(&PLACE.bench, after.path())).code, Some(0));
        // Twice what stays, for what is written on the way and for blocks that are not filled.
        let most = 2 * (held(after.path()).saturating_sub(held(before.path()))) + 64 * 1024;
        let steps = tried(2, 100) as u64;
        for step in 0..steps {
            told += usize::from(is_told(scenario, &disk, most * step / steps));
            points += 1;
        }
    }
    println!(
        "{points} times little room on a real disk: {told} told, {} had enough",
        points - told
    );
    assert!(told > 0);
}

#[test]
fn what_was_written_before_stays_where_there_is_no_room_for_more() {
    let Some(disk) = Mounted::new() else {
        println!("skipped: this user cannot mount a file system");
        return;
    };
    let bench = Bench::with_store();
    let (store, queries) = (text(&bench.store()).to_owned(), bench.path("queries.tsv"));
    let judged = bench.write("judged.qrels", "q00 0 https://h0.d0.example/ 1\n");
    let out = |name: &str| text(&disk.root().join(name)).to_owned();
    let of_store = ["--store", &store, "--workload", &queries];
    let [plan, whatif, enough, run] = ["plan.jsonl", "whatif.html", "enough.html", "run"].map(out);
    let commands = [
        [&["plan", "--budget", "40", "--out", &plan][..], &of_store].concat(),
        [&["whatif", "--budget", "20", "--html", &whatif][..], &of_store].concat(),
        [&["sufficiency", "--html", &enough][..], &of_store].concat(),
        [&["evaluate", "--qrels", &judged, "--write-run", &run][..], &of_store].concat(),
    ];
    for command in &commands {
        super::common::done(command);
    }
    let before = super::common::files(&disk.root());
    disk.leave(0);
    for command in &commands {
        let run = prospect(command);
        assert_eq!(run.code, Some(1), "{command:?}: {}", run.stderr);
    }
    fs::remove_file(disk.filler()).unwrap();
    assert!(super::common::files(&disk.root()) == before, "each is what it was, and alone");
}

/// Runs a command with so much room; whether it said that this is not enough.
fn is_told(scenario: &Scenario, disk: &Mounted, room: u64) -> bool {
    let bench = &PLACE.bench;
    let root = disk.root().join("work");
    scenario.copy_into(&root);
    disk.leave(room);
    let run = prospect(&scenario.arguments(bench, &root));
    let (name, said) = (scenario.name, &run.stderr);
    let case = format!("{room} bytes of room");
    assert!(!said.contains("panicked"), "{name}: {case}: {said}");
    let is_told = run.code != Some(0);
    if is_told {
        assert_eq!(run.code, Some(1), "{name}: {case}: {said}");
        assert!(said.contains("o space left"), "{name}: {case}: {said}");
    }
    scenario.assert_nothing_torn(&root, &case);
    let store = root.join("store");
    if store.join("MANIFEST.json").exists() {
        // It can be read while there is no room.
        assert_sound(&store);
    }
    // Opened to write, so that a file that is not there fails.
    OpenOptions::new().write(true).open(disk.filler()).unwrap().set_len(0).unwrap();
    scenario.assert_recovers(bench, &root, &case);
    fs::remove_dir_all(&root).unwrap_or_else(|error| panic!("{}: {error}", text(&root)));
    is_told
}
