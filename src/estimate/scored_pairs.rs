//! What estimates of a frontier rest on, whatever is asked how often and however parts are blended:
//! candidate pairs with their chances, what models expect of every URL, and what crawled pages were
//! known by before their fetch. Made once per state of a store, in time that grows with matching;
//! [`ScoredPairs::blend`] makes estimates of it in time that grows with pairs, URLs and crawled pages.
//!
//! A pair's chance depends on its own query and on the models, on no frequency. Importance and
//! quality are mapped to impact anew each time, for the impact of crawled pages depends on how often
//! their queries are asked. The models of pages do not: what they expect is in units of the mean impact of
//! a crawled page, and their features are of the frequencies that scored pairs were made under.
//!
//! Costs 12 bytes a pair, 8 a known URL, 72 a URL of the frontier and 40 a crawled page.

use std::sync::Arc;

use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::estimate::EstimateError;
use crate::estimate::blend::Blend;
use crate::estimate::cache::{PlannerCache, scored_parents};
use crate::estimate::candidates::nearest::Nearest;
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::features::group::FeatureGroup;
use crate::estimate::fetch_chance::{FetchChances, FileTypes, TextChances};
use crate::estimate::horizon::Horizon;
use crate::estimate::horizon::{FrontierHorizon, PastHorizon};
use crate::estimate::learned;
use crate::estimate::link_gain;
use crate::estimate::models::entry::EntryModel;
use crate::estimate::models::quadratic::ImpactRegression;
use crate::estimate::models::score_levels::ScoreLevels;
use crate::estimate::pair_sort::{PairBytes, PairFiles};
use crate::estimate::pair_table::PairTable;
use crate::estimate::pandey_olston;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::running_mean::RunningMean;
use crate::estimate::settings::{EstimateSettings, ImpactReading, Importance};
use crate::estimate::site_reliability::{PickOutcome, SiteReliability};
use crate::estimate::slow_start::SlowStart;
use crate::estimate::url_estimate::{PageImpact, PairEstimate, ScoredCandidates, UrlEstimate};
use crate::estimate::url_parts::SiteLevel;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// What is known of a URL of the frontier whatever is asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrontierUrl {
    /// The URL.
    pub(crate) url: UrlId,
    /// Who answers for it.
    owner: u32,
    /// Pages that link to it.
    inlinks: u32,
    /// Its importance, as x of the regression.
    importance: f64,
    /// Quality expected of it, as a log-probability, where any is known.
    quality: Option<f64>,
    /// What models of pages expect.
    page: PageImpact,
    /// Chance that it gives a page when it is asked for.
    fetch: f64,
    /// Chance that the page has a text.
    text: f64,
}

/// A crawled page as it was known before its fetch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct PastPage {
    url: UrlId,
    /// x of the regression of importance, if it was a candidate of a plan.
    importance: Option<f64>,
    /// Quality that was expected of it, as a probability.
    quality: Option<f64>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct ScoredPairs {
    shared: Arc<Shared>,
    /// Candidate pairs, also of URLs that may not be planned, which compete.
    pairs: Arc<PairTable>,
    /// Pairs of queries that came later.
    more: Arc<PairTable>,
    /// By query: its idf mass.
    masses: Vec<f64>,
    /// By URL: the number of its site, where they were made and not read.
    sites: Option<Arc<Vec<u32>>>,
}

/// What scored pairs hold besides pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shared {
    /// URLs that may be planned, by id.
    urls: Vec<FrontierUrl>,
    past_pages: Vec<PastPage>,
    /// URLs that are known, crawled ones among them.
    known: usize,
    /// Fetched picks, and who answers for each.
    past_picks: Vec<PickOutcome>,
    owners: Vec<u32>,
    /// Domains of the URLs; empty where nothing is held against anybody.
    domains: SlowStart,
    training_pairs: usize,
    site_level: Option<SiteLevel>,
    /// Distributions of the scores of pairs, by bin, where they are learned.
    levels: Option<ScoreLevels>,
    /// Chances to enter a list by margin.
    entry: EntryModel,
}

/// How scored pairs are blended.
pub(crate) struct BlendInput<'a> {
    /// Queries of the pairs.
    pub(crate) queries: &'a [Query],
    /// By query: how often it is asked, 0 where its pairs do not count.
    pub(crate) counted: &'a [f64],
    /// Served lists of the queries.
    pub(crate) served: &'a ServedLists,
    /// Weights, and the defence.
    pub(crate) settings: &'a EstimateSettings,
    /// URLs of the batch, of which new domains take no more than their share; 0 where there is none.
    pub(crate) budget: usize,
}

