//! Caps on how many URLs of one host, registrable domain or site a batch may hold.
//!
//! The share of a site is there by default, so that no site that looks good takes the whole of a batch
//! before anything is known of the others. It bends where it would only do harm: a crawl that keeps to
//! a site goes on keeping to it, in proportion to the pages fetched so far, and no place of a batch is
//! left empty for its sake. The other caps are for politeness and do not bend.

use std::borrow::Cow;
use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url::{self, SiteLevel};
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

/// Sites of the frontier without which no site is held to a share of the batch.
pub const FEWEST_SITES: usize = 20;

/// Share of a batch that one site may have unless something else is asked for.
pub const SITE_SHARE: f64 = 0.05;

/// Largest numbers of URLs; `None` is no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    /// Of one host.
    pub per_host: Option<usize>,
    /// Of one registrable domain.
    pub per_domain: Option<usize>,
    /// Of one site.
    pub per_site: Option<usize>,
    /// Of one site, as a share of the batch, where the frontier has at least [`FEWEST_SITES`]; more
    /// for a site with a larger share of the pages fetched so far, and where the others have too few
    /// URLs to fill the batch.
    pub site_share: Option<f64>,
}

impl Caps {
    /// A share of the batch as it is given by people: 0 and 1 lift the cap.
    pub fn share(given: f64) -> Option<f64> {
        (given > 0.0 && given < 1.0).then_some(given)
    }
}

/// The crawl so far, as caps see it.
#[derive(Clone, Copy)]
pub struct SoFar<'a> {
    /// Known URLs.
    pub urls: &'a UrlTable,
    /// Pages fetched.
    pub fetched: &'a [UrlId],
    /// What a site is; `None` if that is to be found where a cap needs it.
    pub site_level: Option<SiteLevel>,
}

impl<'a> SoFar<'a> {
    /// Known URLs, none of them fetched.
    pub fn start(urls: &'a UrlTable) -> Self {
        Self { urls, fetched: &[], site_level: None }
    }
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

/// URLs that a cap counts together.
#[derive(Clone, Debug)]
pub struct Group {
    /// The host, domain or site.
    pub name: String,
    /// Place of the cap that counts it.
    kind: usize,
    /// URLs of the frontier in it.
    size: usize,
    /// Pages of it that were fetched.
    fetched: usize,
}

/// The groups of a frontier that caps count. Groups of one kind lie within those of the next larger.
pub struct CapGroups {
    /// Caps that are set and apply, that of the smallest groups first; how many URLs each lets through,
    /// `None` for what depends on the size of the batch.
    kinds: Vec<(Cap, Option<usize>)>,
    site_share: f64,
    /// Pages fetched so far.
    fetched: usize,
    groups: Vec<Group>,
    /// By URL: its smallest group.
    of_url: Vec<u32>,
    /// By smallest group and kind: number of the group that its URLs count for.
    within: Vec<u32>,
}

impl CapGroups {
    /// The groups of a `frontier`.
    pub fn new(caps: Caps, frontier: &[UrlId], so_far: SoFar<'_>) -> Self {
        let level = match (caps.per_site, caps.site_share, so_far.site_level) {
            (None, None, _) => SiteLevel::Host,
            (_, _, Some(level)) => level,
            _ => SiteLevel::of(so_far.urls.ids().map(|id| so_far.urls.url(id))),
        };
        let so_far = SoFar { site_level: Some(level), ..so_far };
        let given = [
            (Cap::Host, caps.per_host.map(Some)),
            (Cap::Domain, caps.per_domain.map(Some)),
            (Cap::Site, caps.per_site.map(Some)),
            (Cap::SiteShare, caps.site_share.map(|_| None)),
        ];
        let mut kinds: Vec<_> =
            given.into_iter().filter_map(|(cap, most)| Some((cap, most?))).collect();
        kinds.sort_by_key(|(cap, _)| size(*cap, level));
        let mut new = Self {
            kinds,
            site_share: caps.site_share.unwrap_or(1.0),
            fetched: so_far.fetched.len(),
            groups: Vec::new(),
            of_url: Vec::new(),
            within: Vec::new(),
        };
        new.number(frontier, so_far, level);
        let shared = new.kinds.iter().position(|(cap, _)| *cap == Cap::SiteShare);
        let sites = new.groups.iter().filter(|group| Some(group.kind) == shared).count();
        if shared.is_some() && sites < FEWEST_SITES {
            return Self::new(Caps { site_share: None, ..caps }, frontier, so_far);
        }
        new
    }

