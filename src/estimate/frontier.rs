//! Estimates of the whole frontier: the parts of each URL's estimate, and their blend.

use prospect_index::bm25::Scorer;
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::url::SiteLevel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::blend::{self, Blend, PARTS, PickOutcome, START};
use super::entry::EntryOutcomes;
use super::groups::{Group, Groups};
use super::memory::{Memory, scored_parents};
use super::objective::{Objective, make_cautious};
use super::page_ranks::PageRanks;
use super::pair_model::PairModel;
use super::pairs::{Horizon, MatchRule, MatchSource};
use super::promises::Promises;
use super::regression::ImpactRegression;
use super::score_levels::ScoreLevels;
use super::{EstimateError, by_tree, lasting};
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// Which reading of S' makes the query impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactReading {
    /// Sum of f(q) over the sketches that the point estimate enters (the paper's T).
    Sketch,
    /// Sum of f(q) times the chance to be in q's top K for good, learned from the crawl, with
    /// candidates that the best pages link to.
    Lasting,
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
    /// Model of the scores of pairs, with the lasting reading.
    #[serde(default, skip_serializing_if = "PairModel::is_default")]
    pub pair_model: PairModel,
    /// Evidence that is left out.
    #[serde(default, skip_serializing_if = "Groups::is_empty")]
    pub without: Groups,
    /// Whether URLs count for less where past picks of their site broke promises.
    pub defended: bool,
    /// What a batch is to bring the most of.
    #[serde(default, skip_serializing_if = "Objective::is_default")]
    pub objective: Objective,
}

impl Default for EstimateSettings {
    /// Weights start at [`START`].
    fn default() -> Self {
        Self {
            rule: MatchRule::default(),
            reading: ImpactReading::Lasting,
            importance: Importance::Inlinks,
            weights: START,
            fitted: true,
            pair_model: PairModel::default(),
            without: Groups::default(),
            defended: true,
            objective: Objective::default(),
        }
    }
}

impl EstimateSettings {
    /// Whether estimates depend on what became of past picks.
    pub fn learns_from_picks(&self) -> bool {
        self.fits() || self.defended
    }

    /// Whether estimates read PageRank, which costs runs of its iteration to keep up to date.
    pub fn reads_page_rank(&self) -> bool {
        self.reading != ImpactReading::Lasting || self.importance == Importance::PageRank
    }

    /// Whether weights are fitted, so that it matters what became of picks.
    pub fn fits(&self) -> bool {
        self.fitted && !self.without.contains(Group::Fit)
    }

    /// The weights, 0 for parts that are left out.
    fn start(&self) -> [f64; PARTS] {
        let mut weights = self.weights;
        for (part, group) in [
            (blend::QUERY, Group::Pairs),
            (blend::LOCALITY, Group::Pairs),
            (blend::LOCALITY, Group::Inherited),
            (blend::PAGE, Group::Page),
            (blend::IMPORTANCE, Group::Importance),
            (blend::QUALITY, Group::Quality),
        ] {
            if self.without.contains(group) {
                weights[part] = 0.0;
            }
        }
        weights
    }
}

/// What estimates are made from, wherever it is kept: in a store, or in the memory of a
/// simulation.
pub struct EstimateInput<'a> {
    /// URLs, pages, links.
    pub known: &'a Known,
    /// Cycles.
    pub manifest: &'a Manifest,
    /// PageRank, up to date with the links where the settings read it.
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
    /// Records before this one are those of the statistics epoch.
    pub epoch_end: u32,
    /// What became of the picks of earlier plans.
    pub past_picks: &'a [PickOutcome],
    /// What became of their candidate pairs.
    pub past_pairs: &'a EntryOutcomes,
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
    /// Chance to be in the query's top K for good; with the sketch reading 0 or 1, whether S' enters
    /// the sketch.
    pub chance: f64,
    /// Chance to be in the query's top K when it is fetched.
    pub entry_chance: f64,
    /// Expected score less the K-th score, as shares of the query's idf mass.
    pub margin: f64,
    /// Whether the URL or its anchors match the query; if not, its best pages link to it.
    pub matches: bool,
    /// Bin of the score model that the expected score falls in; 0 without one.
    pub bin: u16,
}

