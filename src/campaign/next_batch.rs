//! The batch that would be next, whoever planned it: a plan, or the answer to a question.

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

use super::planned::Plan;
use crate::estimate::scored_pairs::ScoredPairs;
use crate::plan::Pick;
use crate::plan::polite_time::Makespan;
use crate::planner::settings::PlanSettings;
use crate::planner::within::may;
use crate::results::impact::{Both, ExpectedImpact};
use crate::sketch::visibility::Places;
use crate::workload::Query;

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct NextBatch<'a> {
    /// The queries that it is for.
    pub(crate) queries: &'a [Query],
    /// Pairs of the queries and what may be fetched.
    pub(crate) scored: &'a ScoredPairs,
    /// Places of the queries' lists.
    pub(crate) places: Places,
    /// By URL id: what could be picked; empty for all that is not fetched.
    pub(crate) within: &'a [bool],
    /// What is in flight of plans that it is made beside.
    pub(crate) in_flight: &'a [UrlId],
    /// What was picked.
    pub(crate) picks: &'a [Pick],
    /// Impact that the picks are expected to have; none before anything was fetched.
    pub(crate) expected: Option<Both<ExpectedImpact>>,
}

impl NextBatch<'_> {
    /// Whether a URL could be picked.
    pub(crate) fn may_pick(&self, url: UrlId) -> bool {
        may(self.within, url)
    }

    /// How long a polite crawler takes for it.
    pub(crate) fn makespan(&self, known: &Known, settings: &PlanSettings) -> Makespan {
        let urls = self.picks.iter().map(|pick| known.urls.url(pick.estimate.url));
        let in_flight = self.in_flight.iter().map(|&url| known.urls.url(url));
        settings.selection.caps.time.schedule(urls, &settings.queues, in_flight).1
    }
}

impl Plan {
    /// Its batch as the one that would be next.
    pub(crate) fn as_next(&self) -> NextBatch<'_> {
        NextBatch {
            queries: &self.workload.queries,
            scored: &self.scored,
            places: self.served.places(),
            within: &self.plannable.within,
            in_flight: &self.plannable.in_flight,
            picks: &self.choice.batch.picks,
            expected: self.expected,
        }
    }
}
