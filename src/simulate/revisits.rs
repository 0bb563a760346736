//! Re-visits of pages that change: which policy keeps what people are served current.
//!
//! A file of changes says on which days pages of a collection changed. Every page is fetched on the day it
//! appears; from then on a policy has so many visits a day. What counts is METHODS' metric of re-visits: the share
//! of served places, weighted by how often queries are asked, whose page is stored as it is.
//!
//! Texts of earlier versions are not known, so lists are those of the last texts among the pages that there are,
//! under the statistics of the whole collection.

use std::collections::{BTreeMap, HashMap};

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::fetch_time;
use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::url_table::UrlTable;
use serde::Serialize;

use super::SimulateError;
use super::collection::Collection;
use crate::estimate::change_rate::{ChangeHistory, Interval as Seen, PageChange, VisitedPage};
use crate::estimate::url_parts::{SiteLevel, file_type};
use crate::evaluate::statistics::{RESAMPLES, paired_bootstrap};
use crate::planner::revisits::{Changes, ChangingPage};
use crate::policy::amount::Amount;
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::{Query, Workload};

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Results that are ranked for a place of a list: pages appear one by one.
const DEPTH: usize = 40;
/// Mean time between two changes of a page before any was seen, in days.
const USUAL: f64 = 120.0;
/// Halvings of the interval in which the price of a visit lies.
const HALVINGS: usize = 60;

/// Who visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RevisitPolicy {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) description: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Uniform,
    LambdaCrawl,
    Myopic,
    Prospect,
    Oracle,
}

/// All of them.
pub(crate) const REVISIT_POLICIES: [RevisitPolicy; 6] = [
    RevisitPolicy { name: "none", description: "no page is visited again", kind: Kind::None },
    RevisitPolicy {
        name: "uniform",
        description: "of the pages in lists the one that was not visited for longest",
        kind: Kind::Uniform,
    },
    RevisitPolicy {
        name: "lambdacrawl",
        description: "the rates of Kolobov et al. (NeurIPS 2019), evenly spaced, for the same estimates by the calendar",
        kind: Kind::LambdaCrawl,
    },
    RevisitPolicy {
        name: "myopic",
        description: "as prospect, in the order of what a visit brings until tomorrow",
        kind: Kind::Myopic,
    },
    RevisitPolicy {
        name: "prospect",
        description: "as plans pick pages to fetch again",
        kind: Kind::Prospect,
    },
    RevisitPolicy {
        name: "oracle",
        description: "knows which pages have changed, and visits those with the most impact",
        kind: Kind::Oracle,
    },
];

/// Days from 1970 that a day of a change lies within: a number beyond is none of days.
const MOST_DAYS: i64 = 100_000;

/// On which days pages changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PageChanges {
    /// By page: the day it appeared, then the days of its changes, ascending.
    days: HashMap<UrlId, Vec<i64>>,
    /// Lines about URLs that are no page of the collection.
    pub(crate) elsewhere: u64,
}

impl PageChanges {
    /// Reads `url<TAB>day[<TAB>kind]` lines; a day is a number since 1970 or an ISO date, and the first of a page is
    /// the one on which it appears. A line that starts with `url` and a tab names the columns.
    ///
    /// # Errors
    /// A line, by its number from 1, and what is wrong with it.
    pub(crate) fn parse(text: &str, collection: &Collection) -> Result<Self, (usize, String)> {
        let mut changes = Self::default();
        for (at, line) in text.lines().enumerate() {
            if line.is_empty() || (at == 0 && line.starts_with("url\t")) {
                continue;
            }
            let mut fields = line.split('\t');
            let (given, day) = (fields.next().unwrap_or_default(), fields.next());
            let day = day.and_then(day_of);
            let day = day.ok_or_else(|| {
                (
                    at + 1,
                    "a URL, a tab and a day, such as 18262 or 2020-01-01, were expected".to_owned(),
                )
            })?;
            match url::canonical(given).ok().and_then(|url| collection.urls.get(&url)) {
                Some(page) if page.0 < collection.pages => {
                    changes.days.entry(page).or_default().push(day);
                }
                _ => changes.elsewhere += 1,
            }
        }
        for days in changes.days.values_mut() {
            days.sort_unstable();
            days.dedup();
        }
        Ok(changes)
    }

    /// Pages of which something is said.
    pub(crate) fn pages(&self) -> usize {
        self.days.len()
    }
}

fn day_of(text: &str) -> Option<i64> {
    let text = text.trim();
    let date = || Some(fetch_time::seconds(&format!("{text}T00:00:00"))? / DAY);
    text.parse().ok().or_else(date).filter(|day| (-MOST_DAYS..=MOST_DAYS).contains(day))
}

