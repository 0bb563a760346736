//! Simulation: crawls of a collection whose pages are hidden until they are fetched, under any
//! policy, and what came of them.
//!
//! [`collection`] holds the pages, [`start`] says where a crawl begins, [`crawl`] runs it, and
//! [`experiment`] runs all policies over all seed sets, evaluates them and keeps what is done, so
//! that a killed run goes on; [`attack`] has manipulators take part. Not here: arguments and files
//! of settings, and the report.

pub(crate) mod ablation;
pub(crate) mod added;
pub(crate) mod against_time;
pub(crate) mod analyses;
pub(crate) mod artefacts;
pub(crate) mod attack;
pub(crate) mod clock;
pub mod collection;
pub(crate) mod counterfactual;
pub mod crawl;
mod csv_table;
mod epochs;
pub(crate) mod experiment;
pub(crate) mod judgements;
pub(crate) mod limited_sketches;
pub(crate) mod load;
pub(crate) mod measure;
pub(crate) mod page_texts;
pub(crate) mod quality;
pub(crate) mod record;
pub(crate) mod rerank;
pub(crate) mod revisits;
pub(crate) mod settings;
pub(crate) mod single_query;
pub(crate) mod start;
pub(crate) mod stopping;
pub(crate) mod sufficiency;
pub(crate) mod summary;
pub mod truth;
pub(crate) mod values;
pub(crate) mod vectors;
pub(crate) mod whatif;
mod work_file;

/// Why a simulation cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulateError {
    /// The corpus.
    #[error(transparent)]
    Ingest(#[from] crate::ingest::IngestError),
    /// The corpus or the store has nothing to crawl.
    #[error("there is no page to crawl")]
    NoPages,
    /// The index, or a file of the results.
    #[error(transparent)]
    Store(#[from] prospect_index::error::StoreError),
    /// An embedding model, or its vectors.
    #[error(transparent)]
    Vectors(#[from] crate::neural::text_vectors::VectorError),
    /// A quality model.
    #[error(transparent)]
    Quality(#[from] crate::neural::NeuralError),
    /// A re-ranker.
    #[error(transparent)]
    Rerank(#[from] crate::evaluate::rerank::RerankError),
    /// A run that cannot be written.
    #[error(transparent)]
    Evaluate(#[from] crate::evaluate::EvaluateError),
    /// A policy.
    #[error(transparent)]
    Policy(#[from] crate::policy::PolicyError),
    /// A scenario that was asked about.
    #[error(transparent)]
    Answer(#[from] crate::whatif::scenario::ScenarioError),
    /// A policy that there is not, or that cannot be made.
    #[error(transparent)]
    Option(#[from] crate::policy::PolicyOptionError),
}

impl From<prospect_index::ngram::NgramError> for SimulateError {
    fn from(error: prospect_index::ngram::NgramError) -> Self {
        Self::Store(error.into())
    }
}
