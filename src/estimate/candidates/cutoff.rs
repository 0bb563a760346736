//! How many candidates a query has by words. Of the URLs that match a query those count that hold the most of it, and
//! of equals those that came to be known first: at most so many as a statistics epoch begins. The last of them is the
//! query's cutoff for the epoch, so that whether a pair counts depends on nothing but the pair. Better ones that come
//! to be known later are candidates, too.
//!
//! Without it pairs grow with queries times URLs. A query has ten places; candidates far down its list have next to no
//! chance of one (docs/figures.md, "Candidates of a query").
//!
//! Costs the matches of all queries once an epoch, or twice where the first bound is too high, and looking at the links to as
//! many URLs as may count; 25 bytes a query. Where nothing has changed since the epoch began, what was found on the way are
//! the candidates: 4 bytes each, until pairs are made of those of all queries.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use prospect_index::fetch_outcome::FetchOutcome;
use prospect_index::manifest::{Epoch, Manifest};
use prospect_index::ngram::Scratch;
use prospect_index::page::UrlId;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ngram::MatchSource;
use crate::estimate::EstimateError;
use crate::estimate::features::match_rule::MatchRule;
use crate::estimate::features::pair::{AskedQuery, FeatureSource, QueryView};
use crate::estimate::horizon::{Horizon, PastHorizon};
use crate::workload::{Query, QueryId};

/// Of n-grams that come so many times as often as a query may have candidates, enough are expected of the frontier.
const OFTEN: usize = 2;

/// The last candidate of a query by words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Cutoff {
    /// Of the query's n-grams that it holds.
    weight: f64,
    url: UrlId,
}

/// The first of two matches first: the heavier one, of equals that which was known first.
fn order(a: (f64, UrlId), b: (f64, UrlId)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

impl Cutoff {
    /// Whether a URL that holds n-grams of this weight is a candidate.
    fn admits(self, weight: f64, url: UrlId) -> bool {
        order((weight, url), (self.weight, self.url)).is_le()
    }
}

/// Cutoffs of some queries, by their places.
#[derive(Debug, Default)]
pub(crate) struct QueryCutoffs(Vec<QueryCutoff>);

/// What is known of the candidates of a query by words.
#[derive(Debug, Default, PartialEq)]
struct QueryCutoff {
    /// None where all that match are candidates.
    cutoff: Option<Cutoff>,
    /// The candidates, ascending, where the cutoff was looked for in the frontier as it is now.
    matched: Option<Vec<UrlId>>,
}

impl QueryCutoffs {
    fn of(&self, query: QueryId) -> Option<&QueryCutoff> {
        self.0.get(query.index())
    }

    /// Whether a URL that holds n-grams of this weight is a candidate of a query.
    pub(crate) fn admit(&self, query: QueryId, weight: f64, url: UrlId) -> bool {
        let cutoff = self.of(query).and_then(|of| of.cutoff);
        cutoff.is_none_or(|cutoff| cutoff.admits(weight, url))
    }

    /// A weight that the candidates of a query hold at least.
    pub(crate) fn least(&self, query: QueryId) -> f64 {
        self.of(query).and_then(|of| of.cutoff).map_or(0.0, |cutoff| cutoff.weight)
    }

    /// URLs of the frontier, ascending, among which all candidates of a query by words are, if they were found when its
    /// cutoff was.
    pub(crate) fn matched(&self, query: QueryId) -> Option<&[UrlId]> {
        self.of(query)?.matched.as_deref()
    }
}

/// Cutoffs of queries in an epoch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cutoffs {
    rule: MatchRule,
    most: usize,
    /// By hash of a query's words; none where all that match are candidates.
    of_words: BTreeMap<u64, Option<Cutoff>>,
}

