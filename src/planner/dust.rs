//! Rules of spelling, proposed from pages whose text was the same: DUST, different URLs with similar text
//! (Bar-Yossef, Keidar, Schonfeld, "Do not crawl in the DUST", WWW 2007).
//!
//! A difference at a host has a pair for it where two fetched spellings that differ by nothing else had the same
//! text, and one against it where they had not; of more than two each beyond the first makes one, compared with
//! the text that most have. "Nothing else" counts what was found not to matter at the host, so that rules are
//! found together: the rounds end when they change no more. Texts are compared as they are, so that pages that
//! tell the time speak against a rule.
//!
//! Pairs of one text alone make no rule: it may be what a site says whatever one asks for. A text at
//! [`MESSAGE_PAGES`] pages or more of a host that no rule could take for one is a message (not found,
//! please log in): it tells nothing. A URL that redirects to another spelling of itself has the text of that.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prospect_index::url;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::spellings::{Difference, Ignored, SpellingRule, Spellings, parameters, without_www};

/// Pages of a host that no rule could take for one, and that say the same, before it is taken for a message.
const MESSAGE_PAGES: usize = 4;
/// A rule is for all hosts when it is found at so many.
const HOSTS: usize = 3;
/// Pages of which a rule has to know: one text under many addresses may be a message.
const PAGES: usize = 2;
/// Rules of a host are found together in so many rounds at most.
const ROUNDS: usize = 5;

/// A URL whose text is known.
pub(crate) struct Answered<'a> {
    /// Canonical URL.
    pub(crate) url: &'a str,
    /// Its text, in one number.
    pub(crate) text: u64,
    /// Where it led to, if it redirects.
    pub(crate) target: Option<&'a str>,
}

/// How well a rule must be supported to be proposed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Support {
    /// Pairs of spellings with the same text.
    pub(crate) pairs: usize,
    /// Their share of all pairs.
    pub(crate) precision: f64,
}

/// What the pages say of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Pairs of spellings with the same text.
    pub(crate) same: usize,
    /// Pairs with different texts.
    pub(crate) other: usize,
    /// Pages with a pair with the same text, whatever their spellings.
    pub(crate) pages: usize,
    /// Hosts with a pair with the same text.
    pub(crate) hosts: usize,
    /// The first such pair.
    pub(crate) example: Option<(String, String)>,
}

impl Evidence {
    /// Share of the pairs that have the same text; 0 without any.
    pub(crate) fn precision(&self) -> f64 {
        self.same as f64 / (self.same + self.other).max(1) as f64
    }

    fn holds(&self, support: Support) -> bool {
        self.same >= support.pairs
            && self.pages >= support.pairs.min(PAGES)
            && self.precision() >= support.precision
    }

    fn add(&mut self, other: &Self) {
        self.same += other.same;
        self.other += other.other;
        self.pages += other.pages;
        self.hosts += other.hosts;
        if self.example.is_none() {
            self.example.clone_from(&other.example);
        }
    }
}

/// A rule, and what the pages say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Supported {
    /// The rule.
    pub(crate) rule: SpellingRule,
    /// What speaks for it, and against it.
    pub(crate) evidence: Evidence,
    /// Whether it was accepted before.
    pub(crate) accepted: bool,
}

/// A page of a host.
struct Page<'a> {
    url: &'a str,
    text: u64,
}

