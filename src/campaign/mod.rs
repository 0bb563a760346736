//! The planner on a store, over many cycles: opens a store with everything derived from it, plans a batch,
//! and closes a cycle with what became of it.
//!
//! It keeps what the [planner](crate::planner) works on: tables are opened and brought up to date, scored
//! pairs, models and served lists are kept between commands, plans and outcomes are records. Not here:
//! arguments, printing, and how a batch is chosen.

pub(crate) mod assessment;
mod changes;
pub(crate) mod ciff;
pub mod close;
mod derived_cache;
mod evaluation_set;
pub(crate) mod evidence;
pub(crate) mod explanation;
pub(crate) mod history;
pub(crate) mod identity;
pub(crate) mod kept_planner;
pub(crate) mod knowledge;
pub(crate) mod left_out;
pub(crate) mod logged;
mod nearness;
mod next_batch;
pub(crate) mod open_plans;
pub(crate) mod pair_cache;
pub mod plan;
pub(crate) mod plan_course;
pub(crate) mod plannable;
pub mod planned;
pub(crate) mod proposal;
pub(crate) mod quality;
pub(crate) mod query_explanation;
pub mod questions;
mod reading;
pub(crate) mod reasons;
pub(crate) mod records;
pub(crate) mod served_cache;
mod settle;
pub(crate) mod spellings;
pub(crate) mod stream;
pub(crate) mod sufficiency;
pub(crate) mod tables;
pub(crate) mod url_list;
pub(crate) mod vectors;
pub(crate) mod whatif_base;

use std::path::Path;
use std::sync::OnceLock;

use prospect_index::compaction::Extent;
use prospect_index::error::StoreError;
use prospect_index::frontier::{NgramSegments, View};
use prospect_index::ingest::{Committed, IngestCounts, PreparedPage, ingest_with_tables};
use prospect_index::link_context::LinkContextTable;
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::store::{Store, StoreOptions};
use prospect_index::text_index::{Refresh, TextIndex};

use self::open_plans::OpenBatch;
use self::plannable::Plannable;
use self::tables::SCHEMAS;
use self::vectors::StoreVectors;
use crate::estimate::EstimateError;
use crate::planner::scope::{Scope, ScopeError};
use crate::planner::within::may;
use crate::workload::Workload;

