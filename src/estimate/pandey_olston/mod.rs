//! Estimates by the score tree (Pandey and Olston, WSDM 2008): S' of every URL that matches a query, and
//! the sketches that it enters.

pub(crate) mod pairs;
pub(crate) mod score_tree;
mod site_means;

use std::sync::{Arc, MutexGuard, PoisonError};

use prospect_index::page::UrlId;
use rayon::prelude::*;

use crate::estimate::EstimateError;
use crate::estimate::cache::PlannerCache;
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::features::match_rule::{MatchRule, idf_mass};
use crate::estimate::features::pair::FeatureSource;
use crate::estimate::features::table::Feature;
use crate::estimate::horizon::{FrontierHorizon, PastHorizon};
use crate::estimate::pair_table::PairTable;
use crate::estimate::pandey_olston::pairs::{Pair, PairSource, Training};
use crate::estimate::pandey_olston::score_tree::{Example, ScoreTree};
use crate::estimate::pandey_olston::site_means::SiteMeans;
use crate::estimate::url_estimate::{PairEstimate, ScoredCandidates};
use crate::sketch::sketched;

/// Training pairs of one query that are used.
const TRAINING_PAIRS_PER_QUERY: usize = 2_000;

/// Estimates the URLs that match one of the `needy` queries; `quality` is what is expected by URL,
/// or empty.
///
/// # Errors
/// An index cannot be read, or the tree cannot be fitted.
pub(super) fn estimate(
    input: &CrawlView<'_>,
    needy: &[usize],
    cache: &PlannerCache,
    rule: MatchRule,
    quality: &[f32],
) -> Result<ScoredCandidates, EstimateError> {
    let (known, sites) = (input.known, &cache.sites);
    let source = PairSource {
        features: FeatureSource {
            known,
            sites,
            strings: cache.strings.as_ref(),
            first_links: None,
            scorer: input.scorer,
            shape: true,
        },
        rule,
        end_seq: input.manifest.next_seq,
        training_pairs: TRAINING_PAIRS_PER_QUERY,
        history: input.history,
        past: PastHorizon { known, manifest: input.manifest },
        frontier: input.frontier,
        now: FrontierHorizon { known, within: input.within },
    };
    let mut candidates = source.pairs(input.queries, needy, &cache.training)?;
    let (examples, means) = examples(input, needy, cache);
    let tree = ScoreTree::fit(&examples)?;
    let page_ranks = if tree.reads(Feature::PageRank) { input.ranks.now(known) } else { &[] };
    candidates.par_iter_mut().for_each(|pair| {
        pair.features[Feature::PageRank] = page_ranks.get(pair.url.index()).copied().unwrap_or(0.0);
        pair.features[Feature::SiteMean] = means.mean(sites.of(pair.url)) as f32;
        pair.features[Feature::ExpectedQuality] =
            quality.get(pair.url.index()).copied().unwrap_or(0.0);
    });
    let pairs = pair_estimates(input, &tree, &candidates);
    Ok(ScoredCandidates {
        pairs: Arc::new(PairTable::each(pairs, input.known.urls.len())),
        page_impact: Vec::new(),
        training_pairs: examples.len(),
        levels: None,
    })
}

/// Training examples in the order of their cycles, each with its site's mean over earlier cycles;
/// and the means over all.
fn examples(
    input: &CrawlView<'_>,
    needy: &[usize],
    cache: &PlannerCache,
) -> (Vec<Example>, SiteMeans) {
    let (sites, training) = (&cache.sites, &cache.training);
    let quality = |url| cache.past_quality(input.known.pages.first_seq(url)?);
    let kept: Vec<MutexGuard<'_, Training>> = needy
        .iter()
        .map(|&at| training[at].lock().unwrap_or_else(PoisonError::into_inner))
        .collect();
    let mut pairs: Vec<&Pair> = kept.iter().flat_map(|training| &training.pairs).collect();
    pairs.par_sort_by_key(|pair| pair.before_seq);
    let mut means = SiteMeans::new(sites.len());
    let mut examples = Vec::with_capacity(pairs.len());
    let masses: Vec<f64> = input.queries.iter().map(|q| idf_mass(q, input.scorer)).collect();
    for cycle in pairs.chunk_by(|a, b| a.before_seq == b.before_seq) {
        let first = examples.len();
        for pair in cycle {
            let mut features = pair.features;
            features[Feature::PageRank] = input.ranks.before(pair.before_seq, pair.url);
            features[Feature::SiteMean] = means.mean(sites.of(pair.url)) as f32;
            features[Feature::ExpectedQuality] = quality(pair.url).unwrap_or(0.0) as f32;
            let outcome = (pair.score / masses[pair.query.index()].max(f64::MIN_POSITIVE)) as f32;
            examples.push(Example { features, outcome });
        }
        // Only now, so that no page of the cycle sees another one's outcome.
        for (pair, example) in cycle.iter().zip(&examples[first..]) {
            means.add(sites.of(pair.url), f64::from(example.outcome));
        }
    }
    (examples, means)
}

fn pair_estimates(
    input: &CrawlView<'_>,
    tree: &ScoreTree,
    candidates: &[Pair],
) -> Vec<PairEstimate> {
    let by_query: Vec<&[Pair]> = candidates.chunk_by(|a, b| a.query == b.query).collect();
    by_query
        .into_par_iter()
        .flat_map_iter(|pairs| {
            let at = pairs[0].query.index();
            let mass = idf_mass(&input.queries[at], input.scorer).max(f64::MIN_POSITIVE);
            let mut estimates: Vec<PairEstimate> = pairs
                .iter()
                .map(|pair| PairEstimate {
                    url: pair.url,
                    query: pair.query,
                    expected_score: tree.mean(&pair.features) * mass,
                    chance: 0.0,
                    matches: true,
                    bin: 0,
                })
                .collect();
            read_sketch(input, at, &mut estimates);
            estimates
        })
        .collect()
}

fn read_sketch(input: &CrawlView<'_>, query: usize, estimates: &mut [PairEstimate]) {
    let expected: Vec<(UrlId, f64)> =
        estimates.iter().map(|pair| (pair.url, pair.expected_score)).collect();
    let served = &input.served.lists[query];
    let entered = sketched(served, &expected, input.served.k, &input.known.urls);
    for pair in estimates {
        let found = entered.binary_search_by_key(&pair.url, |(url, _)| *url);
        pair.chance = found.map_or(0.0, |at| input.served.places().at(entered[at].1));
    }
}
