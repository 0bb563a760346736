//! The choice: which queries count, what every URL is worth, and what is picked.

use std::collections::HashSet;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;

use super::PlannerError;
use super::expected_batch::Expecting;
use super::expected_impact::RealisedShares;
use super::revisits::{Changes, PlannedRevisit};
use super::settings::PlanSettings;
use crate::estimate::blend::Blend;
use crate::estimate::cache::PlannerCache;
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::objective::Objective;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::scored_pairs::{BlendInput, BlendedFrontier, ScoredPairs};
use crate::estimate::url_estimate::UrlEstimate;
use crate::plan::caps::SoFar;
use crate::plan::explore::Pool;
use crate::plan::revisits::Revisit;
use crate::plan::{Batch, SelectionSettings, select_from, select_only, select_whole, served_gain};
use crate::sketch::need::{Improvability, QueryOutcome, neediest};
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// What a batch is chosen from, beside scored pairs.
#[derive(Clone, Copy)]
pub(crate) struct ChoiceInput<'a> {
    /// Queries of the pairs.
    pub(crate) queries: &'a [Query],
    /// Their served lists.
    pub(crate) served: &'a ServedLists,
    /// URLs of the ids.
    pub(crate) urls: &'a UrlTable,
    /// Pages fetched so far: each batch is a draw of its own.
    pub(crate) next_seq: u32,
    /// Whether anyone looks at the ranking behind the batch.
    pub(crate) whole_ranking: bool,
    /// By URL of the scored pairs: what its estimate is multiplied with, 0 if it must not be planned; empty
    /// for 1.
    pub(crate) factors: &'a [f64],
    /// By query: what it still lacks, which its frequency is multiplied with; 1 for those beyond.
    pub(crate) lack: &'a [f64],
    /// What a crawler has still to ask for.
    pub(crate) in_flight: &'a [UrlId],
    /// What is known of fetched pages, where they may be fetched again.
    pub(crate) again: Option<Again<'a>>,
}

/// What pages that were fetched before compete with new URLs by.
#[derive(Clone, Copy)]
pub(crate) struct Again<'a> {
    /// How they change.
    pub(crate) changes: &'a Changes,
    /// Which shares of what is said of batches of new URLs are realised.
    pub(crate) shares: RealisedShares,
    /// Pages of the crawl.
    pub(crate) pages: usize,
}

/// What was chosen, and why.
pub struct Choice {
    /// Indices of the needy queries, ascending.
    pub(crate) needy: Vec<usize>,
    /// How parts became estimates; these are in the ranking.
    pub(crate) blended: BlendedFrontier,
    /// The ranking and the batch.
    pub batch: Batch,
    /// Pages that may be fetched again, the best first.
    pub(crate) revisits: Vec<Revisit>,
}

impl Choice {
    /// The re-visits of the batch, with what is expected of them.
    pub(crate) fn planned_revisits(&self) -> Vec<PlannedRevisit> {
        let again = self.batch.picks.iter().filter(|pick| pick.pool == Pool::Revisit);
        let planned: HashSet<UrlId> = again.map(|pick| pick.estimate.url).collect();
        let picked = self.revisits.iter().filter(|revisit| planned.contains(&revisit.url));
        let planned = picked.map(|&Revisit { url, chance, impact, .. }| PlannedRevisit {
            url,
            chance,
            impact,
        });
        planned.collect()
    }

    /// The weights of the parts that some URL of the ranking has, which has to be whole: others add nothing to any
    /// estimate.
    pub(crate) fn weights(&self) -> impl Iterator<Item = (Part, f64)> {
        let ranking = &self.batch.ranking;
        let is_fed = |part| ranking.iter().any(|url| url.parts[part] != 0.0);
        self.blended.blend.weights.iter().filter(move |(part, _)| is_fed(*part))
    }

    /// How estimates are made, as a sum: each weight before the name of its part.
    pub(crate) fn formula(&self) -> String {
        let mut fed = Parts::default();
        self.weights().for_each(|(part, weight)| fed[part] = weight);
        Blend::new(fed).to_string()
    }
}

/// Scores the pairs of a crawl and chooses a batch from them; `outcomes` are of the queries of closed
/// cycles. Writes nothing but `cache`, which is of earlier choices for the same queries, or empty, and
/// changes no choice. `lack` is what queries still lack, or empty.
///
/// # Errors
/// An index cannot be read, or a model cannot be fitted.
pub(crate) fn choose(
    view: &CrawlView<'_>,
    outcomes: &[QueryOutcome],
    cache: &mut PlannerCache,
    settings: &PlanSettings,
    lack: &[f64],
    whole_ranking: bool,
) -> Result<(ScoredPairs, Choice), PlannerError> {
    let from = ChoiceInput {
        queries: view.queries,
        served: view.served,
        urls: &view.known.urls,
        next_seq: view.manifest.next_seq,
        whole_ranking,
        factors: &[],
        lack,
        in_flight: &[],
        again: None,
    };
    let improvability = || Improvability::fit(outcomes, view.served.places().k);
    choose_from(&from, improvability, settings, |needy| {
        Ok(ScoredPairs::new(view, needy, cache, &settings.estimate, None)?)
    })
}

