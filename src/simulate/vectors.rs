//! Vectors of all strings and titles of a collection and of the queries, by an embedding model, so that
//! planned crawls only look them up. What a crawl has not seen it does not read.

use std::borrow::Cow;

use prospect_index::derived::Derived;
use prospect_index::vectors::VectorTable;

use super::SimulateError;
use super::collection::Collection;
use crate::neural::Embedder;
use crate::neural::text_vectors::{fill, missing};
use crate::policy::hidden_web::WebVectors;
use crate::workload::Workload;

/// Version of the files that vectors are kept in.
pub(crate) const VERSION: u32 = 1;

/// Vectors of a collection.
pub(crate) struct CollectionVectors {
    table: VectorTable,
    /// By page: row of its title.
    titles: Vec<u32>,
}

impl CollectionVectors {
    /// Embeds what is not in `kept` yet, and keeps it there; also why what was there could not be read. Of the collection
    /// all strings, or the titles alone where nobody plans.
    /// `told` is told how many of how many texts are done.
    ///
    /// # Errors
    /// The model fails, or the vectors cannot be written.
    pub(crate) fn new(
        collection: &Collection,
        (queries, plans): (&Workload, bool),
        model: &dyn Embedder,
        kept: &Derived<'_>,
        told: &mut dyn FnMut(usize, usize),
    ) -> Result<(Self, Option<String>), SimulateError> {
        let (mut table, damaged) =
            VectorTable::open(kept, model.fingerprint(), Some(model.dimension()));
        let asked = queries.queries.iter().map(|query| query.text.as_str().into());
        let titles = collection.titles.iter().map(|title| (&**title).into());
        let read: Box<dyn Iterator<Item = Cow<'_, str>>> =
            if plans { Box::new(collection.known_by().chain(titles)) } else { Box::new(titles) };
        let texts = missing(&table, read.chain(asked));
        fill(&mut table, model, &texts, kept, told)?;
        let titles = collection.titles.iter().map(|title| table.row(title)).collect();
        Ok((Self { table, titles }, damaged))
    }

    /// What planned crawls read.
    pub(crate) fn web(&self) -> WebVectors<'_> {
        WebVectors { table: &self.table, titles: &self.titles }
    }
}
