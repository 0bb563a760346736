//! What a scenario changes: URLs that enter, leave and move, and why; queries and hosts that gain and
//! lose.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;

use super::answer::Answer;
use super::figures::by_host;
use super::hosts::Hosts;
use crate::estimate::objective::Objective;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::url_estimate::UrlEstimate;
use crate::plan::Pick;
use crate::plan::caps::Cap;
use crate::plan::explore::Pool;
use crate::results::whatif::{Difference, HostChange, UrlChange, WhatIfQueryChange};
use crate::workload::Query;

/// URLs of a list.
const URLS: usize = 200;
/// Queries, or hosts, of a list.
const SHOWN: usize = 20;
/// Relative difference of estimates that is no difference.
const SAME: f64 = 1e-9;

/// A plan with the places of its URLs.
struct Placed<'a> {
    answer: &'a Answer,
    /// By URL id: position in the ranking, from 1; 0 for none.
    ranks: Vec<u32>,
    /// By URL id: position in the batch, from 1; 0 for none.
    picks: Vec<u32>,
    held_back: HashMap<u32, Cap>,
}

impl<'a> Placed<'a> {
    fn new(answer: &'a Answer, urls: &UrlTable) -> Self {
        let batch = &answer.choice.batch;
        let (mut ranks, mut picks) = (vec![0; urls.len()], vec![0; urls.len()]);
        for (at, url) in batch.ranking.iter().enumerate() {
            ranks[url.url.index()] = at as u32 + 1;
        }
        for (at, pick) in batch.picks.iter().enumerate() {
            picks[pick.estimate.url.index()] = at as u32 + 1;
        }
        Self { answer, ranks, picks, held_back: batch.held_back.iter().copied().collect() }
    }

    fn estimate(&self, url: UrlId) -> Option<&'a UrlEstimate> {
        let at = self.ranks[url.index()].checked_sub(1)?;
        Some(&self.answer.choice.batch.ranking[at as usize])
    }

    /// What it is ranked by, or fetched again for; 0 if it is neither.
    fn value(&self, url: UrlId) -> f64 {
        let again = self.pick(url).map(|pick| pick.estimate.estimate);
        self.estimate(url).map(|url| url.estimate).or(again).unwrap_or(0.0)
    }

    /// Whether its page is fetched again.
    fn is_again(&self, url: UrlId) -> bool {
        self.pick(url).is_some_and(|pick| pick.pool == Pool::Revisit)
    }

    /// Impact expected of picks, as far as the plan ranks them.
    fn worth(&self, picks: &[UrlId]) -> f64 {
        let known = picks.iter().copied().filter(|&url| self.estimate(url).is_some());
        self.answer.expecting().enters(&known.collect::<Vec<_>>())
    }

    /// Position in the batch, from 1.
    fn rank(&self, url: UrlId) -> Option<usize> {
        Some(self.picks[url.index()] as usize).filter(|&rank| rank > 0)
    }

    fn pick(&self, url: UrlId) -> Option<&'a Pick> {
        Some(&self.answer.choice.batch.picks[self.rank(url)? - 1])
    }

    fn cap(&self, url: UrlId) -> Option<Cap> {
        self.held_back.get(&self.ranks[url.index()].checked_sub(1)?).copied()
    }
}

