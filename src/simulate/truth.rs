//! True impact: what every page is worth to a workload when the whole collection is indexed.
//!
//! `I(p, Q) = sum over q of f(q) V(R(p, q))`, with R the rank among all pages and V
//! its visibility (Pandey and Olston, WSDM 2008, section 2).

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::error::StoreError;

use super::collection::Collection;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::Workload;

/// By page: true impact.
///
/// ```
/// use prospect::simulate::truth::impact;
/// use prospect::workload::{Query, Workload};
/// use prospect_index::bm25::Bm25;
/// # use prospect::simulate::collection::{CollectionBuilder, Outside};
/// # use prospect_index::ingest::PreparedLink;
/// # use prospect_index::text_index::TextIndex;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let texts = ["home", "crawl policies", "crawl budgets", "ships"];
/// # let texts = texts.map(|text| (String::new(), text.to_owned()));
/// # let text = TextIndex::build(&dir.path().join("index"), texts)?;
/// # let url = |page: usize| format!("https://a.test/{page}");
/// # let mut builder = CollectionBuilder::default();
/// # for (page, links) in [vec![1, 2], vec![3], vec![], vec![]].into_iter().enumerate() {
/// #     let link = |to| PreparedLink { canonical: url(to), shown: (url(to), "").into() };
/// #     let links: Vec<PreparedLink> = links.into_iter().map(link).collect();
/// #     builder.add((&url(page), &url(page)), "", None, links.iter());
/// # }
/// # let collection = builder.finish(&text, Outside::Drop)?;
/// // `collection` has four pages: "home", "crawl policies", "crawl budgets" and "ships".
/// let queries = [("1", "crawl budgets", 3.0), ("2", "ships", 1.0)];
/// let impact = |k: usize| {
///     let queries = queries.map(|(qid, text, frequency)| Query::new(qid, text, frequency, ""));
///     let workload = Workload { queries: queries.into() };
///     impact(&collection, &workload, Bm25::default(), k)
/// };
/// assert_eq!(impact(10)?, [0.0, 3.0, 3.0, 1.0]);
/// assert_eq!(impact(1)?, [0.0, 0.0, 3.0, 1.0]); // lists of one page
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The index cannot be read.
pub fn impact(
    collection: &Collection,
    workload: &Workload,
    bm25: Bm25,
    places: impl Into<Places>,
) -> Result<Vec<f64>, StoreError> {
    let end = collection.pages;
    let scorer = Scorer::new(&collection.text, bm25, end, workload.words())?;
    let lists = ServedLists::build(&scorer, &workload.queries, places, end, &collection.urls)?;
    Ok(lists.impact(&workload.queries, collection.urls.len()))
}
