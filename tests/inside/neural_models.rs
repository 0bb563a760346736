//! Neural models, run by rten: the scores are PyTorch's, they do not depend on what is scored beside
//! them, and what is not a model is refused in words that say what was expected.

use std::path::Path;

use crate::neural::{self, Cached, Device, ModelSource, QualityModel, Runtime};

#[path = "../neural/expected.rs"]
mod expected;

use expected::{QUALITY, cases, folder, source};

fn built_in(threads: usize) -> Runtime {
    Runtime { library: None, threads, device: Device::Cpu }
}

#[test]
fn every_kind_scores_as_pytorch_does() {
    expected::check_all(&built_in(2));
}

#[test]
fn the_bits_of_a_score_depend_on_the_text_alone() {
    for name in QUALITY {
        let (one, two) = (
            neural::load_quality(&source(name), &built_in(1)),
            neural::load_quality(&source(name), &built_in(2)),
        );
        let (one, two) = (one.unwrap(), two.unwrap());
        let cases = cases(name);
        let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
        let reversed: Vec<&str> = texts.iter().rev().copied().collect();
        let alone: Vec<u64> =
            texts.iter().map(|text| one.score(&[*text]).unwrap()[0].to_bits()).collect();
        let bits = |scores: Vec<f64>| scores.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(one.score(&texts).unwrap()), alone, "{name}");
        assert_eq!(bits(two.score(&texts).unwrap()), alone, "{name}");
        let mut backwards = bits(two.score(&reversed).unwrap());
        backwards.reverse();
        assert_eq!(backwards, alone, "{name}");
        assert_eq!(one.fingerprint(), two.fingerprint(), "{name}");
    }
}

#[test]
fn pages_of_a_query_do_not_see_each_other() {
    let one = neural::load_pairs(&source("pair"), &built_in(1)).unwrap();
    let two = neural::load_pairs(&source("pair"), &built_in(2)).unwrap();
    let cases = cases("pair");
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let together = two.score("crawl order", &texts).unwrap();
    for (text, score) in texts.iter().zip(together) {
        let alone = one.score("crawl order", &[*text]).unwrap()[0];
        assert_eq!(alone.to_bits(), score.to_bits(), "{text:?}");
    }
}

#[test]
fn vectors_have_length_one_where_the_settings_say_so() {
    for (name, is_normal) in [("embedding-mean", true), ("embedding-in-graph", false)] {
        let embedder = neural::load_embedder(&source(name), &built_in(1)).unwrap();
        let vectors = embedder.embed(&["crawl order", "a page", "crawl order"]).unwrap();
        assert_eq!(vectors[0], vectors[2]);
        for vector in &vectors {
            assert_eq!(vector.len(), embedder.dimension());
            let length: f32 = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            assert_eq!((length - 1.0).abs() < 1e-5, is_normal, "{name}: {length}");
        }
    }
}

#[test]
fn a_cached_model_says_the_same_bits_from_disk() {
    let directory = tempfile::tempdir().unwrap();
    let model = neural::load_quality(&source("classifier-one-label"), &built_in(2)).unwrap();
    let texts = ["crawl order", "a page", "crawl order", ""];
    let scored = model.score(&texts).unwrap();
    for _ in 0..2 {
        let cached = Cached::open(directory.path(), &*model).unwrap();
        assert_eq!(cached.score(&texts).unwrap(), scored);
    }
}

#[test]
fn models_with_the_same_files_have_the_same_fingerprint_and_no_others() {
    let mut found = Vec::new();
    for name in QUALITY {
        let model = neural::load_quality(&source(name), &built_in(1)).unwrap();
        assert_eq!(model.fingerprint().len(), 32);
        found.push(model.fingerprint().to_owned());
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), QUALITY.len());
}

/// The refusal of a model, with the folder of the test models cut off.
fn refusal(source: &ModelSource) -> String {
    let error = neural::load_quality(source, &built_in(1)).err().expect("a refusal").to_string();
    let folder = format!("{}/", folder("").display().to_string().trim_end_matches('/'));
    error.replace(&folder, "")
}

#[test]
fn a_broken_model_is_refused_with_what_was_expected_and_found() {
    let cases = [
        (
            "broken-input-name",
            "broken-input-name/model.onnx: expected an input input_ids; found ids, attention_mask \
             (see models/README.md)",
        ),
        (
            "broken-shape",
            "broken-shape/model.onnx: expected the output logits to be float32 of 2 sizes; found \
             float32 [free, 2, 1] (see models/README.md)",
        ),
        (
            "broken-nan",
            "broken-nan/model.onnx: the output logits has NaN for a text of 3 tokens; expected numbers",
        ),
        (
            "pair",
            "pair/model.toml: the model's kind is sequence-pair; expected one that scores a page by \
             itself: t5-true-false, sequence-classifier or sentence-embedding",
        ),
    ];
    for (name, expected) in cases {
        assert_eq!(refusal(&source(name)), expected);
    }
    let error = neural::load_pairs(&source("t5"), &built_in(1)).err().unwrap().to_string();
    assert!(
        error
            .ends_with("is t5-true-false; expected sequence-pair, which scores a page for a query"),
        "{error}"
    );
    let error = neural::load_embedder(&source("t5"), &built_in(1)).err().unwrap().to_string();
    assert!(
        error.ends_with("expected sentence-embedding, which turns texts into vectors"),
        "{error}"
    );
}

