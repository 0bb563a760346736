//! Caps on how many URLs of one host, registrable domain or site a batch may hold.
//!
//! The share of a site is there by default, so that a site which looks good does not take whole batches
//! while nothing is known of others. It bends where it would only do harm: a crawl that keeps to a site
//! goes on keeping to it, in proportion to the pages fetched so far, and no place of a batch is left
//! empty for its sake. The other caps are for politeness and do not bend. What is in flight of other plans takes its time
//! first, and counts for all of them where plans are made to be fetched beside each other: those of one URL each would have
//! no caps otherwise.

use std::borrow::Cow;
use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url;
use prospect_index::url_table::UrlTable;
use rayon::iter::Either;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::polite_time::{PoliteTime, QueueBy, Queues};
use crate::estimate::url_estimate::UrlEstimate;
use crate::estimate::url_parts::SiteLevel;

/// Sites of the frontier without which no site is held to a share of the batch.
pub(crate) const FEWEST_SITES: usize = 20;

/// Share of a batch that one site may have unless something else is asked for.
pub(crate) const SITE_SHARE: f64 = 0.05;

/// Largest numbers of URLs; `None` is no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Caps {
    /// Of one host.
    pub per_host: Option<usize>,
    /// Of one registrable domain.
    pub(crate) per_domain: Option<usize>,
    /// Of one site.
    pub(crate) per_site: Option<usize>,
    /// Of one site, as a share of the batch, where the frontier has at least [`FEWEST_SITES`]; more
    /// for a site with a larger share of the pages fetched so far, and where the others have too few
    /// URLs to fill the batch.
    pub(crate) site_share: Option<f64>,
    /// Whether what is in flight counts as the batch does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) count_in_flight: bool,
    /// What a polite crawler has time for.
    #[serde(flatten)]
    pub(crate) time: PoliteTime,
}

impl Caps {
    /// Most URLs of a frontier that fit under the caps that do not bend, beside those that are in flight.
    pub(crate) fn most_urls(
        self,
        frontier: &[UrlId],
        urls: &UrlTable,
        queues: &Queues,
        in_flight: &[UrlId],
    ) -> usize {
        let so_far = SoFar { queues: Some(queues), in_flight, ..SoFar::start(urls) };
        let groups = CapGroups::new(Self { site_share: None, ..self }, frontier, so_far);
        groups.most_urls().min(frontier.len())
    }

    /// Whether there is one that counts URLs.
    pub(crate) fn any_of_urls(self) -> bool {
        let counted = [self.per_host, self.per_domain, self.per_site];
        self.site_share.is_some() || counted.iter().any(Option::is_some)
    }

    /// A share of the batch as it is given by people: 0 and 1 lift the cap.
    pub(crate) fn share(given: f64) -> Option<f64> {
        (given > 0.0 && given < 1.0).then_some(given)
    }
}

/// The crawl so far, as caps see it.
#[derive(Clone, Copy)]
pub(crate) struct SoFar<'a> {
    /// Known URLs.
    pub(crate) urls: &'a UrlTable,
    /// Pages fetched.
    pub(crate) fetched: &'a [UrlId],
    /// What a site is; `None` if that is to be found where a cap needs it.
    pub(crate) site_level: Option<SiteLevel>,
    /// By URL: the number of its site, if sites of that level were numbered.
    pub(crate) sites: Option<&'a [u32]>,
    /// What is known of a crawler's queues.
    pub(crate) queues: Option<&'a Queues>,
    /// URLs that a crawler has still to ask for: they take their time first, and their places where caps count them.
    pub(crate) in_flight: &'a [UrlId],
}

impl<'a> SoFar<'a> {
    /// Known URLs, none of them fetched.
    pub(crate) fn start(urls: &'a UrlTable) -> Self {
        Self { urls, fetched: &[], site_level: None, sites: None, queues: None, in_flight: &[] }
    }
}

/// A cap that held a URL back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cap {
    /// `per_host`.
    Host,
    /// `per_domain`.
    Domain,
    /// `per_site`.
    Site,
    /// `site_share`.
    SiteShare,
    /// `time`.
    Time,
}

impl Cap {
    /// As settings and scenarios call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Host => "per-host",
            Self::Domain => "per-domain",
            Self::Site => "per-site",
            Self::SiteShare => "site-share",
            Self::Time => "seconds",
        }
    }
}

/// URLs that a cap counts together.
#[derive(Debug)]
struct Group {
    /// The first of them, which tells its host, domain or site.
    first: UrlId,
    /// Its queue, where that is an address.
    queue: Option<String>,
    /// Place of the cap that counts it.
    kind: usize,
    /// Pages of it that were fetched, where its cap is a share.
    fetched: usize,
    /// URLs that there is time for, where its cap is one of time.
    in_time: usize,
    /// URLs of it that are in flight.
    in_flight: usize,
}

/// URLs that count for the same groups.
#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// Those of the frontier, others that are new, and pages that may be fetched again.
    sizes: [usize; 3],
}

