//! Estimates that learn from the crawl: the chance of every candidate pair to last, and the impact of
//! a page by what pages around it were worth.
//!
//! Models are fitted once in a statistics epoch, on the pages fetched before it as they were known
//! at the start of their cycles, with the scores and the lists of the epoch. So a planner that starts
//! anew within the epoch fits the same, unless pages were replaced in it. Which pages were fetched
//! is as of a cycle's start, what they are worth as of the epoch's: that of a parent may have fallen
//! by the very page that it is a feature of. What models read is up to date at every plan: the K-th
//! scores, the links, the impact of parents and regions.

use std::sync::Arc;

use prospect_index::bm25::{Contender, Scores};
use prospect_index::ngram::Scratch;
use prospect_index::page::UrlId;
use rayon::prelude::*;

use crate::estimate::EstimateError;
use crate::estimate::cache::PlannerCache;
use crate::estimate::candidates::cutoff::{CutoffSource, Cutoffs, QueryCutoffs};
use crate::estimate::candidates::linked::{AnswerPages, best_answers};
use crate::estimate::candidates::nearest::Nearest;
use crate::estimate::candidates::{Candidate, CandidateQuery, CandidateSource};
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::discovery::led_to;
use crate::estimate::features::first_links::FirstLinks;
use crate::estimate::features::group::FeatureGroup;
use crate::estimate::features::match_rule::{MatchRule, idf_mass};
use crate::estimate::features::page::Impact;
use crate::estimate::features::pair::{FeatureSource, LINKS};
use crate::estimate::features::regions::RegionMeans;
use crate::estimate::features::table::{Feature, PageFeature, PageRow};
use crate::estimate::horizon::Horizon;
use crate::estimate::horizon::{FrontierHorizon, PastHorizon};
use crate::estimate::models::EpochModels;
use crate::estimate::models::boosted_trees::{Boosted, Growth, LEAVES};
use crate::estimate::models::score_distribution::{ScoreModel, UNSEEN};
use crate::estimate::page_impact::{page_impact, page_source};
use crate::estimate::pair_sort::PairFiles;
use crate::estimate::pair_table::{PairRow, PairTable, PairsOfQueries, QueryPairs};
use crate::estimate::settings::EstimateSettings;
use crate::estimate::url_estimate::{PairEstimate, ScoredCandidates};
use crate::sketch::served::ServedLists;
use crate::workload::{Query, QueryId};

/// Before the first outcome, the chance of a candidate is this times its matched idf share.
const COLD_CHANCE: f64 = 0.1;
/// Pairs on which the score model is fitted.
const TRAINING_PAIRS: usize = 100_000;
/// Queries that these are of: each is scored on all pages.
const TRAINING_QUERIES: usize = 2_000;
/// Queries whose pairs are found before they are put in a table.
const QUERIES_AT_ONCE: usize = 1024;
const PAGE_GROWTH: Growth = Growth { trees: 60, depth: 4, rate: 0.1, leaf: 60.0 };

const _: () = assert!(1 << PAGE_GROWTH.depth <= LEAVES);

/// Pages without which the page model is not fitted: those of four leaves. Fitted to fewer than two it says the same of
/// every page (docs/ablation.md).
const FEWEST_PAGES: usize = 4 * PAGE_GROWTH.leaf as usize;

