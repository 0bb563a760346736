//! Which URLs may be planned at all. What is out of scope stays known, with its links, and is never planned.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::net::Ipv6Addr;

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::url;
use prospect_index::url_table::UrlTable;
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use super::spellings::{SpellingRule, Spellings, UnderWay};
use crate::estimate::url_parts::{file_type, host_name, writings};

/// Most memory that the expressions of a list may take once they are compiled.
const COMPILED_BYTES: usize = 64 << 20;
/// A scope: expressions are matched anywhere in a URL, in any of its [`writings`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// URLs that match one of these; all where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    include: Vec<String>,
    /// Of them, not those that match one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exclude: Vec<String>,
    /// Of them, those of these types, as the endings of their paths tell; all where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    types: Vec<String>,
    /// Of them, those of these hosts; all where there is none, nor a domain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hosts: Vec<String>,
    /// And those of these domains, which are hosts with all that are below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    domains: Vec<String>,
    /// Differences between URLs that do not matter: one spelling of a page is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    same_page: Vec<SpellingRule>,
}

/// For people: `only A, B; not C; of the types html; one spelling of slash@*`.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { include, exclude, types, hosts, domains, same_page } = self;
        let same_page: Vec<String> = same_page.iter().map(ToString::to_string).collect();
        let parts = [
            ("only ", include),
            ("not ", exclude),
            ("of the types ", types),
            ("of the hosts ", hosts),
            ("of the domains ", domains),
            ("one spelling of ", &same_page),
        ];
        let parts = parts.into_iter().filter(|(_, of)| !of.is_empty());
        let told: Vec<String> =
            parts.map(|(what, of)| format!("{what}{}", of.join(", "))).collect();
        f.write_str(&told.join("; "))
    }
}

/// What of a scope cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    /// An expression, and why.
    #[error("{0}")]
    Expression(String),
    /// More than the name of a host.
    #[error("{0:?} is no name of a host")]
    Host(String),
}

/// A scope that can be asked.
pub(crate) struct CompiledScope {
    include: RegexSet,
    exclude: RegexSet,
    types: Vec<String>,
    hosts: HashSet<String>,
    domains: HashSet<String>,
}

/// What of a scope is given anew; an empty list lifts a limit, and so does an empty name in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeChange {
    /// Expressions.
    pub(crate) include: Option<Vec<String>>,
    /// Expressions.
    pub(crate) exclude: Option<Vec<String>>,
    /// Endings of paths.
    pub(crate) types: Option<Vec<String>>,
    /// Hosts.
    pub(crate) hosts: Option<Vec<String>>,
    /// Domains.
    pub(crate) domains: Option<Vec<String>>,
}

/// Endings in lower case, without the dots before and behind them.
fn endings(given: Vec<String>) -> Vec<String> {
    let endings = given.into_iter().map(|name| name.trim().trim_matches('.').to_ascii_lowercase());
    endings.filter(|name| !name.is_empty()).collect()
}

/// Names of hosts and domains as canonical URLs have them.
///
/// # Errors
/// One is more than a name.
fn names(given: &[String]) -> Result<Vec<String>, ScopeError> {
    let given = given.iter().filter(|name| !name.trim().trim_matches('.').is_empty());
    let name = |given: &String| host_name(given).ok_or_else(|| ScopeError::Host(given.clone()));
    given.map(name).collect()
}

/// Domains, of which some are written as all that is below them.
fn below(given: Vec<String>) -> Vec<String> {
    let bare = |name: String| name.trim().strip_prefix("*.").map(str::to_owned).unwrap_or(name);
    given.into_iter().map(bare).collect()
}

/// Names of hosts and domains of a store; older ones have them as they were written, and what is no name is of no URL.
fn as_stored(names: &[String]) -> HashSet<String> {
    let stored = |name: &String| host_name(name).unwrap_or_else(|| name.clone());
    // As it stands in URLs.
    let bracketed = |name: String| {
        if name.parse::<Ipv6Addr>().is_ok() { format!("[{name}]") } else { name }
    };
    names.iter().map(stored).map(bracketed).collect()
}

