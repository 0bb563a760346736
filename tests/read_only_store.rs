//! A store in a folder that its reader may not write to.
//!
//! Story: a crawl lies on a disk of somebody else, or on a snapshot. Who may read it wants to know what is in it, and
//! nothing of it may be touched; who tries to write is told at once, before anything is computed.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Bench, Run, files, text};

/// Nobody, who owns nothing: root may write wherever permissions say otherwise.
const NOBODY: u32 = 65534;

/// A store with a plan that can only be read, and the command as somebody who is not root runs it.
struct ReadOnly {
    bench: Bench,
    program: PathBuf,
    is_root: bool,
}

impl ReadOnly {
    fn new() -> Self {
        let bench = Bench::with_store();
        common::done(&bench.plan_arguments(&bench.store(), &["--budget", "5"]));
        // The folder of the build may be closed to others, as a home is.
        let program = PathBuf::from(bench.path("prospect"));
        fs::copy(env!("CARGO_BIN_EXE_prospect"), &program).unwrap();
        let is_root = fs::metadata("/proc/self").is_ok_and(|found| owner(&found) == 0);
        let read_only = Self { bench, program, is_root };
        let store = read_only.bench.store();
        let mode = |name: &Path| fs::metadata(store.join(name)).unwrap().permissions().mode();
        for name in files(&store).into_keys() {
            assert_eq!(mode(&name), mode(Path::new("MANIFEST.json")), "{}", name.display());
        }
        set_modes(Path::new(&read_only.bench.path("")), 0o755, 0o644);
        set_modes(&read_only.bench.store(), 0o555, 0o444);
        fs::set_permissions(&read_only.program, fs::Permissions::from_mode(0o755)).unwrap();
        read_only
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(&self.program);
        command.args(arguments).args(["--store", &self.bench.path("store")]);
        command.env_remove("PROSPECT_STORE").env_remove("PROSPECT_WORKLOAD").stdin(Stdio::null());
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap().into()
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        // Else it could not be removed.
        set_modes(&self.bench.store(), 0o755, 0o644);
    }
}

fn owner(of: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(of)
}

fn set_modes(path: &Path, folder: u32, file: u32) {
    let is_folder = path.is_dir();
    if is_folder {
        // Those within first: a folder that is closed cannot be changed.
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        for entry in fs::read_dir(path).unwrap() {
            set_modes(&entry.unwrap().path(), folder, file);
        }
    }
    let mode = if is_folder { folder } else { file };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn commands_that_only_read_need_no_more() {
    let store = ReadOnly::new();
    let before = files(&store.bench.store());
    let queries = store.bench.path("queries.tsv");
    let workload = ["--workload", queries.as_str()];
    let address = common::address(0);
    for (arguments, told) in [
        (&["explain", &address][..], "crawled"),
        (&[&["whatif", "--budget", "3"], &workload[..]].concat(), "impact"),
        (&[&["sufficiency"], &workload[..]].concat(), "verdict"),
        (&["check", "--full", "--json"], "prospect.check/1"),
        (&["check", "--full", "--json"], "\"to_rebuild\": []"),
        (&["export", "--format", "pages", "--out", "-"], "https://h"),
        (&["status"], "open plan "),
        (&["status", "--json"], "\"open_plans\""),
        (&["log"], " open  "),
        (&["url-rules"], "0 rules accepted"),
    ] {
        let run = store.run(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.contains(told), "{arguments:?}: {}", run.stdout);
    }
    assert_eq!(files(&store.bench.store()), before, "nothing is touched");
}

#[test]
fn commands_that_write_say_that_they_cannot() {
    let store = ReadOnly::new();
    let path = |name: &str, content: &str| store.bench.write(name, content);
    let pages = path("pages.jsonl", "{\"url\": \"https://x.test/\", \"text\": \"bread\"}\n");
    let (seeds, queries) = (path("seeds.txt", "https://x.test/a\n"), path("q.tsv", "1\tbread\n"));
    let before = files(&store.bench.store());
    let plan = ["plan", "--workload", &queries, "--budget", "3"];
    for arguments in [&["ingest", &pages][..], &["seeds", &seeds], &plan] {
        let run = store.run(arguments);
        assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
        let said = format!("the store {} can only be read here", text(&store.bench.store()));
        assert!(run.stderr.contains(&said), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("hint: this command writes to it"), "{}", run.stderr);
    }
    assert_eq!(files(&store.bench.store()), before, "nothing is touched");
}
