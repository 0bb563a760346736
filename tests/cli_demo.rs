//! The first command a stranger runs. It must work without anything but the binary, say what to do
//! next, and that next command must work; and it must never replace a store that it did not make.

use std::path::Path;
use std::process::{Command, Output};

fn prospect(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_prospect")).args(arguments).output().unwrap()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_demo_prints_a_batch_and_a_next_command_that_works() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("demo");
    let first = prospect(&["demo", "--tiny", "--store", path(&store)]);
    assert!(first.status.success(), "{first:?}");
    let text = String::from_utf8(first.stdout.clone()).unwrap();
    let next = text.lines().find_map(|line| line.strip_prefix("Try next: ")).unwrap();
    let arguments: Vec<&str> = next.split("-- ").nth(1).unwrap().split(' ').collect();
    let explained = prospect(&arguments);
    assert!(explained.status.success(), "{explained:?}");
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(explained.contains("not crawled; number 1 of plan"), "{explained}");
    assert!(explained.contains("in the URL") || explained.contains("in the anchor"), "{explained}");

    // It replaces its own store, and prints the same again with any number of threads.
    let again = prospect(&["demo", "--tiny", "--store", path(&store), "--threads", "1"]);
    assert_eq!(again.stdout, first.stdout);
}

#[test]
fn the_demo_as_json_names_its_schema_and_its_picks() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("demo");
    let output = prospect(&["demo", "--tiny", "--json", "--store", path(&store)]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "prospect.demo/1");
    let urls = json["urls"].as_array().unwrap();
    assert_eq!(urls.len(), 7);
    assert!(
        urls.iter().all(|url| url["url"].as_str().unwrap().starts_with("https://tools.example/"))
    );
}

#[test]
fn the_demo_leaves_a_directory_alone_that_it_did_not_make() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("thesis.tex"), "x").unwrap();
    let output = prospect(&["demo", "--tiny", "--store", path(directory.path())]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("was not made by the demo"), "{message}");
    assert!(message.contains("\n\nhint: "), "{message}");
    assert!(directory.path().join("thesis.tex").exists());
}
