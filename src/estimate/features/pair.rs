//! Content-independent features of a pair of query and URL (METHODS, section 1): what is known of
//! the URL before its fetch.

use std::collections::HashMap;
use std::ops::ControlFlow;

use prospect_index::bm25::{Scorer, Scores};
use prospect_index::ngram::{NgramQuery, NgramSet};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::words;

use crate::estimate::EstimateError;
use crate::estimate::features::first_links::{FirstLinks, InLink};
use crate::estimate::features::match_rule::{MatchRule, idf_mass, ngram_queries};
use crate::estimate::features::sites::Sites;
use crate::estimate::features::strings::{Strings, sign};
use crate::estimate::features::table::{Feature, FeatureRow};
use crate::estimate::url_parts::depth;
use crate::workload::Query;

/// Links to a URL that are looked at, the first to be known. Measured with `prospect` at 1 % a batch, half of two
/// collections and 15 % of a third: speedups in relevant pages are the same to .01 for all links, the first 300, 100 and
/// 30; at 200,000 URLs and 6,000 queries the first 300 cost 90 s a plan, 100 cost 56.
pub(crate) const LINKS: usize = 100;

/// What features are computed from.
#[derive(Clone, Copy)]
pub(crate) struct FeatureSource<'a> {
    /// URLs, pages, links.
    pub(crate) known: &'a Known,
    /// Sites of URLs.
    pub(crate) sites: &'a Sites,
    /// Their strings, where they are kept; else each is cut into words as it is needed.
    pub(crate) strings: Option<&'a Strings>,
    /// Their first links, where they are set out; else the table of links is asked.
    pub(crate) first_links: Option<&'a FirstLinks>,
    /// Scores of words and pages.
    pub(crate) scorer: &'a Scorer<'a>,
    /// Whether anyone reads depth and length of URLs; else they are 0.
    pub(crate) shape: bool,
}

/// What estimates read of a query, which stays as long as the statistics of words do.
pub(crate) struct AskedQuery {
    /// Its n-grams, weighted by idf.
    pub(crate) idf: NgramQuery,
    /// Its n-grams, each of weight 1, with the rule by which an anchor matches on its own.
    pub(crate) matching: NgramQuery,
    /// Its words, joined.
    text: String,
    /// Sum of the idf of its words.
    pub(crate) idf_mass: f64,
    /// Its words and its distinct words as numbers of [`Strings`]; empty where there are none.
    numbers: Vec<u32>,
    distinct: Vec<u32>,
    /// Of its distinct words.
    sign: u32,
}

/// One query while its candidates are looked at.
pub(crate) struct QueryView<'a> {
    query: &'a AskedQuery,
    anchors: HashMap<u32, AnchorMatch>,
}

#[derive(Clone, Copy)]
struct AnchorMatch {
    set: NgramSet,
    is_query: bool,
}

/// What a URL holds of a query.
pub(crate) struct UrlMatch {
    /// n-grams that are in the URL itself.
    pub(crate) own: NgramSet,
    /// Weight of those that are in it or in anchors, if that is what the query needs.
    pub(crate) weight: Option<f64>,
}

impl AskedQuery {
    /// A query under a rule, for strings that are kept or, without them, are cut into words as they are needed.
    ///
    /// # Errors
    /// rho is no share.
    pub(crate) fn new(
        query: &Query,
        rule: MatchRule,
        scorer: &Scorer<'_>,
        strings: Option<&Strings>,
    ) -> Result<Self, EstimateError> {
        let (idf, matching) = ngram_queries(query, rule, scorer)?;
        let numbers = |words: &[String]| strings.map_or_else(Vec::new, |kept| kept.numbers(words));
        let (numbers, distinct) = (numbers(&query.words), numbers(matching.words()));
        let (text, idf_mass) = (query.words.join(" "), idf_mass(query, scorer));
        let sign = sign(&distinct);
        Ok(Self { idf, matching, text, idf_mass, numbers, distinct, sign })
    }

    /// Its distinct words, as numbers of [`Strings`]; empty where there are none.
    pub(crate) fn distinct(&self) -> &[u32] {
        &self.distinct
    }

