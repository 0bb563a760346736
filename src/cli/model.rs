//! Which model scores: the one place where the command line meets the loading of models.

use std::path::{Path, PathBuf};

use super::Global;
use super::output::{Failure, MODELS, Progress, say};
use crate::cycle::OpenStore;
use crate::cycle::quality::{self, Scored};
use crate::evaluate::rerank::{PairScores, RerankError};
use crate::evaluate::run::RERANK_DEPTH;
use crate::neural::text_length::{self, TextLength};
use crate::neural::{
    self, Cached, CachedPairs, ModelSource, NeuralError, PairModel, QualityModel, Runtime,
};
use crate::results::Reranker;

/// Name of the model inside this binary.
const BUNDLED: &str = "bundled";

/// What runs models, and where their scores are remembered.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct RuntimeOptions {
    /// Run models with this ONNX Runtime library (1.24 or later) instead of the built-in tract.
    #[arg(long, value_name = "FILE", env = "ORT_DYLIB_PATH")]
    onnxruntime: Option<PathBuf>,
    /// Keep scores by text and model in this directory, and take them from there.
    #[arg(long, value_name = "DIR")]
    score_cache: Option<PathBuf>,
}

/// Options that choose a quality model.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct ModelOptions {
    /// `bundled`, a directory with a model, or `text-length`, the baseline that counts words.
    #[arg(long, value_name = "MODEL", default_value = BUNDLED)]
    model: String,
    #[command(flatten)]
    runtime: RuntimeOptions,
}

/// Options that score the pages of a store.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct StoreQualityOptions {
    /// Score the pages of the store that have no score yet with this model: `bundled`, a directory
    /// with a model, or `text-length`. Without it, what is scored stays and new pages have none.
    #[arg(long, value_name = "MODEL")]
    quality_model: Option<String>,
    /// Leave the newest N records unscored until as many more have come.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "quality_model")]
    quality_delay: u32,
    #[command(flatten)]
    runtime: RuntimeOptions,
}

impl StoreQualityOptions {
    /// Scores the new pages of a store, if a model is configured.
    pub(super) fn score(
        &self,
        open: &mut OpenStore,
        global: &Global,
    ) -> Result<Option<Scored>, Failure> {
        let Some(name) = &self.quality_model else { return Ok(None) };
        let model = self.runtime.quality(name, global)?;
        let scored = model.with(|model| {
            let mut progress =
                Progress::noting(global, "score", Some(u64::from(open.store.manifest().next_seq)));
            let mut told = |pages: u64| progress.at(pages, &format!("{pages} pages scored"));
            let scored = quality::score_new(open, model, self.quality_delay, &mut told);
            progress.done();
            Ok(scored?)
        })?;
        let Scored { model, scored: pages, empty, waiting, replaced } = &scored;
        let waiting = match waiting {
            0 => String::new(),
            records => format!("; the {records} newest records wait"),
        };
        let again = if *replaced { ", in place of another model's scores" } else { "" };
        say(
            global,
            &format!("quality by {model}: {pages} pages scored{again}, {empty} empty{waiting}"),
        );
        Ok(Some(scored))
    }
}

/// A model with its cache.
pub(super) struct Model {
    model: Box<dyn QualityModel>,
    cache: Option<PathBuf>,
}

/// A cross-encoder with its cache.
pub(super) struct CrossEncoder {
    model: Box<dyn PairModel>,
    cache: Option<PathBuf>,
}

impl ModelOptions {
    /// Loads the model.
    pub(super) fn load(&self, global: &Global) -> Result<Model, Failure> {
        self.runtime.quality(&self.model, global)
    }
}

impl RuntimeOptions {
    /// Loads a quality model by name.
    pub(super) fn quality(&self, name: &str, global: &Global) -> Result<Model, Failure> {
        let model: Box<dyn QualityModel> = match name {
            text_length::NAME => Box::new(TextLength),
            _ => neural::load_quality(&source(name)?, &self.runtime(global)).map_err(failed)?,
        };
        Ok(Model { model, cache: self.score_cache.clone() })
    }

