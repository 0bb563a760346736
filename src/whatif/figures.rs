//! Figures of a plan: what it is expected to bring, to whom, and whom it cannot help.

use prospect_index::url_table::UrlTable;

use super::answer::Answer;
use super::budget::Budgets;
use super::hosts::Hosts;
use crate::planner::revisits::Revisited;
use crate::results::whatif::{HostFigures, PlanFigures, QueryFigures, RevisitFigures, Uncovered};

/// Entries of a list.
const SHOWN: usize = 20;

/// By host: picks, and their expected impact.
pub(crate) fn by_host(answer: &Answer, hosts: &Hosts) -> Vec<(usize, f64)> {
    let mut by_host = vec![(0, 0.0); hosts.names().len()];
    for (pick, expected) in answer.choice.batch.picks.iter().zip(&answer.expected.of_url) {
        let (urls, impact) = &mut by_host[hosts.of(pick.estimate.url)];
        *urls += 1;
        *impact += expected;
    }
    by_host
}

/// The figures of a plan, of which the budget may be what there is time for.
pub(crate) fn figures(
    answer: &Answer,
    urls: &UrlTable,
    hosts: &Hosts,
    fills_time: bool,
) -> PlanFigures {
    let batch = &answer.choice.batch;
    let selection = &answer.settings.selection;
    let results = &answer.expected.of_query;
    let gain = |at: usize| answer.queries[at].frequency * results[at];
    let mut by_gain: Vec<usize> = (0..results.len()).filter(|&at| gain(at) > 0.0).collect();
    by_gain.sort_by(|&a, &b| gain(b).total_cmp(&gain(a)).then(a.cmp(&b)));
    let of_query = |&at: &usize| query(answer, at, results[at]);
    let weights = answer.choice.weights();
    let budgets = Budgets::of(answer, urls);
    PlanFigures {
        budget: selection.budget,
        picks: batch.picks.len(),
        drawn: batch.drawn(),
        frontier: batch.ranking.len(),
        held_back: batch.held_back.len(),
        expected_impact: answer.expected.impact,
        weights: weights.map(|(part, weight)| (part.name().to_owned(), weight)).collect(),
        explore: selection.explore,
        curve: budgets.curve(),
        time: budgets.time(fills_time),
        revisits: revisits(answer),
        caps: budgets.prices(),
        hosts: host_figures(answer, hosts),
        queries: by_gain.iter().take(SHOWN).map(of_query).collect(),
        uncovered: uncovered(answer),
    }
}

fn revisits(answer: &Answer) -> Option<RevisitFigures> {
    let planned = answer.choice.planned_revisits();
    let Revisited { changed, impact } = Revisited::expected(&planned);
    (!planned.is_empty()).then_some(RevisitFigures { urls: planned.len(), changed, impact })
}

fn query(answer: &Answer, at: usize, results: f64) -> QueryFigures {
    let query = &answer.queries[at];
    QueryFigures {
        qid: query.qid.clone(),
        query: query.text.clone(),
        frequency: query.frequency,
        results,
        served: answer.served.lists[at].len(),
    }
}

fn host_figures(answer: &Answer, hosts: &Hosts) -> Vec<HostFigures> {
    let by_host = by_host(answer, hosts);
    let mut order: Vec<usize> = (0..by_host.len()).filter(|&at| by_host[at].0 > 0).collect();
    order.sort_by(|&a, &b| {
        let names = || hosts.names()[a].cmp(&hosts.names()[b]);
        by_host[b].1.total_cmp(&by_host[a].1).then_with(names)
    });
    let of_host = |&at: &usize| host(&hosts.names()[at], by_host[at]);
    order.iter().take(SHOWN).map(of_host).collect()
}

/// A host with its picks and their expected impact.
fn host(name: &str, (urls, impact): (usize, f64)) -> HostFigures {
    HostFigures { host: name.to_owned(), urls, impact }
}

/// Queries for which no URL of the frontier has a chance: those that are hopeless if they lack something.
fn uncovered(answer: &Answer) -> Uncovered {
    let mut reach = vec![0.0; answer.queries.len()];
    for pair in answer.scored.pairs() {
        reach[pair.query.index()] += pair.chance;
    }
    let frequency = |at: usize| answer.queries[at].frequency;
    let mut found: Vec<usize> =
        (0..reach.len()).filter(|&at| frequency(at) > 0.0 && reach[at] <= 0.0).collect();
    // A list that is full has what it can get; one that is not lacks pages that nothing links to.
    let is_full = |at: usize| answer.served.lists[at].len() >= answer.served.k;
    found.sort_by(|&a, &b| {
        let by_frequency = || frequency(b).total_cmp(&frequency(a));
        is_full(a).cmp(&is_full(b)).then_with(by_frequency).then(a.cmp(&b))
    });
    Uncovered {
        queries: found.len(),
        frequency: found.iter().map(|&at| frequency(at)).sum(),
        most_asked: found.iter().take(SHOWN).map(|&at| query(answer, at, reach[at])).collect(),
    }
}
