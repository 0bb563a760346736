//! Does sufficiency tell how well search answers? Of simulated crawls, what strategies say of every judged query at
//! every checkpoint beside the nDCG@10 that it has there.

use prospect_index::storage::Storage;

use super::SimulateError;
use super::collection::Collection;
use super::crawl::{CrawlOrder, Start};
use super::csv_table::{self, cell};
use super::epochs::FollowedCrawl;
use super::experiment::Crawls;
use super::measure::{Measure, Measured, RANKING_METRICS};
use crate::evaluate::statistics::pearson_interval;
use crate::policy::Page;
use crate::policy::hidden_web::WebVectors;
use crate::results::Interval;
use crate::results::sufficiency_check::{
    CheckPoint, KindCheck, Moves, PolicyCheck, StrategyCheck, SufficiencyBin, SufficiencyCheck,
};
use crate::sufficiency::assess::{AssessedQueries, redundancies};
use crate::sufficiency::near_duplicates::NearDuplicates;
use crate::sufficiency::strategy::best_page::BestPage;
use crate::sufficiency::strategy::embedding::{AllWordings, Embedding, LinkRows, NearestPage};
use crate::sufficiency::strategy::statistical::Statistical;
use crate::sufficiency::strategy::{Judgement, SufficiencyStrategy};
use crate::sufficiency::windows::windows;
use crate::workload::Workload;

/// Bins of sufficiency.
const BINS: usize = 10;
/// Differences that rounding makes.
const ROUNDING: f64 = 1e-9;

/// What the check needs beside the crawls.
pub(crate) struct Check<'a> {
    /// How crawls are measured.
    pub(crate) measure: &'a Measure<'a>,
    /// Queries that are planned for.
    pub(crate) planning: &'a Workload,
    /// Vectors of titles and queries, where there is an embedding model.
    pub(crate) vectors: Option<WebVectors<'a>>,
}

/// By checkpoint, then by judged query.
type ByQuery = Vec<Vec<f64>>;

/// What strategies say of one crawl.
struct Said {
    statistical: ByQuery,
    best_page: ByQuery,
    embedding: Option<ByQuery>,
    coverage: Moves,
}

/// A judged query that is assessed: its place among the judged, and among the assessed.
type Joined = (usize, usize);

