//! Which URLs wait after a failed fetch, and until when.
//!
//! A failure that may pass ([`FailureKind::Temporary`]) brings its URL back after a back-off that doubles: after
//! the first it sits out one cycle, after the second three, then seven; after [`TRIES`] it is given up. A host
//! none of whose servers' answers came, while [`OUTAGE_URLS`] of its URLs or more failed, failed as a whole:
//! that is one event of the host. All its URLs wait for it, by the same rule and without an end, and it counts
//! as a try of none of them.
//!
//! Cycles are the clock: nothing else is told by every input. A stream has a plan for each group of
//! records; those are one cycle until it has [`CYCLE_RECORDS`], so that an outage of seconds is not four cycles long. Where all that may be planned waits, the clock goes
//! on to when the first comes back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use prospect_index::fetch_outcome::{FailureKind, FetchOutcome};
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, Known};
use serde::Serialize;

use super::within::may;

/// Failures of a URL that may pass, until nobody believes it.
pub(crate) const TRIES: u32 = 4;
/// URLs of a host that fail in a cycle, and none that does not, before the host is taken to be at fault.
const OUTAGE_URLS: u32 = 3;
/// Records that a cycle of a stream has at least.
const CYCLE_RECORDS: u32 = 100;
/// A back-off doubles at most so often.
const DOUBLINGS: u32 = 6;

/// Why a URL of the frontier may not be planned now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It failed, for the `tries`th time, and comes back in so many cycles; 1 is the one after next.
    Failed {
        /// Failures so far.
        tries: u32,
        /// Cycles to sit out.
        cycles: u32,
    },
    /// Its host failed as a whole, so many cycles in a row.
    Host {
        /// Cycles in which it failed.
        outages: u32,
        /// Cycles to sit out.
        cycles: u32,
    },
    /// It failed so often that it is not asked for again.
    GivenUp,
    /// A page that was not given when it was asked for again: it was denied, or led elsewhere.
    Refused,
}

/// Who waits, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct WaitCounts {
    /// URLs whose fetch failed and that come back.
    pub(crate) waiting: usize,
    /// URLs that failed too often.
    pub(crate) given_up: usize,
    /// Hosts that failed as a whole and have URLs that would be planned otherwise.
    pub(crate) hosts: usize,
    /// Their URLs.
    pub(crate) of_hosts: usize,
    /// Pages that were asked for again and did not come.
    pub(crate) pages: usize,
}

impl fmt::Display for WaitCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { waiting, given_up, hosts, of_hosts, pages } = self;
        let mut told = Vec::new();
        if *waiting > 0 {
            told.push(format!("{waiting} that failed and wait"));
        }
        if *of_hosts > 0 {
            told.push(format!(
                "{of_hosts} on {hosts} host{} that failed as a whole",
                plural(*hosts)
            ));
        }
        if *given_up > 0 {
            told.push(format!("{given_up} that are given up"));
        }
        if *pages > 0 {
            told.push(format!("{pages} fetched page{} that did not come again", plural(*pages)));
        }
        f.write_str(&told.join(", "))
    }
}

/// What a noun ends in after so many.
fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl WaitCounts {
    /// Whether nobody waits.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// What waits after failed fetches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retries {
    /// The cycle that is planned next.
    now: u32,
    /// Whether that is later than it would be, since nothing is left but what waits.
    has_gone_on: bool,
    /// By host: outages in a row, and the cycle in which it comes back.
    hosts: HashMap<u32, (u32, u32)>,
    /// By URL: failures that were its own, and the cycle in which it comes back.
    urls: BTreeMap<UrlId, (u32, u32)>,
    /// Pages that are not to be fetched again, as was answered.
    refused: HashSet<UrlId>,
}

/// What the records of a host in a cycle say.
#[derive(Clone, Copy, Default)]
struct Health {
    failed: u32,
    answered: bool,
}

impl Health {
    fn is_outage(self) -> bool {
        !self.answered && self.failed >= OUTAGE_URLS
    }
}