    fn number(&mut self, frontier: &[UrlId], so_far: SoFar<'_>, level: SiteLevel) {
        let SoFar { urls, fetched, .. } = so_far;
        let Some(&(smallest, _)) = self.kinds.first() else { return };
        // A host has one domain, which takes longer to find.
        let part = match (smallest, level) {
            (Cap::Site | Cap::SiteShare, SiteLevel::Directory) => SiteLevel::Directory,
            _ => SiteLevel::Host,
        };
        let hash = |&id: &UrlId| xxh3_128(part.site(urls.url(id)).as_bytes());
        let hashes: Vec<u128> = frontier.par_iter().map(hash).collect();
        let mut of_part: HashMap<u128, u32> = HashMap::new();
        let mut of_smallest: HashMap<u32, u32> = HashMap::new();
        let mut numbers: HashMap<(usize, String), u32> = HashMap::new();
        let mut sizes = Vec::new();
        self.of_url = vec![0; urls.len()];
        for (&id, hash) in frontier.iter().zip(hashes) {
            let smallest = *of_part.entry(hash).or_insert_with(|| {
                let of_kind = |(kind, &(cap, _)): (usize, &(Cap, Option<usize>))| {
                    let name = name(cap, level, urls.url(id)).into_owned();
                    *numbers.entry((kind, name)).or_insert_with_key(|(_, name)| {
                        self.groups.push(Group { name: name.clone(), kind, size: 0, fetched: 0 });
                        self.groups.len() as u32 - 1
                    })
                };
                let groups: Vec<u32> = self.kinds.iter().enumerate().map(of_kind).collect();
                *of_smallest.entry(groups[0]).or_insert_with(|| {
                    self.within.extend(groups);
                    sizes.push(0);
                    sizes.len() as u32 - 1
                })
            });
            self.of_url[id.index()] = smallest;
            sizes[smallest as usize] += 1;
        }
        for (groups, size) in self.within.chunks(self.kinds.len()).zip(sizes) {
            for &group in groups {
                self.groups[group as usize].size += size;
            }
        }
        let hashes: Vec<u128> = fetched.par_iter().map(hash).collect();
        for smallest in hashes.iter().filter_map(|hash| of_part.get(hash)) {
            let start = *smallest as usize * self.kinds.len();
            for &group in &self.within[start..start + self.kinds.len()] {
                self.groups[group as usize].fetched += 1;
            }
        }
    }

    /// Numbers of the groups that URLs of a smallest group count for, the smallest first.
    fn within(&self, smallest: u32) -> &[u32] {
        let start = smallest as usize * self.kinds.len();
        &self.within[start..start + self.kinds.len()]
    }

    /// No pick yet of a batch of `budget` URLs.
    pub fn counter(&self, budget: usize) -> CapCounter<'_> {
        let of_kind = |(kind, &(_, most)): (usize, &(Cap, Option<usize>))| match most {
            Some(most) => (most, 0),
            None => (self.shared(kind, budget), budget),
        };
        let of_kind: Vec<(usize, usize)> = self.kinds.iter().enumerate().map(of_kind).collect();
        let left = |group: &Group| {
            let (most, shared) = of_kind[group.kind];
            most.max(shared * group.fetched / self.fetched.max(1))
        };
        CapCounter { groups: self, left: self.groups.iter().map(left).collect() }
    }

    /// Most URLs of a site of this kind: its share of the budget, more if the others cannot fill it.
    fn shared(&self, kind: usize, budget: usize) -> usize {
        let of_kind = self.groups.iter().filter(|group| group.kind == kind);
        let filling = filling(of_kind.map(|group| group.size).collect(), budget);
        ((self.site_share * budget as f64) as usize).max(filling).max(1)
    }

    /// The smallest group that a URL of the frontier counts for, as a number below
    /// [`Self::smallest_groups`]; 0 where there are no caps.
    pub fn smallest_group(&self, id: UrlId) -> u32 {
        self.of_url.get(id.index()).copied().unwrap_or(0)
    }

    /// How many smallest groups there are; one where there are no caps.
    pub fn smallest_groups(&self) -> u32 {
        self.within.len().checked_div(self.kinds.len()).unwrap_or(1) as u32
    }

    /// Most URLs of a group that a cap lets into a batch of `budget`; none where it is not set or does
    /// not apply.
    pub fn limit(&self, cap: Cap, budget: usize) -> Option<usize> {
        let kind = self.kinds.iter().position(|(of, _)| *of == cap)?;
        Some(self.kinds[kind].1.unwrap_or_else(|| self.shared(kind, budget)))
    }
}

/// Counts picks against the caps.
pub struct CapCounter<'a> {
    /// What is counted.
    pub groups: &'a CapGroups,
    /// By group: how many more URLs it may have.
    left: Vec<usize>,
}

