//! Estimates of the whole frontier: query impact, importance, quality, and their blend.

use std::sync::{MutexGuard, PoisonError};

use prospect_index::bm25::Scorer;
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::url::SiteLevel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::EstimateError;
use super::blend::{self, Blend, PARTS, PickOutcome, START};
use super::features::{FeatureSource, PAGE_RANK, QUALITY, SITE_MEAN};
use super::memory::{Memory, Training, scored_parents};
use super::page_ranks::PageRanks;
use super::pairs::{Horizon, MatchRule, MatchSource, Pair, PairSource, idf_mass};
use super::regression::ImpactRegression;
use super::score_tree::{Example, ScoreTree};
use super::sites::SiteMeans;
use crate::sketch::served::ServedLists;
use crate::sketch::sketched;
use crate::workload::Query;

/// Training pairs of one query that are used.
const TRAINING_PAIRS_PER_QUERY: usize = 2_000;
/// Before the first outcome, the chance of a candidate is this times its matched idf share.
const COLD_CHANCE: f64 = 0.1;

/// Which reading of S' makes the query impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactReading {
    /// Sum of f(q) times the chance to beat the K-th score of q's served list.
    Chance,
    /// Sum of f(q) times the chance to beat the K-th score of q's sketch, so that candidates
    /// compete with each other.
    Competing,
    /// Sum of f(q) over the sketches that the point estimate enters (the paper's T).
    Sketch,
}

/// Which importance the query-independent estimate is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Importance {
    /// In-links from crawled pages.
    Inlinks,
    /// PageRank over crawled links.
    PageRank,
}

/// How to estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateSettings {
    /// How a query and a URL must agree.
    pub rule: MatchRule,
    /// Reading of S'.
    pub reading: ImpactReading,
    /// Importance used.
    pub importance: Importance,
    /// Weights of the parts.
    pub weights: [f64; PARTS],
    /// Whether the weights are where fitting on past picks starts from, or stay.
    pub fitted: bool,
}

impl Default for EstimateSettings {
    /// Weights start at [`START`].
    fn default() -> Self {
        Self {
            rule: MatchRule::default(),
            reading: ImpactReading::Competing,
            importance: Importance::Inlinks,
            weights: START,
            fitted: true,
        }
    }
}

/// What estimates are made from, wherever it is kept: in a store, or in the memory of a
/// simulation.
pub struct EstimateInput<'a> {
    /// URLs, pages, links.
    pub known: &'a Known,
    /// Cycles.
    pub manifest: &'a Manifest,
    /// PageRank, up to date with the links.
    pub ranks: &'a PageRanks,
    /// Scores under the statistics of the epoch.
    pub scorer: &'a Scorer<'a>,
    /// n-grams of uncrawled URLs.
    pub frontier: &'a dyn MatchSource,
    /// n-grams of crawled pages as known before their cycle.
    pub history: &'a dyn MatchSource,
    /// Queries to plan for, merged.
    pub queries: &'a [Query],
    /// Their served lists now.
    pub served: &'a ServedLists,
    /// URLs that may be planned, by id; empty for all.
    pub within: &'a [bool],
    /// What became of the picks of earlier plans.
    pub past_picks: &'a [PickOutcome],
}

/// A candidate pair of the frontier with its estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairEstimate {
    /// The URL.
    pub url: UrlId,
    /// Index of the query.
    pub query: u32,
    /// Expected score S'.
    pub expected_score: f64,
    /// Chance to enter the query's top K; 0 or 1 with the sketch reading.
    pub chance: f64,
}

/// Estimate of one URL, in impact units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlEstimate {
    /// The URL.
    pub url: UrlId,
    /// Its parts, as in [`blend::PART_NAMES`](super::blend::PART_NAMES).
    pub parts: [f64; PARTS],
    /// Quality expected of the page, as a log-probability, where any is known.
    pub quality: Option<f64>,
    /// Their blend: what URLs are ranked by.
    pub estimate: f64,
    /// Pages that link to it.
    pub inlinks: u32,
}

