//! Other spellings of one page: rules that tell which differences between two URLs do not matter, and which one
//! of the spellings of a page is planned.
//!
//! URLs that the rules take for one have the same key, which need not be a URL. Of those that were not fetched
//! the one that most pages link to is planned, of those that do not wait after failures, and none where one of them
//! was fetched, led to another of them that was, or is in flight. Of several that were fetched one is fetched again.
//! What is left out stays known, with its links and anchors, which count for the URL that they name alone. Rules
//! come from the pages themselves ([`super::dust`]), and hold where somebody accepted them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Fetch, Known};
use prospect_index::url;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::retries::{Retries, Wait};
use super::within::may;
use crate::estimate::url_parts::{file_type, path};

/// A rule for all hosts.
const EVERYWHERE: &str = "*";
/// Names of files that servers answer with for a directory; their endings are those of pages.
const INDEX_NAMES: [&str; 4] = ["index", "default", "home", "welcome"];

/// A difference between two URLs that may not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Difference {
    /// http or https.
    Scheme,
    /// A host with `www.` or without.
    Www,
    /// Slashes at the end of the path.
    Slash,
    /// A directory or its index file.
    Index,
    /// The order of parameters, and empty ones.
    Order,
    /// A parameter of the query; with `;` before its name, one of the path.
    Parameter(String),
}

impl Difference {
    /// Those without a name of their own.
    pub(crate) const NAMED: [(&'static str, Self); 5] = [
        ("scheme", Self::Scheme),
        ("www", Self::Www),
        ("slash", Self::Slash),
        ("index", Self::Index),
        ("order", Self::Order),
    ];
}

/// A difference that does not matter at a host, written `slash@a.test`, `sid=@a.test` for the parameter `sid`, or
/// `www@*` for all hosts. A host stands for itself with `www.` and without.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct SpellingRule {
    /// What does not matter.
    pub(crate) difference: Difference,
    /// Where; none is everywhere.
    pub(crate) host: Option<String>,
}

/// A rule that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no rule of spelling")]
pub(crate) struct SpellingRuleError(String);

impl fmt::Display for SpellingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.as_deref().unwrap_or(EVERYWHERE);
        if let Difference::Parameter(name) = &self.difference {
            return write!(f, "{name}=@{host}");
        }
        let named = Difference::NAMED.iter().find(|(_, difference)| *difference == self.difference);
        write!(f, "{}@{host}", named.map_or("", |(name, _)| name))
    }
}

impl SpellingRule {
    /// The rule, if it is the same when it is written and read again: pages may have names of parameters, and hosts,
    /// that no rule can name.
    pub(crate) fn writable(self) -> Option<Self> {
        self.to_string().parse().ok().filter(|read| *read == self)
    }
}

impl FromStr for SpellingRule {
    type Err = SpellingRuleError;

    fn from_str(text: &str) -> Result<Self, SpellingRuleError> {
        let error = || SpellingRuleError(text.to_owned());
        let (what, host) = text.trim().rsplit_once('@').ok_or_else(error)?;
        let difference = if let Some(name) = what.strip_suffix('=') {
            Difference::Parameter(parameter(name).ok_or_else(error)?)
        } else {
            let named = Difference::NAMED.into_iter().find(|(name, _)| *name == what);
            named.ok_or_else(error)?.1
        };
        let host = match host {
            EVERYWHERE => None,
            host => Some(host_as_in_urls(host).ok_or_else(error)?),
        };
        Ok(Self { difference, host })
    }
}

impl TryFrom<String> for SpellingRule {
    type Error = SpellingRuleError;

    fn try_from(text: String) -> Result<Self, SpellingRuleError> {
        text.parse()
    }
}

impl From<SpellingRule> for String {
    fn from(rule: SpellingRule) -> Self {
        rule.to_string()
    }
}

/// A host as canonical URLs have it, without `www.`.
fn host_as_in_urls(host: &str) -> Option<String> {
    let address = url::canonical(&format!("http://{host}/")).ok()?;
    let found = without_www(url::host(&address));
    // A user, a port or a path is no host.
    let is_host = address == format!("http://{}/", url::host(&address));
    (is_host && !found.is_empty() && !found.contains('*')).then(|| found.to_owned())
}

