//! From a model's files to something that scores.

use xxhash_rust::xxh3::Xxh3;

use super::backend::{Backend, EngineParts, ModelEngine};
use super::classifier::{Classifier, TextRows};
use super::embedding::{Head, HeadedEmbedding, SentenceEncoder, output};
use super::pair::{PairRows, Pairs};
use super::settings::{ModelKind, ModelSettings};
use super::source::{ModelFile, ModelFiles};
use super::t5::{Prompt, T5};
use super::tokens::Tokens;
use super::{Embedder, ModelSource, NeuralError, PairModel, QualityModel, Runtime};
use crate::contained::caught;

/// Changes where the same files would score otherwise than before.
const SCORING: &[u8] = b"prospect neural scoring 1";

/// See [`super::load_quality`].
pub(crate) fn load_quality(
    source: &ModelSource,
    runtime: &Runtime,
) -> Result<Box<dyn QualityModel>, NeuralError> {
    Ok(Box::new(load(source, runtime, quality)?))
}

/// See [`super::load_pairs`].
pub(crate) fn load_pairs(
    source: &ModelSource,
    runtime: &Runtime,
) -> Result<Box<dyn PairModel>, NeuralError> {
    Ok(Box::new(load(source, runtime, |open, _| pairs(open))?))
}

/// Loads a model that turns texts into vectors: kind `sentence-embedding`, with or without a head.
///
/// # Errors
/// As for [`super::load_quality`].
pub(crate) fn load_embedder(
    source: &ModelSource,
    runtime: &Runtime,
) -> Result<Box<dyn Embedder>, NeuralError> {
    Ok(Box::new(load(source, runtime, |open, _| embedding(open))?))
}

/// A model of any kind with what it is called.
struct Loaded<M> {
    name: String,
    fingerprint: String,
    model: M,
}

/// The kinds that score a text by itself.
enum Quality {
    T5(T5),
    Classifier(Classifier),
    SentenceEncoder(HeadedEmbedding),
}

impl QualityModel for Loaded<Quality> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn score(&self, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        match &self.model {
            Quality::T5(model) => model.score(texts),
            Quality::Classifier(model) => model.score(texts),
            Quality::SentenceEncoder(model) => model.score(texts),
        }
    }
}

impl PairModel for Loaded<Pairs> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f64>, NeuralError> {
        self.model.score(query, texts)
    }
}

impl Embedder for Loaded<SentenceEncoder> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, NeuralError> {
        self.model.embed(texts)
    }
}

/// A model whose files are read and whose runtime runs.
struct Open {
    /// Of `model.toml`.
    file: String,
    settings: ModelSettings,
    tokens: Tokens,
    parts: EngineParts,
}

/// `head.json`, if it could be read; only quality models over embeddings need it.
type HeadFile = Result<ModelFile, NeuralError>;

fn load<M>(
    source: &ModelSource,
    runtime: &Runtime,
    make: impl FnOnce(Open, HeadFile) -> Result<M, NeuralError>,
) -> Result<Loaded<M>, NeuralError> {
    let parts = ModelFiles::read(source)?;
    let file = parts.model.name.clone();
    let found = caught(|| loaded(parts, runtime, make));
    found.unwrap_or_else(|said| {
        Err(NeuralError::Model { file, problem: format!("cannot be used: {said}") })
    })
}

fn loaded<M>(
    parts: ModelFiles,
    runtime: &Runtime,
    make: impl FnOnce(Open, HeadFile) -> Result<M, NeuralError>,
) -> Result<Loaded<M>, NeuralError> {
    let settings = ModelSettings::parse(&parts.settings)?;
    let tokens = Tokens::read(&parts.tokenizer)?;
    let backend = Backend::get(runtime)?;
    let head = parts.head();
    let fingerprint = fingerprint(&parts, head.as_ref().ok(), &backend.name);
    let name = settings.name.clone();
    let (max_tokens, pad_id) = (settings.max_tokens, settings.pad_id);
    let (graph, threads) = (parts.model, runtime.threads);
    let model = settings.name.clone();
    let engine = EngineParts { model, graph, backend, threads, max_tokens, pad_id };
    let open = Open { file: parts.settings.name, settings, tokens, parts: engine };
    Ok(Loaded { name, fingerprint, model: make(open, head)? })
}

fn quality(open: Open, head: HeadFile) -> Result<Quality, NeuralError> {
    let max_tokens = open.settings.max_tokens;
    match open.settings.kind {
        ModelKind::T5 { before, after, truncation } => {
            let prompt = Prompt::new(open.tokens, (&before, &after), truncation, max_tokens)?;
            let engine = ModelEngine::new(open.parts, &prompt.signature())?;
            Ok(Quality::T5(T5::new(prompt, engine)?))
        }
        ModelKind::Classifier { positive } => {
            let rows = TextRows::new(open.tokens, max_tokens, open.settings.pad_id)?;
            let engine = ModelEngine::new(open.parts, &rows.signature(true, ("logits", 2)))?;
            Ok(Quality::Classifier(Classifier::new(rows, engine, positive)?))
        }
        ModelKind::Embedding { .. } => {
            let embedding = embedding(open)?;
            let head = Head::read(&head?, embedding.dimension())?;
            Ok(Quality::SentenceEncoder(HeadedEmbedding { embedding, head }))
        }
        ModelKind::Pair { .. } => Err(open.wrong_kind(
            "one that scores a page by itself: t5-true-false, sequence-classifier or \
             sentence-embedding",
        )),
    }
}

fn pairs(open: Open) -> Result<Pairs, NeuralError> {
    let ModelKind::Pair { positive, windows } = open.settings.kind else {
        return Err(open.wrong_kind("sequence-pair, which scores a page for a query"));
    };
    let rows = PairRows::new(open.tokens, windows, open.settings.max_tokens)?;
    let engine = ModelEngine::new(open.parts, &rows.signature())?;
    Pairs::new(rows, engine, positive)
}

fn embedding(open: Open) -> Result<SentenceEncoder, NeuralError> {
    let ModelKind::Embedding { pooling, normalize } = open.settings.kind else {
        return Err(open.wrong_kind("sentence-embedding, which turns texts into vectors"));
    };
    let rows = TextRows::new(open.tokens, open.settings.max_tokens, open.settings.pad_id)?;
    let engine = ModelEngine::new(open.parts, &rows.signature(false, output(pooling)))?;
    SentenceEncoder::new(rows, engine, pooling, normalize)
}

impl Open {
    fn wrong_kind(self, expected: &'static str) -> NeuralError {
        NeuralError::Kind { file: self.file, found: self.settings.kind.name(), expected }
    }
}

/// A hash of the files, the runtime with its version, and how scores are made of them.
fn fingerprint(parts: &ModelFiles, head: Option<&ModelFile>, runtime: &str) -> String {
    let mut hash = Xxh3::new();
    let files = [&parts.model, &parts.tokenizer, &parts.settings];
    let files = files.into_iter().chain(head).map(|part| &*part.bytes);
    for piece in [SCORING, runtime.as_bytes()].into_iter().chain(files) {
        hash.update(&(piece.len() as u64).to_le_bytes());
        hash.update(piece);
    }
    format!("{:032x}", hash.digest128())
}
