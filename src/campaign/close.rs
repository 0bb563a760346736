//! Closing a plan of a store: what became of it, and a commit of that.

use std::collections::HashSet;

use prospect_index::bm25::{Bm25, FrozenStatistics, Scorer};
use prospect_index::columns::Column;
use prospect_index::manifest::{SegmentKind, StoredPlan};
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use serde::Deserialize;

use super::history::ReadCycles;
use super::kept_planner::KeptPlanner;
use super::open_plans::OpenBatch;
use super::plan_course::settings;
use super::records;
use super::settle::{Settled, Today, settle};
use super::tables::{OUTCOMES, PAIR_OUTCOMES, QUERY_OUTCOMES, STAYS};
use super::{CampaignError, OpenStore, history, plan_course};
use crate::estimate::parts::{Part, Parts};
use crate::plan::explore::Pool;
use crate::plan::off_policy::counterfactual::{HALVES, half_of};
use crate::planner::cycle::{self, Closed, ClosedPair, ClosedPick, OpenPlan, PickState, page_by};
use crate::planner::outcome::CycleOutcome;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::{Places, Visibility};
use crate::workload::Workload;

/// What a close reads of a plan's settings, and no more: plans of other versions are closed, too.
#[derive(Deserialize)]
struct ClosingSettings {
    k: usize,
    #[serde(default)]
    visibility: Visibility,
    bm25: Bm25,
}

impl ClosingSettings {
    fn places(&self) -> Places {
        Places { k: self.k, visibility: self.visibility }
    }
}

/// A row of the outcomes: a pick, or a page of the cycle that was not planned.
struct Row {
    url: UrlId,
    planned: bool,
    state: PickState,
    pool: Option<Pool>,
    propensity: f64,
    parts: Parts,
    predicted: f64,
    realised: f64,
    in_half: f64,
}

/// Which open plans to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All.
    All,
    /// Those that are over: nothing of them is in flight, or has been for too long.
    Over,
}

/// Closes open plans, the oldest first; `kept` is of the planner that made them, if it goes on.
///
/// # Errors
/// See [`close`]; those before it stay closed.
pub(crate) fn close_plans(
    open: &mut OpenStore,
    which: Which,
    mut kept: Option<&mut KeptPlanner>,
) -> Result<Vec<CycleOutcome>, CampaignError> {
    let mut outcomes = Vec::new();
    // What is over does not depend on what is closed.
    let batches = match which {
        Which::All => OpenBatch::all(&open.store, &open.known)?,
        Which::Over => OpenBatch::over(&open.store, &open.known)?,
    };
    for batch in batches {
        outcomes.push(close(open, &batch, kept.as_deref_mut())?);
    }
    Ok(outcomes)
}

/// Computes the outcome of an open plan and commits it: the plan is closed.
///
/// # Errors
/// Another version made it with settings that even a close does not understand, or the store cannot be read or
/// written.
pub(crate) fn close(
    open: &mut OpenStore,
    batch: &OpenBatch,
    mut kept: Option<&mut KeptPlanner>,
) -> Result<CycleOutcome, CampaignError> {
    let plan = &batch.plan;
    let settings: ClosingSettings = settings(plan)?;
    let workload = records::workload(&open.store, &plan.id)?;
    let mut unread = Vec::new();
    let promised = OpenPlan {
        picks: batch.picks.clone(),
        pairs: records::pairs(&open.store, &plan.id, &workload.queries, &mut unread)?,
        revisits: records::revisits(&open.store, &plan.id)?,
    };
    if promised.picks.iter().any(|pick| pick.parts.iter().any(|(_, part)| part.is_nan())) {
        unread.push(format!("picks of plan {}, whose estimates have not all parts", plan.id));
    }
    let (frozen, before, after) = lists(open, plan, &workload, &settings, kept.as_deref_mut())?;
    let (urls, pages) = (open.known.urls.len(), &open.known.pages);
    let impact = after.impact(&workload.queries, urls);
    let closed = cycle::close(&promised, pages, &batch.states, &impact, (&before, &after));
    // Nobody can value another batch where it is not stored what this one was drawn from.
    let has_pool = {
        let mut pools = open.store.manifest().segments_of(SegmentKind::Pools);
        pools.any(|pool| plan.files.contains(&pool.file.file))
    };
    let in_half = if has_pool {
        impact_in_halves(open, &workload, &frozen, &before)?
    } else {
        vec![0.0; urls]
    };
    let rows = outcome_rows(open, plan, &closed, &impact, &in_half)?;
    let unplanned = rows.len() - closed.picks.len();
    let places = settings.places();
    let chances = closed.chances(&workload.queries, places);
    let mut anew = ReadCycles::default();
    let cycles = kept.map_or(&mut anew, |kept| &mut kept.cycles);
    let expected = history::expected(&open.store, pages, &chances, places, plan, cycles)?;
    let (bm25, epoch) = (settings.bm25, plan.epoch);
    let today = Today { workload: &workload, lists: &after, bm25, epoch };
    let settled = settle(open, &today)?;
    commit(open, (&plan.id, places), &workload, &rows, &closed, &settled)?;
    log::debug!("plan {} closed", plan.id);
    let settled = history::settled(&open.store, &open.known.pages, &settled, places, cycles)?;
    Ok(CycleOutcome {
        settled,
        unread,
        ..CycleOutcome::new(&plan.id, &closed, unplanned, expected)
    })
}

