//! Which model scores: the one place where the command line meets the loading of models.

use std::path::{Path, PathBuf};
use std::sync::Once;

use super::Global;
use super::hints::{MODELS, QUALITY_MODELS, of_model};
use super::output::{Failure, LateProgress, Progress, say};
use crate::campaign::OpenStore;
use crate::campaign::quality::{self, ScoredStore};
use crate::campaign::vectors::Embedded;
use crate::evaluate::rerank::{PairScores, RerankError};
use crate::evaluate::run::RERANK_DEPTH;
use crate::neural::text_length::{self, TextLength};
use crate::neural::text_vectors::EmbeddingModel;
use crate::neural::{
    self, Cached, CachedPairs, Device, Embedder, ModelSource, NeuralError, PairModel, QualityModel,
    Runtime,
};
use crate::planner::settings::PlanSettings;
use crate::results::{ModelUsed, Reranker};
use crate::workload::Workload;

/// Name of the model inside this binary.
pub(super) const BUNDLED: &str = "bundled";

/// What runs models.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct LibraryOptions {
    /// Run models with this ONNX Runtime library (1.24 or later) instead of the built-in rten.
    #[arg(long, value_name = "FILE", env = "ORT_DYLIB_PATH")]
    pub(super) onnxruntime: Option<PathBuf>,
    /// What that library runs models on: `cpu`, `cuda` or `cuda:N` for a GPU by its number, or `auto`: the
    /// first GPU, or the processor where it cannot be used.
    #[arg(long, value_name = "DEVICE", default_value_t = Device::Cpu)]
    pub(super) device: Device,
}

/// What runs models, and where their scores are remembered.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct RuntimeOptions {
    #[command(flatten)]
    pub(super) library: LibraryOptions,
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
    pub(super) runtime: RuntimeOptions,
}

/// Options that choose an embedding model for a store.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct EmbeddingOptions {
    /// Take similarity by this embedding model as evidence, too: a directory with a model of kind
    /// `sentence-embedding`. What is new of the store is embedded first.
    #[arg(long, value_name = "DIR")]
    pub(super) embedding_model: Option<PathBuf>,
}

impl EmbeddingOptions {
    /// The model, if one is configured.
    pub(super) fn load(
        &self,
        library: &LibraryOptions,
        global: &Global,
    ) -> Result<Option<Box<dyn Embedder>>, Failure> {
        self.embedding_model.as_deref().map(|path| library.embedder(path, global)).transpose()
    }
}

/// Whether vectors of models that no plan has any longer are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    Keep,
    Remove,
}

/// Embeds what is new of a store with a model.
pub(super) fn embed(
    open: &mut OpenStore,
    model: Box<dyn Embedder>,
    workload: &Workload,
    others: Others,
    global: &Global,
) -> Result<(), Failure> {
    let mut progress = LateProgress::new(global, "embed");
    let mut told = |done: usize, all: usize| {
        progress.at(done as u64, Some(all as u64), &format!("{done} of {all} texts"));
    };
    let embedded = match others {
        Others::Keep => open.embed_beside(model, workload, &mut told)?,
        Others::Remove => open.embed(model, workload, &mut told)?,
    };
    progress.done();
    let Embedded { model, added, total, damaged } = &embedded;
    if let Some(why) = damaged {
        say(global, &format!("vectors of strings: made anew ({why})"));
    }
    say(global, &format!("vectors by {model}: {added} of {total} texts embedded now"));
    Ok(())
}

/// Brings the model that questions about a plan with these settings are to be answered with.
pub(super) fn embed_for(
    open: &mut OpenStore,
    model: Option<Box<dyn Embedder>>,
    settings: &PlanSettings,
    workload: &Workload,
    global: &Global,
) -> Result<(), Failure> {
    let Some(model) = model else { return Ok(()) };
    if settings.embedding == Some(EmbeddingModel::of(model.as_ref())) {
        return embed(open, model, workload, Others::Remove, global);
    }
    let made = match &settings.embedding {
        None => "without an embedding model".to_owned(),
        Some(other) if other.name == model.name() => {
            format!("with other files of {}, in another runtime or on another device", other.name)
        }
        Some(other) => format!("with the embedding model {}", other.name),
    };
    let error = anyhow::anyhow!("the open plan was made {made}, not with {}", model.name());
    Err(Failure::input(error, "leave out --embedding-model, or plan again with this model"))
}

impl StoreQualityOptions {
    /// The model, if one is configured.
    pub(super) fn load(&self, global: &Global) -> Result<Option<StoreQuality>, Failure> {
        let Some(name) = &self.quality_model else { return Ok(None) };
        let (model, delay) = (self.runtime.quality(name, global)?, self.quality_delay);
        Ok(Some(StoreQuality { model, delay }))
    }
}

/// A model that scores the pages of a store.
pub(super) struct StoreQuality {
    model: Model,
    delay: u32,
}

