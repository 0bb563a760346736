//! What is known of a page before its fetch whatever is asked: how it is linked, what its URL looks
//! like, and what pages around it were worth.

use std::sync::{Arc, LazyLock};

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use rayon::prelude::*;

use crate::estimate::features::group::FeatureGroups;
use crate::estimate::features::regions::{KINDS, RegionMeans, Regions};
use crate::estimate::features::table::{PageFeature, PageRow};
use crate::estimate::url_parts::depth;
use crate::sketch::served::ServedLists;
use crate::workload::{Query, QueryId};

/// By kind of region: its mean impact, and how many pages it rests on.
const REGIONS: [(PageFeature, PageFeature); KINDS] = [
    (PageFeature::HostImpact, PageFeature::HostPages),
    (PageFeature::SectionImpact, PageFeature::SectionPages),
    (PageFeature::DirectoryImpact, PageFeature::DirectoryPages),
    (PageFeature::PatternImpact, PageFeature::PatternPages),
];

/// Impact of fetched pages, by the lists they are served in.
#[derive(Default)]
pub(crate) struct Impact {
    /// By URL.
    pub(crate) of_url: Vec<f64>,
    /// By URL: where the queries begin that it is served for; one more at the end.
    starts: Vec<u32>,
    /// Queries, with their frequencies.
    serves: Vec<(QueryId, f64)>,
    /// Pages that are served for any, ascending: no other has an impact.
    pages: Vec<UrlId>,
}

impl Impact {
    /// Of the pages of `served`, the lists of `queries`; there are `urls` URLs.
    pub(crate) fn new(served: &ServedLists, queries: &[Query], urls: usize) -> Self {
        let mut starts = vec![0; urls + 1];
        for (url, _) in served.lists.iter().flatten() {
            starts[url.index() + 1] += 1;
        }
        let mut pages = Vec::new();
        for url in 0..urls {
            if starts[url + 1] > 0 {
                pages.push(UrlId(url as u32));
            }
            starts[url + 1] += starts[url];
        }
        let mut next = starts.clone();
        let mut serves = vec![(QueryId(0), 0.0); starts[urls] as usize];
        for (at, (query, list)) in queries.iter().zip(&served.lists).enumerate() {
            for (url, _) in list {
                let place = &mut next[url.index()];
                serves[*place as usize] = (QueryId::new(at), query.frequency);
                *place += 1;
            }
        }
        Self { of_url: served.impact(queries, urls), starts, serves, pages }
    }

    /// The queries that a page is served for, with their frequencies.
    fn serves(&self, url: UrlId) -> &[(QueryId, f64)] {
        let at = |at: usize| self.starts.get(at).copied().unwrap_or(0) as usize;
        self.serves.get(at(url.index())..at(url.index() + 1)).unwrap_or_default()
    }

    /// URLs whose impact, or whose queries, differ.
    fn changed_since<'a>(&'a self, old: &'a Self) -> impl Iterator<Item = UrlId> + 'a {
        let impact = |of: &Self, url: UrlId| of.of_url.get(url.index()).copied().unwrap_or(0.0);
        let is_new = move |&url: &UrlId| {
            impact(self, url) != impact(old, url) || self.serves(url) != old.serves(url)
        };
        let mut pages = [self.pages.as_slice(), &old.pages].concat();
        pages.sort_unstable();
        pages.dedup();
        pages.into_iter().filter(is_new)
    }
}

/// What page features are made from.
pub(crate) struct PageFeatureSource<'a> {
    /// URLs, pages, links.
    pub(crate) known: &'a Known,
    /// The next `fetch_seq`.
    pub(crate) next_seq: u32,
    /// Regions of URLs.
    pub(crate) regions: &'a Regions,
    /// Impact of fetched pages.
    pub(crate) impact: &'a Arc<Impact>,
    /// Evidence that is left out.
    pub(crate) without: FeatureGroups,
}

/// What is known of URLs and of the pages that link to them, for a planner that goes on: of a URL it is found anew
/// when a link to it is new, or when the impact of a page that links to it has changed. Costs 72 bytes a URL.
#[derive(Default)]
pub(crate) struct KeptParents {
    shapes: Vec<UrlShape>,
    parents: Vec<Parents>,
    /// Links that were taken in.
    links: usize,
    impact: Arc<Impact>,
}

impl KeptParents {
    /// Brings all of the frontier up to date; no page may have been replaced.
    pub(crate) fn update(&mut self, source: &PageFeatureSource<'_>) {
        let known = source.known;
        let new = self.shapes.len()..known.urls.len();
        let shapes = new.into_par_iter().map(|id| UrlShape::of(known.urls.url(UrlId(id as u32))));
        self.shapes.par_extend(shapes);
        self.parents.resize(known.urls.len(), Parents::default());
        let mut urls: Vec<UrlId> = known.links.links_from(self.links).map(|link| link.to).collect();
        for page in source.impact.changed_since(&self.impact) {
            let seq = known.pages.page_seq(page);
            let of_page = seq.map_or(&[][..], |seq| known.links.of_page(seq));
            urls.extend(of_page.iter().map(|link| link.to));
        }
        urls.retain(|&url| known.pages.in_frontier(url));
        urls.sort_unstable();
        urls.dedup();
        let found: Vec<(UrlId, Parents)> =
            urls.into_par_iter().map(|url| (url, source.parents(url, u32::MAX))).collect();
        for (url, parents) in found {
            self.parents[url.index()] = parents;
        }
        self.links = known.links.links_from(0).count();
        self.impact = Arc::clone(source.impact);
    }

