//! Closing a cycle: what was fetched, what it brought, and how well it was foreseen.

use std::collections::{HashMap, HashSet};

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::columns::Column;
use prospect_index::manifest::SegmentKind;
use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, NONE};
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::counterfactual::{HALVES, half_of};
use super::records::{self, State, StoredPair, StoredPick};
use super::tables::{OUTCOMES, PAIR_OUTCOMES, QUERY_OUTCOMES};
use super::{CycleError, OpenStore, planner};
use crate::estimate::blend::PARTS;
use crate::plan::explore::Pool;
use crate::sketch::need::QueryOutcome;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::{Places, Visibility};
use crate::workload::Workload;

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
    /// The chance to enter a list, over the candidate pairs of fetched picks that were the best.
    pub greedy_calibration: Calibration,
    /// The same of picks drawn at random: the best look better than they are, these do not.
    pub explored_calibration: Calibration,
    /// Files of the plan that an older version wrote, and that were left unread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

/// What a close reads of a plan's settings, and no more: plans of other versions are closed, too.
#[derive(Deserialize)]
struct ClosingSettings {
    k: usize,
    #[serde(default)]
    visibility: Visibility,
    bm25: Bm25,
    selection: Exploration,
}

#[derive(Deserialize)]
struct Exploration {
    explore: f64,
}

impl ClosingSettings {
    fn places(&self) -> Places {
        Places { k: self.k, visibility: self.visibility }
    }
}

struct Row {
    url: UrlId,
    planned: bool,
    state: State,
    pool: Option<Pool>,
    propensity: f64,
    parts: [f64; PARTS],
    predicted: f64,
    realised: f64,
    in_half: f64,
}

/// Computes the outcome of the open plan and commits it: the cycle is closed.
///
/// # Errors
/// There is no open plan, another version made it with settings that even a close does not understand, or
/// the store cannot be read or written.
pub fn close(open: &mut OpenStore) -> Result<CycleOutcome, CycleError> {
    let Some(plan) = open.store.manifest().plan.clone() else { return Err(CycleError::NoPlan) };
    let settings: ClosingSettings = planner::settings(&plan)?;
    let workload = records::workload(&open.store, &plan.id)?;
    let picks = records::picks(&open.store, &plan.id)?;
    let mut unread = Vec::new();
    let pairs = records::pairs(&open.store, &plan.id, &mut unread)?;
    if picks.iter().any(|pick| pick.parts.iter().any(|part| part.is_nan())) {
        unread.push(format!("picks of plan {}, whose estimates have not all parts", plan.id));
    }
    let (before, after) = lists(open, &workload, &settings)?;
    // Nobody can value another batch by one that drew nothing at random.
    let in_half = if settings.selection.explore > 0.0 {
        impact_in_halves(open, &workload, &settings, &before)?
    } else {
        vec![0.0; open.known.urls.len()]
    };
    let rows = outcome_rows(open, &workload, &picks, &after, &in_half);
    let entered = entered_pairs(&workload, &pairs, &rows, &after);
    let outcome = CycleOutcome { unread, ..summary(&plan.id, &rows, &entered) };
    commit(open, &plan.id, &workload, &rows, &entered, (&before, &after))?;
    Ok(outcome)
}

/// Gives up the open plan: its cycle ends, what is stored of it stays, and nobody learns what became of it.
///
/// # Errors
/// The commit failed; the plan stays open.
pub fn release(open: &mut OpenStore) -> Result<(), CycleError> {
    open.store.commit(|manifest| {
        if manifest.plan.take().is_some() && !manifest.has_fetched() {
            manifest.cycles.pop();
        }
    })?;
    Ok(())
}

/// Served lists at the start of the cycle and now, under the same statistics.
fn lists(
    open: &OpenStore,
    workload: &Workload,
    settings: &ClosingSettings,
) -> Result<(ServedLists, ServedLists), CycleError> {
    let manifest = open.store.manifest();
    let epoch_end = manifest.epoch.end_seq;
    let scorer = Scorer::new(&open.text, settings.bm25, epoch_end, workload.words())?;
    let (queries, known) = (&workload.queries, &open.known);
    let start = manifest.cycles.last().map_or(0, |cycle| cycle.first_seq);
    let before = ServedLists::build(&scorer, queries, settings.places(), start, &known.urls)?;
    let mut after = before.clone();
    after.update(&scorer, queries, manifest.next_seq, &known.pages, &known.urls)?;
    Ok((before, after))
}

/// By URL: impact of the cycle's pages without the other half of them.
fn impact_in_halves(
    open: &OpenStore,
    workload: &Workload,
    settings: &ClosingSettings,
    before: &ServedLists,
) -> Result<Vec<f64>, CycleError> {
    let (manifest, known, queries) = (open.store.manifest(), &open.known, &workload.queries);
    let cycle = before.end_seq..manifest.next_seq;
    let mut in_half = vec![0.0; known.urls.len()];
    for half in 0..HALVES {
        let is_other = |url: UrlId| half_of(known.urls.url(url)) != half;
        let mut docs = open.text.docs().clone();
        for (seq, url) in docs.seq.iter_mut().zip(&docs.url) {
            if cycle.contains(seq) && is_other(*url) {
                *seq = NONE;
            }
        }
        let text = open.text.with_docs(docs);
        let scorer = Scorer::new(&text, settings.bm25, manifest.epoch.end_seq, workload.words())?;
        let mut lists = before.clone();
        lists.update(&scorer, queries, manifest.next_seq, &known.pages, &known.urls)?;
        let impact = lists.impact(queries, known.urls.len());
        for (at, impact) in impact.into_iter().enumerate().filter(|(_, impact)| *impact > 0.0) {
            if half_of(known.urls.url(UrlId(at as u32))) == half {
                in_half[at] = impact;
            }
        }
    }
    Ok(in_half)
}

