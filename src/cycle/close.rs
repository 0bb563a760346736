//! Closing a cycle: what was fetched, what it brought, and how well it was foreseen.

use std::collections::{HashMap, HashSet};

use prospect_index::bm25::Scorer;
use prospect_index::columns::Column;
use prospect_index::manifest::SegmentKind;
use prospect_index::page::UrlId;
use prospect_index::page_store::Fetch;
use serde::Serialize;

use super::planner::PlanSettings;
use super::records::{self, OUTCOMES, PAIR_OUTCOMES, QUERY_OUTCOMES, StoredPair, StoredPick};
use super::{CycleError, OpenStore};
use crate::estimate::blend::PARTS;
use crate::sketch::need::QueryOutcome;
use crate::sketch::served::ServedLists;
use crate::workload::Workload;

/// Bins of a calibration table.
pub const BINS: usize = 10;

/// One bin of pairs with about the same predicted chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// Pairs.
    pub pairs: usize,
    /// Mean predicted chance.
    pub predicted: f64,
    /// Share that entered the top K.
    pub realised: f64,
}

/// What became of a plan.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CycleOutcome {
    /// The plan.
    pub plan_id: String,
    /// URLs that were planned.
    pub planned: usize,
    /// Of them, fetched.
    pub fetched: usize,
    /// Of them, failed.
    pub failed: usize,
    /// Of them, redirected: their page is stored under the URL that answered.
    pub redirected: usize,
    /// Of them, not reported: unknown, not failed.
    pub unknown: usize,
    /// Pages fetched in the cycle that were not planned.
    pub unplanned: usize,
    /// Impact that the fetched picks were expected to have.
    pub predicted_impact: f64,
    /// Impact that they have: f(q) summed over the top-K lists they are in.
    pub realised_impact: f64,
    /// Ten bins of equal count, pairs of fetched picks by predicted chance; greedy and explored
    /// picks together. More pairs enter a list than stay, so a chance to last looks too low here.
    pub calibration: Vec<CalibrationBin>,
}

struct Row {
    url: UrlId,
    planned: bool,
    state: &'static str,
    explored: bool,
    propensity: f64,
    parts: [f64; PARTS],
    predicted: f64,
    realised: f64,
}

/// Computes the outcome of the open plan and commits it: the cycle is closed.
///
/// # Errors
/// There is no open plan, or the store cannot be read or written.
pub fn close(open: &mut OpenStore) -> Result<CycleOutcome, CycleError> {
    let Some(plan) = open.store.manifest().plan.clone() else { return Err(CycleError::NoPlan) };
    let settings: PlanSettings = serde_json::from_value(plan.settings.clone())?;
    let workload = records::workload(&open.store, &plan.id)?;
    let picks = records::picks(&open.store, &plan.id)?;
    let pairs = records::pairs(&open.store, &plan.id)?;
    let (before, after) = lists(open, &workload, &settings)?;
    let rows = outcome_rows(open, &workload, &picks, &after);
    let entered = entered_pairs(&workload, &pairs, &rows, &after);
    let outcome = summary(&plan.id, &rows, &entered);
    commit(open, &plan.id, &workload, &rows, &entered, (&before, &after))?;
    Ok(outcome)
}

/// Served lists at the start of the cycle and now, under the same statistics.
fn lists(
    open: &OpenStore,
    workload: &Workload,
    settings: &PlanSettings,
) -> Result<(ServedLists, ServedLists), CycleError> {
    let manifest = open.store.manifest();
    let epoch_end = manifest.epoch.end_seq;
    let scorer = Scorer::new(&open.text, settings.bm25, epoch_end, workload.words())?;
    let (queries, known) = (&workload.queries, &open.known);
    let start = manifest.cycles.last().map_or(0, |cycle| cycle.first_seq);
    let before = ServedLists::build(&scorer, queries, settings.k, start, &known.urls)?;
    let mut after = before.clone();
    after.update(&scorer, queries, manifest.next_seq, &known.pages, &known.urls)?;
    Ok((before, after))
}