/// How many of the sizes of a class count: those of the frontier, of all that is new, or all.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(usize)]
enum Counted {
    Frontier = 1,
    New = 2,
    All = 3,
}

/// How many URLs of a group a cap lets through.
#[derive(Clone, Copy, Debug)]
enum Most {
    /// So many.
    Urls(usize),
    /// At least this share of the batch.
    Share(f64),
    /// As many as there is time for.
    InTime,
}

/// The groups of a frontier that caps count, and its classes of URLs that count for the same groups.
///
/// Groups of one kind lie within those of the next larger, but for queues by address: a domain may have many addresses,
/// and an address many domains. With those, sets that respect the caps are no matroid but the common sets of two
/// (that of the queues, that of the other caps), of which greedy finds at least half of the best.
pub(crate) struct CapGroups {
    /// Caps that are set and apply, that of the smallest groups first.
    kinds: Vec<(Cap, Most)>,
    level: SiteLevel,
    time: PoliteTime,
    /// Pages fetched so far.
    fetched: usize,
    /// URLs in flight, if they count.
    in_flight: usize,
    groups: Vec<Group>,
    classes: Vec<Class>,
    /// Classes, in the order in which they are filled.
    order: Vec<u32>,
    /// By URL: its class.
    of_url: Vec<u32>,
    /// By class and kind: number of the group that its URLs count for.
    within: Vec<u32>,
}

impl Group {
    /// One of which nothing is counted yet, and that takes no time.
    fn new(kind: usize, first: UrlId) -> Self {
        Self { first, queue: None, kind, fetched: 0, in_time: usize::MAX, in_flight: 0 }
    }
}

/// The name of the group of a URL, where its cap is none of time.
fn name(cap: Cap, level: SiteLevel, address: &str) -> Cow<'_, str> {
    match cap {
        Cap::Host | Cap::Time => url::host(address).into(),
        Cap::Domain => url::registrable_domain(url::host(address)).into(),
        Cap::Site | Cap::SiteShare => level.site(address),
    }
}

impl CapGroups {
    /// The groups of a `frontier`.
    pub(crate) fn new(caps: Caps, frontier: &[UrlId], so_far: SoFar<'_>) -> Self {
        Self::with_others(caps, [frontier, &[], &[]], so_far, 0)
    }

    /// The groups of URLs with estimates, and of pages that may be fetched `again`, for a batch of `budget`: no share holds
    /// a new URL back for the sake of such a page.
    pub(crate) fn of(
        caps: Caps,
        urls: &[UrlEstimate],
        again: impl Iterator<Item = UrlId>,
        so_far: SoFar<'_>,
        budget: usize,
    ) -> Self {
        let side = |url: &UrlEstimate| {
            if url.is_welcome() { Either::Left(url.url) } else { Either::Right(url.url) }
        };
        let (frontier, others): (Vec<UrlId>, Vec<UrlId>) = urls.par_iter().partition_map(side);
        let again: Vec<UrlId> = again.collect();
        Self::with_others(caps, [&frontier, &others, &again], so_far, budget)
    }

    /// The groups of a frontier, of others, and of pages that may be fetched again: no share bends to let any of these in,
    /// nor is there one for their sake, while those before them fill the batch of `budget`.
    fn with_others(caps: Caps, urls: [&[UrlId]; 3], so_far: SoFar<'_>, budget: usize) -> Self {
        let level = match (caps.per_site, caps.site_share, so_far.site_level) {
            (None, None, _) => SiteLevel::Host,
            (_, _, Some(level)) => level,
            _ => SiteLevel::of(so_far.urls.ids().map(|id| so_far.urls.url(id))),
        };
        let given = [
            (Cap::Host, caps.per_host.map(Most::Urls)),
            (Cap::Domain, caps.per_domain.map(Most::Urls)),
            (Cap::Site, caps.per_site.map(Most::Urls)),
            (Cap::SiteShare, caps.site_share.map(Most::Share)),
            (Cap::Time, caps.time.seconds.map(|_| Most::InTime)),
        ];
        let mut kinds: Vec<(Cap, Most)> =
            given.into_iter().filter_map(|(cap, most)| Some((cap, most?))).collect();
        kinds.sort_by_key(|(cap, _)| size(*cap, level, caps.time.queue_by));
        let mut new = Self {
            kinds,
            level,
            time: caps.time,
            fetched: so_far.fetched.len(),
            in_flight: if caps.count_in_flight { so_far.in_flight.len() } else { 0 },
            groups: Vec::new(),
            classes: Vec::new(),
            order: Vec::new(),
            of_url: Vec::new(),
            within: Vec::new(),
        };
        let sites = new.number(urls, so_far, level);
        let mut so_many = 0;
        let filled = urls.iter().take_while(|urls| {
            so_many += urls.len();
            so_many < budget
        });
        let sites = sites[filled.count().min(2)];
        if new.share().is_some() && sites < FEWEST_SITES {
            let so_far = SoFar { site_level: Some(level), ..so_far };
            let caps = Caps { site_share: None, ..caps };
            return Self::with_others(caps, urls, so_far, budget);
        }
        new
    }

