//! Vectors of a store's strings by an embedding model, as a derived structure: the words of every URL,
//! every anchor, every title and the queries that were planned for. Each text is embedded once.
//!
//! Whoever has a model brings them up to date, which takes as long as the model does; whoever asks about
//! a plan that was made with one needs them, and the model itself only for other queries.

use std::borrow::Cow;
use std::collections::HashSet;

use prospect_index::derived::{DERIVED, Derived};
use prospect_index::page_store::{Known, NONE, for_each_title};
use prospect_index::vectors::VectorTable;

use super::{CycleError, OpenStore, planner};
use crate::estimate::similarity::{Embeddings, StringRows, url_text};
use crate::neural::{Embedder, NeuralError};
use crate::plan::settings::{EmbeddingModel, PlanSettings};
use crate::workload::{Query, Workload};

const VERSION: u32 = 1;
/// Before the fingerprint of a model, name of its structure.
const VECTORS: &str = "vectors-";
/// Texts that are embedded at a time.
const BATCH: usize = 256;
/// Texts after which vectors are kept, so that a command that is stopped goes on there.
const KEPT: usize = 20_000;

/// Vectors of a store.
pub struct StoreVectors {
    model: EmbeddingModel,
    /// By text.
    strings: VectorTable,
    /// Where those of URLs and anchors are.
    rows: StringRows,
    /// By `fetch_seq`: row of the title.
    titles: Vec<u32>,
    /// For queries that are new.
    embedder: Option<Box<dyn Embedder>>,
}

/// Vectors of a plan: those of the store, and those of its queries.
pub struct PlanVectors<'a> {
    store: &'a StoreVectors,
    queries: VectorTable,
    /// By query: its row.
    asked: Vec<u32>,
}

impl PlanVectors<'_> {
    /// As estimates read them.
    pub fn embeddings(&self) -> Embeddings<'_> {
        Embeddings {
            strings: &self.store.strings,
            rows: &self.store.rows,
            titles: &self.store.titles,
            queries: &self.queries,
            asked: &self.asked,
        }
    }
}

/// What was embedded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Name of the model.
    pub model: String,
    /// Texts that had no vector.
    pub added: usize,
    /// Texts in all.
    pub total: usize,
    /// Why what was there could not be read.
    pub damaged: Option<String>,
}

/// What a plan says of a model.
pub fn described(model: &dyn Embedder) -> EmbeddingModel {
    EmbeddingModel { name: model.name().to_owned(), fingerprint: model.fingerprint().to_owned() }
}

/// The texts that have no vector yet, each once.
pub fn missing<S: AsRef<str>>(table: &VectorTable, texts: impl Iterator<Item = S>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for text in texts {
        let text = text.as_ref();
        if !text.trim().is_empty() && table.row(text) == NONE && seen.insert(text.to_owned()) {
            all.push(text.to_owned());
        }
    }
    all
}

/// Embeds texts that have no vector yet, and keeps the vectors in `kept`; `told` is told how many of how
/// many are done.
///
/// # Errors
/// The model fails, or the vectors cannot be written.
pub fn fill(
    table: &mut VectorTable,
    model: &dyn Embedder,
    texts: &[String],
    kept: &Derived,
    told: &mut dyn FnMut(usize, usize),
) -> Result<(), CycleError> {
    let mut done = 0;
    for part in texts.chunks(KEPT) {
        for batch in part.chunks(BATCH) {
            add(table, model, batch)?;
            done += batch.len();
            told(done, texts.len());
        }
        table.save(kept, model.fingerprint())?;
    }
    Ok(())
}

fn add(table: &mut VectorTable, model: &dyn Embedder, texts: &[String]) -> Result<(), NeuralError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (text, vector) in texts.iter().zip(model.embed(&texts)?) {
        table.add(text, &vector);
    }
    Ok(())
}

impl OpenStore {
    /// Embeds what is new of the store's strings and of the queries, and keeps the vectors; those of models
    /// that neither this is nor the open plan has are removed. `told` is told how many of how many texts are done.
    ///
    /// # Errors
    /// The model fails, or the store cannot be read or written.
    pub fn embed(
        &mut self,
        model: Box<dyn Embedder>,
        workload: &Workload,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<Embedded, CycleError> {
        let described = described(model.as_ref());
        let derived = self.derived_vectors(&described.fingerprint);
        self.remove_others(&described)?;
        let fingerprint = &described.fingerprint;
        let (mut table, damaged) =
            VectorTable::open(&derived, fingerprint, Some(model.dimension()));
        let titles = self.titles()?;
        let queries = workload.queries.iter().map(|query| Cow::from(&query.text));
        let texts = missing(&table, self.strings(&titles).chain(queries));
        fill(&mut table, model.as_ref(), &texts, &derived, told)?;
        let (added, total) = (texts.len(), table.len());
        let embedded = Embedded { model: described.name.clone(), added, total, damaged };
        self.vectors = self.vectors_of(described, table, &titles, Some(model)).into();
        Ok(embedded)
    }

    /// The vectors of a plan for `queries`, if it has a `model`.
    ///
    /// # Errors
    /// They are not in the store, and the model that makes them is not at hand or fails.
    pub fn plan_vectors(
        &self,
        model: Option<&EmbeddingModel>,
        queries: &[Query],
    ) -> Result<Option<PlanVectors<'_>>, CycleError> {
        let Some(model) = model else { return Ok(None) };
        let store = self.vectors(model)?;
        let (queries, asked) = store.asked(queries)?;
        Ok(Some(PlanVectors { store, queries, asked }))
    }

