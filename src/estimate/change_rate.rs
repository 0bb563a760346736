//! How often pages change, and how likely each has changed by now.
//!
//! Changes of a page are a Poisson process that is seen only when it is fetched: of an interval between two visits
//! it is known whether its text changed, not how often (Cho and Garcia-Molina, "Estimating frequency of change",
//! TOIT 2003). The rate of a page has a Gamma prior of shape 1, an exponential distribution, whose mean is that of
//! its host and type; the estimate is the posterior mean.
//!
//! Pages of a host do not change independently: a new template changes all of them on one day, an edit of a section
//! those in it. So each section of a host has a clock, which runs faster while its pages change more than they
//! usually do, and rates are those by this clock (time rescaling of a Poisson process). The pace of a clock is that
//! of its host times its own. Clocks and rates are fitted together by expectation maximisation; a spell that no
//! visit tells of runs as the calendar does.
//!
//! Not here: what a change is worth, and where visits are kept.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

/// Changes of a host that the calendar counts for beside those that were seen in a spell.
const HOST_PRIOR: f64 = 0.3;
/// The same of a section, beside which the host counts.
const SECTION_PRIOR: f64 = 1.0;
/// Intervals of a section without which it is as the rest of its host, and of that without which its clock is the
/// calendar.
const FEWEST: usize = 50;
/// Standard deviation of the logarithm of the usual rate: it may be off by a factor of twenty either way.
const USUAL_SPREAD: f64 = 1.5;
/// How far it can be off at all, as a logarithm, and halvings of the interval in which it is.
const MOST_LOG: f64 = 40.0;
const HALVINGS: u32 = 60;
/// Steps of the fit.
const STEPS: usize = 20;
/// Rates that the posterior is summed over, and how far they reach from the mean of the prior.
const GRID: usize = 48;
const REACH: f64 = 1e3;

/// A page, as far as its changes go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VisitedPage {
    /// Its host.
    pub(crate) host: u32,
    /// The part of it that the page is in.
    pub(crate) section: u32,
    /// Pages with the same number are alike: of one host and type.
    pub(crate) kind: u32,
    /// When it was fetched last.
    pub(crate) last: f64,
}

/// The time between two visits of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Place of the page.
    pub(crate) page: usize,
    /// The earlier visit.
    pub(crate) from: f64,
    /// The later one.
    pub(crate) to: f64,
    /// Whether its text changed between them.
    pub(crate) changed: bool,
}

/// What is known of changes, in any unit of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeHistory {
    /// Pages.
    pub(crate) pages: Vec<VisitedPage>,
    /// Times between visits.
    pub(crate) intervals: Vec<Interval>,
    /// When spells start, ascending; the last one ends at `now`.
    pub(crate) spells: Vec<f64>,
    /// The present.
    pub(crate) now: f64,
    /// Mean time between two changes of a page before any was seen.
    pub(crate) usual: f64,
}

/// How a page changes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PageChange {
    /// Changes in a unit of time.
    pub(crate) rate: f64,
    /// Time since it was fetched.
    pub(crate) age: f64,
    /// The same by the clock of its section.
    pub(crate) section_age: f64,
}

impl PageChange {
    /// Chance that it has changed since it was fetched.
    pub(crate) fn chance(&self) -> f64 {
        -(-self.rate * self.section_age).exp_m1()
    }

    /// Share of the next `horizon` for which it stays as it is fetched now, on average; 0 for a page that never
    /// changes, which nobody has to fetch.
    pub(crate) fn current_share(&self, horizon: f64) -> f64 {
        let x = self.rate * horizon;
        match self.rate > 0.0 {
            true if x > 0.0 => -(-x).exp_m1() / x,
            true => 1.0,
            false => 0.0,
        }
    }

