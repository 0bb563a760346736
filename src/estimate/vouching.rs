//! Who vouches for a URL: domains that are established, and not those that came with it.
//!
//! A link is evidence as far as somebody stands behind it. Whoever makes a domain can make a hundred, each of which links
//! to the others; what they cannot make is links from pages of others, which have to be found one by one. So links from
//! young domains open no way to further ones. Good pages seldom link to bad ones, which is what `TrustRank` rests on
//! (Gyöngyi, Garcia-Molina and Pedersen, "Combating web spam with `TrustRank`", VLDB 2004); here trust begins with what was
//! given (seeds, and URLs without a link) and what most pages were fetched from, goes one domain far, and is there or not.

use std::cmp::Reverse;
use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::url;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

/// Share of the fetched pages that young domains have together at most.
const YOUNG: f64 = 0.05;

/// Registrable domains by host, in the order of these: hosts that were seen are not looked at again. Costs 4 bytes a host
/// and some 50 a domain.
#[derive(Default)]
pub(super) struct HostDomains {
    of_host: Vec<u32>,
    /// By hash of its name: the number of a domain.
    numbers: HashMap<u128, u32>,
    /// URLs whose hosts were looked at.
    urls: usize,
}

impl HostDomains {
    /// Takes in the hosts of new URLs.
    pub(super) fn update(&mut self, urls: &UrlTable) {
        let mut first: Vec<UrlId> = Vec::new();
        for id in (self.urls..urls.len()).map(|id| UrlId(id as u32)) {
            // Hosts are numbered in the order of their first URLs.
            if urls.host(id) as usize == self.of_host.len() + first.len() {
                first.push(id);
            }
        }
        self.urls = urls.len();
        let name = |&url: &UrlId| url::registrable_domain(url::host(urls.url(url)));
        let hashes = first.par_iter().map(|url| xxh3_128(name(url).as_bytes()));
        for hash in hashes.collect::<Vec<u128>>() {
            let next = self.numbers.len() as u32;
            self.of_host.push(*self.numbers.entry(hash).or_insert(next));
        }
    }

    /// How many domains there are.
    fn len(&self) -> usize {
        self.numbers.len()
    }
}

/// Registrable domains, and what is fetched from them. Costs 4 bytes a domain.
pub(super) struct Domains<'a> {
    known: &'a Known,
    hosts: &'a HostDomains,
    /// By domain: its place among those of the fetched pages, or [`NONE`].
    places: Vec<u32>,
    /// Domains of the fetched pages, in the order in which they were first fetched.
    fetched: Vec<Domain>,
    /// The same: whether it is established.
    established: Vec<bool>,
}

/// A domain of fetched pages.
#[derive(Clone, Copy, Debug)]
struct Domain {
    pages: u32,
    /// Whether one of them was fetched before a link to it was known, as seeds are.
    is_given: bool,
}

impl<'a> Domains<'a> {
    /// Those of known URLs, whose hosts are up to date.
    pub(super) fn new(known: &'a Known, hosts: &'a HostDomains) -> Self {
        let (places, fetched) = (vec![NONE; hosts.len()], Vec::new());
        let mut domains = Self { known, hosts, places, fetched, established: Vec::new() };
        for (seq, page) in known.pages.crawled() {
            let number = domains.of(page);
            if domains.places[number] == NONE {
                domains.places[number] = domains.fetched.len() as u32;
                domains.fetched.push(Domain { pages: 0, is_given: false });
            }
            let place = domains.places[number] as usize;
            let domain = &mut domains.fetched[place];
            domain.pages += 1;
            domain.is_given = domain.is_given || known.links.incoming(page, seq).next().is_none();
        }
        domains.established = established(&domains.fetched);
        domains
    }

    /// How many domains there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Number of the domain of a URL.
    pub(super) fn of(&self, url: UrlId) -> usize {
        self.hosts.of_host[self.known.urls.host(url) as usize] as usize
    }

    /// Pages of a domain that were fetched.
    pub(super) fn fetched(&self, domain: usize) -> u32 {
        self.fetched.get(self.places[domain] as usize).map_or(0, |domain| domain.pages)
    }

    fn is_established(&self, domain: usize) -> bool {
        self.established.get(self.places[domain] as usize).is_some_and(|&is| is)
    }