/// Estimates of the frontier.
pub struct FrontierEstimates {
    /// Every URL that may be planned, by id.
    pub urls: Vec<UrlEstimate>,
    /// Candidate pairs, by URL, then query.
    pub pairs: Vec<PairEstimate>,
    /// Training pairs of the score tree.
    pub training_pairs: usize,
    /// Leaves of the score tree.
    pub leaves: usize,
    /// From importance to impact.
    pub importance: ImpactRegression,
    /// From the probability that a page is good to impact.
    pub quality: ImpactRegression,
    /// Weights of the parts.
    pub blend: Blend,
    /// What a site is here.
    pub site_level: &'static str,
}

impl FrontierEstimates {
    /// Candidate pairs of a URL.
    pub fn pairs_of(&self, url: UrlId) -> &[PairEstimate] {
        let from = self.pairs.partition_point(|pair| pair.url < url);
        let to = self.pairs.partition_point(|pair| pair.url <= url);
        &self.pairs[from..to]
    }
}

/// Estimates every uncrawled URL for the `needy` queries, given as indices; `memory` is of earlier
/// plans for the same queries, or empty.
///
/// # Errors
/// An index cannot be read, or a model cannot be fitted.
pub fn estimate(
    input: &EstimateInput<'_>,
    needy: &[usize],
    memory: &mut Memory,
    settings: &EstimateSettings,
) -> Result<FrontierEstimates, EstimateError> {
    let (known, ranks) = (input.known, input.ranks);
    memory.update(known, input.manifest, input.queries.len());
    let sites = &memory.sites;
    let strings = memory.strings.as_ref();
    let source = PairSource {
        features: FeatureSource { known, sites, strings, scorer: input.scorer },
        rule: settings.rule,
        end_seq: input.manifest.next_seq,
        training_pairs: TRAINING_PAIRS_PER_QUERY,
        history: input.history,
        past: Past { known, manifest: input.manifest },
        frontier: input.frontier,
        now: Now { known, within: input.within },
    };
    let mut candidates = source.pairs(input.queries, needy, &memory.training)?;
    let (examples, means) = examples(input, needy, memory);
    let expected = expected_quality(input, memory);
    let tree = ScoreTree::fit(&examples, 0.0)?;
    let reads_ranks = tree.reads(PAGE_RANK) || settings.importance == Importance::PageRank;
    let page_ranks = if reads_ranks { ranks.now(known) } else { &[] };
    candidates.par_iter_mut().for_each(|pair| {
        pair.features[PAGE_RANK] = page_ranks.get(pair.url.index()).copied().unwrap_or(0.0);
        pair.features[SITE_MEAN] = means.mean(sites.of(pair.url)) as f32;
        pair.features[QUALITY] = expected.get(pair.url.index()).copied().unwrap_or(0.0);
    });
    let mut pairs = pair_estimates(input, settings, &tree, &candidates);
    pairs.par_sort_unstable_by_key(|pair| (pair.url, pair.query));
    let (importance, quality) = regressions(input, settings, &source.past, memory)?;
    let blend = if settings.fitted {
        Blend::fit(settings.weights, input.past_picks)
    } else {
        Blend::fixed(settings.weights)
    };
    let mapped = Mapped { importance, quality, blend };
    let urls = url_estimates(input, settings, &pairs, &mapped, &expected, page_ranks);
    Ok(FrontierEstimates {
        urls,
        pairs,
        training_pairs: examples.len(),
        leaves: tree.leaves(),
        importance,
        quality,
        blend,
        site_level: sites.level().map_or("", SiteLevel::name),
    })
}

/// Crawled pages as they were known at the start of their cycle.
struct Past<'a> {
    known: &'a Known,
    manifest: &'a Manifest,
}

impl Past<'_> {
    fn cycle_start(&self, url: UrlId) -> Option<u32> {
        let seq = self.known.pages.page_seq(url)?;
        Some(self.manifest.cycle_start(self.manifest.cycle_of(seq)))
    }
}