    /// What a visit now is worth in the long run, in the time for which its text is current: what one has to
    /// charge for visits so that one now is as good as none (the index of Whittle, 1988, for the freshness of a
    /// Poisson process: Azar et al., "Tractable near-optimal policies for crawling", PNAS 2018, solve the
    /// same problem by rates).
    pub(crate) fn visit_value(&self) -> f64 {
        let x = self.rate * self.section_age;
        if x <= 0.0 {
            return 0.0;
        }
        // 1 - (1 + x) e^-x, which cancels where x is small.
        let gain = if x < 1e-3 { x * x * (0.5 - x / 3.0) } else { -(-x).exp_m1() - x * (-x).exp() };
        gain / self.rate
    }
}

impl ChangeHistory {
    /// How each page changes, in their order.
    pub(crate) fn fit(&self) -> Vec<PageChange> {
        let mut of_section: HashMap<u32, usize> = HashMap::new();
        for interval in self.intervals.iter().filter(|_| !self.spells.is_empty()) {
            *of_section.entry(self.pages[interval.page].section).or_default() += 1;
        }
        let is_own = |page: &VisitedPage| of_section.get(&page.section) >= Some(&FEWEST);
        // What has too few is the rest of its host.
        let key = |page: &VisitedPage| (page.host, Some(page.section).filter(|_| is_own(page)));
        let mut of_key: BTreeMap<(u32, Option<u32>), usize> = BTreeMap::new();
        for interval in self.intervals.iter().filter(|_| !self.spells.is_empty()) {
            *of_key.entry(key(&self.pages[interval.page])).or_default() += 1;
        }
        of_key.retain(|_, seen| *seen >= FEWEST);
        let keys: Vec<(u32, Option<u32>)> = of_key.into_keys().collect();
        let clock_of = self.pages.iter().map(|page| keys.binary_search(&key(page)).ok()).collect();
        self.fit_with(keys.into_iter().map(|(host, _)| host).collect(), clock_of)
    }

    /// The same where nothing has a clock of its own.
    pub(crate) fn by_calendar(&self) -> Vec<PageChange> {
        self.fit_with(Vec::new(), vec![None; self.pages.len()])
    }

    /// The same with a clock for each of some sections of these hosts, ascending, and those of the pages.
    fn fit_with(&self, hosts: Vec<u32>, clock_of: Vec<Option<usize>>) -> Vec<PageChange> {
        let calendar = Clock::new(&self.spells);
        let mut timed = vec![Vec::new(); hosts.len()];
        let mut plain = Vec::new();
        for &Interval { page, from, to, changed } in &self.intervals {
            match clock_of[page].filter(|_| to > from) {
                Some(clock) => {
                    let (from, to) = (calendar.place(from), calendar.place(to));
                    timed[clock].push(Timed { page, from, to, changed });
                }
                None => plain.push((page, (to - from).max(0.0), changed)),
            }
        }
        let mut fit = Fit {
            history: self,
            clocks: vec![calendar; hosts.len()],
            hosts,
            timed,
            plain,
            clock_of,
            rates: vec![1.0 / self.usual; self.pages.len()],
            means: Vec::new(),
        };
        for _ in 0..STEPS {
            fit.run_clocks();
            fit.take_rates();
        }
        fit.page_changes()
    }
}

/// A time by the spell that it is in, and how long that has gone on then.
#[derive(Clone, Copy, Debug)]
struct TimePlace {
    spell: usize,
    into: f64,
}

/// An interval by places.
#[derive(Clone, Copy, Debug)]
struct Timed {
    page: usize,
    from: TimePlace,
    to: TimePlace,
    changed: bool,
}

/// A clock: how fast it runs in each spell, and what it showed when that began.
#[derive(Clone, Debug)]
struct Clock<'a> {
    spells: &'a [f64],
    pace: Vec<f64>,
    /// How many times as fast as its host.
    own: Vec<f64>,
    shown: Vec<f64>,
}

impl<'a> Clock<'a> {
    /// The calendar.
    fn new(spells: &'a [f64]) -> Self {
        let usual = vec![1.0; spells.len()];
        let mut clock = Self { spells, pace: usual.clone(), own: usual, shown: Vec::new() };
        clock.add_up();
        clock
    }