impl Check<'_> {
    /// The check; none where no judged query is planned for. `progress` is told how many crawls are done.
    ///
    /// # Errors
    /// The index or a text cannot be read.
    pub(crate) fn run(
        &self,
        crawls: &Crawls,
        measured: &[Vec<Measured>],
        progress: &dyn Fn(usize),
    ) -> Result<Option<SufficiencyCheck>, SimulateError> {
        let queries = AssessedQueries::new(self.planning);
        let judged: Vec<_> =
            self.measure.judged.iter().map(|judged| judged.query.clone()).collect();
        let places = queries.places_of(&judged).into_iter().enumerate();
        let joined: Vec<Joined> = places.filter_map(|(at, place)| Some((at, place?))).collect();
        if joined.is_empty() {
            return Ok(None);
        }
        let alike = self.measure.collection.near_duplicates()?;
        let mut policies = Vec::with_capacity(measured.len());
        for (policy, of_policy) in measured.iter().enumerate() {
            let reached = of_policy.iter().map(|own| own.reached).min().unwrap_or(0);
            let mut said = Vec::with_capacity(of_policy.len());
            for set in 0..of_policy.len() {
                let at = policy * crawls.starts.len() + set;
                said.push(self.one(crawls, at, (&queries, &joined), alike)?);
                progress(at + 1);
            }
            let name = self.measure.settings.policies[policy].label();
            let pages = &crawls.checkpoints[..reached];
            policies.push(self.policy(name, pages, &joined, (&said, of_policy)));
        }
        Ok(Some(SufficiencyCheck { queries: joined.len(), policies }))
    }

    /// What is said of one crawl, given by number.
    fn one(
        &self,
        crawls: &Crawls,
        at: usize,
        (queries, joined): (&AssessedQueries, &[Joined]),
        alike: &NearDuplicates,
    ) -> Result<Said, SimulateError> {
        let (order, start) = crawls.one(at);
        let (collection, bm25) = (self.measure.collection, self.measure.settings.plan.bm25);
        let before = start.crawled.len() as u32;
        let ends: Vec<u32> = crawls.reached(at).iter().map(|pages| before + pages).collect();
        let fetched = fetched(order, start);
        let windows = windows(brought(collection, &fetched));
        let crawl =
            FollowedCrawl { collection, queries, bm25, fetched: &fetched, windows: &windows };
        let places: Vec<usize> = joined.iter().map(|(_, place)| *place).collect();
        let (mut statistical, mut coverage) = (Vec::new(), Moves::default());
        let mut best_page = Vec::new();
        let mut last: Option<(usize, Vec<f64>)> = None;
        crawl.look_at(&ends, &mut |seen| {
            let redundancy = redundancies(seen.tracks, alike);
            let parts = seen.statistics.parts(seen.tracks, seen.crawled, &redundancy)?;
            let now: Vec<f64> = places.iter().map(|&at| parts[at].coverage).collect();
            if let Some((epoch, before)) = &last {
                coverage.count(*epoch == seen.epoch, before, &now);
            }
            last = Some((seen.epoch, now));
            let best = seen.statistics.best(seen.tracks);
            best_page.push(sufficiency(&BestPage { best: &best }.judge(&places)));
            statistical.push(sufficiency(&Statistical { parts: &parts }.judge(&places)));
            Ok(())
        })?;
        let embedding =
            self.vectors.map(|vectors| near(vectors, queries, &fetched, &ends, &places));
        Ok(Said { statistical, best_page, embedding, coverage })
    }

    fn policy(
        &self,
        name: String,
        pages: &[u32],
        joined: &[Joined],
        (said, measured): (&[Said], &[Measured]),
    ) -> PolicyCheck {
        let crawls: Vec<ByQuery> =
            measured.iter().map(|own| ndcg(own, joined, pages.len())).collect();
        let mut coverage = Moves::default();
        for said in said {
            coverage.add(said.coverage);
        }
        let statistical = said.iter().map(|said| &said.statistical).collect::<Vec<_>>();
        let embedding: Option<Vec<&ByQuery>> =
            said.iter().map(|said| said.embedding.as_ref()).collect();
        let best_page = said.iter().map(|said| &said.best_page).collect::<Vec<_>>();
        let named = [
            ("statistical", Some(statistical)),
            ("best-page", Some(best_page)),
            ("embedding", embedding),
        ];
        let strategies = named.into_iter().filter_map(|(name, said)| {
            let said = said.filter(|_| !pages.is_empty())?;
            Some(self.strategy(name, pages, joined, &said, &crawls))
        });
        PolicyCheck { name, coverage, strategies: strategies.collect() }
    }

    fn strategy(
        &self,
        name: &str,
        pages: &[u32],
        joined: &[Joined],
        said: &[&ByQuery],
        ndcg: &[ByQuery],
    ) -> StrategyCheck {
        let all: Vec<usize> = (0..joined.len()).collect();
        let over_crawls = |values: &dyn Fn(usize) -> f64| {
            (0..said.len()).map(values).sum::<f64>() / said.len().max(1) as f64
        };
        let said_of = |point: usize, query: usize| over_crawls(&|c| said[c][point][query]);
        let ndcg_of = |point: usize, query: usize| over_crawls(&|c| ndcg[c][point][query]);
        let last = pages.len() - 1;
        let share_of = |point: usize, query: usize| ndcg_of(point, query) / ndcg_of(last, query);
        let points = pages.iter().enumerate().map(|(point, &pages)| CheckPoint {
            pages,
            sufficiency: mean(all.iter().map(|&query| said_of(point, query))),
            ndcg: mean(all.iter().map(|&query| ndcg_of(point, query))),
            correlation: correlation(&all, |at| said_of(point, at), |at| ndcg_of(point, at)),
        });
        let half = nearest_to_half(pages);
        let said_at_half = |query: usize| said_of(half, query);
        let kinds = self.kinds(joined).into_iter().map(|(kind, queries)| {
            let final_ones: Vec<usize> =
                queries.iter().copied().filter(|&query| ndcg_of(last, query) > 0.0).collect();
            KindCheck {
                kind,
                queries: queries.len(),
                correlation: correlation(&queries, said_at_half, |at| ndcg_of(half, at)),
                with_share: correlation(&final_ones, said_at_half, |at| share_of(half, at)),
            }
        });
        StrategyCheck {
            name: name.to_owned(),
            points: points.collect(),
            half: pages[half],
            kinds: kinds.collect(),
            bins: bins(said, ndcg, pages.len()),
        }
    }

    /// The kinds of the joined queries with their places among these, all of them first.
    fn kinds(&self, joined: &[Joined]) -> Vec<(String, Vec<usize>)> {
        let kinds = self.measure.kinds.iter();
        let of_kind = kinds.map(|kind| {
            let is_of = |(_, (judged, _)): &(usize, &Joined)| kind.queries.contains(judged);
            let places = joined.iter().enumerate().filter(is_of).map(|(at, _)| at).collect();
            (kind.name.clone(), places)
        });
        of_kind.filter(|(_, places): &(String, Vec<usize>)| !places.is_empty()).collect()
    }
}