/// How the plan `after` differs from the plan `before`, of the same store.
pub(crate) fn difference(
    before: &Answer,
    after: &Answer,
    urls: &UrlTable,
    hosts: &Hosts,
) -> Difference {
    let (old, new) = (Placed::new(before, urls), Placed::new(after, urls));
    let (old_picks, new_picks) = (before.urls(), after.urls());
    let entering: Vec<UrlId> =
        new_picks.iter().copied().filter(|&url| old.rank(url).is_none()).collect();
    let leaving: Vec<UrlId> =
        old_picks.iter().copied().filter(|&url| new.rank(url).is_none()).collect();
    let mut moving: Vec<(usize, UrlId)> = new_picks
        .iter()
        .filter_map(|&url| Some((new.rank(url)?.abs_diff(old.rank(url)?), url)))
        .filter(|(by, _)| *by > 0)
        .collect();
    // By how far, then in the order of the plan.
    moving.sort_by_key(|(by, _)| std::cmp::Reverse(*by));
    let asked = Frequencies::new(&before.queries, &after.queries);
    let change = |url: UrlId| url_change(&old, &new, &asked, url, urls);
    let (gaining, losing) = query_changes(before, after, &asked);
    let (gains, losses) = gains_and_losses(&old, &new);
    let (low, high) = after.expecting().shares.interval(gains, losses);
    Difference {
        impact: gains - losses,
        low,
        high,
        unchanged_batch: new.worth(&old_picks),
        kept: new_picks.len() - entering.len(),
        entering_count: entering.len(),
        entering: entering.into_iter().take(URLS).map(change).collect(),
        leaving_count: leaving.len(),
        leaving: leaving.into_iter().take(URLS).map(change).collect(),
        moving_count: moving.len(),
        moving: moving.into_iter().take(URLS).map(|(_, url)| change(url)).collect(),
        gaining,
        losing,
        hosts: host_changes(before, after, hosts),
    }
}

/// Impact expected of URLs that enter or bring more, and of those that leave or bring less.
fn gains_and_losses(old: &Placed<'_>, new: &Placed<'_>) -> (f64, f64) {
    let (mut gains, mut losses) = (0.0, 0.0);
    let mut change = |by: f64| if by > 0.0 { gains += by } else { losses -= by };
    let (before, after) = (&old.answer.expected.of_url, &new.answer.expected.of_url);
    for (url, is) in new.answer.urls().into_iter().zip(after) {
        let was = old.rank(url).map_or(0.0, |rank| before[rank - 1]);
        change(is - was);
    }
    for (url, was) in old.answer.urls().into_iter().zip(before) {
        if new.rank(url).is_none() {
            change(-was);
        }
    }
    (gains, losses)
}

fn url_change(
    old: &Placed<'_>,
    new: &Placed<'_>,
    asked: &Frequencies<'_>,
    url: UrlId,
    urls: &UrlTable,
) -> UrlChange {
    UrlChange {
        url: urls.spelling(url).to_owned(),
        rank_before: old.rank(url),
        rank_after: new.rank(url),
        estimate_before: old.value(url),
        estimate_after: new.value(url),
        reason: reason(old, new, asked, url),
    }
}

/// What made a URL enter, leave or move.
fn reason(old: &Placed<'_>, new: &Placed<'_>, asked: &Frequencies<'_>, url: UrlId) -> String {
    match (old.is_again(url), new.is_again(url)) {
        (false, true) => return "its page is fetched again".to_owned(),
        (true, false) => return "its page is not fetched again".to_owned(),
        (true, true) => return "its page is fetched again, before or after other URLs".to_owned(),
        (false, false) => {}
    }
    let Some(after) = old.estimate(url).zip(new.estimate(url)) else {
        let is_fetched = |of: &Placed<'_>| of.answer.counts_as_fetched(url);
        return match (is_fetched(old), is_fetched(new)) {
            (false, true) => "it counts as fetched".to_owned(),
            (true, false) => "it no longer counts as fetched".to_owned(),
            _ => "it must not be planned".to_owned(),
        };
    };
    let (before, after) = after;
    let drawn = |of: &Placed<'_>| of.pick(url).is_some_and(Pick::is_drawn);
    match (old.cap(url), new.cap(url)) {
        (Some(cap), None) if new.rank(url).is_some() => {
            return format!("the {} cap no longer holds it back", cap.name());
        }
        (None, Some(cap)) if new.rank(url).is_none() => {
            return format!("the {} cap holds it back", cap.name());
        }
        _ => {}
    }
    if drawn(new) && old.rank(url).is_none() {
        return "drawn at random".to_owned();
    }
    if drawn(old) && new.rank(url).is_none() {
        return "was drawn at random, and is not again".to_owned();
    }
    let change = after.estimate - before.estimate;
    let same = change.abs() <= SAME * before.estimate.abs().max(after.estimate.abs());
    // Who leaves with a higher estimate leaves because of others.
    let on_its_own = match (old.rank(url), new.rank(url)) {
        (None, Some(_)) => change > 0.0,
        (Some(_), None) => change < 0.0,
        _ => true,
    };
    if !same && on_its_own && before.deferred != after.deferred {
        let why = if after.deferred {
            "it is deferred: slow start, or only young domains link to it"
        } else {
            "it is no longer deferred behind the URLs of others"
        };
        return why.to_owned();
    }
    if !same && on_its_own {
        return changed(old, new, asked, before, after);
    }
    let budgets = [old, new].map(|of| of.answer.settings.selection.budget);
    match (old.rank(url), new.rank(url)) {
        (None, Some(_)) if budgets[1] > budgets[0] => "the budget reaches it".to_owned(),
        (Some(_), None) if budgets[1] < budgets[0] => "the budget ends before it".to_owned(),
        (None, Some(_)) => "others fell behind it".to_owned(),
        (Some(_), None) => "others went ahead of it".to_owned(),
        _ => "others changed places".to_owned(),
    }
}