/// What became of a plan that was released.
pub(crate) enum Released {
    /// It is closed.
    Closed(Box<CycleOutcome>),
    /// Nothing was reported of it: it is as if it had never been made.
    TakenBack,
    /// This version cannot close it: what is stored of it stays, and nobody learns what became of it.
    GivenUp,
}

/// Ends an open plan: what is in flight of it may be planned again.
///
/// # Errors
/// The store cannot be read or written; the plan stays open.
pub(crate) fn release(open: &mut OpenStore, batch: &OpenBatch) -> Result<Released, CampaignError> {
    let id = &batch.plan.id;
    if batch.in_flight().count() == batch.picks.len() {
        open.store.commit(|manifest| plan_course::take_back(manifest, id))?;
        return Ok(Released::TakenBack);
    }
    match close(open, batch, None) {
        Err(CampaignError::OtherVersion { .. }) => {
            open.store.commit(|manifest| plan_course::give_up(manifest, id))?;
            Ok(Released::GivenUp)
        }
        closed => Ok(Released::Closed(Box::new(closed?))),
    }
}

/// Served lists at the making of the plan and now, under the statistics of its epoch, which come first.
fn lists(
    open: &OpenStore,
    plan: &StoredPlan,
    workload: &Workload,
    settings: &ClosingSettings,
    mut kept: Option<&mut KeptPlanner>,
) -> Result<(FrozenStatistics, ServedLists, ServedLists), CampaignError> {
    let manifest = open.store.manifest();
    let (text, bm25, epoch_end) = (&open.text, settings.bm25, plan.epoch.end_seq);
    let (queries, known) = (&workload.queries, &open.known);
    let (places, start) = (settings.places(), plan.first_seq);
    let of_plan =
        kept.as_mut().map(|kept| kept.at_the_close(open, &plan.id)).transpose()?.flatten();
    let (scorer, before) = if let (Some(kept), Some((forward, before))) = (kept, of_plan) {
        (kept.scorer(text, (bm25, epoch_end), &forward)?, before)
    } else {
        let scorer = Scorer::new(text, bm25, epoch_end, workload.words())?;
        let before = ServedLists::build(&scorer, queries, places, start, &known.urls)?;
        (scorer, before)
    };
    let mut after = before.clone();
    after.update(&scorer, queries, manifest.next_seq, &known.pages, &known.urls)?;
    Ok((FrozenStatistics::from(&scorer), before, after))
}

