//! What plans leave out, and why one is empty: what became of each URL that the store knows.

use std::collections::HashSet;

use prospect_index::page::UrlId;
use serde::Serialize;

use crate::campaign::planned::Plan;
use crate::campaign::{CampaignError, OpenStore};
use crate::planner::settings::PlanSettings;
use crate::planner::within::may;

/// What most URLs of the frontier are left out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reason {
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

/// URLs of the frontier by what they are left out for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    /// All that the store knows, the frontier or not.
    known: usize,
    in_flight: usize,
    not_in_list: usize,
    out_of_scope: usize,
    waiting: usize,
    other_spelling: usize,
    caps: usize,
}

impl LeftOut {
    /// What a plan left out, as if it were empty; `listed` is what the user named, empty for all.
    pub(super) fn of(
        open: &OpenStore,
        plan: &Plan,
        settings: &PlanSettings,
        listed: &[bool],
    ) -> Result<Self, CampaignError> {
        let known = &open.known;
        let scope = settings.scope.compile()?;
        let in_flight: HashSet<UrlId> = plan.in_flight.iter().copied().collect();
        let mut left_out = Self { known: known.urls.len(), ..Self::default() };
        for id in known.urls.ids().filter(|id| known.pages.in_frontier(*id)) {
            *if may(&plan.within, id) {
                &mut left_out.caps
            } else if in_flight.contains(&id) {
                &mut left_out.in_flight
            } else if plan.retries.wait(known, id).is_some() {
                &mut left_out.waiting
            } else if !may(listed, id) {
                &mut left_out.not_in_list
            } else if !scope.holds(&known.urls, id) {
                &mut left_out.out_of_scope
            } else {
                &mut left_out.other_spelling
            } += 1;
        }
        Ok(left_out)
    }

    fn reasons(&self) -> [(Reason, usize, &'static str); 6] {
        [
            (Reason::InFlight, self.in_flight, "in flight"),
            (Reason::NotInList, self.not_in_list, "not in the list of --within"),
            (Reason::OutOfScope, self.out_of_scope, "out of scope"),
            (Reason::Waiting, self.waiting, "waiting after failed fetches, or given up"),
            (Reason::OtherSpelling, self.other_spelling, "other spellings of pages"),
            (Reason::Caps, self.caps, "held back by caps or for want of time"),
        ]
    }

    /// What a plan left out for other reasons than caps and failed fetches, a phrase each.
    pub(super) fn held_back(&self) -> impl Iterator<Item = String> {
        let for_this = |reason| !matches!(reason, Reason::Caps | Reason::Waiting);
        let reasons = self.reasons().into_iter();
        let held_back = reasons.filter(move |(reason, count, _)| *count > 0 && for_this(*reason));
        held_back.map(|(_, count, what)| format!("{count} {what}"))
    }

    /// The reason of most; a cap before others, for that is what this plan could change.
    pub(super) fn reason(&self) -> Reason {
        let reasons = self.reasons().into_iter().filter(|(_, count, _)| *count > 0);
        let most = reasons.max_by_key(|(reason, count, _)| (*reason == Reason::Caps, *count));
        most.map_or(Reason::NothingUnfetched, |(reason, ..)| reason)
    }

    /// In a sentence.
    pub(super) fn told(&self) -> String {
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
        left_out.caps = 1;
        assert_eq!(left_out.reason(), Reason::Caps);
    }
}
