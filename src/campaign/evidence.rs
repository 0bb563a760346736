//! What a language model, or a person, is shown of a query: the pages that are served for it, and the links that may
//! bring more.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, for_each_text};

use super::plan::Plan;
use super::{CampaignError, OpenStore};
use crate::estimate::url_estimate::PairEstimate;
use crate::sufficiency::strategy::language_model::Shown;

/// Links of a query.
const LINKS: usize = 25;

/// The distinct anchors that lead to a URL, as one text.
pub(super) fn anchors(known: &Known, url: UrlId) -> String {
    let incoming = known.links.incoming(url, u32::MAX);
    let mut anchors: Vec<&str> = incoming.map(|link| known.links.anchor(link.anchor)).collect();
    anchors.sort_unstable();
    anchors.dedup();
    anchors.join(" ")
}

/// Of queries of a plan, by place there.
///
/// # Errors
/// A text cannot be read.
pub(crate) fn evidence(
    open: &OpenStore,
    plan: &Plan,
    queries: &[usize],
) -> Result<Vec<Shown>, CampaignError> {
    let (known, store) = (&open.known, &open.store);
    let list = |query: usize| plan.served.lists[query].iter();
    let seq = |(url, _): &(UrlId, f64)| known.pages.page_seq(*url);
    let wanted = queries.iter().flat_map(|&query| list(query).filter_map(seq));
    let mut texts: HashMap<u32, String> = wanted.map(|seq| (seq, String::new())).collect();
    if let Some(&first) = texts.keys().min() {
        for_each_text(store.storage(), store.manifest(), first, |pages| {
            for page in pages {
                if let Some(text) = texts.get_mut(&page.seq) {
                    *text = format!("{}\n{}", page.title, page.text);
                }
            }
            Ok(())
        })?;
    }
    let mut candidates: HashMap<usize, Vec<PairEstimate>> =
        queries.iter().map(|&query| (query, Vec::new())).collect();
    for pair in plan.scored.pairs().filter(|pair| known.pages.in_frontier(pair.url)) {
        if let Some(pairs) = candidates.get_mut(&pair.query.index()) {
            pairs.push(pair);
        }
    }
    let of = |&query: &usize| {
        let mut pairs = candidates.remove(&query).unwrap_or_default();
        pairs.sort_by(|a, b| b.chance.total_cmp(&a.chance).then(a.url.cmp(&b.url)));
        let links = pairs
            .into_iter()
            .take(LINKS)
            .map(|pair| (known.urls.url(pair.url).to_owned(), anchors(known, pair.url)));
        let passages = list(query).filter_map(seq).map(|seq| texts[&seq].clone()).collect();
        let query = plan.workload.queries[query].text.clone();
        Shown { query, passages, links: links.collect() }
    };
    Ok(queries.iter().map(of).collect())
}
