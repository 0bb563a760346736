//! What a language model, or a person, is shown of a query: the pages that are served for it, and the links that may
//! bring more.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, for_each_text};

use super::planned::Plan;
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
    let wanted = queries.iter().flat_map(|&query| served_records(known, plan, query));
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
    let shown = queries.iter().map(|&query| Shown {
        query: plan.workload.queries[query].text.clone(),
        passages: served_records(known, plan, query).map(|seq| texts[&seq].clone()).collect(),
        links: best_links(known, candidates.remove(&query).unwrap_or_default()),
    });
    Ok(shown.collect())
}

/// The records of the pages that are served for a query.
fn served_records(known: &Known, plan: &Plan, query: usize) -> impl Iterator<Item = u32> {
    plan.served.lists[query].iter().filter_map(|(url, _)| known.pages.page_seq(*url))
}

/// The URLs of the candidates with the best chances, with their anchors.
fn best_links(known: &Known, mut candidates: Vec<PairEstimate>) -> Vec<(String, String)> {
    candidates.sort_by(|a, b| b.chance.total_cmp(&a.chance).then(a.url.cmp(&b.url)));
    let best = candidates.into_iter().take(LINKS);
    best.map(|pair| (known.urls.url(pair.url).to_owned(), anchors(known, pair.url))).collect()
}
