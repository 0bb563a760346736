//! Commands that write, each on a folder of its own, and what they leave.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::common::{
    Bench, address, assert_sound, copy, done, failure, files, lines, page, page_at, prospect, text,
    truth, urls,
};
use super::documents;
use super::simulation;

/// Files by name.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A command on a folder.
pub struct Scenario {
    pub name: &'static str,
    /// The folder as the command finds it.
    base: PathBuf,
    /// Arguments, on a copy of the folder.
    arguments: fn(&Bench, &Path) -> Vec<String>,
    /// What is added to them where the command is run again.
    again: &'static [&'static str],
    /// Whether the folder holds a store.
    pub has_store: bool,
    /// The files and the standard output of a run that nobody disturbed.
    pub expected: (Files, String),
}

/// A bench with all that scenarios read.
pub struct Place {
    pub bench: Bench,
    pub scenarios: Vec<Scenario>,
}

pub static PLACE: LazyLock<Place> = LazyLock::new(place);

fn words(line: &str, folder: &Path, bench: &Bench) -> Vec<String> {
    let word = |word: &str| word.replace("@@", text(folder)).replace('@', &bench.path(""));
    line.split_whitespace().map(word).collect()
}

const LINES: [(&str, &str, &[&str], bool); 7] = [
    ("first ingest", "ingest --store @@/store @first.jsonl", &[], true),
    ("ingest", "ingest --store @@/store @second.jsonl", &[], true),
    (
        "plan",
        "plan --store @@/store --workload @queries.tsv --budget 40 --explore 0.1 --out @@/plan.jsonl",
        &[],
        true,
    ),
    ("close", "ingest --store @@/store --close", &[], true),
    ("compact", "compact --store @@/store", &[], true),
    (
        "simulate",
        "simulate --corpus @pages.jsonl --workload @queries.tsv --qrels @judged.qrels --seeds \
         @seeds1.txt,@seeds2.txt --policy bfs,prospect --batch 5% --max-pages 30% --out @@/out",
        &[],
        false,
    ),
    (
        "quality score",
        "quality score @documents.jsonl --output @@/out.jsonl --model text-length --batch 20",
        &["--resume"],
        false,
    ),
];

fn place() -> Place {
    let bench = simulation::bench();
    let document =
        |row: usize| format!("{{\"id\":{row},\"text\":\"{}\"}}", documents::words(row % 50));
    bench.write("documents.jsonl", lines((0..200).map(document)));
    let folder = |name: &str| PathBuf::from(bench.path(name));
    fs::create_dir_all(folder("empty")).unwrap();
    let store = |name: &str| folder(name).join("store");
    // A store with an open plan, one with what came of it, and both closed.
    done(&["ingest", "--store", text(&store("planned")), &bench.path("first.jsonl")]);
    let planned = done(&bench.plan_arguments(&store("planned"), &["--budget", "40"]));
    let planned = urls(&planned.stdout);
    let pages = planned[..25].iter().map(|url| page(page_at(url)));
    let failures = planned[25..33].iter().map(|url| failure(url, 404));
    bench.write("second.jsonl", lines(pages.chain(failures)));
    copy(&folder("planned"), &folder("fetched"));
    done(&["ingest", "--store", text(&store("fetched")), &bench.path("second.jsonl")]);
    copy(&folder("fetched"), &folder("closed"));
    done(&["ingest", "--store", text(&store("closed")), "--close"]);
    let bases = ["empty", "planned", "closed", "fetched", "closed", "empty", "empty"];
    let mut scenarios = Vec::new();
    for (at, ((name, _, again, has_store), base)) in LINES.into_iter().zip(bases).enumerate() {
        let arguments: fn(&Bench, &Path) -> Vec<String> = match at {
            0 => |bench, folder| words(LINES[0].1, folder, bench),
            1 => |bench, folder| words(LINES[1].1, folder, bench),
            2 => |bench, folder| words(LINES[2].1, folder, bench),
            3 => |bench, folder| words(LINES[3].1, folder, bench),
            4 => |bench, folder| words(LINES[4].1, folder, bench),
            5 => |bench, folder| words(LINES[5].1, folder, bench),
            _ => |bench, folder| words(LINES[6].1, folder, bench),
        };
        let mut scenario = Scenario {
            name,
            base: folder(base),
            arguments,
            again,
            has_store,
            expected: (BTreeMap::new(), String::new()),
        };
        let copied = scenario.copied();
        let run = done(&scenario.arguments(&bench, copied.path()));
        scenario.expected = (scenario.left(copied.path()), run.stdout);
        scenarios.push(scenario);
    }
    assert!(address(3).starts_with("https://"));
    Place { bench, scenarios }
}

impl Scenario {
    /// A copy of the folder to work on.
    pub fn copied(&self) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        self.copy_into(directory.path());
        directory
    }

    pub fn copy_into(&self, folder: &Path) {
        copy(&self.base, folder);
    }

    pub fn arguments(&self, bench: &Bench, folder: &Path) -> Vec<String> {
        (self.arguments)(bench, folder)
    }

    /// What counts of the files in the folder: the truth of a store and every result.
    pub fn left(&self, folder: &Path) -> Files {
        let mut left = if self.has_store { truth(&folder.join("store")) } else { files(folder) };
        if let Ok(plan) = fs::read(folder.join("plan.jsonl")) {
            left.insert("plan.jsonl".into(), plan);
        }
        left
    }

    /// The store is sound as it is, and the command, run again, ends as if nothing had happened.
    #[track_caller]
    pub fn assert_recovers(&self, bench: &Bench, folder: &Path, case: &str) {
        let store = folder.join("store");
        if self.has_store && store.join("MANIFEST.json").exists() {
            assert_sound(&store);
        }
        let mut arguments = self.arguments(bench, folder);
        arguments.extend(self.again.iter().map(|&more| more.to_owned()));
        let run = prospect(&arguments);
        let case = format!("{}: {case}", self.name);
        assert_eq!(run.code, Some(0), "{case}\n{}", run.stderr);
        assert!(run.stdout == self.expected.1, "{case}: other output\n{}", run.stdout);
        self.assert_left(folder, &case);
        if self.has_store {
            assert_sound(&store);
        }
    }

    #[track_caller]
    fn assert_left(&self, folder: &Path, case: &str) {
        let found = self.left(folder);
        let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&self.expected.0), "{case}");
        for (name, content) in &self.expected.0 {
            assert!(found[name] == *content, "{case}: {} differs", name.display());
        }
    }

    /// Results under their names are whole: those of the end, or none.
    #[track_caller]
    pub fn assert_nothing_torn(&self, folder: &Path, case: &str) {
        let results = ["plan.jsonl", "out.jsonl", "out/summary.json", "out/curves.csv"];
        for name in results {
            let Ok(found) = fs::read(folder.join(name)) else { continue };
            let expected = self.expected.0.get(Path::new(name));
            assert!(expected == Some(&found), "{}: {case}: {name} is torn", self.name);
        }
    }
}