    /// Whether somebody vouches for a URL: its domain is established, whoever gave it without a link, or a link from an
    /// established domain or from its own.
    pub(super) fn vouch_for(&self, url: UrlId) -> bool {
        let domain = self.of(url);
        if self.is_established(domain) {
            return true;
        }
        let known = self.known;
        let mut links = known.links.incoming(url, u32::MAX).peekable();
        links.peek().is_none()
            || links.any(|link| {
                let from = self.of(link.from);
                from == domain || self.is_established(from)
            })
    }
}

/// By domain: whether it is established. All are that somebody gave; of the others all but the smallest, of those as small
/// the last, that have [`YOUNG`] of all pages together: how large that makes a young domain follows from the crawl.
fn established(domains: &[Domain]) -> Vec<bool> {
    let all: u32 = domains.iter().map(|domain| domain.pages).sum();
    let mut established: Vec<bool> = domains.iter().map(|domain| domain.is_given).collect();
    let mut smallest: Vec<usize> = (0..domains.len()).filter(|&at| !established[at]).collect();
    smallest.sort_unstable_by_key(|&domain| (domains[domain].pages, Reverse(domain)));
    let mut pages = 0;
    for domain in smallest {
        pages += domains[domain].pages;
        established[domain] = f64::from(pages) > YOUNG * f64::from(all);
    }
    established
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which domains of so many pages are established, where one of them was given.
    fn which(pages: &[u32], given: usize) -> Vec<bool> {
        let domain = |(at, &pages)| Domain { pages, is_given: at == given };
        established(&pages.iter().enumerate().map(domain).collect::<Vec<_>>())
    }

    #[test]
    fn the_smallest_domains_are_young_and_of_those_as_small_the_last() {
        assert!(which(&[], 0).is_empty());
        assert_eq!(which(&[1], 9), [true]);
        assert_eq!(which(&[1, 1, 97, 1], 9), [false, false, true, false]);
        assert_eq!(which(&[1, 1, 97, 1], 1), [false, true, true, false], "who was given is known");
        assert_eq!(which(&[1, 29, 1, 8], 9), [true, true, false, true]);
        let alike = which(&[1; 100], 999);
        assert_eq!(alike, (0..100).map(|domain| domain < 95).collect::<Vec<_>>());
    }

    /// A crawl of 40 pages of one domain and one of another that the first links to, with links by URL.
    fn crawl(links: &[(&str, &str)]) -> Known {
        let mut known = Known::default();
        let pages = (0..40).map(|page| format!("https://www.old.test/{page}"));
        for (seq, page) in pages.chain(["https://www.young.test/".to_owned()]).enumerate() {
            let url = known.urls.insert(&page, "");
            known.pages.note(url, seq as u32, 200, None);
        }
        let young = UrlId(40);
        known.links.push((UrlId(0), young, 0), "");
        for (from, to) in links {
            let from = known.urls.insert(from, "");
            let to = known.urls.insert(to, "");
            known.links.push((from, to, from.0), "");
        }
        known
    }

    #[test]
    fn links_from_young_domains_open_no_way_to_others() {
        let (old, young) = ("https://www.old.test/0", "https://www.young.test/");
        let known = crawl(&[
            (old, "https://one.test/"),
            (young, "https://two.test/"),
            (young, "https://three.test/"),
            (old, "https://three.test/"),
            (young, "https://young.test/more"),
            (young, "https://www.old.test/99"),
        ]);
        let mut hosts = HostDomains::default();
        hosts.update(&known.urls);
        let domains = Domains::new(&known, &hosts);
        let vouch = |address: &str| domains.vouch_for(known.urls.get(address).unwrap());
        assert!(vouch("https://one.test/"));
        assert!(!vouch("https://two.test/"), "by nobody but a young domain");
        assert!(vouch("https://three.test/"), "by one that is not");
        assert!(vouch("https://young.test/more"), "by its own pages");
        assert!(vouch("https://www.old.test/99"), "it is known itself");
    }

    #[test]
    fn who_came_without_a_link_was_asked_for() {
        let mut known = crawl(&[]);
        let given = known.urls.insert("https://given.test/", "");
        let mut hosts = HostDomains::default();
        hosts.update(&known.urls);
        let domains = Domains::new(&known, &hosts);
        assert!(domains.vouch_for(given));
        let fetched = |address: &str| domains.fetched(domains.of(known.urls.get(address).unwrap()));
        let of = ["https://www.old.test/0", "https://www.young.test/", "https://given.test/"];
        assert_eq!(of.map(fetched), [40, 1, 0]);
    }
}
