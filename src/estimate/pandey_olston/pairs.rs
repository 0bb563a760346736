//! Candidate pairs of query and URL: training pairs from crawled pages as they were known before
//! their cycle, and frontier pairs. Both come out of the same matcher and the same features.

use std::sync::{Mutex, PoisonError};

use prospect_index::bm25::Scores;
use prospect_index::ngram::Scratch;
use prospect_index::page::UrlId;
use rayon::prelude::*;

use crate::estimate::EstimateError;
use crate::estimate::candidates::ngram::{MatchSource, sample_key};
use crate::estimate::features::match_rule::MatchRule;
use crate::estimate::features::pair::{AskedQuery, FeatureSource, QueryView};
use crate::estimate::features::table::FeatureRow;
use crate::estimate::horizon::Horizon;
use crate::workload::{Query, QueryId};

/// A pair with its features.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Index of the query.
    pub(crate) query: QueryId,
    /// The URL.
    pub(crate) url: UrlId,
    /// `fetch_seq` from which on nothing may be known of it.
    pub(crate) before_seq: u32,
    /// What was known before the fetch.
    pub(crate) features: FeatureRow,
    /// S of the crawled page for the query; 0 for an uncrawled one.
    pub(crate) score: f64,
}

/// Training pairs of one query.
#[derive(Default)]
pub(crate) struct Training {
    /// Those that are used, by URL; PageRank and the site's mean are filled in when they are.
    pub(crate) pairs: Vec<Pair>,
    /// Pages with a lower `fetch_seq` have been looked at.
    pub(crate) seen: u32,
}

/// Everything that makes pairs.
pub(crate) struct PairSource<'a, P, N> {
    /// Features.
    pub(crate) features: FeatureSource<'a>,
    /// How a pair must agree.
    pub(crate) rule: MatchRule,
    /// Pages with `fetch_seq` below this are crawled.
    pub(crate) end_seq: u32,
    /// At most so many training pairs of a query are used; which ones depends on nothing but the
    /// pair.
    pub(crate) training_pairs: usize,
    /// Candidates among crawled pages.
    pub(crate) history: &'a dyn MatchSource,
    /// What was known of them.
    pub(crate) past: P,
    /// Candidates among uncrawled URLs.
    pub(crate) frontier: &'a dyn MatchSource,
    /// What is known of them.
    pub(crate) now: N,
}

impl<P: Horizon, N: Horizon> PairSource<'_, P, N> {
    /// Frontier pairs of the given queries, by query, then by URL. Their training pairs, by query,
    /// are brought up to date.
    ///
    /// Costs, per query, its postings (for the scores of parents) and its rarest n-grams.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn pairs(
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
                    let id = QueryId::new(at);
                    self.pairs_of(&queries[at], id, &mut training, scores, scratch)
                },
            )
            .collect::<Result<_, _>>()?;
        Ok(by_query.into_iter().flatten().collect())
    }

    fn pairs_of(
        &self,
        query: &Query,
        at: QueryId,
        training: &mut Training,
        scores: &mut Scores,
        scratch: &mut Scratch,
    ) -> Result<Vec<Pair>, EstimateError> {
        let scorer = self.features.scorer;
        let asked = AskedQuery::new(query, self.rule, scorer, self.features.strings)?;
        let (pages, seen) = (&self.features.known.pages, training.seen);
        let is_seen = |url| pages.first_seq(url).is_none_or(|seq| seq < seen);
        let masked = |url| is_seen(url) || self.past.of(url).is_none();
        let crawled = self.history.candidates(at, &asked.matching, 0.0, &masked, scratch)?;
        training.seen = self.end_seq;
        let masked = |url| self.now.of(url).is_none();
        let uncrawled = self.frontier.candidates(at, &asked.matching, 0.0, &masked, scratch)?;
        if crawled.is_empty() && uncrawled.is_empty() {
            return Ok(Vec::new());
        }
        scorer.score(&scorer.term_ids(&query.words), 0..self.end_seq, scores)?;
        let view = QueryView::new(&asked);
        let mut maker = Maker { features: &self.features, view, at, scores };
        let crawled = crawled.into_iter().map(|(url, _)| url).collect();
        self.train(&mut maker, crawled, training);
        Ok(uncrawled.into_iter().filter_map(|(url, _)| maker.pair(url, &self.now)).collect())
    }

    /// Adds pairs of `new` pages. A page outside the sample of some pages is outside that of more.
    fn train(&self, maker: &mut Maker<'_, '_>, mut new: Vec<UrlId>, training: &mut Training) {
        let (most, at) = (self.training_pairs, maker.at);
        let pairs = &mut training.pairs;
        if pairs.len() + new.len() > most {
            new.sort_by_cached_key(|&url| sample_key(at, url));
        }
        let made = new.into_iter().filter_map(|url| maker.pair(url, &self.past));
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
    at: QueryId,
    scores: &'a Scores,
}

impl Maker<'_, '_> {
    fn pair(&mut self, url: UrlId, horizon: &impl Horizon) -> Option<Pair> {
        let (query, before_seq) = (self.at, horizon.of(url)?);
        let score_of = |url| self.features.scorer.score_of(self.scores, url);
        let features = self.features.features(&mut self.view, &score_of, url, before_seq)?;
        let score = score_of(url);
        Some(Pair { query, url, before_seq, features, score })
    }
}
