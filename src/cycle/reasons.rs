//! Why a URL was picked: its best queries, and what matched where.

use std::collections::BTreeMap;

use prospect_index::ngram::{NgramQuery, NgramSet};
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::words::url_text;

use super::planner::Plan;
use crate::estimate::blend;
use crate::plan::Pick;
use crate::plan::export::{Evidence, PlannedUrl, QueryReason};
use crate::plan::settings::PlanSettings;

/// Anchors shown per query.
const ANCHORS_SHOWN: usize = 2;

/// The batch with its reasons, in batch order; `queries` of them per URL.
pub fn planned(
    known: &Known,
    plan: &Plan,
    settings: &PlanSettings,
    queries: usize,
) -> Vec<PlannedUrl> {
    let picks = plan.choice.batch.picks.iter().enumerate();
    picks.map(|(at, pick)| planned_url(known, plan, settings, at + 1, pick, queries)).collect()
}

fn planned_url(
    known: &Known,
    plan: &Plan,
    settings: &PlanSettings,
    rank: usize,
    pick: &Pick,
    queries: usize,
) -> PlannedUrl {
    let estimate = pick.estimate;
    PlannedUrl {
        rank,
        url: known.urls.spelling(estimate.url).to_owned(),
        estimate: estimate.estimate,
        query_impact: estimate.parts[blend::QUERY],
        locality_impact: estimate.parts[blend::LOCALITY],
        page_impact: estimate.parts[blend::PAGE],
        importance_impact: estimate.parts[blend::IMPORTANCE],
        quality_impact: estimate.parts[blend::QUALITY],
        quality: estimate.quality,
        inlinks: estimate.inlinks,
        frontier_rank: pick.frontier_rank,
        pool: pick.pool,
        propensity: pick.propensity,
        candidate_queries: plan.basis.pairs_of(estimate.url).len(),
        queries: reasons(known, plan, settings, estimate.url, queries),
    }
}

/// The queries that count most for a URL: by frequency times chance, then qid.
pub fn reasons(
    known: &Known,
    plan: &Plan,
    settings: &PlanSettings,
    url: UrlId,
    most: usize,
) -> Vec<QueryReason> {
    let worth = |query: u32, chance: f64| plan.workload.queries[query as usize].frequency * chance;
    let mut pairs = plan.basis.pairs_of(url).to_vec();
    pairs.sort_by(|a, b| {
        worth(b.query, b.chance).total_cmp(&worth(a.query, a.chance)).then(a.query.cmp(&b.query))
    });
    pairs
        .iter()
        .take(most)
        .map(|pair| {
            let query = &plan.workload.queries[pair.query as usize];
            let ngrams = NgramQuery::new(&query.words, settings.estimate.rule.max_words);
            QueryReason {
                qid: query.qid.clone(),
                query: query.text.clone(),
                frequency: query.frequency,
                chance: pair.chance,
                expected_score: pair.expected_score,
                kth_score: plan.served.kth_score(pair.query as usize),
                matched: evidence(known, &ngrams, url),
            }
        })
        .collect()
}

fn evidence(known: &Known, query: &NgramQuery, url: UrlId) -> Vec<Evidence> {
    let mut found = Vec::new();
    let in_url = query.matched_in(&url_text(known.urls.url(url)));
    if !in_url.is_empty() {
        let ngrams = longest(query, &in_url);
        found.push(Evidence { place: "url", text: String::new(), ngrams });
    }
    // Anchors by what they hold, longest first; equal texts are one anchor.
    let mut anchors: BTreeMap<&str, NgramSet> = BTreeMap::new();
    for link in known.links.incoming(url, u32::MAX) {
        let text = known.links.anchor(link.anchor);
        anchors.entry(text).or_insert_with(|| query.matched_in(text));
    }
    let mut anchors: Vec<(&str, NgramSet)> =
        anchors.into_iter().filter(|(_, set)| !set.is_empty()).collect();
    anchors.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    found.extend(anchors.into_iter().take(ANCHORS_SHOWN).map(|(text, set)| Evidence {
        place: "anchor",
        text: text.to_owned(),
        ngrams: longest(query, &set),
    }));
    found
}

/// The n-grams of a set that lie in no longer one of it.
fn longest(query: &NgramQuery, set: &NgramSet) -> Vec<String> {
    let ngrams: Vec<String> = set.iter().map(|number| query.ngram(number).join(" ")).collect();
    let inside = |short: &str, long: &str| {
        short.len() < long.len() && format!(" {long} ").contains(&format!(" {short} "))
    };
    let kept = ngrams.iter().filter(|ngram| !ngrams.iter().any(|long| inside(ngram, long)));
    kept.cloned().collect()
}