/// Where cutoffs come from.
pub(crate) struct CutoffSource<'a> {
    /// Strings and links.
    pub(crate) features: FeatureSource<'a>,
    /// How strings must agree.
    pub(crate) rule: MatchRule,
    /// Matches among uncrawled URLs and crawled pages.
    pub(crate) matches: [&'a dyn MatchSource; 2],
    /// Cycles.
    pub(crate) manifest: &'a Manifest,
    /// The epoch.
    pub(crate) epoch: Epoch,
    /// Candidates of a query by words, at most.
    pub(crate) most: usize,
}

/// The frontier as an epoch began, as far as tables of today tell.
struct EpochStart {
    /// By URL that was known then, 64 in a number: whether it was there.
    has: Vec<u64>,
    /// URLs that no index has now as they were then: they were asked for since, and gave no page, or one that the
    /// index of crawled pages leaves out, or knows by less.
    gone: Vec<UrlId>,
    /// Whether the frontier is still the same.
    is_now: bool,
}

impl EpochStart {
    fn new(source: &CutoffSource<'_>) -> Self {
        let CutoffSource { manifest, features: FeatureSource { known, .. }, .. } = *source;
        let Epoch { end_seq, urls, .. } = source.epoch;
        let pages = &known.pages;
        let fetched = (0..end_seq).filter_map(|seq| pages.record(seq).map(|(url, _)| url));
        let all = pages.failures();
        let (before, since) = all.split_at(all.partition_point(|failure| failure.seq < end_seq));
        let lost =
            before.iter().filter(|failure| FetchOutcome::from(failure.status).leaves_frontier());
        let lost = lost.map(|failure| failure.url);
        let all = pages.redirects();
        let (moved, moved_since) = all.split_at(all.partition_point(|(seq, _)| *seq < end_seq));
        let (urls, mut has) = (urls as usize, vec![u64::MAX; (urls as usize).div_ceil(64)]);
        if let Some(last) = has.last_mut() {
            // Nothing beyond the last URL.
            *last >>= (64 - urls % 64) % 64;
        }
        for url in fetched.chain(lost).chain(moved.iter().map(|(_, url)| *url)) {
            if let Some(has) = has.get_mut(url.index() / 64) {
                *has &= !(1 << (url.0 % 64));
            }
        }
        let failed = since.iter().map(|failure| failure.url);
        let moved = moved_since.iter().map(|(_, url)| *url);
        let past = PastHorizon { known, manifest };
        let is_short = |url: &UrlId| past.of(*url).is_none_or(|start| start < end_seq);
        let found = pages.discovered().filter(|(seq, _)| *seq >= end_seq);
        let found = found.map(|(_, url)| url).filter(is_short);
        let gone = failed.chain(moved).chain(found).collect();
        let mut start = Self { has, gone, is_now: false };
        start.is_now = end_seq == manifest.next_seq
            && urls == known.urls.len()
            && known.urls.ids().all(|url| pages.in_frontier(url) == start.has(url));
        start
    }

    fn has(&self, url: UrlId) -> bool {
        self.has.get(url.index() / 64).is_some_and(|has| has >> (url.0 % 64) & 1 == 1)
    }
}

impl Cutoffs {
    /// By query: its cutoff, from `earlier` ones of the same epoch where they have it.
    ///
    /// # Errors
    /// An index cannot be read.
    pub(crate) fn of_queries(
        earlier: Option<&Self>,
        source: &CutoffSource<'_>,
        queries: &[Query],
    ) -> Result<QueryCutoffs, EstimateError> {
        let fits = |all: &&Self| (all.rule, all.most) == (source.rule, source.most);
        let earlier = earlier.filter(fits).map(|all| &all.of_words);
        let known = |query: &Query| earlier.and_then(|all| all.get(&query.word_hash()).copied());
        let start = OnceLock::new();
        let found = queries.par_iter().enumerate().map_init(Scratch::default, |scratch, at| {
            let start = || start.get_or_init(|| EpochStart::new(source));
            let find = || source.find(QueryId::new(at.0), at.1, start(), scratch);
            let known = known(at.1).map(|cutoff| QueryCutoff { cutoff, matched: None });
            known.map_or_else(find, Ok)
        });
        Ok(QueryCutoffs(found.collect::<Result<_, EstimateError>>()?))
    }