/// What is simulated.
pub(crate) struct RevisitSettings {
    /// Visits a day, or a share of the pages that there are.
    pub(crate) a_day: Amount,
    /// Parameters of BM25.
    pub(crate) bm25: Bm25,
    /// Places of lists.
    pub(crate) places: Places,
}

/// What a policy kept current.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RevisitResult {
    /// Its name.
    pub(crate) policy: String,
    /// Whether it knows what nobody can.
    pub(crate) oracle: bool,
    /// Mean over days of the share of served places whose page is stored as it is.
    pub(crate) current: f64,
    /// The same for the share of the oracle, where that is among the policies.
    pub(crate) of_oracle: Option<f64>,
    /// Visits.
    pub(crate) visits: u64,
    /// Of them, those that found the page changed.
    pub(crate) changed: u64,
    /// How much more `prospect` keeps current, mean over queries with the ends of its 95 % interval.
    pub(crate) behind_prospect: Option<[f64; 3]>,
    /// By day: the share.
    #[serde(skip)]
    pub(crate) by_day: Vec<f64>,
    #[serde(skip)]
    by_query: Vec<f64>,
}

/// What came of a simulation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RevisitFigures {
    /// Names the schema.
    pub(crate) schema: &'static str,
    /// The first day, and the one after the last, since 1970.
    pub(crate) days: [i64; 2],
    /// Pages with a history, and their changes.
    pub(crate) pages: usize,
    /// Changes.
    pub(crate) changes: usize,
    /// By policy.
    pub(crate) policies: Vec<RevisitResult>,
}

/// Runs policies on the same days.
///
/// # Errors
/// The index cannot be read.
pub(crate) fn run(
    collection: &Collection,
    workload: &Workload,
    changes: &PageChanges,
    policies: &[RevisitPolicy],
    settings: &RevisitSettings,
    mut done: impl FnMut(&RevisitResult),
) -> Result<RevisitFigures, SimulateError> {
    let site = Site::new(collection, workload, changes, settings)?;
    let mut results = Vec::new();
    for policy in policies {
        let result = site.simulate(policy, settings);
        done(&result);
        results.push(result);
    }
    let of = |kind: Kind| policies.iter().position(|policy| policy.kind == kind);
    let oracle = of(Kind::Oracle).map(|at| results[at].current);
    let ours = of(Kind::Prospect).map(|at| results[at].by_query.clone());
    for result in &mut results {
        result.of_oracle =
            oracle.filter(|oracle| *oracle > 0.0).map(|oracle| result.current / oracle);
        if let Some(ours) = ours.as_ref().filter(|_| result.policy != "prospect") {
            let behind = ours.iter().zip(&result.by_query).map(|(ours, theirs)| ours - theirs);
            let found = paired_bootstrap(&[behind.collect()], RESAMPLES, 1);
            result.behind_prospect = found.and_then(|found| {
                Some([found.interval.mean, found.interval.low?, found.interval.high?])
            });
        }
    }
    Ok(RevisitFigures {
        schema: "prospect.revisits/1",
        days: [site.first, site.end],
        pages: changes.pages(),
        changes: changes.days.values().map(|days| days.len() - 1).sum(),
        policies: results,
    })
}

/// A site whose pages change, and who is served what of it.
struct Site<'a> {
    collection: &'a Collection,
    queries: &'a [Query],
    places: Places,
    /// By query: pages by score, as many as can matter.
    ranked: Vec<Vec<UrlId>>,
    /// By day: pages that change, and those that appear.
    events: BTreeMap<i64, Vec<(UrlId, bool)>>,
    /// By page: its kind, for the priors, and its section.
    kinds: Vec<(u32, u32)>,
    first: i64,
    end: i64,
}

/// What is served on a day.
#[derive(Default)]
struct Served {
    /// By query.
    lists: Vec<Vec<UrlId>>,
    /// By URL: impact.
    impact: Vec<f64>,
}

/// What a policy knows of pages.
struct Knowledge {
    history: ChangeHistory,
    /// By URL: place in the history.
    place: Vec<usize>,
    urls: Vec<UrlId>,
}

/// By page: the number of its file type on its host, and that of its section.
fn kinds(collection: &Collection) -> Vec<(u32, u32)> {
    let (mut types, mut sections) = (HashMap::new(), HashMap::new());
    let mut kinds = Vec::with_capacity(collection.pages as usize);
    for page in (0..collection.pages).map(UrlId) {
        let address = collection.urls.url(page);
        let file_type = (collection.host[page.index()], file_type(address).into_owned());
        let next = types.len() as u32;
        let file_type = *types.entry(file_type).or_insert(next);
        let next = sections.len() as u32;
        let section = SiteLevel::Directory.site(address).into_owned();
        kinds.push((file_type, *sections.entry(section).or_insert(next)));
    }
    kinds
}

