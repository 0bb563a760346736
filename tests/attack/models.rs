//! Models that somebody changed: refused by name, whatever the runtime makes of them.
//!
//! Story: of mutated ONNX files some ended the process by a signal, in the middle of a panic of the runtime.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::common::{Bench, copy, prospect, text};
use super::tried;

#[test]
fn a_mutated_model_is_refused_or_scores() {
    let bench = Bench::new();
    let documents = bench.write("documents.jsonl", "{\"text\":\"a page of words\"}\n");
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/classifier-two-labels");
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut refused, mut scored) = (0, 0);
    for number in 0..tried(12, 3_000) {
        let directory = tempfile::tempdir().unwrap();
        let model = directory.path().join("model");
        copy(&whole, &model);
        let file = ["model.onnx", "model.onnx", "tokenizer.json", "model.toml"][number % 4];
        let path = model.join(file);
        let mut bytes = fs::read(&path).unwrap();
        for _ in 0..=number % 5 {
            let at = random.random_range(0..bytes.len());
            bytes[at] = random.random();
        }
        fs::write(&path, bytes).unwrap();
        let out = directory.path().join("out.jsonl");
        let arguments =
            ["quality", "score", &documents, "--model", text(&model), "--output", text(&out)];
        let run = prospect(&arguments);
        let said = &run.stderr;
        assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{number}: {said}");
        match run.code {
            Some(0) => scored += 1,
            code => {
                assert_eq!(code, Some(1), "{number}, {file}: {said}");
                assert!(said.contains("error: "), "{number}: {said}");
                refused += 1;
            }
        }
    }
    println!("{} mutated models: {refused} refused, {scored} scored", refused + scored);
}