/// Estimates of the frontier, and how parts became impact.
#[derive(Clone, Debug)]
pub(crate) struct BlendedFrontier {
    /// Every URL that may be planned, by id.
    pub(crate) urls: Vec<UrlEstimate>,
    /// From importance to impact.
    pub(crate) importance: ImpactRegression,
    /// From the probability that a page is good to impact.
    pub(crate) quality: ImpactRegression,
    /// Weights of the parts.
    pub(crate) blend: Blend,
}

/// Scored pairs as they are written: those that none have been added to yet.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ScoredPairs")]
struct Written<S, P, M> {
    shared: S,
    pairs: P,
    masses: M,
}

impl Serialize for ScoredPairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (shared, pairs, masses) = (&*self.shared, &*self.pairs, &self.masses);
        Written { shared, pairs, masses }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ScoredPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { shared, pairs, masses } =
            Written::<Shared, PairTable, Vec<f64>>::deserialize(deserializer)?;
        let (shared, pairs) = (Arc::new(shared), Arc::new(pairs));
        Ok(Self { shared, pairs, more: Arc::default(), masses, sites: None })
    }
}

impl ScoredPairs {
    /// Matches queries, given as indices, with the frontier and asks the models about every URL.
    /// `cache` is of earlier plans for the same queries, or empty. What the models of pages expect is
    /// taken from `pinned`, scored pairs of the same URLs, if there is one: for other queries, or other
    /// frequencies, without another page model.
    ///
    /// # Errors
    /// An index cannot be read, or a model cannot be fitted.
    pub(crate) fn new(
        input: &CrawlView<'_>,
        queries: &[usize],
        cache: &mut PlannerCache,
        settings: &EstimateSettings,
        pinned: Option<&Self>,
    ) -> Result<Self, EstimateError> {
        let known = input.known;
        cache.update(known, input.manifest, input.queries.len());
        if let Some(embeddings) = input.embeddings_for(settings) {
            cache.nearest.update(known, embeddings);
        }
        let is_learned = settings.reading == ImpactReading::Learned;
        if is_learned || settings.defended {
            cache.regions.update(&known.urls);
        }
        if settings.defended {
            cache.domains.update(&known.urls);
        }
        let quality = expected_quality(input, cache);
        cache.file_types.update(&known.urls);
        let ScoredCandidates { pairs, page_impact, training_pairs, levels } = match settings.reading
        {
            ImpactReading::Learned => {
                learned::estimate(input, queries, cache, settings, &quality, pinned.is_none())?
            }
            ImpactReading::Sketch => {
                pandey_olston::estimate(input, queries, cache, settings.rule, &quality)?
            }
            ImpactReading::LinkGain => link_gain::estimate(input, queries, settings.rule)?,
        };
        // Nobody asks who answers for a URL where nothing is held against past picks.
        let owner = |url| if settings.defended { cache.owner(url) } else { 0 };
        let mut urls = frontier_urls(input, cache, settings, owner, &page_impact, &quality);
        if let Some(pinned) = pinned {
            for (url, pinned) in urls.iter_mut().zip(&pinned.shared.urls) {
                url.page = pinned.page;
            }
        }
        log::debug!("facts of {} URLs set out", urls.len());
        let shared = Shared {
            past_pages: past_pages(input, settings, cache),
            known: known.urls.len(),
            past_picks: input.past_picks.to_vec(),
            owners: input.past_picks.iter().map(|pick| owner(pick.url)).collect(),
            domains: if settings.defended {
                SlowStart::new(known, &cache.domains, urls.par_iter().map(|url| url.url))
            } else {
                SlowStart::default()
            },
            site_level: cache.sites.level(),
            urls,
            training_pairs,
            levels,
            entry: EntryModel::fit(input.past_pairs),
        };
        let masses = input.masses();
        let (shared, sites) = (Arc::new(shared), Some(cache.sites.of_urls()));
        Ok(Self { shared, pairs, more: Arc::default(), masses, sites })
    }

