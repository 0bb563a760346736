//! What a budget is worth: expected impact against the number of URLs, and what caps cost of it.

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use super::answer::Answer;
use crate::plan::SelectionSettings;
use crate::plan::caps::{Cap, CapGroups, Caps, SoFar};
use crate::plan::polite_time::{PoliteTime, Queues};
use crate::plan::revisits::{Offer, Offers};
use crate::planner::choose::Choice;
use crate::results::whatif::{
    BudgetCurve, BudgetPoint, CapPrice, SlowQueue, TimeCurve, TimeCurvePoint,
};

/// Points of a curve, in budgets: close together where it bends, and no further than says something of this one.
const POINTS: [f64; 17] = [
    0.05, 0.1, 0.175, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0,
];

/// Points of a curve against time, in times of the one that is given.
const TIMES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// An answer's ranking under its caps, to be cut at any budget.
pub(crate) struct Budgets<'a> {
    answer: &'a Answer,
    urls: &'a UrlTable,
    fetched: Vec<UrlId>,
    under: Under<'a>,
}

/// What caps let through of a ranking.
struct Under<'a> {
    answer: &'a Answer,
    groups: CapGroups,
}

impl<'a> Budgets<'a> {
    /// Those of an answer.
    pub(crate) fn of(answer: &'a Answer, urls: &'a UrlTable) -> Self {
        let fetched: Vec<UrlId> = answer.scored.fetched().collect();
        let so_far = so_far(answer, urls, &fetched);
        let under = Under::new(answer, answer.settings.selection.caps, so_far);
        Self { answer, urls, fetched, under }
    }

    /// Expected impact against budget, under the caps of the plan and without exploration. Its knee is
    /// where the curve lies farthest above the straight line to its end (Satopää et al., "Finding a
    /// kneedle in a haystack", 2011).
    pub(crate) fn curve(&self) -> BudgetCurve {
        let budget = self.answer.settings.selection.budget;
        let mark = |times: f64| (budget as f64 * times).round() as usize;
        let mut marks: Vec<usize> = POINTS.map(mark).into_iter().filter(|&most| most > 0).collect();
        marks.dedup();
        let mut points = vec![BudgetPoint { budget: 0, impact: 0.0 }];
        points.extend(marks.into_par_iter().map(|most| self.point(most)).collect::<Vec<_>>());
        // Caps, and the end of the frontier, may leave no more URLs.
        points.dedup_by_key(|point| point.budget);
        // A batch may leave out those that only crowd others.
        for at in 1..points.len() {
            points[at].impact = points[at].impact.max(points[at - 1].impact);
        }
        let knee = knee(&points);
        BudgetCurve {
            knee: Some(knee).filter(|&at| at > 0).map(|at| points[at]),
            shadow_price: one_more(&points, budget),
            points,
        }
    }

    /// What a budget of at most so many URLs brings.
    fn point(&self, most: usize) -> BudgetPoint {
        let taken = self.under.urls(most);
        BudgetPoint { budget: taken.all.len(), impact: taken.enters(self.answer) }
    }

    /// Expected impact against the time that the batch may take; none where it may take any. The budget is that of
    /// every time, unless it is what there is time for.
    pub(crate) fn time(&self, fills_time: bool) -> Option<TimeCurve> {
        let SelectionSettings { budget, caps: Caps { time, .. }, .. } =
            self.answer.settings.selection;
        let queues = &self.answer.settings.queues;
        let given = time.seconds?;
        let budget = (!fills_time).then_some(budget);
        let at = |seconds: f64, queues: &Queues| self.within_time(seconds, queues, budget);
        let mut points = vec![TimeCurvePoint { seconds: 0.0, urls: 0, impact: 0.0 }];
        points.extend(TIMES.map(|times| at(given * times, queues).0));
        for at in 1..points.len() {
            points[at].impact = points[at].impact.max(points[at - 1].impact);
        }
        let (now, urls) = at(given, queues);
        let address = |&url: &UrlId| self.urls.url(url);
        let in_flight = self.answer.in_flight.iter().map(address);
        let (_, last) = time.schedule(urls.iter().map(address), queues, in_flight);
        let delay = time.delay_of(&last.queue, queues);
        let turns = time.most(delay) / time.connections.max(1);
        let mut quicker = Queues::default();
        // In whole milliseconds, as turns are counted.
        quicker.ask(&last.queue, (given * 1e3 / (turns as f64 + 1.0)).floor() / 1e3);
        let mut other = queues.clone();
        other.extend(quicker);
        let (more, _) = at(given, &other);
        let is_full = delay > 0.0 && more.urls > now.urls;
        let gain = (more.impact - now.impact).max(0.0);
        let slowest =
            is_full.then(|| SlowQueue { queue: last.queue, delay, shadow_price: gain / delay });
        // A tenth of the time, if a queue has a turn more by then.
        let longer = (0.1 * given).max(time.delay);
        let next = at(given + longer, queues).0;
        let shadow_price = (next.impact - now.impact).max(0.0) / longer;
        Some(TimeCurve { points, shadow_price, slowest })
    }

    /// What a batch brings that takes so many seconds at most under these queues, with its URLs: as many as there is
    /// time for, `budget` at most.
    fn within_time(
        &self,
        seconds: f64,
        queues: &Queues,
        budget: Option<usize>,
    ) -> (TimeCurvePoint, Vec<UrlId>) {
        let caps = self.answer.settings.selection.caps;
        let time = PoliteTime { seconds: Some(seconds), ..caps.time };
        let so_far =
            SoFar { queues: Some(queues), ..so_far(self.answer, self.urls, &self.fetched) };
        let under = Under::new(self.answer, Caps { time, ..caps }, so_far);
        let room = || self.room(Caps { time, ..caps }, queues);
        let taken = under.urls(budget.unwrap_or_else(room));
        let impact = taken.enters(self.answer);
        (TimeCurvePoint { seconds, urls: taken.all.len(), impact }, taken.all)
    }

