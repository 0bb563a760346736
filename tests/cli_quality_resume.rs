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
use std::sync::Mutex;
use std::time::Duration;

use common::{Run, command};
use prospect::documents::{
    AddedColumn, AddedKind, Compression, DocumentFormat, Input, Layout, OpenOptions, create, open,
    shape,
};
use prospect::neural::text_length::TextLength;
use prospect::neural::{NeuralError, QualityModel};
use prospect::quality::QualityError;
use prospect::quality::journal::Journal;
use prospect::quality::score::{ScoreSettings, ScoredDocuments, run};

const BATCH: usize = 16;
const ROWS: usize = 100;

/// Gives out after some batches, and counts the texts it was asked for.
struct Mortal {
    batches: Mutex<usize>,
    texts: Mutex<usize>,
}

impl QualityModel for Mortal {
    fn name(&self) -> &'static str {
        "mortal"
    }

    fn fingerprint(&self) -> &'static str {
        "0"
    }

    fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        let mut left = self.batches.lock().unwrap();
        *left = left.checked_sub(1).ok_or_else(|| NeuralError::Model {
            file: "a model".to_owned(),
            problem: "gave out".to_owned(),
        })?;
        *self.texts.lock().unwrap() += texts.len();
        TextLength.score(texts)
    }
}

/// Scores `in.parquet` into a file; gives the texts that were asked for.
fn score(
    directory: &Path,
    to: DocumentFormat,
    batches: usize,
) -> (Result<ScoredDocuments, QualityError>, usize) {
    let input = Input::of(&directory.join("in.parquet"), None);
    let mut source = open(&input, &OpenOptions { batch_rows: BATCH, columns: None }).unwrap();
    let layout = Layout {
        format: to,
        compression: Compression::Zstd,
        shape: None::<shape::Shape>,
        added: Some(AddedColumn { name: "quality_score".to_owned(), kind: AddedKind::Number }),
        replace: false,
    };
    let out = fs::File::create(directory.join("out")).unwrap();
    let mut sink = create(Box::new(out), source.as_ref(), &layout).unwrap();
    let mut journal = Journal::open(&directory.join("scores"), "run", true).unwrap();
    let model = Mortal { batches: Mutex::new(batches), texts: Mutex::new(0) };
    let settings = ScoreSettings {
        text_columns: vec!["title".to_owned(), "plain_text".to_owned()],
        strict: false,
    };
    let scored =
        run(source.as_mut(), sink.as_mut(), &model, Some(&mut journal), &settings, |_, _| {});
    if scored.is_ok() {
        sink.finish().unwrap();
    }
    (scored, model.texts.into_inner().unwrap())
}

#[test]
fn after_any_batch_a_run_goes_on_to_the_same_bytes_in_every_format() {
    let batches = ROWS.div_ceil(BATCH);
    for format in [
        DocumentFormat::Parquet,
        DocumentFormat::Csv,
        DocumentFormat::Json,
        DocumentFormat::JsonLines,
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        documents::write(&path.join("in.parquet"), &documents::owi(ROWS));
        let (whole, texts) = score(path, format, batches);
        let (whole, bytes) = (whole.unwrap(), fs::read(path.join("out")).unwrap());
        for done in 0..batches {
            fs::remove_file(path.join("scores")).unwrap();
            let (broken, before) = score(path, format, done);
            assert!(matches!(broken, Err(QualityError::Model { .. })));
            let (again, after) = score(path, format, batches - done);
            let again = again.unwrap();
            assert_eq!(again.resumed, (done * BATCH) as u64);
            assert_eq!(before + after, texts, "no text is scored twice");
            assert_eq!(ScoredDocuments { resumed: 0, ..again }, whole);
            assert!(fs::read(path.join("out")).unwrap() == bytes, "{format:?} after {done}");
        }
    }
}

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