/// Estimates candidate pairs of the queries, given as indices, and every page of the frontier if
/// those are asked for. `quality` is what is expected by URL, or empty.
///
/// # Errors
/// An index cannot be read, or a model cannot be fitted.
pub(super) fn estimate(
    input: &CrawlView<'_>,
    queries: &[usize],
    cache: &mut PlannerCache,
    settings: &EstimateSettings,
    quality: &[f32],
    of_pages: bool,
) -> Result<ScoredCandidates, EstimateError> {
    let known = input.known;
    let impact = Arc::new(Impact::new(input.served, input.queries, known.urls.len()));
    let of_epoch = |models: &&Arc<EpochModels>| models.epoch_end == input.epoch.end_seq;
    let models = cache.models.as_ref().filter(of_epoch);
    let goes_on = |models| cache.pairs.as_ref().is_some_and(|kept| kept.goes_on(models));
    let is_fitted = models.is_some();
    let is_anew = !models.is_some_and(goes_on);
    cache.first_links = None;
    if is_anew {
        let place_of = |url| input.scorer.place_of(url);
        let urls = known.urls.len();
        cache.first_links = Some(FirstLinks::new(&known.links, urls, LINKS, place_of));
    }
    let cutoffs = cutoffs(input, cache, settings)?;
    log::debug!("last candidates of {} queries found", input.queries.len());
    if !is_fitted {
        cache.models = Some(Arc::new(fit(input, &impact, cache, settings, &cutoffs)?));
        log::debug!("models of the epoch fitted");
    }
    let pairs = found_pairs(input, queries, cache, settings, &cutoffs)?;
    drop(cutoffs);
    log::debug!("candidate pairs of {} queries estimated", queries.len());
    cache.first_links = None;
    let page_impact =
        if of_pages { page_impact(input, &impact, cache, settings, quality) } else { Vec::new() };
    log::debug!("pages of the frontier estimated");
    let models = cache.models.as_ref();
    Ok(ScoredCandidates {
        pairs,
        page_impact,
        training_pairs: models.map_or(0, |models| models.training_pairs),
        levels: models.and_then(|models| models.scores.as_ref()).map(ScoreModel::levels),
    })
}

/// Candidate pairs of the queries, given as indices: kept ones of all, where a planner goes on that can keep
/// them.
///
/// # Errors
/// An index cannot be read.
fn found_pairs(
    input: &CrawlView<'_>,
    queries: &[usize],
    cache: &mut PlannerCache,
    settings: &EstimateSettings,
    cutoffs: &QueryCutoffs,
) -> Result<Arc<PairTable>, EstimateError> {
    let models = cache.models.clone();
    let fitted = models.as_ref().and_then(|all| all.scores.as_ref().map(|scores| (all, scores)));
    let can_keep = queries.len() == input.queries.len()
        && input.embeddings_for(settings).is_none()
        && !settings.without.contains(FeatureGroup::Pairs);
    let mut kept = cache.pairs.take_if(|kept| {
        let goes_on = cache.strings.is_some() && input.scorer.scores_pages();
        can_keep && fitted.is_some() && (kept.is_once() || goes_on)
    });
    let pairs = match (&mut kept, fitted) {
        (Some(kept), Some((all, scores))) if kept.goes_on(all) => {
            let source = frontier_source(input, cache, &cache.nearest, settings, cutoffs);
            kept.update(input, &source, all, scores)?
        }
        (kept, fitted) => {
            let files = cache.pair_files.as_deref();
            let found = listed(input, queries, cache, &cache.nearest, (settings, cutoffs), files)?;
            let pairs = Arc::new(found.pairs);
            if let (Some(kept), Some((all, _))) = (kept, fitted) {
                kept.found(input, all, &pairs, found.answers);
            }
            pairs
        }
    };
    cache.pairs = kept.or(cache.pairs.take());
    Ok(pairs)
}

/// Estimates candidate pairs of the queries, given as indices, by the models of the cache. `nearest`
/// are URLs that are nearest to each in meaning, if there is an embedding model.
///
/// # Errors
/// An index cannot be read.
pub(super) fn pairs(
    input: &CrawlView<'_>,
    queries: &[usize],
    cache: &PlannerCache,
    nearest: &Nearest,
    settings: &EstimateSettings,
) -> Result<Vec<PairEstimate>, EstimateError> {
    let cutoffs = cutoffs(input, cache, settings)?;
    let found = listed(input, queries, cache, nearest, (settings, &cutoffs), None)?;
    Ok(found.pairs.iter().collect())
}

/// The last candidate by words of each query of the input: as the models of the epoch have it, or found now.
fn cutoffs(
    input: &CrawlView<'_>,
    cache: &PlannerCache,
    settings: &EstimateSettings,
) -> Result<QueryCutoffs, EstimateError> {
    if settings.without.contains(FeatureGroup::Pairs) {
        return Ok(QueryCutoffs::default());
    }
    let of_epoch = |models: &&Arc<EpochModels>| models.epoch_end == input.epoch.end_seq;
    let earlier = cache.models.as_ref().filter(of_epoch).map(|models| &models.cutoffs);
    Cutoffs::of_queries(earlier, &cutoff_source(input, cache, settings), input.queries)
}