    /// With the rows that it was stored beside, if any.
    ///
    /// # Errors
    /// They are those of other pairs.
    pub(crate) fn with_file(mut self, filed: Option<PairBytes>) -> Result<Self, &'static str> {
        let pairs = Arc::unwrap_or_clone(self.pairs);
        self.pairs = Arc::new(pairs.with_file(filed)?);
        Ok(self)
    }

    /// Puts its pairs into a file, where many of them are in memory: see [`PairTable::settle`].
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn settle(&mut self, files: &dyn PairFiles) -> Result<(), StoreError> {
        Arc::make_mut(&mut self.pairs).settle(files)
    }

    /// Its candidate pairs, those of queries that came later left out.
    pub(crate) fn into_pairs(self) -> Arc<PairTable> {
        self.pairs
    }

    /// Candidate pairs of more queries, by the models of the `cache` that scored pairs were made with. They
    /// depend on no other query.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn pairs_for(
        input: &CrawlView<'_>,
        cache: &PlannerCache,
        settings: &EstimateSettings,
    ) -> Result<Vec<PairEstimate>, EstimateError> {
        let all: Vec<usize> = (0..input.queries.len()).collect();
        let mut nearest = Nearest::default();
        if let Some(embeddings) = input.embeddings_for(settings) {
            nearest.update(input.known, embeddings);
        }
        learned::pairs(input, &all, cache, &nearest, settings)
    }

    /// With pairs of more queries, which count on from those it has, and their idf masses.
    #[must_use]
    pub(crate) fn with_pairs(&self, more: &[PairEstimate], masses: &[f64]) -> Self {
        let all = self.more.iter().chain(more.iter().copied()).collect();
        let masses = [self.masses.as_slice(), masses].concat();
        Self { more: Arc::new(PairTable::each(all, self.shared.known)), masses, ..self.clone() }
    }

    /// URLs that may be planned, by id.
    pub(crate) fn urls(&self) -> &[FrontierUrl] {
        &self.shared.urls
    }

    /// All candidate pairs, also of URLs that may not be planned, which compete.
    pub fn pairs(&self) -> impl Iterator<Item = PairEstimate> {
        self.pairs.iter().chain(self.more.iter())
    }

    /// Number of candidate pairs.
    pub(crate) fn pair_count(&self) -> usize {
        self.pairs.len() + self.more.len()
    }

    /// Candidate pairs of a URL that may be planned, by query.
    pub(crate) fn pairs_of(&self, url: UrlId) -> impl Iterator<Item = PairEstimate> + Clone {
        let known = self.shared.urls.binary_search_by_key(&url, |known| known.url);
        known.is_ok().then(|| self.all_pairs_of(url)).into_iter().flatten()
    }

    /// The same of any URL.
    fn all_pairs_of(&self, url: UrlId) -> impl Iterator<Item = PairEstimate> + Clone {
        self.pairs.of(url).chain(self.more.of(url))
    }

    /// Candidate pairs of a URL, of the queries that scored pairs were made for.
    pub(crate) fn own_pairs_of(&self, url: UrlId) -> impl Iterator<Item = PairEstimate> {
        self.pairs.of(url)
    }

    /// Distributions of the scores of pairs, by bin, where they are learned.
    pub(crate) fn levels(&self) -> Option<&ScoreLevels> {
        self.shared.levels.as_ref()
    }

    /// The score that a pair's page is expected to have, and those between which 95 % of pages of about its
    /// expectation lie; before it is learned how scores are distributed, what is expected at all.
    pub(crate) fn score(&self, pair: &PairEstimate) -> (f64, Option<(f64, f64)>) {
        let Some(levels) = self.levels() else { return (pair.expected_score, None) };
        let (mass, bin) = (self.mass(pair.query.index()), usize::from(pair.bin));
        let interval = [0.975, 0.025].map(|share| mass * levels.quantile(bin, share));
        (mass * levels.mean(bin), Some(interval.into()))
    }

    /// The idf mass of a query, which scores are shares of.
    pub(crate) fn mass(&self, query: usize) -> f64 {
        self.masses[query]
    }

    /// Chances to enter a list by margin.
    pub(crate) fn entry(&self) -> &EntryModel {
        &self.shared.entry
    }

    /// Pairs that scores were learned from.
    pub fn training_pairs(&self) -> usize {
        self.shared.training_pairs
    }

    /// Pages fetched before.
    pub(crate) fn fetched(&self) -> impl Iterator<Item = UrlId> {
        self.shared.past_pages.iter().map(|page| page.url)
    }

    /// What a site is here.
    pub(crate) fn site_level(&self) -> Option<SiteLevel> {
        self.shared.site_level
    }

    /// By URL: the number of its site, where they were made and not read.
    pub(crate) fn sites(&self) -> Option<&[u32]> {
        self.sites.as_ref().map(|sites| sites.as_slice())
    }

    /// Estimates every URL.
    pub(crate) fn blend(&self, blending: &BlendInput<'_>) -> BlendedFrontier {
        let BlendInput { queries, served, settings, budget, .. } = *blending;
        let Shared { urls, past_pages, past_picks, owners, known, .. } = &*self.shared;
        let impact = served.impact(queries, *known);
        let mut all = RunningMean::default();
        for page in past_pages {
            all.add(impact[page.url.index()]);
        }
        let mean = all.mean().unwrap_or(0.0);
        let read = |group| if settings.without.contains(group) { &[] } else { &past_pages[..] };
        let importance = read(FeatureGroup::Importance);
        let importance = fit_impact(importance, &impact, |page| page.importance);
        let quality = fit_impact(read(FeatureGroup::Quality), &impact, |page| page.quality);
        let blend = settings.blend();
        let owned = || owners.iter().copied().zip(past_picks.iter().copied());
        let promises = settings.defended.then(|| SiteReliability::new(owned(), &blend));
        let fits = ImpactFits { mean, importance, quality, blend, promises };
        let estimate = |known| self.estimate(known, &fits, blending);
        let mut urls: Vec<UrlEstimate> = urls.par_iter().map(estimate).collect();
        if settings.defended {
            self.shared.domains.defer(&mut urls, budget);
        }
        let ImpactFits { importance, quality, blend, .. } = fits;
        BlendedFrontier { urls, importance, quality, blend }
    }

    /// Estimates a URL.
    fn estimate(
        &self,
        known: &FrontierUrl,
        fits: &ImpactFits,
        blending: &BlendInput<'_>,
    ) -> UrlEstimate {
        let counted = blending.counted;
        let ImpactFits { mean, importance, quality, blend, promises } = fits;
        let mut parts = Parts::default();
        // Pairs are ordered by query, so the sums are the same bits in every run.
        for pair in self.all_pairs_of(known.url) {
            let part = Part::of_pair(pair.matches);
            parts[part] += counted[pair.query.index()] * pair.chance;
        }
        parts[Part::Page] = known.page.own * mean;
        parts[Part::Discovery] = known.page.discovery * mean;
        parts[Part::Importance] = importance.impact(known.importance);
        parts[Part::Quality] = known.quality.map_or(0.0, |expected| quality.impact(expected.exp()));
        let reliability = promises.as_ref().map_or(1.0, |promises| promises.of(known.owner));
        UrlEstimate {
            url: known.url,
            parts,
            quality: known.quality,
            reliability,
            fetch: known.fetch,
            text: known.text,
            deferred: false,
            estimate: blend.of(parts) * reliability * known.fetch * known.text,
            inlinks: known.inlinks,
        }
    }
}

