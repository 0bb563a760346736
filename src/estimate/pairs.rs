//! Candidate pairs of query and URL: training pairs from crawled pages as they were known before
//! their cycle, and frontier pairs. Both come out of the same matcher and the same features.

use prospect_index::bm25::{Scorer, Scores};
use prospect_index::ngram::{NgramError, NgramIndex, NgramQuery, Scratch};
use prospect_index::page::UrlId;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::EstimateError;
use super::features::{FeatureSource, Features, QueryView};
use crate::workload::Query;

/// How a query and a URL must agree to be a candidate pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchRule {
    /// Share of the query's n-grams that must occur.
    pub rho: f64,
    /// Whether n-grams weigh the sum of their words' idf, or 1 each.
    pub idf_weighted: bool,
    /// Longest n-gram in words: g.
    pub max_words: usize,
}

impl Default for MatchRule {
    /// idf-weighted at a twentieth: with rho = 1 a natural-language question matches nothing, and
    /// of the settings that `benches/first_batch.rs` tries this one does well on every corpus.
    fn default() -> Self {
        Self { rho: 0.05, idf_weighted: true, max_words: 3 }
    }
}

/// A pair with its features.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Index of the query.
    pub query: u32,
    /// The URL.
    pub url: UrlId,
    /// What was known before the fetch.
    pub features: Features,
    /// S of the crawled page for the query; 0 for an uncrawled one.
    pub score: f64,
}

/// When a URL's evidence ends, and its importance then.
pub trait Horizon: Sync {
    /// `fetch_seq` from which on nothing may be known of the URL, and `ln(1 + PageRank * URLs)`
    /// before it; `None` if the URL is no candidate.
    fn of(&self, url: UrlId) -> Option<(u32, f32)>;
}

/// Where the candidate URLs of a query come from.
pub trait MatchSource: Sync {
    /// URLs, ascending, that are not `masked` and whose strings hold what `query`, the query
    /// number `at` of the workload, needs.
    ///
    /// # Errors
    /// The query holds longer n-grams than are indexed.
    fn candidates(
        &self,
        at: u32,
        query: &NgramQuery,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<UrlId>, NgramError>;

    /// Whether these are exactly the URLs that match by what is known of them; if not, they are
    /// more, and the links known of each decide.
    fn is_exact(&self) -> bool;
}

impl MatchSource for NgramIndex<'_> {
    fn candidates(
        &self,
        _at: u32,
        query: &NgramQuery,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<UrlId>, NgramError> {
        let matches = self.match_query(query, masked, scratch)?;
        Ok(matches.into_iter().map(|found| found.url).collect())
    }

    fn is_exact(&self) -> bool {
        true
    }
}

/// Everything that makes pairs.
pub struct PairSource<'a> {
    /// Features.
    pub features: FeatureSource<'a>,
    /// How a pair must agree.
    pub rule: MatchRule,
    /// Pages with `fetch_seq` below this are crawled.
    pub end_seq: u32,
    /// At most so many pairs of a query are used; which ones depends on nothing but the pair.
    pub pairs_per_query: usize,
}

impl PairSource<'_> {
    /// Pairs of the given queries with the URLs of an n-gram index, by query, then by URL.
    ///
    /// Costs, per query, its postings (for the scores of parents) and its rarest n-grams.
    ///
    /// # Errors
    /// An index cannot be read.
    pub fn pairs(
        &self,
        queries: &[Query],
        wanted: &[usize],
        index: &dyn MatchSource,
        horizon: &impl Horizon,
    ) -> Result<Vec<Pair>, EstimateError> {
        let by_query: Vec<Vec<Pair>> = wanted
            .par_iter()
            .map_init(
                || (Scores::default(), Scratch::default()),
                |(scores, scratch), &at| {
                    self.pairs_of(&queries[at], at as u32, index, horizon, scores, scratch)
                },
            )
            .collect::<Result<_, _>>()?;
        Ok(by_query.into_iter().flatten().collect())
    }

    fn pairs_of(
        &self,
        query: &Query,
        at: u32,
        index: &dyn MatchSource,
        horizon: &impl Horizon,
        scores: &mut Scores,
        scratch: &mut Scratch,
    ) -> Result<Vec<Pair>, EstimateError> {
        let scorer = self.features.scorer;
        let (idf, matching) = ngram_queries(query, self.rule, scorer)?;
        let masked = |url| horizon.of(url).is_none();
        let mut matches = index.candidates(at, &matching, &masked, scratch)?;
        let text = query.words.join(" ");
        let mut view = QueryView::new(&idf, &matching, &text, idf_mass(query, scorer));
        if !index.is_exact() {
            matches.retain(|&url| {
                let before = horizon.of(url).map_or(0, |(before, _)| before);
                self.features.is_match(&mut view, url, before)
            });
        }
        if matches.is_empty() {
            return Ok(Vec::new());
        }
        if matches.len() > self.pairs_per_query {
            matches.sort_by_key(|&url| sample_key(at, url));
            matches.truncate(self.pairs_per_query);
            matches.sort_unstable();
        }
        scorer.score(&scorer.term_ids(&query.words), 0..self.end_seq, scores)?;
        let pairs = matches.iter().filter_map(|&url| {
            let (before, page_rank) = horizon.of(url)?;
            let features = self.features.features(&mut view, scores, url, before, page_rank);
            Some(Pair { query: at, url, features, score: scorer.score_of(scores, url) })
        });
        Ok(pairs.collect())
    }
}

/// Sum of the idf of a query's words.
pub fn idf_mass(query: &Query, scorer: &Scorer<'_>) -> f64 {
    query.words.iter().map(|word| scorer.idf(word)).sum()
}

/// The query's n-grams twice: weighted by idf, and with the rule by which a URL matches.
///
/// # Errors
/// rho is no share.
pub fn ngram_queries(
    query: &Query,
    rule: MatchRule,
    scorer: &Scorer<'_>,
) -> Result<(NgramQuery, NgramQuery), EstimateError> {
    let ngrams = || NgramQuery::new(&query.words, rule.max_words);
    let idf = ngrams().needing_weight(rule.rho, |word| scorer.idf(word))?;
    let matching = if rule.idf_weighted {
        ngrams().needing_weight(rule.rho, |word| scorer.idf(word))?
    } else {
        ngrams().needing_share(rule.rho)?
    };
    Ok((idf, matching))
}

/// A fixed pseudo-random order of pairs, for samples that do not depend on threads or history.
fn sample_key(query: u32, url: UrlId) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&query.to_le_bytes());
    bytes[4..].copy_from_slice(&url.0.to_le_bytes());
    xxhash_rust::xxh3::xxh3_64(&bytes)
}