fn cutoff_source<'a>(
    input: &CrawlView<'a>,
    cache: &'a PlannerCache,
    settings: &EstimateSettings,
) -> CutoffSource<'a> {
    CutoffSource {
        features: features(input, cache),
        rule: rule(settings),
        matches: [input.frontier, input.history],
        manifest: input.manifest,
        epoch: input.epoch,
        most: settings.candidates,
    }
}

/// As [`pairs`], given the last candidate of each query by words, into files if there are any.
fn listed(
    input: &CrawlView<'_>,
    queries: &[usize],
    cache: &PlannerCache,
    nearest: &Nearest,
    (settings, cutoffs): (&EstimateSettings, &QueryCutoffs),
    files: Option<&dyn PairFiles>,
) -> Result<Listed, EstimateError> {
    let scores = cache.models.as_ref().and_then(|models| models.scores.as_ref());
    let source = frontier_source(input, cache, nearest, settings, cutoffs);
    let queries = if settings.without.contains(FeatureGroup::Pairs) { &[] } else { queries };
    let postings = source.postings(words(input, queries), 0)?;
    let by_bin = (input.queries.len(), scores.map(ScoreModel::bins));
    let mut pairs = PairsOfQueries::new(input.known.urls.len(), by_bin, files);
    let mut answers = Vec::with_capacity(queries.len());
    for some in queries.chunks(QUERIES_AT_ONCE) {
        let rooms = <(Scores, Scratch)>::default;
        let found = some.par_iter().map_init(rooms, |(room, scratch), &at| {
            let (id, query) = (QueryId::new(at), &input.queries[at]);
            let postings = &postings;
            let mut ask = CandidateQuery { at: id, query, postings, scores: room, scratch };
            let (candidates, contenders) = source.of(&mut ask, usize::MAX)?;
            Ok((query_pairs(input, at, scores, &candidates), best_answers(contenders)))
        });
        let found: Vec<(QueryPairs, Vec<Contender>)> =
            found.collect::<Result<_, EstimateError>>()?;
        let (found, best): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        pairs.add(&found)?;
        answers.extend(best);
    }
    drop(postings);
    Ok(Listed { pairs: pairs.finish()?, answers })
}

/// Candidate pairs of queries, and the best pages of each.
struct Listed {
    pairs: PairTable,
    answers: Vec<Vec<Contender>>,
}

/// Words of these queries, given as indices.
fn words<'a>(input: &'a CrawlView<'_>, queries: &'a [usize]) -> impl Iterator<Item = u32> + 'a {
    queries.iter().flat_map(|&at| input.scorer.term_ids(&input.queries[at].words))
}

/// Where candidates of the frontier come from.
fn frontier_source<'a>(
    input: &'a CrawlView<'a>,
    cache: &'a PlannerCache,
    nearest: &'a Nearest,
    settings: &EstimateSettings,
    cutoffs: &'a QueryCutoffs,
) -> CandidateSource<'a, FrontierHorizon<'a>> {
    CandidateSource {
        features: features(input, cache),
        link_context: input.link_context,
        embeddings: input.embeddings_for(settings).map(|embeddings| (embeddings, nearest)),
        rule: rule(settings),
        end_seq: input.manifest.next_seq,
        matches: input.frontier,
        // What may not be planned now still competes for places.
        horizon: FrontierHorizon { known: input.known, within: &[] },
        without: settings.without,
        answers: AnswerPages::Now,
        cutoffs,
    }
}

/// How strings must agree: without partial matches, all n-grams must occur.
fn rule(settings: &EstimateSettings) -> MatchRule {
    let rho =
        if settings.without.contains(FeatureGroup::Partial) { 1.0 } else { settings.rule.rho };
    MatchRule { rho, ..settings.rule }
}

fn features<'a>(input: &CrawlView<'a>, cache: &'a PlannerCache) -> FeatureSource<'a> {
    FeatureSource {
        known: input.known,
        sites: &cache.sites,
        strings: cache.strings.as_ref(),
        first_links: cache.first_links.as_ref(),
        scorer: input.scorer,
        // Candidates have no feature of it.
        shape: false,
    }
}