    /// n-grams that a string has, by numbers of its words.
    fn matched(&self, words: &[u32]) -> NgramSet {
        self.matching.matched_words(words.iter().map(|&number| self.place_of(number)))
    }

    /// The place of a word, given by its number, among the distinct words of the query.
    fn place_of(&self, number: u32) -> Option<usize> {
        let known = number != NONE;
        known.then(|| self.distinct.iter().position(|&other| other == number)).flatten()
    }

    fn shares(&self, set: &NgramSet) -> (f32, f32) {
        let count = set.len() as f64 / self.matching.len().max(1) as f64;
        let total = self.idf.total_weight();
        let weight = if total > 0.0 { self.idf.weight_of(set) / total } else { 0.0 };
        (count as f32, weight as f32)
    }
}

impl<'a> QueryView<'a> {
    /// A view of a query.
    pub(crate) fn new(query: &'a AskedQuery) -> Self {
        Self { query, anchors: HashMap::new() }
    }

    /// Whether there are n-grams, and they have so much weight.
    fn has(&self, found: &NgramSet, most: f64) -> bool {
        !found.is_empty() && self.query.matching.weight_of(found) >= most
    }

    fn url(&self, source: &FeatureSource<'_>, url: UrlId) -> NgramSet {
        if let Some(strings) = source.strings {
            return self.query.matched(strings.url(url));
        }
        let Known { urls, analyzer, .. } = source.known;
        self.query.matching.matched_in(analyzer, &words::url_text(urls.url(url)))
    }

    /// Whether an anchor may have a word of the query: most have none.
    fn may_match(&self, source: &FeatureSource<'_>, anchor: u32) -> bool {
        source.strings.is_none_or(|strings| strings.anchor_sign(anchor) & self.query.sign != 0)
    }

    fn anchor(&mut self, source: &FeatureSource<'_>, id: u32) -> AnchorMatch {
        if let Some(strings) = source.strings {
            let words = strings.anchor(id);
            let set = self.query.matched(words);
            return AnchorMatch { set, is_query: !set.is_empty() && words == self.query.numbers };
        }
        let known = source.known;
        let AskedQuery { matching, text: query, .. } = self.query;
        *self.anchors.entry(id).or_insert_with(|| {
            let text = known.links.anchor(id);
            let set = matching.matched_in(&known.analyzer, text);
            let is_query = !set.is_empty() && known.analyzer.words(text).join(" ") == *query;
            AnchorMatch { set, is_query }
        })
    }
}

/// Scores of crawled pages for one query.
pub(crate) trait PageScores {
    /// Score of the page of a URL; 0 if it has none.
    fn of(&self, url: UrlId) -> f64;

    /// Score of the page that shows a link.
    fn of_link(&self, link: InLink) -> f64 {
        self.of(link.from)
    }
}

impl<F: Fn(UrlId) -> f64> PageScores for F {
    fn of(&self, url: UrlId) -> f64 {
        self(url)
    }
}

/// Those of all pages, which links know the places of.
pub(crate) struct AllScores<'a> {
    /// What found them.
    pub(crate) scorer: &'a Scorer<'a>,
    /// Scores by place.
    pub(crate) scores: &'a Scores,
}

impl PageScores for AllScores<'_> {
    fn of(&self, url: UrlId) -> f64 {
        self.scorer.score_of(self.scores, url)
    }

    fn of_link(&self, link: InLink) -> f64 {
        link.place().map_or_else(|| self.of(link.from), |place| self.scores[place])
    }
}

impl AllScores<'_> {
    /// Reads the first of what features of each of these URLs are made from. It lies all over memory, and is there soon
    /// after the first of many such reads; for reads that come one by one, each is waited for.
    pub(crate) fn read_ahead(&self, source: &FeatureSource<'_>, urls: &[UrlId]) {
        let FeatureSource { strings, first_links, .. } = source;
        let mut read = 0;
        for &url in urls {
            if let Some(strings) = strings {
                read ^= strings.url(url).first().copied().unwrap_or(0);
            }
            let Some(link) = first_links.and_then(|links| links.first(url)) else { continue };
            if let Some(strings) = strings {
                read ^= strings.anchor_sign(link.anchor);
            }
            read ^= self.of_link(link).to_bits() as u32;
        }
        std::hint::black_box(read);
    }
}