    fn add_up(&mut self) {
        let mut shown = 0.0;
        self.shown.clear();
        for at in 0..self.spells.len() {
            self.shown.push(shown);
            shown += self.pace[at] * self.width(at);
        }
    }

    /// Length of a spell; the last one has no end.
    fn width(&self, at: usize) -> f64 {
        self.spells.get(at + 1).map_or(0.0, |end| end - self.spells[at])
    }

    /// The place of a time; what is before the first spell is of it.
    fn place(&self, time: f64) -> TimePlace {
        let spell = self.spells.partition_point(|start| *start <= time).saturating_sub(1);
        TimePlace { spell, into: time - self.spells.get(spell).copied().unwrap_or(time) }
    }

    /// Time from a place to another.
    fn between(&self, from: TimePlace, to: TimePlace) -> f64 {
        let at = |place: TimePlace| self.shown[place.spell] + self.pace[place.spell] * place.into;
        at(to) - at(from)
    }
}

/// Sums over the spells that intervals cover, by parts.
struct Covered<'a> {
    clock: &'a Clock<'a>,
    /// Of spells that are covered whole, as differences from spell to spell.
    whole: Vec<f64>,
    parts: Vec<f64>,
}

impl<'a> Covered<'a> {
    fn new(clock: &'a Clock<'a>) -> Self {
        let spells = clock.spells.len();
        Self { clock, whole: vec![0.0; spells + 1], parts: vec![0.0; spells] }
    }

    /// Adds so much for each unit of time of an interval.
    fn add(&mut self, Timed { from, to, .. }: &Timed, weight: f64) {
        if from.spell == to.spell {
            self.parts[from.spell] += weight * (to.into - from.into);
            return;
        }
        self.parts[from.spell] += weight * (self.clock.width(from.spell) - from.into);
        self.parts[to.spell] += weight * to.into;
        self.whole[from.spell + 1] += weight;
        self.whole[to.spell] -= weight;
    }

    /// By spell.
    fn sums(self) -> impl Iterator<Item = f64> + 'a {
        let Self { clock, whole, parts } = self;
        let mut running = 0.0;
        parts.into_iter().enumerate().map(move |(at, part)| {
            running += whole[at];
            part + running * clock.width(at)
        })
    }
}

/// Changes of which it is known that there was one, by the number that was to be expected.
fn at_least_one(expected: f64) -> f64 {
    let expected = expected.max(f64::MIN_POSITIVE);
    expected / -(-expected).exp_m1()
}

struct Fit<'a> {
    history: &'a ChangeHistory,
    /// Of the sections that have one, those of a host one behind the other.
    clocks: Vec<Clock<'a>>,
    /// By clock: its host.
    hosts: Vec<u32>,
    /// By clock: the intervals that it is for.
    timed: Vec<Vec<Timed>>,
    /// Intervals of pages without a clock: page, time, whether it changed.
    plain: Vec<(usize, f64, bool)>,
    /// By page: its clock, if that is not the calendar.
    clock_of: Vec<Option<usize>>,
    /// By page.
    rates: Vec<f64>,
    /// By kind: mean of the prior.
    means: Vec<f64>,
}

