//! Slow start: what a domain may take of a batch before much is known of it.
//!
//! Broken promises are held against a site once its pages are fetched ([`crate::estimate::site_reliability`]); until then a domain
//! may look as good as it likes, and could fill a whole batch. So a domain that few pages were fetched
//! from has only its best URLs in the ranking, as many as a small share of the batch, or twice its
//! fetched pages where these are more; the others wait behind everybody else's, and with them those that nobody
//! vouches for ([`super::vouching`]). As with TCP's slow start,
//! who keeps going doubles in every cycle, so honest domains are soon past it. Where a frontier has
//! nothing else, the waiting ones are picked all the same.

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::estimate::url_estimate::UrlEstimate;
use crate::estimate::vouching::{Domains, HostDomains};

/// Share of a batch that a domain without a fetched page may take.
const SHARE: f64 = 0.05;
/// What is left of the estimate of a URL that waits: less than that of any other that anything is expected of.
pub(crate) const DEFERRED: f64 = 1e-9;

/// Domains of the frontier, and how many pages were fetched from each. Costs 4 bytes a URL and 8 a domain of any known one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SlowStart {
    /// Places of the URLs that somebody vouches for, ascending in every domain: those of domain d at
    /// `starts[d]..starts[d + 1]`.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// Places of the others.
    unknown: Vec<u32>,
    /// By domain.
    fetched: Vec<u32>,
}

impl SlowStart {
    /// Domains of these URLs; `hosts` are those of all that are known.
    pub(super) fn new(
        known: &Known,
        hosts: &HostDomains,
        urls: impl IndexedParallelIterator<Item = UrlId>,
    ) -> Self {
        let domains = Domains::new(known, hosts);
        // The domain of each, none where nobody vouches for it.
        let of = |url| domains.vouch_for(url).then(|| domains.of(url) as u32);
        let of_urls: Vec<Option<u32>> = urls.map(of).collect();
        let mut starts = vec![0; domains.len() + 1];
        for domain in of_urls.iter().flatten() {
            starts[*domain as usize + 1] += 1;
        }
        for domain in 0..domains.len() {
            starts[domain + 1] += starts[domain];
        }
        let mut next = starts.clone();
        let (mut places, mut unknown) = (vec![0; starts[domains.len()] as usize], Vec::new());
        for (place, domain) in (0..).zip(of_urls) {
            let Some(domain) = domain else {
                unknown.push(place);
                continue;
            };
            let end = &mut next[domain as usize];
            places[*end as usize] = place;
            *end += 1;
        }
        let fetched = (0..domains.len()).map(|domain| domains.fetched(domain)).collect();
        Self { places, starts, unknown, fetched }
    }

    /// Makes URLs wait, which are those of the frontier in the same order, before a batch of `budget`.
    /// Of URLs with the same estimate the first ones come first.
    pub(crate) fn defer(&self, urls: &mut [UrlEstimate], budget: usize) {
        let estimates: &[UrlEstimate] = urls;
        let waiting: Vec<Vec<u32>> = (0..self.fetched.len())
            .into_par_iter()
            .map(|domain| self.waiting(domain, estimates, budget))
            .collect();
        for &place in waiting.iter().flatten().chain(&self.unknown) {
            let url = &mut urls[place as usize];
            url.deferred = true;
            url.estimate *= DEFERRED;
        }
    }

    /// Places of the URLs of a domain that wait before a batch of `budget`.
    fn waiting(&self, domain: usize, urls: &[UrlEstimate], budget: usize) -> Vec<u32> {
        let all = &self.places[self.starts[domain] as usize..self.starts[domain + 1] as usize];
        let share = (SHARE * budget as f64) as usize;
        let most = share.max(2 * self.fetched[domain] as usize).max(1);
        if most >= budget || all.len() <= most {
            return Vec::new();
        }
        let estimate = |place: u32| urls[place as usize].estimate;
        let mut places = all.to_vec();
        places.select_nth_unstable_by(most, |&a, &b| {
            estimate(b).total_cmp(&estimate(a)).then(a.cmp(&b))
        });
        places.split_off(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many URLs of each of two domains wait before a batch of `budget`, of 100 that each has;
    /// `fetched` pages are of the first one.
    fn waiting(fetched: u32, budget: usize) -> [usize; 2] {
        let mut known = Known::default();
        for page in 0..fetched {
            let url = known.urls.insert(&format!("https://www.old.test/{page}"), "");
            known.pages.note(url, page, 0, None);
        }
        let mut urls = Vec::new();
        for at in 0..200 {
            let domain = ["a.old.test", "b.new.test"][at % 2];
            let url = known.urls.insert(&format!("https://{domain}/{at}"), "");
            // The later the better.
            urls.push(UrlEstimate::valued(url, 1.0 + at as f64));
        }
        let mut hosts = HostDomains::default();
        hosts.update(&known.urls);
        let domains = SlowStart::new(&known, &hosts, urls.par_iter().map(|url| url.url));
        domains.defer(&mut urls, budget);
        let last = urls.iter().rposition(|url| url.deferred).unwrap_or(0);
        assert!(urls[..last].iter().filter(|url| !url.deferred).all(|url| url.estimate > 0.9));
        let count = |of| urls.iter().skip(of).step_by(2).filter(|url| url.deferred).count();
        [count(0), count(1)]
    }

    #[test]
    fn whom_nobody_vouches_for_waits() {
        let mut known = Known::default();
        for page in 0..40 {
            let url = known.urls.insert(&format!("https://old.test/{page}"), "");
            known.pages.note(url, page, 200, None);
        }
        let young = known.urls.insert("https://young.test/", "");
        known.pages.note(young, 40, 200, None);
        known.links.push((UrlId(39), young, 39), "");
        let urls = ["https://a.test/", "https://b.test/"].map(|url| known.urls.insert(url, ""));
        known.links.push((UrlId(39), urls[0], 39), "");
        known.links.push((young, urls[1], 40), "");
        let mut estimates = urls.map(|url| UrlEstimate::valued(url, 1.0));
        let mut hosts = HostDomains::default();
        hosts.update(&known.urls);
        SlowStart::new(&known, &hosts, urls.into_par_iter()).defer(&mut estimates, 1);
        assert_eq!(estimates.map(|url| url.deferred), [false, true]);
        assert_eq!(estimates.map(|url| url.estimate), [1.0, DEFERRED]);
    }

    #[test]
    fn a_domain_starts_with_a_share_and_doubles() {
        assert_eq!(waiting(0, 100), [95, 95]);
        assert_eq!(waiting(2, 100), [95, 95], "the share is more than twice the pages");
        assert_eq!(waiting(20, 100), [60, 95]);
        assert_eq!(waiting(50, 100), [0, 95], "as much as the batch holds");
        assert_eq!(waiting(0, 10), [99, 99], "one at least");
        assert_eq!(waiting(0, 1), [0, 0], "nobody can take more than a batch of one");
        assert_eq!(waiting(0, 0), [0, 0]);
    }
}