/// Rules that were accepted, in their order, then others that pages support, those with the most pairs first.
pub(crate) fn propose(
    answered: &[Answered<'_>],
    accepted: &[SpellingRule],
    support: Support,
) -> Vec<Supported> {
    let spellings = Spellings::new(accepted);
    let mut hosts: BTreeMap<&str, Vec<&Answered<'_>>> = BTreeMap::new();
    for one in answered {
        hosts.entry(without_www(url::host(one.url))).or_default().push(one);
    }
    let hosts: Vec<(&str, Vec<&Answered<'_>>)> = hosts.into_iter().collect();
    let found: Vec<BTreeMap<Difference, Evidence>> = hosts
        .par_iter()
        .map(|(host, answered)| Host::new(answered).rules(spellings.at(host), support))
        .collect();
    let names = hosts.iter().map(|(host, _)| *host).collect();
    let findings = Findings::new(names, &found, support);
    let known = accepted.iter().map(|rule| Supported {
        rule: rule.clone(),
        evidence: findings.of_rule(rule).cloned().unwrap_or_default(),
        accepted: true,
    });
    let everywhere = findings.everywhere.iter();
    let general = everywhere.filter(|(difference, _)| findings.is_general(difference));
    let general = general.map(|(&difference, evidence)| (None, difference, evidence));
    let of_hosts = hosts.iter().zip(&found).flat_map(|((host, _), found)| {
        found.iter().map(move |(difference, evidence)| (Some(*host), difference, evidence))
    });
    let of_hosts = of_hosts.filter(|(_, difference, evidence)| {
        evidence.holds(support) && !findings.is_general(difference)
    });
    let mut new: Vec<Supported> = general
        .chain(of_hosts)
        .filter(|(host, difference, _)| !spellings.at(host.unwrap_or_default()).holds(difference))
        .filter_map(|(host, difference, evidence)| {
            let (difference, host) = (difference.clone(), host.map(ToOwned::to_owned));
            let rule = SpellingRule { difference, host }.writable()?;
            Some(Supported { rule, evidence: evidence.clone(), accepted: false })
        })
        .collect();
    new.sort_by(|a, b| b.evidence.same.cmp(&a.evidence.same).then_with(|| a.rule.cmp(&b.rule)));
    known.chain(new).collect()
}

/// What pages say of differences, at each host and at all of them.
struct Findings<'a> {
    /// Names of hosts, in order.
    hosts: Vec<&'a str>,
    of_host: &'a [BTreeMap<Difference, Evidence>],
    everywhere: BTreeMap<&'a Difference, Evidence>,
    /// What does matter at some host.
    denied: BTreeSet<&'a Difference>,
    support: Support,
}

impl<'a> Findings<'a> {
    fn new(
        hosts: Vec<&'a str>,
        of_host: &'a [BTreeMap<Difference, Evidence>],
        support: Support,
    ) -> Self {
        let mut everywhere: BTreeMap<&Difference, Evidence> = BTreeMap::new();
        let mut denied: BTreeSet<&Difference> = BTreeSet::new();
        for (difference, evidence) in of_host.iter().flatten() {
            everywhere.entry(difference).or_default().add(evidence);
            if evidence.other >= support.pairs && evidence.precision() < support.precision {
                denied.insert(difference);
            }
        }
        Self { hosts, of_host, everywhere, denied, support }
    }

    /// What is said of a rule; none if that is nothing.
    fn of_rule(&self, rule: &SpellingRule) -> Option<&Evidence> {
        match &rule.host {
            None => self.everywhere.get(&rule.difference),
            Some(host) => {
                let at = self.hosts.binary_search(&host.as_str()).ok()?;
                self.of_host[at].get(&rule.difference)
            }
        }
    }

    /// Whether a difference is ignored at all hosts.
    fn is_general(&self, difference: &Difference) -> bool {
        let evidence = &self.everywhere[difference];
        evidence.hosts >= HOSTS && evidence.holds(self.support) && !self.denied.contains(difference)
    }
}

/// Pages of a host, in the order in which they were fetched.
struct Host<'a> {
    pages: Vec<Page<'a>>,
    /// All that could be ignored of them; of parameters, with the pages that have them.
    differences: Vec<(Difference, Option<Vec<usize>>)>,
}

impl<'a> Host<'a> {
    fn new(answered: &[&Answered<'a>]) -> Self {
        let mut all = Ignored::default();
        for (_, difference) in Difference::NAMED {
            all.insert(difference);
        }
        let stem = |address: &str| stem(&all, address);
        let is_itself =
            |one: &&&Answered<'_>| one.target.is_none_or(|target| stem(one.url) == stem(target));
        let mut stems: HashMap<u64, BTreeSet<u64>> = HashMap::new();
        for one in answered.iter().filter(is_itself) {
            let stems = stems.entry(one.text).or_default();
            if stems.len() < MESSAGE_PAGES {
                stems.insert(stem(one.url));
            }
        }
        let tells = |one: &&&Answered<'_>| stems[&one.text].len() < MESSAGE_PAGES;
        let page = |one: &&Answered<'a>| Page { url: one.url, text: one.text };
        let pages: Vec<Page<'a>> =
            answered.iter().filter(is_itself).filter(tells).map(page).collect();
        let mut having: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, page) in pages.iter().enumerate() {
            let names: BTreeSet<String> = parameters(page.url).collect();
            for name in names {
                having.entry(name).or_default().push(at);
            }
        }
        let named = Difference::NAMED.into_iter().map(|(_, difference)| (difference, None));
        let of_names =
            having.into_iter().map(|(name, pages)| (Difference::Parameter(name), Some(pages)));
        Self { differences: named.chain(of_names).collect(), pages }
    }

    /// What pages say of each difference, beside what was accepted and what else is found.
    fn rules(&self, accepted: &Ignored, support: Support) -> BTreeMap<Difference, Evidence> {
        let mut ignored = accepted.clone();
        let mut found = BTreeMap::new();
        for _ in 0..ROUNDS {
            found = self.evidence(&ignored);
            let mut next = accepted.clone();
            for (difference, _) in found.iter().filter(|(_, evidence)| evidence.holds(support)) {
                next.insert(difference.clone());
            }
            if next == ignored {
                break;
            }
            ignored = next;
        }
        found
    }