/// Estimate of one URL, in impact units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrlEstimate {
    /// The URL.
    pub url: UrlId,
    /// Its parts, as in [`blend::PART_NAMES`].
    pub parts: [f64; PARTS],
    /// Quality expected of the page, as a log-probability, where any is known.
    pub quality: Option<f64>,
    /// What is left of it for past picks of its site that broke promises; 1 where they did not.
    pub trust: f64,
    /// What URLs are ranked by: with the objectives that are sums over URLs, their blend times the
    /// trust; with others what is left of that for the batch, or for the cautious.
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
    /// Distributions of the scores of pairs, by their bins, where the objective reads them.
    pub levels: Option<ScoreLevels>,
    /// Pairs that scores were learned from.
    pub training_pairs: usize,
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
    let known = input.known;
    memory.update(known, input.manifest, input.queries.len());
    let expected = expected_quality(input, memory);
    let Found { mut pairs, page_impact, training_pairs, levels } = match settings.reading {
        ImpactReading::Lasting => lasting::estimate(input, needy, memory, settings, &expected)?,
        ImpactReading::Sketch => by_tree::estimate(input, needy, memory, settings.rule, &expected)?,
    };
    pairs.par_sort_unstable_by_key(|pair| (pair.url, pair.query));
    let past = Past { known, manifest: input.manifest };
    let (importance, quality) = regressions(input, settings, &past, memory)?;
    let start = settings.start();
    let blend =
        if settings.fits() { Blend::fit(start, input.past_picks) } else { Blend::fixed(start) };
    let mapped = Mapped { importance, quality, blend };
    let mut urls = url_estimates(input, settings, &pairs, &page_impact, &mapped, &expected);
    if settings.objective == Objective::Cautious {
        make_cautious(&mut urls, &pairs, input.queries, &blend);
    }
    if settings.defended {
        defend(&mut urls, input, memory, &blend);
    }
    Ok(FrontierEstimates {
        urls,
        pairs,
        levels,
        training_pairs,
        importance,
        quality,
        blend,
        site_level: memory.sites.level().map_or("", SiteLevel::name),
    })
}

/// Takes from every estimate what its site does not keep of its promises.
fn defend(urls: &mut [UrlEstimate], input: &EstimateInput<'_>, memory: &mut Memory, blend: &Blend) {
    memory.regions.update(&input.known.urls);
    let picks = input.past_picks.iter();
    let promises = Promises::new(picks.map(|pick| (memory.owner(pick.url), *pick)), blend);
    for url in urls {
        url.trust = promises.trust(memory.owner(url.url));
        url.estimate *= url.trust;
    }
}

/// What a reading finds.
pub(super) struct Found {
    /// Candidate pairs.
    pub(super) pairs: Vec<PairEstimate>,
    /// By URL: impact that the page model expects; empty without one.
    pub(super) page_impact: Vec<f64>,
    /// Pairs that scores were learned from.
    pub(super) training_pairs: usize,
    /// Distributions of scores, where the objective reads them.
    pub(super) levels: Option<ScoreLevels>,
}

/// Crawled pages as they were known at the start of their cycle.
pub(super) struct Past<'a> {
    pub(super) known: &'a Known,
    pub(super) manifest: &'a Manifest,
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
pub(super) struct Now<'a> {
    pub(super) known: &'a Known,
    pub(super) within: &'a [bool],
}

impl Horizon for Now<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let allowed = self.within.is_empty() || self.within[url.index()];
        (allowed && self.known.pages.in_frontier(url)).then_some(u32::MAX)
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
    // On no page, a regression expects nothing of any.
    let pages = |group| {
        let is_read = !settings.without.contains(group);
        known.pages.crawled().filter(move |_| is_read)
    };
    let importance: Vec<(f64, f64)> = pages(Group::Importance)
        .filter_map(|(seq, url)| {
            let inlinks = memory.past_inlinks(seq)?;
            let page_rank = match settings.importance {
                Importance::Inlinks => 0.0,
                Importance::PageRank => input.ranks.before(past.of(url)?, url),
            };
            Some((importance_x(settings, inlinks, page_rank), impact[url.index()]))
        })
        .collect();
    let quality: Vec<(f64, f64)> = pages(Group::Quality)
        .filter_map(|(seq, url)| Some((memory.past_quality(seq)?.exp(), impact[url.index()])))
        .collect();
    Ok((ImpactRegression::fit(&importance)?, ImpactRegression::fit(&quality)?))
}

fn url_estimates(
    input: &EstimateInput<'_>,
    settings: &EstimateSettings,
    pairs: &[PairEstimate],
    page_impact: &[f64],
    mapped: &Mapped,
    expected: &[f32],
) -> Vec<UrlEstimate> {
    let known = input.known;
    let page_ranks = match settings.importance {
        Importance::Inlinks => &[],
        Importance::PageRank => input.ranks.now(known),
    };
    let now = Now { known, within: input.within };
    let mut from_pairs = vec![[0.0; 2]; known.urls.len()];
    // Pairs are ordered by URL and query, so the sums are the same bits in every run.
    for pair in pairs {
        let part = if pair.matches { blend::QUERY } else { blend::LOCALITY };
        from_pairs[pair.url.index()][part] +=
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
            let parts = [0.0; PARTS];
            let mut estimate =
                UrlEstimate { url, parts, quality, trust: 1.0, estimate: 0.0, inlinks };
            [estimate.parts[blend::QUERY], estimate.parts[blend::LOCALITY]] =
                from_pairs[url.index()];
            estimate.parts[blend::PAGE] = page_impact.get(url.index()).copied().unwrap_or(0.0);
            estimate.parts[blend::IMPORTANCE] = mapped.importance.impact(x);
            estimate.parts[blend::QUALITY] =
                quality.map_or(0.0, |quality| mapped.quality.impact(quality.exp()));
            estimate.estimate = mapped.blend.of(estimate.parts);
            Some(estimate)
        })
        .collect()
}
