//! The chance that a URL gives a page when it is asked for, by its type and its host; and the chance that the page has
//! a text, by its type.
//!
//! Of URLs that were asked for, the first answer counts; that of a URL that has failed before is told by what
//! became of others that had. Pages that came without a plan, and without a failure among them, are what an archive
//! kept of what was asked: of each host they count as one answer. The failures of a type are shrunk to those of all. The failures of a host have a
//! prior that is fitted to all hosts without a form of its own, as weights of rates on a grid (nonparametric
//! maximum likelihood: Laird, 1978), since hosts are of kinds: most hardly ever fail, some always do. For a URL the
//! odds of its host are multiplied with those of its type against the types that its host was asked for. Where
//! nothing ever failed, the chance is 1.
//!
//! Images and papers are fetched like pages, and nobody finds them by a text that they have not. Pages without words
//! are counted by type, and shrunk to those of all types, as failures are. Where each page has a word, the chance is 1.

use std::collections::HashMap;

use prospect_index::fetch_outcome::FetchOutcome;
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::{FailedFetch, Fetch, Known};
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use crate::estimate::url_parts::file_type;

/// First answers that a type's own count for as much as those of all.
const TYPE_PRIOR: f64 = 8.0;
/// Nothing is certain.
const LEAST: f64 = 0.005;
/// Rates on the grid of hosts.
const RATES: usize = 24;
/// Steps of the fit; weights hardly change after some thirty.
const STEPS: usize = 40;

/// What was answered, counted.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    asked: f64,
    failed: f64,
}

impl Answers {
    fn add(&mut self, failed: bool, counts: f64) {
        self.asked += counts;
        self.failed += counts * f64::from(u8::from(failed));
    }
}

/// The first answer of a URL.
#[derive(Clone, Copy, Debug)]
struct FirstAnswer {
    url: UrlId,
    failed: bool,
    /// What it counts for: 1, or less of a page that an archive has kept.
    counts: f64,
}

/// Chances that URLs give a page. Costs one pass over the records once something failed, and nothing before.
#[derive(Clone, Debug, Default)]
pub(crate) struct FetchChances {
    /// Whether anything ever failed.
    any_failed: bool,
    /// Chances to fail.
    types: TypeRates,
    /// By host: how many times the odds are that its types have.
    hosts: HashMap<u32, f64>,
    /// The same of a host that nothing is known of.
    new_host: f64,
    /// Chance of a URL to fail that has failed before.
    again: f64,
}

impl FetchChances {
    /// What the crawl so far tells.
    pub(crate) fn new(known: &Known, manifest: &Manifest, file_types: &FileTypes) -> Self {
        if known.pages.failures().is_empty() {
            return Self::default();
        }
        let (first, again) = answers(known, manifest);
        if !first.iter().any(|answer| answer.failed) && again.failed == 0.0 {
            return Self::default();
        }
        let types = first.iter().map(|one| (file_types.of(one.url), one.failed, one.counts));
        let types = TypeRates::new(types);
        let mut of_hosts: Vec<OfHost> = vec![OfHost::default(); known.urls.hosts()];
        for &FirstAnswer { url, failed, counts } in &first {
            let of_host = &mut of_hosts[known.urls.host(url) as usize];
            of_host.expected += counts * types.of(file_types.of(url));
            of_host.answers.add(failed, counts);
        }
        of_hosts.iter_mut().for_each(OfHost::weigh_rates);
        let weights = fitted_weights(&of_hosts);
        let asked = (0..).zip(&of_hosts).filter(|(_, of_host)| of_host.answers.asked > 0.0);
        let hosts = asked.map(|(host, of_host)| (host, of_host.odds_ratio(&weights))).collect();
        let new_host = odds(mean(&weights)) / odds(types.usual);
        let again = (again.failed + 1.0) / (again.asked + 2.0);
        Self { any_failed: true, types, hosts, new_host, again }
    }

    /// The chance that a URL of the frontier, which has a type, gives a page.
    pub(crate) fn of(&self, known: &Known, url: UrlId, file_type: u32) -> f64 {
        if !self.any_failed {
            return 1.0;
        }
        if matches!(known.pages.fetch(url), Fetch::Failed { .. }) {
            return 1.0 - self.again;
        }
        let ratio = self.hosts.get(&known.urls.host(url)).copied().unwrap_or(self.new_host);
        let odds = odds(self.types.of(file_type)) * ratio;
        1.0 / (1.0 + odds)
    }
}

/// Chances that pages have a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextChances {
    /// Chances to have none; none where every page has one.
    none: Option<TypeRates>,
}

