//! What the models of pages expect of every URL of the frontier.
//!
//! A planner that goes on keeps what they said: trees say the same of a URL as long as none of its features has passed a
//! threshold, and a page that is fetched changes most features by little.
//!
//! Costs 37 bytes a URL for who keeps it, beside what is known of it and of the pages that link to it.

use std::sync::Arc;

use prospect_index::page::UrlId;
use rayon::prelude::*;

use crate::estimate::cache::PlannerCache;
use crate::estimate::crawl_view::CrawlView;
use crate::estimate::features::page::{Impact, KeptParents, PageFeatureSource};
use crate::estimate::features::regions::RegionMeans;
use crate::estimate::features::table::PageFeature;
use crate::estimate::horizon::{FrontierHorizon, Horizon};
use crate::estimate::models::EpochModels;
use crate::estimate::models::boosted_trees::Forest;
use crate::estimate::settings::EstimateSettings;
use crate::estimate::url_estimate::PageImpact;

const WIDTH: usize = PageFeature::ALL.len();

/// By feature: how many thresholds a URL has reached.
type Cell = [u8; WIDTH];

/// Of a URL that nobody has asked about.
const UNKNOWN: Cell = [u8::MAX; WIDTH];

/// For a planner that goes on: see the module.
#[derive(Default)]
pub(super) struct KeptPageImpact {
    parents: KeptParents,
    /// By which models.
    models: Option<Arc<EpochModels>>,
    forest: Forest,
    /// By URL.
    cells: Vec<Cell>,
    expected: Vec<PageImpact>,
}

/// By URL: what the models of pages expect, in units of the mean impact of crawled pages; nothing
/// before they are fitted.
pub(super) fn page_impact(
    input: &CrawlView<'_>,
    impact: &Arc<Impact>,
    cache: &mut PlannerCache,
    settings: &EstimateSettings,
    quality: &[f32],
) -> Vec<PageImpact> {
    let known = input.known;
    let fitted = |models: &Arc<EpochModels>| models.pages.is_some() || models.discovery.is_some();
    let Some(models) = cache.models.clone().filter(fitted) else { return Vec::new() };
    let mut kept = cache.page_impact.take_if(|_| input.scorer.scores_pages());
    let mut means = RegionMeans::default();
    for (_, url) in known.pages.crawled() {
        means.add(cache.regions.of(url), impact.of_url[url.index()]);
    }
    let source = page_source(input, impact, cache, settings);
    let now = FrontierHorizon { known, within: input.within };
    let quality = |url: UrlId| quality.get(url.index()).copied().unwrap_or(0.0);
    let ids: Vec<UrlId> = known.urls.ids().collect();
    let expected = if let Some(kept) = &mut kept {
        kept.parents.update(&source);
        let parents = &kept.parents;
        let row = |url| Some(source.row(url, now.of(url)?, &means, quality(url), parents.of(url)));
        kept.expected.resize(ids.len(), PageImpact::default());
        kept.cells.resize(ids.len(), UNKNOWN);
        if !kept.models.as_ref().is_some_and(|by| Arc::ptr_eq(by, &models)) {
            kept.forest = models.forest();
            kept.cells.fill(UNKNOWN);
            kept.models = Some(Arc::clone(&models));
        }
        let forest = &kept.forest;
        let urls = kept.cells.par_iter_mut().zip(&mut kept.expected).zip(ids).with_min_len(256);
        let urls = urls.map(|((cell, expected), url)| {
            let Some(row) = row(url) else { return PageImpact::default() };
            if forest.passed(row.values(), cell) {
                *expected = PageImpact::of(forest.expected(cell));
            }
            *expected
        });
        urls.collect()
    } else {
        let forest = models.forest();
        let urls = ids.into_par_iter().with_min_len(256).map(|url| {
            let Some(end) = now.of(url) else { return PageImpact::default() };
            let mut cell = UNKNOWN;
            forest.passed(source.features(url, end, &means, quality(url)).values(), &mut cell);
            PageImpact::of(forest.expected(&cell))
        });
        urls.collect()
    };
    cache.page_impact = kept;
    expected
}

impl EpochModels {
    /// Its models of pages, made ready.
    fn forest(&self) -> Forest {
        Forest::of([self.pages.as_ref(), self.discovery.as_ref()], WIDTH)
    }
}

impl PageImpact {
    /// As the models tell it.
    fn of(expected: [f64; 2]) -> Self {
        let [own, discovery] = expected.map(|expected| expected.max(0.0));
        Self { own, discovery }
    }
}

/// Where features of pages come from.
pub(super) fn page_source<'a>(
    input: &CrawlView<'a>,
    impact: &'a Arc<Impact>,
    cache: &'a PlannerCache,
    settings: &EstimateSettings,
) -> PageFeatureSource<'a> {
    PageFeatureSource {
        known: input.known,
        next_seq: input.manifest.next_seq,
        regions: &cache.regions,
        impact,
        without: settings.without,
    }
}