    /// Place of the cap that is a share.
    fn share(&self) -> Option<usize> {
        self.kinds.iter().position(|(cap, _)| *cap == Cap::SiteShare)
    }

    /// Makes the groups. Returns how many sites the first of these have, the first two, and all, where a share is set.
    fn number(&mut self, all: [&[UrlId]; 3], so_far: SoFar<'_>, level: SiteLevel) -> [usize; 3] {
        let SoFar { urls, fetched, queues, in_flight, .. } = so_far;
        // Who has numbered sites need not tell them by their names where nothing else is counted.
        let is_of_sites = matches!(self.kinds[..], [(Cap::Site | Cap::SiteShare, _)]);
        let numbers = so_far.sites.filter(|_| so_far.site_level == Some(level));
        let sites = numbers.filter(|_| is_of_sites);
        let no_queues = Queues::default();
        let queues = queues.unwrap_or(&no_queues);
        let Some(&(smallest, _)) = self.kinds.first() else { return [0; 3] };
        // URLs of one host are in one group of each kind, but directories are parts of it.
        let directories = size(smallest, level, self.time.queue_by) == DIRECTORY;
        let mut parts = Parts { urls, sites, directories: directories.then(HashMap::new) };
        let groups = self.kinds.iter().map(|(cap, _)| self.groups_by(*cap, numbers, directories));
        let mut numbered = parts.number(all, queues, groups.collect());
        let until = self.add_classes(&mut numbered);
        self.of_url = vec![0; urls.len()];
        for (list, (ids, parts)) in all.into_iter().zip(&numbered.parts).enumerate() {
            for (&id, &part) in ids.iter().zip(parts) {
                // Places of parts were made classes.
                let class = numbered.place[part as usize];
                self.of_url[id.index()] = class;
                self.classes[class as usize].sizes[list] += 1;
            }
        }
        for (&id, kind) in
            in_flight.iter().flat_map(|id| (0..self.kinds.len()).map(move |kind| (id, kind)))
        {
            if self.kinds[kind].0 != Cap::Time && self.in_flight == 0 {
                continue;
            }
            if let Some(group) = self.group_of(&numbered, kind, id) {
                self.groups[group as usize].in_flight += 1;
            }
        }
        self.order_classes(urls);
        let Some(share) = self.share() else { return [0; 3] };
        let mut site_of: HashMap<u32, Option<u32>> = HashMap::new();
        for (&id, part) in fetched.iter().zip(parts.of(fetched)) {
            // The site of a fetched page may be in the frontier by other hosts only.
            let find = || self.group_of(&numbered, share, id);
            if let Some(site) = *site_of.entry(part).or_insert_with(find) {
                self.groups[site as usize].fetched += 1;
            }
        }
        until
    }

    /// Where groups do not lie within one another, classes are filled in the order of the names of their groups, whatever
    /// that of the frontier.
    fn order_classes(&mut self, urls: &UrlTable) {
        let mut order: Vec<u32> = (0..self.classes.len() as u32).collect();
        if self.time.queue_by == QueueBy::Ip && self.has(Cap::Time) {
            let names: Vec<Cow<'_, str>> = self.names(urls).collect();
            let names =
                |class: &u32| self.within(*class).iter().map(|&group| &names[group as usize]);
            order.sort_by(|a, b| names(a).cmp(names(b)));
        }
        self.order = order;
    }

    /// Makes the groups and classes of the parts of a frontier, whose places among them become their classes. Gives the same
    /// as [`Self::number`].
    fn add_classes(&mut self, parts: &mut PartsOfLists<'_>) -> [usize; 3] {
        let kinds = self.kinds.len();
        if parts.sites.is_some() {
            // Each is a group, and a class.
            self.groups = parts.first.iter().map(|&first| Group::new(0, first)).collect();
            self.classes = vec![Class::default(); self.groups.len()];
            self.within = (0..self.groups.len() as u32).collect();
            return parts.until;
        }
        let is_named = |by: &GroupsBy<'_>| matches!(by, GroupsBy::Name(_));
        let names = (0..kinds).map(|kind| {
            let named = if is_named(&parts.groups[kind]) { &parts.first[..] } else { &[] };
            named.par_iter().map(|&first| self.name_in(parts, kind, first)).collect()
        });
        let names: Vec<Vec<Cow<'_, str>>> = names.collect();
        // Where each part is a group, each is a class.
        let is_own = parts.groups.iter().any(|by| matches!(by, GroupsBy::Part));
        let (mut groups, mut of_groups) = (Vec::new(), HashMap::new());
        let (share, mut sites) = (self.share(), 0);
        let (mut classes, mut sites_until) = (Vec::new(), Vec::new());
        for at in 0..parts.first.len() {
            let before = self.groups.len();
            self.groups_of(at, &names, parts, &mut groups);
            let new = self.groups[before..].iter();
            sites += new.filter(|group| Some(group.kind) == share).count();
            sites_until.push(sites);
            let next = self.classes.len() as u32;
            let same = if is_own { None } else { of_groups.get(&groups).copied() };
            classes.push(same.unwrap_or(next));
            if same.is_none() {
                self.within.extend(&groups);
                self.classes.push(Class::default());
                if !is_own {
                    of_groups.insert(groups.clone(), next);
                }
            }
        }
        let places = parts.place.iter_mut().filter(|place| **place != NONE);
        places.for_each(|place| *place = classes[*place as usize]);
        parts.until.map(|until| until.checked_sub(1).map_or(0, |last| sites_until[last]))
    }