impl Fit<'_> {
    /// Sets the pace of each spell to how many changes it had, as far as can be told, for one that was to be
    /// expected: of a host by the calendar, of a section by its host.
    fn run_clocks(&mut self) {
        let clocks = self.clocks.par_iter().zip(&self.timed);
        // By clock and spell: changes, and how many were to be expected.
        let sums: Vec<Vec<(f64, f64)>> = clocks
            .map(|(clock, intervals)| {
                let (mut changes, mut usual) = (Covered::new(clock), Covered::new(clock));
                for interval in intervals {
                    let rate = self.rates[interval.page];
                    usual.add(interval, rate);
                    if interval.changed {
                        let elapsed = clock.between(interval.from, interval.to);
                        changes.add(interval, at_least_one(rate * elapsed) / elapsed);
                    }
                }
                let changes = changes.sums().zip(&clock.pace).map(|(changes, pace)| pace * changes);
                changes.zip(usual.sums()).collect()
            })
            .collect();
        let mut clocks = self.clocks.as_mut_slice();
        let mut sums = sums.as_slice();
        for of_host in self.hosts.chunk_by(|a, b| a == b) {
            let (host, rest) = clocks.split_at_mut(of_host.len());
            let (of_host, others) = sums.split_at(of_host.len());
            (clocks, sums) = (rest, others);
            set_paces(host, of_host);
        }
        self.clocks.iter_mut().for_each(Clock::add_up);
    }

    /// All intervals: page, time by its clock, whether it changed.
    fn each(&self, mut take: impl FnMut(usize, f64, bool)) {
        for (clock, intervals) in self.clocks.iter().zip(&self.timed) {
            for &Timed { page, from, to, changed } in intervals {
                take(page, clock.between(from, to).max(0.0), changed);
            }
        }
        for &(page, time, changed) in &self.plain {
            take(page, time, changed);
        }
    }

    /// Sets the rates to what the intervals say, and the means of their priors.
    fn take_rates(&mut self) {
        let history = self.history;
        let pages = history.pages.len();
        let kinds = history.pages.iter().map(|page| page.kind as usize + 1).max().unwrap_or(0);
        let (mut changes, mut time) = (vec![0.0; pages], vec![0.0; pages]);
        self.each(|page, elapsed, changed| {
            time[page] += elapsed;
            if changed {
                changes[page] += at_least_one(self.rates[page] * elapsed);
            }
        });
        let total = |of: &[f64]| of.iter().fold(0.0, |sum, value| sum + value);
        let usual = usual_rate(total(&changes), total(&time), history.usual);
        let mut of_kind = vec![(1.0, 1.0 / usual); kinds];
        for (page, (changes, time)) in history.pages.iter().zip(changes.iter().zip(&time)) {
            let (sum, all) = &mut of_kind[page.kind as usize];
            (*sum, *all) = (*sum + changes, *all + time);
        }
        self.means = of_kind.into_iter().map(|(changes, time)| changes / time).collect();
        for (at, page) in history.pages.iter().enumerate() {
            let mean = self.means[page.kind as usize];
            self.rates[at] = (1.0 + changes[at]) / (1.0 / mean + time[at]);
        }
    }

    fn page_changes(&self) -> Vec<PageChange> {
        let history = self.history;
        let mut seen: Vec<Seen> = vec![Seen::default(); history.pages.len()];
        self.each(|page, elapsed, changed| {
            if changed {
                seen[page].changed.push(elapsed);
            } else {
                seen[page].unchanged += elapsed;
            }
        });
        let pages = history.pages.par_iter().zip(&seen).enumerate();
        pages
            .map(|(at, (page, seen))| {
                let age = (history.now - page.last).max(0.0);
                let section_age = self.clock_of[at].map_or(age, |clock| {
                    let clock = &self.clocks[clock];
                    clock.between(clock.place(page.last), clock.place(history.now)).max(0.0)
                });
                let rate = seen.posterior_mean(self.means[page.kind as usize]);
                PageChange { rate, age, section_age }
            })
            .collect()
    }
}

/// The rate of all pages together, given their changes and the time in which they had them: the likeliest where its
/// logarithm has a normal prior. The first change that is seen is no proof that all change so fast.
fn usual_rate(changes: f64, time: f64, usual: f64) -> f64 {
    let (mut low, mut high) = (-MOST_LOG, MOST_LOG);
    for _ in 0..HALVINGS {
        // Of the rate against the one that is usual, as a logarithm.
        let log = f64::midpoint(low, high);
        let slope = changes - log.exp() / usual * time - log / (USUAL_SPREAD * USUAL_SPREAD);
        if slope > 0.0 { low = log } else { high = log }
    }
    f64::midpoint(low, high).exp() / usual
}