/// What changed an estimate most: a weight, a query, a part, the objective, or its host.
fn changed(
    old: &Placed<'_>,
    new: &Placed<'_>,
    asked: &Frequencies<'_>,
    before: &UrlEstimate,
    after: &UrlEstimate,
) -> String {
    let weights = [old, new].map(|of| of.answer.choice.blended.blend.weights);
    let up = after.estimate > before.estimate;
    let size = |value: f64| if up { value } else { -value };
    let mut causes: Vec<(f64, Cause)> = Vec::new();
    // What is left of a part is the work of other lists or of other matching.
    let mut parts = Parts::of(|part| after.parts[part] - before.parts[part]);
    for pair in new.answer.scored.pairs_of(after.url) {
        let at = pair.query.index();
        let part = Part::of_pair(pair.matches);
        let change = (new.answer.queries[at].frequency - asked.was(at)) * pair.chance;
        parts[part] -= change;
        causes.push((size(weights[0][part] * change), Cause::Query(at)));
    }
    for (part, change) in parts.iter() {
        let [was, is] = weights.map(|weights| weights[part]);
        causes.push((size((is - was) * after.parts[part]), Cause::Weight(part)));
        causes.push((size(was * change), Cause::Part(part)));
    }
    let objectives = [old, new].map(|of| of.answer.settings.estimate.objective);
    if objectives[0] != objectives[1] {
        let explained: f64 = causes.iter().map(|(by, _)| by).sum();
        causes.push((size(after.estimate - before.estimate) - explained, Cause::Objective));
    }
    let least = SAME * before.estimate.abs().max(after.estimate.abs());
    causes.retain(|(by, _)| *by > least);
    let most = causes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    match most.map(|(_, cause)| cause) {
        Some(Cause::Weight(part)) => {
            format!("weight of {} {:.2} → {:.2}", part.name(), weights[0][part], weights[1][part])
        }
        Some(Cause::Query(at)) => {
            let query = &new.answer.queries[at];
            format!("\"{}\" asked {} → {} times", query.text, asked.was(at), query.frequency)
        }
        Some(Cause::Part(part)) => {
            let [was, is] = [before, after].map(|url| url.parts[part]);
            format!("{} part {was:.2} → {is:.2}", part.name())
        }
        Some(Cause::Objective) => {
            let [was, is] = objectives.map(Objective::name);
            format!("objective {was} → {is}")
        }
        None => "its host counts for more or less".to_owned(),
    }
}

#[derive(Clone, Copy)]
enum Cause {
    Weight(Part),
    Part(Part),
    Query(usize),
    Objective,
}

/// How often a query of `after`, given by index, was asked before. Queries that one of two answers
/// does not know stand at its end, in an order of its own.
struct Frequencies<'a> {
    before: &'a [Query],
    after: &'a [Query],
    /// By the words of queries of `before`; empty where all stand at the same places.
    by_words: HashMap<&'a [String], usize>,
}