    /// The name of the group of a URL of a kind.
    fn name_in<'u>(&self, parts: &PartsOfLists<'u>, kind: usize, id: UrlId) -> Cow<'u, str> {
        match self.kinds[kind].0 {
            Cap::Time => self.time.queue(parts.urls.url(id), parts.queues).into(),
            cap => name(cap, self.level, parts.urls.url(id)),
        }
    }

    /// The group of a kind that a URL is in, if one of the lists is; their places were made classes.
    fn group_of(&self, parts: &PartsOfLists<'_>, kind: usize, id: UrlId) -> Option<u32> {
        if let Some(sites) = parts.sites {
            let class = parts.place.get(sites[id.index()] as usize).filter(|class| **class != NONE);
            return class.map(|&class| self.within(class)[kind]);
        }
        match &parts.groups[kind] {
            GroupsBy::Part => {
                let class = parts.place.get(parts.urls.host(id) as usize);
                class.filter(|class| **class != NONE).map(|&class| self.within(class)[kind])
            }
            GroupsBy::Site(numbers, of) => {
                of.get(numbers[id.index()] as usize).copied().filter(|&group| group != NONE)
            }
            GroupsBy::Name(of) => of.get(&self.name_in(parts, kind, id)).copied(),
        }
    }

    /// What groups of a cap are told apart by, where parts are `directories` or hosts.
    fn groups_by<'u>(&self, cap: Cap, sites: Option<&'u [u32]>, directories: bool) -> GroupsBy<'u> {
        let is_of_sites = matches!(cap, Cap::Site | Cap::SiteShare);
        match (size(cap, self.level, self.time.queue_by), sites) {
            (1 | 2, _) if !directories => GroupsBy::Part,
            (_, Some(sites)) if is_of_sites => GroupsBy::Site(sites, Vec::new()),
            _ => GroupsBy::Name(HashMap::new()),
        }
    }

    /// A group of a kind, of which nothing is counted yet, with its first URL.
    fn group(&self, kind: usize, first: UrlId, parts: &PartsOfLists<'_>) -> Group {
        let group = Group::new(kind, first);
        if self.kinds[kind].0 != Cap::Time {
            return group;
        }
        let is_address = self.time.queue_by == QueueBy::Ip;
        if !is_address && parts.queues.names().next().is_none() {
            // All have the same delay.
            return Group { in_time: self.time.most(self.time.delay), ..group };
        }
        let queue = self.time.queue(parts.urls.url(first), parts.queues);
        let in_time = self.time.most(self.time.delay_of(queue, parts.queues));
        Group { queue: is_address.then(|| queue.to_owned()), in_time, ..group }
    }

    /// Puts the numbers of the groups of a part, one of each kind, into `groups`; `names` are by kind, by part. Those that are
    /// not there yet are made.
    fn groups_of<'u>(
        &mut self,
        part: usize,
        names: &[Vec<Cow<'u, str>>],
        parts: &mut PartsOfLists<'u>,
        groups: &mut Vec<u32>,
    ) {
        groups.clear();
        let first = parts.first[part];
        for (kind, names) in names.iter().enumerate() {
            let next = self.groups.len() as u32;
            let number = match &mut parts.groups[kind] {
                GroupsBy::Part => next,
                GroupsBy::Site(numbers, of) => {
                    let site = numbers[first.index()] as usize;
                    of.resize(of.len().max(site + 1), NONE);
                    let group = &mut of[site];
                    *group = if *group == NONE { next } else { *group };
                    *group
                }
                GroupsBy::Name(of) => *of.entry(names[part].clone()).or_insert(next),
            };
            groups.push(number);
            if number == next {
                self.groups.push(self.group(kind, first, parts));
            }
        }
    }

    /// Names of the groups, by number.
    pub(super) fn names<'n>(
        &'n self,
        urls: &'n UrlTable,
    ) -> impl IndexedParallelIterator<Item = Cow<'n, str>> {
        self.groups.par_iter().map(|group| match (&group.queue, self.kinds[group.kind].0) {
            (Some(queue), _) => queue.into(),
            (None, Cap::Time) if self.time.queue_by == QueueBy::Domain => {
                name(Cap::Domain, self.level, urls.url(group.first))
            }
            (None, cap) => name(cap, self.level, urls.url(group.first)),
        })
    }

    /// Numbers of the groups that URLs of a class count for, the smallest first.
    pub(super) fn within(&self, class: u32) -> &[u32] {
        let start = class as usize * self.kinds.len();
        &self.within[start..start + self.kinds.len()]
    }

    /// No pick yet of a batch of `budget` URLs.
    pub(crate) fn counter(&self, budget: usize) -> CapCounter<'_> {
        let mut left = self.limits(budget, 0);
        if self.share().is_some() && self.most(&left, Counted::Frontier) < budget {
            let whole = self.limits(budget, usize::MAX);
            let possible = |counted| budget.min(self.most(&whole, counted));
            let (new, all) = (possible(Counted::New), possible(Counted::All));
            // The others count only where there is no other way to fill the batch.
            let is_full = possible(Counted::Frontier) == new;
            let counted = if is_full { Counted::Frontier } else { Counted::New };
            let mut least = self.least(budget, new, counted);
            if new < all {
                least = least.max(self.least(budget, all, Counted::All));
            }
            left = self.limits(budget, least);
        }
        CapCounter { groups: self, left }
    }

    /// Fewest URLs that any site may have at least, so that a batch of `budget` can have so many of those that are counted.
    fn least(&self, budget: usize, urls: usize, counted: Counted) -> usize {
        let (mut low, mut high) = (0, budget.saturating_add(self.in_flight));
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if self.most(&self.limits(budget, middle), counted) < urls {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// By group: most URLs of it in a batch of `budget`, where a site may have `least` in any case.
    fn limits(&self, budget: usize, least: usize) -> Vec<usize> {
        self.groups.iter().map(|group| self.limit(group, budget, least)).collect()
    }

    /// The same of one group, of which some may be in flight.
    fn limit(&self, group: &Group, budget: usize, least: usize) -> usize {
        let most = match self.kinds[group.kind].1 {
            Most::Urls(most) => most,
            Most::InTime => group.in_time,
            Most::Share(share) => {
                let all = budget.saturating_add(self.in_flight);
                // What is meant as a whole number of URLs may be a hair less in binary.
                let before = all as u128 * group.fetched as u128 / self.fetched.max(1) as u128;
                ((share * all as f64 + 1e-9) as usize).max(before as usize).max(least).max(1)
            }
        };
        if most == usize::MAX { most } else { most.saturating_sub(group.in_flight) }
    }

    /// URLs of those that are counted that a batch can have under limits by group, if it takes of one class after the
    /// other what they let through: the most there can be where greedy is optimal, else half of that at least.
    fn most(&self, limits: &[usize], counted: Counted) -> usize {
        let mut left = limits.to_vec();
        let mut sum = 0;
        for &class in &self.order {
            let Class { sizes } = self.classes[class as usize];
            let within = self.within(class);
            let size: usize = sizes[..counted as usize].iter().sum();
            let taken = within.iter().fold(size, |most, &group| most.min(left[group as usize]));
            for &group in within {
                left[group as usize] -= taken;
            }
            sum += taken;
        }
        sum
    }

    /// Most URLs that a batch of any size can have.
    pub(crate) fn most_urls(&self) -> usize {
        if self.kinds.is_empty() {
            return usize::MAX;
        }
        self.most(&self.limits(usize::MAX, usize::MAX), Counted::All)
    }

    /// The class of a URL of the frontier, below [`Self::class_count`]; 0 where there are no caps.
    pub(crate) fn class(&self, id: UrlId) -> u32 {
        self.of_url.get(id.index()).copied().unwrap_or(0)
    }

    /// How many classes there are; one where there are no caps.
    pub(crate) fn class_count(&self) -> u32 {
        if self.kinds.is_empty() { 1 } else { self.classes.len() as u32 }
    }

    /// Whether a cap is set and applies.
    pub(crate) fn has(&self, cap: Cap) -> bool {
        self.kinds.iter().any(|(of, _)| *of == cap)
    }
}

/// Hosts, their first directories, or sites, by number.
struct Parts<'a> {
    urls: &'a UrlTable,
    /// By URL: its site, where these are looked at.
    sites: Option<&'a [u32]>,
    /// By hash of a directory: its number; none for hosts.
    directories: Option<HashMap<u128, u32>>,
}

