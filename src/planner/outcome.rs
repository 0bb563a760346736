//! What became of a plan, in figures.

use std::fmt;

use serde::Serialize;

use super::cycle::{Closed, PickState};
use super::revisits::RevisitOutcome;
use crate::plan::explore::Pool;
use crate::plan::off_policy::calibration::Calibration;
use crate::results::impact::{Both, ExpectedImpact, LedTo, Quantity};

/// What became of planned URLs, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct PickCounts {
    /// URLs that were planned.
    pub(crate) planned: usize,
    /// Of them, fetched.
    pub(crate) fetched: usize,
    /// Of them, failed.
    pub(crate) failed: usize,
    /// Of them, moved: they redirect, and their page is stored under the URL that answered.
    pub(crate) moved: usize,
    /// Of those that moved, pages that were not there before.
    #[serde(skip)]
    moved_to_new: usize,
    /// Of them, not reported: unknown, not failed.
    pub(crate) unknown: usize,
    /// Of those that were fetched, pages that had been fetched before.
    pub(crate) again: usize,
    /// Of these, those whose text had changed.
    pub(crate) changed: usize,
}

impl PickCounts {
    /// Counts one.
    pub(crate) fn add(&mut self, state: PickState) {
        self.planned += 1;
        match state {
            PickState::Fetched => self.fetched += 1,
            PickState::Changed | PickState::Unchanged => {
                self.fetched += 1;
                self.again += 1;
                self.changed += usize::from(state == PickState::Changed);
            }
            PickState::Failed => self.failed += 1,
            PickState::Redirected => self.moved += 1,
            PickState::LedToNew => {
                self.moved += 1;
                self.moved_to_new += 1;
            }
            PickState::Unknown => self.unknown += 1,
        }
    }

    /// Pages that were not there before.
    pub(crate) fn new_pages(&self) -> usize {
        self.fetched - self.again + self.moved_to_new
    }
}

impl FromIterator<PickState> for PickCounts {
    fn from_iter<I: IntoIterator<Item = PickState>>(states: I) -> Self {
        let mut counts = Self::default();
        states.into_iter().for_each(|state| counts.add(state));
        counts
    }
}

impl fmt::Display for PickCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { planned, fetched, failed, moved, unknown, .. } = self;
        write!(
            f,
            "of {planned} planned {fetched} fetched, {failed} failed, {moved} moved, {unknown} not reported"
        )
    }
}

/// The same of a plan that is open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct OpenCounts {
    planned: usize,
    fetched: usize,
    failed: usize,
    moved: usize,
    /// What was not reported.
    pub(crate) in_flight: usize,
}

impl From<PickCounts> for OpenCounts {
    fn from(counts: PickCounts) -> Self {
        let PickCounts { planned, fetched, failed, moved, unknown, .. } = counts;
        Self { planned, fetched, failed, moved, in_flight: unknown }
    }
}

impl OpenCounts {
    /// Whether nothing was reported.
    pub(crate) fn are_none(self) -> bool {
        self.in_flight == self.planned
    }
}

impl fmt::Display for OpenCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { planned, fetched, failed, moved, in_flight } = self;
        write!(
            f,
            "of {planned} planned {fetched} fetched, {failed} failed, {moved} moved, {in_flight} in flight"
        )
    }
}

/// A closed cycle whose crawl has grown by a quarter since.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct SettledCycle {
    /// Its plan.
    pub(crate) plan_id: String,
    /// Impact that its fetched picks were expected to have still, and that they have.
    pub(crate) stays: Quantity,
    /// Impact of what they led to; none where nothing was expected of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) led_to: Option<LedTo>,
}

/// What became of a plan.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct CycleOutcome {
    /// The plan.
    pub(crate) plan_id: String,
    /// What became of its URLs.
    #[serde(flatten)]
    pub(crate) counts: PickCounts,
    /// Pages fetched in the cycle that were not planned.
    pub(crate) unplanned: usize,
    /// Impact of the fetched picks now: f(q) V(rank) summed over the top-K lists they are in.
    pub(crate) enters: Quantity,
    /// Impact that they will have when the crawl has grown by a quarter.
    pub(crate) stays: Quantity,
    /// What became of the pages that were fetched again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revisits: Option<RevisitOutcome>,
    /// Earlier cycles of which it is known now what stayed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<SettledCycle>,
    /// The chance to enter a list, over the candidate pairs of fetched picks that were the best.
    pub(crate) greedy_calibration: Calibration,
    /// The same of picks drawn at random: the best look better than they are, these do not.
    pub(crate) explored_calibration: Calibration,
    /// Files of the plan that an older version wrote, and that were left unread.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unread: Vec<String>,
}

impl CycleOutcome {
    /// Of a closed plan, beside so many pages that were not planned.
    pub(crate) fn new(
        plan_id: &str,
        closed: &Closed,
        unplanned: usize,
        expected: Option<Both<ExpectedImpact>>,
    ) -> Self {
        let predictions: Vec<(Pool, f64, bool)> =
            closed.pairs.iter().map(|row| (row.pool, row.pair.entry_chance, row.entered)).collect();
        let [greedy_calibration, explored_calibration] =
            Calibration::greedy_and_explored(&predictions);
        Self {
            plan_id: plan_id.to_owned(),
            counts: closed.picks.iter().map(|pick| pick.state).collect(),
            unplanned,
            enters: Quantity {
                expected: expected.map(|both| both.enters),
                realised: Some(closed.realised()),
            },
            stays: Quantity { expected: expected.map(|both| both.stays), realised: None },
            revisits: closed.revisits,
            settled: Vec::new(),
            greedy_calibration,
            explored_calibration,
            unread: Vec::new(),
        }
    }
}