impl Retries {
    /// What waits in a store or a simulated crawl. Costs nothing while nothing failed for the time being, else
    /// one pass over the records.
    pub(crate) fn new(known: &Known, manifest: &Manifest) -> Self {
        let clock = CycleClock::new(manifest);
        let temporary = FetchOutcome::Failed(FailureKind::Temporary);
        // Of one URL in one cycle a failure counts once, however often a crawler tried.
        let mut seen: HashSet<(UrlId, u32)> = HashSet::new();
        let mut passing: Vec<(UrlId, u32, FetchOutcome)> = Vec::new();
        for failure in known.pages.failures() {
            let (answer, cycle) = (FetchOutcome::from(failure.status), clock.at(failure.seq));
            let may_pass = answer == temporary || answer == FetchOutcome::Unchanged;
            if may_pass && seen.insert((failure.url, cycle)) {
                passing.push((failure.url, cycle, answer));
            }
        }
        // Pages that were asked for again and did not come: the record that brought them last.
        let failed = known.pages.failures().iter().map(|failed| failed.url);
        let moved = known.pages.redirects().iter().map(|(_, url)| *url);
        let pages = failed.chain(moved).filter_map(|url| Some((url, known.pages.page_seq(url)?)));
        let mut came: HashMap<UrlId, u32> = pages.collect();
        for (seq, url) in known.pages.unchanged() {
            came.entry(*url).and_modify(|last| *last = (*last).max(*seq));
        }
        let denials = known.pages.failures().iter();
        let denials = denials.filter(|failed| FetchOutcome::from(failed.status) != temporary);
        let denials = denials.map(|failed| (failed.seq, failed.url));
        let refused = denials.chain(known.pages.redirects().iter().copied());
        let refused = refused.filter(|(seq, url)| came.get(url).is_some_and(|last| seq > last));
        let refused: HashSet<UrlId> = refused.map(|(_, url)| url).collect();
        if passing.is_empty() {
            return Self { refused, ..Self::default() };
        }
        let mut health: HashMap<u32, BTreeMap<u32, Health>> = HashMap::new();
        for &(url, cycle, answer) in &passing {
            let of_host = health.entry(known.urls.host(url)).or_default();
            of_host.entry(cycle).or_default().failed += u32::from(answer == temporary);
        }
        let others = known.pages.failures().iter();
        let others = others.filter(|failure| FetchOutcome::from(failure.status) != temporary);
        let others = others.map(|failure| (failure.seq, failure.url));
        let redirects = known.pages.redirects().iter().chain(known.pages.unchanged()).copied();
        for (seq, url) in others.chain(redirects).chain(known.pages.pages_by_record()) {
            if let Some(of_host) = health.get_mut(&known.urls.host(url)) {
                of_host.entry(clock.at(seq)).or_default().answered = true;
            }
        }
        let mut retries = Self { now: clock.next, refused, ..Self::default() };
        for (&host, cycles) in &health {
            let outages =
                cycles.values().rev().take_while(|health| health.is_outage()).count() as u32;
            if let Some((last, _)) = cycles.last_key_value().filter(|_| outages > 0) {
                retries.hosts.insert(host, (outages, last + back_off(outages)));
            }
        }
        for (url, cycle, _) in passing {
            let is_failed = match known.pages.fetch(url) {
                Fetch::Failed { .. } => true,
                // A page that could not be fetched again.
                Fetch::Page { .. } => cycle > clock.at(came[&url]),
                _ => false,
            };
            if is_failed && !health[&known.urls.host(url)][&cycle].is_outage() {
                let (tries, until) = retries.urls.entry(url).or_insert((0, 0));
                *tries += 1;
                *until = cycle + back_off(*tries);
            }
        }
        retries
    }

    /// Where nothing of what may be planned is free, goes on to when the first comes back.
    fn go_on(&mut self, known: &Known, within: &[bool]) {
        let mut first: Option<u32> = None;
        let frontier = known.urls.ids().filter(|&url| known.pages.in_frontier(url));
        for url in frontier.filter(|&url| may(within, url)) {
            match self.until(url, known.urls.host(url)) {
                Some(until) if until > self.now => {
                    first = Some(first.map_or(until, |first| first.min(until)));
                }
                Some(_) => return,
                None => {}
            }
        }
        self.has_gone_on = first.is_some();
        self.now = first.unwrap_or(self.now);
    }