/// What was fitted to past pages and picks: how parts of an estimate become impact.
struct ImpactFits {
    /// Mean impact of crawled pages.
    mean: f64,
    importance: ImpactRegression,
    quality: ImpactRegression,
    blend: Blend,
    /// What is left for past picks of a site, where any is held against it.
    promises: Option<SiteReliability>,
}

/// Fits the impact of pages, which is by URL, to their `x`. On no page, a regression expects nothing of
/// any.
fn fit_impact(
    pages: &[PastPage],
    impact: &[f64],
    x: fn(&PastPage) -> Option<f64>,
) -> ImpactRegression {
    let point = |page: &PastPage| Some((x(page)?, impact[page.url.index()]));
    let points: Vec<(f64, f64)> = pages.iter().filter_map(point).collect();
    ImpactRegression::fit(&points)
}

/// By URL: the quality expected of it, for those of the frontier; empty where no page has one.
fn expected_quality(input: &CrawlView<'_>, cache: &mut PlannerCache) -> Vec<f32> {
    let known = input.known;
    let posterior = cache.posterior();
    if posterior.is_empty() {
        return Vec::new();
    }
    let mut kept = cache.scored_parents.as_mut().filter(|_| input.scorer.scores_pages());
    if let Some(kept) = &mut kept {
        kept.update(known);
    }
    let (kept, sites) = (kept.as_deref(), &cache.sites);
    let now = FrontierHorizon { known, within: input.within };
    let ids: Vec<UrlId> = known.urls.ids().collect();
    ids.into_par_iter()
        .with_min_len(256)
        .map(|url| {
            let anew = |end| scored_parents(known, url, end);
            let parents =
                now.of(url).map(|end| kept.map_or_else(|| anew(end), |kept| kept.of(url)));
            let site = sites.of(url);
            parents.and_then(|parents| posterior.expected(site, parents)).unwrap_or(0.0) as f32
        })
        .collect()
}