/// Pairs of one query with its candidates.
fn query_pairs(
    input: &CrawlView<'_>,
    at: usize,
    model: Option<&ScoreModel>,
    candidates: &[Candidate],
) -> QueryPairs {
    let mass = idf_mass(&input.queries[at], input.scorer).max(f64::MIN_POSITIVE);
    let (places, query) = (input.served.places(), QueryId::new(at));
    let row = |candidate| PairRow::of(candidate, query, mass, model);
    let rows: Vec<PairRow> = candidates.iter().map(row).collect();
    let chances = if let Some(model) = model {
        let list = input.served.lists[at].iter();
        let served: Vec<f64> = list.map(|(_, score)| score / mass).collect();
        let mut counts = vec![0.0; model.bins()];
        for row in &rows {
            counts[row.bin()] += model.weight(row.matches());
        }
        model.chances_by_bin(&served, &counts, places, input.scorer.bm25().k1 + 1.0)
    } else {
        // Before the first outcome.
        let mean = places.mean();
        candidates.iter().map(|candidate| cold_chance(candidate, mean)).collect()
    };
    let urls = candidates.iter().map(|candidate| candidate.url).collect();
    QueryPairs { query, urls, rows, chances }
}

/// The chance of a candidate before anything is learned, by the idf share of its URL, or of all its
/// anchors.
fn cold_chance(candidate: &Candidate, mean_visibility: f64) -> f64 {
    let features = &candidate.features;
    let matched = features[Feature::UrlIdfShare].max(features[Feature::AllAnchorsIdfShare]);
    COLD_CHANCE * f64::from(matched) * mean_visibility
}

/// Pages fetched before the epoch that a plan could have picked.
struct Bets<'a> {
    past: PastHorizon<'a>,
    end_seq: u32,
}

impl Horizon for Bets<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        self.past.known.pages.first_seq(url).filter(|&seq| seq < self.end_seq)?;
        self.past.of(url)
    }
}

fn fit(
    input: &CrawlView<'_>,
    impact: &Arc<Impact>,
    cache: &PlannerCache,
    settings: &EstimateSettings,
    cutoffs: &QueryCutoffs,
) -> Result<EpochModels, EstimateError> {
    let (known, manifest, end_seq) = (input.known, input.manifest, input.epoch.end_seq);
    let bets = Bets { past: PastHorizon { known, manifest }, end_seq };
    // What was linked to since must not take the place of what was known then.
    let has_more = known.links.links_from(0).any(|link| link.since >= end_seq);
    let before;
    let embeddings = match input.embeddings_for(settings) {
        Some(embeddings) if has_more => {
            before = Nearest::before(known, embeddings, end_seq);
            Some((embeddings, &before))
        }
        embeddings => embeddings.map(|embeddings| (embeddings, &cache.nearest)),
    };
    let all_that_match = QueryCutoffs::default();
    let source = CandidateSource {
        features: features(input, cache),
        link_context: input.link_context,
        embeddings,
        rule: rule(settings),
        end_seq,
        matches: input.history,
        horizon: bets,
        without: settings.without,
        answers: AnswerPages::AtAnyTime,
        cutoffs: &all_that_match,
    };
    let all = !settings.without.contains(FeatureGroup::Pairs);
    let queries = if all { training_queries(input.queries) } else { Vec::new() };
    let most = TRAINING_PAIRS.div_ceil(queries.len().max(1));
    let postings = source.postings(words(input, &queries), 0)?;
    let pairs: Vec<Vec<Candidate>> = queries
        .par_iter()
        .map_init(
            || (Scores::default(), Scratch::default()),
            |(scores, scratch), &at| {
                let (query, postings, at) = (&input.queries[at], &postings, QueryId::new(at));
                let mut ask = CandidateQuery { at, query, postings, scores, scratch };
                source.of(&mut ask, most).map(|(candidates, _)| candidates)
            },
        )
        .collect::<Result<_, EstimateError>>()?;
    drop(postings);
    let pairs: Vec<Candidate> = pairs.into_iter().flatten().collect();
    let unseen = if settings.without.contains(FeatureGroup::Unseen) { 0.0 } else { UNSEEN };
    let (pages, discovery) = fit_pages(input, impact, cache, settings, &source.horizon)?;
    let cutoffs = if all {
        Cutoffs::new(&cutoff_source(input, cache, settings), input.queries, cutoffs)
    } else {
        Cutoffs::default()
    };
    Ok(EpochModels {
        epoch_end: end_seq,
        cutoffs,
        scores: ScoreModel::fit(&pairs, unseen)?,
        pages,
        discovery,
        training_pairs: pairs.len(),
    })
}