impl Horizon for Past<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let start = self.cycle_start(url)?;
        // A seed that nothing led to was no candidate of any plan.
        self.known.links.incoming(url, start).next()?;
        Some(start)
    }
}

/// Uncrawled URLs as they are known now.
struct Now<'a> {
    known: &'a Known,
    within: &'a [bool],
}

impl Horizon for Now<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let allowed = self.within.is_empty() || self.within[url.index()];
        (allowed && self.known.pages.in_frontier(url)).then_some(u32::MAX)
    }
}

/// Training examples in the order of their cycles, each with its site's mean over earlier cycles;
/// and the means over all.
fn examples(
    input: &EstimateInput<'_>,
    needy: &[usize],
    memory: &Memory,
) -> (Vec<Example>, SiteMeans) {
    let (sites, training) = (&memory.sites, &memory.training);
    let quality = |url| memory.past_quality(input.known.pages.page_seq(url)?);
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
            features[PAGE_RANK] = input.ranks.before(pair.before_seq, pair.url);
            features[SITE_MEAN] = means.mean(sites.of(pair.url)) as f32;
            features[QUALITY] = quality(pair.url).unwrap_or(0.0) as f32;
            let outcome = (pair.score / masses[pair.query as usize].max(f64::MIN_POSITIVE)) as f32;
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
    input: &EstimateInput<'_>,
    settings: &EstimateSettings,
    tree: &ScoreTree,
    candidates: &[Pair],
) -> Vec<PairEstimate> {
    let by_query: Vec<&[Pair]> = candidates.chunk_by(|a, b| a.query == b.query).collect();
    by_query
        .into_par_iter()
        .flat_map_iter(|pairs| {
            let at = pairs[0].query as usize;
            let mass = idf_mass(&input.queries[at], input.scorer).max(f64::MIN_POSITIVE);
            let threshold = threshold(input, settings, tree, pairs, mass) / mass;
            let mut estimates: Vec<PairEstimate> = pairs
                .iter()
                .map(|pair| PairEstimate {
                    url: pair.url,
                    query: pair.query,
                    expected_score: tree.mean(&pair.features) * mass,
                    chance: chance(tree, pair, threshold),
                })
                .collect();
            if settings.reading == ImpactReading::Sketch {
                read_sketch(input, at, &mut estimates);
            }
            estimates
        })
        .collect()
}

/// The score that a candidate has to beat.
fn threshold(
    input: &EstimateInput<'_>,
    settings: &EstimateSettings,
    tree: &ScoreTree,
    pairs: &[Pair],
    mass: f64,
) -> f64 {
    let at = pairs[0].query as usize;
    if settings.reading != ImpactReading::Competing {
        return input.served.kth_score(at);
    }
    let expected = pairs.iter().map(|pair| tree.mean(&pair.features) * mass);
    let mut scores: Vec<f64> = input.served.lists[at].iter().map(|(_, score)| *score).collect();
    scores.extend(expected);
    let kth = input.served.k - 1;
    if scores.len() <= kth {
        return 0.0;
    }
    *scores.select_nth_unstable_by(kth, |a, b| b.total_cmp(a)).1
}

fn chance(tree: &ScoreTree, pair: &Pair, threshold: f64) -> f64 {
    if tree.examples() > 0 {
        return tree.chance_above(&pair.features, threshold);
    }
    COLD_CHANCE * f64::from(pair.features[1].max(pair.features[5]))
}

fn read_sketch(input: &EstimateInput<'_>, query: usize, estimates: &mut [PairEstimate]) {
    let expected: Vec<(UrlId, f64)> =
        estimates.iter().map(|pair| (pair.url, pair.expected_score)).collect();
    let served = &input.served.lists[query];
    let entered = sketched(served, &expected, input.served.k, &input.known.urls);
    for pair in estimates {
        pair.chance = f64::from(u8::from(entered.binary_search(&pair.url).is_ok()));
    }
}