/// Planned URLs in batch order, then pages of the cycle that were not planned, in fetch order.
fn outcome_rows(
    open: &OpenStore,
    workload: &Workload,
    picks: &[StoredPick],
    after: &ServedLists,
) -> Vec<Row> {
    let impact = after.impact(&workload.queries, open.known.urls.len());
    let realised = |url: UrlId| impact[url.index()];
    let pages = &open.known.pages;
    let mut rows: Vec<Row> = picks
        .iter()
        .map(|pick| {
            let state = match pages.fetch(pick.url) {
                Fetch::Never => "unknown",
                Fetch::Page { .. } => "fetched",
                Fetch::Failed { .. } => "failed",
                Fetch::Redirected { .. } => "redirected",
            };
            Row {
                url: pick.url,
                planned: true,
                state,
                explored: pick.explored,
                propensity: pick.propensity,
                parts: pick.parts,
                predicted: pick.estimate,
                realised: realised(pick.url),
            }
        })
        .collect();
    let planned: HashSet<UrlId> = picks.iter().map(|pick| pick.url).collect();
    let start = open.store.manifest().cycles.last().map_or(0, |cycle| cycle.first_seq);
    let others = pages.crawled().filter(|(seq, url)| *seq >= start && !planned.contains(url));
    rows.extend(others.map(|(_, url)| Row {
        url,
        planned: false,
        state: "fetched",
        explored: false,
        propensity: 0.0,
        parts: [0.0; PARTS],
        predicted: 0.0,
        realised: realised(url),
    }));
    rows
}

struct PairRow<'a> {
    pair: &'a StoredPair,
    entered: bool,
    explored: bool,
}

fn entered_pairs<'a>(
    workload: &Workload,
    pairs: &'a [StoredPair],
    rows: &[Row],
    after: &ServedLists,
) -> Vec<PairRow<'a>> {
    let fetched: HashMap<UrlId, bool> =
        rows.iter().filter(|r| r.state == "fetched").map(|r| (r.url, r.explored)).collect();
    let at: HashMap<&str, usize> =
        workload.queries.iter().enumerate().map(|(at, q)| (q.qid.as_str(), at)).collect();
    pairs
        .iter()
        .filter_map(|pair| {
            let explored = *fetched.get(&pair.url)?;
            let list = &after.lists[*at.get(pair.qid.as_str())?];
            let entered = list.iter().any(|(url, _)| *url == pair.url);
            Some(PairRow { pair, entered, explored })
        })
        .collect()
}