impl Scope {
    /// The same with what is given anew.
    ///
    /// # Errors
    /// What is wrong with the first expression that is none.
    pub(crate) fn with(self, change: ScopeChange) -> Result<Self, ScopeError> {
        let ScopeChange { include, exclude, types, hosts, domains } = change;
        let scope = Self {
            include: include.unwrap_or(self.include),
            exclude: exclude.unwrap_or(self.exclude),
            types: types.map_or(self.types, endings),
            hosts: hosts.map_or(Ok(self.hosts), |given| names(&given))?,
            domains: domains.map_or(Ok(self.domains), |given| names(&below(given)))?,
            same_page: self.same_page,
        };
        scope.compile()?;
        Ok(scope)
    }

    /// Whether all URLs are in it, spellings aside.
    fn is_whole(&self) -> bool {
        *self == Self { same_page: self.same_page.clone(), ..Self::default() }
    }

    /// Differences between URLs that do not matter.
    pub(crate) fn same_page(&self) -> &[SpellingRule] {
        &self.same_page
    }

    /// The same with other such rules.
    pub(crate) fn with_same_page(self, same_page: Vec<SpellingRule>) -> Self {
        Self { same_page, ..self }
    }

    /// As a store has it: null if everything is in it.
    ///
    /// # Errors
    /// It cannot be written as JSON.
    pub(crate) fn stored(&self) -> Result<serde_json::Value, serde_json::Error> {
        if self.is_empty() { Ok(serde_json::Value::Null) } else { serde_json::to_value(self) }
    }

    /// Whether everything is in it.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same, to be asked.
    ///
    /// # Errors
    /// See [`Scope::with`].
    pub(crate) fn compile(&self) -> Result<CompiledScope, ScopeError> {
        Ok(CompiledScope {
            include: expressions(&self.include)?,
            exclude: expressions(&self.exclude)?,
            types: self.types.clone(),
            hosts: as_stored(&self.hosts),
            domains: as_stored(&self.domains),
        })
    }

    /// By URL id, whether it may be planned: `within`, if that is not empty, less what is out of scope and other
    /// spellings of what is in it.
    ///
    /// # Errors
    /// See [`Scope::with`].
    pub(crate) fn hold_back(
        &self,
        known: &Known,
        within: Vec<bool>,
        under_way: &UnderWay<'_>,
    ) -> Result<Vec<bool>, ScopeError> {
        let within = self.within(known, within)?;
        Ok(Spellings::new(&self.same_page).hold_back(known, within, under_way))
    }

    /// The other spelling that a URL is not planned for.
    ///
    /// # Errors
    /// See [`Scope::with`].
    pub(crate) fn stand_in(
        &self,
        known: &Known,
        url: UrlId,
        under_way: &UnderWay<'_>,
    ) -> Result<Option<UrlId>, ScopeError> {
        let spellings = Spellings::new(&self.same_page);
        Ok(spellings.stand_in(known, url, &self.within(known, Vec::new())?, under_way))
    }

    /// By URL id, whether it is in scope, of those that may be fetched.
    fn within(&self, known: &Known, mut within: Vec<bool>) -> Result<Vec<bool>, ScopeError> {
        if self.is_whole() {
            return Ok(within);
        }
        let scope = self.compile()?;
        within.resize(known.urls.len(), within.is_empty());
        let may_come =
            |id: &UrlId| known.pages.in_frontier(*id) || known.pages.page_seq(*id).is_some();
        for id in known.urls.ids().filter(may_come) {
            within[id.index()] &= scope.holds(&known.urls, id);
        }
        Ok(within)
    }
}

/// A list of expressions, to be asked which match.
fn expressions(all: &[String]) -> Result<RegexSet, ScopeError> {
    let set = RegexSetBuilder::new(all).size_limit(COMPILED_BYTES).build();
    set.map_err(|error| ScopeError::Expression(error.to_string()))
}

