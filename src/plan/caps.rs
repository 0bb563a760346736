//! Caps on how many URLs of one host, registrable domain or site a batch may hold.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use prospect_index::page::UrlId;
use prospect_index::url::{self, SiteLevel};
use prospect_index::url_table::UrlTable;
use serde::{Deserialize, Serialize};

/// Sites of the frontier without which no site is held to a share of the batch.
pub const FEWEST_SITES: usize = 20;

/// Largest numbers of URLs; `None` is no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    /// Of one host.
    pub per_host: Option<usize>,
    /// Of one registrable domain.
    pub per_domain: Option<usize>,
    /// Of one site.
    pub per_site: Option<usize>,
    /// Of one site, as a share of the batch; where the frontier has at least [`FEWEST_SITES`].
    pub site_share: Option<f64>,
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
    /// `site_share`.
    SiteShare,
}

impl Cap {
    /// The option that sets it.
    pub fn option(self) -> &'static str {
        match self {
            Self::Host => "--per-host",
            Self::Domain => "--per-domain",
            Self::Site => "--per-site",
            Self::SiteShare => "--site-share",
        }
    }
}

/// What a cap counts: URLs of the host, domain or site of this name.
pub type Group<'a> = (Cap, Cow<'a, str>);

/// Counts picks against the caps.
pub struct CapCounter<'a> {
    urls: &'a UrlTable,
    site_level: SiteLevel,
    limits: Vec<(Cap, usize)>,
    /// Numbers of the groups seen so far.
    numbers: HashMap<Group<'a>, usize>,
    /// By number of the group: its picks.
    taken: Vec<usize>,
    /// By name of a smallest group: the numbers of the groups that its URLs count for.
    within: HashMap<Cow<'a, str>, Vec<usize>>,
}

impl<'a> CapCounter<'a> {
    /// No pick yet of a batch of `budget` URLs from the `frontier`.
    pub fn new(
        caps: Caps,
        budget: usize,
        frontier: impl Iterator<Item = UrlId>,
        urls: &'a UrlTable,
    ) -> Self {
        let site_level = match (caps.per_site, caps.site_share) {
            (None, None) => SiteLevel::Host,
            _ => SiteLevel::of(urls.ids().map(|id| urls.url(id))),
        };
        let of_share = caps.site_share.filter(|_| has_sites(site_level, frontier, urls));
        let of_share = of_share.map(|share| ((share * budget as f64) as usize).max(1));
        let given = [
            (Cap::Host, caps.per_host),
            (Cap::Domain, caps.per_domain),
            (Cap::Site, caps.per_site),
            (Cap::SiteShare, of_share),
        ];
        let mut limits: Vec<(Cap, usize)> =
            given.into_iter().filter_map(|(cap, most)| Some((cap, most?))).collect();
        limits.sort_by_key(|(cap, _)| size(*cap, site_level));
        let (numbers, within) = (HashMap::new(), HashMap::new());
        Self { urls, site_level, limits, numbers, taken: Vec::new(), within }
    }

    /// Counts a URL, unless a cap holds it back.
    ///
    /// # Errors
    /// The first cap that is exhausted.
    pub fn take(&mut self, id: UrlId) -> Result<(), Cap> {
        let Some(smallest) = self.smallest_group(id) else { return Ok(()) };
        if !self.within.contains_key(&smallest) {
            let groups = self.number_groups(id);
            self.within.insert(smallest.clone(), groups);
        }
        let groups = &self.within[&smallest];
        let full = |(group, (_, most)): &(&usize, &(Cap, usize))| self.taken[**group] >= *most;
        if let Some((_, (cap, _))) = groups.iter().zip(&self.limits).find(full) {
            return Err(*cap);
        }
        for &group in groups {
            self.taken[group] += 1;
        }
        Ok(())
    }

