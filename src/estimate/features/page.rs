//! What is known of a page before its fetch whatever is asked: how it is linked, what its URL looks
//! like, and what pages around it were worth.

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::url;

use crate::estimate::features::group::FeatureGroups;
use crate::estimate::features::regions::{KINDS, RegionMeans, Regions};
use crate::estimate::features::table::{PageFeature, PageRow};
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
pub(crate) struct Impact {
    /// By URL.
    pub(crate) of_url: Vec<f64>,
    /// By URL: the queries it is served for, with their frequencies.
    serves: Vec<Vec<(QueryId, f64)>>,
}

impl Impact {
    /// Of the pages of `served`, the lists of `queries`; there are `urls` URLs.
    pub(crate) fn new(served: &ServedLists, queries: &[Query], urls: usize) -> Self {
        let mut serves = vec![Vec::new(); urls];
        for (at, (query, list)) in queries.iter().zip(&served.lists).enumerate() {
            for (url, _) in list {
                serves[url.index()].push((QueryId::new(at), query.frequency));
            }
        }
        Self { of_url: served.impact(queries, urls), serves }
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
    pub(crate) impact: &'a Impact,
    /// Evidence that is left out.
    pub(crate) without: FeatureGroups,
}

/// What the pages that link to a page say.
#[derive(Default)]
struct Parents {
    count: u32,
    impact: f64,
    best: f64,
    /// Frequency of the queries that some parent is served for, and that several are.
    served: f64,
    served_again: f64,
    /// Of the first link: its place among those of its page, how many these are, and its age as
    /// a share of the crawl.
    place: f32,
    links: f32,
    age: f32,
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
        let address = self.known.urls.url(url);
        let unit = means.mean().max(f64::MIN_POSITIVE);
        let parents = self.parents(url, before_seq);
        let digits = address.bytes().filter(u8::is_ascii_digit).count();
        let mut row = PageRow::default();
        row[PageFeature::Parents] = (parents.count as f32).ln_1p();
        row[PageFeature::UrlDepth] = url::depth(address) as f32;
        row[PageFeature::UrlLength] = address.len() as f32;
        row[PageFeature::UrlDigits] = digits as f32;
        row[PageFeature::UrlHasQuery] = f32::from(u8::from(address.contains('?')));
        row[PageFeature::FirstLinkPlace] = parents.place.ln_1p();
        row[PageFeature::FirstLinkCount] = parents.links.ln_1p();
        row[PageFeature::FirstLinkAge] = parents.age;
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
            row[count] = (pages as f32).ln_1p();
        }
        row.clear(self.without);
        row
    }

    fn parents(&self, url: UrlId, before_seq: u32) -> Parents {
        let links = &self.known.links;
        let mut found = Parents::default();
        let mut queries: Vec<(QueryId, f64)> = Vec::new();
        for parent in links.parents(url, before_seq).filter(|&parent| parent != url) {
            let impact = self.impact.of_url[parent.index()];
            found.count += 1;
            found.impact += impact;
            found.best = found.best.max(impact);
            queries.extend(&self.impact.serves[parent.index()]);
        }
        queries.sort_unstable_by_key(|(query, _)| *query);
        for same in queries.chunk_by(|a, b| a.0 == b.0) {
            found.served += same[0].1;
            found.served_again += if same.len() > 1 { same[0].1 } else { 0.0 };
        }
        let first = links.incoming(url, before_seq).find(|link| link.from != url);
        if let Some(first) = first {
            let of_page = links.of_page(first.seq);
            found.place = of_page.iter().position(|link| link.to == url).unwrap_or(0) as f32;
            found.links = of_page.len() as f32;
            let now = before_seq.min(self.next_seq);
            found.age = (now - first.since) as f32 / now.max(1) as f32;
        }
        found
    }
}