    /// URLs that a plan under these caps has room for at most, pages among them if it may ask for any again.
    fn room(&self, caps: Caps, queues: &Queues) -> usize {
        let Answer { choice, settings, in_flight, .. } = self.answer;
        let again = if settings.selection.revisit.is_none() { &[][..] } else { &self.fetched };
        let new = choice.batch.ranking.iter().map(|url| url.url);
        let urls: Vec<UrlId> = new.chain(again.iter().copied()).collect();
        caps.most_urls(&urls, self.urls, queues, in_flight)
    }

    /// What each cap costs: impact expected of the batch without it, less that with all of them.
    pub(crate) fn prices(&self) -> Vec<CapPrice> {
        let SelectionSettings { budget, caps, .. } = self.answer.settings.selection;
        // Where it does not apply, the one that is there by default is not worth a word.
        let site_share = caps.site_share.filter(|_| self.under.groups.has(Cap::SiteShare));
        let limits = [
            ("per-host", caps.per_host.map(|most| most as f64), Caps { per_host: None, ..caps }),
            (
                "per-domain",
                caps.per_domain.map(|most| most as f64),
                Caps { per_domain: None, ..caps },
            ),
            ("per-site", caps.per_site.map(|most| most as f64), Caps { per_site: None, ..caps }),
            ("site-share", site_share, Caps { site_share: None, ..caps }),
            ("seconds", caps.time.seconds, Caps { time: PoliteTime::UNLIMITED, ..caps }),
        ];
        let is_set = |(cap, limit, without)| Some((cap, limit?, without));
        let set: Vec<(&str, f64, Caps)> = limits.into_iter().filter_map(is_set).collect();
        if set.is_empty() {
            return Vec::new();
        }
        let with = self.point(budget).impact;
        set.into_iter().map(|(cap, limit, without)| self.price(cap, limit, without, with)).collect()
    }

    /// What a cap costs, of a batch that brings `with` with all of them.
    fn price(&self, cap: &str, limit: f64, without: Caps, with: f64) -> CapPrice {
        let so_far = so_far(self.answer, self.urls, &self.fetched);
        let without = Under::new(self.answer, without, so_far);
        let budget = self.answer.settings.selection.budget;
        let price = without.urls(budget).enters(self.answer) - with;
        CapPrice { cap: cap.to_owned(), limit, price }
    }
}

fn so_far<'a>(answer: &'a Answer, urls: &'a UrlTable, fetched: &'a [UrlId]) -> SoFar<'a> {
    let queues = Some(&answer.settings.queues);
    let (scored, in_flight) = (&answer.scored, &answer.in_flight);
    let (site_level, sites) = (scored.site_level(), scored.sites());
    SoFar { urls, fetched, site_level, sites, queues, in_flight }
}

impl<'a> Under<'a> {
    fn new(answer: &'a Answer, caps: Caps, so_far: SoFar<'_>) -> Self {
        let Choice { batch, revisits, .. } = &answer.choice;
        let again = revisits.iter().map(|revisit| revisit.url);
        let budget = answer.settings.selection.budget;
        Self { answer, groups: CapGroups::of(caps, &batch.ranking, again, so_far, budget) }
    }

    /// URLs that caps let into a batch of `budget`, best first.
    fn urls(&self, budget: usize) -> Taken {
        let Choice { batch, revisits, .. } = &self.answer.choice;
        let selection = SelectionSettings { budget, ..self.answer.settings.selection };
        let mut offers = Offers::new(&batch.ranking, revisits, &selection, budget);
        let mut counter = self.groups.counter(budget);
        let mut taken = Taken::default();
        while taken.all.len() < budget {
            let Some(offer) = offers.next() else { break };
            let url = offer.url(&batch.ranking);
            if counter.take(url).is_ok() {
                offers.take(offer);
                taken.all.push(url);
                if let Offer::New(_) = offer {
                    taken.new.push(url);
                }
            }
        }
        taken
    }
}

/// URLs of a batch, best first.
#[derive(Default)]
struct Taken {
    all: Vec<UrlId>,
    /// Those that were not fetched before: no other enters a list by it.
    new: Vec<UrlId>,
}

impl Taken {
    /// Impact that they are expected to have in lists at the close.
    fn enters(&self, answer: &Answer) -> f64 {
        answer.expecting().enters(&self.new)
    }
}

/// What one more URL adds to a batch of this budget, by the next point of the curve; 0 at its end.
fn one_more(points: &[BudgetPoint], budget: usize) -> f64 {
    let at = points.partition_point(|point| point.budget < budget);
    match points[at..] {
        [now, next, ..] => (next.impact - now.impact) / (next.budget - now.budget) as f64,
        _ => 0.0,
    }
}

/// The point farthest above the straight line from the first to the last.
fn knee(sums: &[BudgetPoint]) -> usize {
    let Some(last) = sums.last() else { return 0 };
    let above = |at: usize| height(&sums[at], last);
    (0..sums.len()).max_by(|&a, &b| above(a).total_cmp(&above(b)).then(b.cmp(&a))).unwrap_or(0)
}

/// How far a point lies above the straight line to the last one.
fn height(point: &BudgetPoint, last: &BudgetPoint) -> f64 {
    point.impact / last.impact.max(f64::MIN_POSITIVE)
        - point.budget as f64 / last.budget.max(1) as f64
}