    /// These cutoffs of queries, to be stored.
    pub(crate) fn new(source: &CutoffSource<'_>, queries: &[Query], found: &QueryCutoffs) -> Self {
        let cutoffs = found.0.iter().map(|of| of.cutoff);
        let of_words = queries.iter().map(Query::word_hash).zip(cutoffs).collect();
        Self { rule: source.rule, most: source.most, of_words }
    }
}

impl CutoffSource<'_> {
    /// The cutoff of a query, and the candidates that it leaves.
    fn find(
        &self,
        at: QueryId,
        query: &Query,
        start: &EpochStart,
        scratch: &mut Scratch,
    ) -> Result<QueryCutoff, EstimateError> {
        let FeatureSource { scorer, strings, .. } = self.features;
        let asked = AskedQuery::new(query, self.rule, scorer, strings)?;
        let least =
            self.matches[0].held_by(&asked.matching, OFTEN.saturating_mul(self.most), scratch);
        if least > 0.0
            && let found = self.find_above(least, (at, &asked), start, scratch)?
            && found.cutoff.is_some_and(|cutoff| cutoff.weight >= least)
        {
            #[cfg(test)]
            assert_eq!(found, self.find_above(0.0, (at, &asked), start, scratch)?, "{query:?}");
            return Ok(found);
        }
        self.find_above(0.0, (at, &asked), start, scratch)
    }

    /// The same among the URLs that hold n-grams of a weight of at least `least`.
    fn find_above(
        &self,
        least: f64,
        (at, asked): (QueryId, &AskedQuery),
        start: &EpochStart,
        scratch: &mut Scratch,
    ) -> Result<QueryCutoff, EstimateError> {
        let masked = |url| !start.has(url);
        let mut found = Vec::new();
        // Among crawled pages is nothing of a frontier that is still the same.
        let sources = if start.is_now { &self.matches[..1] } else { &self.matches[..] };
        for source in sources {
            found.extend(source.candidates(at, &asked.matching, least, &masked, scratch)?);
        }
        let gone = start.gone.iter().filter(|&&url| start.has(url));
        found.extend(gone.map(|&url| (url, f64::INFINITY)));
        // An index of the frontier may have a part of the strings of what was fetched since.
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.dedup_by_key(|(url, _)| *url);
        let now = |matched: Vec<UrlId>| (start.is_now && self.most > 0).then_some(matched);
        if found.len() < self.most {
            let matched = now(found.into_iter().map(|(url, _)| url).collect());
            return Ok(QueryCutoff { cutoff: None, matched });
        }
        let mut view = QueryView::new(asked);
        let weight = |url, bound| self.features.weight(&mut view, url, self.epoch.end_seq, bound);
        let (cutoff, mut matched) = cutoff_of(found, self.most, weight);
        matched.sort_unstable();
        Ok(QueryCutoff { cutoff, matched: now(matched) })
    }
}

