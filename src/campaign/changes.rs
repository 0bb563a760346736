//! How the pages of a store change, from its records of their visits.
//!
//! Times are those that records tell. Where fewer than half of them do, a cycle is the unit of time. One that tells
//! none among others has the time of the record before it; times far behind all others are mistakes.

use std::collections::HashMap;

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::url::{self, SiteLevel};
use prospect_index::visits::{Visit, visits};

use super::{CampaignError, OpenStore};
use crate::estimate::change_rate::{ChangeHistory, Interval, VisitedPage};
use crate::planner::revisits::{Changes, ChangingPage};

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Mean time between two changes of a page before any was seen: four months, as of pages of all kinds (Cho and
/// Garcia-Molina, "The evolution of the web", VLDB 2000).
const USUAL_DAYS: f64 = 120.0;
/// The same in cycles, where there is no other clock.
const USUAL_CYCLES: f64 = 10.0;
/// Cycles whose mean length is taken for the time to the next plan.
const CYCLES: usize = 5;

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
        let url = visit.url;
        // What there was before the page was gone is another page.
        if known.pages.first_seq(url).is_none_or(|first| visit.seq < first) {
            continue;
        }
        let Some(&page) = places.get(&url) else {
            let host = known.urls.host(url);
            let next = kinds.len() as u32;
            let file_type = url::file_type(known.urls.url(url)).into_owned();
            let kind = *kinds.entry((host, file_type)).or_insert(next);
            let next = sections.len() as u32;
            let section = SiteLevel::Directory.site(known.urls.url(url)).into_owned();
            let section = *sections.entry(section).or_insert(next);
            places.insert(url, urls.len());
            urls.push(url);
            history.pages.push(VisitedPage { host, section, kind, last: time });
            continue;
        };
        let from = history.pages[page].last;
        if let Some(changed) = visit.changed.filter(|_| time >= from) {
            history.intervals.push(Interval { page, from, to: time, changed });
        }
        history.pages[page].last = time.max(from);
    }
    (history.spells, history.now, history.usual) = (times.spells, times.now, times.usual);
    let pages = urls.into_iter().zip(history.fit());
    let may = |page: &ChangingPage| within.get(page.url.index()).is_none_or(|may| *may);
    let page = |(url, change)| ChangingPage { url, change, inlinks: known.links.all_inlinks(url) };
    Ok(Changes { pages: pages.map(page).filter(may).collect(), horizon: times.horizon })
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
        let mut told: Vec<f64> =
            visits.iter().filter_map(|visit| Some(visit.time? as f64 / DAY)).collect();
        let cycle = |seq| f64::from(manifest.cycle_of(seq));
        if told.is_empty() || 2 * told.len() < visits.len() {
            let cycles = manifest.cycle_of(manifest.next_seq.saturating_sub(1)) + 1;
            return Self {
                of_visits: visits.iter().map(|visit| cycle(visit.seq)).collect(),
                spells: (0..cycles).map(f64::from).collect(),
                now: f64::from(cycles),
                usual: USUAL_CYCLES,
                horizon: 1.0,
            };
        }
        told.sort_unstable_by(f64::total_cmp);
        let quantile = |share: f64| told[(share * (told.len() - 1) as f64) as usize];
        let (low, high) = (quantile(0.01), quantile(0.99));
        let span = (high - low).max(1.0);
        let is_likely = |time: &f64| (low - span..=high + span).contains(time);
        let mut last = told.iter().copied().find(is_likely).unwrap_or(low);
        let (mut of_visits, mut spells, mut now) = (Vec::new(), Vec::new(), last);
        let mut cycle_before = None;
        for visit in visits {
            last = visit.time.map(|time| time as f64 / DAY).filter(is_likely).unwrap_or(last);
            let cycle = Some(manifest.cycle_of(visit.seq));
            if cycle != cycle_before && spells.last().is_none_or(|start| *start < last) {
                spells.push(last);
            }
            (cycle_before, now) = (cycle, now.max(last));
            of_visits.push(last);
        }
        let before = spells.len().saturating_sub(CYCLES);
        let first = spells.get(before).copied().unwrap_or(now);
        let horizon = (now - first) / (spells.len() - before).max(1) as f64;
        Self { of_visits, spells, now, usual: USUAL_DAYS, horizon }
    }
}