impl Moves {
    fn count(&mut self, is_within: bool, before: &[f64], now: &[f64]) {
        let falls = before.iter().zip(now).filter(|(before, now)| *now < &(*before - ROUNDING));
        let (moves, down) = (now.len() as u64, falls.count() as u64);
        if is_within {
            (self.within, self.falls_within) = (self.within + moves, self.falls_within + down);
        } else {
            (self.between, self.falls_between) = (self.between + moves, self.falls_between + down);
        }
    }

    fn add(&mut self, other: Self) {
        self.within += other.within;
        self.falls_within += other.falls_within;
        self.between += other.between;
        self.falls_between += other.falls_between;
    }
}

/// Pages of a crawl in the order of their fetch, those crawled before the start first.
pub(super) fn fetched(order: &CrawlOrder, start: &Start) -> Vec<Page> {
    start.crawled.iter().chain(&order.pages).copied().collect()
}

/// Records that brought a page of the collection.
pub(super) fn brought<'a>(
    collection: &'a Collection,
    fetched: &'a [Page],
) -> impl Iterator<Item = u32> + 'a {
    (0..).zip(fetched).filter(|(_, page)| **page < collection.pages).map(|(seq, _)| seq)
}

/// What nearness in meaning says at every checkpoint.
fn near(
    vectors: WebVectors<'_>,
    queries: &AssessedQueries,
    fetched: &[Page],
    ends: &[u32],
    places: &[usize],
) -> ByQuery {
    let table = vectors.table;
    let wordings = AllWordings::new(&queries.workload.queries, |_| (&[], &[]));
    let rows = wordings.texts.iter().map(|text| table.row(text));
    let nearest = NearestPage::new(table, (table, rows));
    let none = prospect_index::url_table::UrlTable::default();
    let links = LinkRows { urls: &none, rows: Vec::new() };
    let mut judge = Embedding::new(wordings, nearest, (&[], &[]), links);
    let mut from = 0;
    let mut said = Vec::with_capacity(ends.len());
    for &end in ends {
        judge.next_window(&vectors.titles_of(&fetched[from..end as usize]));
        from = end as usize;
        said.push(sufficiency(&judge.judge(places)));
    }
    said
}

fn sufficiency(judged: &[Option<Judgement>]) -> Vec<f64> {
    judged.iter().map(|judged| judged.as_ref().map_or(0.0, |own| own.sufficiency)).collect()
}

/// nDCG@10, the first of the ranking metrics, of the joined queries at the first checkpoints.
fn ndcg(measured: &Measured, joined: &[Joined], checkpoints: usize) -> ByQuery {
    let metrics = RANKING_METRICS.len();
    let at = |values: &Vec<f64>| joined.iter().map(|(query, _)| values[query * metrics]).collect();
    measured.values.iter().take(checkpoints).map(at).collect()
}

/// How what is said of these queries goes with the truth.
fn correlation(
    queries: &[usize],
    said: impl Fn(usize) -> f64,
    truth: impl Fn(usize) -> f64,
) -> Option<Interval> {
    let x: Vec<f64> = queries.iter().map(|&query| said(query)).collect();
    let y: Vec<f64> = queries.iter().map(|&query| truth(query)).collect();
    pearson_interval(&x, &y)
}

/// Sums over what falls into a bin.
#[derive(Clone, Default)]
struct Sum {
    count: usize,
    said: f64,
    ndcg: f64,
    share: f64,
    shares: usize,
}