impl CapCounter<'_> {
    /// Counts a URL of the frontier, unless a cap holds it back.
    ///
    /// # Errors
    /// The first cap that is exhausted.
    pub fn take(&mut self, id: UrlId) -> Result<(), Cap> {
        self.take_of(self.groups.smallest_group(id))
    }

    /// Counts a URL of a smallest group, unless a cap holds it back.
    ///
    /// # Errors
    /// The first cap that is exhausted.
    pub fn take_of(&mut self, smallest: u32) -> Result<(), Cap> {
        let groups = self.groups.within(smallest);
        if let Some(kind) = groups.iter().position(|&group| self.left[group as usize] == 0) {
            return Err(self.groups.kinds[kind].0);
        }
        for &group in groups {
            self.left[group as usize] -= 1;
        }
        Ok(())
    }

    /// The groups that URLs of a smallest group count for, by number and name, each with the places it
    /// has left, from the smallest kind of group to the largest: each lies within the next.
    pub fn left(&self, smallest: u32) -> impl Iterator<Item = (u32, &str, usize)> {
        self.groups.within(smallest).iter().map(|&group| {
            let at = group as usize;
            (group, &*self.groups.groups[at].name, self.left[at])
        })
    }
}

fn name(cap: Cap, level: SiteLevel, address: &str) -> Cow<'_, str> {
    match cap {
        Cap::Host => url::host(address).into(),
        Cap::Domain => url::registrable_domain(url::host(address)).into(),
        Cap::Site | Cap::SiteShare => level.site(address),
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

/// Smallest number of URLs that sites of these sizes must be allowed each to make up a batch of
/// `budget`; all that the largest has if they have fewer.
fn filling(mut sizes: Vec<usize>, budget: usize) -> usize {
    sizes.sort_unstable();
    let largest = sizes.last().copied().unwrap_or(0);
    let (mut places, mut sites) = (budget, sizes.len());
    for size in sizes {
        let each = places.div_ceil(sites);
        if size >= each {
            return each;
        }
        places -= size;
        sites -= 1;
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// URLs taken of a batch of 40 from `sites` sites of 30 URLs each, and what held back the next.
    fn taken(sites: usize, caps: Caps) -> (usize, Option<Cap>) {
        let mut urls = UrlTable::default();
        let address = |at| format!("https://h{}.test/{at}", at % sites);
        let ids: Vec<UrlId> = (0..30 * sites).map(|at| urls.insert(&address(at), "")).collect();
        let groups = CapGroups::new(caps, &ids, SoFar::start(&urls));
        let mut counter = groups.counter(40);
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
        assert_eq!((Caps::share(0.0), Caps::share(1.0)), (None, None));
        let both = Caps { per_site: Some(3), ..share(0.1) };
        assert_eq!(taken(FEWEST_SITES, both), (3, Some(Cap::Site)));
        assert_eq!(taken(FEWEST_SITES - 1, both), (3, Some(Cap::Site)));
    }

    #[test]
    fn a_share_is_no_reason_to_leave_places_empty() {
        assert_eq!(filling(vec![5; 4], 10), 3);
        assert_eq!(filling(vec![100, 1, 1, 1], 10), 7);
        assert_eq!(filling(vec![2, 7], 10), 7, "all there is");
        let mut urls = UrlTable::default();
        let of_small = (0..30).map(|site| format!("https://h{site}.test/"));
        let of_large =
            (0..90).flat_map(|page| ["a", "b"].map(|at| format!("https://{at}.test/{page}")));
        let ids: Vec<UrlId> = of_small.chain(of_large).map(|url| urls.insert(&url, "")).collect();
        let caps = Caps { site_share: Some(0.05), ..Caps::default() };
        let so_far = SoFar { site_level: Some(SiteLevel::Host), ..SoFar::start(&urls) };
        for (frontier, budget, most) in [(&ids[..], 40, 5), (&ids, 35, 3), (&ids, 400, 90)] {
            let groups = CapGroups::new(caps, frontier, so_far);
            assert_eq!(groups.limit(Cap::SiteShare, budget), Some(most));
            let mut counter = groups.counter(budget);
            let taken = frontier.iter().filter(|&&id| counter.take(id).is_ok()).count();
            let all = budget.min(ids.len());
            assert!((all..=all + 1).contains(&taken), "{taken} of {budget}");
        }
        // As much as it has of the crawl so far, and its share of the batch is rounded down.
        let of_large = ids[30..36].to_vec();
        let so_far = SoFar { fetched: &of_large, ..so_far };
        let groups = CapGroups::new(caps, &ids, so_far);
        let mut counter = groups.counter(41);
        let taken = ids.iter().filter(|&&id| counter.take(id).is_ok()).count();
        assert_eq!(taken, 30 + 20 + 20);
        let few = CapGroups::new(caps, &ids[20..], so_far);
        assert_eq!(few.limit(Cap::SiteShare, 40), None, "there are 12 sites");
    }
}
