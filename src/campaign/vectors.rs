//! Vectors of a store's strings by an embedding model, as a derived structure: the words of every URL,
//! every anchor, every title and the queries that were planned for. Each text is embedded once.
//!
//! Whoever has a model brings them up to date, which takes as long as the model does; whoever asks about
//! a plan that was made with one needs them, and the model itself only for other queries.

use std::borrow::Cow;

use prospect_index::derived::{DERIVED, Derived};
use prospect_index::page_store::{Known, for_each_title};
use prospect_index::vectors::VectorTable;

use crate::campaign::{CampaignError, OpenStore, plan_course};
use crate::estimate::features::similarity::{Embeddings, StringRows, url_text};
use crate::neural::Embedder;
use crate::neural::text_vectors::{EmbeddingModel, add, fill, missing};
use crate::planner::settings::PlanSettings;
use crate::workload::{Query, Workload};

const VERSION: u32 = 1;
/// Before the fingerprint of a model, name of its structure.
const VECTORS: &str = "vectors-";

/// Vectors of a store.
pub(crate) struct StoreVectors {
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
pub(crate) struct PlanVectors<'a> {
    store: &'a StoreVectors,
    queries: VectorTable,
    /// By query: its row.
    asked: Vec<u32>,
}

impl PlanVectors<'_> {
    /// As estimates read them.
    pub(crate) fn embeddings(&self) -> Embeddings<'_> {
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
pub(crate) struct Embedded {
    /// Name of the model.
    pub(crate) model: String,
    /// Texts that had no vector.
    pub(crate) added: usize,
    /// Texts in all.
    pub(crate) total: usize,
    /// Why what was there could not be read.
    pub(crate) damaged: Option<String>,
}

impl OpenStore {
    /// Embeds what is new of the store's strings and of the queries, and keeps the vectors; those of models
    /// that neither this is nor the open plan has are removed. `told` is told how many of how many texts are done.
    ///
    /// # Errors
    /// The model fails, or the store cannot be read or written.
    pub(crate) fn embed(
        &mut self,
        model: Box<dyn Embedder>,
        workload: &Workload,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<Embedded, CampaignError> {
        self.remove_others(&EmbeddingModel::of(model.as_ref()))?;
        self.embed_beside(model, workload, told)
    }

    /// The same beside what there is of other models.
    ///
    /// # Errors
    /// See [`OpenStore::embed`].
    pub(crate) fn embed_beside(
        &mut self,
        model: Box<dyn Embedder>,
        workload: &Workload,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<Embedded, CampaignError> {
        let described = EmbeddingModel::of(model.as_ref());
        let derived = self.derived_vectors(&described.fingerprint);
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
    pub(crate) fn plan_vectors(
        &self,
        model: Option<&EmbeddingModel>,
        queries: &[Query],
    ) -> Result<Option<PlanVectors<'_>>, CampaignError> {
        let Some(model) = model else { return Ok(None) };
        let store = self.vectors(model)?;
        let (queries, asked) = store.asked(queries)?;
        Ok(Some(PlanVectors { store, queries, asked }))
    }

    fn vectors(&self, wanted: &EmbeddingModel) -> Result<&StoreVectors, CampaignError> {
        let lacking = |why| CampaignError::NoVectors { model: wanted.name.clone(), why };
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

    fn derived_vectors(&self, fingerprint: &str) -> Derived<'_> {
        let name = format!("{VECTORS}{fingerprint}");
        Derived::new(self.store.storage(), self.store.manifest(), &name, VERSION)
    }

    /// Removes vectors of models that neither an open plan nor the next one has.
    fn remove_others(&self, model: &EmbeddingModel) -> Result<(), CampaignError> {
        let (storage, plans) = (self.store.storage(), &self.store.manifest().plans);
        let settings = |stored| plan_course::settings::<PlanSettings>(stored).ok();
        let open: Vec<EmbeddingModel> =
            plans.iter().filter_map(settings).filter_map(|settings| settings.embedding).collect();
        for name in storage.list(DERIVED)? {
            let of = name.strip_prefix(VECTORS);
            let is_read = |model: &EmbeddingModel| of == Some(model.fingerprint.as_str());
            if of.is_some() && !is_read(model) && !open.iter().any(is_read) {
                storage.remove(&format!("{DERIVED}/{name}"))?;
            }
        }
        Ok(())
    }

    /// By `fetch_seq`: the title.
    fn titles(&self) -> Result<Vec<String>, CampaignError> {
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
    fn asked(&self, queries: &[Query]) -> Result<(VectorTable, Vec<u32>), CampaignError> {
        let texts = queries.iter().map(|query| query.text.as_str());
        let new = missing(&self.strings, texts);
        let mut table = VectorTable::new(self.strings.dimension());
        match &self.embedder {
            Some(model) => add(&mut table, model.as_ref(), &new)?,
            None if new.is_empty() => (),
            None => {
                let model = self.model.name.clone();
                return Err(CampaignError::NoVectors { model, why: None });
            }
        }
        for query in queries {
            table.copy(&query.text, &self.strings);
        }
        let rows = queries.iter().map(|query| table.row(&query.text)).collect();
        Ok((table, rows))
    }
}