/// Sets the paces of the clocks of a host, given their changes by spell and how many were to be expected.
fn set_paces(clocks: &mut [Clock<'_>], sums: &[Vec<(f64, f64)>]) {
    let spells = sums.first().map_or(0, Vec::len);
    for spell in 0..spells {
        let (mut changes, mut usual) = (HOST_PRIOR, HOST_PRIOR);
        for (clock, sums) in clocks.iter().zip(sums) {
            let (seen, expected) = sums[spell];
            changes += seen;
            usual += expected * clock.own[spell];
        }
        let (host, is_alone) = (changes / usual, clocks.len() == 1);
        for (clock, sums) in clocks.iter_mut().zip(sums) {
            let (seen, expected) = sums[spell];
            let own = (SECTION_PRIOR + seen) / (SECTION_PRIOR + expected * host);
            clock.own[spell] = if is_alone { 1.0 } else { own };
            clock.pace[spell] = host * clock.own[spell];
        }
    }
}

/// What visits of a page say.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Time of all intervals without a change.
    unchanged: f64,
    /// Time of each one with a change.
    changed: Vec<f64>,
}

impl Seen {
    /// Mean of the rate, where the prior has shape 1 and this mean. Rates are summed over on a grid of equal ratios.
    fn posterior_mean(&self, mean: f64) -> f64 {
        if self.changed.is_empty() {
            // Again a distribution of shape 1.
            return 1.0 / (1.0 / mean + self.unchanged);
        }
        let step = 2.0 * REACH.ln() / (GRID - 1) as f64;
        let rates: [f64; GRID] = std::array::from_fn(|at| mean / REACH * (step * at as f64).exp());
        let logs = rates.map(|rate| self.log_weight(rate, mean));
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (rate, log) in rates.iter().zip(logs) {
            let weight = (log - largest).exp();
            (sum, weights) = (sum + weight * rate, weights + weight);
        }
        sum / weights
    }

