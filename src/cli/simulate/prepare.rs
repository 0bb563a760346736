//! What is made of an experiment before the first begins, so that none fails for its settings after
//! hours of crawling.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use super::config::Config;
use super::{identity, settings};
use crate::cli::Global;
use crate::cli::model::{CrossEncoder, RuntimeOptions};
use crate::cli::output::Failure;
use crate::results::Provenance;
use crate::simulate::settings::Settings;

/// An experiment whose settings fit and whose files are there.
pub(super) struct Prepared {
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) settings: Settings,
    pub(super) provenance: Provenance,
    pub(super) reranker: Option<Rc<CrossEncoder>>,
}

impl Prepared {
    pub(super) fn new(
        name: String,
        config: Config,
        rerankers: &mut Rerankers<'_>,
    ) -> Result<Self, Failure> {
        let (settings, start_files) = settings::settings(&config)?;
        let inputs = identity::input_files(&config, &start_files)?;
        let reranker =
            config.rerank_model.as_ref().map(|directory| rerankers.load(directory)).transpose()?;
        let described = reranker.as_ref().map(|reranker| reranker.described());
        let provenance = identity::provenance(&config, &settings, inputs, described)?;
        Ok(Self { name, config, settings, provenance, reranker })
    }
}

/// Loads cross-encoders; experiments that name the same directory share one.
pub(super) struct Rerankers<'a> {
    runtime: &'a RuntimeOptions,
    global: &'a Global,
    loaded: BTreeMap<String, Rc<CrossEncoder>>,
}

impl<'a> Rerankers<'a> {
    pub(super) fn new(runtime: &'a RuntimeOptions, global: &'a Global) -> Self {
        Self { runtime, global, loaded: BTreeMap::new() }
    }

    fn load(&mut self, directory: &str) -> Result<Rc<CrossEncoder>, Failure> {
        if let Some(loaded) = self.loaded.get(directory) {
            return Ok(Rc::clone(loaded));
        }
        let loaded = Rc::new(self.runtime.cross_encoder(Path::new(directory), self.global)?);
        self.loaded.insert(directory.to_owned(), Rc::clone(&loaded));
        Ok(loaded)
    }
}
