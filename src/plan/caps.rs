//! Caps on how many URLs of one host, registrable domain or site a batch may hold.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url::{self, SiteLevel};
use prospect_index::url_table::UrlTable;
use serde::{Deserialize, Serialize};

/// Largest numbers of URLs; `None` is no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Of one host.
    pub per_host: Option<usize>,
    /// Of one registrable domain.
    pub per_domain: Option<usize>,
    /// Of one site.
    pub per_site: Option<usize>,
}

/// A cap that held a URL back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cap {
    /// `per_host`.
    Host,
    /// `per_domain`.
    Domain,
    /// `per_site`.
    Site,
}

impl Cap {
    /// The option that sets it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Host => "--per-host",
            Self::Domain => "--per-domain",
            Self::Site => "--per-site",
        }
    }
}

/// What a cap counts: URLs of the host, domain or site of this name.
pub type Group = (Cap, String);

/// Counts picks against the caps.
pub struct CapCounter<'a> {
    urls: &'a UrlTable,
    site_level: Option<SiteLevel>,
    limits: Vec<(Cap, usize)>,
    taken: HashMap<Group, usize>,
}

impl<'a> CapCounter<'a> {
    /// No pick yet.
    pub fn new(caps: Caps, urls: &'a UrlTable) -> Self {
        let given = [
            (Cap::Host, caps.per_host),
            (Cap::Domain, caps.per_domain),
            (Cap::Site, caps.per_site),
        ];
        let mut limits: Vec<(Cap, usize)> =
            given.into_iter().filter_map(|(cap, most)| Some((cap, most?))).collect();
        let level = || SiteLevel::of(urls.ids().map(|id| urls.url(id)));
        let site_level = caps.per_site.map(|_| level());
        limits.sort_by_key(|(cap, _)| size(*cap, site_level));
        Self { urls, site_level, limits, taken: HashMap::new() }
    }

    /// Counts a URL, unless a cap holds it back.
    ///
    /// # Errors
    /// The first cap that is exhausted.
    pub fn take(&mut self, id: UrlId) -> Result<(), Cap> {
        let groups = self.left(id);
        if let Some(((cap, _), _)) = groups.iter().find(|(_, left)| *left == 0) {
            return Err(*cap);
        }
        for (group, _) in groups {
            *self.taken.entry(group).or_insert(0) += 1;
        }
        Ok(())
    }

    /// The groups that a URL counts for, each with the places it has left, from the smallest kind of
    /// group to the largest: each lies within the next.
    pub fn left(&self, id: UrlId) -> Vec<(Group, usize)> {
        let address = self.urls.url(id);
        let host = url::host(address);
        let group = |&(cap, most): &(Cap, usize)| {
            let name = match cap {
                Cap::Host => host.to_owned(),
                Cap::Domain => url::registrable_domain(host).to_owned(),
                Cap::Site => self.site_level.unwrap_or(SiteLevel::Host).site(address),
            };
            let group = (cap, name);
            let taken = self.taken.get(&group).copied().unwrap_or(0);
            (group, most.saturating_sub(taken))
        };
        self.limits.iter().map(group).collect()
    }
}

/// Kinds of groups from the smallest to the largest.
fn size(cap: Cap, site_level: Option<SiteLevel>) -> u8 {
    match (cap, site_level) {
        (Cap::Site, Some(SiteLevel::Directory)) => 0,
        (Cap::Host, _) => 1,
        (Cap::Site, Some(SiteLevel::Host) | None) => 2,
        (Cap::Domain, _) => 3,
        (Cap::Site, Some(SiteLevel::Domain)) => 4,
    }
}