    /// The logarithm of the weight of a rate of that grid.
    fn log_weight(&self, rate: f64, mean: f64) -> f64 {
        // Equal steps of the logarithm are wider where rates are large.
        let start = rate.ln() - rate * (1.0 / mean + self.unchanged);
        self.changed
            .iter()
            .fold(start, |sum, time| sum + (-(-(rate * time).max(f64::MIN_POSITIVE)).exp_m1()).ln())
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_posterior_is_that_of_the_gamma_prior() {
        let mean = |unchanged, changed: &[f64], mean| {
            Seen { unchanged, changed: changed.to_vec() }.posterior_mean(mean)
        };
        // Nothing changed in 30 days: Gamma of shape 1 stays one, of rate 1 / mean + time.
        assert_eq!(mean(30.0, &[], 0.1), 1.0 / 40.0);
        // One change in 10 days: the integrals of (1 - e^-10r) e^-10r are 1/10 - 1/20 and 1/100 - 1/400.
        let once = mean(0.0, &[10.0], 0.1);
        assert!((once - 0.0075 / 0.05).abs() < 1e-4, "{once}");
        assert_eq!(mean(0.0, &[], 0.3), 0.3);
    }

    #[test]
    fn a_visit_is_worth_what_its_page_can_lose() {
        let page = |rate, age| PageChange { rate, age, section_age: age };
        assert_eq!((page(0.1, 0.0).chance(), page(0.1, 0.0).visit_value()), (0.0, 0.0));
        assert_eq!((page(0.0, 9.0).visit_value(), page(0.0, 9.0).current_share(1.0)), (0.0, 0.0));
        assert!((page(0.1, 10.0).chance() - 0.632_120_558).abs() < 1e-9);
        assert!((page(0.1, 10.0).visit_value() - 2.642_411_176).abs() < 1e-9);
        assert!((page(0.5, 1.0).current_share(2.0) - 0.632_120_558).abs() < 1e-9);
        // Where rounding begins, both ways agree; and what changes all the time is worth little.
        let (below, above) = (page(1.0, 0.000_999_9).visit_value(), page(1.0, 0.001).visit_value());
        assert!((above - below) / above < 3e-4 && above > below);
        assert!(page(50.0, 1.0).visit_value() < page(0.5, 1.0).visit_value());
    }

    /// Pages of rates that are known, visited once in a while; all change on day 300.
    fn history(days: usize, together: bool) -> (ChangeHistory, Vec<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let rates: Vec<f64> = (0..400).map(|at| 0.002 * f64::from(1 + at % 20)).collect();
        let page = |_| VisitedPage { host: 0, section: 0, kind: 0, last: 0.0 };
        let mut history = ChangeHistory {
            pages: (0..rates.len()).map(page).collect(),
            spells: (0..days).map(|day| day as f64).collect(),
            now: days as f64,
            usual: 120.0,
            ..ChangeHistory::default()
        };
        let mut changed = vec![false; rates.len()];
        for day in 1..days {
            for (changed, rate) in changed.iter_mut().zip(&rates) {
                let with_all = together && day == 300 && rng.random_bool(0.8);
                *changed |= rng.random_bool(-(-rate).exp_m1()) || with_all;
            }
            for _ in 0..8 {
                let page = rng.random_range(0..rates.len());
                let (from, to) = (history.pages[page].last, day as f64);
                let changed = std::mem::take(&mut changed[page]);
                history.intervals.push(Interval { page, from, to, changed });
                history.pages[page].last = to;
            }
        }
        (history, rates)
    }

    /// The mean over the pages of the history with the lowest rates, or those of another quarter.
    fn mean_of(rates: &[f64], quarter: usize) -> f64 {
        let chosen = (0..rates.len()).filter(|at| at % 20 / 5 == quarter);
        let chosen: Vec<f64> = chosen.map(|at| rates[at]).collect();
        chosen.iter().sum::<f64>() / chosen.len() as f64
    }

    /// How far the changes that are expected are off, as a share of what nobody has seen.
    fn off(found: &[PageChange], unseen: f64) -> f64 {
        let chance: f64 = found.iter().map(PageChange::chance).sum();
        chance / unseen - 1.0
    }

    /// Changed pages that nobody has visited since, in the mean of such histories.
    fn unseen(history: &ChangeHistory, rates: &[f64], together: bool) -> f64 {
        let chances = history.pages.iter().zip(rates).map(|(page, rate)| {
            let own = (-rate * (history.now - page.last)).exp();
            let with_all = if together && page.last < 300.0 { 0.2 } else { 1.0 };
            1.0 - own * with_all
        });
        chances.sum()
    }

    #[test]
    fn rates_are_found_and_a_day_on_which_all_changed_is_too() {
        let (quiet, rates) = history(600, false);
        let found = quiet.fit();
        let found_rates: Vec<f64> = found.iter().map(|page| page.rate).collect();
        for quarter in 0..4 {
            let (rate, truth) = (mean_of(&found_rates, quarter), mean_of(&rates, quarter));
            assert!((rate / truth - 1.0).abs() < 0.35, "{quarter}: {rate} {truth}");
        }
        assert!(off(&found, unseen(&quiet, &rates, false)).abs() < 0.15);
        // Ten days after they all changed, most have not been seen since.
        let (sudden, _) = history(310, true);
        let (by_host, truth) = (sudden.fit(), unseen(&sudden, &rates, true));
        let plain = off(&sudden.by_calendar(), truth);
        let by_host = off(&by_host, truth);
        assert!(plain < -0.3 && by_host.abs() < 0.25, "{plain} {by_host}");
    }

    #[test]
    fn nothing_known_is_the_usual_rate() {
        let pages = vec![VisitedPage { host: 3, section: 0, kind: 0, last: 10.0 }];
        let history = ChangeHistory { pages, now: 70.0, usual: 120.0, ..ChangeHistory::default() };
        assert_eq!(
            history.fit()[0],
            PageChange { rate: 1.0 / 120.0, age: 60.0, section_age: 60.0 }
        );
    }
}
