//! What a stream came to.

use prospect_index::ingest::IngestCounts;
use serde::Serialize;

use crate::campaign::stream::InFlight;
use crate::planner::retries::WaitCounts;
use crate::report::number::{and_counted, with_noun};

/// Why a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// No record will come any more.
    Input,
    /// A signal said so.
    Signal,
    /// Nobody reads what is asked for.
    Output,
    /// As many URLs as it may were asked for, and all were reported.
    Budget,
    /// There is nothing left to plan.
    Frontier,
    /// What is left waits after failed fetches.
    Waits(WaitCounts),
    /// A record was bad, and that was to be an error.
    Strict,
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::Input => "input-ended",
            Self::Signal => "signal",
            Self::Output => "output-closed",
            Self::Budget => "budget",
            Self::Frontier => "frontier-empty",
            Self::Waits(_) => "all-wait",
            Self::Strict => "bad-record",
        }
    }

    /// For people.
    pub(super) fn told(self) -> String {
        match self {
            Self::Input => "standard input has ended".to_owned(),
            Self::Signal => "a signal asks for the end; what has come is stored".to_owned(),
            Self::Output => "nobody reads standard output any longer".to_owned(),
            Self::Budget => "the budget is reached, and all of it was reported".to_owned(),
            Self::Frontier => "nothing is in flight, and there is nothing to plan: what is known is fetched, gone, out of \
                               scope, or another spelling"
                .to_owned(),
            Self::Waits(waits) => {
                format!("nothing is in flight, and what is left is not to be asked for now: {waits}")
            }
            Self::Strict => "a record is bad".to_owned(),
        }
    }
}

/// What came and what was asked for.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Summary {
    records: u64,
    pages: u64,
    failed: u64,
    moved: u64,
    unchanged: u64,
    skipped: u64,
    /// URLs that were planned.
    pub(super) asked: usize,
    /// URLs that were in flight when it began, and were asked for again.
    pub(super) asked_again: usize,
    /// Plans that were made.
    pub(super) plans: usize,
    closed: usize,
}

impl Summary {
    /// Counts records, and plans that they closed.
    pub(super) fn add(&mut self, counts: &IngestCounts, closed: usize) {
        self.records += counts.records;
        self.pages += counts.pages;
        self.failed += counts.failed;
        self.moved += counts.moved;
        self.unchanged += counts.unchanged;
        self.closed += closed;
    }

    /// Counts a record that is none.
    pub(super) fn skip(&mut self) {
        self.skipped += 1;
    }

    /// As JSON.
    pub(super) fn json(&self, end: End, InFlight { urls, plans }: InFlight) -> serde_json::Value {
        serde_json::json!({
            "schema": "prospect.stream/1",
            "ended": end.name(),
            "summary": self,
            "in_flight": urls,
            "open_plans": plans,
        })
    }

    /// For people.
    pub(super) fn told(&self, in_flight: InFlight) -> String {
        let Self { pages, failed, moved, unchanged, skipped, asked, asked_again, plans, .. } = self;
        let others =
            [(*moved, "moved"), (*unchanged, "unchanged"), (*skipped, "bad lines skipped")];
        let others: String = others.iter().map(|(count, what)| and_counted(*count, what)).collect();
        let again = and_counted(*asked_again as u64, "asked for again");
        format!(
            "{pages} fetched, {failed} failed{others}; {} asked for in {}{again}; {} in flight of {}",
            with_noun(asked, "URL"),
            with_noun(plans, "plan"),
            in_flight.urls,
            with_noun(in_flight.plans, "open plan")
        )
    }
}
