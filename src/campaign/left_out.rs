//! What plans leave out, and why one is empty: why each URL that a store knows may not be planned.

use std::collections::HashSet;

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use serde::Serialize;

use super::open_plans::OpenBatch;
use super::plannable::Plannable;
use crate::planner::retries::WaitCounts;
use crate::planner::scope::{Scope, ScopeError};
use crate::planner::within::may;

/// What most URLs of the frontier are left out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    /// There is no frontier.
    NothingUnfetched,
    /// Open plans have asked for them.
    InFlight,
    /// `--within` does not name them.
    NotInList,
    /// They are out of scope.
    OutOfScope,
    /// They wait after failed fetches, or are given up.
    Waiting,
    /// They are other spellings of pages.
    OtherSpelling,
    /// Caps or the time leave no place.
    Caps,
}

/// URLs of the frontier, each once, by the first thing that they are left out for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// All that the store knows, the frontier or not.
    known: usize,
    /// Open plans have asked for them.
    pub(crate) in_flight: usize,
    not_in_list: usize,
    /// Of those that are listed.
    pub(crate) out_of_scope: usize,
    waiting: usize,
    /// Another spelling stands for them.
    pub(crate) other_spelling: usize,
    /// What may be planned.
    #[serde(rename = "caps")]
    pub(crate) plannable: usize,
    /// What waits, pages that may be fetched again beside URLs of the frontier.
    #[serde(skip)]
    pub(crate) waits: WaitCounts,
}

impl LeftOut {
    /// Of what may be planned within a scope; `listed` is what the user named, by URL id, empty for all. Costs a pass over
    /// all URLs, and asks the scope of those that may not be planned.
    ///
    /// # Errors
    /// An expression of the scope is none, as only another version can have written it.
    pub(crate) fn new(
        known: &Known,
        scope: &Scope,
        listed: &[bool],
        Plannable { within, in_flight, retries }: &Plannable,
    ) -> Result<Self, ScopeError> {
        let scope = scope.compile()?;
        let in_flight: HashSet<UrlId> = in_flight.iter().copied().collect();
        let mut left_out = Self { known: known.urls.len(), ..Self::default() };
        let mut waiting = Vec::new();
        for id in known.urls.ids() {
            let (is_counted, waits) =
                (known.pages.in_frontier(id), retries.wait(known, id).is_some());
            if !is_counted && !waits {
                continue;
            }
            let counted = if may(within, id) && !waits {
                &mut left_out.plannable
            } else if in_flight.contains(&id) {
                &mut left_out.in_flight
            } else if !may(listed, id) {
                &mut left_out.not_in_list
            } else if !scope.holds(&known.urls, id) {
                &mut left_out.out_of_scope
            } else if waits {
                waiting.push(id);
                &mut left_out.waiting
            } else {
                &mut left_out.other_spelling
            };
            *counted += usize::from(is_counted);
        }
        left_out.waits = retries.counts(known, waiting);
        Ok(left_out)
    }

    /// Of the next plan of a store, beside what is in flight of these.
    ///
    /// # Errors
    /// See [`LeftOut::new`].
    pub(crate) fn of_next_plan(
        known: &Known,
        manifest: &Manifest,
        scope: &Scope,
        open: &[OpenBatch],
    ) -> Result<Self, ScopeError> {
        let in_flight = open.iter().flat_map(OpenBatch::in_flight).collect();
        let next = Plannable::new(known, manifest, Vec::new(), scope, in_flight)?;
        Self::new(known, scope, &[], &next)
    }

    fn reasons(&self) -> [(Reason, usize, &'static str); 6] {
        [
            (Reason::InFlight, self.in_flight, "in flight"),
            (Reason::NotInList, self.not_in_list, "not in the list"),
            (Reason::OutOfScope, self.out_of_scope, "out of scope"),
            (Reason::Waiting, self.waiting, "waiting after failed fetches, or given up"),
            (Reason::OtherSpelling, self.other_spelling, "other spellings of pages"),
            (Reason::Caps, self.plannable, "held back by caps or for want of time"),
        ]
    }

    /// What a plan left out for other reasons than caps; none where that is nothing.
    pub(crate) fn held_back(&self) -> Option<String> {
        let for_this = |reason| !matches!(reason, Reason::Caps | Reason::Waiting);
        let reasons = self.reasons().into_iter();
        let held_back = reasons.filter(|(reason, count, _)| *count > 0 && for_this(*reason));
        let waits = (!self.waits.is_empty()).then(|| self.waits.to_string());
        let told = held_back.map(|(_, count, what)| format!("{count} {what}")).chain(waits);
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// The reason of most; a cap before others, for that is what this plan could change.
    pub(crate) fn reason(&self) -> Reason {
        let reasons = self.reasons().into_iter().filter(|(_, count, _)| *count > 0);
        let most = reasons.max_by_key(|(reason, count, _)| (*reason == Reason::Caps, *count));
        most.map_or(Reason::NothingUnfetched, |(reason, ..)| reason)
    }

    /// In a sentence.
    pub(crate) fn told(&self) -> String {
        let parts = self.reasons().into_iter().filter(|(_, count, _)| *count > 0);
        let parts: Vec<_> = parts.map(|(_, count, what)| format!("{count} are {what}")).collect();
        if parts.is_empty() {
            return format!(
                "each of the {} known URLs is fetched, has moved or failed for good",
                self.known
            );
        }
        let all: usize = self.reasons().iter().map(|(_, count, _)| count).sum();
        format!("of the {all} known URLs that are not fetched {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_that_of_most() {
        let mut left_out = LeftOut { known: 9, ..LeftOut::default() };
        assert_eq!(left_out.reason(), Reason::NothingUnfetched);
        assert!(left_out.told().starts_with("each of the 9 known URLs"));
        (left_out.in_flight, left_out.out_of_scope) = (2, 3);
        assert_eq!(left_out.reason(), Reason::OutOfScope);
        let told = "of the 5 known URLs that are not fetched 2 are in flight, 3 are out of scope";
        assert_eq!(left_out.told(), told);
        left_out.plannable = 1;
        assert_eq!(left_out.reason(), Reason::Caps);
    }
}