fn summary(plan_id: &str, rows: &[Row], pairs: &[PairRow<'_>]) -> CycleOutcome {
    let planned: Vec<&Row> = rows.iter().filter(|row| row.planned).collect();
    let of = |state: &str| planned.iter().filter(|row| row.state == state).count();
    let fetched = || planned.iter().filter(|row| row.state == "fetched");
    let predictions: Vec<(f64, bool)> = pairs.iter().map(|p| (p.pair.chance, p.entered)).collect();
    CycleOutcome {
        plan_id: plan_id.to_owned(),
        planned: planned.len(),
        fetched: of("fetched"),
        failed: of("failed"),
        redirected: of("redirected"),
        unknown: of("unknown"),
        unplanned: rows.len() - planned.len(),
        predicted_impact: fetched().fold(0.0, |sum, row| sum + row.predicted),
        realised_impact: fetched().fold(0.0, |sum, row| sum + row.realised),
        calibration: calibration(predictions),
    }
}

/// What became of the queries between two served lists under the same statistics.
pub fn query_outcomes(before: &ServedLists, after: &ServedLists) -> Vec<QueryOutcome> {
    let queries = before.lists.iter().zip(&after.lists).enumerate();
    queries
        .map(|(at, (old, new))| {
            let entered = new.iter().filter(|(url, _)| !old.iter().any(|(o, _)| o == url));
            QueryOutcome { mean_before: before.mean_score(at), new_results: entered.count() as f64 }
        })
        .collect()
}

/// Bins of equal count by predicted chance.
pub fn calibration(mut predictions: Vec<(f64, bool)>) -> Vec<CalibrationBin> {
    predictions.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let bins = BINS.min(predictions.len());
    (0..bins)
        .map(|bin| {
            let range = bin * predictions.len() / bins..(bin + 1) * predictions.len() / bins;
            let pairs = &predictions[range];
            let count = pairs.len() as f64;
            CalibrationBin {
                pairs: pairs.len(),
                predicted: pairs.iter().map(|(chance, _)| chance).sum::<f64>() / count,
                realised: pairs.iter().filter(|(_, entered)| *entered).count() as f64 / count,
            }
        })
        .collect()
}

fn commit(
    open: &mut OpenStore,
    plan: &str,
    workload: &Workload,
    rows: &[Row],
    pairs: &[PairRow<'_>],
    (before, after): (&ServedLists, &ServedLists),
) -> Result<(), CycleError> {
    let ids = |count: usize| Column::Text(vec![plan.to_owned(); count]);
    let numbers = |of: fn(&Row) -> f64| Column::F64(rows.iter().map(of).collect());
    let mut outcomes = vec![
        ids(rows.len()),
        Column::U32(rows.iter().map(|row| row.url.0).collect()),
        Column::U32(rows.iter().map(|row| u32::from(row.planned)).collect()),
        Column::Text(rows.iter().map(|row| row.state.to_owned()).collect()),
        Column::U32(rows.iter().map(|row| u32::from(row.explored)).collect()),
        numbers(|row| row.propensity),
    ];
    let parts = |part: usize| Column::F64(rows.iter().map(|row| row.parts[part]).collect());
    outcomes.extend((0..PARTS).map(parts));
    outcomes.extend([numbers(|row| row.predicted), numbers(|row| row.realised)]);
    let pair_outcomes = [
        ids(pairs.len()),
        Column::U32(pairs.iter().map(|row| row.pair.url.0).collect()),
        Column::Text(pairs.iter().map(|row| row.pair.qid.clone()).collect()),
        Column::F64(pairs.iter().map(|row| row.pair.chance).collect()),
        Column::U32(pairs.iter().map(|row| u32::from(row.entered)).collect()),
        Column::U32(pairs.iter().map(|row| u32::from(row.explored)).collect()),
    ];
    let queries = &workload.queries;
    let became = query_outcomes(before, after);
    let query_outcomes = [
        ids(queries.len()),
        Column::Text(queries.iter().map(|query| query.qid.clone()).collect()),
        Column::F64(became.iter().map(|outcome| outcome.mean_before).collect()),
        Column::F64(became.iter().map(|outcome| outcome.new_results).collect()),
    ];
    let store = &mut open.store;
    let segments = [
        store.write_segment(SegmentKind::Outcomes, OUTCOMES, &outcomes)?,
        store.write_segment(SegmentKind::PairOutcomes, PAIR_OUTCOMES, &pair_outcomes)?,
        store.write_segment(SegmentKind::QueryOutcomes, QUERY_OUTCOMES, &query_outcomes)?,
    ];
    store.commit(|manifest| {
        manifest.segments.extend(segments);
        manifest.plan = None;
        manifest.closed_cycles += 1;
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_equal_counts_in_order_of_the_prediction() {
        let predictions = (0..100).map(|i| (f64::from(i) / 100.0, i >= 50)).collect();
        let bins = calibration(predictions);
        assert_eq!(bins.len(), BINS);
        assert!(bins.iter().all(|bin| bin.pairs == 10));
        assert!((bins[0].predicted - 0.045).abs() < 1e-12);
        assert_eq!((bins[4].realised, bins[5].realised), (0.0, 1.0));
        assert!(calibration(Vec::new()).is_empty());
    }
}
