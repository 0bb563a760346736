//! How well a crawl answers every query of a workload, and the workload as a whole.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use prospect_index::bm25::{Bm25, Scorer, Scores};
use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use prospect_index::page_store::PageTable;
use prospect_index::text_index::TextIndex;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::domain::nearest;
use super::near_duplicates::NearDuplicates;
use super::parts::{HALVES, QueryParts, consistency, saturation, word_coverage};
use super::track::{Crawl, K, LAST_WINDOWS, Tracks};
use super::verdict::Saturation;
use super::windows::Window;
use crate::workload::{Query, QueryId, Workload};

/// The last one of so many parts of a crawl says how much better its best pages become.
const RECENT: u32 = 3;
/// Seed of the halves that answers are compared over.
const HALVES_SEED: u64 = 20;

/// Queries that are assessed: those of a workload with the same words, in whatever order and however often, are
/// one, which is asked as often as all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AssessedQueries {
    /// The first of each by qid, with the frequency of all.
    pub(crate) workload: Workload,
    /// The same with each word once.
    distinct: Workload,
}

impl AssessedQueries {
    /// The queries of a workload that have a word and are asked.
    pub(crate) fn new(workload: &Workload) -> Self {
        let mut places = HashMap::new();
        let mut of = Self::default();
        for query in workload.for_planning().queries {
            let words = distinct_words(&query);
            let next = of.workload.queries.len();
            let place = *places.entry(words.clone()).or_insert(next);
            if place < next {
                of.workload.queries[place].frequency += query.frequency;
                of.distinct.queries[place].frequency += query.frequency;
                continue;
            }
            of.distinct.queries.push(Query { words, ..query.clone() });
            of.workload.queries.push(query);
        }
        of
    }

    /// By query: the place of the assessed one with its words, in whatever order.
    pub(crate) fn places_of(&self, queries: &[Query]) -> Vec<Option<usize>> {
        let distinct = self.distinct.queries.iter().enumerate();
        let places: HashMap<&[String], usize> =
            distinct.map(|(at, query)| (query.words.as_slice(), at)).collect();
        let place = |query: &Query| places.get(distinct_words(query).as_slice()).copied();
        queries.iter().map(place).collect()
    }

    /// By query: what it still lacks, which is one minus the sufficiency; all, if it is not assessed.
    pub(crate) fn lack(&self, queries: &[Query], parts: &[QueryParts]) -> Vec<f64> {
        let lacks = |place: Option<usize>| place.map_or(1.0, |at| 1.0 - parts[at].sufficiency());
        self.places_of(queries).into_iter().map(lacks).collect()
    }
}

fn distinct_words(query: &Query) -> Vec<String> {
    let mut words = query.words.clone();
    words.sort_unstable();
    words.dedup();
    words
}

/// Scores of queries, and the idf masses that pages hold of them, under the statistics of an epoch.
pub(crate) struct Statistics<'a> {
    queries: &'a AssessedQueries,
    scorer: Scorer<'a>,
    presence: Scorer<'a>,
    /// By query: those most like it, once somebody asked.
    domains: OnceLock<Vec<Vec<QueryId>>>,
}

/// Pages of a crawl, in the order of their fetch.
#[derive(Clone, Copy)]
pub(crate) struct CrawledPages<'a> {
    /// Which record brought which page.
    pub(crate) pages: &'a PageTable,
    /// Their URLs.
    pub(crate) urls: &'a UrlTable,
    /// Windows.
    pub(crate) windows: &'a [Window],
}

