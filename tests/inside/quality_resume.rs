//! A scoring of documents that ends half-way goes on from its journal, to the bytes of one that did not.
//! The same with the command killed is in `tests/cli_quality_resume.rs`.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use super::documents;
use crate::documents::{
    AddedColumn, AddedKind, Compression, DocumentFormat, Input, Layout, OpenOptions, create, open,
    shape,
};
use crate::neural::text_length::TextLength;
use crate::neural::{NeuralError, QualityModel};
use crate::quality::QualityError;
use crate::quality::journal::Journal;
use crate::quality::score::{ScoreSettings, ScoredDocuments, run};

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
