//! A run of `prospect quality score` that ends half-way goes on, to the bytes of one that did not.
//!
//! The first scoring of a large collection takes days. Power cuts, full disks and Ctrl-C are part of
//! it: what is scored must not be scored again, and nobody must take a half of a file for a result.

mod common;
#[path = "common/documents.rs"]
mod documents;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use common::{Run, command};

fn line(row: usize) -> String {
    format!("{{\"id\":{row},\"text\":\"{}\"}}\n", documents::words(row % 50))
}

fn start(directory: &Path, line: &str) -> Child {
    let mut arguments = vec!["quality", "score", "--model", "text-length"];
    arguments.extend(line.split_whitespace());
    let mut command = command(&arguments);
    command.current_dir(directory).stdin(Stdio::piped()).spawn().expect("the binary starts")
}

fn through(directory: &Path, line: &str, input: &str) -> Run {
    let mut child = start(directory, line);
    // The command may refuse before it reads.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

const LINE: &str = "- --input-format jsonl --output out.jsonl.gz --batch 100";

/// Kills the command when it has scored 200 of 500 rows.
fn killed(directory: &Path, input: &str) {
    let mut child = start(directory, LINE);
    let mut pipe = child.stdin.take().unwrap();
    let first: String = input.split_inclusive('\n').take(250).collect();
    pipe.write_all(first.as_bytes()).unwrap();
    let scores = directory.join("out.jsonl.gz.part/scores");
    // Head, and two records of rows, hash, scores and checksum.
    let expected = 32 + 2 * (12 + 100 * 8 + 8);
    while fs::metadata(&scores).map_or(0, |scores| scores.len()) < expected {
        assert!(child.try_wait().unwrap().is_none(), "the command deferred for more");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_command_leaves_no_output_and_goes_on() {
    let input: String = (0..500).map(line).collect();
    let whole = tempfile::tempdir().unwrap();
    let done = through(whole.path(), LINE, &input);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let expected = fs::read(whole.path().join("out.jsonl.gz")).unwrap();

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    killed(path, &input);
    assert!(!path.join("out.jsonl.gz").exists());
    let refused = through(path, LINE, &input);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("a run that was not finished left out.jsonl.gz.part"));
    assert!(refused.stderr.contains("hint: --resume goes on with it, --overwrite starts anew"));
    let other = through(path, &format!("{LINE} --resume --text-columns id"), &input);
    assert!(other.stderr.contains("the run to resume had another model"), "{}", other.stderr);
    let changed = through(path, &format!("{LINE} --resume"), &input.replacen("word", "wort", 1));
    assert!(changed.stderr.contains("the input has changed since"), "{}", changed.stderr);
    let again = through(path, &format!("{LINE} --resume"), &input);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(
        again.stderr.contains("490 of 500 documents scored, 200 of them before"),
        "{}",
        again.stderr
    );
    assert!(fs::read(path.join("out.jsonl.gz")).unwrap() == expected);
    assert!(!path.join("out.jsonl.gz.part").exists());
}

#[test]
fn two_processes_do_not_make_one_output() {
    let input: String = (0..500).map(line).collect();
    let directory = tempfile::tempdir().unwrap();
    let mut first = start(directory.path(), LINE);
    let mut pipe = first.stdin.take().unwrap();
    let half: String = input.split_inclusive('\n').take(250).collect();
    pipe.write_all(half.as_bytes()).unwrap();
    let lock = directory.path().join("out.jsonl.gz.part/scores");
    while !lock.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = through(directory.path(), &format!("{LINE} --overwrite"), &input);
    assert!(second.stderr.contains("out.jsonl.gz: another process makes it"), "{}", second.stderr);
    pipe.write_all(&input.as_bytes()[half.len()..]).unwrap();
    drop(pipe);
    assert!(first.wait_with_output().unwrap().status.success());
    assert!(directory.path().join("out.jsonl.gz").exists());
}
