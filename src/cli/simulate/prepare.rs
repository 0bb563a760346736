//! What is made of an experiment before the first begins, so that none fails for its settings after
//! hours of crawling.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::config::Config;
use super::{identity, settings};
use crate::cli::Global;
use crate::cli::model::{CrossEncoder, Model, RuntimeOptions};
use crate::cli::output::Failure;
use crate::neural::Embedder;
use crate::neural::text_vectors::EmbeddingModel;

use crate::results::{ModelUsed, Provenance};
use crate::simulate::settings::SimulationSettings;

/// An experiment whose settings fit and whose files are there.
pub(super) struct PreparedExperiment {
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) settings: SimulationSettings,
    pub(super) provenance: Provenance,
    pub(super) reranker: Option<Rc<CrossEncoder>>,
    pub(super) embedder: Option<Rc<dyn Embedder>>,
    /// The model that judges sufficiency.
    pub(super) judge: Option<Rc<dyn Embedder>>,
    /// The model that scores the pages.
    pub(super) quality_model: Option<Rc<Model>>,
}

impl PreparedExperiment {
    pub(super) fn new(
        name: String,
        config: Config,
        models: &mut LoadedModels<'_>,
    ) -> Result<Self, Failure> {
        let (mut settings, start_files) = settings::settings(&config)?;
        let inputs = identity::input_files(&config, &start_files)?;
        let reranker =
            config.rerank_model.as_ref().map(|directory| models.reranker(directory)).transpose()?;
        let embedder = config
            .embedding_model
            .as_ref()
            .map(|directory| models.embedder(directory))
            .transpose()?;
        let judge = config.sufficiency_model.as_ref();
        let judge = judge.map(|directory| models.embedder(directory)).transpose()?;
        settings.judge = judge.as_deref().map(EmbeddingModel::of);
        let quality_model = config.quality_model.as_ref();
        let quality_model = quality_model.map(|name| models.quality(name)).transpose()?;
        settings.quality_model = quality_model.as_ref().map(|model| model.described());
        settings.plan.embedding = embedder.as_deref().map(EmbeddingModel::of);
        let embedding = settings.plan.embedding.clone();
        let embedding =
            embedding.map(|EmbeddingModel { name, fingerprint }| ModelUsed { name, fingerprint });
        let reranks = reranker.as_ref().map(|reranker| reranker.described());
        let provenance = identity::provenance(&config, &settings, inputs, reranks, embedding)?;
        Ok(Self { name, config, settings, provenance, reranker, embedder, judge, quality_model })
    }
}

/// Loads models; experiments that name the same directory share one.
pub(super) struct LoadedModels<'a> {
    runtime: &'a RuntimeOptions,
    global: &'a Global,
    rerankers: BTreeMap<String, Rc<CrossEncoder>>,
    embedders: BTreeMap<String, Rc<dyn Embedder>>,
    qualities: BTreeMap<String, Rc<Model>>,
}

impl<'a> LoadedModels<'a> {
    pub(super) fn new(runtime: &'a RuntimeOptions, global: &'a Global) -> Self {
        let (rerankers, embedders) = (BTreeMap::new(), BTreeMap::new());
        Self { runtime, global, rerankers, embedders, qualities: BTreeMap::new() }
    }

    fn reranker(&mut self, directory: &str) -> Result<Rc<CrossEncoder>, Failure> {
        let (runtime, global) = (self.runtime, self.global);
        let load = |path: &Path| runtime.cross_encoder(path, global).map(Rc::new);
        shared(&mut self.rerankers, directory, load)
    }

    fn quality(&mut self, name: &str) -> Result<Rc<Model>, Failure> {
        let (runtime, global) = (self.runtime, self.global);
        let load = |_: &Path| runtime.quality(name, global).map(Rc::new);
        shared(&mut self.qualities, name, load)
    }

    fn embedder(&mut self, directory: &str) -> Result<Rc<dyn Embedder>, Failure> {
        let (library, global) = (&self.runtime.library, self.global);
        let load = |path: &Path| library.embedder(path, global).map(Rc::from);
        shared(&mut self.embedders, directory, load)
    }
}

/// What was loaded from a directory, or is now.
fn shared<M: ?Sized>(
    loaded: &mut BTreeMap<String, Rc<M>>,
    directory: &str,
    load: impl FnOnce(&Path) -> Result<Rc<M>, Failure>,
) -> Result<Rc<M>, Failure> {
    if let Some(loaded) = loaded.get(directory) {
        return Ok(Rc::clone(loaded));
    }
    let model = load(Path::new(directory))?;
    loaded.insert(directory.to_owned(), Rc::clone(&model));
    Ok(model)
}