/// The name of a parameter as canonical URLs have it.
fn parameter(name: &str) -> Option<String> {
    let (mark, bare) = match name.strip_prefix(';') {
        Some(bare) => (";", bare),
        None => ("", name),
    };
    let is_name = !bare.is_empty() && !bare.contains(['&', '=', '?', '#', '*', ' ', ';', '/']);
    let address = url::canonical(&format!("http://a/?{bare}=")).ok().filter(|_| is_name)?;
    let bare = address.strip_prefix("http://a/?")?.strip_suffix('=')?;
    Some(format!("{mark}{bare}"))
}

/// The host that a rule names for the URLs of a host.
pub(crate) fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// Differences that do not matter at a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ignored(BTreeSet<Difference>);

impl Ignored {
    /// The same and one more.
    pub(crate) fn with(&self, difference: &Difference) -> Self {
        let mut more = self.clone();
        more.0.insert(difference.clone());
        more
    }

    /// The same but one.
    pub(crate) fn without(&self, difference: &Difference) -> Self {
        let mut fewer = self.clone();
        fewer.0.remove(difference);
        fewer
    }

    /// Ignores a difference.
    pub(crate) fn insert(&mut self, difference: Difference) {
        self.0.insert(difference);
    }

    /// Whether it ignores a difference.
    pub(crate) fn holds(&self, difference: &Difference) -> bool {
        self.0.contains(difference)
    }

    fn drops(&self, name: &str) -> bool {
        // Most have no rule for parameters.
        self.0.range(Difference::Parameter(String::new())..).next().is_some()
            && self.holds(&Difference::Parameter(name.to_owned()))
    }

    /// What all spellings of a canonical URL share that differ by what is ignored alone.
    pub(crate) fn key(&self, address: &str) -> String {
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let mut key = String::with_capacity(address.len());
        if !self.holds(&Difference::Scheme) {
            key.push_str(scheme);
        }
        key.push_str("://");
        let www = self.holds(&Difference::Www);
        key.push_str(if www { without_www(authority) } else { authority });
        self.push_path(&mut key, path);
        if let Some(query) = query {
            self.push_query(&mut key, query);
        }
        key
    }

    fn push_path(&self, key: &mut String, path: &str) {
        let start = key.len();
        for (at, segment) in path.split('/').enumerate() {
            if at > 0 {
                key.push('/');
            }
            let mut parts = segment.split(';');
            key.push_str(parts.next().unwrap_or_default());
            for part in parts.filter(|part| !self.drops(&format!(";{}", name_of(part)))) {
                key.push(';');
                key.push_str(part);
            }
        }
        let name = key[start..].rfind('/').map_or(start, |slash| start + slash + 1);
        if self.holds(&Difference::Index) && is_index(&key[name..]) {
            key.truncate(name);
        }
        if self.holds(&Difference::Slash) {
            key.truncate(start + key[start..].trim_end_matches('/').len());
        }
    }

    fn push_query(&self, key: &mut String, query: &str) {
        let order = self.holds(&Difference::Order);
        let is_dropped = |part: &str| order && part.is_empty() || self.drops(name_of(part));
        let mut parts: Vec<&str> = query.split('&').filter(|part| !is_dropped(part)).collect();
        if order {
            parts.sort_unstable();
        }
        for (at, part) in parts.iter().enumerate() {
            key.push(if at == 0 { '?' } else { '&' });
            key.push_str(part);
        }
    }
}

/// The name of a parameter.
fn name_of(part: &str) -> &str {
    part.split_once('=').map_or(part, |(name, _)| name)
}

/// Names of the parameters of a canonical URL, as rules have them; empty ones have none.
pub(crate) fn parameters(address: &str) -> impl Iterator<Item = String> + '_ {
    let query = address.split_once('?').map_or("", |(_, query)| query);
    let of_query = query.split('&').map(|part| name_of(part).to_owned());
    let segments = path(address).split('/');
    let of_path = segments.flat_map(|segment| segment.split(';').skip(1));
    let of_path = of_path.map(|part| format!(";{}", name_of(part)));
    of_query.chain(of_path).filter(|name| !name.trim_start_matches(';').is_empty())
}