/// By URL: impact of the pages since the plan without the other half of them.
fn impact_in_halves(
    open: &OpenStore,
    workload: &Workload,
    frozen: &FrozenStatistics,
    before: &ServedLists,
) -> Result<Vec<f64>, CampaignError> {
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
        // What they count came before the cycle.
        let scorer = Scorer::resume(&text, frozen);
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

/// Planned URLs in batch order, then pages of the cycle that nobody planned, in fetch order.
fn outcome_rows(
    open: &OpenStore,
    plan: &StoredPlan,
    closed: &Closed,
    impact: &[f64],
    in_half: &[f64],
) -> Result<Vec<Row>, CampaignError> {
    let mut rows: Vec<Row> =
        closed.picks.iter().map(|closed| Row::of_pick(closed, in_half)).collect();
    let mut planned: HashSet<UrlId> = closed.picks.iter().map(|closed| closed.page).collect();
    let manifest = open.store.manifest();
    let others_open = manifest.plans.iter().map(|other| &other.id);
    let since = manifest.closed_plans.iter().filter(|other| other.end_seq > plan.first_seq);
    let others = others_open.chain(since.map(|other| &other.id)).filter(|id| **id != plan.id);
    let others: Vec<&str> = others.map(String::as_str).collect();
    records::for_each_planned(&open.store, &others, |_, url| {
        planned.insert(page_by(&open.known.pages, url));
    })?;
    let cycle = plan_course::records_of(manifest, &plan.id);
    let crawled = open.known.pages.crawled();
    let others = crawled.filter(|(seq, url)| cycle.contains(seq) && !planned.contains(url));
    rows.extend(others.map(|(_, url)| Row {
        url,
        planned: false,
        state: PickState::Fetched,
        pool: None,
        propensity: 0.0,
        parts: Parts::default(),
        predicted: 0.0,
        realised: impact[url.index()],
        in_half: in_half[url.index()],
    }));
    Ok(rows)
}

impl Row {
    /// The row of a pick; `in_half` is by URL.
    fn of_pick(closed: &ClosedPick, in_half: &[f64]) -> Self {
        let &ClosedPick { pick, state, page, realised } = closed;
        Self {
            url: pick.url,
            planned: true,
            state,
            pool: Some(pick.pool),
            propensity: pick.propensity,
            parts: pick.parts,
            predicted: pick.estimate,
            realised,
            in_half: in_half[page.index()],
        }
    }
}

fn outcome_columns(plan: &str, rows: &[Row]) -> Vec<Column> {
    let numbers = |of: fn(&Row) -> f64| Column::F64(rows.iter().map(of).collect());
    let part = |part: Part| Column::F64(rows.iter().map(|row| row.parts[part]).collect());
    let mut columns = vec![
        Column::Text(vec![plan.to_owned(); rows.len()]),
        Column::U32(rows.iter().map(|row| row.url.0).collect()),
        Column::U32(rows.iter().map(|row| u32::from(row.planned)).collect()),
        Column::Text(rows.iter().map(|row| row.state.name().to_owned()).collect()),
        Column::Text(rows.iter().map(|row| row.pool.map_or("", Pool::name).to_owned()).collect()),
        numbers(|row| row.propensity),
    ];
    columns.extend(Part::ALL.map(part));
    columns.extend([
        numbers(|row| row.predicted),
        numbers(|row| row.realised),
        numbers(|row| row.in_half),
    ]);
    columns
}

fn pair_outcome_columns(plan: &str, workload: &Workload, pairs: &[ClosedPair]) -> Vec<Column> {
    let numbers = |of: fn(&ClosedPair) -> f64| Column::F64(pairs.iter().map(of).collect());
    let ids = |of: fn(&ClosedPair) -> u32| Column::U32(pairs.iter().map(of).collect());
    let qid = |row: &ClosedPair| workload.queries[row.pair.query.index()].qid.clone();
    vec![
        Column::Text(vec![plan.to_owned(); pairs.len()]),
        ids(|row| row.pair.url.0),
        Column::Text(pairs.iter().map(qid).collect()),
        numbers(|row| row.pair.chance),
        numbers(|row| row.pair.entry_chance),
        numbers(|row| row.pair.margin),
        ids(|row| u32::from(row.entered)),
        ids(|row| u32::from(row.pair.matches)),
        Column::Text(pairs.iter().map(|row| row.pool.name().to_owned()).collect()),
    ]
}

fn commit(
    open: &mut OpenStore,
    (plan, places): (&str, Places),
    workload: &Workload,
    rows: &[Row],
    closed: &Closed,
    settled: &[Settled],
) -> Result<(), CampaignError> {
    // Its figures are in these.
    let places = serde_json::json!(places);
    let (queries, became) = (&workload.queries, &closed.queries);
    let query_outcomes = [
        Column::Text(vec![plan.to_owned(); queries.len()]),
        Column::Text(queries.iter().map(|query| query.qid.clone()).collect()),
        Column::F64(became.iter().map(|outcome| outcome.mean_before).collect()),
        Column::F64(became.iter().map(|outcome| outcome.new_results).collect()),
    ];
    let outcomes = outcome_columns(plan, rows);
    let pair_outcomes = pair_outcome_columns(plan, workload, &closed.pairs);
    let store = &mut open.store;
    let mut segments = vec![
        store.write_segment(SegmentKind::Outcomes, OUTCOMES, [&outcomes])?,
        store.write_segment(SegmentKind::PairOutcomes, PAIR_OUTCOMES, [&pair_outcomes])?,
        store.write_segment(SegmentKind::QueryOutcomes, QUERY_OUTCOMES, [&query_outcomes])?,
    ];
    let stayed = settled.iter().map(Settled::columns);
    segments.extend(store.write_segments(SegmentKind::Stays, STAYS, stayed)?);
    store.commit(|manifest| {
        manifest.segments.extend(segments);
        plan_course::close(manifest, plan, places);
        for Settled { plan_id, led_to, .. } in settled {
            plan_course::note_led_to(manifest, plan_id, serde_json::json!(led_to));
        }
    })?;
    Ok(())
}
