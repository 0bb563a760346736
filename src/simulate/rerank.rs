//! Scores of a cross-encoder for what the crawls of an experiment find.

use prospect_index::checkpoints::FetchOrder;
use prospect_index::page_store::NONE;

use super::SimulateError;
use super::artefacts::run_checkpoints;
use super::experiment::Crawls;
use super::measure::Measure;
use super::values::{CRAWLS_PER_PASS, Placed};
use crate::evaluate::checkpoints::Lists;
use crate::evaluate::rerank::{self, Candidates, PageTexts, PairScores};
use crate::neural::PairModel;

/// Scores every pair of a query and a page that metrics or runs depend on and that is not measured
/// yet, each once for all crawls. `progress` is told how many pairs of how many are scored.
///
/// # Errors
/// The index or the texts cannot be read, or the model fails.
pub(crate) fn scores(
    measure: &Measure<'_>,
    crawls: &Crawls,
    model: &dyn PairModel,
    texts: &dyn PageTexts,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PairScores, SimulateError> {
    let mut candidates = Candidates::default();
    let kept = measure.kept(crawls);
    let missing: Vec<usize> = (0..kept.len()).filter(|&at| kept[at].is_none()).collect();
    add(measure, crawls, &missing, Lists::WithRelevant, &mut candidates)?;
    let all: Vec<usize> = (0..kept.len()).collect();
    add(measure, crawls, &all, Lists::All, &mut candidates)?;
    Ok(rerank::score(model, texts, measure.judged, &candidates, progress)?)
}

/// The candidates of some crawls, where they are measured or where their runs are written.
fn add(
    measure: &Measure<'_>,
    crawls: &Crawls,
    numbers: &[usize],
    lists: Lists,
    candidates: &mut Candidates,
) -> Result<(), SimulateError> {
    let collection = measure.collection;
    let url_order = collection.by_document(&collection.url_order, NONE);
    let evaluation = measure.evaluation(&url_order);
    for pass in numbers.chunks(CRAWLS_PER_PASS) {
        let mut placed = Vec::new();
        for &at in pass {
            let reached = crawls.reached(at);
            let pages = match lists {
                Lists::WithRelevant => reached,
                Lists::All => run_checkpoints(measure.settings.runs, reached),
            };
            if !pages.is_empty() {
                placed.push(Placed::new(collection, crawls.one(at), pages));
            }
        }
        let crawls: Vec<FetchOrder<'_>> = placed.iter().map(Placed::crawl).collect();
        if !crawls.is_empty() {
            evaluation.candidates(&crawls, lists, candidates)?;
        }
    }
    Ok(())
}