/// Whether a file is what servers answer with for its directory.
fn is_index(name: &str) -> bool {
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    INDEX_NAMES.iter().any(|index| stem.eq_ignore_ascii_case(index))
        && file_type(&format!("http://a/{name}")) == "html"
}

/// Rules that can be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spellings {
    everywhere: Ignored,
    /// By host, those for all among them.
    by_host: HashMap<String, Ignored>,
}

impl Spellings {
    /// By some rules.
    pub(crate) fn new(rules: &[SpellingRule]) -> Self {
        let mut everywhere = Ignored::default();
        for rule in rules.iter().filter(|rule| rule.host.is_none()) {
            everywhere.insert(rule.difference.clone());
        }
        let mut by_host: HashMap<String, Ignored> = HashMap::new();
        for rule in rules {
            let Some(host) = &rule.host else { continue };
            let ignored = by_host.entry(host.clone()).or_insert_with(|| everywhere.clone());
            ignored.insert(rule.difference.clone());
        }
        Self { everywhere, by_host }
    }

    /// What does not matter at a host.
    pub(crate) fn at(&self, host: &str) -> &Ignored {
        self.by_host.get(without_www(host)).unwrap_or(&self.everywhere)
    }

    /// What all spellings of a page share; none where no rule holds.
    pub(crate) fn key(&self, address: &str) -> Option<String> {
        let ignored = self.at(url::host(address));
        (!ignored.0.is_empty()).then(|| ignored.key(address))
    }

    /// By URL id, whether it may be planned: `within` (all, if that is empty) less the spellings that another one
    /// stands for.
    pub(crate) fn hold_back(
        &self,
        known: &Known,
        mut within: Vec<bool>,
        under_way: &UnderWay<'_>,
    ) -> Vec<bool> {
        if self.everywhere.0.is_empty() && self.by_host.is_empty() {
            return within;
        }
        let ids: Vec<UrlId> = known.urls.ids().collect();
        let hashed = |&id: &UrlId| Some((xxh3_64(self.key(known.urls.url(id))?.as_bytes()), id));
        let mut keys: Vec<(u64, UrlId)> = ids.par_iter().filter_map(hashed).collect();
        keys.par_sort_unstable();
        within.resize(known.urls.len(), within.is_empty());
        for alike in keys.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let alike = || alike.iter().map(|(_, id)| *id);
            let chosen = self.stands_for(known, &alike(), &within, under_way);
            for id in alike().filter(|id| Some(*id) != chosen) {
                within[id.index()] = false;
            }
        }
        within
    }

    /// The other spelling that a URL of the frontier is not planned for, of all that may be planned (`within`, by
    /// URL id; all, if that is empty).
    pub(crate) fn stand_in(
        &self,
        known: &Known,
        url: UrlId,
        within: &[bool],
        under_way: &UnderWay<'_>,
    ) -> Option<UrlId> {
        let key = self.key(known.urls.url(url)).filter(|_| known.pages.in_frontier(url))?;
        let is_alike = |id: &UrlId| self.key(known.urls.url(*id)).as_ref() == Some(&key);
        let alike: Vec<UrlId> = known.urls.ids().filter(is_alike).collect();
        let chosen = self.stands_for(known, &alike.into_iter(), within, under_way);
        chosen.filter(|chosen| *chosen != url)
    }

    /// The spelling that stands for all of a page; none if none may be planned, and none has to be.
    fn stands_for(
        &self,
        known: &Known,
        alike: &(impl Iterator<Item = UrlId> + Clone),
        within: &[bool],
        under_way: &UnderWay<'_>,
    ) -> Option<UrlId> {
        let is_within = |id: &UrlId| known.pages.in_frontier(*id) && may(within, *id);
        let answered = alike.clone().filter(|id| self.has_answered(known, *id));
        let answered = answered.min_by_key(|id| known.pages.page_seq(*id).is_none());
        let asked = || alike.clone().find(|id| under_way.in_flight.contains(id));
        let to_plan = || best_to_plan(known, alike.clone().filter(is_within), under_way.retries);
        answered.or_else(asked).or_else(to_plan)
    }

    /// Whether a URL gave a page, or led to one that is taken for the same.
    fn has_answered(&self, known: &Known, id: UrlId) -> bool {
        match known.pages.fetch(id) {
            Fetch::Page { .. } => true,
            Fetch::Redirected { seq } => known.pages.record(seq).is_some_and(|(target, _)| {
                let key = |id| self.key(known.urls.url(id));
                known.pages.page_seq(target).is_some() && key(target) == key(id)
            }),
            Fetch::Never | Fetch::Failed { .. } => false,
        }
    }
}