/// Which queries the score model is fitted on, ascending: of many a sample that depends on nothing but each query's
/// words.
fn training_queries(queries: &[Query]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..queries.len()).collect();
    if all.len() > TRAINING_QUERIES {
        all.sort_by_cached_key(|&at| (queries[at].word_hash(), at));
        all.truncate(TRAINING_QUERIES);
        all.sort_unstable();
    }
    all
}

/// Fits the impact of the bets, and that of the pages that they were the first to lead to, to what was known of
/// them, cycle by cycle: a page of a cycle is no feature of another.
fn fit_pages(
    input: &CrawlView<'_>,
    impact: &Arc<Impact>,
    cache: &PlannerCache,
    settings: &EstimateSettings,
    bets: &Bets<'_>,
) -> Result<(Option<Boosted>, Option<Boosted>), EstimateError> {
    let wanted = [FeatureGroup::Page, FeatureGroup::Discovery];
    let wanted = wanted.map(|group| !settings.without.contains(group));
    if wanted == [false; 2] {
        return Ok((None, None));
    }
    let (known, manifest, end_seq) = (input.known, input.manifest, bets.end_seq);
    let of_epoch;
    let impact = if input.served.end_seq == end_seq {
        impact
    } else {
        let places = input.served.places();
        let served = ServedLists::build(input.scorer, input.queries, places, end_seq, &known.urls)?;
        of_epoch = Arc::new(Impact::new(&served, input.queries, known.urls.len()));
        &of_epoch
    };
    let source = page_source(input, impact, cache, settings);
    let fetched: Vec<(u32, UrlId)> =
        known.pages.discovered().take_while(|(seq, _)| *seq < end_seq).collect();
    let mut means = RegionMeans::default();
    let (mut rows, mut urls) = (Vec::new(), Vec::new());
    for cycle in fetched.chunk_by(|a, b| manifest.cycle_of(a.0) == manifest.cycle_of(b.0)) {
        let made: Vec<Option<PageRow>> = cycle
            .par_iter()
            .map(|&(seq, url)| {
                let start = bets.of(url)?;
                let quality = cache.past_quality(seq).unwrap_or(0.0) as f32;
                Some(source.features(url, start, &means, quality))
            })
            .collect();
        for (&(_, url), made) in cycle.iter().zip(made) {
            let impact = impact.of_url[url.index()];
            means.add(cache.regions.of(url), impact);
            if let Some(features) = made {
                rows.extend_from_slice(features.values());
                urls.push(url);
            }
        }
    }
    if urls.len() < FEWEST_PAGES {
        return Ok((None, None));
    }
    let mean = means.mean();
    let fit = |impact: &[f64]| fit_impact(&rows, &urls, impact, mean);
    let [page, discovery] = wanted;
    Ok((
        page.then(|| fit(&impact.of_url)).transpose()?,
        discovery.then(|| fit(&led_to(known, end_seq, &impact.of_url, mean))).transpose()?,
    ))
}

/// Learns from pages with such features what they have of an impact, given by URL, in times of the `mean`.
fn fit_impact(
    rows: &[f32],
    urls: &[UrlId],
    impact: &[f64],
    mean: f64,
) -> Result<Boosted, EstimateError> {
    let unit = mean.max(f64::MIN_POSITIVE);
    let targets: Vec<f64> = urls.iter().map(|url| impact[url.index()] / unit).collect();
    Boosted::fit(rows, PageFeature::ALL.len(), &targets, PAGE_GROWTH)
}