impl TextChances {
    /// What the pages so far tell; `words` has those of a page.
    pub(crate) fn new(
        known: &Known,
        file_types: &FileTypes,
        words: impl Fn(UrlId) -> Option<u32>,
    ) -> Self {
        let is_empty = |url| words(url) == Some(0);
        let pages = || known.pages.crawled().map(|(_, url)| url);
        let any = pages().any(is_empty);
        let rates = || TypeRates::new(pages().map(|url| (file_types.of(url), is_empty(url), 1.0)));
        Self { none: any.then(rates) }
    }

    /// The chance that the page of a URL of a type has a text.
    pub(crate) fn of(&self, file_type: u32) -> f64 {
        self.none.as_ref().map_or(1.0, |none| 1.0 - none.of(file_type))
    }
}

/// Types of all known URLs, numbered in order of appearance. Costs 4 bytes a URL.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileTypes {
    of_url: Vec<u32>,
    /// By a type's name, which has few letters: their bytes as one number.
    numbers: HashMap<u64, u32>,
}

impl FileTypes {
    /// Takes in new URLs.
    pub(crate) fn update(&mut self, urls: &UrlTable) {
        let new = (self.of_url.len()..urls.len()).into_par_iter().map(|id| UrlId(id as u32));
        let letters = |name: &str| name.bytes().fold(0, |all, letter| all << 8 | u64::from(letter));
        let name = |id| letters(&file_type(urls.url(id)));
        for name in new.map(name).collect::<Vec<u64>>() {
            let next = self.numbers.len() as u32;
            self.of_url.push(*self.numbers.entry(name).or_insert(next));
        }
    }

    /// Type of a URL.
    pub(crate) fn of(&self, url: UrlId) -> u32 {
        self.of_url[url.index()]
    }
}

/// How often something is so of URLs of a type, shrunk to how often it is of all.
#[derive(Clone, Debug, Default)]
struct TypeRates {
    /// By type, as far as it is known.
    types: Vec<f64>,
    /// Of a type that is not known.
    usual: f64,
}

impl TypeRates {
    /// Of URLs with these types, of each of which it is so or not, and which count for so much.
    fn new(urls: impl Iterator<Item = (u32, bool, f64)>) -> Self {
        let mut all = Answers::default();
        let mut types: Vec<Answers> = Vec::new();
        for (file_type, failed, counts) in urls {
            all.add(failed, counts);
            if types.len() <= file_type as usize {
                types.resize(file_type as usize + 1, Answers::default());
            }
            types[file_type as usize].add(failed, counts);
        }
        let usual = (all.failed + 0.5) / (all.asked + 1.0);
        let shrunk = |of: &Answers| (of.failed + TYPE_PRIOR * usual) / (of.asked + TYPE_PRIOR);
        Self { types: types.iter().map(shrunk).collect(), usual }
    }

    fn of(&self, file_type: u32) -> f64 {
        self.types.get(file_type as usize).copied().unwrap_or(self.usual)
    }
}

/// What is known of a host.
#[derive(Clone, Copy, Debug, Default)]
struct OfHost {
    answers: Answers,
    /// Failures that the types of its URLs let expect.
    expected: f64,
    /// Likelihood of the answers at each rate.
    likelihood: [f64; RATES],
}

impl OfHost {
    /// Likelihood of what came at each rate of the grid, the largest 1.
    fn weigh_rates(&mut self) {
        let Answers { asked, failed } = self.answers;
        let log = rates().map(|rate| failed * rate.ln() + (asked - failed) * (1.0 - rate).ln());
        let largest = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.likelihood = log.map(|log| (log - largest).exp());
    }

    /// The weights of the rates for this host, where they are these for all.
    fn posterior(&self, weights: &[f64; RATES]) -> [f64; RATES] {
        let mut own = *weights;
        own.iter_mut().zip(&self.likelihood).for_each(|(weight, likelihood)| *weight *= likelihood);
        let sum: f64 = own.iter().sum();
        own.map(|weight| weight / sum)
    }

    /// How many times the odds of failure are those that its types have.
    fn odds_ratio(&self, weights: &[f64; RATES]) -> f64 {
        odds(mean(&self.posterior(weights))) / odds(self.expected / self.answers.asked)
    }
}

/// The rates of the grid.
fn rates() -> [f64; RATES] {
    std::array::from_fn(|at| LEAST + (1.0 - 2.0 * LEAST) * at as f64 / (RATES - 1) as f64)
}

/// The mean rate.
fn mean(weights: &[f64; RATES]) -> f64 {
    weights.iter().zip(rates()).map(|(weight, rate)| weight * rate).sum()
}