/// Importance as x of the regression.
fn importance_x(settings: &EstimateSettings, inlinks: u32, page_rank: f32) -> f64 {
    match settings.importance {
        Importance::Inlinks => f64::from(inlinks).ln_1p(),
        Importance::PageRank => f64::from(page_rank),
    }
}

/// By URL: the quality expected of it, for those of the frontier; empty where no page has one.
fn expected_quality(input: &EstimateInput<'_>, memory: &Memory) -> Vec<f32> {
    let known = input.known;
    let posterior = memory.posterior();
    if posterior.is_empty() {
        return Vec::new();
    }
    let now = Now { known, within: input.within };
    let ids: Vec<UrlId> = known.urls.ids().collect();
    ids.into_par_iter()
        .map(|url| {
            let parents = now.of(url).map(|end| scored_parents(known, url, end));
            let site = memory.sites.of(url);
            parents.and_then(|parents| posterior.expected(site, parents)).unwrap_or(0.0) as f32
        })
        .collect()
}

/// How parts become impact, and how they are weighed.
struct Mapped {
    importance: ImpactRegression,
    quality: ImpactRegression,
    blend: Blend,
}

/// Fits importance, and expected quality, to the impact of crawled pages that were known before
/// their fetch.
fn regressions(
    input: &EstimateInput<'_>,
    settings: &EstimateSettings,
    past: &Past<'_>,
    memory: &Memory,
) -> Result<(ImpactRegression, ImpactRegression), EstimateError> {
    let known = input.known;
    let impact = input.served.impact(input.queries, known.urls.len());
    let importance: Vec<(f64, f64)> = known
        .pages
        .crawled()
        .filter_map(|(seq, url)| {
            let inlinks = memory.past_inlinks(seq)?;
            let page_rank = match settings.importance {
                Importance::Inlinks => 0.0,
                Importance::PageRank => input.ranks.before(past.of(url)?, url),
            };
            Some((importance_x(settings, inlinks, page_rank), impact[url.index()]))
        })
        .collect();
    let quality: Vec<(f64, f64)> = known
        .pages
        .crawled()
        .filter_map(|(seq, url)| Some((memory.past_quality(seq)?.exp(), impact[url.index()])))
        .collect();
    Ok((ImpactRegression::fit(&importance)?, ImpactRegression::fit(&quality)?))
}

fn url_estimates(
    input: &EstimateInput<'_>,
    settings: &EstimateSettings,
    pairs: &[PairEstimate],
    mapped: &Mapped,
    expected: &[f32],
    page_ranks: &[f32],
) -> Vec<UrlEstimate> {
    let known = input.known;
    let now = Now { known, within: input.within };
    let mut query_impact = vec![0.0; known.urls.len()];
    // Pairs are ordered by URL and query, so the sums are the same bits in every run.
    for pair in pairs {
        query_impact[pair.url.index()] +=
            input.queries[pair.query as usize].frequency * pair.chance;
    }
    let ids: Vec<UrlId> = known.urls.ids().collect();
    ids.into_par_iter()
        .filter_map(|url| {
            now.of(url)?;
            let page_rank = page_ranks.get(url.index()).copied().unwrap_or(0.0);
            let inlinks = known.links.all_inlinks(url);
            let x = importance_x(settings, inlinks, page_rank);
            let quality = expected.get(url.index()).copied().map(f64::from);
            let mut estimate =
                UrlEstimate { url, parts: [0.0; PARTS], quality, estimate: 0.0, inlinks };
            estimate.parts[blend::QUERY] = query_impact[url.index()];
            estimate.parts[blend::IMPORTANCE] = mapped.importance.impact(x);
            estimate.parts[blend::QUALITY] =
                quality.map_or(0.0, |quality| mapped.quality.impact(quality.exp()));
            estimate.estimate = mapped.blend.of(estimate.parts);
            Some(estimate)
        })
        .collect()
}