    /// Whether what comes back first may be planned before its time, since nothing else is left.
    pub(crate) fn has_gone_on(&self) -> bool {
        self.has_gone_on
    }

    /// The cycle in which a URL of the frontier may be planned; none if it is given up.
    fn until(&self, url: UrlId, host: u32) -> Option<u32> {
        let tries = self.urls.get(&url).map_or(0, |(tries, _)| *tries);
        (tries < TRIES).then(|| self.back(url, host))
    }

    /// The cycle in which a URL comes back.
    fn back(&self, url: UrlId, host: u32) -> u32 {
        let own = self.urls.get(&url).map_or(0, |(_, until)| *until);
        own.max(self.hosts.get(&host).map_or(0, |(_, until)| *until))
    }

    /// Why a URL of the frontier may not be planned now, or a page not be fetched again, if it may not. A page came
    /// once, and is never given up.
    pub(crate) fn wait(&self, known: &Known, url: UrlId) -> Option<Wait> {
        if self.urls.is_empty() && self.hosts.is_empty() && self.refused.is_empty() {
            return None;
        }
        let host = known.urls.host(url);
        let until = if known.pages.page_seq(url).is_some() {
            if self.refused.contains(&url) {
                return Some(Wait::Refused);
            }
            self.back(url, host)
        } else if known.pages.in_frontier(url) {
            let Some(until) = self.until(url, host) else { return Some(Wait::GivenUp) };
            until
        } else {
            return None;
        };
        let cycles = until.checked_sub(self.now).filter(|cycles| *cycles > 0)?;
        Some(match (self.hosts.get(&host), self.urls.get(&url)) {
            (Some(&(outages, host)), _) if host == until => Wait::Host { outages, cycles },
            (_, Some(&(tries, _))) => Wait::Failed { tries, cycles },
            (_, None) => return None,
        })
    }

    /// By URL id, whether it may be planned: `within`, if that is not empty, less what waits. Where all of that
    /// waits and nothing else is under way, the clock goes on until something does not.
    pub(crate) fn hold_back(
        &mut self,
        known: &Known,
        mut within: Vec<bool>,
        may_go_on: bool,
    ) -> Vec<bool> {
        if self.urls.is_empty() && self.hosts.is_empty() && self.refused.is_empty() {
            return within;
        }
        if may_go_on {
            self.go_on(known, &within);
        }
        let waits = |url: &UrlId| self.wait(known, *url).is_some();
        let waits: Vec<UrlId> = known.urls.ids().filter(waits).collect();
        if within.is_empty() && !waits.is_empty() {
            within = vec![true; known.urls.len()];
        }
        for url in waits {
            within[url.index()] = false;
        }
        within
    }

    /// Who waits of these URLs.
    pub(crate) fn counts(
        &self,
        known: &Known,
        urls: impl IntoIterator<Item = UrlId>,
    ) -> WaitCounts {
        let (mut counts, mut hosts) = (WaitCounts::default(), HashSet::new());
        for url in urls {
            let is_page = known.pages.page_seq(url).is_some();
            let count = match self.wait(known, url) {
                Some(Wait::Refused) => &mut counts.pages,
                Some(Wait::Failed { .. }) if is_page => &mut counts.pages,
                Some(Wait::Failed { .. }) => &mut counts.waiting,
                Some(Wait::GivenUp) => &mut counts.given_up,
                Some(Wait::Host { .. }) if !is_page => {
                    hosts.insert(known.urls.host(url));
                    &mut counts.of_hosts
                }
                Some(Wait::Host { .. }) | None => continue,
            };
            *count += 1;
        }
        counts.hosts = hosts.len();
        counts
    }
}