    /// What is known of a URL, and of the pages that link to it.
    pub(crate) fn of(&self, url: UrlId) -> (&UrlShape, &Parents) {
        (&self.shapes[url.index()], &self.parents[url.index()])
    }
}

/// What a URL says by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UrlShape {
    depth: f32,
    length: f32,
    digits: f32,
    has_query: f32,
}

impl UrlShape {
    /// Of a canonical URL.
    pub(crate) fn of(address: &str) -> Self {
        Self {
            depth: depth(address) as f32,
            length: address.len() as f32,
            digits: address.bytes().filter(u8::is_ascii_digit).count() as f32,
            has_query: f32::from(u8::from(address.contains('?'))),
        }
    }
}

/// What the pages that link to a page say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parents {
    count: u32,
    /// ln(1 + their number).
    ln_count: f32,
    impact: f64,
    best: f64,
    /// Frequency of the queries that some parent is served for, and that several are.
    served: f64,
    served_again: f64,
    /// Of the first link: ln(1 + its place among those of its page), ln(1 + how many these are), and since when it is known.
    place: f32,
    links: f32,
    since: Option<u32>,
}

/// Pages of a region of which the logarithm is at hand.
const FEW: u32 = 4_096;

/// ln(1 + pages).
fn ln_1p(pages: u32) -> f32 {
    static OF_FEW: LazyLock<Vec<f32>> =
        LazyLock::new(|| (0..FEW).map(|pages| (pages as f32).ln_1p()).collect());
    OF_FEW.get(pages as usize).copied().unwrap_or_else(|| (pages as f32).ln_1p())
}

impl PageFeatureSource<'_> {
    /// Features of a URL from links of pages fetched before `before_seq`, when regions had these
    /// `means`; `quality` is what is expected, 0 where nothing is.
    pub(crate) fn features(
        &self,
        url: UrlId,
        before_seq: u32,
        means: &RegionMeans,
        quality: f32,
    ) -> PageRow {
        let shape = UrlShape::of(self.known.urls.url(url));
        self.row(url, before_seq, means, quality, (&shape, &self.parents(url, before_seq)))
    }

    /// The same from what is known of the URL, and of the pages that link to it, by then.
    pub(crate) fn row(
        &self,
        url: UrlId,
        before_seq: u32,
        means: &RegionMeans,
        quality: f32,
        (shape, parents): (&UrlShape, &Parents),
    ) -> PageRow {
        let unit = means.mean().max(f64::MIN_POSITIVE);
        let now = before_seq.min(self.next_seq);
        let age = |since| (now - since) as f32 / now.max(1) as f32;
        let mut row = PageRow::default();
        row[PageFeature::Parents] = parents.ln_count;
        row[PageFeature::UrlDepth] = shape.depth;
        row[PageFeature::UrlLength] = shape.length;
        row[PageFeature::UrlDigits] = shape.digits;
        row[PageFeature::UrlHasQuery] = shape.has_query;
        row[PageFeature::FirstLinkPlace] = parents.place;
        row[PageFeature::FirstLinkCount] = parents.links;
        row[PageFeature::FirstLinkAge] = parents.since.map_or(0.0, age);
        // One more parent of mean impact keeps a single one from saying too much.
        let shrunk = (parents.impact / unit + 1.0) / (f64::from(parents.count) + 1.0);
        row[PageFeature::ParentImpact] = shrunk as f32;
        row[PageFeature::BestParentImpact] = (parents.best / unit) as f32;
        row[PageFeature::ExpectedQuality] = quality;
        row[PageFeature::ParentDemand] = (parents.served / unit) as f32;
        row[PageFeature::SharedDemand] = (parents.served_again / unit) as f32;
        for ((impact, count), (mean, pages)) in
            REGIONS.into_iter().zip(means.of(self.regions.of(url)))
        {
            row[impact] = (mean / unit) as f32;
            row[count] = ln_1p(pages);
        }
        row.clear(self.without);
        row
    }

    /// What the pages fetched before `before_seq` say that link to a URL.
    pub(crate) fn parents(&self, url: UrlId, before_seq: u32) -> Parents {
        let links = &self.known.links;
        let mut found = Parents::default();
        let mut queries: Vec<(QueryId, f64)> = Vec::new();
        for parent in links.parents(url, before_seq).filter(|&parent| parent != url) {
            let impact = self.impact.of_url[parent.index()];
            found.count += 1;
            found.impact += impact;
            found.best = found.best.max(impact);
            queries.extend(self.impact.serves(parent));
        }
        queries.sort_unstable_by_key(|(query, _)| *query);
        for same in queries.chunk_by(|a, b| a.0 == b.0) {
            found.served += same[0].1;
            found.served_again += if same.len() > 1 { same[0].1 } else { 0.0 };
        }
        found.ln_count = (found.count as f32).ln_1p();
        let first = links.incoming(url, before_seq).find(|link| link.from != url);
        if let Some(first) = first {
            let of_page = links.of_page(first.seq);
            let place = of_page.iter().position(|link| link.to == url).unwrap_or(0);
            (found.place, found.links) = ((place as f32).ln_1p(), (of_page.len() as f32).ln_1p());
            found.since = Some(first.since);
        }
        found
    }
}