/// Of spellings in the frontier that do not wait that with the most links, of these the shortest, then the first.
fn best_to_plan(
    known: &Known,
    spellings: impl Iterator<Item = UrlId>,
    retries: &Retries,
) -> Option<UrlId> {
    let tries = spellings.map(|id| (id, retries.wait(known, id)));
    let hopeful = tries.filter(|(_, wait)| *wait != Some(Wait::GivenUp));
    let best = hopeful.max_by_key(|(id, wait)| {
        let length = known.urls.url(*id).len();
        (wait.is_none(), known.links.inlinks(*id, u32::MAX), Reverse(length), Reverse(*id))
    });
    best.map(|(id, _)| id)
}

/// What decides between spellings beside their links.
pub(crate) struct UnderWay<'a> {
    /// What was asked for and not reported.
    pub(crate) in_flight: HashSet<UrlId>,
    /// What waits after failed fetches.
    pub(crate) retries: &'a Retries,
}

impl<'a> UnderWay<'a> {
    /// Beside these URLs in flight.
    pub(crate) fn new(in_flight: &[UrlId], retries: &'a Retries) -> Self {
        Self { in_flight: in_flight.iter().copied().collect(), retries }
    }
}

#[cfg(test)]
mod tests {
    use prospect_index::manifest::{CycleEntry, Manifest};

    use super::*;

    fn rules(names: &[&str]) -> Vec<SpellingRule> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn known(urls: &[&str]) -> Known {
        let mut known = Known::default();
        for url in urls {
            known.urls.insert(url, "");
        }
        known
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for name in [
            "scheme@a.test",
            "www@*",
            "slash@127.0.0.1",
            "sid=@a.test",
            ";jsessionid=@*",
            "a@b=@c.test",
        ] {
            assert_eq!(rules(&[name])[0].to_string(), name);
        }
        assert_eq!(rules(&["index@WWW.A.test"]), rules(&["index@a.test"]));
        assert_eq!(rules(&["index@müller.test"])[0].to_string(), "index@xn--mller-kva.test");
        assert_eq!(rules(&["größe=@b.test"])[0].to_string(), "gr%C3%B6%C3%9Fe=@b.test");
        for name in [
            "",
            "slash",
            "@a.test",
            "=@a.test",
            ";=@a.test",
            "slash@",
            "upper@a.test",
            "www@a.test/",
            "slash@www.",
            "slash@a.test:8080",
            "slash@u@a.test",
            "utm_*=@*",
            "a&b=@*",
            "slash@*.test",
        ] {
            assert!(name.parse::<SpellingRule>().is_err(), "{name}");
        }
    }

    /// Checks that a rule makes two spellings one.
    fn check(name: &str, one: &str, other: &str) {
        let spellings = Spellings::new(&rules(&[name]));
        assert_ne!(one, other);
        assert_eq!(spellings.key(one), spellings.key(other), "{name}");
        assert!(Spellings::default().key(one).is_none());
    }

    #[test]
    fn each_rule_makes_its_spellings_one() {
        check("scheme@a.test", "http://a.test/x", "https://a.test/x");
        check("www@a.test", "https://www.a.test/x", "https://a.test/x");
        check("slash@*", "https://a.test/x/", "https://a.test/x");
        check("slash@*", "https://a.test/x//?q=1", "https://a.test/x?q=1");
        for name in ["index.html", "index.php", "Default.aspx", "home.htm", "index"] {
            check("index@a.test", &format!("https://a.test/x/{name}"), "https://a.test/x/");
        }
        check("order@a.test", "https://a.test/?b=2&a=1", "https://a.test/?a=1&b=2");
        check("order@a.test", "https://a.test/?", "https://a.test/");
        check("sid=@a.test", "https://www.a.test/?q=1&sid=x", "https://www.a.test/?q=1");
        check("sid=@a.test", "https://a.test/?sid", "https://a.test/");
        check(";sid=@a.test", "https://a.test/x;sid=1/y;sid=2?q", "https://a.test/x/y?q");
    }