impl<'a> Site<'a> {
    fn new(
        collection: &'a Collection,
        workload: &'a Workload,
        changes: &PageChanges,
        settings: &RevisitSettings,
    ) -> Result<Self, SimulateError> {
        let queries = &workload.queries;
        let deep = Places { k: settings.places.k * DEPTH, ..settings.places };
        let scorer =
            Scorer::new(&collection.text, settings.bm25, collection.pages, workload.words())?;
        let lists = ServedLists::build(&scorer, queries, deep, collection.pages, &collection.urls)?;
        let ranked = |list: Vec<(UrlId, f64)>| list.into_iter().map(|(url, _)| url).collect();
        let mut events: BTreeMap<i64, Vec<(UrlId, bool)>> = BTreeMap::new();
        for (&page, days) in &changes.days {
            for (at, day) in days.iter().enumerate() {
                events.entry(*day).or_default().push((page, at == 0));
            }
        }
        for events in events.values_mut() {
            events.sort_unstable();
        }
        let kinds = kinds(collection);
        let first = events.first_key_value().map_or(0, |(day, _)| *day);
        let end = events.last_key_value().map_or(0, |(day, _)| day + 1);
        let ranked = lists.lists.into_iter().map(ranked).collect();
        let places = settings.places;
        Ok(Self { collection, queries, places, ranked, events, kinds, first, end })
    }

    /// What is served of the pages that there are.
    fn served(&self, exists: &[bool]) -> Served {
        let lists = self.ranked.iter().map(|ranked| {
            let there = ranked.iter().copied().filter(|page| exists[page.index()]);
            there.take(self.places.k).collect()
        });
        let lists: Vec<Vec<UrlId>> = lists.collect();
        let mut impact = vec![0.0; self.collection.urls.len()];
        for (query, list) in self.queries.iter().zip(&lists) {
            for (at, page) in list.iter().enumerate() {
                impact[page.index()] += query.frequency * self.places.at(at + 1);
            }
        }
        Served { lists, impact }
    }

    fn simulate(&self, policy: &RevisitPolicy, settings: &RevisitSettings) -> RevisitResult {
        let urls = self.collection.urls.len();
        let (mut exists, mut stale) = (vec![false; urls], vec![false; urls]);
        let (mut served, mut there, mut left) = (Served::default(), 0, 0.0);
        let mut known = Knowledge::new(urls, self.first);
        let mut credits = vec![0.0; urls];
        let (mut visits, mut changed, mut by_day) = (0, 0, Vec::new());
        let mut by_query = vec![0.0; self.queries.len()];
        for day in self.first..self.end {
            let mut appeared = false;
            for &(page, is_new) in self.events.get(&day).into_iter().flatten() {
                if is_new {
                    exists[page.index()] = true;
                    let (kind, section) = self.kinds[page.index()];
                    let host = self.collection.host[page.index()];
                    known.add(page, VisitedPage { host, section, kind, last: day as f64 });
                    (there, appeared) = (there + 1, true);
                } else {
                    stale[page.index()] = true;
                }
            }
            if appeared {
                served = self.served(&exists);
            }
            known.history.spells.push(day as f64);
            known.history.now = day as f64;
            left += match settings.a_day {
                Amount::Pages(pages) => f64::from(pages),
                Amount::Share(share) => share * f64::from(there),
            };
            let budget = left as usize;
            left -= budget as f64;
            let picked = match policy.kind {
                Kind::None => Vec::new(),
                Kind::Uniform => known.oldest(&served.impact, &self.collection.urls, budget),
                Kind::Oracle => best(&served.impact, &stale, &self.collection.urls, budget),
                Kind::LambdaCrawl => {
                    known.by_rates(&served.impact, &mut credits, &self.collection.urls, budget)
                }
                Kind::Myopic | Kind::Prospect => {
                    let changes = known.changes();
                    let mut revisits = changes.revisits(&served.impact, 1.0, &self.collection.urls);
                    if policy.kind == Kind::Myopic {
                        revisits.sort_by(|a, b| b.value.total_cmp(&a.value));
                    }
                    revisits.into_iter().take(budget).map(|revisit| revisit.url).collect()
                }
            };
            for page in picked {
                let is_stale = std::mem::take(&mut stale[page.index()]);
                known.visit(page, day, is_stale);
                visits += 1;
                changed += u64::from(is_stale);
            }
            by_day.push(self.current(&served, &stale, &mut by_query));
        }
        let scale = self.queries.len() as f64 / by_day.len().max(1) as f64;
        RevisitResult {
            policy: policy.name.to_owned(),
            oracle: policy.kind == Kind::Oracle,
            current: by_day.iter().fold(0.0, |sum, day| sum + day) / by_day.len().max(1) as f64,
            of_oracle: None,
            visits,
            changed,
            behind_prospect: None,
            by_day,
            by_query: by_query.into_iter().map(|sum| sum * scale).collect(),
        }
    }

