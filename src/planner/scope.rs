//! Which URLs may be planned at all. What is out of scope stays known, with its links, and is never planned.

use std::fmt;

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::url;
use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use super::spellings::{SpellingRule, Spellings, UnderWay};

/// Most memory that the expressions of a list may take once they are compiled.
const COMPILED_BYTES: usize = 64 << 20;
/// A scope: expressions are matched anywhere in a canonical URL.
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
    /// Differences between URLs that do not matter: one spelling of a page is planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    same_page: Vec<SpellingRule>,
}

/// For people: `only A, B; not C; of the types html; spellings slash@*`.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { include, exclude, types, same_page } = self;
        let same_page: Vec<String> = same_page.iter().map(ToString::to_string).collect();
        let parts = [
            ("only ", include),
            ("not ", exclude),
            ("of the types ", types),
            ("one spelling of ", &same_page),
        ];
        let parts = parts.into_iter().filter(|(_, of)| !of.is_empty());
        let told: Vec<String> =
            parts.map(|(what, of)| format!("{what}{}", of.join(", "))).collect();
        f.write_str(&told.join("; "))
    }
}

/// An expression of a scope that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ScopeError(String);

/// A scope that can be asked.
pub(crate) struct CompiledScope {
    include: RegexSet,
    exclude: RegexSet,
    types: Vec<String>,
}

impl Scope {
    /// The scope of these expressions and types.
    ///
    /// # Errors
    /// What is wrong with the first expression that is none.
    pub(crate) fn new(
        include: Vec<String>,
        exclude: Vec<String>,
        types: &[String],
    ) -> Result<Self, ScopeError> {
        let types = types.iter().map(|name| name.trim_start_matches('.').to_ascii_lowercase());
        let types = types.collect();
        let scope = Self { include, exclude, types, same_page: Vec::new() };
        scope.compile()?;
        Ok(scope)
    }

    /// The same with other expressions or types where there are any; empty types are none.
    ///
    /// # Errors
    /// See [`Scope::new`].
    pub(crate) fn with(
        self,
        include: Option<Vec<String>>,
        exclude: Option<Vec<String>>,
        types: Option<&[String]>,
    ) -> Result<Self, ScopeError> {
        let types = types.map(|types| types.iter().filter(|name| !name.is_empty()).cloned());
        let new = Self::new(
            include.unwrap_or(self.include),
            exclude.unwrap_or(self.exclude),
            &types.map_or(self.types, Iterator::collect),
        )?;
        Ok(Self { same_page: self.same_page, ..new })
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
    /// See [`Scope::new`].
    pub(crate) fn compile(&self) -> Result<CompiledScope, ScopeError> {
        let compile = |all: &[String]| {
            let set = RegexSetBuilder::new(all).size_limit(COMPILED_BYTES).build();
            set.map_err(|error| ScopeError(error.to_string()))
        };
        Ok(CompiledScope {
            include: compile(&self.include)?,
            exclude: compile(&self.exclude)?,
            types: self.types.clone(),
        })
    }

    /// By URL id, whether it may be planned: `within`, if that is not empty, less what is out of scope and other
    /// spellings of what is in it.
    ///
    /// # Errors
    /// See [`Scope::new`].
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
    /// See [`Scope::new`].
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
        if self.include.is_empty() && self.exclude.is_empty() && self.types.is_empty() {
            return Ok(within);
        }
        let scope = self.compile()?;
        within.resize(known.urls.len(), within.is_empty());
        let may_come =
            |id: &UrlId| known.pages.in_frontier(*id) || known.pages.page_seq(*id).is_some();
        for id in known.urls.ids().filter(may_come) {
            within[id.index()] &= scope.holds(known.urls.url(id));
        }
        Ok(within)
    }
}

impl CompiledScope {
    /// Whether a canonical URL is in scope.
    pub(crate) fn holds(&self, address: &str) -> bool {
        (self.include.is_empty() || self.include.is_match(address))
            && !self.exclude.is_match(address)
            && (self.types.is_empty()
                || self.types.iter().any(|name| **name == *url::file_type(address)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::retries::Retries;
    use super::*;

    fn check(scope: [&[&str]; 3], address: &str, expected: bool) {
        let [include, exclude, types]: [Vec<String>; 3] =
            scope.map(|all| all.iter().map(|&one| one.to_owned()).collect());
        let scope = Scope::new(include, exclude, &types).unwrap();
        assert_eq!(scope.compile().unwrap().holds(address), expected, "{scope:?} {address}");
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
    fn what_is_out_of_scope_is_held_back() {
        let retries = Retries::default();
        let under_way = &UnderWay::new(&[], &retries);
        let mut known = Known::default();
        for address in ["https://a.test/1", "https://b.test/1", "https://a.test/2"] {
            known.urls.insert(address, "");
        }
        let scope = Scope::new(vec!["a.test".to_owned()], Vec::new(), &[]).unwrap();
        assert_eq!(scope.hold_back(&known, Vec::new(), under_way).unwrap(), [true, false, true]);
        let within = vec![true, true, false];
        assert_eq!(scope.hold_back(&known, within, under_way).unwrap(), [true, false, false]);
        assert!(Scope::default().hold_back(&known, Vec::new(), under_way).unwrap().is_empty());
        assert!(Scope::new(vec!["(".to_owned()], Vec::new(), &[]).is_err());
    }
}