    #[test]
    fn what_no_rule_names_stays_apart() {
        let spellings = Spellings::new(&rules(&["index@a.test", "sid=@a.test", "slash@b.test"]));
        let apart = |one: &str, other: &str| assert_ne!(spellings.key(one), spellings.key(other));
        apart("https://a.test/x/", "https://a.test/x");
        apart("https://a.test/?sid=1", "https://a.test/?tid=1");
        apart("https://a.test/indexes.html", "https://a.test/");
        apart("https://a.test/index.pdf", "https://a.test/");
        apart("https://a.test/x;sid=1", "https://a.test/x");
        assert_eq!(spellings.key("https://c.test/"), None);
    }

    /// Checks which of five URLs may be planned, and that another one stands in for each that may not.
    fn check_planned(known: &Known, within: Vec<bool>, in_flight: &[UrlId], expected: [bool; 5]) {
        let spellings = Spellings::new(&rules(&["slash@a.test", "www@a.test"]));
        let retries = Retries::default();
        let in_flight = &UnderWay::new(in_flight, &retries);
        for at in (0..5).map(UrlId) {
            let stand_in = spellings.stand_in(known, at, &within, in_flight);
            let may = may(&within, at);
            let is_known = !known.pages.in_frontier(at);
            assert!(!may || is_known || stand_in.is_some() != expected[at.index()], "{at:?}");
        }
        assert_eq!(spellings.hold_back(known, within, in_flight), expected);
    }

    #[test]
    fn one_spelling_of_a_page_is_planned() {
        let mut known = known(&[
            "https://a.test/x",
            "https://a.test/x/",
            "https://www.a.test/x/",
            "https://a.test/y",
            "https://a.test/",
        ]);
        known.links.push((UrlId(4), UrlId(1), 0), "x");
        // The one that most pages link to,
        check_planned(&known, Vec::new(), &[], [false, true, false, true, true]);
        // of those that may be planned; the first, if all have as many.
        let within = vec![true, false, true, true, true];
        check_planned(&known, within, &[], [true, false, false, true, true]);
        // None beside one in flight, or one that was fetched or moved.
        check_planned(&known, Vec::new(), &[UrlId(2)], [false, false, true, true, true]);
        let mut failed = known.clone();
        failed.pages.note(UrlId(1), 0, 503, None);
        failed.pages.note(UrlId(2), 1, 404, None);
        check_planned(&failed, Vec::new(), &[], [false, true, false, true, true]);
        let mut fetched = known.clone();
        fetched.pages.note(UrlId(2), 0, 200, None);
        check_planned(&fetched, Vec::new(), &[], [false, false, true, true, true]);
        // One that leads to another spelling has answered, one that leads elsewhere has not.
        fetched.pages.note(UrlId(2), 1, 200, Some(UrlId(0)));
        check_planned(&fetched, Vec::new(), &[], [false, false, true, true, true]);
        let mut moved = known.clone();
        moved.pages.note(UrlId(3), 0, 200, Some(UrlId(2)));
        check_planned(&moved, Vec::new(), &[], [false, true, false, true, true]);
        moved.pages.note(UrlId(0), 1, 301, None);
        check_planned(&moved, Vec::new(), &[], [false, true, false, true, true]);
    }

    #[test]
    fn a_spelling_that_fails_does_not_keep_the_others_from_being_planned() {
        let spellings = Spellings::new(&rules(&["slash@a.test"]));
        let mut known = known(&["https://a.test/x", "https://a.test/x/", "https://b.test/"]);
        known.links.push((UrlId(2), UrlId(0), 0), "x");
        let mut manifest = Manifest::default();
        for cycle in 0..5 {
            let retries = Retries::new(&known, &manifest);
            let may = spellings.hold_back(&known, Vec::new(), &UnderWay::new(&[], &retries));
            // Before the first failure the better linked one, then the other.
            assert_eq!(may, if cycle == 0 { [true, false, true] } else { [false, true, true] });
            manifest.cycles.push(CycleEntry {
                first_seq: cycle,
                plan: Some(cycle.to_string()),
                streamed: false,
            });
            known.pages.note(UrlId(0), cycle, 503, None);
            manifest.next_seq = cycle + 1;
        }
    }
}
