//! What stayed of closed cycles (METHODS 5a), as a later close sees it: the first one at which the crawl has
//! grown by a quarter since theirs.
//!
//! Costs nothing for cycles that are not due, and for one that is, one pass over its records; lists are scored
//! anew only where another workload was asked then.

use std::collections::{BTreeMap, HashSet};

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::columns::Column;
use prospect_index::error::StoreError;
use prospect_index::manifest::{Epoch, SegmentEntry, SegmentKind};
use prospect_index::page::UrlId;
use prospect_index::page_store::PageTable;
use prospect_index::store::Store;

use super::plan_course::closed_at;
use super::records::{each_outcome, places_of, plan_of, workload_before};
use super::tables::OUTCOMES;
use super::{CampaignError, OpenStore};
use crate::estimate::discovery::page_led_to;
use crate::estimate::parts::Part;
use crate::planner::cycle::{page_by, pages_at};
use crate::planner::stays::{StayedPage, is_due, stayed};
use crate::results::impact::LedTo;
use crate::sketch::served::ServedLists;
use crate::workload::Workload;

/// The plan that is being closed: its lists are those of today.
pub(super) struct Today<'a> {
    pub(super) workload: &'a Workload,
    pub(super) lists: &'a ServedLists,
    pub(super) bm25: Bm25,
    pub(super) epoch: Epoch,
}

/// What stayed of a cycle.
pub(super) struct Settled {
    pub(super) plan_id: String,
    workload: Workload,
    rows: Vec<StayedPage>,
    /// What they led to; none where nothing was expected of that.
    pub(super) led_to: Option<LedTo>,
}

/// What stayed of the cycles that are due, in their order.
///
/// # Errors
/// A segment is damaged, or holds what this version does not know; or the index cannot be read.
pub(super) fn settle(open: &OpenStore, today: &Today<'_>) -> Result<Vec<Settled>, CampaignError> {
    let (store, pages) = (&open.store, &open.known.pages);
    let segments = &store.manifest().segments;
    // There is one segment of each cycle, in the order in which they were closed.
    let known = store.manifest().segments_of(SegmentKind::Stays).count();
    let closed = (0..segments.len()).filter(|&at| segments[at].kind == SegmentKind::Outcomes);
    let mut settled = Vec::new();
    for at in closed.skip(known) {
        let plan_id = plan_of(store, &segments[at], OUTCOMES)?.unwrap_or_default();
        let then = pages_at(pages, closed_at(store.manifest(), &plan_id));
        if !is_due(then, pages.len()) {
            break;
        }
        settled.push(what_stayed(open, today, at, plan_id)?);
    }
    Ok(settled)
}

fn what_stayed(
    open: &OpenStore,
    today: &Today<'_>,
    at: usize,
    plan_id: String,
) -> Result<Settled, CampaignError> {
    let store = &open.store;
    let manifest = store.manifest();
    let workload = workload_before(store, at, &plan_id)?;
    let is_known = workload.is_some();
    let workload = workload.unwrap_or_else(|| Workload { queries: Vec::new() });
    let places = places_of(manifest, &plan_id, today.lists.places());
    let fetched = fetched(store, &manifest.segments[at], &open.known.pages)?;
    let built;
    let lists = if workload == *today.workload && places == today.lists.places() {
        today.lists
    } else {
        let (bm25, end_seq) = (today.bm25, today.epoch.end_seq);
        let scorer = Scorer::new(&open.text, bm25, end_seq, workload.words())?;
        let (queries, urls) = (&workload.queries, &open.known.urls);
        built = ServedLists::build(&scorer, queries, places, manifest.next_seq, urls)?;
        &built
    };
    let pages: HashSet<UrlId> = fetched.keys().copied().collect();
    let rows = stayed(&pages, &workload.queries, lists);
    let predicted: f64 = fetched.values().sum();
    let led_to = (is_known && predicted > 0.0).then(|| {
        let known = &open.known;
        let impact = lists.impact(&workload.queries, known.urls.len());
        let mean = impact.iter().sum::<f64>() / known.pages.len() as f64;
        let led_to = |page: &UrlId| page_led_to(known, *page, &impact, mean);
        let realised = fetched.keys().map(led_to).sum();
        LedTo { predicted, realised }
    });
    Ok(Settled { plan_id, workload, rows, led_to })
}

/// New pages that picks of a cycle brought, each with the part *discovery* of the first pick that did; none where an older
/// version does not tell.
fn fetched(
    store: &Store,
    segment: &SegmentEntry,
    pages: &PageTable,
) -> Result<BTreeMap<UrlId, f64>, StoreError> {
    let mut fetched = BTreeMap::new();
    let names = ["url_id", "planned", "state", Part::Discovery.column()];
    each_outcome(store, segment, &names, |row| {
        if row.id(1) == 1 && row.state(2)?.is_new_page() {
            fetched.entry(page_by(pages, UrlId(row.id(0)))).or_insert(row.number(3));
        }
        Ok(())
    })?;
    Ok(fetched)
}

impl Settled {
    /// Its rows as columns of [`STAYS`](super::tables::STAYS).
    pub(super) fn columns(&self) -> Vec<Column> {
        let rows = &self.rows;
        let ids = |of: &dyn Fn(&StayedPage) -> u32| Column::U32(rows.iter().map(of).collect());
        let numbers = |of: &dyn Fn(&StayedPage) -> f64| Column::F64(rows.iter().map(of).collect());
        let qid = |row: &StayedPage| self.workload.queries[row.query.index()].qid.clone();
        vec![
            Column::Text(vec![self.plan_id.clone(); rows.len()]),
            ids(&|row| row.url.0),
            Column::Text(rows.iter().map(qid).collect()),
            ids(&|row| row.rank),
            numbers(&|row| row.impact),
        ]
    }
}