impl CompiledScope {
    /// The hosts, domains and types that no URL is known of, each in their order.
    pub(crate) fn unknown_names(&self, urls: &UrlTable) -> Vec<&str> {
        let [mut hosts, mut domains]: [BTreeSet<&str>; 2] =
            [&self.hosts, &self.domains].map(|names| names.iter().map(String::as_str).collect());
        let mut types: BTreeSet<&str> = self.types.iter().map(String::as_str).collect();
        for id in urls.ids() {
            let address = urls.url(id);
            let host = url::host(address);
            remove(&mut hosts, host);
            remove(&mut domains, host);
            domains_above(host).for_each(|domain| remove(&mut domains, domain));
            remove(&mut types, &file_type(address));
        }
        hosts.into_iter().chain(domains).chain(types).collect()
    }

    /// Whether a URL is in scope.
    pub(crate) fn holds(&self, urls: &UrlTable, id: UrlId) -> bool {
        let address = urls.url(id);
        let is_matched = |by: &RegexSet| {
            !by.is_empty() && writings(urls, id).any(|written| by.is_match(&written))
        };
        (self.include.is_empty() || is_matched(&self.include))
            && !is_matched(&self.exclude)
            && (self.types.is_empty()
                || self.types.iter().any(|name| **name == *file_type(address)))
            && self.holds_host(url::host(address))
    }

    fn holds_host(&self, host: &str) -> bool {
        let mut above = domains_above(host);
        (self.hosts.is_empty() && self.domains.is_empty())
            || self.hosts.contains(host)
            || self.domains.contains(host)
            || above.any(|domain| self.domains.contains(domain))
    }
}

fn remove(names: &mut BTreeSet<&str>, name: &str) {
    names.remove(name);
}

/// Domains that a host is below of.
fn domains_above(host: &str) -> impl Iterator<Item = &str> {
    host.match_indices('.').map(|(dot, _)| &host[dot + 1..])
}

#[cfg(test)]
mod tests {
    use super::super::retries::Retries;
    use super::*;

    /// Whether a scope holds a URL that was seen in this spelling.
    fn holds(scope: &Scope, spelling: &str) -> bool {
        let (mut urls, canonical) = (UrlTable::default(), url::canonical(spelling).unwrap());
        let id = urls.insert(&canonical, spelling);
        scope.compile().unwrap().holds(&urls, id)
    }

    fn check(scope: [&[&str]; 3], address: &str, expected: bool) {
        let [include, exclude, types]: [Vec<String>; 3] =
            scope.map(|all| all.iter().map(|&one| one.to_owned()).collect());
        let change = ScopeChange {
            include: Some(include),
            exclude: Some(exclude),
            types: Some(types),
            ..ScopeChange::default()
        };
        let scope = Scope::default().with(change).unwrap();
        assert_eq!(holds(&scope, address), expected, "{scope:?} {address}");
    }

    #[test]
    fn a_scope_is_what_is_included_less_what_is_excluded_of_some_types() {
        let address = "https://www.a.test/docs/x.pdf?v=1";
        check([&[], &[], &[]], address, true);
        check([&["^https://www[.]a[.]test/"], &[], &[]], address, true);
        check([&["b.test", "a.test"], &[], &[]], address, true);
        check([&["b.test"], &[], &[]], address, false);
        check([&["a.test"], &["/docs/", "never"], &[]], address, false);
        check([&[], &[], &["html"]], address, false);
        check([&[], &[], &[".PDF", "html"]], address, true);
    }