impl<'a> Frequencies<'a> {
    fn new(before: &'a [Query], after: &'a [Query]) -> Self {
        let same = |(a, b): (&Query, &Query)| a.words == b.words;
        let is_start = before.len() <= after.len() && before.iter().zip(after).all(same);
        let place = |(at, query): (usize, &'a Query)| (query.words.as_slice(), at);
        let by_words =
            if is_start { HashMap::new() } else { before.iter().enumerate().map(place).collect() };
        Self { before, after, by_words }
    }

    /// Place of a query among those of before.
    fn place(&self, at: usize) -> Option<usize> {
        if self.by_words.is_empty() {
            return (at < self.before.len()).then_some(at);
        }
        self.by_words.get(self.after[at].words.as_slice()).copied()
    }

    /// How often it was asked.
    fn was(&self, at: usize) -> f64 {
        self.place(at).map_or(0.0, |at| self.before[at].frequency)
    }
}

/// Queries that gain most and those that lose most, in askings.
fn query_changes(
    before: &Answer,
    after: &Answer,
    asked: &Frequencies<'_>,
) -> (Vec<WhatIfQueryChange>, Vec<WhatIfQueryChange>) {
    let (old, new) = (&before.expected.of_query, &after.expected.of_query);
    let was_at = |at: usize| (before.queries[at].frequency, old[at]);
    let is_at = |at: usize| (after.queries[at].frequency, new[at]);
    let change = WhatIfQueryChange::askings_gained;
    let mut is_known = vec![false; before.queries.len()];
    let mut rows: Vec<WhatIfQueryChange> = Vec::new();
    for (at, query) in after.queries.iter().enumerate() {
        let was = asked.place(at);
        if let Some(was) = was {
            is_known[was] = true;
        }
        rows.push(query_change(query, was.map(was_at), Some(is_at(at))));
    }
    let gone = before.queries.iter().enumerate().filter(|(at, _)| !is_known[*at]);
    rows.extend(gone.map(|(at, query)| query_change(query, Some(was_at(at)), None)));
    rows.retain(|row| change(row) != 0.0);
    // A stable sort, so that equals stay in the order of the queries.
    rows.sort_by(|a, b| change(b).total_cmp(&change(a)));
    let gaining = rows.iter().take_while(|row| change(row) > 0.0).take(SHOWN);
    let losing = rows.iter().rev().take_while(|row| change(row) < 0.0).take(SHOWN);
    (gaining.cloned().collect(), losing.cloned().collect())
}

/// A query in two plans, from its frequency and its results in each; none where it is not asked.
fn query_change(
    query: &Query,
    was: Option<(f64, f64)>,
    is: Option<(f64, f64)>,
) -> WhatIfQueryChange {
    let (frequency_before, results_before) = was.unwrap_or_default();
    let (frequency_after, results_after) = is.unwrap_or_default();
    WhatIfQueryChange {
        qid: query.qid.clone(),
        query: query.text.clone(),
        frequency_before,
        frequency_after,
        results_before,
        results_after,
    }
}

fn host_changes(before: &Answer, after: &Answer, hosts: &Hosts) -> Vec<HostChange> {
    let (old, new) = (by_host(before, hosts), by_host(after, hosts));
    let by = |at: usize| (new[at].1 - old[at].1).abs();
    let mut order: Vec<usize> = (0..new.len()).filter(|&at| old[at] != new[at]).collect();
    order.sort_by(|&a, &b| {
        by(b).total_cmp(&by(a)).then_with(|| hosts.names()[a].cmp(&hosts.names()[b]))
    });
    let row = |&at: &usize| host_change(&hosts.names()[at], old[at], new[at]);
    order.iter().take(SHOWN).map(row).collect()
}

/// A host in two plans, from its picks and their expected impact in each.
fn host_change(
    host: &str,
    (urls_before, impact_before): (usize, f64),
    (urls_after, impact_after): (usize, f64),
) -> HostChange {
    let host = host.to_owned();
    HostChange { host, urls_before, urls_after, impact_before, impact_after }
}
