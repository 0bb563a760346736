//! Slow start: what a domain may take of a batch before much is known of it.
//!
//! Broken promises are held against a site once its pages are fetched ([`crate::estimate::site_reliability`]); until then a domain
//! may look as good as it likes, and could fill a whole batch. So a domain that few pages were fetched
//! from has only its best URLs in the ranking, as many as a small share of the batch, or twice its
//! fetched pages where these are more; the others wait behind everybody else's. As with TCP's slow start,
//! who keeps going doubles in every cycle, so honest domains are soon past it. Where a frontier has
//! nothing else, the waiting ones are picked all the same.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::url;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::estimate::url_estimate::UrlEstimate;

/// Share of a batch that a domain without a fetched page may take.
const SHARE: f64 = 0.05;
/// What is left of the estimate of a URL that waits.
pub(crate) const DEFERRED: f64 = 1e-3;

/// Domains of the frontier, and how many pages were fetched from each. Costs 4 bytes a URL and 12 a domain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SlowStart {
    /// Places of the URLs, ascending in every domain: those of domain d at `starts[d]..starts[d + 1]`.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// By domain.
    fetched: Vec<u32>,
}

impl SlowStart {
    /// Domains of these URLs.
    pub(crate) fn new(known: &Known, urls: impl Iterator<Item = UrlId>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut of_host: Vec<Option<u32>> = vec![None; known.urls.hosts()];
        let mut places: Vec<Vec<u32>> = Vec::new();
        let domain = |id: UrlId| url::registrable_domain(url::host(known.urls.url(id)));
        for (place, id) in urls.enumerate() {
            let number = *of_host[known.urls.host(id) as usize].get_or_insert_with(|| {
                *numbers.entry(domain(id)).or_insert_with(|| {
                    places.push(Vec::new());
                    places.len() as u32 - 1
                })
            });
            places[number as usize].push(place as u32);
        }
        let mut fetched = vec![0; places.len()];
        for (_, id) in known.pages.crawled() {
            let of_host = &mut of_host[known.urls.host(id) as usize];
            if of_host.is_none() {
                *of_host = numbers.get(domain(id)).copied();
            }
            if let Some(number) = *of_host {
                fetched[number as usize] += 1;
            }
        }
        let starts = places.iter().scan(0, |end, of_domain| {
            *end += of_domain.len() as u32;
            Some(*end)
        });
        let starts = std::iter::once(0).chain(starts).collect();
        Self { places: places.concat(), starts, fetched }
    }

    /// Makes URLs wait, which are those of the frontier in the same order, before a batch of `budget`.
    /// Of URLs with the same estimate the first ones come first.
    pub(crate) fn defer(&self, urls: &mut [UrlEstimate], budget: usize) {
        let estimates: &[UrlEstimate] = urls;
        let waiting: Vec<Vec<u32>> = (0..self.fetched.len())
            .into_par_iter()
            .map(|domain| self.waiting(domain, estimates, budget))
            .collect();
        for place in waiting.into_iter().flatten() {
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
    use crate::estimate::parts::Parts;

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
            let estimate = 1.0 + at as f64;
            urls.push(UrlEstimate {
                url,
                parts: Parts::default(),
                quality: None,
                reliability: 1.0,
                fetch: 1.0,
                text: 1.0,
                deferred: false,
                estimate,
                inlinks: 0,
            });
        }
        let domains = SlowStart::new(&known, urls.iter().map(|url| url.url));
        domains.defer(&mut urls, budget);
        let last = urls.iter().rposition(|url| url.deferred).unwrap_or(0);
        assert!(urls[..last].iter().filter(|url| !url.deferred).all(|url| url.estimate > 0.9));
        let count = |of| urls.iter().skip(of).step_by(2).filter(|url| url.deferred).count();
        [count(0), count(1)]
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
