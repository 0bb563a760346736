//! True impact: what every page is worth to a workload when the whole collection is indexed.
//!
//! `I(p, Q) = sum over q of f(q) V(R(p, q))`, with R the rank among all pages and V
//! its visibility (Pandey and Olston, WSDM 2008, section 2).

use prospect_index::bm25::{Bm25, Scorer};

use super::SimulateError;
use super::collection::Collection;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::Workload;

/// By page: true impact.
///
/// # Errors
/// The index cannot be read.
pub fn impact(
    collection: &Collection,
    workload: &Workload,
    bm25: Bm25,
    places: impl Into<Places>,
) -> Result<Vec<f64>, SimulateError> {
    let end = collection.pages;
    let scorer = Scorer::new(&collection.text, bm25, end, workload.words())?;
    let lists = ServedLists::build(&scorer, &workload.queries, places, end, &collection.urls)?;
    Ok(lists.impact(&workload.queries, collection.urls.len()))
}