/// Chooses a batch from the pairs that `score` makes for the needy queries, given as indices, which `improvability` tells
/// where some are left out.
///
/// # Errors
/// Those of `score`.
pub(crate) fn choose_from<E>(
    from: &ChoiceInput<'_>,
    improvability: impl FnOnce() -> Improvability,
    settings: &PlanSettings,
    score: impl FnOnce(&[usize]) -> Result<ScoredPairs, E>,
) -> Result<(ScoredPairs, Choice), E> {
    let needy = needy(from.queries, from.served, improvability, settings);
    let scored = score(&needy)?;
    let choice = choose_among(from, &scored, needy, settings);
    let batch = &choice.batch;
    log::debug!("{} of {} URLs chosen", batch.picks.len(), batch.frontier);
    Ok((scored, choice))
}

/// Indices of the queries to plan for, ascending. How much lists can be improved is asked only where some are left out: it
/// rests on what became of every query in every cycle.
pub(crate) fn needy(
    queries: &[Query],
    served: &ServedLists,
    improvability: impl FnOnce() -> Improvability,
    settings: &PlanSettings,
) -> Vec<usize> {
    let Some(needy) = settings.needy else { return (0..queries.len()).collect() };
    let improvability = improvability();
    let need =
        |(at, query): (usize, &Query)| improvability.need(query.frequency, served.mean_score(at));
    let need: Vec<f64> = queries.iter().enumerate().map(need).collect();
    neediest(&need, needy.of(need.len()))
}

/// Chooses a batch for the needy queries.
pub(crate) fn choose_among(
    input: &ChoiceInput<'_>,
    scored: &ScoredPairs,
    needy: Vec<usize>,
    settings: &PlanSettings,
) -> Choice {
    let mut counted = vec![0.0; input.queries.len()];
    for &at in &needy {
        counted[at] = input.queries[at].frequency * input.lack.get(at).copied().unwrap_or(1.0);
    }
    let blending = BlendInput {
        queries: input.queries,
        counted: &counted,
        served: input.served,
        settings: &settings.estimate,
        budget: settings.selection.budget,
    };
    let mut blended = scored.blend(&blending);
    log::debug!("estimates of {} URLs made", blended.urls.len());
    let mut ranking = std::mem::take(&mut blended.urls);
    let mut factors = Vec::new();
    if !input.factors.is_empty() {
        let counted = ranking.into_iter().zip(input.factors).filter(|(_, factor)| **factor > 0.0);
        (ranking, factors) = counted.unzip();
        for (url, factor) in ranking.iter_mut().zip(&factors) {
            url.estimate *= factor;
        }
    }
    let seed = xxhash_rust::xxh3::xxh3_64_with_seed(
        &input.next_seq.to_le_bytes(),
        settings.selection.seed,
    );
    let selection = SelectionSettings { seed, ..settings.selection };
    let fetched: Vec<UrlId> = scored.fetched().collect();
    let (site_level, sites) = (scored.site_level(), scored.sites());
    let queues = Some(&settings.queues);
    let (urls, in_flight) = (input.urls, input.in_flight);
    let so_far = SoFar { urls, fetched: &fetched, site_level, sites, queues, in_flight };
    if settings.estimate.objective == Objective::Served {
        let demand = served_gain::Demand { counted: &counted, factors: &factors };
        let input = served_gain::ServedInput { scored, served: input.served };
        served_gain::rank(&mut ranking, &input, &demand, &blended.blend, so_far, &selection);
    }
    let again = input.again.filter(|_| !selection.revisit.is_none());
    let revisits = again.map_or_else(Vec::new, |again| {
        let new = select_only(&ranking, so_far, &selection);
        let impact = input.served.impact_of(counted.iter().copied(), urls.len());
        let rate = estimate_of_impact(again, input, scored, &new, &blended.blend);
        again.changes.revisits(&impact, rate, urls)
    });
    let batch = if input.whole_ranking {
        select_whole(ranking, &revisits, so_far, &selection)
    } else {
        select_from(&ranking, &revisits, so_far, &selection)
    };
    Choice { needy, blended, batch, revisits }
}

/// Estimate of a new URL for each impact that it is expected to have at the close, as in a batch of such: estimates order
/// URLs, and their sum is no impact. What pages lead to is not in it, for they are expected to have none of that. 1 where
/// either is nothing.
fn estimate_of_impact(
    again: Again<'_>,
    input: &ChoiceInput<'_>,
    scored: &ScoredPairs,
    new: &Batch,
    blend: &Blend,
) -> f64 {
    let Again { shares, pages, .. } = again;
    let (queries, served) = (input.queries, input.served);
    let expecting = Expecting { queries, served, scored, rivals: &[], shares, pages };
    let urls: Vec<UrlId> = new.picks.iter().map(|pick| pick.estimate.url).collect();
    let come = new.expected_pages() / urls.len().max(1) as f64;
    let impact = come * expecting.enters(&urls);
    let own = |url: &UrlEstimate| url.estimate * blend.share_of_the_page(url.parts);
    let estimates = new.picks.iter().fold(0.0, |sum, pick| sum + own(&pick.estimate));
    if impact > 0.0 && estimates > 0.0 { estimates / impact } else { 1.0 }
}