    /// Loads a cross-encoder.
    pub(super) fn cross_encoder(
        &self,
        directory: &Path,
        global: &Global,
    ) -> Result<CrossEncoder, Failure> {
        if !directory.is_dir() {
            let error = anyhow::anyhow!("there is no model {}", directory.display());
            let hint = "name a directory with model.onnx, tokenizer.json and a model.toml of kind \
                        sequence-pair";
            return Err(Failure::input(error, hint));
        }
        let source = ModelSource::Directory(directory.to_owned());
        let model = neural::load_pairs(&source, &self.runtime(global));
        let model = model.map_err(|error| Failure::input(error, MODELS))?;
        Ok(CrossEncoder { model, cache: self.score_cache.clone() })
    }

    fn runtime(&self, global: &Global) -> Runtime {
        let threads = match global.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        Runtime { library: self.onnxruntime.clone(), threads }
    }
}

impl Model {
    /// Runs `work` with the model, its cache around it where there is one.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&dyn QualityModel) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(directory) = &self.cache else { return work(self.model.as_ref()) };
        let cached = Cached::open(directory, self.model.as_ref()).map_err(failed)?;
        let done = work(&cached);
        cached.flush().map_err(failed)?;
        done
    }
}

impl CrossEncoder {
    /// What results say of it.
    pub(super) fn described(&self) -> Reranker {
        let (name, fingerprint) =
            (self.model.name().to_owned(), self.model.fingerprint().to_owned());
        Reranker { name, fingerprint, depth: RERANK_DEPTH }
    }

    /// Runs `score` with the model and what tells of its progress; scores are remembered in the
    /// directory that was asked for, or else in `cache`.
    pub(super) fn score<E: Into<Failure>>(
        &self,
        cache: Option<PathBuf>,
        global: &Global,
        score: impl FnOnce(&dyn PairModel, &mut dyn FnMut(u64, u64)) -> Result<PairScores, E>,
    ) -> Result<PairScores, Failure> {
        let mut bar = None;
        let mut told = |done: u64, all: u64| {
            let bar = bar.get_or_insert_with(|| Progress::noting(global, "re-rank", Some(all)));
            bar.at(done, &format!("{done} of {all} pairs of query and page"));
        };
        let scores = match self.cache.clone().or(cache) {
            None => score(self.model.as_ref(), &mut told).map_err(Into::into)?,
            Some(directory) => {
                let unusable = |error| Failure::from(RerankError::Model(error));
                let cached = CachedPairs::open(&directory, self.model.as_ref());
                let cached = cached.map_err(unusable)?;
                let scores = score(&cached, &mut told);
                cached.flush().map_err(unusable)?;
                scores.map_err(Into::into)?
            }
        };
        if let Some(bar) = bar {
            bar.done();
        }
        let (name, pairs) = (self.model.name(), scores.pairs());
        say(global, &format!("re-ranked by {name}: {pairs} pairs of query and page"));
        Ok(scores)
    }
}

fn source(name: &str) -> Result<ModelSource, Failure> {
    if name != BUNDLED {
        let directory = Path::new(name);
        if !directory.is_dir() {
            let error = anyhow::anyhow!("there is no model {name}");
            let hint = "name a directory with model.onnx, tokenizer.json and model.toml, `bundled` \
                        or `text-length`";
            return Err(Failure::input(error, hint));
        }
        return Ok(ModelSource::Directory(directory.to_owned()));
    }
    neural::bundled().ok_or_else(|| failed(NeuralError::NotBuilt))
}

/// A model that cannot be used is for the user to mend.
fn failed(error: NeuralError) -> Failure {
    Failure::input(
        error,
        "models/README.md tells how models are made; `--model text-length` scores without one",
    )
}