/// No place.
const NONE: u32 = u32::MAX;

/// The parts that the URLs of lists lie in, and the groups that these are in.
struct PartsOfLists<'a> {
    urls: &'a UrlTable,
    queues: &'a Queues,
    /// By URL: its site, where these are the parts, and the groups.
    sites: Option<&'a [u32]>,
    /// By list, by URL: its part.
    parts: [Vec<u32>; 3],
    /// The first URL of each part, in the order in which parts come.
    first: Vec<UrlId>,
    /// By part: its place among these, or [`NONE`].
    place: Vec<u32>,
    /// How many of these come in the lists until each.
    until: [usize; 3],
    /// By kind: its groups, where parts are no sites.
    groups: Vec<GroupsBy<'a>>,
}

/// Groups of a kind, by what tells them apart.
enum GroupsBy<'a> {
    /// Each part is one: both are hosts.
    Part,
    /// Numbers of sites by URL, and by these the groups, or [`NONE`].
    Site(&'a [u32], Vec<u32>),
    /// Their names.
    Name(HashMap<Cow<'a, str>, u32>),
}

impl<'a> Parts<'a> {
    /// The parts of these lists, for kinds of groups of which there is none yet.
    fn number(
        &mut self,
        all: [&[UrlId]; 3],
        queues: &'a Queues,
        groups: Vec<GroupsBy<'a>>,
    ) -> PartsOfLists<'a> {
        let parts = all.map(|ids| self.of(ids));
        let (mut first, mut place) = (Vec::new(), Vec::new());
        let until = [0, 1, 2].map(|list| {
            for (&id, &part) in all[list].iter().zip(&parts[list]) {
                let part = part as usize;
                if place.len() <= part {
                    place.resize(part + 1, NONE);
                }
                if place[part] == NONE {
                    place[part] = first.len() as u32;
                    first.push(id);
                }
            }
            first.len()
        });
        let (urls, sites) = (self.urls, self.sites);
        PartsOfLists { urls, queues, sites, parts, first, place, until, groups }
    }

    /// The part that each of these URLs lies in.
    fn of(&mut self, ids: &[UrlId]) -> Vec<u32> {
        if let Some(sites) = self.sites {
            return ids.par_iter().map(|id| sites[id.index()]).collect();
        }
        let urls = self.urls;
        let Some(numbers) = &mut self.directories else {
            return ids.par_iter().map(|&id| urls.host(id)).collect();
        };
        let site = |&id: &UrlId| SiteLevel::Directory.site(urls.url(id));
        let hashes: Vec<u128> = ids.par_iter().map(|id| xxh3_128(site(id).as_bytes())).collect();
        let mut parts = Vec::with_capacity(ids.len());
        for hash in hashes {
            let next = numbers.len() as u32;
            parts.push(*numbers.entry(hash).or_insert(next));
        }
        parts
    }
}