impl Sum {
    /// The means, as the bin of this number.
    fn bin(&self, at: usize) -> SufficiencyBin {
        SufficiencyBin {
            from: at as f64 / BINS as f64,
            count: self.count,
            sufficiency: self.said / self.count as f64,
            ndcg: self.ndcg / self.count as f64,
            share: (self.shares > 0).then(|| self.share / self.shares as f64),
        }
    }
}

fn bins(said: &[&ByQuery], ndcg: &[ByQuery], points: usize) -> Vec<SufficiencyBin> {
    let mut sums = vec![Sum::default(); BINS];
    for (said, ndcg) in said.iter().zip(ndcg) {
        for point in 0..points {
            for (query, &own) in said[point].iter().enumerate() {
                let sum = &mut sums[((own * BINS as f64) as usize).min(BINS - 1)];
                (sum.count, sum.said) = (sum.count + 1, sum.said + own);
                sum.ndcg += ndcg[point][query];
                let last = ndcg[points - 1][query];
                if last > 0.0 {
                    sum.share += ndcg[point][query] / last;
                    sum.shares += 1;
                }
            }
        }
    }
    let filled = sums.iter().enumerate().filter(|(_, sum)| sum.count > 0);
    filled.map(|(at, sum)| sum.bin(at)).collect()
}

/// The checkpoint nearest to half of the last one.
fn nearest_to_half(pages: &[u32]) -> usize {
    let half = pages.last().map_or(0, |last| last / 2);
    let places = 0..pages.len();
    places.min_by_key(|&at| (pages[at].abs_diff(half), at)).unwrap_or(0)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// `sufficiency.csv`: by policy, strategy and checkpoint.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn csv(
    storage: &Storage,
    check: &SufficiencyCheck,
    experiment: &str,
) -> Result<(), SimulateError> {
    let columns = [
        "policy",
        "strategy",
        "pages",
        "sufficiency",
        "ndcg10",
        "correlation",
        "correlation_low",
        "correlation_high",
        "experiment",
    ];
    let strategies = check
        .policies
        .iter()
        .flat_map(|policy| policy.strategies.iter().map(move |strategy| (&policy.name, strategy)));
    let points = strategies.flat_map(|(policy, strategy)| {
        strategy.points.iter().map(move |point| (policy, &strategy.name, point))
    });
    let rows = points.map(|(policy, strategy, point)| {
        let correlation = point.correlation.as_ref();
        [
            policy.clone(),
            strategy.clone(),
            point.pages.to_string(),
            point.sufficiency.to_string(),
            point.ndcg.to_string(),
            cell(correlation.map(|found| found.mean)),
            cell(correlation.and_then(|found| found.low)),
            cell(correlation.and_then(|found| found.high)),
            experiment.to_owned(),
        ]
    });
    csv_table::write(storage, "sufficiency.csv", columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_are_counted_where_they_matter() {
        let mut moves = Moves::default();
        moves.count(true, &[0.5, 0.5], &[0.6, 0.5 - 1e-12]);
        moves.count(true, &[0.5, 0.5], &[0.4, 0.5]);
        moves.count(false, &[0.5], &[0.1]);
        let expected = Moves { within: 4, falls_within: 1, between: 1, falls_between: 1 };
        assert_eq!(moves, expected);
    }

    #[test]
    fn bins_hold_what_was_said_beside_what_came() {
        let said = vec![vec![0.05, 0.95], vec![0.15, 1.0]];
        let ndcg = vec![vec![0.1, 0.0], vec![0.4, 0.0]];
        let found = bins(&[&said], &[ndcg], 2);
        let counts: Vec<(f64, usize)> = found.iter().map(|bin| (bin.from, bin.count)).collect();
        assert_eq!(counts, [(0.0, 1), (0.1, 1), (0.9, 2)]);
        assert_eq!((found[0].ndcg, found[0].share), (0.1, Some(0.25)));
        assert_eq!((found[2].sufficiency, found[2].share), (0.975, None), "it never had any");
    }

    #[test]
    fn half_is_a_checkpoint() {
        assert_eq!(nearest_to_half(&[10, 40, 55, 100]), 2);
        assert_eq!(nearest_to_half(&[7]), 0);
    }
}