    /// What pages say of each difference, where others are ignored; of those alone of which they say something.
    fn evidence(&self, ignored: &Ignored) -> BTreeMap<Difference, Evidence> {
        let mut by_key: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, page) in self.pages.iter().enumerate() {
            by_key.entry(hash(ignored, page.url)).or_default().push(at);
        }
        let said = self.differences.iter().filter_map(|(difference, having)| {
            let more = ignored.with(difference);
            let pages = match having {
                Some(having) => self.with_counterparts(having, &more, &by_key),
                None => (0..self.pages.len()).collect(),
            };
            let evidence = self.compare(&pages, &ignored.without(difference), &more);
            (evidence.same + evidence.other > 0).then(|| (difference.clone(), evidence))
        });
        said.collect()
    }

    /// Pages that have a parameter, and those that are the same without it: `more` ignores it, `by_key` does not.
    fn with_counterparts(
        &self,
        having: &[usize],
        more: &Ignored,
        by_key: &HashMap<u64, Vec<usize>>,
    ) -> BTreeSet<usize> {
        let keys = having.iter().map(|at| hash(more, self.pages[*at].url));
        let keys: BTreeSet<u64> = keys.collect();
        let beside = keys.iter().filter_map(|key| by_key.get(key)).flatten();
        beside.chain(having).copied().collect()
    }

    /// Compares pages that `more` ignores the difference of, and `fewer` does not.
    fn compare(&self, pages: &BTreeSet<usize>, fewer: &Ignored, more: &Ignored) -> Evidence {
        let key =
            |&at: &usize| (hash(more, self.pages[at].url), hash(fewer, self.pages[at].url), at);
        let mut keys: Vec<(u64, u64, usize)> = pages.iter().map(key).collect();
        keys.sort_unstable();
        keys.dedup_by_key(|(more, fewer, _)| (*more, *fewer));
        let mut evidence = Evidence::default();
        let (mut first, mut said) = (usize::MAX, BTreeSet::new());
        for alike in keys.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let mut texts: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for &(_, _, at) in alike {
                texts.entry(self.pages[at].text).or_default().push(at);
            }
            let Some(most) = texts.values().max_by_key(|pages| pages.len()) else { continue };
            evidence.same += most.len() - 1;
            evidence.other += alike.len() - most.len();
            if most.len() > 1 {
                said.insert(self.pages[most[0]].text);
            }
            let mut most = most.clone();
            most.sort_unstable();
            if most.len() > 1 && most[0] < first {
                first = most[0];
                let url = |at: usize| self.pages[most[at]].url.to_owned();
                evidence.example = Some((url(0), url(1)));
            }
        }
        evidence.pages = said.len();
        evidence.hosts = usize::from(evidence.same > 0);
        evidence
    }
}

fn hash(ignored: &Ignored, address: &str) -> u64 {
    xxh3_64(ignored.key(address).as_bytes())
}