    #[test]
    fn expressions_and_names_may_be_written_as_urls_are_read() {
        let seen = "HTTPS://博物館.example/展示/%E5%85%AC?q=国宝";
        for expression in ["展示", "公", "%E5%B1%95", "^HTTPS://博物館", "^https://xn--", "q=国"]
        {
            check([&[expression], &[], &[]], seen, true);
            check([&[], &[expression], &[]], seen, false);
        }
        check([&["^https://博物館.example/展"], &[], &[]], seen, true);
        check([&["^https://bücher"], &[], &[]], "https://xn--bcher-kva.example/", true);
        // What is escaped of ASCII is no such letter, and another spelling in ASCII is none of its own.
        check([&["/a/b"], &[], &[]], "https://a.test/a%2Fb/%C3%BC", false);
        check([&["ü"], &[], &[]], "https://a.test/a%2Fb/%C3%BC", true);
        check([&["[A-Z]"], &[], &[]], "HTTPS://A.test/", false);
        for no_name in ["https://a.test", "a.test/x", "a.test:81", "x@a.test"] {
            let hosts = Some(vec![no_name.to_owned()]);
            let change = ScopeChange { hosts, ..ScopeChange::default() };
            let error = Scope::default().with(change).unwrap_err().to_string();
            assert_eq!(error, format!("{no_name:?} is no name of a host"));
        }
        let names = Some(vec!["博物館.example".to_owned()]);
        let hosts = ScopeChange { hosts: names.clone(), ..ScopeChange::default() };
        let domains = ScopeChange { domains: names, ..ScopeChange::default() };
        for change in [hosts, domains] {
            assert!(holds(&Scope::default().with(change).unwrap(), seen));
        }
        for address in ["::1", "[::1]"] {
            let hosts = Some(vec![address.to_owned()]);
            let change = ScopeChange { hosts, ..ScopeChange::default() };
            assert!(holds(&Scope::default().with(change).unwrap(), "http://[::1]:8080/x"));
        }
    }

    #[test]
    fn a_scope_that_an_older_store_has_is_read_as_it_was_written() {
        let stored = r#"{"hosts": ["bücher.example", "a.test:81", "https://a.test"]}"#;
        let scope: Scope = serde_json::from_str(stored).unwrap();
        let seen = ["https://xn--bcher-kva.example/", "https://a.test/", "https://a.test:81/"];
        assert_eq!(seen.map(|seen| holds(&scope, seen)), [true, false, false]);
    }

    fn including(expression: &str) -> Result<Scope, ScopeError> {
        let include = Some(vec![expression.to_owned()]);
        Scope::default().with(ScopeChange { include, ..ScopeChange::default() })
    }

    #[test]
    fn what_is_out_of_scope_is_held_back() {
        let retries = Retries::default();
        let under_way = &UnderWay::new(&[], &retries);
        let mut known = Known::default();
        for address in ["https://a.test/1", "https://b.test/1", "https://a.test/2"] {
            known.urls.insert(address, "");
        }
        let scope = including("a.test").unwrap();
        assert_eq!(scope.hold_back(&known, Vec::new(), under_way).unwrap(), [true, false, true]);
        let within = vec![true, true, false];
        assert_eq!(scope.hold_back(&known, within, under_way).unwrap(), [true, false, false]);
        assert!(Scope::default().hold_back(&known, Vec::new(), under_way).unwrap().is_empty());
        assert!(including("(").is_err());
    }

    #[test]
    fn hosts_are_what_they_are_called_and_domains_all_below_them() {
        let names = |all: &[&str]| Some(all.iter().map(|&name| name.to_owned()).collect());
        let change = ScopeChange {
            hosts: names(&["A.test"]),
            domains: names(&["b.test.", "*.c.example.org", ".e.test", ""]),
            ..ScopeChange::default()
        };
        let scope = Scope::default().with(change).unwrap();
        assert_eq!(
            scope.to_string(),
            "of the hosts a.test; of the domains b.test, c.example.org, e.test"
        );
        for address in [
            "https://a.test/",
            "http://b.test:81/x",
            "https://w.x.b.test/",
            "https://c.example.org/?a",
        ] {
            assert!(holds(&scope, address), "{address}");
        }
        for address in [
            "https://www.a.test/",
            "https://bb.test/",
            "https://example.org/?c.example.org",
            "https://test/",
        ] {
            assert!(!holds(&scope, address), "{address}");
        }
        let mut urls = UrlTable::default();
        for known in ["https://b.test/", "https://a.test.test/"] {
            urls.insert(known, "");
        }
        let types = ScopeChange { types: names(&["pdf", "html"]), ..ScopeChange::default() };
        let scope_of_urls = scope.clone().with(types).unwrap().compile().unwrap();
        assert_eq!(
            scope_of_urls.unknown_names(&urls),
            ["a.test", "c.example.org", "e.test", "pdf"]
        );
        let lifted =
            ScopeChange { hosts: names(&[""]), domains: names(&[]), ..ScopeChange::default() };
        assert!(scope.with(lifted).unwrap().is_empty());
    }
}