/// Evidence gathered over the first [`LINKS`] links to a URL, in the order in which they came to be known.
#[derive(Clone, Default)]
pub(crate) struct LinkEvidence {
    /// How many were looked at.
    links: u32,
    union: NgramSet,
    best: NgramSet,
    best_share: f32,
    is_query: bool,
    matching_sites: Vec<u32>,
    /// Distinct pages that link to it: its parents.
    inlinks: u32,
    best_parent: f64,
    parent_sum: f64,
    /// The page that shows the last of the links.
    last: Option<UrlId>,
}

impl FeatureSource<'_> {
    /// Features of a URL for a query, from links of pages fetched before `before_seq` and the
    /// score of each crawled page for the query; PageRank, the site's mean and quality are left 0.
    /// `None` if the URL and the anchors of these links do not hold what the query needs.
    pub(crate) fn features(
        &self,
        query: &mut QueryView<'_>,
        scores: &impl PageScores,
        target: UrlId,
        before_seq: u32,
    ) -> Option<FeatureRow> {
        let mut links = LinkEvidence::default();
        self.gather_all(&mut links, query, scores, target, before_seq);
        let UrlMatch { own, weight } = self.url_match(query, target, &links);
        weight.map(|_| self.row(query, target, own, &links))
    }

    /// What a URL and the anchors that were gathered hold of the query.
    pub(crate) fn url_match(
        &self,
        query: &QueryView<'_>,
        target: UrlId,
        links: &LinkEvidence,
    ) -> UrlMatch {
        let own = query.url(self, target);
        let mut found = own;
        found |= links.union;
        let matching = &query.query.matching;
        UrlMatch { own, weight: matching.accepts(&found).then(|| matching.weight_of(&found)) }
    }

    /// Features from evidence that was gathered.
    pub(crate) fn row(
        &self,
        query: &QueryView<'_>,
        target: UrlId,
        url_set: NgramSet,
        links: &LinkEvidence,
    ) -> FeatureRow {
        let (url_count, url_idf) = query.query.shares(&url_set);
        let (best_count, best_idf) = query.query.shares(&links.best);
        let (all_count, all_idf) = query.query.shares(&links.union);
        let (depth, length) = if self.shape {
            let address = self.known.urls.url(target);
            (depth(address), address.len())
        } else {
            (0, 0)
        };
        let mass = if query.query.idf_mass > 0.0 { query.query.idf_mass } else { 1.0 };
        let parents = f64::from(links.inlinks.max(1));
        let mut row = FeatureRow::default();
        row[Feature::UrlShare] = url_count;
        row[Feature::UrlIdfShare] = url_idf;
        row[Feature::BestAnchorShare] = best_count;
        row[Feature::BestAnchorIdfShare] = best_idf;
        row[Feature::AllAnchorsShare] = all_count;
        row[Feature::AllAnchorsIdfShare] = all_idf;
        row[Feature::AnchorIsQuery] = f32::from(u8::from(links.is_query));
        row[Feature::MatchingSites] = (links.matching_sites.len() as f32).ln_1p();
        row[Feature::Inlinks] = (links.inlinks as f32).ln_1p();
        row[Feature::UrlDepth] = depth as f32;
        row[Feature::UrlLength] = length as f32;
        row[Feature::BestParent] = (links.best_parent / mass) as f32;
        row[Feature::MeanParent] = (links.parent_sum / parents / mass) as f32;
        row
    }

    /// Weight of the n-grams that are in a URL or in anchors of the links that are looked at, of pages fetched before
    /// `before_seq`, if that is what the query needs. It is `most` at most: once so much is found nothing else is looked at.
    pub(crate) fn weight(
        &self,
        query: &mut QueryView<'_>,
        target: UrlId,
        before_seq: u32,
        most: f64,
    ) -> Option<f64> {
        let matching = &query.query.matching;
        let mut found = query.url(self, target);
        if !query.has(&found, most) {
            if let Some(first) = self.first_links.and_then(|all| all.of(target, before_seq)) {
                self.add_anchors(query, &mut found, most, first);
            } else {
                let incoming = self.known.links.incoming(target, before_seq).take(LINKS);
                self.add_anchors(query, &mut found, most, incoming.map(InLink::from));
            }
        }
        let weight = matching.accepts(&found).then(|| matching.weight_of(&found));
        #[cfg(any(test, debug_assertions))]
        assert_eq!(weight, self.weight_of_all(query, target, before_seq), "{target:?}");
        weight
    }

    /// The same, of all of them.
    #[cfg(any(test, debug_assertions))]
    fn weight_of_all(
        &self,
        query: &mut QueryView<'_>,
        target: UrlId,
        before_seq: u32,
    ) -> Option<f64> {
        let mut evidence = LinkEvidence::default();
        self.gather_all(&mut evidence, query, &|_| 0.0, target, before_seq);
        self.url_match(query, target, &evidence).weight
    }

    /// Adds n-grams of the anchors of links, until those that are found have a weight of `most`.
    fn add_anchors(
        &self,
        query: &mut QueryView<'_>,
        found: &mut NgramSet,
        most: f64,
        mut links: impl Iterator<Item = InLink>,
    ) {
        let mut last = None;
        // Which link was the last one makes no difference.
        let _ = links.try_for_each(|link| {
            if last.replace(link.anchor) != Some(link.anchor) && query.may_match(self, link.anchor)
            {
                *found |= query.anchor(self, link.anchor).set;
                if query.has(found, most) {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Gathers all links to a URL that are looked at, of pages fetched before `before_seq`.
    pub(crate) fn gather_all(
        &self,
        evidence: &mut LinkEvidence,
        query: &mut QueryView<'_>,
        scores: &impl PageScores,
        target: UrlId,
        before_seq: u32,
    ) {
        if let Some(first) = self.first_links.and_then(|first| first.of(target, before_seq)) {
            self.gather(evidence, query, scores, target, first);
        } else {
            let incoming = self.known.links.incoming(target, before_seq);
            self.gather(evidence, query, scores, target, incoming.map(InLink::from));
        }
    }

    /// Adds links to a URL, which follow those that were gathered.
    pub(crate) fn gather(
        &self,
        evidence: &mut LinkEvidence,
        query: &mut QueryView<'_>,
        scores: &impl PageScores,
        target: UrlId,
        links: impl Iterator<Item = InLink>,
    ) {
        let left = LINKS.saturating_sub(evidence.links as usize);
        // Pages of a site link to one another by the same words.
        let mut last: Option<(u32, AnchorMatch)> = None;
        links.take(left).for_each(|link| {
            evidence.links += 1;
            // Links of one page are adjacent; a page never counts as its own parent.
            if evidence.last != Some(link.from) && link.from != target {
                let score = scores.of_link(link);
                evidence.inlinks += 1;
                evidence.best_parent = evidence.best_parent.max(score);
                evidence.parent_sum += score;
            }
            evidence.last = Some(link.from);
            if !query.may_match(self, link.anchor) {
                return;
            }
            let known = last.filter(|(id, _)| *id == link.anchor).map(|(_, anchor)| anchor);
            let anchor = known.unwrap_or_else(|| query.anchor(self, link.anchor));
            last = Some((link.anchor, anchor));
            if anchor.set.is_empty() {
                return;
            }
            evidence.union |= anchor.set;
            evidence.is_query |= anchor.is_query;
            let (_, share) = query.query.shares(&anchor.set);
            if share > evidence.best_share || evidence.best.is_empty() {
                (evidence.best, evidence.best_share) = (anchor.set, share);
            }
            let site = self.sites.of(link.from);
            if query.query.matching.accepts(&anchor.set) && !evidence.matching_sites.contains(&site)
            {
                evidence.matching_sites.push(site);
            }
        });
    }
}
