//! What a closed plan left to value other batches by: everything it chose from, with the
//! probabilities of its draw, and what became of its picks.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::store::Store;
use prospect_index::url_table::UrlTable;

use super::CycleError;
use super::counterfactual::{Logged, Outcome};
use super::records::{self, LoggedUrl};
use crate::estimate::blend::{self, Blend, PARTS};
use crate::plan::caps::{CapCounter, Caps};

/// A plan that explored and was closed.
pub struct LoggedPlan {
    /// The plan.
    pub id: String,
    /// Its frontier, in the order of its ranking.
    pub urls: Vec<LoggedUrl>,
    /// What became of them, in the same order.
    pub logged: Vec<Logged>,
}

/// Plans that can be valued by, in the order in which they were closed.
///
/// # Errors
/// A segment is damaged.
pub fn plans(store: &Store) -> Result<Vec<String>, CycleError> {
    let open = store.manifest().plan.as_ref().map(|plan| plan.id.as_str());
    let mut ids = records::pooled_plans(store)?;
    ids.retain(|id| Some(id.as_str()) != open);
    Ok(ids)
}

/// Reads a plan of [`plans`].
///
/// # Errors
/// A segment is damaged.
pub fn plan(store: &Store, id: &str) -> Result<LoggedPlan, CycleError> {
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
    Ok(LoggedPlan { id: id.to_owned(), urls, logged })
}

/// Batches that everyone may want to know the value of: their name, and what URLs are ranked by.
pub const ORDERS: [(&str, Order); 5] = [
    ("greedy", |_, estimate| estimate),
    ("start weights", |parts, _| Blend::fixed(blend::START).of(parts)),
    ("query parts", |parts, _| parts[blend::QUERY] + parts[blend::LOCALITY]),
    ("page part", |parts, _| parts[blend::PAGE]),
    ("importance part", |parts, _| parts[blend::IMPORTANCE]),
];

/// What a URL is ranked by, from the parts of its estimate and their blend.
pub type Order = fn([f64; PARTS], f64) -> f64;

impl LoggedPlan {
    /// URLs that were picked.
    pub fn picks(&self) -> usize {
        self.logged.iter().filter(|url| url.picked).count()
    }

    /// The best `budget` URLs by `order` under the caps, as places in the frontier.
    pub fn batch(
        &self,
        order: impl Fn([f64; PARTS], f64) -> f64,
        budget: usize,
        caps: Caps,
        urls: &UrlTable,
    ) -> Vec<bool> {
        let mut ranked: Vec<(f64, usize)> = self
            .urls
            .iter()
            .enumerate()
            .map(|(at, url)| (order(url.parts, url.estimate), at))
            .collect();
        let address = |at: usize| urls.url(self.urls[at].url);
        ranked.sort_unstable_by(|a, b| {
            b.0.total_cmp(&a.0).then_with(|| address(a.1).cmp(address(b.1)))
        });
        let frontier = self.urls.iter().map(|url| url.url);
        let mut counter = CapCounter::new(caps, budget, frontier, urls);
        let mut batch = vec![false; self.urls.len()];
        let fits = |(_, at): &(f64, usize)| counter.take(self.urls[*at].url).is_ok();
        for (_, at) in ranked.into_iter().filter(fits).take(budget) {
            batch[at] = true;
        }
        batch
    }
}