    fn vectors(&self, wanted: &EmbeddingModel) -> Result<&StoreVectors, CycleError> {
        let lacking = |why| CycleError::NoVectors { model: wanted.name.clone(), why };
        if self.vectors.get().is_none() {
            let derived = self.derived_vectors(&wanted.fingerprint);
            let (table, damaged) = VectorTable::open(&derived, &wanted.fingerprint, None);
            let titles = self.titles()?;
            if !missing(&table, self.strings(&titles)).is_empty() {
                return Err(lacking(damaged));
            }
            // Another thread may have done the same.
            let _ = self.vectors.set(self.vectors_of(wanted.clone(), table, &titles, None));
        }
        let found = self.vectors.get().filter(|vectors| vectors.model == *wanted);
        found.ok_or_else(|| lacking(None))
    }

    /// All that URLs are known by, with repetitions.
    fn strings<'t>(&'t self, titles: &'t [String]) -> impl Iterator<Item = Cow<'t, str>> {
        let Known { urls, links, .. } = &self.known;
        let anchors = (0..links.anchors()).map(|id| links.anchor(id as u32).into());
        let urls = urls.ids().map(|id| url_text(urls.url(id)).into());
        urls.chain(anchors).chain(titles.iter().map(Cow::from))
    }

    fn vectors_of(
        &self,
        model: EmbeddingModel,
        strings: VectorTable,
        titles: &[String],
        embedder: Option<Box<dyn Embedder>>,
    ) -> StoreVectors {
        let mut rows = StringRows::default();
        rows.update(&self.known, &strings);
        let titles = titles.iter().map(|title| strings.row(title)).collect();
        StoreVectors { model, strings, rows, titles, embedder }
    }

    fn derived_vectors(&self, fingerprint: &str) -> Derived {
        Derived::new(self.store.storage(), &format!("{VECTORS}{fingerprint}"), VERSION)
    }

    /// Removes vectors of models that neither the open plan nor the next one has.
    fn remove_others(&self, model: &EmbeddingModel) -> Result<(), CycleError> {
        let (storage, open) = (self.store.storage(), self.store.manifest().plan.as_ref());
        let open: Option<PlanSettings> = open.and_then(|plan| planner::settings(plan).ok());
        let open = open.and_then(|settings| settings.embedding);
        for name in storage.list(DERIVED)? {
            let of = name.strip_prefix(VECTORS);
            let is_read = |model: &EmbeddingModel| of == Some(model.fingerprint.as_str());
            if of.is_some() && !is_read(model) && !open.as_ref().is_some_and(is_read) {
                storage.remove(&format!("{DERIVED}/{name}"))?;
            }
        }
        Ok(())
    }

    /// By `fetch_seq`: the title.
    fn titles(&self) -> Result<Vec<String>, CycleError> {
        let manifest = self.store.manifest();
        let mut titles = vec![String::new(); manifest.next_seq as usize];
        for_each_title(self.store.storage(), manifest, |seq, title| {
            if let Some(slot) = titles.get_mut(seq as usize) {
                title.clone_into(slot);
            }
        })?;
        Ok(titles)
    }
}

impl StoreVectors {
    /// Vectors of queries, and by query its row.
    ///
    /// # Errors
    /// A query is new and there is no model, or that fails.
    fn asked(&self, queries: &[Query]) -> Result<(VectorTable, Vec<u32>), CycleError> {
        let texts = queries.iter().map(|query| query.text.as_str());
        let new = missing(&self.strings, texts);
        let mut table = VectorTable::new(self.strings.dimension());
        match &self.embedder {
            Some(model) => add(&mut table, model.as_ref(), &new)?,
            None if new.is_empty() => (),
            None => {
                let model = self.model.name.clone();
                return Err(CycleError::NoVectors { model, why: None });
            }
        }
        for query in queries {
            table.copy(&query.text, &self.strings);
        }
        let rows = queries.iter().map(|query| table.row(&query.text)).collect();
        Ok((table, rows))
    }
}
