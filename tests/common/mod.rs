//! What the tests of the command share: running the binary, a small generated web, and stores
//! that can be copied and compared.
//!
//! The web is the same in every run: 300 pages on six hosts of three domains, two directories
//! each, every page about two of 60 words, with links whose anchors name what they lead to.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

/// The binary; tests inside the library have none.
const BINARY: Option<&str> = option_env!("CARGO_BIN_EXE_prospect");

/// Pages of the generated web.
pub const PAGES: usize = 300;
/// Pages that the first crawl brought.
pub const CRAWLED: usize = 100;
/// Queries of the generated workload.
pub const QUERIES: usize = 30;

/// What a command left: exit code, standard output, standard error.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

/// The command with arguments, not started; its standard input is empty.
pub fn command<S: AsRef<str>>(arguments: &[S]) -> Command {
    let mut command = Command::new(BINARY.expect("a test of the command line"));
    command.args(arguments.iter().map(AsRef::as_ref));
    command.env_remove("PROSPECT_STORE").env_remove("PROSPECT_WORKLOAD");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the command to its end.
pub fn prospect<S: AsRef<str>>(arguments: &[S]) -> Run {
    command(arguments).output().expect("the binary starts").into()
}

/// Runs the command, which must succeed.
#[track_caller]
pub fn done<S: AsRef<str>>(arguments: &[S]) -> Run {
    let run = prospect(arguments);
    let shown: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    assert_eq!(run.code, Some(0), "prospect {}\n{}", shown.join(" "), run.stderr);
    run
}

/// The store proves sound, every file read.
#[track_caller]
pub fn assert_sound(store: &Path) {
    let run = done(&["check", "--full", "--store", text(store)]);
    assert!(run.stderr.contains("sound: generation"), "{}", run.stderr);
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the paths of tests are UTF-8")
}

/// Copies a directory tree.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Every file below `root` with its bytes, but for the lock, which names the last process.
pub fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().is_some_and(|name| name != "LOCK") {
                found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Segments and manifest of a store: its truth.
pub fn truth(store: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = files(store);
    found.retain(|path, _| !path.starts_with("derived"));
    found
}

/// Address of a page of the generated web.
pub fn address(page: usize) -> String {
    let (host, directory) = (page % 6, page / 6 % 2);
    let [a, b] = topic(page);
    format!("https://h{host}.d{}.example/part{directory}/{a}-{b}-{page}.html", host / 2)
}

fn topic(page: usize) -> [String; 2] {
    [format!("topic{}", page * 7 % 60), format!("topic{}", page * 13 % 60)]
}

/// A page of the generated web as a line of JSON.
pub fn page(page: usize) -> String {
    page_saying(page, "")
}

/// As [`page()`], with more words in its text.
pub fn page_saying(page: usize, more: &str) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(page as u64);
    let topics = topic(page);
    let words: Vec<String> = (0..40)
        .map(|at| match at % 4 {
            0 => topics[at / 4 % 2].clone(),
            _ => format!("topic{}", random.random_range(0..60)),
        })
        .collect();
    let links: Vec<serde_json::Value> = (0..7)
        .map(|_| {
            let target = random.random_range(0..PAGES);
            let anchor = format!("about {}", topic(target).join(" "));
            serde_json::json!({ "url": address(target), "anchor": anchor })
        })
        .collect();
    let record = serde_json::json!({
        "url": address(page),
        "title": topics.join(" "),
        "text": format!("{} {more}", words.join(" ")),
        "outlinks": links,
    });
    record.to_string()
}

/// A fetch that failed.
pub fn failure(url: &str, status: u16) -> String {
    serde_json::json!({ "url": url, "status": status }).to_string()
}

/// A directory with a workload, the pages of the first crawl, and places for stores.
pub struct Bench {
    directory: TempDir,
}

impl Bench {
    /// The workload and the pages; no store yet.
    pub fn new() -> Self {
        let bench = Self { directory: tempfile::tempdir().unwrap() };
        bench.write("first.jsonl", lines((0..CRAWLED).map(page)));
        let query = |at: usize| format!("q{at:02}\t{}\t{}", topic(at * 11).join(" "), at % 7 + 1);
        bench.write("queries.tsv", lines((0..QUERIES).map(query)));
        bench
    }

    /// As [`Bench::new`], the first crawl ingested into `store`.
    pub fn with_store() -> Self {
        let bench = Self::new();
        done(&["ingest", "--store", &bench.path("store"), &bench.path("first.jsonl")]);
        bench
    }

    /// Path of `name` in the directory.
    pub fn path(&self, name: &str) -> String {
        text(&self.directory.path().join(name)).to_owned()
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    /// Writes a file and gives its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A copy of the store.
    pub fn copy_of_store(&self, name: &str) -> PathBuf {
        let to = self.directory.path().join(name);
        copy(&self.store(), &to);
        to
    }

    /// Arguments of `prospect plan` on a store, options at the end.
    pub fn plan_arguments(&self, store: &Path, options: &[&str]) -> Vec<String> {
        let workload = self.path("queries.tsv");
        let fixed = ["plan", "--store", text(store), "--workload", &workload];
        fixed.iter().chain(options).map(|&argument| argument.to_owned()).collect()
    }
}

/// Lines of a file.
pub fn lines(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The URLs of a plan as jsonl.
pub fn urls(plan: &str) -> Vec<String> {
    rows(plan).iter().map(|row| row["url"].as_str().unwrap().to_owned()).collect()
}

/// The rows of a plan as jsonl.
pub fn rows(plan: &str) -> Vec<serde_json::Value> {
    plan.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The number of the page at an address.
pub fn page_at(address: &str) -> usize {
    let name = address.strip_suffix(".html").unwrap();
    name.rsplit('-').next().unwrap().parse().unwrap()
}
