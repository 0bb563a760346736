//! How the pages of a store change, from its records of their visits.
//!
//! Times are those that records tell. Where fewer than half of them do, a cycle is the unit of time, as back-offs
//! count them. One that tells none among others has the time of the record before it, and so has one that is
//! years away from the others of its cycle. Records may come in another order than that of their times: the page that
//! is stored is the one of the last record, and as old as that says.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::visits::{Visit, visits};

use super::{CampaignError, OpenStore};
use crate::estimate::change_rate::{ChangeHistory, Interval, VisitedPage};
use crate::estimate::url_parts::{SiteLevel, file_type};
use crate::planner::cycle::page_by;
use crate::planner::retries::CycleClock;
use crate::planner::revisits::{Changes, ChangingPage};
use crate::planner::within::may;

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Mean time between two changes of a page before any was seen: four months, as of pages of all kinds (Cho and
/// Garcia-Molina, "The evolution of the web", VLDB 2000).
const USUAL_DAYS: f64 = 120.0;
/// The same in cycles, where there is no other clock.
const USUAL_CYCLES: f64 = 10.0;
/// Cycles whose mean length is taken for the time to the next plan.
const CYCLES: usize = 5;
/// A time is a mistake if it is so many days from the median of its cycle, and so many times as far as the median of
/// these distances.
const MISTAKE_DAYS: f64 = 365.0;
const MISTAKE_SPREADS: f64 = 10.0;
/// Times of a cycle without which all others are asked.
const FEW: usize = 5;
/// Share of a cycle's times that are not after the present, of those of the last cycle at least.
const PRESENT: f64 = 0.9;
/// Two visits within this share of the time to the next plan are one: what differs between them tells nothing of
/// time.
const SAME_VISIT: f64 = 1e-3;

/// How pages change that may be planned (`within`, by URL id; all, if that is empty).
///
/// # Errors
/// A segment is damaged.
pub(crate) fn changes(open: &OpenStore, within: &[bool]) -> Result<Changes, CampaignError> {
    let (known, manifest) = (&open.known, open.store.manifest());
    let visits = visits(&open.store, known)?;
    let times = Times::new(&visits, manifest);
    let mut kinds: HashMap<(u32, String), u32> = HashMap::new();
    let mut sections: HashMap<String, u32> = HashMap::new();
    let mut places: HashMap<UrlId, usize> = HashMap::new();
    let (mut urls, mut history) = (Vec::new(), ChangeHistory::default());
    for (visit, &time) in visits.iter().zip(&times.of_visits) {
        // A page that has moved is the one that it was.
        let url = page_by(&known.pages, visit.url);
        let Some(first) = known.pages.first_seq(url) else { continue };
        // What there was before the page was gone is another page.
        if url == visit.url && visit.seq < first {
            continue;
        }
        let Some(&page) = places.get(&url) else {
            let host = known.urls.host(url);
            let next = kinds.len() as u32;
            let file_type = file_type(known.urls.url(url)).into_owned();
            let kind = *kinds.entry((host, file_type)).or_insert(next);
            let next = sections.len() as u32;
            let section = SiteLevel::Directory.site(known.urls.url(url)).into_owned();
            let section = *sections.entry(section).or_insert(next);
            places.insert(url, urls.len());
            urls.push(url);
            history.pages.push(VisitedPage { host, section, kind, last: time });
            continue;
        };
        let before = history.pages[page].last;
        let (from, to) = (before.min(time), before.max(time));
        if let Some(changed) = visit.changed.filter(|_| to - from > SAME_VISIT * times.horizon) {
            history.intervals.push(Interval { page, from, to, changed });
        }
        history.pages[page].last = time;
    }
    (history.spells, history.now, history.usual) = (times.spells, times.now, times.usual);
    let pages = urls.into_iter().zip(history.fit());
    let is_within = |page: &ChangingPage| may(within, page.url);
    let page =
        |(url, change)| ChangingPage { url, change, inlinks: known.links.inlinks(url, u32::MAX) };
    Ok(Changes { pages: pages.map(page).filter(is_within).collect(), horizon: times.horizon })
}

/// When visits were, in days or cycles.
struct Times {
    of_visits: Vec<f64>,
    /// When cycles began, ascending.
    spells: Vec<f64>,
    now: f64,
    usual: f64,
    /// Time from a plan to the next.
    horizon: f64,
}

impl Times {
    fn new(visits: &[Visit], manifest: &Manifest) -> Self {
        let told = visits.iter().filter(|visit| visit.time.is_some()).count();
        if told == 0 || 2 * told < visits.len() {
            Self::in_cycles(visits, manifest)
        } else {
            Self::in_days(visits, manifest)
        }
    }

    fn in_cycles(visits: &[Visit], manifest: &Manifest) -> Self {
        let clock = CycleClock::new(manifest);
        Self {
            of_visits: visits.iter().map(|visit| f64::from(clock.at(visit.seq))).collect(),
            spells: (0..clock.next()).map(f64::from).collect(),
            now: f64::from(clock.next()),
            usual: USUAL_CYCLES,
            horizon: 1.0,
        }
    }

    fn in_days(visits: &[Visit], manifest: &Manifest) -> Self {
        let clock = CycleClock::new(manifest);
        let days = |visit: &Visit| Some(visit.time? as f64 / DAY);
        let all = likely_of(visits.iter().filter_map(days).collect());
        let mut of_visits: Vec<Option<f64>> = Vec::with_capacity(visits.len());
        let mut now = f64::MIN;
        for of_cycle in visits.chunk_by(|a, b| clock.at(a.seq) == clock.at(b.seq)) {
            let told: Vec<f64> = of_cycle.iter().filter_map(days).collect();
            // A few say little of each other.
            let likely = if told.len() < FEW { all.clone() } else { likely_of(told) };
            let from = of_visits.len();
            let likely = |visit: &Visit| days(visit).filter(|time| likely.contains(time));
            of_visits.extend(of_cycle.iter().map(likely));
            let mut told: Vec<f64> = of_visits[from..].iter().flatten().copied().collect();
            told.sort_unstable_by(f64::total_cmp);
            // One that is too late does not move the present.
            let late = (PRESENT * told.len().saturating_sub(1) as f64) as usize;
            now = told.get(late).map_or(now, |late| now.max(*late));
        }
        let mut last = of_visits.iter().flatten().next().copied().unwrap_or_default();
        let of_visits: Vec<f64> = of_visits
            .into_iter()
            .map(|time| {
                last = time.unwrap_or(last);
                last
            })
            .collect();
        let mut spells: Vec<f64> = Vec::new();
        let mut cycle_before = None;
        for (visit, &time) in visits.iter().zip(&of_visits) {
            let cycle = Some(manifest.cycle_of(visit.seq));
            if cycle != cycle_before && spells.last().is_none_or(|start| *start < time) {
                spells.push(time);
            }
            cycle_before = cycle;
        }
        now = now.max(spells.last().copied().unwrap_or_default());
        let recent = &spells[spells.len().saturating_sub(CYCLES + 1)..];
        let horizon = match recent {
            [first, .., last] => (last - first) / (recent.len() - 1) as f64,
            _ => now - recent.first().copied().unwrap_or(now),
        };
        Self { of_visits, spells, now, usual: USUAL_DAYS, horizon }
    }
}

/// Times that records of a cycle may have, in days, given those that they tell: others are mistakes.
fn likely_of(mut told: Vec<f64>) -> RangeInclusive<f64> {
    let middle = median(&mut told);
    let mut off: Vec<f64> = told.iter().map(|time| (time - middle).abs()).collect();
    let most = MISTAKE_DAYS.max(MISTAKE_SPREADS * median(&mut off));
    middle - most..=middle + most
}

/// The value in the middle, of an even number the upper one; 0 of none. Leaves them in order.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use prospect_index::manifest::{CycleEntry, IngestEntry};

    use super::*;

    /// Cycles of visits on days, and what becomes of their times.
    fn times(cycles: &[Vec<Option<i64>>]) -> Times {
        let (mut manifest, mut visits) = (Manifest::default(), Vec::new());
        for (at, days) in cycles.iter().enumerate() {
            let first_seq = manifest.next_seq;
            manifest.cycles.push(CycleEntry {
                first_seq,
                plan: Some(at.to_string()),
                streamed: false,
            });
            for day in days {
                let time = day.map(|day| day * 86_400);
                let (url, seq) = (UrlId(manifest.next_seq), manifest.next_seq);
                visits.push(Visit { url, seq, time, changed: None });
                manifest.next_seq += 1;
            }
        }
        Times::new(&visits, &manifest)
    }

    #[test]
    fn a_few_late_visits_are_as_true_as_many_early_ones() {
        let found = times(&[vec![Some(0); 400], vec![Some(60); 3]]);
        assert_eq!(found.of_visits[399..], [0.0, 60.0, 60.0, 60.0]);
        assert_eq!((found.now, found.horizon, found.spells), (60.0, 60.0, vec![0.0, 60.0]));
    }

    #[test]
    fn a_mistaken_time_is_that_of_the_record_before_and_moves_nothing() {
        let mut days: Vec<Option<i64>> = (0..20).map(|at| Some(10 + at / 10)).collect();
        (days[3], days[7]) = (Some(30_000), None);
        days[19] = Some(40);
        let found = times(&[vec![Some(0); 5], days]);
        assert_eq!(found.of_visits[8..13], [10.0; 5]);
        // Nobody can know that one of the last ones is wrong, but it is one of twenty.
        assert_eq!((found.of_visits[24], found.now), (40.0, 11.0));
        // One of few is judged by all; who begins without a time begins with the first that there is.
        let found = times(&[vec![None; 4], vec![Some(9); 20], vec![Some(12), Some(40_000)]]);
        assert_eq!((found.of_visits[0], found.of_visits[25], found.now), (9.0, 12.0, 12.0));
        assert_eq!(found.spells, [9.0, 12.0]);
        // Ten years in one ingest are ten years.
        let years: Vec<Option<i64>> = (0..100).map(|at| Some(at * 36)).collect();
        let found = times(&[years]);
        assert_eq!(found.of_visits, (0..100).map(|at| f64::from(at * 36)).collect::<Vec<_>>());
    }

    #[test]
    fn the_time_to_the_next_plan_is_that_between_the_last_ones() {
        let days = |day: i64| vec![Some(day); 3];
        assert_eq!(times(&[0, 10].map(days)).horizon, 10.0);
        assert_eq!(times(&[0, 70, 80, 90, 100, 110, 120].map(days)).horizon, 10.0);
        assert_eq!(times(&[days(5)]).horizon, 0.0);
    }

    #[test]
    fn without_times_cycles_are_counted_and_an_ingest_is_one() {
        let mut manifest = Manifest::default();

        manifest.add_cycles(100);
        manifest.next_seq = 100;
        let (fingerprint, plans) = (String::new(), Vec::new());
        manifest.ingests.push(IngestEntry { fingerprint, first_seq: 0, end_seq: 100, plans });
        let visit = |seq: u32| Visit { url: UrlId(seq), seq, time: None, changed: None };
        let visits: Vec<Visit> = (0..100).map(visit).collect();
        let found = Times::new(&visits, &manifest);
        assert_eq!((found.of_visits, found.now), (vec![0.0; 100], 1.0));
    }
}
