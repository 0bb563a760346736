//! Documents that go by ids, as options of commands that read collections or judgements.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use prospect_index::url;

use super::Global;
use super::output::{Failure, say};
use crate::evaluate::EvaluateError;
use crate::evaluate::run::{self, Run};
use crate::workload::qrels::{self, RawJudgement};
use crate::workload::{DocUrls, shown};

/// The map of a file as readers of collections take it, if one is named.
pub(super) fn of_pages(
    map: Option<&Path>,
) -> Result<Option<Arc<HashMap<String, String>>>, Failure> {
    let urls = map.map(DocUrls::load).transpose()?;
    Ok(urls.map(|urls| Arc::new(urls.into_map())))
}

/// Judgements with the URLs of their documents by a map; says how many are of documents without one.
pub(super) fn judgements(
    path: &Path,
    map: &DocUrls,
    global: &Global,
) -> Result<Vec<RawJudgement>, Failure> {
    let (judgements, others) = qrels::load_by_id(path, map)?;
    if others > 0 {
        let what = format!("{others} judgements of documents that have no URL");
        say(global, &format!("{}: {what}", shown(path)));
    }
    Ok(judgements)
}

/// What a URL with a fragment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fragments {
    /// A part of a page, which is a document of its own.
    Parts,
    /// The page, for documents are pages.
    Pages,
}

/// The canonical form of a document's URL; none of a part of a page.
fn canonical(docid: &str, fragments: Fragments) -> Option<String> {
    let is_part = fragments == Fragments::Parts && docid.contains('#');
    url::canonical(docid).ok().filter(|_| !is_part)
}

/// Judgements whose documents go by ids or by URLs; URLs are made canonical. What is judged of two spellings of a URL is the
/// higher grade.
///
/// # Errors
/// The file cannot be read, or a line is malformed.
pub(super) fn judgements_as_they_are(
    path: &Path,
    fragments: Fragments,
) -> Result<Vec<RawJudgement>, EvaluateError> {
    let raw = qrels::load_raw(path)?;
    Ok(qrels::by_url(raw, |judgement| Ok(canonical(&judgement.docid, fragments)))?)
}

/// A run whose documents go by ids, of which a map may know the URLs, or by URLs, which are made canonical. Of two documents
/// of one URL in a list the better one stays. Where there is a map, says how many results go by neither.
pub(super) fn run(
    mut run: Run,
    (file, map): (&str, Option<&DocUrls>),
    fragments: Fragments,
    global: &Global,
) -> Run {
    let mut others = 0;
    for results in run.queries.values_mut() {
        for result in results.iter_mut() {
            let url = map.and_then(|map| map.url(&result.docid)).unwrap_or(&result.docid);
            match canonical(url, fragments) {
                Some(url) => result.docid = url,
                None => others += 1,
            }
        }
        // Ties are in the order of ids, which are others now.
        run::sort(results);
        let mut seen: HashSet<String> = HashSet::new();
        results.retain(|result| seen.insert(result.docid.clone()));
    }
    if map.is_some() && others > 0 {
        say(global, &format!("{file}: {others} results of documents that have no URL"));
    }
    run
}