/// Cycles as back-offs count them: those of plans, of which those of a stream share some; what is ingested after the plan is
/// closed and before the next one, such as the log of the crawl, is of the same. Before the first plan each ingest is one,
/// whatever it was cut into.
pub(crate) struct CycleClock<'a> {
    manifest: &'a Manifest,
    /// By cycle of the manifest.
    ticks: Vec<u32>,
    /// That of a plan that is made now: the one after that of the last record, for a plan that nothing came of yet counts as
    /// no cycle, or the same in a stream.
    next: u32,
}

impl<'a> CycleClock<'a> {
    /// Of a store or a simulated crawl.
    pub(crate) fn new(manifest: &'a Manifest) -> Self {
        let (starts, next_seq): (HashSet<u32>, u32) =
            (manifest.ingests.iter().map(|one| one.first_seq).collect(), manifest.next_seq);
        // A plan that nothing came of yet does not count.
        let had = manifest.cycles.partition_point(|cycle| cycle.first_seq < next_seq);
        let cycles = &manifest.cycles;
        let (mut ticks, mut tick, mut began) = (Vec::with_capacity(cycles.len()), 0, 0);
        let (mut was_planned, mut last_began) = (false, 0);
        for (at, cycle) in cycles.iter().enumerate() {
            let first_seq = cycle.first_seq;
            let goes_on = at > 0 && {
                let before = &cycles[at - 1];
                match (&cycle.plan, &before.plan) {
                    (None, _) if was_planned => true,
                    (None, _) => !starts.contains(&first_seq),
                    (Some(_), Some(_)) => {
                        let is_streamed = cycle.streamed && before.streamed;
                        is_streamed && first_seq - began < CYCLE_RECORDS
                    }
                    (Some(_), None) => false,
                }
            };
            was_planned |= cycle.plan.is_some();
            if !goes_on {
                tick += u32::from(at > 0);
                began = first_seq;
            }
            ticks.push(tick);
            if at < had {
                last_began = began;
            }
        }
        let is_streamed = cycles[..had].last().is_some_and(|last| last.streamed);
        let goes_on = is_streamed && next_seq - last_began < CYCLE_RECORDS;
        let mut clock = Self { manifest, ticks, next: 0 };
        let last = manifest.next_seq.checked_sub(1).map(|last| clock.at(last));
        clock.next = last.map_or(0, |last| last + u32::from(!goes_on));
        clock
    }

    /// The cycle of a plan that is made now.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// The cycle of a record.
    pub(crate) fn at(&self, seq: u32) -> u32 {
        self.ticks.get(self.manifest.cycle_of(seq) as usize).copied().unwrap_or(0)
    }
}

/// Cycles from a failure to the next try.
fn back_off(failures: u32) -> u32 {
    1 << failures.min(DOUBLINGS)
}

#[cfg(test)]
mod tests {
    use prospect_index::fetch_outcome::{NO_ANSWER, ROBOTS};
    use prospect_index::manifest::CycleEntry;

    use super::*;

    /// A crawl that is told cycle by cycle.
    #[derive(Default)]
    struct Crawl {
        known: Known,
        manifest: Manifest,
    }

    impl Crawl {
        fn knowing(urls: &[&str]) -> Self {
            let mut crawl = Self::default();
            for url in urls {
                crawl.known.urls.insert(url, "");
            }
            crawl
        }

        fn cycle(&mut self, records: &[(&str, u16)]) {
            let first_seq = self.manifest.next_seq;
            let plan = Some(format!("plan {first_seq}"));
            self.manifest.cycles.push(CycleEntry { first_seq, plan, streamed: false });
            for &(url, status) in records {
                let id = self.known.urls.insert(url, "");
                self.known.pages.note(id, self.manifest.next_seq, status, None);
                self.manifest.next_seq += 1;
            }
        }

        fn retries(&self) -> Retries {
            let mut retries = Retries::new(&self.known, &self.manifest);
            retries.hold_back(&self.known, Vec::new(), true);
            retries
        }

        fn in_frontier(&self, url: &str) -> bool {
            self.known.pages.in_frontier(self.known.urls.get(url).unwrap())
        }

        fn wait(&self, url: &str) -> Option<Wait> {
            let id = self.known.urls.get(url).unwrap();
            self.retries().wait(&self.known, id)
        }
    }