/// Planned URLs in batch order, then pages of the cycle that were not planned, in fetch order.
fn outcome_rows(
    open: &OpenStore,
    workload: &Workload,
    picks: &[StoredPick],
    after: &ServedLists,
    in_half: &[f64],
) -> Vec<Row> {
    let impact = after.impact(&workload.queries, open.known.urls.len());
    let realised = |url: UrlId| impact[url.index()];
    let pages = &open.known.pages;
    let mut rows: Vec<Row> = picks
        .iter()
        .map(|pick| {
            let state = match pages.fetch(pick.url) {
                Fetch::Never => State::Unknown,
                Fetch::Page { .. } => State::Fetched,
                Fetch::Failed { .. } => State::Failed,
                Fetch::Redirected { .. } => State::Redirected,
            };
            Row {
                url: pick.url,
                planned: true,
                state,
                pool: Some(pick.pool),
                propensity: pick.propensity,
                parts: pick.parts,
                predicted: pick.estimate,
                realised: realised(pick.url),
                in_half: in_half[pick.url.index()],
            }
        })
        .collect();
    let planned: HashSet<UrlId> = picks.iter().map(|pick| pick.url).collect();
    let start = open.store.manifest().cycles.last().map_or(0, |cycle| cycle.first_seq);
    let others = pages.crawled().filter(|(seq, url)| *seq >= start && !planned.contains(url));
    rows.extend(others.map(|(_, url)| Row {
        url,
        planned: false,
        state: State::Fetched,
        pool: None,
        propensity: 0.0,
        parts: [0.0; PARTS],
        predicted: 0.0,
        realised: realised(url),
        in_half: in_half[url.index()],
    }));
    rows
}

struct PairRow<'a> {
    pair: &'a StoredPair,
    entered: bool,
    pool: Pool,
}

fn entered_pairs<'a>(
    workload: &Workload,
    pairs: &'a [StoredPair],
    rows: &[Row],
    after: &ServedLists,
) -> Vec<PairRow<'a>> {
    let of_fetched = |row: &Row| (row.state == State::Fetched).then_some((row.url, row.pool?));
    let fetched: HashMap<UrlId, Pool> = rows.iter().filter_map(of_fetched).collect();
    let at: HashMap<&str, usize> =
        workload.queries.iter().enumerate().map(|(at, q)| (q.qid.as_str(), at)).collect();
    pairs
        .iter()
        .filter_map(|pair| {
            let pool = *fetched.get(&pair.url)?;
            let list = &after.lists[*at.get(pair.qid.as_str())?];
            let entered = list.iter().any(|(url, _)| *url == pair.url);
            Some(PairRow { pair, entered, pool })
        })
        .collect()
}

fn summary(plan_id: &str, rows: &[Row], pairs: &[PairRow<'_>]) -> CycleOutcome {
    let planned: Vec<&Row> = rows.iter().filter(|row| row.planned).collect();
    let of = |state: State| planned.iter().filter(|row| row.state == state).count();
    let fetched = || planned.iter().filter(|row| row.state == State::Fetched);
    let foreseen: Vec<(Pool, f64, bool)> =
        pairs.iter().map(|row| (row.pool, row.pair.entry_chance, row.entered)).collect();
    let [greedy_calibration, explored_calibration] = Calibration::greedy_and_explored(&foreseen);
    CycleOutcome {
        plan_id: plan_id.to_owned(),
        planned: planned.len(),
        fetched: of(State::Fetched),
        failed: of(State::Failed),
        redirected: of(State::Redirected),
        unknown: of(State::Unknown),
        unplanned: rows.len() - planned.len(),
        predicted_impact: fetched().fold(0.0, |sum, row| sum + row.predicted),
        realised_impact: fetched().fold(0.0, |sum, row| sum + row.realised),
        greedy_calibration,
        explored_calibration,
        unread: Vec::new(),
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
        Column::Text(rows.iter().map(|row| row.state.name().to_owned()).collect()),
        Column::Text(rows.iter().map(|row| row.pool.map_or("", Pool::name).to_owned()).collect()),
        numbers(|row| row.propensity),
    ];
    let parts = |part: usize| Column::F64(rows.iter().map(|row| row.parts[part]).collect());
    outcomes.extend((0..PARTS).map(parts));
    outcomes.extend([
        numbers(|row| row.predicted),
        numbers(|row| row.realised),
        numbers(|row| row.in_half),
    ]);
    let pair_outcomes = [
        ids(pairs.len()),
        Column::U32(pairs.iter().map(|row| row.pair.url.0).collect()),
        Column::Text(pairs.iter().map(|row| row.pair.qid.clone()).collect()),
        Column::F64(pairs.iter().map(|row| row.pair.chance).collect()),
        Column::F64(pairs.iter().map(|row| row.pair.entry_chance).collect()),
        Column::F64(pairs.iter().map(|row| row.pair.margin).collect()),
        Column::U32(pairs.iter().map(|row| u32::from(row.entered)).collect()),
        Column::U32(pairs.iter().map(|row| u32::from(row.pair.matches)).collect()),
        Column::Text(pairs.iter().map(|row| row.pool.name().to_owned()).collect()),
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