/// Importance as x of the regression.
fn importance_x(settings: &EstimateSettings, inlinks: u32, page_rank: f32) -> f64 {
    match settings.importance {
        Importance::Inlinks => f64::from(inlinks).ln_1p(),
        Importance::PageRank => f64::from(page_rank),
    }
}

/// What is known of the URLs that may be planned, by id.
fn frontier_urls<O: Fn(UrlId) -> u32 + Sync>(
    input: &CrawlView<'_>,
    cache: &PlannerCache,
    settings: &EstimateSettings,
    owner: O,
    page_impact: &[PageImpact],
    quality: &[f32],
) -> Vec<FrontierUrl> {
    let page_ranks = match settings.importance {
        Importance::Inlinks => &[],
        Importance::PageRank => input.ranks.now(input.known),
    };
    let types = &cache.file_types;
    let fetches = FetchChances::new(input.known, input.manifest, types);
    let texts = TextChances::new(input.known, types, |url| input.scorer.words_of(url));
    let facts = UrlFacts {
        input,
        settings,
        owner,
        page_ranks,
        page_impact,
        quality,
        fetches,
        texts,
        types,
    };
    let now = FrontierHorizon { known: input.known, within: input.within };
    let ids = (0..input.known.urls.len() as u32).into_par_iter().map(UrlId);
    let ids: Vec<UrlId> = ids.filter(|&url| now.of(url).is_some()).collect();
    ids.into_par_iter().map(|url| facts.of(url)).collect()
}

/// Where what is known of a URL is read from. Lists are by URL; empty, or shorter, where nothing is
/// known.
struct UrlFacts<'a, O> {
    input: &'a CrawlView<'a>,
    settings: &'a EstimateSettings,
    /// Who answers for a URL.
    owner: O,
    page_ranks: &'a [f32],
    page_impact: &'a [PageImpact],
    quality: &'a [f32],
    fetches: FetchChances,
    texts: TextChances,
    types: &'a FileTypes,
}

impl<O: Fn(UrlId) -> u32> UrlFacts<'_, O> {
    fn of(&self, url: UrlId) -> FrontierUrl {
        let known = self.input.known;
        let page_rank = self.page_ranks.get(url.index()).copied().unwrap_or(0.0);
        let inlinks = known.links.inlinks(url, u32::MAX);
        FrontierUrl {
            url,
            owner: (self.owner)(url),
            inlinks,
            importance: importance_x(self.settings, inlinks, page_rank),
            quality: self.quality.get(url.index()).copied().map(f64::from),
            page: self.page_impact.get(url.index()).copied().unwrap_or_default(),
            fetch: self.fetches.of(known, url, self.types.of(url)),
            text: self.texts.of(self.types.of(url)),
        }
    }
}

/// Crawled pages as they were known before their cycles.
fn past_pages(
    input: &CrawlView<'_>,
    settings: &EstimateSettings,
    cache: &PlannerCache,
) -> Vec<PastPage> {
    let mut pages = Vec::new();
    for (seq, url) in input.known.pages.discovered() {
        pages.push(PastPage {
            url,
            importance: past_importance(input, settings, cache, (seq, url)),
            quality: cache.past_quality(seq).map(f64::exp),
        });
    }
    pages
}

/// x of the regression of importance of a crawled page as it was known before its cycle, if it was a
/// candidate of a plan.
fn past_importance(
    input: &CrawlView<'_>,
    settings: &EstimateSettings,
    cache: &PlannerCache,
    (seq, url): (u32, UrlId),
) -> Option<f64> {
    let inlinks = cache.past_inlinks(seq)?;
    let past = PastHorizon { known: input.known, manifest: input.manifest };
    let page_rank = match settings.importance {
        Importance::Inlinks => 0.0,
        Importance::PageRank => input.ranks.before(past.of(url)?, url),
    };
    Some(importance_x(settings, inlinks, page_rank))
}
