//! Content-independent features of a pair of query and URL (METHODS, section 1): what is known of
//! the URL before its fetch.

use std::collections::HashMap;

use prospect_index::bm25::{Scorer, Scores};
use prospect_index::ngram::{NgramQuery, NgramSet};
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::{url, words};

use super::sites::Sites;

/// Number of features.
pub const COUNT: usize = 15;

/// Names of the features, in order.
pub const NAMES: [&str; COUNT] = [
    "url n-gram share",
    "url idf share",
    "best anchor n-gram share",
    "best anchor idf share",
    "all anchors n-gram share",
    "all anchors idf share",
    "an anchor is the query",
    "ln(1 + linking sites with a matching anchor)",
    "ln(1 + in-links)",
    "ln(1 + PageRank * URLs)",
    "url depth",
    "url length",
    "mean outcome of the site",
    "best parent score",
    "mean parent score",
];
/// Position of the site's mean, which is filled in later, when outcomes are in order.
pub const SITE_MEAN: usize = 12;

/// Features of one pair.
pub type Features = [f32; COUNT];

/// What features are computed from.
pub struct FeatureSource<'a> {
    /// URLs, pages, links.
    pub known: &'a Known,
    /// Sites of URLs.
    pub sites: &'a Sites,
    /// Scores of parents.
    pub scorer: &'a Scorer<'a>,
}

/// One query while its candidates are looked at.
pub struct QueryView<'a> {
    /// Its n-grams, weighted by idf.
    pub idf: &'a NgramQuery,
    /// Its n-grams, each of weight 1, with the rule by which an anchor matches on its own.
    pub matching: &'a NgramQuery,
    /// Its words, joined.
    pub text: &'a str,
    /// Sum of the idf of its words.
    pub idf_mass: f64,
    anchors: HashMap<u32, AnchorMatch>,
}

#[derive(Clone, Copy)]
struct AnchorMatch {
    set: NgramSet,
    is_query: bool,
}

impl<'a> QueryView<'a> {
    /// A view of a query.
    pub fn new(
        idf: &'a NgramQuery,
        matching: &'a NgramQuery,
        text: &'a str,
        idf_mass: f64,
    ) -> Self {
        Self { idf, matching, text, idf_mass, anchors: HashMap::new() }
    }

    fn anchor(&mut self, known: &Known, id: u32) -> AnchorMatch {
        let (matching, query) = (self.matching, self.text);
        *self.anchors.entry(id).or_insert_with(|| {
            let text = known.links.anchor(id);
            let set = matching.matched_in(text);
            let is_query = !set.is_empty() && words::words(text).join(" ") == query;
            AnchorMatch { set, is_query }
        })
    }

    fn shares(&self, set: &NgramSet) -> (f32, f32) {
        let count = set.len() as f64 / self.matching.len().max(1) as f64;
        let total = self.idf.total_weight();
        let weight = if total > 0.0 { self.idf.weight_of(set) / total } else { 0.0 };
        (count as f32, weight as f32)
    }
}

/// Evidence gathered over the links to a URL.
#[derive(Default)]
struct LinkEvidence {
    union: NgramSet,
    best: NgramSet,
    best_share: f32,
    is_query: bool,
    matching_sites: Vec<u32>,
    /// Distinct pages that link to it: its parents.
    inlinks: u32,
    best_parent: f64,
    parent_sum: f64,
}

impl FeatureSource<'_> {
    /// Whether the URL and the anchors on pages fetched before `before_seq` hold what the query
    /// needs.
    pub fn is_match(&self, query: &mut QueryView<'_>, target: UrlId, before_seq: u32) -> bool {
        let mut found = query.matching.matched_in(&words::url_text(self.known.urls.url(target)));
        for link in self.known.links.incoming(target, before_seq) {
            found.extend(&query.anchor(self.known, link.anchor).set);
        }
        query.matching.accepts(&found)
    }

    /// Features of a URL for a query, from links of pages fetched before `before_seq` and the
    /// `scores` of all crawled pages for the query; the site's mean is left 0.
    pub fn features(
        &self,
        query: &mut QueryView<'_>,
        scores: &Scores,
        target: UrlId,
        before_seq: u32,
        page_rank: f32,
    ) -> Features {
        let links = self.links(query, scores, target, before_seq);
        let address = self.known.urls.url(target);
        let url_set = query.matching.matched_in(&words::url_text(address));
        let (url_count, url_idf) = query.shares(&url_set);
        let (best_count, best_idf) = query.shares(&links.best);
        let (all_count, all_idf) = query.shares(&links.union);
        let mass = if query.idf_mass > 0.0 { query.idf_mass } else { 1.0 };
        let parents = f64::from(links.inlinks.max(1));
        [
            url_count,
            url_idf,
            best_count,
            best_idf,
            all_count,
            all_idf,
            f32::from(u8::from(links.is_query)),
            (links.matching_sites.len() as f32).ln_1p(),
            (links.inlinks as f32).ln_1p(),
            page_rank,
            url::depth(address) as f32,
            address.len() as f32,
            0.0,
            (links.best_parent / mass) as f32,
            (links.parent_sum / parents / mass) as f32,
        ]
    }

    fn links(
        &self,
        query: &mut QueryView<'_>,
        scores: &Scores,
        target: UrlId,
        before_seq: u32,
    ) -> LinkEvidence {
        let mut evidence = LinkEvidence::default();
        let mut last = None;
        for link in self.known.links.incoming(target, before_seq) {
            // Links of one page are adjacent; a page never counts as its own parent.
            if last != Some(link.from) && link.from != target {
                let score = self.scorer.score_of(scores, link.from);
                evidence.inlinks += 1;
                evidence.best_parent = evidence.best_parent.max(score);
                evidence.parent_sum += score;
            }
            last = Some(link.from);
            let anchor = query.anchor(self.known, link.anchor);
            if anchor.set.is_empty() {
                continue;
            }
            evidence.union.extend(&anchor.set);
            evidence.is_query |= anchor.is_query;
            let (_, share) = query.shares(&anchor.set);
            if share > evidence.best_share || evidence.best.is_empty() {
                (evidence.best, evidence.best_share) = (anchor.set, share);
            }
            let site = self.sites.of(link.from);
            if query.matching.accepts(&anchor.set) && !evidence.matching_sites.contains(&site) {
                evidence.matching_sites.push(site);
            }
        }
        evidence
    }
}