impl<'a> Statistics<'a> {
    /// N, df and avgdl are of the pages before the record `epoch_end`.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn new(
        text: &'a TextIndex,
        bm25: Bm25,
        epoch_end: u32,
        queries: &'a AssessedQueries,
    ) -> Result<Self, StoreError> {
        // Without saturation of term frequency, a score is the idf of the words that a page holds.
        let presence = Bm25 { k1: 0.0, b: 0.0 };
        let words = || queries.workload.words();
        Ok(Self {
            queries,
            scorer: Scorer::new(text, bm25, epoch_end, words())?,
            presence: Scorer::new(text, presence, epoch_end, words())?,
            domains: OnceLock::new(),
        })
    }

    /// What the queries' pages did up to the record before `end_seq`: what is given of an earlier time brought up to
    /// date, else from the start.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn follow(
        &self,
        crawled: CrawledPages<'_>,
        earlier: Option<Tracks>,
        end_seq: u32,
    ) -> Result<Tracks, StoreError> {
        let crawl = Crawl {
            scorer: &self.scorer,
            presence: &self.presence,
            queries: &self.queries.workload.queries,
            distinct: &self.queries.distinct.queries,
            pages: crawled.pages,
            urls: crawled.urls,
            windows: crawled.windows,
        };
        match earlier {
            Some(mut tracks)
                if tracks.len() == crawl.queries.len() && tracks.end_seq() <= end_seq =>
            {
                tracks.update(&crawl, end_seq)?;
                Ok(tracks)
            }
            _ => Tracks::build(&crawl, end_seq),
        }
    }

    /// The parts of every query but the coverage of its words one by one, which [`Statistics::add_words`] adds.
    /// `redundancy` is of the pages of each query's list.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn parts(
        &self,
        tracks: &Tracks,
        crawled: CrawledPages<'_>,
        redundancy: &[f64],
    ) -> Result<Vec<QueryParts>, StoreError> {
        let (queries, distinct) = (&self.queries.workload.queries, &self.queries.distinct.queries);
        let parts = (0..queries.len()).into_par_iter().map(|at| {
            let words = &distinct[at].words;
            let mass: f64 = words.iter().map(|word| self.scorer.idf(word)).sum();
            Ok(QueryParts {
                coverage: tracks.answers(at, mass),
                words: 0.0,
                consistency: self.consistency(&queries[at], at, tracks, crawled)?,
                saturation: saturation(tracks.entry_rates(at, crawled.windows)),
                redundancy: redundancy[at],
                domain_coverage: 0.0,
            })
        });
        let mut parts = parts.collect::<Result<Vec<QueryParts>, StoreError>>()?;
        let domains = self.domains.get_or_init(|| nearest(distinct, |word| self.scorer.idf(word)));
        for (at, domain) in domains.iter().enumerate() {
            let covered: f64 = domain.iter().map(|query| parts[query.index()].coverage).sum();
            parts[at].domain_coverage = covered / domain.len() as f64;
        }
        Ok(parts)
    }

    /// Adds the coverage of words one by one by the pages before the record `end_seq`, and tells which words no page
    /// holds.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn add_words(
        &self,
        parts: &mut [QueryParts],
        end_seq: u32,
    ) -> Result<Vec<Vec<String>>, StoreError> {
        let held = self.scorer.document_counts(0..end_seq)?;
        let mut missing = Vec::with_capacity(parts.len());
        for (query, parts) in self.queries.distinct.queries.iter().zip(parts) {
            let holders = |word: &String| held.get(word.as_str()).copied().unwrap_or(0);
            let words = query.words.iter();
            let found = words.clone().map(|word| (self.scorer.idf(word), holders(word)));
            parts.words = word_coverage(found, K);
            missing.push(words.filter(|word| holders(word) == 0).cloned().collect());
        }
        Ok(missing)
    }

    /// By query: the score of its best page as a share of what no page can exceed.
    pub(crate) fn best(&self, tracks: &Tracks) -> Vec<f64> {
        let shares = self.queries().iter().enumerate().map(|(at, query)| {
            let most = self.most(query);
            let best = tracks.list(at).first().map_or(0.0, |(_, score)| *score);
            if most > 0.0 { best / most } else { 0.0 }
        });
        shares.collect()
    }

    /// What the score of no page can exceed.
    fn most(&self, query: &Query) -> f64 {
        let idf: f64 = query.words.iter().map(|word| self.scorer.idf(word)).sum();
        (self.scorer.bm25().k1 + 1.0) * idf
    }

    /// How alike the answers of random halves of the pages are. An answer is the mean over the places of the score as
    /// a share of what no page can exceed.
    fn consistency(
        &self,
        query: &Query,
        at: usize,
        tracks: &Tracks,
        crawled: CrawledPages<'_>,
    ) -> Result<f64, StoreError> {
        let most = self.most(query) * K as f64;
        let half = |url: UrlId| xxh3_64_with_seed(crawled.urls.url(url).as_bytes(), HALVES_SEED);
        let mut answers = Vec::with_capacity(HALVES as usize);
        let mut all = None;
        for number in 0..HALVES {
            let is_in = |url: UrlId| half(url) >> number & 1 == 1;
            let best = if let Some(best) = tracks.best_of(at, is_in) {
                best
            } else {
                if all.is_none() {
                    all = Some(self.all_scores(query, tracks.end_seq(), crawled.urls)?);
                }
                let all = all.iter().flatten().filter(|(url, _)| is_in(*url));
                all.map(|(_, score)| *score).take(K).collect()
            };
            answers.push(best.iter().sum::<f64>() / most);
        }
        Ok(consistency(&answers))
    }

    /// All pages of a query, best first.
    fn all_scores(
        &self,
        query: &Query,
        end_seq: u32,
        urls: &UrlTable,
    ) -> Result<Vec<(UrlId, f64)>, StoreError> {
        let mut scores = Scores::default();
        self.scorer.score(&self.scorer.term_ids(&query.words), 0..end_seq, &mut scores)?;
        let mut all: Vec<(UrlId, f64)> =
            self.scorer.scored(&scores).map(|(_, url, score)| (url, score)).collect();
        all.sort_unstable_by(|a, b| {
            b.1.total_cmp(&a.1).then_with(|| urls.url(a.0).cmp(urls.url(b.0)))
        });
        Ok(all)
    }

    /// The queries.
    pub(crate) fn queries(&self) -> &[Query] {
        &self.queries.workload.queries
    }

    /// Impact that entered lists in each of these windows.
    pub(crate) fn entered(&self, tracks: &Tracks, windows: &[Window]) -> Vec<f64> {
        let mut impact = vec![0.0; windows.len()];
        for (at, query) in self.queries().iter().enumerate() {
            for (window, count) in tracks.entered(at, windows) {
                impact[window] += query.frequency * count as f64;
            }
        }
        impact
    }

    /// How much better the best pages have become in the last third of the crawl. None before there are three windows,
    /// or a page.
    pub(crate) fn growth(
        &self,
        tracks: &Tracks,
        pages: &PageTable,
        windows: &[Window],
    ) -> Option<Growth> {
        let end = windows.last()?.end_seq;
        let third = windows.partition_point(|window| window.end_seq <= end / RECENT * (RECENT - 1));
        let first = third.min(windows.len().checked_sub(LAST_WINDOWS)?);
        let seqs = windows[first].first_seq..end;
        let (mut now, mut before, mut askings) = (0.0, 0.0, 0.0);
        for (at, query) in self.queries().iter().enumerate() {
            let most = self.most(query);
            if most > 0.0 {
                let weight = query.frequency / most;
                now += weight * tracks.best_before(at, end, pages);
                before += weight * tracks.best_before(at, seqs.start, pages);
                askings += query.frequency;
            }
        }
        let growth = Growth {
            share: (now - before) / now,
            most: askings / now - 1.0,
            windows: first..windows.len(),
            seqs,
        };
        (now > 0.0).then_some(growth)
    }

    /// Saturation of the workload.
    pub(crate) fn saturation(&self, tracks: &Tracks, windows: &[Window]) -> Option<Saturation> {
        let queries = self.queries.workload.queries.iter().enumerate();
        let rates = queries.filter_map(|(at, query)| {
            let rates = tracks.entry_rates(at, windows)?;
            Some((query.frequency * rates.first, query.frequency * rates.last))
        });
        Saturation::of(&rates.collect::<Vec<_>>())
    }
}

