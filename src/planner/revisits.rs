//! What it is worth to fetch pages again: the impact that they have in the lists, and how likely they have changed.
//!
//! Both are needed. A visit brings, until the next plan, the impact of the page times the chance that it has
//! changed, for as long as it stays as it is then (METHODS, re-visits): that is what it competes with new URLs
//! by, whose estimates are brought to the impact that a batch of them is expected to have. In the long run a page
//! that changes while one looks away is not worth as many visits as that says, and re-visits are made in the order of
//! [`PageChange::visit_value`].

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;

use super::cycle::PickState;
use crate::estimate::change_rate::PageChange;
use crate::plan::revisits::Revisit;

/// A page that may be fetched again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ChangingPage {
    /// The page.
    pub(crate) url: UrlId,
    /// How it changes.
    pub(crate) change: PageChange,
    /// Pages that link to it.
    pub(crate) inlinks: u32,
}

/// How fetched pages change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Pages that may be fetched again.
    pub(crate) pages: Vec<ChangingPage>,
    /// Time to the next plan, in the same unit.
    pub(crate) horizon: f64,
}

impl Changes {
    /// Pages whose text is in some list, the best to fetch again first; `impact` is by URL, and new URLs have an
    /// estimate of `estimate` for each impact that they are expected to have.
    pub(crate) fn revisits(&self, impact: &[f64], estimate: f64, urls: &UrlTable) -> Vec<Revisit> {
        let pages = self.pages.iter();
        let mut revisits: Vec<Revisit> =
            pages.map(|page| self.revisit(page, impact[page.url.index()], estimate)).collect();
        revisits.retain(|revisit| revisit.impact > 0.0);
        revisits.sort_unstable_by(|a, b| {
            // What was fetched just now has no priority.
            let order = b.priority.total_cmp(&a.priority).then(b.impact.total_cmp(&a.impact));
            order.then_with(|| urls.url(a.url).cmp(urls.url(b.url)))
        });
        revisits
    }

    /// A page that has this impact, where each impact has an estimate of `estimate`.
    fn revisit(&self, page: &ChangingPage, impact: f64, estimate: f64) -> Revisit {
        let &ChangingPage { url, change, inlinks } = page;
        let chance = change.chance();
        let value = impact * chance * change.current_share(self.horizon);
        Revisit {
            url,
            impact,
            chance,
            value,
            estimate: value * estimate,
            priority: impact * change.visit_value(),
            inlinks,
        }
    }
}

/// A re-visit of a plan, with what was expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedRevisit {
    /// The page.
    pub(crate) url: UrlId,
    /// Chance that it has changed.
    pub(crate) chance: f64,
    /// Impact that it has in the lists.
    pub(crate) impact: f64,
}

/// What is expected of re-visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Revisited {
    /// Pages whose text has changed.
    pub(crate) changed: f64,
    /// Impact that those have in the lists.
    pub(crate) impact: f64,
}

impl Revisited {
    /// If all of them are made.
    pub(crate) fn expected(revisits: &[PlannedRevisit]) -> Self {
        let mut all = Self::default();
        for revisit in revisits {
            all.changed += revisit.chance;
            all.impact += revisit.chance * revisit.impact;
        }
        all
    }
}

/// What became of the re-visits of a plan. Realised is the impact, at the close, of those whose text had changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct RevisitOutcome {
    /// Pages that were to be fetched again.
    pub(crate) planned: usize,
    /// Of them, those that came.
    pub(crate) fetched: usize,
    /// Of those, changed ones.
    pub(crate) changed: usize,
    /// How many of them were expected to have changed.
    pub(crate) expected_changed: f64,
    /// Impact that was expected of them.
    pub(crate) expected: f64,
    /// Impact that those have in the lists that had changed.
    pub(crate) realised: f64,
}

impl RevisitOutcome {
    /// Counts a re-visit, of which this became, and whose page has this impact now.
    pub(crate) fn add(&mut self, planned: &PlannedRevisit, state: PickState, impact: f64) {
        self.planned += 1;
        if !matches!(state, PickState::Changed | PickState::Unchanged) {
            return;
        }
        self.fetched += 1;
        self.expected_changed += planned.chance;
        self.expected += planned.chance * planned.impact;
        if state == PickState::Changed {
            self.changed += 1;
            self.realised += impact;
        }
    }
}
