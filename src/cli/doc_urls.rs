//! Documents that go by ids, as options of commands that read collections or judgements.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::Global;
use super::output::{Failure, say};
use crate::workload::qrels::{self, RawJudgement};
use crate::workload::{DocUrls, shown};

/// The map of a file as readers of collections take it, if one is named.
pub(super) fn of_pages(
    map: Option<&Path>,
) -> Result<Option<Arc<HashMap<String, String>>>, Failure> {
    let urls = map.map(DocUrls::load).transpose()?;
    Ok(urls.map(|urls| Arc::new(urls.into_map())))
}

/// Judgements with the URLs of their documents by the map of a file; says how many are of documents without one.
pub(super) fn judgements(
    path: &Path,
    map: &Path,
    global: &Global,
) -> Result<Vec<RawJudgement>, Failure> {
    let (judgements, others) = qrels::load_by_id(path, &DocUrls::load(map)?)?;
    if others > 0 {
        let what = format!("{others} judgements of documents that have no URL");
        say(global, &format!("{}: {what}", shown(path)));
    }
    Ok(judgements)
}