/// The weights of rates under which hosts are most likely as they are, with one more host that may have any.
fn fitted_weights(hosts: &[OfHost]) -> [f64; RATES] {
    let uniform = [1.0 / RATES as f64; RATES];
    let mut weights = uniform;
    for _ in 0..STEPS {
        let mut sums = uniform;
        for of_host in hosts.iter().filter(|of_host| of_host.answers.asked > 0.0) {
            let own = of_host.posterior(&weights);
            sums.iter_mut().zip(own).for_each(|(sum, weight)| *sum += weight);
        }
        let all: f64 = sums.iter().sum();
        weights = sums.map(|sum| sum / all);
    }
    weights
}

fn odds(chance: f64) -> f64 {
    let chance = chance.clamp(LEAST, 1.0 - LEAST);
    chance / (1.0 - chance)
}

/// Whether a record came without a plan.
fn is_imported(manifest: &Manifest, seq: u32) -> bool {
    let cycle = manifest.cycles.get(manifest.cycle_of(seq) as usize);
    cycle.is_some_and(|cycle| cycle.plan.is_none())
}

/// Whether the first answer of each URL was a failure, by URL; and what became of those that had failed when
/// they were asked again. Of a cycle the last answer counts: crawlers try again by themselves.
fn answers(known: &Known, manifest: &Manifest) -> (Vec<FirstAnswer>, Answers) {
    let failed =
        |failure: &&FailedFetch| FetchOutcome::from(failure.status) != FetchOutcome::Unchanged;
    let failures = known.pages.failures().iter().filter(failed);
    let failures = failures.map(|failure| (failure.url, failure.seq, true));
    let pages = known.pages.pages_by_record().chain(known.pages.unchanged().iter().copied());
    let pages = pages.map(|(seq, url)| (url, seq, false));
    let mut records: Vec<(UrlId, u32, bool)> = failures.chain(pages).collect();
    records.sort_unstable();
    let is_archive = !records.iter().any(|(_, seq, failed)| *failed && is_imported(manifest, *seq));
    let mut archived = vec![0u32; known.urls.hosts()];
    let (mut first, mut again) = (Vec::new(), Answers::default());
    let mut kept = Vec::new();
    for of_url in records.chunk_by(|a, b| a.0 == b.0) {
        let cycle = |record: &(UrlId, u32, bool)| manifest.cycle_of(record.1);
        let mut before = None;
        for of_cycle in of_url.chunk_by(|a, b| cycle(a) == cycle(b)) {
            let Some(&(url, seq, failed)) = of_cycle.last() else { continue };
            match before.replace(failed) {
                None if is_archive && is_imported(manifest, seq) => {
                    archived[known.urls.host(url) as usize] += 1;
                    kept.push(url);
                }
                None => first.push(FirstAnswer { url, failed, counts: 1.0 }),
                Some(true) => again.add(failed, 1.0),
                Some(false) => {}
            }
        }
    }
    first.extend(kept.into_iter().map(|url| {
        let counts = 1.0 / f64::from(archived[known.urls.host(url) as usize]);
        FirstAnswer { url, failed: false, counts }
    }));
    (first, again)
}

#[cfg(test)]
mod tests {
    use prospect_index::manifest::CycleEntry;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A manifest whose cycles have one record each.
    fn cycles(records: u32) -> Manifest {
        let cycle = |first_seq| CycleEntry { first_seq, plan: None, streamed: false };
        Manifest {
            cycles: (0..records).map(cycle).collect(),
            next_seq: records,
            ..Manifest::default()
        }
    }

    fn types(known: &Known) -> FileTypes {
        let mut types = FileTypes::default();
        types.update(&known.urls);
        types
    }

    /// The chance that a URL gives a page after so many records.
    fn chance(known: &Known, records: u32, url: UrlId) -> f64 {
        chance_by(known, &cycles(records), url)
    }

    fn chance_by(known: &Known, manifest: &Manifest, url: UrlId) -> f64 {
        let types = types(known);
        FetchChances::new(known, manifest, &types).of(known, url, types.of(url))
    }

    #[test]
    fn a_type_without_texts_has_a_small_chance_of_one() {
        let mut known = Known::default();
        let mut words = HashMap::new();
        for at in 0..200 {
            let ending = if at % 5 == 0 { ".pdf" } else { ".html" };
            let url = known.urls.insert(&format!("https://a.test/{at}{ending}"), "");
            known.pages.note(url, at, 200, None);
            words.insert(url, if at % 5 == 0 || at == 1 { 0 } else { 100 });
        }
        let others = ["https://b.test/x.pdf", "https://b.test/", "https://b.test/x.doc"];
        let others = others.map(|url| known.urls.insert(url, ""));
        let types = types(&known);
        let of = |chances: &TextChances| others.map(|url| chances.of(types.of(url)));
        let [pdf, html, other] =
            of(&TextChances::new(&known, &types, |url| words.get(&url).copied()));
        assert!(pdf < 0.15);
        assert!((0.96..0.99).contains(&html));
        assert!((0.75..0.85).contains(&other), "as usual");
        assert_eq!(of(&TextChances::new(&known, &types, |_| Some(1))), [1.0; 3]);
    }