    /// Numbers of the groups that a URL counts for, given now to those that have none.
    fn number_groups(&mut self, id: UrlId) -> Vec<usize> {
        let groups: Vec<Group<'a>> =
            self.limits.iter().map(|&(cap, _)| (cap, self.name(cap, id))).collect();
        let numbers = groups.into_iter().map(|group| {
            *self.numbers.entry(group).or_insert_with(|| {
                self.taken.push(0);
                self.taken.len() - 1
            })
        });
        numbers.collect()
    }

    /// The groups that a URL counts for, each with the places it has left, from the smallest kind of
    /// group to the largest: each lies within the next.
    pub fn left(&self, id: UrlId) -> Vec<(Group<'a>, usize)> {
        let group = |&(cap, most): &(Cap, usize)| {
            let group = (cap, self.name(cap, id));
            let taken = self.numbers.get(&group).map_or(0, |&number| self.taken[number]);
            (group, most.saturating_sub(taken))
        };
        self.limits.iter().map(group).collect()
    }

    /// Name of the smallest group that a URL counts for; none where there are no caps.
    pub fn smallest_group(&self, id: UrlId) -> Option<Cow<'a, str>> {
        self.limits.first().map(|(cap, _)| self.name(*cap, id))
    }

    fn name(&self, cap: Cap, id: UrlId) -> Cow<'a, str> {
        let address = self.urls.url(id);
        match cap {
            Cap::Host => Cow::Borrowed(url::host(address)),
            Cap::Domain => Cow::Borrowed(url::registrable_domain(url::host(address))),
            Cap::Site | Cap::SiteShare => Cow::Owned(self.site_level.site(address)),
        }
    }
}

/// Kinds of groups from the smallest to the largest.
fn size(cap: Cap, site_level: SiteLevel) -> u8 {
    match (cap, site_level) {
        (Cap::Site | Cap::SiteShare, SiteLevel::Directory) => 0,
        (Cap::Host, _) => 1,
        (Cap::Site | Cap::SiteShare, SiteLevel::Host) => 2,
        (Cap::Domain, _) => 3,
        (Cap::Site | Cap::SiteShare, SiteLevel::Domain) => 4,
    }
}

/// Whether there are enough sites that none needs more than a share of the batch.
fn has_sites(level: SiteLevel, frontier: impl Iterator<Item = UrlId>, urls: &UrlTable) -> bool {
    let mut sites = HashSet::new();
    for id in frontier {
        sites.insert(level.site(urls.url(id)));
        if sites.len() == FEWEST_SITES {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// URLs taken of a batch of 40 from `sites` sites of 30 URLs each, and what held back the next.
    fn taken(sites: usize, caps: Caps) -> (usize, Option<Cap>) {
        let mut urls = UrlTable::default();
        let address = |at| format!("https://h{}.test/{at}", at % sites);
        let ids: Vec<UrlId> = (0..30 * sites).map(|at| urls.insert(&address(at), "")).collect();
        let mut counter = CapCounter::new(caps, 40, ids.iter().copied(), &urls);
        let of_first: Vec<Result<(), Cap>> =
            ids.iter().step_by(sites).map(|&id| counter.take(id)).collect();
        let count = of_first.iter().filter(|taken| taken.is_ok()).count();
        (count, of_first.into_iter().find_map(Result::err))
    }

    #[test]
    fn a_site_has_its_share_where_there_are_enough() {
        let share = |share| Caps { site_share: Some(share), ..Caps::default() };
        assert_eq!(taken(FEWEST_SITES, share(0.1)), (4, Some(Cap::SiteShare)));
        assert_eq!(taken(60, share(0.5)), (20, Some(Cap::SiteShare)));
        assert_eq!(taken(60, share(0.0)), (1, Some(Cap::SiteShare)), "one at least");
        assert_eq!(taken(FEWEST_SITES - 1, share(0.1)), (30, None));
        let both = Caps { per_site: Some(3), ..share(0.1) };
        assert_eq!(taken(FEWEST_SITES, both), (3, Some(Cap::Site)));
        assert_eq!(taken(FEWEST_SITES - 1, both), (3, Some(Cap::Site)));
    }
}