/// The last of the `most` first of those that match, by their weight; none if fewer match. With it comes, in any order, who
/// is among these.
fn cutoff_of(
    mut found: Vec<(UrlId, f64)>,
    most: usize,
    mut weight: impl FnMut(UrlId, f64) -> Option<f64>,
) -> (Option<Cutoff>, Vec<UrlId>) {
    let bounds = |a: &(UrlId, f64), b: &(UrlId, f64)| order((a.1, a.0), (b.1, b.0));
    let (mut best, mut at_once) = (Vec::<(f64, UrlId)>::new(), most);
    let mut rest = found.as_mut_slice();
    while !rest.is_empty() && most > 0 {
        let size = at_once.min(rest.len());
        rest.select_nth_unstable_by(size - 1, bounds);
        let (head, tail) = rest.split_at_mut(size);
        best.extend(head.iter().filter_map(|&(url, bound)| Some((weight(url, bound)?, url))));
        best.sort_unstable_by(|&a, &b| order(a, b));
        best.truncate(most);
        let (url, most_of_rest) = head[size - 1];
        (rest, at_once) = (tail, 2 * at_once);
        // What is left comes after this bound.
        if best.len() == most && order(best[most - 1], (most_of_rest, url)).is_le() {
            break;
        }
    }
    let last = most.checked_sub(1).and_then(|last| best.get(last));
    let cutoff = last.map(|&(weight, url)| Cutoff { weight, url });
    (cutoff, best.into_iter().map(|(_, url)| url).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(most: &[f64]) -> Vec<(UrlId, f64)> {
        most.iter().zip(0..).map(|(&most, url)| (UrlId(url), most)).collect()
    }

    #[test]
    fn the_heaviest_count_and_of_equals_those_that_were_known_first() {
        let bounds = [1.0, 3.0, 2.0, 3.0, 2.0, 1.0];
        let mut seen = Vec::new();
        let (cutoff, mut best) = cutoff_of(matched(&bounds), 3, |url, _| {
            seen.push(url.0);
            Some(bounds[url.index()])
        });
        let cutoff = cutoff.unwrap();
        assert_eq!(cutoff, Cutoff { weight: 2.0, url: UrlId(2) });
        seen.sort_unstable();
        assert_eq!(seen, [1, 2, 3], "nothing else is looked at");
        best.sort_unstable();
        assert_eq!(best, [1, 2, 3].map(UrlId));
        let admitted = |(weight, url): (f64, u32)| cutoff.admits(weight, UrlId(url));
        assert_eq!([(3.0, 9), (2.0, 2), (2.0, 1)].map(admitted), [true; 3]);
        assert_eq!([(2.0, 3), (1.9, 0)].map(admitted), [false; 2]);
    }

    #[test]
    fn bounds_are_no_weights() {
        // What may hold most holds little, or does not match at all.
        let weights = [Some(0.5), None, Some(2.0), Some(1.0), Some(1.0)];
        let bounds = matched(&[9.0, 8.0, 2.0, f64::INFINITY, 1.0]);
        let cutoff = |most| cutoff_of(bounds.clone(), most, |url, _| weights[url.index()]).0;
        assert_eq!(cutoff(1), Some(Cutoff { weight: 2.0, url: UrlId(2) }));
        assert_eq!(cutoff(2), Some(Cutoff { weight: 1.0, url: UrlId(3) }));
        assert_eq!(cutoff(3), Some(Cutoff { weight: 1.0, url: UrlId(4) }));
        assert_eq!(cutoff(4), Some(Cutoff { weight: 0.5, url: UrlId(0) }));
        assert_eq!(cutoff(5), None, "four match");
        assert_eq!(cutoff(0), None);
    }

    #[test]
    fn looser_bounds_and_what_does_not_match_change_nothing() {
        let number = |at: usize, by: usize| (at + 1) * by % 97 % 7;
        let weights: Vec<Option<f64>> =
            (0..60).map(|at| (number(at, 31) > 2).then(|| number(at, 53) as f64)).collect();
        let tight: Vec<f64> = weights.iter().map(|weight| weight.unwrap_or(0.0)).collect();
        let loose: Vec<f64> = (0..60).map(|at| tight[at] + number(at, 11) as f64).collect();
        for most in 0..60 {
            let [known, other, unbounded] = [&tight[..], &loose, &[f64::INFINITY; 60]].map(|of| {
                let (cutoff, mut best) =
                    cutoff_of(matched(of), most, |url, _| weights[url.index()]);
                best.sort_unstable();
                (cutoff, best)
            });
            assert_eq!(unbounded, known, "{most}");
            assert_eq!(other, known, "{most}");
        }
    }
}
