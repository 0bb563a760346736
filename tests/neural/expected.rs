//! The models of `tests/models` with what PyTorch computed (`expected.json`, written by
//! `models/make_fixtures.py`), held against what this program computes.

use std::path::PathBuf;

use prospect::neural::{self, ModelSource, Runtime};
use serde::Deserialize;

/// The most that a score may differ from PyTorch's.
const TOLERANCE: f64 = 1e-4;

/// Models that score texts.
pub const QUALITY: [&str; 7] = [
    "classifier-one-label",
    "classifier-text-length",
    "classifier-two-labels",
    "embedding-cls",
    "embedding-in-graph",
    "embedding-mean",
    "t5",
];

#[derive(Deserialize)]
struct Expected {
    cases: Vec<Case>,
}

/// One text, for pairs with a query, for T5 with how it is cut.
#[derive(Deserialize)]
pub struct Case {
    pub truncation: Option<String>,
    pub query: Option<String>,
    pub text: String,
    pub score: f64,
}

/// The folder of a model.
pub fn folder(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(model)
}

/// The model as a source.
pub fn source(model: &str) -> ModelSource {
    ModelSource::Directory(folder(model))
}

/// The cases of a model.
pub fn cases(model: &str) -> Vec<Case> {
    let text = std::fs::read_to_string(folder(model).join("expected.json")).unwrap();
    serde_json::from_str::<Expected>(&text).unwrap().cases
}

/// Scores every text of every model and holds it against PyTorch's score.
pub fn check_all(runtime: &Runtime) {
    for name in QUALITY {
        let cases = cases(name);
        let default = if name == "t5" { Some("text") } else { None };
        let cases: Vec<&Case> =
            cases.iter().filter(|case| case.truncation.as_deref() == default).collect();
        check_quality(name, &source(name), runtime, &cases);
    }
    let cut_at_the_end = tempfile::tempdir().unwrap();
    for file in ["model.onnx", "tokenizer.json", "model.toml"] {
        std::fs::copy(folder("t5").join(file), cut_at_the_end.path().join(file)).unwrap();
    }
    let settings = cut_at_the_end.path().join("model.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace("\"text\"", "\"prompt\"")).unwrap();
    let cases = cases("t5");
    let cases: Vec<&Case> =
        cases.iter().filter(|case| case.truncation.as_deref() == Some("prompt")).collect();
    let source = ModelSource::Directory(cut_at_the_end.path().to_owned());
    check_quality("t5, the prompt cut at its end", &source, runtime, &cases);
    check_pairs(runtime);
}

fn check_quality(name: &str, source: &ModelSource, runtime: &Runtime, cases: &[&Case]) {
    let model =
        neural::load_quality(source, runtime).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(cases.len() >= 12, "{name}: {} cases", cases.len());
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let scores = model.score(&texts).unwrap();
    for (case, score) in cases.iter().zip(scores) {
        assert_close(name, case, score);
    }
}

fn check_pairs(runtime: &Runtime) {
    let model = neural::load_pairs(&source("pair"), runtime).unwrap();
    let cases = cases("pair");
    assert!(cases.len() >= 15);
    for case in &cases {
        let score = model.score(case.query.as_deref().unwrap(), &[&case.text]).unwrap()[0];
        assert_close("pair", case, score);
    }
}

fn assert_close(name: &str, case: &Case, score: f64) {
    let expected = case.score;
    let is_close = (score - expected).abs() <= TOLERANCE;
    assert!(is_close && score <= 0.0, "{name}: {score}, expected {expected} for {:?}", case.text);
}