/// A hash of an address up to its parameters, in lower case.
fn stem(ignored: &Ignored, address: &str) -> u64 {
    let key = ignored.key(address).to_lowercase();
    let end = key.find(['?', ';']).unwrap_or(key.len());
    xxh3_64(&key.as_bytes()[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPPORT: Support = Support { pairs: 2, precision: 0.8 };

    /// Rules that URLs with texts give, as `rule same other`; a URL after `>` is where one redirects to.
    fn proposed(accepted: &[&str], pages: &[(&str, u64)]) -> Vec<String> {
        let answered: Vec<Answered<'_>> = pages
            .iter()
            .map(|&(url, text)| match url.split_once('>') {
                Some((url, target)) => Answered { url, text, target: Some(target) },
                None => Answered { url, text, target: None },
            })
            .collect();
        let accepted: Vec<SpellingRule> =
            accepted.iter().map(|rule| rule.parse().unwrap()).collect();
        let found = propose(&answered, &accepted, SUPPORT).into_iter().map(|one| {
            let state = if one.accepted { "accepted " } else { "" };
            format!("{state}{} {} {}", one.rule, one.evidence.same, one.evidence.other)
        });
        found.collect()
    }

    /// The same of URLs that are made.
    fn proposed_of(accepted: &[&str], pages: &[(String, u64)]) -> Vec<String> {
        let pages: Vec<(&str, u64)> =
            pages.iter().map(|(url, text)| (url.as_str(), *text)).collect();
        proposed(accepted, &pages)
    }

    #[test]
    fn a_difference_without_a_difference_in_text_is_a_rule() {
        let pages = [
            ("https://a.test/1", 1),
            ("https://a.test/1/", 1),
            ("https://a.test/2", 2),
            ("https://a.test/2/", 2),
            ("http://a.test/1", 1),
        ];
        // One pair of schemes is not enough here.
        assert_eq!(proposed(&[], &pages), ["slash@a.test 2 0"]);
        assert_eq!(proposed(&["slash@a.test"], &pages), ["accepted slash@a.test 2 0"]);
    }

    #[test]
    fn a_parameter_that_chooses_the_page_is_none() {
        let pages = [
            ("https://a.test/?id=1&sid=x", 1),
            ("https://a.test/?id=1&sid=y", 1),
            ("https://a.test/?id=2&sid=z", 2),
            ("https://a.test/?id=2", 2),
            ("https://a.test/?id=3", 3),
        ];
        assert_eq!(proposed(&[], &pages), ["sid=@a.test 2 0"]);
    }

    #[test]
    fn what_cannot_be_written_as_a_rule_is_not_proposed() {
        for name in ["a/b", "x*", "k;l"] {
            let urls: Vec<String> =
                (0..6).map(|at| format!("https://a.test/{}?{name}={}", at / 2, at % 2)).collect();
            let pages: Vec<(&str, u64)> =
                urls.iter().zip(0..).map(|(url, at)| (url.as_str(), at / 2)).collect();
            assert!(proposed(&[], &pages).is_empty(), "{name}");
        }
        let pages = ["https://www./1", "https://www./1/", "https://www./2", "https://www./2/"];
        let pages: Vec<(&str, u64)> = pages.into_iter().zip([1, 1, 2, 2]).collect();
        assert!(proposed(&[], &pages).is_empty());
    }

    #[test]
    fn rules_are_found_together() {
        // No two of them differ by one thing alone until `sid` is ignored.
        let pages = [
            ("https://a.test/1/?sid=1", 1),
            ("https://a.test/1/?sid=2", 1),
            ("https://a.test/1/index.html?sid=3", 1),
            ("https://a.test/2/?sid=4", 2),
            ("https://a.test/2/index.html?sid=5", 2),
            ("https://a.test/2/index.html?sid=6", 2),
        ];
        assert_eq!(proposed(&[], &pages), ["sid=@a.test 4 0", "index@a.test 2 0"]);
    }

    #[test]
    fn what_many_pages_say_is_a_message() {
        let gone: Vec<String> = (0..5).map(|at| format!("https://a.test/{at}/?sid={at}")).collect();
        let mut pages: Vec<(&str, u64)> = gone.iter().map(|url| (url.as_str(), 9)).collect();
        pages.extend([("https://a.test/1/?sid=7", 9), ("https://a.test/2/?sid=8", 9)]);
        assert!(proposed(&[], &pages).is_empty());
        // Of fewer pages it is one text.
        let few = [pages[1], pages[5], pages[2], pages[6]];
        assert!(proposed(&[], &few).is_empty());
        let others = [few[0], few[1], ("https://a.test/x", 3), ("https://a.test/x?sid=1", 3)];
        assert_eq!(proposed(&[], &others), ["sid=@a.test 2 0"]);
    }

    #[test]
    fn a_redirect_to_another_spelling_tells_and_one_elsewhere_does_not() {
        let pages = [
            ("https://a.test/1", 1),
            ("http://a.test/1>https://a.test/1", 1),
            ("https://a.test/2", 2),
            ("http://a.test/2>https://a.test/2", 2),
            ("http://a.test/old/>https://a.test/1", 1),
            ("http://a.test/old>https://a.test/1", 1),
        ];
        assert_eq!(proposed(&[], &pages), ["scheme@a.test 2 0"]);
    }

    #[test]
    fn what_holds_at_three_hosts_and_is_denied_by_none_holds_everywhere() {
        let hosts = ["a", "b", "c", "d"];
        let url = |host: &str, page: &str| format!("https://{host}.test/{page}");
        let mut urls = Vec::new();
        for (at, host) in (1..).zip(&hosts[..3]) {
            urls.extend([(url(host, "?utm=1"), at), (url(host, "?utm=2"), at)]);
        }
        assert_eq!(proposed_of(&[], &urls), ["utm=@* 3 0"]);
        // Who accepted it for all hosts is not asked for one.
        urls.push((url("a", "?utm=3"), 1));
        assert_eq!(proposed_of(&["utm=@*"], &urls), ["accepted utm=@* 4 0"]);
        urls.extend((10..13).map(|at| (url("d", &format!("?utm={at}")), at)));
        // One page is not enough for a host, whatever the number of its spellings.
        assert!(proposed_of(&[], &urls).is_empty());
        urls.extend([(url("a", "x?utm=1"), 9), (url("a", "x"), 9)]);
        assert_eq!(proposed_of(&[], &urls), ["utm=@a.test 3 0"]);
    }
}
