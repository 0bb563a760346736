//! The crawl cycle: opens a store with everything derived from it, plans a batch, and closes a
//! cycle with what became of it. Shared by the command line and the policies that plan in memory.
//!
//! Not here: arguments, printing, and how estimates are made.

pub mod basis_cache;
pub mod calibration;
pub mod close;
pub mod counterfactual;
pub mod generation;
mod kept;
pub mod logged;
pub mod planner;
pub mod quality;
pub mod questions;
mod reading;
pub mod reasons;
pub mod records;
pub mod served_cache;
pub mod tables;
pub mod vectors;

use std::path::Path;
use std::sync::OnceLock;

use prospect_index::around::AroundTable;
use prospect_index::error::StoreError;
use prospect_index::frontier::{NgramSegments, View};
use prospect_index::page_store::Known;
use prospect_index::store::{Store, StoreOptions};
use prospect_index::text_index::{Refresh, TextIndex};

use self::vectors::StoreVectors;
use crate::estimate::EstimateError;

/// Pages must grow by this factor before statistics are frozen anew (DESIGN, statistics epochs).
pub const EPOCH_GROWTH: f64 = 1.1;

/// Why a cycle cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CycleError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The estimators.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// The n-gram index.
    #[error(transparent)]
    Ngram(#[from] prospect_index::ngram::NgramError),
    /// Nothing was fetched yet.
    #[error("the store has no page yet")]
    NoPages,
    /// Pages cannot be scored.
    #[error(transparent)]
    Neural(#[from] crate::neural::NeuralError),
    /// A question cannot be answered.
    #[error(transparent)]
    Answer(crate::whatif::answer::AnswerError),
    /// What was fetched for the open plan has no outcome yet.
    #[error("pages were fetched for the open plan, and its cycle is not closed")]
    NotClosed,
    /// There is no open plan.
    #[error("the store has no open plan")]
    NoPlan,
    /// Vectors of a plan's embedding model are missing.
    #[error(
        "the plan was made with the embedding model {model}, and vectors of it are missing{}",
        .why.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
    )]
    NoVectors {
        /// Name of the model.
        model: String,
        /// What is wrong with those that are there.
        why: Option<String>,
    },
    /// The open plan has settings that this version does not know.
    #[error("the open plan {plan} was made by another version of prospect: {what}")]
    OtherVersion {
        /// The plan.
        plan: String,
        /// What is wrong with its settings.
        what: String,
    },
    /// Settings cannot be written.
    #[error("the settings of a plan cannot be written: {0}")]
    Settings(#[from] serde_json::Error),
}

impl CycleError {
    /// The next step for the person who reads the message.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) | Self::Estimate(EstimateError::Store(error)) => error.hint(),
            Self::NoPages => Some(
                "bring in what your crawler fetched with `prospect ingest --store DIR FILE…`"
                    .into(),
            ),
            Self::NoPlan => {
                Some("make one with `prospect plan --store DIR --workload Q.tsv --budget N`".into())
            }
            Self::NotClosed => Some(
                "close it with `prospect ingest --store DIR --close`, which takes no file, or with \
                 the next `prospect plan`"
                    .into(),
            ),
            Self::OtherVersion { plan, .. } => Some(format!(
                "nothing is lost: the next `prospect plan` closes it, or makes way for a plan of this \
                 version; if that is what failed, give it up with `prospect plan --release {plan} …`, which \
                 keeps all that is stored"
            )),
            Self::NoVectors { .. } => Some(
                "name the same model with --embedding-model DIR: what was ingested since the plan needs it, \
                 and so do new queries"
                .into(),
            ),
            Self::Answer(_) => Some(
                "`prospect whatif --help` tells what can be different, and the README how a file says \
                 it"
                .into(),
            ),
            _ => None,
        }
    }
}

/// What was brought up to date when a store was opened.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Refreshes {
    /// Pages of the text index.
    pub text: Refresh,
    /// URLs of the frontier n-gram index.
    pub frontier: Refresh,
    /// Pages of the history n-gram index.
    pub history: Refresh,
}

/// A store with its tables and derived structures, all up to date.
pub struct OpenStore {
    /// The store; holds the lock.
    pub store: Store,
    /// URLs, pages, links.
    pub known: Known,
    /// Text of crawled pages.
    pub text: TextIndex,
    /// n-grams of uncrawled URLs.
    pub frontier: NgramSegments,
    /// n-grams of crawled pages as known before their cycle.
    pub history: NgramSegments,
    /// What was recomputed.
    pub refreshes: Refreshes,
    /// Words around links, once somebody asked.
    around: OnceLock<AroundTable>,
    /// Vectors of strings, once somebody asked or brought a model.
    vectors: OnceLock<StoreVectors>,
}

impl OpenStore {
    /// Opens a store for the command `holder` and brings everything up to date.
    ///
    /// # Errors
    /// See [`Store::open`]; or a derived structure cannot be written.
    pub fn open(root: &Path, holder: &str, max_words: usize) -> Result<Self, CycleError> {
        let options = StoreOptions { holder: holder.to_owned(), ..StoreOptions::default() };
        Self::of(Store::open(root, &options)?, max_words)
    }

    /// Brings everything of an open store up to date.
    ///
    /// # Errors
    /// A file of the truth is damaged; or a derived structure cannot be written.
    pub fn of(store: Store, max_words: usize) -> Result<Self, CycleError> {
        let known = store.known()?;
        let (storage, manifest) = (store.storage(), store.manifest());
        let (text, text_refresh) = TextIndex::open(storage, manifest, &known.pages)?;
        let ngrams = |view| NgramSegments::open(storage, manifest, &known, view, max_words);
        let (frontier, frontier_refresh) = ngrams(View::Frontier)?;
        let (history, history_refresh) = ngrams(View::History)?;
        let refreshes =
            Refreshes { text: text_refresh, frontier: frontier_refresh, history: history_refresh };
        let (around, vectors) = (OnceLock::new(), OnceLock::new());
        Ok(Self { store, known, text, frontier, history, refreshes, around, vectors })
    }

    /// Words around links. They are read when they are first asked for: who finds all pairs in the store
    /// needs none.
    ///
    /// # Errors
    /// A file of the truth is damaged.
    pub fn around(&self) -> Result<&AroundTable, CycleError> {
        if let Some(around) = self.around.get() {
            return Ok(around);
        }
        let read = self.store.around(&self.known)?;
        Ok(self.around.get_or_init(|| read))
    }
}