    const A: &str = "https://a.test/";
    const B: &str = "https://b.test/";

    #[test]
    fn back_off_doubles_until_a_url_is_given_up() {
        let mut crawl = Crawl::knowing(&[A, B]);
        for (tries, cycles) in [(1, 1), (2, 3), (3, 7)] {
            crawl.cycle(&[(A, 503)]);
            for sat_out in 0..cycles {
                let wait = Wait::Failed { tries, cycles: cycles - sat_out };
                assert_eq!(crawl.wait(A), Some(wait));
                crawl.cycle(&[("https://c.test/", 200)]);
            }
            assert_eq!(crawl.wait(A), None);
        }
        crawl.cycle(&[(A, 429)]);
        assert_eq!(crawl.wait(A), Some(Wait::GivenUp));
        // Somebody fetched it all the same.
        crawl.cycle(&[(A, 200)]);
        assert_eq!(crawl.wait(A), None);
    }

    #[test]
    fn plans_of_a_stream_are_one_cycle_until_that_has_some_records() {
        for streamed in [true, false] {
            let mut crawl = Crawl::knowing(&[A, B]);
            // Ten records a plan.
            for plan in 0..30 {
                let mut records = vec![("https://c.test/", 200); 10];
                records[0] = if plan == 5 { (A, 503) } else { records[1] };
                crawl.cycle(&records);
                crawl.manifest.cycles[plan].streamed = streamed;
                let waits = matches!(crawl.wait(A), Some(Wait::Failed { .. }));
                let sits_out = if streamed { 5..19 } else { 5..6 };
                assert_eq!(waits, sits_out.contains(&plan), "{plan}");
                // The next plan is of the same cycle as long as nothing came of it.
                let (first_seq, before) = (crawl.manifest.next_seq, crawl.wait(A));
                let next = CycleEntry { first_seq, plan: Some("next".to_owned()), streamed };
                crawl.manifest.cycles.push(next);
                assert_eq!(crawl.wait(A), before, "{plan}");
                crawl.manifest.cycles.pop();
            }
        }
    }

    #[test]
    fn what_is_gone_or_denied_is_not_of_the_frontier_and_what_is_unanswered_is() {
        let mut crawl = Crawl::knowing(&[B]);
        let fates = [404, 410, 400, 401, 403, ROBOTS, 301, 500, 503, 429, 408, NO_ANSWER, 304];
        let urls: Vec<String> = (0..fates.len()).map(|at| format!("https://h{at}.test/")).collect();
        let records: Vec<(&str, u16)> = urls.iter().map(String::as_str).zip(fates).collect();
        crawl.cycle(&records);
        let found: Vec<bool> = urls.iter().map(|url| crawl.in_frontier(url)).collect();
        assert_eq!(found, [[false; 7].as_slice(), &[true; 6]].concat());
    }

    #[test]
    fn a_host_that_fails_as_a_whole_is_one_event() {
        let urls: Vec<String> = (0..5).map(|at| format!("https://a.test/{at}")).collect();
        let all: Vec<&str> = urls.iter().map(String::as_str).chain([B]).collect();
        let mut crawl = Crawl::knowing(&all);
        let outage = [(all[0], NO_ANSWER), (all[1], 503), (all[2], NO_ANSWER)];
        crawl.cycle(&outage);
        let wait = Some(Wait::Host { outages: 1, cycles: 1 });
        // Those that nobody asked for wait as well; other hosts do not.
        assert_eq!([0, 4, 5].map(|at| crawl.wait(all[at])), [wait, wait, None]);
        crawl.cycle(&[("https://c.test/", 200)]);
        assert_eq!(crawl.wait(all[0]), None);
        for _ in 0..9 {
            crawl.cycle(&outage);
        }
        let cycles = back_off(10) - 1;
        assert_eq!(crawl.wait(all[0]), Some(Wait::Host { outages: 10, cycles }));
        // It answers again: none of its URLs has tried in vain.
        crawl.cycle(&[(all[3], 200), (all[0], 500)]);
        assert_eq!(crawl.wait(all[0]), Some(Wait::Failed { tries: 1, cycles: 1 }));
        assert_eq!(crawl.wait(all[1]), None);
        let counts = crawl.retries().counts(&crawl.known, crawl.known.urls.ids());
        assert_eq!(counts, WaitCounts { waiting: 1, ..WaitCounts::default() });
    }

