//! Candidate pairs of query and URL: training pairs from crawled pages as they were known before
//! their cycle, and frontier pairs. Both come out of the same matcher and the same features.

use std::sync::{Mutex, PoisonError};

use prospect_index::bm25::{Scorer, Scores};
use prospect_index::ngram::{NgramError, NgramIndex, NgramQuery, Scratch};
use prospect_index::page::UrlId;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::EstimateError;
use super::features::{FeatureSource, Features, QueryView};
use super::memory::Training;
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
    /// `fetch_seq` from which on nothing may be known of it.
    pub before_seq: u32,
    /// What was known before the fetch.
    pub features: Features,
    /// S of the crawled page for the query; 0 for an uncrawled one.
    pub score: f64,
}

/// When a URL's evidence ends.
pub trait Horizon: Sync {
    /// `fetch_seq` from which on nothing may be known of the URL; `None` if it is no candidate.
    fn of(&self, url: UrlId) -> Option<u32>;
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
pub struct PairSource<'a, P, N> {
    /// Features.
    pub features: FeatureSource<'a>,
    /// How a pair must agree.
    pub rule: MatchRule,
    /// Pages with `fetch_seq` below this are crawled.
    pub end_seq: u32,
    /// At most so many training pairs of a query are used; which ones depends on nothing but the
    /// pair.
    pub training_pairs: usize,
    /// Candidates among crawled pages.
    pub history: &'a dyn MatchSource,
    /// What was known of them.
    pub past: P,
    /// Candidates among uncrawled URLs.
    pub frontier: &'a dyn MatchSource,
    /// What is known of them.
    pub now: N,
}

impl<P: Horizon, N: Horizon> PairSource<'_, P, N> {
    /// Frontier pairs of the given queries, by query, then by URL. Their training pairs, by query,
    /// are brought up to date.
    ///
    /// Costs, per query, its postings (for the scores of parents) and its rarest n-grams.
    ///
    /// # Errors
    /// An index cannot be read.
    pub fn pairs(
        &self,
        queries: &[Query],
        wanted: &[usize],
        training: &[Mutex<Training>],
    ) -> Result<Vec<Pair>, EstimateError> {
        let by_query: Vec<Vec<Pair>> = wanted
            .par_iter()
            .map_init(
                || (Scores::default(), Scratch::default()),
                |(scores, scratch), &at| {
                    // No one else has it: queries are wanted once.
                    let mut training = training[at].lock().unwrap_or_else(PoisonError::into_inner);
                    self.pairs_of(&queries[at], at as u32, &mut training, scores, scratch)
                },
            )
            .collect::<Result<_, _>>()?;
        Ok(by_query.into_iter().flatten().collect())
    }

    fn pairs_of(
        &self,
        query: &Query,
        at: u32,
        training: &mut Training,
        scores: &mut Scores,
        scratch: &mut Scratch,
    ) -> Result<Vec<Pair>, EstimateError> {
        let scorer = self.features.scorer;
        let (idf, matching) = ngram_queries(query, self.rule, scorer)?;
        let (pages, seen) = (&self.features.known.pages, training.seen);
        let is_seen = |url| pages.page_seq(url).is_none_or(|seq| seq < seen);
        let masked = |url| is_seen(url) || self.past.of(url).is_none();
        let crawled = self.history.candidates(at, &matching, &masked, scratch)?;
        training.seen = self.end_seq;
        let masked = |url| self.now.of(url).is_none();
        let uncrawled = self.frontier.candidates(at, &matching, &masked, scratch)?;
        if crawled.is_empty() && uncrawled.is_empty() {
            return Ok(Vec::new());
        }
        scorer.score(&scorer.term_ids(&query.words), 0..self.end_seq, scores)?;
        let text = query.words.join(" ");
        let view = QueryView::new(&idf, &matching, &text, idf_mass(query, scorer));
        let view = view.of_strings(&query.words, self.features.strings);
        let mut maker = Maker { features: &self.features, view, at, scores };
        let exact = self.history.is_exact();
        self.train(&mut maker, crawled, exact, training);
        let exact = self.frontier.is_exact();
        Ok(uncrawled.into_iter().filter_map(|url| maker.pair(url, &self.now, exact)).collect())
    }

    /// Adds pairs of `new` pages. A page outside the sample of some pages is outside that of more.
    fn train(
        &self,
        maker: &mut Maker<'_, '_>,
        mut new: Vec<UrlId>,
        exact: bool,
        training: &mut Training,
    ) {
        let (most, at) = (self.training_pairs, maker.at);
        let pairs = &mut training.pairs;
        if pairs.len() + new.len() > most {
            new.sort_by_cached_key(|&url| sample_key(at, url));
        }
        let made = new.into_iter().filter_map(|url| maker.pair(url, &self.past, exact));
        pairs.extend(made.take(most));
        if pairs.len() > most {
            pairs.sort_by_cached_key(|pair| (sample_key(at, pair.url), pair.url));
            pairs.truncate(most);
        }
        pairs.sort_unstable_by_key(|pair| pair.url);
    }
}

/// Makes pairs of one query.
struct Maker<'a, 'q> {
    features: &'a FeatureSource<'a>,
    view: QueryView<'q>,
    at: u32,
    scores: &'a Scores,
}

impl Maker<'_, '_> {
    fn pair(&mut self, url: UrlId, horizon: &impl Horizon, exact: bool) -> Option<Pair> {
        let (query, before_seq) = (self.at, horizon.of(url)?);
        let features =
            self.features.features(&mut self.view, self.scores, url, before_seq, !exact)?;
        let score = self.features.scorer.score_of(self.scores, url);
        Some(Pair { query, url, before_seq, features, score })
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
pub(super) fn sample_key(query: u32, url: UrlId) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&query.to_le_bytes());
    bytes[4..].copy_from_slice(&url.0.to_le_bytes());
    xxhash_rust::xxh3::xxh3_64(&bytes)
}