/// Why a cycle cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The estimators.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// The n-gram index.
    #[error(transparent)]
    Ngram(#[from] prospect_index::ngram::NgramError),
    /// Nothing was fetched yet, and nothing can be.
    #[error("the store has no page yet, and knows no URL to start from")]
    NoPages,
    /// Pages cannot be scored.
    #[error(transparent)]
    Neural(#[from] crate::neural::NeuralError),
    /// Texts cannot be embedded.
    #[error(transparent)]
    Vectors(#[from] crate::neural::text_vectors::VectorError),
    /// A question cannot be answered.
    #[error(transparent)]
    Answer(crate::whatif::scenario::ScenarioError),
    /// What was fetched for the open plan has no outcome yet.
    #[error("something was reported since the open plan was made, and it is not closed")]
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
    /// An expression of a scope cannot be used.
    #[error("the scope: {0}")]
    Scope(#[from] ScopeError),
    /// Settings cannot be written.
    #[error("the settings of a plan cannot be written or read: {0}")]
    Settings(#[from] serde_json::Error),
}

/// What was brought up to date when a store was opened.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub(crate) struct Refreshes {
    /// Pages of the text index.
    pub(crate) text: Refresh,
    /// URLs of the frontier n-gram index.
    pub(crate) frontier: Refresh,
    /// Pages of the history n-gram index.
    pub(crate) history: Refresh,
}

/// The n-gram indexes of a store.
pub(crate) struct Ngrams {
    /// Of uncrawled URLs.
    pub(crate) frontier: NgramSegments,
    /// Of crawled pages as known before their cycle.
    pub(crate) history: NgramSegments,
}

/// A store with its tables and derived structures, all up to date.
pub struct OpenStore {
    /// The store; holds the lock.
    pub store: Store,
    /// URLs, pages, links.
    pub known: Known,
    /// Text of crawled pages.
    pub text: TextIndex,
    /// n-grams, once somebody asked.
    ngrams: OnceLock<Ngrams>,
    max_words: usize,
    /// What was recomputed.
    pub(crate) refreshes: Refreshes,
    /// Words around links, once somebody asked.
    link_context: OnceLock<LinkContextTable>,
    /// Vectors of strings, once somebody asked or brought a model.
    vectors: OnceLock<StoreVectors>,
}

impl OpenStore {
    /// Opens a store for the command `holder` and brings everything up to date.
    ///
    /// # Errors
    /// See [`Store::open`]; or a derived structure cannot be written.
    pub fn open(root: &Path, holder: &str, max_words: usize) -> Result<Self, CampaignError> {
        let options = StoreOptions { holder: holder.to_owned(), ..StoreOptions::default() };
        Self::of(Store::open(root, &options)?, max_words)
    }

    /// Brings everything of an open store up to date.
    ///
    /// # Errors
    /// A file of the truth is damaged; or a derived structure cannot be written.
    pub(crate) fn of(store: Store, max_words: usize) -> Result<Self, CampaignError> {
        let known = store.known()?;
        let (urls, links) = (known.urls.len(), known.links.links_from(0).count());
        log::debug!(
            "tables of the store read: {urls} URLs, {} pages, {links} links",
            known.pages.len()
        );
        Self::with(store, known, max_words)
    }

    /// The same for who has its tables.
    ///
    /// # Errors
    /// A derived structure cannot be written.
    pub(crate) fn with(
        store: Store,
        known: Known,
        max_words: usize,
    ) -> Result<Self, CampaignError> {
        let mut open = Self::without_ngrams(store, known, max_words)?;
        (open.refreshes.frontier, open.refreshes.history) = open.refresh_ngrams()?;
        Ok(open)
    }

    /// The same for who may do without n-grams: they are brought up to date by [`OpenStore::refresh_ngrams`].
    ///
    /// # Errors
    /// The text index cannot be written.
    pub(crate) fn without_ngrams(
        store: Store,
        known: Known,
        max_words: usize,
    ) -> Result<Self, CampaignError> {
        let (text, refresh) = TextIndex::open(store.storage(), store.manifest(), &known.pages)?;
        log::debug!("text index ready");
        Ok(Self {
            store,
            known,
            text,
            ngrams: OnceLock::new(),
            max_words,
            refreshes: Refreshes { text: refresh, ..Refreshes::default() },
            link_context: OnceLock::new(),
            vectors: OnceLock::new(),
        })
    }

    /// The queries of a workload that are planned for, in the words of this store.
    pub(crate) fn asked(&self, workload: &Workload) -> Workload {
        workload.in_words_of(&self.known.analyzer).for_planning()
    }

    /// Brings the n-grams of the frontier and of the history up to date, and tells what was done.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn refresh_ngrams(&self) -> Result<(Refresh, Refresh), CampaignError> {
        if self.ngrams.get().is_some() {
            return Ok(Default::default());
        }
        let (storage, manifest) = (self.store.storage(), self.store.manifest());
        let ngrams =
            |view| NgramSegments::open(storage, manifest, &self.known, view, self.max_words);
        let (frontier, frontier_refresh) = ngrams(View::Frontier)?;
        let (history, history_refresh) = ngrams(View::History)?;
        let _ = self.ngrams.set(Ngrams { frontier, history });
        log::debug!("n-gram indexes ready");
        Ok((frontier_refresh, history_refresh))
    }

    /// The n-grams, if they are up to date.
    pub(crate) fn ngrams(&self) -> Option<&Ngrams> {
        self.ngrams.get()
    }

    /// The store after an ingest, but for n-grams. Words around links that were read stay, where no page was replaced.
    ///
    /// # Errors
    /// The store cannot be read or written; what was committed stays.
    pub(crate) fn after_ingest(
        self,
        pages: Vec<PreparedPage>,
        fingerprint: &str,
    ) -> Result<(Self, IngestCounts), CampaignError> {
        let Self { store, known, link_context, max_words, .. } = self;
        let manifest = store.manifest();
        let first_new = manifest.next_seq;
        let (store, known, counts, committed) =
            ingest_with_tables(store, known, pages, fingerprint)?;
        // What was stored before is not counted again.
        let counts = if committed == Committed::Stored { counts } else { IngestCounts::default() };
        let open = Self::without_ngrams(store, known, max_words)?;
        let kept = link_context.into_inner();
        if kept.is_some() && !open.known.pages.replaced_since(first_new) {
            let _ = open.link_context.set(open.store.link_context(&open.known, kept)?);
        }
        Ok((open, counts))
    }

    /// Merges small files in passing, where there are so many beside those of open plans.
    ///
    /// # Errors
    /// A file is damaged, or a write failed; the previous state stands.
    pub(crate) fn merge_small_files(&mut self, from: usize) -> Result<(), StoreError> {
        self.store.compact(&SCHEMAS, Extent::InPassing(from)).map(drop)
    }

    /// The scope that plans of the store have, unless they are given another.
    ///
    /// # Errors
    /// Another version wrote it.
    pub(crate) fn scope(&self) -> Result<Scope, CampaignError> {
        stored_scope(self.store.manifest())
    }

    /// What may be planned of `within` (by URL id; all, if that is empty) beside so many of the oldest open plans.
    ///
    /// # Errors
    /// An expression of the scope is none, as only another version can have written it; or a segment is
    /// damaged.
    pub(crate) fn plannable(
        &self,
        within: Vec<bool>,
        scope: &Scope,
        plans: usize,
    ) -> Result<Plannable, CampaignError> {
        let in_flight: Vec<UrlId> = if plans == 0 {
            Vec::new()
        } else {
            let batches = OpenBatch::all(&self.store, &self.known)?;
            batches.iter().take(plans).flat_map(OpenBatch::in_flight).collect()
        };
        Ok(Plannable::new(&self.known, self.store.manifest(), within, scope, in_flight)?)
    }

    /// URLs of the frontier that may be planned, where `within` tells by URL id which may; empty for all.
    pub(crate) fn frontier_within(&self, within: &[bool]) -> usize {
        let Known { urls, pages, .. } = &self.known;
        urls.ids().filter(|&id| pages.in_frontier(id) && may(within, id)).count()
    }

    /// Words around links. They are read when they are first asked for: who finds all pairs in the store
    /// needs none.
    ///
    /// # Errors
    /// A file of the truth is damaged.
    pub(crate) fn link_context(&self) -> Result<&LinkContextTable, CampaignError> {
        if let Some(link_context) = self.link_context.get() {
            return Ok(link_context);
        }
        let read = self.store.link_context(&self.known, None)?;
        log::debug!("words around links read");
        Ok(self.link_context.get_or_init(|| read))
    }
}

/// The scope of a store.
fn stored_scope(manifest: &Manifest) -> Result<Scope, CampaignError> {
    match &manifest.scope {
        serde_json::Value::Null => Ok(Scope::default()),
        stored => Ok(serde_json::from_value(stored.clone())?),
    }
}