/// How much better the best pages became in the last third of a crawl.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Growth {
    /// What was added to the scores of the queries' best pages, as a share of what they are now; queries weigh by
    /// frequency, scores by what no page can exceed.
    share: f64,
    /// What no scores of best pages can exceed, as a share of what they are now, less one.
    most: f64,
    /// Places of the windows.
    pub(crate) windows: Range<usize>,
    /// Their records, failed fetches among them.
    pub(crate) seqs: Range<u32>,
}

impl Growth {
    /// What fetching all that can be reached would add to the scores of the best pages, as a share of what they are: as
    /// much by fetch as in the last third of the crawl.
    ///
    /// URLs show new URLs as often as in that third. While a fetch shows less than one, a frontier leads to its length over
    /// one minus that (the expected progeny of a branching process: Harris, "The theory of branching processes", 1963),
    /// else to no end. At most what takes all scores to where none can exceed them.
    pub(crate) fn left(&self, Frontier { waiting, discovered }: Frontier) -> f64 {
        // Of nothing that grows nothing comes, however much there is.
        if self.share <= 0.0 || waiting == 0 {
            return 0.0;
        }
        let fetches = f64::from(self.seqs.end - self.seqs.start);
        let left = 1.0 - discovered as f64 / fetches;
        let reachable = if left > 0.0 { waiting as f64 / left } else { f64::INFINITY };
        (reachable * self.share / fetches).min(self.most)
    }
}

