//! Documents that go by ids, as options of commands that read collections or judgements.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use prospect_index::url;

use super::Global;
use super::output::{Failure, say};
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

/// A run whose documents go by ids that a map knows, or by URLs, with URLs. Of two documents of one URL in a list the better
/// one stays. Says how many results go by neither.
pub(super) fn run(mut run: Run, (file, map): (&str, &DocUrls), global: &Global) -> Run {
    let mut others = 0;
    for results in run.queries.values_mut() {
        let mut seen: HashSet<String> = HashSet::new();
        results.retain_mut(|result| {
            let url = map.url(&result.docid).unwrap_or(&result.docid);
            match url::canonical(url) {
                Ok(url) => result.docid = url,
                Err(_) => others += 1,
            }
            seen.insert(result.docid.clone())
        });
    }
    if others > 0 {
        say(global, &format!("{file}: {others} results of documents that have no URL"));
    }
    run
}