/// Counts picks against the caps.
#[derive(Clone)]
pub(crate) struct CapCounter<'a> {
    /// What is counted.
    pub(crate) groups: &'a CapGroups,
    /// By group: how many more URLs it may have.
    left: Vec<usize>,
}

impl CapCounter<'_> {
    /// Counts a URL of the frontier, unless a cap holds it back.
    ///
    /// # Errors
    /// The first cap that is exhausted.
    pub(crate) fn take(&mut self, id: UrlId) -> Result<(), Cap> {
        let groups = self.groups.within(self.groups.class(id));
        if let Some(kind) = groups.iter().position(|&group| self.left[group as usize] == 0) {
            return Err(self.groups.kinds[kind].0);
        }
        for &group in groups {
            self.left[group as usize] -= 1;
        }
        Ok(())
    }

    /// The groups that URLs of a class count for, each with the places it has left, from the smallest kind of group to the
    /// largest.
    pub(crate) fn left(&self, class: u32) -> impl Iterator<Item = (u32, usize)> {
        let groups = self.groups.within(class).iter();
        groups.map(|&group| (group, self.left[group as usize]))
    }
}

/// The size of groups that are parts of hosts.
const DIRECTORY: u8 = 0;

/// Kinds of groups from the smallest to the largest.
fn size(cap: Cap, site_level: SiteLevel, queue_by: QueueBy) -> u8 {
    match (cap, site_level, queue_by) {
        (Cap::Site | Cap::SiteShare, SiteLevel::Directory, _) => DIRECTORY,
        (Cap::Host, ..) | (Cap::Time, _, QueueBy::Host) => 1,
        (Cap::Site | Cap::SiteShare, SiteLevel::Host, _) => 2,
        (Cap::Domain, ..) | (Cap::Time, _, QueueBy::Domain) => 3,
        (Cap::Site | Cap::SiteShare, SiteLevel::Domain, _) => 4,
        (Cap::Time, _, QueueBy::Ip) => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::features::sites::Sites;

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
    fn sites_that_are_numbered_count_as_those_that_are_named_do() {
        for (domains, hosts, directories) in [(80, 1, 1), (3, 30, 1), (2, 2, 40), (2, 2, 2)] {
            let mut urls = UrlTable::default();
            for at in 0..1_500 {
                let (domain, host) = (at * at % domains, at % hosts);
                let (directory, of) = (at / 7 % directories, format!("h{host}.d{domain}.test"));
                urls.insert(&format!("https://{of}/{directory}/{at}"), "");
            }
            let mut sites = Sites::default();
            sites.update(&urls);
            let numbers = sites.of_urls();
            let ids: Vec<UrlId> = urls.ids().collect();
            let (fetched, ids) = ids.split_at(300);
            let (in_flight, ids) = ids.split_at(50);
            let delays = Queues::parse_delays("h1.d1.test 4\nd2.test 0.5\n").unwrap();
            let queues = Some(&delays);
            let site_level = sites.level();
            let named = SoFar { fetched, site_level, queues, in_flight, ..SoFar::start(&urls) };
            let numbered = SoFar { sites: Some(&numbers), ..named };
            let lists = [&ids[..400], &ids[400..900], fetched];
            let time = PoliteTime { seconds: Some(20.0), ..PoliteTime::default() };
            for caps in [
                TWENTIETH,
                Caps { count_in_flight: true, ..TWENTIETH },
                Caps { per_host: Some(3), ..TWENTIETH },
                Caps { per_site: Some(5), site_share: None, ..TWENTIETH },
                Caps { per_domain: Some(30), ..TWENTIETH },
                Caps { time, ..TWENTIETH },
                Caps { time: PoliteTime { queue_by: QueueBy::Domain, ..time }, ..TWENTIETH },
            ] {
                for budget in [40, 1_000] {
                    let [by_name, by_number] = [named, numbered].map(|so_far| {
                        let groups = CapGroups::with_others(caps, lists, so_far, budget);
                        let mut counter = groups.counter(budget);
                        let taken = lists.concat().into_iter().map(|id| counter.take(id));
                        (taken.collect::<Vec<_>>(), groups.class_count())
                    });
                    assert_eq!(by_name, by_number, "{caps:?} {budget}");
                }
            }
        }
    }

    /// 30 sites of one URL each, then two of 90, named a and b.
    fn small_and_large() -> (UrlTable, Vec<UrlId>) {
        let mut urls = UrlTable::default();
        let of_small = (0..30).map(|site| format!("https://www.h{site}.test/"));
        let of_large = (0..90)
            .flat_map(|page| ["a", "b"].map(|site| format!("https://www.{site}.test/{page}")));
        let ids = of_small.chain(of_large).map(|url| urls.insert(&url, "")).collect();
        (urls, ids)
    }

    /// URLs taken of the small sites, of a and of b, of a batch that nothing but caps ends.
    fn taken_of(groups: &CapGroups, ids: &[UrlId], budget: usize) -> [usize; 3] {
        let mut counter = groups.counter(budget);
        let mut taken = [0; 3];
        for (at, &id) in ids.iter().enumerate() {
            let site = if at < 30 { 0 } else { 1 + at % 2 };
            taken[site] += usize::from(counter.take(id).is_ok());
        }
        taken
    }

    const TWENTIETH: Caps = Caps {
        per_host: None,
        per_domain: None,
        per_site: None,
        site_share: Some(0.05),
        count_in_flight: false,
        time: PoliteTime::UNLIMITED,
    };

    #[test]
    fn a_batch_ends_in_time_and_leaves_no_queue_idle() {
        let mut urls = UrlTable::default();
        let address = |at| format!("https://www.h{}.test/{at}", at % 7);
        let ids: Vec<UrlId> = (0..700).map(|at| urls.insert(&address(at), "")).collect();
        let delays = Queues::parse_delays("www.h0.test 4\nh1.test 0.25\n").unwrap();
        for (queue_by, expected) in [
            (QueueBy::Host, [15, 60, 60, 60, 60, 60, 60]),
            (QueueBy::Domain, [60, 100, 60, 60, 60, 60, 60]),
        ] {
            let time = PoliteTime { seconds: Some(60.0), queue_by, ..PoliteTime::default() };
            let so_far = SoFar { queues: Some(&delays), ..SoFar::start(&urls) };
            let caps = Caps { time, ..Caps::default() };
            let groups = CapGroups::new(caps, &ids, so_far);
            let mut counter = groups.counter(700);
            let taken: Vec<UrlId> =
                ids.iter().copied().filter(|&id| counter.take(id).is_ok()).collect();
            let of_host = |host| taken.iter().filter(|id| id.index() % 7 == host).count();
            assert_eq!([0, 1, 2, 3, 4, 5, 6].map(of_host), expected);
            assert_eq!(groups.most_urls(), taken.len());
            let (_, last) =
                time.schedule(taken.iter().map(|&id| urls.url(id)), &delays, std::iter::empty());
            assert!(last.seconds <= 60.0 && last.seconds > 59.0, "{last:?}");
        }
    }

    #[test]
    fn a_share_is_no_reason_to_leave_places_empty() {
        let (urls, ids) = small_and_large();
        for level in [SiteLevel::Host, SiteLevel::Domain] {
            let so_far = SoFar { site_level: Some(level), ..SoFar::start(&urls) };
            let groups = CapGroups::new(TWENTIETH, &ids, so_far);
            assert_eq!(taken_of(&groups, &ids, 0), [30, 1, 1]);
            assert_eq!(taken_of(&groups, &ids, 32), [30, 1, 1]);
            assert_eq!(taken_of(&groups, &ids, 35), [30, 3, 3]);
            assert_eq!(taken_of(&groups, &ids, 40), [30, 5, 5]);
            assert_eq!(taken_of(&groups, &ids, 200), [30, 85, 85]);
            assert_eq!(taken_of(&groups, &ids, 400), [30, 90, 90]);
            // Other caps leave less to fill it with.
            let caps = Caps { per_host: Some(20), ..TWENTIETH };
            let groups = CapGroups::new(caps, &ids, so_far);
            assert_eq!(taken_of(&groups, &ids, 40), [30, 5, 5]);
            assert_eq!(taken_of(&groups, &ids, 400), [30, 20, 20]);
            let few = CapGroups::new(TWENTIETH, &ids[20..], so_far);
            assert!(groups.has(Cap::SiteShare) && !few.has(Cap::SiteShare), "12 sites are few");
        }
        // Sites of which most URLs are on hosts that are full leave their places to others.
        let mut urls = UrlTable::default();
        let full = (0..60)
            .flat_map(|site| (0..50).map(move |page| format!("https://www.h{site}.test/{page}")));
        let wide = (0..1_000).map(|host| format!("https://h{host}.wide.test/"));
        let ids: Vec<UrlId> = full.chain(wide).map(|url| urls.insert(&url, "")).collect();
        let so_far = SoFar { site_level: Some(SiteLevel::Domain), ..SoFar::start(&urls) };
        let groups = CapGroups::new(Caps { per_host: Some(3), ..TWENTIETH }, &ids, so_far);
        let mut counter = groups.counter(1_000);
        let taken = ids.iter().filter(|&&id| counter.take(id).is_ok()).count();
        assert_eq!(taken, 1_000);
    }

    #[test]
    fn a_share_makes_room_only_for_the_welcome() {
        let (urls, ids) = small_and_large();
        let so_far = SoFar { site_level: Some(SiteLevel::Domain), ..SoFar::start(&urls) };
        let (known, others, large) = (&ids[..20], &ids[20..30], &ids[30..]);
        let of = |frontier: &[UrlId], others: &[UrlId]| {
            CapGroups::with_others(TWENTIETH, [frontier, others, &[]], so_far, 32)
        };
        let all = of(&ids, &[]);
        assert_eq!(taken_of(&all, &ids, 32), [30, 1, 1]);
        let some = of(&[known, large].concat(), others);
        assert_eq!(taken_of(&some, &ids, 32), [30, 6, 6], "places for 20 and 12, not 30 and 2");
        let needed = of(known, &[others, large].concat());
        assert_eq!(taken_of(&needed, &ids, 32), [30, 1, 1], "those who are known are too few");
        let few = of(large, &[known, others].concat());
        assert!(!few.has(Cap::SiteShare), "others make no crawl of many sites");
        let first = of(&large[..31], &[&large[31..], known, others].concat());
        assert_eq!(taken_of(&first, &ids, 32), [30, 1, 1], "unless they are to fill the batch");
    }

    #[test]
    fn a_site_keeps_its_share_of_the_crawl_so_far() {
        let (mut urls, ids) = small_and_large();
        // Of five pages two are of a, one of them on a host that the frontier does not know.
        let pages = ["www.a", "old.a", "www.c", "www.d", "www.e"];
        let fetched = pages.map(|host| urls.insert(&format!("https://{host}.test/fetched"), ""));
        let so_far = SoFar { fetched: &fetched, ..SoFar::start(&urls) };
        for (level, of_a) in [(SiteLevel::Host, 7), (SiteLevel::Domain, 15)] {
            let so_far = SoFar { site_level: Some(level), ..so_far };
            let groups = CapGroups::new(TWENTIETH, &ids, so_far);
            assert_eq!(taken_of(&groups, &ids, 38), [30, of_a, 1]);
        }
    }

    #[test]
    fn what_is_in_flight_has_its_places_first() {
        let (urls, ids) = small_and_large();
        let (small, large) = ids.split_at(30);
        // Of a ten and of b none of twenty URLs in flight, the others of small sites.
        let of_a: Vec<UrlId> = large.iter().step_by(2).copied().take(10).collect();
        let in_flight: Vec<UrlId> = of_a.iter().chain(&small[20..]).copied().collect();
        let left: Vec<UrlId> = ids.iter().copied().filter(|id| !in_flight.contains(id)).collect();
        let so_far = SoFar {
            site_level: Some(SiteLevel::Host),
            in_flight: &in_flight,
            ..SoFar::start(&urls)
        };
        let per_host = Caps { per_host: Some(12), ..Caps::default() };
        // A tenth of twenty and twenty; more where the others cannot fill the batch; and all there is.
        let share = Caps { site_share: Some(0.1), ..Caps::default() };
        for (caps, budget, expected) in [
            (per_host, 100, [20, 2, 12]),
            (share, 20, [20, 0, 4]),
            (share, 30, [20, 0, 10]),
            (share, 60, [20, 15, 25]),
            (share, 400, [20, 80, 90]),
        ] {
            let groups = CapGroups::new(Caps { count_in_flight: true, ..caps }, &left, so_far);
            let mut counter = groups.counter(budget);
            let mut taken = [0; 3];
            for id in left.iter().filter(|id| counter.take(**id).is_ok()) {
                taken[if id.index() < 30 { 0 } else { 1 + id.index() % 2 }] += 1;
            }
            assert_eq!(taken, expected, "{caps:?}, {budget}");
        }
    }
}
