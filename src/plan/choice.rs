//! From scored pairs to a batch: which queries count, what every URL is worth, and what is picked.

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;

use super::caps::SoFar;
use super::settings::PlanSettings;
use super::{Batch, SelectionSettings, select, select_only, served_gain};
use crate::estimate::EstimateError;
use crate::estimate::objective::Objective;
use crate::estimate::scored_pairs::{BlendInput, BlendedFrontier, ScoredPairs};
use crate::sketch::need::{Improvability, neediest};
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// What a choice is made from.
pub struct ChoiceInput<'a> {
    /// Pairs and URLs.
    pub scored: &'a ScoredPairs,
    /// Queries of the pairs.
    pub queries: &'a [Query],
    /// Their served lists.
    pub served: &'a ServedLists,
    /// URLs of the ids.
    pub urls: &'a UrlTable,
    /// Pages fetched so far: each batch is a draw of its own.
    pub next_seq: u32,
    /// Whether anyone looks at the ranking behind the batch.
    pub whole_ranking: bool,
    /// By URL of the scored pairs: what its estimate is multiplied with, 0 if it must not be planned; empty
    /// for 1.
    pub factors: &'a [f64],
}

/// What was chosen, and why.
pub struct Choice {
    /// Indices of the needy queries, ascending.
    pub needy: Vec<usize>,
    /// How parts became estimates; these are in the ranking.
    pub blended: BlendedFrontier,
    /// The ranking and the batch.
    pub batch: Batch,
    /// The fitted improvability, `(a, b)`.
    pub improvability: Option<(f64, f64)>,
}

/// Indices of the queries to plan for, ascending.
pub fn needy(
    queries: &[Query],
    served: &ServedLists,
    improvability: &Improvability,
    settings: &PlanSettings,
) -> Vec<usize> {
    let Some(needy) = settings.needy else { return (0..queries.len()).collect() };
    let need =
        |(at, query): (usize, &Query)| query.frequency * improvability.of(served.mean_score(at));
    let need: Vec<f64> = queries.iter().enumerate().map(need).collect();
    neediest(&need, needy.of(need.len()))
}

/// Chooses a batch for the needy queries.
///
/// # Errors
/// A regression cannot be fitted.
pub fn choose(
    input: &ChoiceInput<'_>,
    needy: Vec<usize>,
    improvability: &Improvability,
    settings: &PlanSettings,
) -> Result<Choice, EstimateError> {
    let mut counted = vec![0.0; input.queries.len()];
    for &at in &needy {
        counted[at] = input.queries[at].frequency;
    }
    let blending = BlendInput {
        queries: input.queries,
        counted: &counted,
        served: input.served,
        settings: &settings.estimate,
        budget: settings.selection.budget,
    };
    let mut blended = input.scored.blend(&blending)?;
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
    let fetched: Vec<UrlId> = input.scored.fetched().collect();
    let site_level = input.scored.site_level();
    let so_far = SoFar { urls: input.urls, fetched: &fetched, site_level };
    if settings.estimate.objective == Objective::Served {
        let demand = served_gain::Demand { counted: &counted, factors: &factors };
        served_gain::rank(&mut ranking, input, &demand, &blended.blend, so_far, &selection);
    }
    let select = if input.whole_ranking { select } else { select_only };
    let batch = select(ranking, so_far, &selection);
    Ok(Choice { needy, blended, batch, improvability: improvability.coefficients() })
}