    #[test]
    fn an_archive_does_not_say_how_often_fetches_fail() {
        let mut known = Known::default();
        for at in 0..420 {
            let url = known.urls.insert(&format!("https://a.test/{at}"), "");
            known.pages.note(url, at, if at < 400 { 200 } else { 404 }, None);
        }
        let waiting = known.urls.insert("https://a.test/waits", "");
        let cycle = |first_seq, plan| CycleEntry { first_seq, plan, streamed: false };
        // Twenty failures of twenty that were planned; or of 420 that a log of all fetches tells.
        let [planned, logged] = [Some("plan".to_owned()), None].map(|plan| {
            let cycles = vec![cycle(0, None), cycle(400, plan)];
            let manifest = Manifest { cycles, next_seq: 420, ..Manifest::default() };
            chance_by(&known, &manifest, waiting)
        });
        assert!(planned < 0.2, "{planned}");
        assert!(logged > 0.9, "{logged}");
    }

    /// A crawl of hosts that fail as often as their number and the type of a URL say, and what is still to be
    /// asked, with the chance that it fails.
    fn crawl(hosts: usize, asked: usize) -> (Known, Vec<(UrlId, f64)>) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let (mut known, mut rest) = (Known::default(), Vec::new());
        for at in 0..asked + 8_000 {
            let host = rng.random_range(0..hosts);
            let ending = ["html", "pdf", "html", "jpg"][rng.random_range(0..4_usize)];
            let of_host = [0.02, 0.1, 0.1, 0.4, 0.9][host % 5];
            let chance = (of_host * if ending == "pdf" { 1.1_f64 } else { 1.0 }).min(1.0);
            let url = known.urls.insert(&format!("https://h{host}.test/{at}.{ending}"), "");
            if at < asked {
                let status = if rng.random_bool(chance) { 500 } else { 200 };
                known.pages.note(url, at as u32, status, None);
            } else {
                rest.push((url, chance));
            }
        }
        (known, rest)
    }

    #[test]
    fn chances_are_calibrated() {
        for (hosts, asked, most) in [(60, 1_000, 0.03), (60, 5_000, 0.02), (500, 5_000, 0.02)] {
            let (known, rest) = crawl(hosts, asked);
            let chances = FetchChances::new(&known, &cycles(asked as u32), &types(&known));
            let types = types(&known);
            // By what was foreseen: what was foreseen, and what holds.
            let mut bins = [(0.0, 0.0); 10];
            for &(url, fails) in &rest {
                let foreseen = chances.of(&known, url, types.of(url));
                let bin = &mut bins[((foreseen * 10.0) as usize).min(9)];
                *bin = (bin.0 + foreseen, bin.1 + 1.0 - fails);
            }
            let error: f64 = bins.iter().map(|bin| (bin.0 - bin.1).abs()).sum();
            let error = error / rest.len() as f64;
            assert!(error < most, "{hosts} hosts after {asked} answers: {error}");
        }
    }

    #[test]
    fn nothing_is_held_against_anybody_before_a_failure() {
        let mut known = Known::default();
        let url = known.urls.insert("https://a.test/", "");
        known.pages.note(url, 0, 200, None);
        let other = known.urls.insert("https://a.test/1", "");
        assert_eq!(chance(&known, 1, other), 1.0);
        // Unchanged pages are none.
        known.pages.note(url, 1, 304, None);
        assert_eq!(chance(&known, 2, other), 1.0);
    }

    #[test]
    fn who_failed_before_is_told_by_others_that_did() {
        let mut known = Known::default();
        let urls: Vec<UrlId> =
            (0..9).map(|at| known.urls.insert(&format!("https://h{at}.test/"), "")).collect();
        for (seq, &url) in (0..).zip(&urls) {
            known.pages.note(url, seq, 503, None);
        }
        assert_eq!(chance(&known, 9, urls[0]), 0.5);
        for (seq, &url) in (9..).zip(&urls[..8]) {
            known.pages.note(url, seq, 200, None);
        }
        assert_eq!(chance(&known, 17, urls[8]), 0.9);
    }
}
