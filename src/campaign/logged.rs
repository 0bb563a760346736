//! What a closed plan left to value other batches by: everything it chose from, with the
//! probabilities of its draw, and what became of its picks.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::store::Store;

use crate::campaign::CampaignError;
use crate::campaign::plan_course::made_at;
use crate::campaign::records;
use crate::estimate::parts::Parts;
use crate::plan::SelectionSettings;
use crate::plan::caps::SoFar;
use crate::plan::off_policy::counterfactual::{Logged, Outcome};
use crate::plan::off_policy::targets::best;
use crate::planner::cycle::PlannedPick;

/// A plan that explored and was closed.
pub(crate) struct LoggedPlan {
    /// The plan.
    pub(crate) id: String,
    /// Its frontier, in the order of its ranking.
    pub(crate) urls: Vec<PlannedPick>,
    /// What became of them, in the same order.
    pub(crate) logged: Vec<Logged>,
    /// First `fetch_seq` of its cycle.
    pub(crate) start: u32,
}

/// Reads a plan of [`records::pooled_plans`].
///
/// # Errors
/// A segment is damaged.
pub(crate) fn plan(store: &Store, id: &str) -> Result<LoggedPlan, CampaignError> {
    let urls = records::pool(store, id)?;
    let picked: HashMap<UrlId, Option<Outcome>> = records::outcomes(store, id)?;
    let logged = urls
        .iter()
        .map(|url| {
            let outcome = picked.get(&url.url);
            Logged {
                estimate: url.estimate,
                propensity: url.propensity,
                picked: outcome.is_some(),
                outcome: outcome.copied().flatten(),
            }
        })
        .collect();
    let start = made_at(store.manifest(), id).unwrap_or(0);
    Ok(LoggedPlan { id: id.to_owned(), urls, logged, start })
}

impl LoggedPlan {
    /// URLs that were picked.
    pub(crate) fn picks(&self) -> usize {
        self.logged.iter().filter(|url| url.picked).count()
    }

    /// Whether anything of it was reported before it was closed.
    pub(crate) fn is_reported(&self) -> bool {
        self.logged.iter().any(|url| url.outcome.is_some())
    }

    /// Pages that were fetched before it.
    pub(crate) fn fetched(&self, known: &Known) -> Vec<UrlId> {
        let before = known.pages.crawled().filter(|(seq, _)| *seq < self.start);
        before.map(|(_, url)| url).collect()
    }

    /// The best URLs by `order`, as places in the frontier.
    pub(crate) fn batch(
        &self,
        order: impl Fn(Parts, f64) -> f64,
        selection: &SelectionSettings,
        so_far: SoFar<'_>,
    ) -> Vec<bool> {
        let value = |url: &PlannedPick| (url.url, order(url.parts, url.estimate));
        best(self.urls.iter().map(value), selection, so_far)
    }
}