impl StoreQuality {
    /// Scores the new pages of a store.
    pub(super) fn score(
        &self,
        open: &mut OpenStore,
        global: &Global,
    ) -> Result<ScoredStore, Failure> {
        let scored = self.model.with(|model| {
            let mut progress =
                Progress::noting(global, "score", Some(u64::from(open.store.manifest().next_seq)));
            let mut told = |pages: u64| progress.at(pages, &format!("{pages} pages scored"));
            let scored = quality::score_new(open, model, self.delay, &mut told);
            progress.done();
            Ok(scored?)
        })?;
        let ScoredStore { model, scored: pages, empty, waiting, replaced } = &scored;
        let waiting = match waiting {
            0 => String::new(),
            records => format!("; the {records} newest records wait"),
        };
        let again = if *replaced { ", in place of another model's scores" } else { "" };
        say(
            global,
            &format!("quality by {model}: {pages} pages scored{again}, {empty} empty{waiting}"),
        );
        Ok(scored)
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

impl LibraryOptions {
    /// Loads an embedding model.
    pub(super) fn embedder(
        &self,
        directory: &Path,
        global: &Global,
    ) -> Result<Box<dyn Embedder>, Failure> {
        let source = directory_of(directory, "sentence-embedding")?;
        let model = neural::load_embedder(&source, &self.runtime(global));
        self.loaded(model, MODELS, global)
    }

    fn runtime(&self, global: &Global) -> Runtime {
        let threads = match global.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        Runtime { library: self.onnxruntime.clone(), threads, device: self.device }
    }

    /// A model, or what to do where it cannot be loaded; says what it runs on where that was asked for.
    fn loaded<M>(
        &self,
        model: Result<M, NeuralError>,
        otherwise: &str,
        global: &Global,
    ) -> Result<M, Failure> {
        static SAID: Once = Once::new();
        let model = model.map_err(|error| unusable(error, otherwise))?;
        if let Some(place) = neural::runs_on()
            && self.device != Device::Cpu
        {
            SAID.call_once(|| say(global, &format!("models run by {place}")));
        }
        Ok(model)
    }
}

impl RuntimeOptions {
    /// Where what models said is remembered.
    pub(super) fn cache(&self) -> Option<&Path> {
        self.score_cache.as_deref()
    }

    /// Loads a quality model by name.
    pub(super) fn quality(&self, name: &str, global: &Global) -> Result<Model, Failure> {
        let model: Box<dyn QualityModel> = if name == text_length::NAME {
            Box::new(TextLength)
        } else {
            let model = neural::load_quality(&source(name)?, &self.library.runtime(global));
            self.library.loaded(model, QUALITY_MODELS, global)?
        };
        Ok(Model { model, cache: self.score_cache.clone() })
    }

    /// Loads a cross-encoder.
    pub(super) fn cross_encoder(
        &self,
        directory: &Path,
        global: &Global,
    ) -> Result<CrossEncoder, Failure> {
        let source = directory_of(directory, "sequence-pair")?;
        let model = neural::load_pairs(&source, &self.library.runtime(global));
        let model = self.library.loaded(model, MODELS, global)?;
        Ok(CrossEncoder { model, cache: self.score_cache.clone() })
    }
}

impl Model {
    /// What settings say of it.
    pub(super) fn described(&self) -> ModelUsed {
        let (name, fingerprint) = (self.model.name(), self.model.fingerprint());
        ModelUsed { name: name.to_owned(), fingerprint: fingerprint.to_owned() }
    }

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
        let mut progress = LateProgress::new(global, "re-rank");
        let mut told = |done: u64, all: u64| {
            progress.at(done, Some(all), &format!("{done} of {all} pairs of query and page"));
        };
        let scores = match self.cache.clone().or(cache) {
            None => score(self.model.as_ref(), &mut told).map_err(Into::into)?,
            Some(directory) => {
                let cached = CachedPairs::open(&directory, self.model.as_ref());
                let cached = cached.map_err(RerankError::Model)?;
                let scores = score(&cached, &mut told);
                cached.flush().map_err(RerankError::Model)?;
                scores.map_err(Into::into)?
            }
        };
        progress.done();
        let (name, pairs) = (self.model.name(), scores.pairs());
        say(global, &format!("re-ranked by {name}: {pairs} pairs of query and page"));
        Ok(scores)
    }
}

/// A directory that a model of a kind is read from.
fn directory_of(directory: &Path, kind: &str) -> Result<ModelSource, Failure> {
    if directory.is_dir() {
        return Ok(ModelSource::Directory(directory.to_owned()));
    }
    let error = anyhow::anyhow!("there is no model {}", directory.display());
    let hint =
        format!("name a directory with model.onnx, tokenizer.json and a model.toml of kind {kind}");
    Err(Failure::input(error, hint))
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
    unusable(error, QUALITY_MODELS)
}

fn unusable(error: NeuralError, otherwise: &str) -> Failure {
    let hint = of_model(&error, otherwise);
    Failure::input(error, hint)
}
