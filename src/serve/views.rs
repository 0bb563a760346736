//! Views of an answer as JSON.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value, json};

use super::routes::Request;
use crate::campaign::explanation::Explained;
use crate::campaign::questions::{Answered, Questions};
use crate::estimate::parts::Part;
use crate::estimate::url_estimate::{PairEstimate, UrlEstimate};
use crate::estimate::url_parts::writings;
use crate::plan::Batch;
use crate::plan::caps::Cap;
use crate::planner::options::PlannerOption;
use crate::planner::settings::PlanSettings;
use crate::whatif::answer::Answer;

/// Rows of a page at most.
pub(super) const ROWS: usize = 500;
/// Candidates of a query, and hosts that are named.
const CANDIDATES: usize = 100;
const HOSTS: usize = 200;

/// The store, and the plan without a scenario.
pub(crate) fn state(questions: &Questions, allow_write: bool, carry_out: &str) -> Value {
    let base = &questions.base;
    let mut kinds: Vec<&str> = base.queries.iter().map(|query| query.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    json!({
        "state": questions.state(),
        "base": questions.base_figures,
        "options": options(base),
        "kinds": kinds.into_iter().filter(|kind| !kind.is_empty()).collect::<Vec<_>>(),
        "hosts": hosts(questions),
        "allow_write": allow_write,
        "carry_out": carry_out,
    })
}

/// Options with their values in the plan of today.
fn options(base: &Answer) -> Vec<Value> {
    let shown = PlannerOption::all().iter().filter(|option| !option.is_hidden);
    shown.map(|option| offered(option, &base.settings)).collect()
}

/// What a control for an option is made of.
fn offered(option: &PlannerOption, today: &PlanSettings) -> Value {
    json!({
        "name": option.name,
        "help": option.help,
        "kind": option.kind(),
        "range": option.kind().range(),
        "is_cap": option.is_cap(),
        "is_slow": option.invalidates.is_slow(),
        "invalidates": option.invalidates,
        "today": option.get(today),
    })
}

/// Hosts of the frontier, those with most URLs first.
fn hosts(questions: &Questions) -> Vec<&str> {
    let names = questions.hosts.names();
    let mut counts = vec![0_usize; names.len()];
    for url in &questions.base.choice.batch.ranking {
        counts[questions.hosts.of(url.url)] += 1;
    }
    let mut order: Vec<usize> = (0..names.len()).filter(|&at| counts[at] > 0).collect();
    order.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then_with(|| names[a].cmp(&names[b])));
    order.into_iter().take(HOSTS).map(|at| names[at].as_str()).collect()
}

/// By URL id: position in the batch, from 1.
fn batch_ranks(answer: &Answer) -> HashMap<u32, usize> {
    let picks = answer.choice.batch.picks.iter().enumerate();
    picks.map(|(at, pick)| (pick.estimate.url.0, at + 1)).collect()
}

/// The ranking, page by page.
pub(super) fn frontier(questions: &Questions, found: &Answered, asked: &Request) -> Value {
    let answer = &found.answer;
    let batch = &answer.choice.batch;
    let (urls, ranks) = (&questions.open.known.urls, batch_ranks(answer));
    let held_back: HashMap<u32, Cap> = batch.held_back.iter().copied().collect();
    let search = asked.search.trim().to_lowercase();
    let holds = |written: Cow<'_, str>| written.to_lowercase().contains(&search);
    let is_found = |id| search.is_empty() || writings(urls, id).any(holds);
    let is_shown = |url: &UrlEstimate| {
        (!asked.picked_only || ranks.contains_key(&url.url.0)) && is_found(url.url)
    };
    let places: Vec<usize> =
        (0..batch.ranking.len()).filter(|&at| is_shown(&batch.ranking[at])).collect();
    let row = |&at: &usize| ranked(questions, batch, &ranks, &held_back, at);
    let rows = page(&places, asked).iter().map(row);
    let parts = Part::ALL.map(Part::name);
    json!({ "total": places.len(), "parts": parts, "urls": rows.collect::<Vec<_>>() })
}

/// A row of the ranking.
fn ranked(
    questions: &Questions,
    batch: &Batch,
    ranks: &HashMap<u32, usize>,
    held_back: &HashMap<u32, Cap>,
    at: usize,
) -> Value {
    let url = &batch.ranking[at];
    let rank = ranks.get(&url.url.0);
    json!({
        "rank": at + 1,
        "url": questions.open.known.urls.spelling(url.url),
        "estimate": url.estimate,
        "parts": url.parts,
        "inlinks": url.inlinks,
        "batch_rank": rank,
        "pool": rank.map(|rank| batch.picks[*rank - 1].pool),
        "held_back_by": held_back.get(&(at as u32)).map(|cap| cap.name()),
    })
}

