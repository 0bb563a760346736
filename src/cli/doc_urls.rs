//! Documents that go by ids, as options of commands that read collections or judgements.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use prospect_index::url;

use super::Global;
use super::output::{Failure, say};
use crate::evaluate::EvaluateError;
use crate::evaluate::run::Run;
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

/// Judgements whose documents go by ids or by URLs; URLs are made canonical. What is judged of two spellings of a URL is the
/// higher grade.
///
/// # Errors
/// The file cannot be read, or a line is malformed.
pub(super) fn judgements_as_they_are(path: &Path) -> Result<Vec<RawJudgement>, EvaluateError> {
    let mut judged: Vec<RawJudgement> = Vec::new();
    // By query and URL: where it is judged, and how it is spelled there.
    let mut places: HashMap<(String, String), (usize, String)> = HashMap::new();
    for mut judgement in qrels::load_raw(path)? {
        if let Ok(url) = url::canonical(&judgement.docid) {
            let spelling = std::mem::replace(&mut judgement.docid, url.clone());
            let here = (judged.len(), spelling.clone());
            let (at, known) = places.entry((judgement.qid.clone(), url)).or_insert(here);
            // What is said twice in the same words is an error, as it is of ids.
            if *known != spelling {
                let grade = &mut judged[*at].grade;
                *grade = judgement.grade.max(*grade);
                continue;
            }
        }
        judged.push(judgement);
    }
    Ok(judged)
}

/// A run whose documents go by ids, of which a map may know the URLs, or by URLs, which are made canonical. Of two documents
/// of one URL in a list the better one stays. Where there is a map, says how many results go by neither.
pub(super) fn run(mut run: Run, (file, map): (&str, Option<&DocUrls>), global: &Global) -> Run {
    let mut others = 0;
    for results in run.queries.values_mut() {
        let mut seen: HashSet<String> = HashSet::new();
        results.retain_mut(|result| {
            let url = map.and_then(|map| map.url(&result.docid)).unwrap_or(&result.docid);
            match url::canonical(url) {
                Ok(url) => result.docid = url,
                Err(_) => others += 1,
            }
            seen.insert(result.docid.clone())
        });
    }
    if map.is_some() && others > 0 {
        say(global, &format!("{file}: {others} results of documents that have no URL"));
    }
    run
}