/// A copy of a model with one file changed or, without a text, taken away.
fn changed(model: &str, file: &str, change: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> String {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder(model)).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let path = copy.path().join(file);
    match change(std::fs::read(&path).unwrap()) {
        Some(bytes) => std::fs::write(&path, bytes).unwrap(),
        None => std::fs::remove_file(&path).unwrap(),
    }
    refusal(&ModelSource::Directory(copy.path().to_owned()))
        .replace(&format!("{}/", copy.path().display()), "")
}

fn replaced(from: &'static str, to: &'static str) -> impl Fn(Vec<u8>) -> Option<Vec<u8>> {
    move |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{text}");
        Some(text.replacen(from, to, 1).into_bytes())
    }
}

#[test]
fn a_file_that_is_missing_or_changed_is_named() {
    let model = "classifier-two-labels";
    let missing = "No such file or directory (os error 2); a model is a directory with model.onnx, \
                   tokenizer.json and model.toml (see models/README.md)";
    for file in ["model.onnx", "tokenizer.json", "model.toml"] {
        assert_eq!(changed(model, file, |_| None), format!("{file}: {missing}"));
    }
    assert_eq!(changed("embedding-mean", "head.json", |_| None), format!("head.json: {missing}"));
    assert_eq!(
        changed(model, "model.onnx", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
        "model.onnx: expected an ONNX model; found 41961 bytes of something else, or a part of one"
    );
    assert_eq!(
        changed(model, "model.onnx", |_| Some(
            b"version https://git-lfs.github.com/spec/v1".to_vec()
        )),
        "model.onnx: expected an ONNX model; found a pointer of Git LFS (git lfs pull brings the file)"
    );
    assert_eq!(
        changed(model, "model.toml", replaced("positive = 0", "positive = 2")),
        "model.onnx: expected more than 2 logits, since model.toml has positive = 2; found 2"
    );
    assert_eq!(
        changed(
            model,
            "model.toml",
            replaced("sequence-classifier\"", "t5-true-false\"\ntruncation = \"end\"")
        )
        .lines()
        .last(),
        Some("unknown variant `end`, expected `text` or `prompt`")
    );
    assert_eq!(
        changed("embedding-mean", "head.json", |_| Some(
            b"{\"weights\": [1, 2], \"bias\": 0}".to_vec()
        )),
        "head.json: expected 24 weights, as many as the vectors have; found 2"
    );
    let found = changed(model, "tokenizer.json", |_| Some(b"{}".to_vec()));
    assert!(
        found.starts_with("tokenizer.json: expected a tokenizer in the format of Hugging Face"),
        "{found}"
    );
}

#[test]
fn rows_longer_than_the_graph_has_positions_are_refused_when_it_is_loaded() {
    let longer = replaced("max_tokens = 48", "max_tokens = 64");
    let found = changed("classifier-two-labels", "model.toml", longer);
    assert!(found.starts_with("model.onnx: rten 0.27 cannot run this graph: "), "{found}");
}

#[test]
fn a_vocabulary_larger_than_the_table_is_refused() {
    let tokenizer = std::fs::read(folder("classifier-two-labels").join("tokenizer.json")).unwrap();
    let found = changed("embedding-cls", "tokenizer.json", |_| Some(tokenizer.clone()));
    assert_eq!(
        found,
        "model.onnx: its table has 250 tokens; expected more than 349, the highest id of tokenizer.json"
    );
}

#[test]
fn another_runtime_in_the_same_process_is_refused() {
    neural::load_quality(&source("embedding-cls"), &built_in(1)).unwrap();
    let library = Path::new("/opt/libonnxruntime.so").to_owned();
    let runtime = Runtime { library: Some(library), threads: 1, device: Device::Cpu };
    let error = neural::load_quality(&source("embedding-cls"), &runtime).err().unwrap();
    assert_eq!(
        error.to_string(),
        "models of this process run by rten 0.27 already, asked for was /opt/libonnxruntime.so; \
         name one runtime for all of them"
    );
    let on_any = Runtime { device: Device::Auto, ..built_in(1) };
    let error = neural::load_quality(&source("embedding-cls"), &on_any).err().unwrap().to_string();
    assert!(error.contains("asked for was rten 0.27 on auto; name one runtime"), "{error}");
}