fn page<'a, T>(rows: &'a [T], asked: &Request) -> &'a [T] {
    let from = asked.offset.min(rows.len());
    let to = from.saturating_add(asked.limit.min(ROWS)).min(rows.len());
    &rows[from..to]
}

/// Queries, page by page.
pub(super) fn queries(questions: &Questions, found: &Answered, asked: &Request) -> Value {
    let answer = &found.answer;
    let results = &answer.expected.of_query;
    let mut candidates = vec![0_usize; answer.queries.len()];
    for pair in answer.scored.pairs() {
        candidates[pair.query.index()] += 1;
    }
    let search = asked.search.trim().to_lowercase();
    let mut places: Vec<usize> = (0..answer.queries.len())
        .filter(|&at| answer.queries[at].text.to_lowercase().contains(&search))
        .collect();
    let by_gain = asked.order == "gain";
    let frequency = |at: usize| answer.queries[at].frequency;
    let worth = |at: usize| if by_gain { frequency(at) * results[at] } else { frequency(at) };
    places.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)).then(a.cmp(&b)));
    let row = |&at: &usize| asked_query(questions, answer, (results[at], candidates[at]), at);
    let rows = page(&places, asked).iter().map(row);
    json!({ "total": places.len(), "queries": rows.collect::<Vec<_>>() })
}

/// A row of the queries, with the pages that a batch brings a query, and its candidates.
fn asked_query(
    questions: &Questions,
    answer: &Answer,
    (results, candidates): (f64, usize),
    at: usize,
) -> Value {
    let (query, known) = (&answer.queries[at], questions.whatif_base.base.queries.get(at));
    json!({
        "qid": query.qid,
        "query": query.text,
        "kind": query.kind,
        "frequency": query.frequency,
        "base_frequency": known.map_or(0.0, |query| query.frequency),
        "results": results,
        "served": answer.served.lists[at].len(),
        "kth_score": answer.served.kth_score(at),
        "candidates": candidates,
    })
}

/// Why a URL is planned or not.
pub(super) fn url(questions: &Questions, found: &Answered, asked: &Request) -> Option<Value> {
    let Answer { settings, queries, choice, factors, .. } = &found.answer;
    let address = prospect_index::url::canonical(asked.url.trim()).ok()?;
    let id = questions.open.known.urls.get(&address)?;
    let mut reasons = questions.reasons(&found.answer);
    // What cannot be read is not shown: everything else was found without it.
    reasons.link_context = questions.open.link_context().ok();
    let vectors = questions.open.plan_vectors(settings.embedding.as_ref(), queries).ok().flatten();
    let reasons = reasons.with_vectors(vectors.as_ref());
    serde_json::to_value(
        Explained { reasons, choice, settings, factors, retries: &questions.whatif_base.retries }
            .explain(id),
    )
    .ok()
}

/// A URL that may come for a query.
fn candidate(questions: &Questions, pair: &PairEstimate, ranks: &HashMap<u32, usize>) -> Value {
    json!({
        "url": questions.open.known.urls.spelling(pair.url),
        "chance": pair.chance,
        "expected_score": pair.expected_score,
        "matches": pair.matches,
        "batch_rank": ranks.get(&pair.url.0),
    })
}

/// A query: what search returns now, and what may come.
pub(super) fn query(questions: &Questions, found: &Answered, asked: &Request) -> Option<Value> {
    let answer = &found.answer;
    let at = answer.queries.iter().position(|query| query.qid == asked.qid)?;
    let (query, urls, ranks) =
        (&answer.queries[at], &questions.open.known.urls, batch_ranks(answer));
    let mut pairs: Vec<_> = answer.scored.pairs().filter(|pair| pair.query.index() == at).collect();
    pairs.sort_by(|a, b| b.chance.total_cmp(&a.chance).then(a.url.cmp(&b.url)));
    let candidate = |pair: &PairEstimate| candidate(questions, pair, &ranks);
    let results = answer.served.lists[at].iter();
    let result = |(url, score): &(_, f64)| json!({ "url": urls.spelling(*url), "score": score });
    Some(json!({
        "qid": query.qid,
        "query": query.text,
        "kind": query.kind,
        "frequency": query.frequency,
        "k": answer.settings.k,
        "kth_score": answer.served.kth_score(at),
        "results": results.map(result).collect::<Vec<_>>(),
        "candidates": pairs.iter().take(CANDIDATES).map(candidate).collect::<Vec<_>>(),
        "candidates_total": pairs.len(),
    }))
}