    /// Share of the served places whose page is stored as it is; the share of each query is added to its own.
    fn current(&self, served: &Served, stale: &[bool], by_query: &mut [f64]) -> f64 {
        let places = |(query, list): (&Query, &Vec<UrlId>)| query.frequency * list.len() as f64;
        let all: f64 = self.queries.iter().zip(&served.lists).map(places).sum();
        let mut current = 0.0;
        for ((query, list), of_query) in self.queries.iter().zip(&served.lists).zip(by_query) {
            let as_stored = list.iter().filter(|page| !stale[page.index()]).count() as f64;
            if all > 0.0 {
                *of_query += query.frequency * as_stored / all;
                current += query.frequency * as_stored / all;
            }
        }
        if all > 0.0 { current } else { 1.0 }
    }
}

/// The stale pages with the most impact.
fn best(impact: &[f64], stale: &[bool], urls: &UrlTable, budget: usize) -> Vec<UrlId> {
    let pages = (0..stale.len() as u32).map(UrlId);
    let worth = pages.filter(|page| stale[page.index()] && impact[page.index()] > 0.0);
    first(worth.map(|page| (page, impact[page.index()])).collect(), urls, budget)
}

/// The first of some pages by a number, descending.
fn first(mut pages: Vec<(UrlId, f64)>, urls: &UrlTable, budget: usize) -> Vec<UrlId> {
    pages.sort_unstable_by(|a, b| {
        b.1.total_cmp(&a.1).then_with(|| urls.url(a.0).cmp(urls.url(b.0)))
    });
    pages.into_iter().take(budget).map(|(page, _)| page).collect()
}

impl Knowledge {
    fn new(urls: usize, first: i64) -> Self {
        let history = ChangeHistory { now: first as f64, usual: USUAL, ..ChangeHistory::default() };
        Self { history, place: vec![usize::MAX; urls], urls: Vec::new() }
    }

    fn add(&mut self, page: UrlId, visited: VisitedPage) {
        self.place[page.index()] = self.urls.len();
        self.urls.push(page);
        self.history.pages.push(visited);
    }

    fn visit(&mut self, page: UrlId, day: i64, changed: bool) {
        let place = self.place[page.index()];
        let visited = &mut self.history.pages[place];
        let (from, to) = (visited.last, day as f64);
        visited.last = to;
        self.history.intervals.push(Seen { page: place, from, to, changed });
    }

    /// As a plan sees it that is made every day.
    fn changes(&self) -> Changes {
        let pages = self.urls.iter().zip(self.history.fit());
        let page = |(&url, change)| ChangingPage { url, change, inlinks: 0 };
        Changes { pages: pages.map(page).collect(), horizon: 1.0 }
    }

    /// Pages with impact that were not visited for longest.
    fn oldest(&self, impact: &[f64], urls: &UrlTable, budget: usize) -> Vec<UrlId> {
        let pages = self.urls.iter().zip(&self.history.pages);
        let in_lists = pages.filter(|(url, _)| impact[url.index()] > 0.0);
        let aged = in_lists.map(|(&url, page)| (url, self.history.now - page.last));
        first(aged.filter(|(_, age)| *age > 0.0).collect(), urls, budget)
    }

    /// Rates that minimise the harmonic staleness of Kolobov et al. for this many visits a day: of a page of impact w
    /// that changes at rate d, `(sqrt(d^2 + 4 w d / price) - d) / 2`. A page is visited when its rate has added up
    /// to the most.
    fn by_rates(
        &self,
        impact: &[f64],
        credits: &mut [f64],
        urls: &UrlTable,
        budget: usize,
    ) -> Vec<UrlId> {
        let found = self.history.by_calendar();
        let rates: Vec<(UrlId, f64, f64)> = self
            .urls
            .iter()
            .zip(&found)
            .map(|(&url, change): (_, &PageChange)| (url, impact[url.index()], change.rate))
            .filter(|(_, impact, _)| *impact > 0.0)
            .collect();
        let rate = |impact: f64, change: f64, price: f64| {
            ((change * change + 4.0 * impact * change / price).sqrt() - change) / 2.0
        };
        let (mut low, mut high) = (1e-12_f64, 1e12_f64);
        for _ in 0..HALVINGS {
            let price = (low * high).sqrt();
            let sum = rates
                .iter()
                .fold(0.0, |sum, (_, impact, change)| sum + rate(*impact, *change, price));
            if sum > budget as f64 { low = price } else { high = price }
        }
        let price = (low * high).sqrt();
        for (url, impact, change) in &rates {
            credits[url.index()] += rate(*impact, *change, price);
        }
        let with_credit = rates.iter().map(|(url, ..)| (*url, credits[url.index()]));
        let picked = first(with_credit.collect(), urls, budget);
        for url in &picked {
            credits[url.index()] -= 1.0;
        }
        picked
    }
}
