//! Mistakes that people make, and what they are told: exit code, standard output and standard error, word by word.
//!
//! The story of every case: somebody has a folder with a store, its pages and queries, takes the wrong file, the wrong
//! format or the wrong word, and reads what comes. What they should read is in `tests/mistakes/NAME.txt`, with the command
//! above it. No mistake may end in silence, with 0 and nothing done; each message names what was taken (`names`), and the
//! way out.
//!
//! `PROSPECT_MISTAKES=write cargo test --test cli_mistakes` writes these files anew, to be read before they are
//! committed. What changes from run to run or with the estimates is not in them: process ids, plans' ids, and the lines
//! that a case does not ask for (`only`).

mod common;

use std::any::Any;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use common::{Bench, command, copy, done, page, text};
use prospect_index::store::{Store, StoreOptions};

/// A command that is a mistake.
struct Mistake {
    /// What went wrong; the name of its file.
    name: &'static str,
    /// The arguments, parted by spaces.
    line: &'static str,
    /// What of it the message must name.
    names: &'static str,
    /// Prepares the folder; what is given back is held while the command runs.
    given: fn(&Path) -> Held,
    /// Of what is said, the lines with one of these; all, if empty.
    only: &'static [&'static str],
}

type Held = Option<Box<dyn Any>>;

/// The next step stands behind one of these.
const WAYS_OUT: [&str; 6] =
    ["\nhint: ", "try '--help'", "next: prospect", "; if ", "; `prospect log", "nothing to plan: "];

/// A folder with pages, queries, and a store of the pages with an open plan.
static FOLDER: LazyLock<Bench> = LazyLock::new(|| {
    let bench = Bench::with_store();
    done(&bench.plan_arguments(&bench.store(), &["--budget", "10"]));
    bench
});

fn nothing(_: &Path) -> Held {
    None
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> Held {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    None
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Whether a file that nobody may read can be read all the same.
fn is_root() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "x").unwrap();
    forbid(&path);
    fs::read(&path).is_ok()
}

#[cfg(unix)]
fn forbid(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
}

#[cfg(not(unix))]
fn forbid(_: &Path) {}

#[path = "mistakes/table.rs"]
mod table;

#[test]
fn every_mistake_is_told_as_it_is_written_down() {
    let write_anew = std::env::var("PROSPECT_MISTAKES").is_ok_and(|value| value == "write");
    let mut wrong = Vec::new();
    for mistake in table::MISTAKES {
        if !can_be_made(mistake) {
            continue;
        }
        let told = told(mistake);
        let path = snapshot(mistake);
        if write_anew {
            fs::write(&path, &told).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if told != expected {
            wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{told}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn no_mistake_is_silent_and_each_message_names_what_is_wrong_and_the_way_out() {
    assert!(table::MISTAKES.len() >= 40, "{}", table::MISTAKES.len());
    for mistake in table::MISTAKES {
        let told = fs::read_to_string(snapshot(mistake)).unwrap();
        let (command, said) = told.split_once("\n--- standard error\n").unwrap();
        let name = mistake.name;
        assert!(said.len() > 20, "{name} is silent: {told}");
        assert!(said.contains(mistake.names), "{name} does not name {}: {said}", mistake.names);
        assert!(WAYS_OUT.iter().any(|way| said.contains(way)), "{name} has no way out: {said}");
        if command.contains("exit code 0") {
            continue;
        }
        assert!(command.contains("exit code 1"), "{name} is the user's mistake: {told}");
        assert!(said.starts_with("error: ") || said.contains("\nerror: "), "{name}: {said}");
    }
}

#[test]
fn every_file_of_a_mistake_is_of_one_and_names_are_used_once() {
    let mut names: Vec<String> =
        table::MISTAKES.iter().map(|mistake| format!("{}.txt", mistake.name)).collect();
    names.push("table.rs".to_owned());
    names.sort_unstable();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let files = fs::read_dir(folder).unwrap();
    let mut files: Vec<String> =
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(names, files);
}

/// Root may read everything, and not every system has a disk that is always full.
fn can_be_made(mistake: &Mistake) -> bool {
    !(mistake.name.starts_with("no-permission") && is_root()
        || mistake.name.contains("full-disk") && !Path::new("/dev/full").exists())
}

fn snapshot(mistake: &Mistake) -> std::path::PathBuf {
    let name = format!("tests/mistakes/{}.txt", mistake.name);
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Makes the mistake, and gives what it said.
fn told(mistake: &Mistake) -> String {
    let bench = Bench::new();
    copy(&FOLDER.store(), &bench.store());
    let folder = Path::new(&bench.path("")).to_owned();
    let held = (mistake.given)(&folder);
    let arguments: Vec<&str> = mistake.line.split_whitespace().collect();
    let run = common::Run::from(command(&arguments).current_dir(&folder).output().unwrap());
    drop(held);
    let code = run.code.map_or("none".to_owned(), |code| code.to_string());
    let (out, err) = (plain(&run.stdout, &folder, &[]), plain(&run.stderr, &folder, mistake.only));
    format!(
        "$ prospect {}\nexit code {code}\n--- standard output\n{out}--- standard error\n{err}",
        mistake.line
    )
}

/// What was said, without what is another in every run.
fn plain(said: &str, folder: &Path, only: &[&str]) -> String {
    let said = said.replace(text(folder), "");
    let is_asked = |line: &&str| only.is_empty() || only.iter().any(|part| line.contains(part));
    let mut plain = String::new();
    for line in said.lines().filter(is_asked) {
        let words: Vec<String> = line.split(' ').map(word).collect();
        plain.push_str(words.join(" ").trim_end());
        plain.push('\n');
    }
    plain
}

/// A word; ids of plans and of processes become names.
fn word(word: &str) -> String {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_plan = bare.len() == 16 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_process = bare == std::process::id().to_string();
    match (is_plan, is_process) {
        (true, _) => word.replace(bare, "PLAN"),
        (_, true) => word.replace(bare, "N"),
        _ => word.to_owned(),
    }
}
