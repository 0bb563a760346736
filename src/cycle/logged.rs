//! What a closed plan left to value other batches by: everything it chose from, with the
//! probabilities of its draw, and what became of its picks.

use std::collections::HashMap;

use prospect_index::manifest::CycleEntry;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::store::Store;

use super::CycleError;
use super::counterfactual::{Logged, Outcome};
use super::records::{self, StoredPick};
use crate::estimate::blend::{self, Blend, PARTS};
use crate::estimate::frontier::UrlEstimate;
use crate::plan::caps::SoFar;
use crate::plan::{SelectionSettings, select_only};

/// A plan that explored and was closed.
pub struct LoggedPlan {
    /// The plan.
    pub id: String,
    /// Its frontier, in the order of its ranking.
    pub urls: Vec<StoredPick>,
    /// What became of them, in the same order.
    pub logged: Vec<Logged>,
    /// First `fetch_seq` of its cycle.
    pub start: u32,
}

/// Reads a plan of [`records::pooled_plans`].
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
    let of_plan = |cycle: &&CycleEntry| cycle.plan.as_deref() == Some(id);
    let cycle = store.manifest().cycles.iter().find(of_plan);
    let start = cycle.map_or(0, |cycle| cycle.first_seq);
    Ok(LoggedPlan { id: id.to_owned(), urls, logged, start })
}

/// What a URL is ranked by, from the parts of its estimate and their blend.
pub type Order = fn([f64; PARTS], f64) -> f64;

/// Batches that everyone may want to know the value of: their name, and what URLs are ranked by.
pub const ORDERS: [(&str, Order); 5] = [
    ("greedy", |_, estimate| estimate),
    ("start weights", |parts, _| Blend::fixed(blend::START).of(parts)),
    ("query parts", |parts, _| parts[blend::QUERY] + parts[blend::LOCALITY]),
    ("page part", |parts, _| parts[blend::PAGE]),
    ("importance part", |parts, _| parts[blend::IMPORTANCE]),
];

/// The batch that a plan would pick without exploration if URLs were ranked by `value`: in the order
/// of the URLs given, whether each is in it.
pub fn best(
    ranked: impl Iterator<Item = (UrlId, f64)> + Clone,
    selection: &SelectionSettings,
    so_far: SoFar<'_>,
) -> Vec<bool> {
    let estimate = |(url, value)| UrlEstimate {
        url,
        parts: [0.0; PARTS],
        quality: None,
        trust: 1.0,
        waits: false,
        estimate: value,
        inlinks: 0,
    };
    let greedy = SelectionSettings { explore: 0.0, ..*selection };
    let mut wanted = vec![false; so_far.urls.len()];
    for pick in select_only(ranked.clone().map(estimate).collect(), so_far, &greedy).picks {
        wanted[pick.estimate.url.index()] = true;
    }
    ranked.map(|(url, _)| wanted[url.index()]).collect()
}

impl LoggedPlan {
    /// URLs that were picked.
    pub fn picks(&self) -> usize {
        self.logged.iter().filter(|url| url.picked).count()
    }

    /// Pages that were fetched before it.
    pub fn fetched(&self, known: &Known) -> Vec<UrlId> {
        let before = known.pages.crawled().filter(|(seq, _)| *seq < self.start);
        before.map(|(_, url)| url).collect()
    }

    /// The best URLs by `order`, as places in the frontier.
    pub fn batch(
        &self,
        order: impl Fn([f64; PARTS], f64) -> f64,
        selection: &SelectionSettings,
        so_far: SoFar<'_>,
    ) -> Vec<bool> {
        let value = |url: &StoredPick| (url.url, order(url.parts, url.estimate));
        best(self.urls.iter().map(value), selection, so_far)
    }
}