    #[test]
    fn the_clock_goes_on_where_all_wait() {
        let mut crawl = Crawl::knowing(&[A, B]);
        crawl.cycle(&[(A, 503), (B, 404)]);
        assert_eq!(crawl.wait(A), None);
        let mut retries = Retries::new(&crawl.known, &crawl.manifest);
        assert_eq!(retries.hold_back(&crawl.known, Vec::new(), false), [false, true]);
        assert!(retries.hold_back(&crawl.known, Vec::new(), true).is_empty());
    }

    #[test]
    fn what_waits_is_not_allowed() {
        let mut crawl = Crawl::knowing(&[B, "https://d.test/", A]);
        crawl.cycle(&[(A, 503)]);
        let mut retries = Retries::new(&crawl.known, &crawl.manifest);
        assert_eq!(retries.hold_back(&crawl.known, Vec::new(), true), [true, true, false]);
        assert_eq!(
            retries.hold_back(&crawl.known, vec![true, false, true], true),
            [true, false, false]
        );
        // Where a plan is held to those that wait, the first of them comes back.
        assert_eq!(
            retries.hold_back(&crawl.known, vec![false, false, true], true),
            [false, false, true]
        );
    }

    #[test]
    fn tries_of_one_cycle_count_once_and_redirects_are_answers() {
        let mut crawl = Crawl::knowing(&[A, B]);
        crawl.cycle(&[(A, 503), (A, 503), (A, 503), (A, 503)]);
        assert_eq!(crawl.wait(A), Some(Wait::Failed { tries: 1, cycles: 1 }));
        let urls: Vec<String> = (0..4).map(|at| format!("https://d.test/{at}")).collect();
        crawl.cycle(&[(&urls[0], 0), (&urls[1], 503), (&urls[2], 503), (&urls[3], 301)]);
        let failed = Some(Wait::Failed { tries: 1, cycles: 1 });
        assert_eq!([1, 2].map(|at| crawl.wait(&urls[at])), [failed, failed]);
    }

    #[test]
    fn an_ingest_without_a_plan_is_one_cycle() {
        let mut crawl = Crawl::knowing(&[B]);
        for (seq, status) in [(0, 503), (1, 200), (2, 200)] {
            let id = crawl.known.urls.insert(&format!("https://h{seq}.test/"), "");
            crawl.known.pages.note(id, seq, status, None);
        }
        crawl.manifest.add_cycles(3);
        crawl.manifest.next_seq = 3;
        let wait = Some(Wait::Failed { tries: 1, cycles: 1 });
        assert_eq!((crawl.manifest.cycles.len(), crawl.wait("https://h0.test/")), (3, wait));
    }

    /// Story: the archive had all of a plan, which was closed; the log of the same crawl, brought in behind it, was a cycle, and
    /// what had just failed was planned at once.
    #[test]
    fn what_is_told_of_a_crawl_after_its_plan_was_closed_is_of_its_cycle() {
        let mut crawl = Crawl::knowing(&[B]);
        crawl.cycle(&[(A, 503), ("https://c.test/0", 200)]);
        let wait = Some(Wait::Failed { tries: 1, cycles: 1 });
        assert_eq!(crawl.wait(A), wait);
        for dead in ["https://dead.test/", "https://dead.test/2"] {
            let id = crawl.known.urls.insert(dead, "");
            crawl.known.pages.note(id, crawl.manifest.next_seq, 404, None);
            crawl.manifest.add_cycles(1);
            crawl.manifest.next_seq += 1;
            assert_eq!(crawl.wait(A), wait);
        }
        crawl.cycle(&[("https://c.test/", 200)]);
        assert_eq!(crawl.wait(A), None);
    }
}