/// What can be fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frontier {
    /// URLs that are known and not fetched.
    pub(crate) waiting: usize,
    /// URLs that became known in the last third of the crawl.
    pub(crate) discovered: usize,
}

/// Share of each query's list that nearly repeats an earlier page of it.
pub(crate) fn redundancies(tracks: &Tracks, alike: &NearDuplicates) -> Vec<f64> {
    (0..tracks.len()).into_par_iter().map(|at| alike.redundancy(tracks.list(at))).collect()
}

/// A workload, or some queries of it, as a whole: means weighted by frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct WorkloadSufficiency {
    /// Queries.
    pub(crate) queries: usize,
    /// How often they are asked.
    pub(crate) askings: f64,
    /// Their parts.
    #[serde(flatten)]
    pub(crate) parts: QueryParts,
    /// Their sufficiency.
    pub(crate) sufficiency: f64,
    /// The mean of what the source's code takes the least of.
    pub(crate) confidence: f64,
    /// Share of the askings whose query has enough.
    pub(crate) sufficient_share: f64,
}

impl WorkloadSufficiency {
    /// Of queries with their frequencies, of which `theta` is enough.
    pub(crate) fn of<'a>(queries: impl Iterator<Item = (f64, &'a QueryParts)>, theta: f64) -> Self {
        let by_parts =
            |(frequency, parts): (f64, &'a QueryParts)| (frequency, parts, parts.sufficiency());
        Self::judged(queries.map(by_parts), theta)
    }

    /// The same where the sufficiency of each query is judged by something else than its parts.
    pub(crate) fn judged<'a>(
        queries: impl Iterator<Item = (f64, &'a QueryParts, f64)>,
        theta: f64,
    ) -> Self {
        let mut all = Self::default();
        for (frequency, parts, sufficiency) in queries {
            all.queries += 1;
            all.askings += frequency;
            all.parts = all.parts.plus(parts, frequency);
            all.sufficiency += frequency * sufficiency;
            all.confidence += frequency * parts.confidence();
            all.sufficient_share += if sufficiency >= theta { frequency } else { 0.0 };
        }
        if all.askings > 0.0 {
            let share = 1.0 / all.askings;
            all.parts = QueryParts::default().plus(&all.parts, share);
            all.sufficiency *= share;
            all.confidence *= share;
            all.sufficient_share *= share;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_as_much_by_fetch_as_came_of_late() {
        let growth = Growth { share: 0.03, most: 0.5, windows: 4..7, seqs: 400..700 };
        let left = |waiting, discovered| growth.left(Frontier { waiting, discovered });
        assert!((left(100, 0) - 0.01).abs() < 1e-12);
        // Two of three fetches show a new URL: a frontier of 100 leads to 300.
        assert!((left(100, 200) - 0.03).abs() < 1e-12);
        // Without an end, and with much to come, no more than what no page can exceed.
        assert_eq!((left(100, 300), left(1_000_000, 0)), (0.5, 0.5));
        assert_eq!(left(0, 0), 0.0);
        let still = Growth { share: 0.0, ..growth.clone() };
        assert_eq!(still.left(Frontier { waiting: 100, discovered: 400 }), 0.0);
    }
}
