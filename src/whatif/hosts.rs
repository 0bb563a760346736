//! Hosts of URLs, and what scenarios say about them.

use std::borrow::Cow;

use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use super::scenario::{MOST, Scenario, ScenarioError, number};
use crate::estimate::scored_pairs::ScoredPairs;
use crate::estimate::url_parts::host_name;
use crate::planner::revisits::Changes;

/// Hosts of all URLs, numbered in order of appearance. Costs 4 bytes a URL and the names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hosts {
    names: Vec<String>,
    of_url: Vec<u32>,
}

impl Hosts {
    /// Of every URL.
    pub(crate) fn new(urls: &UrlTable) -> Self {
        let mut names = Vec::with_capacity(urls.hosts());
        for id in urls.ids() {
            // The table numbers hosts by their first URLs.
            if urls.host(id) as usize == names.len() {
                names.push(url::host(urls.url(id)).to_owned());
            }
        }
        Self { names, of_url: urls.ids().map(|id| urls.host(id)).collect() }
    }

    /// Number of the host of a URL.
    pub(crate) fn of(&self, url: UrlId) -> usize {
        self.of_url[url.index()] as usize
    }

    /// Names by number.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// By URL of the scored pairs: what its estimate is multiplied with, `by_host` or 0 where it is `fetched`; empty if a
    /// scenario says nothing of hosts and URLs.
    pub(crate) fn factors(
        &self,
        by_host: &[f64],
        scored: &ScoredPairs,
        urls: &UrlTable,
        fetched: &[UrlId],
    ) -> Vec<f64> {
        if by_host.is_empty() && fetched.is_empty() {
            return Vec::new();
        }
        let mut is_fetched = vec![false; urls.len()];
        for url in fetched {
            is_fetched[url.index()] = true;
        }
        let of_host = |url: UrlId| by_host.get(self.of(url)).copied().unwrap_or(1.0);
        let factor = |url: UrlId| if is_fetched[url.index()] { 0.0 } else { of_host(url) };
        scored.urls().par_iter().map(|known| factor(known.url)).collect()
    }

    /// Pages that may be fetched again: none of hosts that are not planned.
    pub(crate) fn changes<'c>(&self, by_host: &[f64], changes: &'c Changes) -> Cow<'c, Changes> {
        if !by_host.contains(&0.0) {
            return Cow::Borrowed(changes);
        }
        let mut changes = changes.clone();
        changes.pages.retain(|page| by_host[self.of(page.url)] > 0.0);
        Cow::Owned(changes)
    }

    /// By host: what a scenario multiplies estimates of its URLs with, 0 where it is not planned; empty if it says nothing of
    /// hosts.
    ///
    /// # Errors
    /// A host that is named is not known, or a factor is out of range.
    pub(crate) fn by_host(&self, scenario: &Scenario) -> Result<Vec<f64>, ScenarioError> {
        let Scenario { exclude_hosts, boost_hosts, .. } = scenario;
        if exclude_hosts.is_empty() && boost_hosts.is_empty() {
            return Ok(Vec::new());
        }
        let mut by_host = vec![1.0; self.names.len()];
        for boost in boost_hosts {
            let by = number("boost-hosts.by", boost.by, MOST)?;
            self.multiply("boost-hosts", &boost.host, by, &mut by_host)?;
        }
        for host in exclude_hosts {
            self.multiply("exclude-hosts", host, 0.0, &mut by_host)?;
        }
        Ok(by_host)
    }

    fn multiply(
        &self,
        key: &str,
        host: &str,
        by: f64,
        by_host: &mut [f64],
    ) -> Result<(), ScenarioError> {
        let domain = host.trim().strip_prefix("*.");
        let no_name = || ScenarioError::new(key, format!("{host:?} is no name of a host"));
        let wanted = host_name(domain.unwrap_or(host)).ok_or_else(no_name)?;
        let below = domain.map(|_| format!(".{wanted}"));
        let is_meant = |name: &str| {
            name == wanted || below.as_ref().is_some_and(|below| name.ends_with(below.as_str()))
        };
        let mut found = false;
        for (name, factor) in self.names.iter().zip(by_host) {
            if is_meant(name) {
                *factor = number(key, *factor * by, MOST)?;
                found = true;
            }
        }
        if found {
            return Ok(());
        }
        Err(ScenarioError::new(key, format!("no URL of the host {host:?} is known")))
    }
}
