//! What fetched pages led to: the label of the part *discovery*, and its outcome.

use std::collections::BTreeMap;

use prospect_index::link_table::Link;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

/// By URL: the impact of the pages that were fetched before `end_seq` and that it was the first to lead to, of each what it
/// is above the `mean`: a page like most is at hand without it. `impact` is by URL.
///
/// Pages that nobody has fetched yet count for nothing: what is expected of a page is what the crawl has made of pages like
/// it so far, less for those of its last cycles. Leaving these out changed nothing (`docs/ablation.md`, "What a page leads to").
pub(crate) fn led_to(known: &Known, end_seq: u32, impact: &[f64], mean: f64) -> Vec<f64> {
    let mut led_to = vec![0.0; known.urls.len()];
    for (seq, url) in known.pages.discovered().take_while(|(seq, _)| *seq < end_seq) {
        // Of a page that was fetched again the links that its earlier version had came later, and are as old as they were.
        let links = known.links.incoming(url, u32::MAX);
        let others = links.filter(|link| link.from != url && link.since < seq);
        if let Some(first) = others.min_by_key(|link| link.since) {
            led_to[first.from.index()] += (impact[url.index()] - mean).max(0.0);
        }
    }
    led_to
}

/// The same of one page, from the links of its own: costs what these are, and not the crawl.
pub(crate) fn page_led_to(known: &Known, page: UrlId, impact: &[f64], mean: f64) -> f64 {
    let links = known.pages.page_seq(page).map_or(&[][..], |seq| known.links.of_page(seq));
    let mut since: BTreeMap<UrlId, u32> = BTreeMap::new();
    for link in links.iter().filter(|link| link.to != page) {
        let first = since.entry(link.to).or_insert(link.since);
        *first = link.since.min(*first);
    }
    since.retain(|&to, since| {
        let is_earlier = |link: Link| link.from != to && link.since < *since;
        let fetched = known.pages.first_seq(to);
        fetched.is_some_and(|seq| *since < seq)
            && !known.links.incoming(to, u32::MAX).any(is_earlier)
    });
    since.keys().fold(0.0, |sum, to| sum + (impact[to.index()] - mean).max(0.0))
}

#[cfg(test)]
mod tests {
    use prospect_index::ingest::ingest_all;
    use prospect_index::page::{Outlink, PageRecord};
    use prospect_index::store::{Store, StoreOptions};

    use super::*;

    /// URLs that were known in this order, and links of pages with the records that showed them.
    fn known(urls: &[&str], fetched: &[u32], links: &[(u32, u32, u32)]) -> Known {
        let mut known = Known::default();
        for url in urls {
            known.urls.insert(url, "");
        }
        for (seq, &url) in (0..).zip(fetched) {
            known.pages.note(UrlId(url), seq, 0, None);
        }
        for &(from, to, since) in links {
            known.links.push((UrlId(from), UrlId(to), since), "");
        }
        known
    }

    fn by_page(known: &Known, impact: &[f64], mean: f64) -> Vec<f64> {
        known.urls.ids().map(|url| page_led_to(known, url, impact, mean)).collect()
    }

    #[test]
    fn a_page_is_led_to_by_the_first_that_links_to_it_and_not_by_itself() {
        let urls =
            ["https://a.test/", "https://a.test/hub", "https://a.test/1", "https://a.test/2"];
        let links = [(0, 1, 0), (0, 2, 0), (1, 2, 1), (1, 3, 1), (2, 3, 2), (3, 3, 3)];
        let known = known(&urls, &[0, 1, 2, 3], &links);
        let impact = [1.0, 2.0, 5.0, 4.0];
        // The hub is no better than the mean page, page 1 was known from the start.
        assert_eq!(led_to(&known, 4, &impact, 3.0), [2.0, 1.0, 0.0, 0.0]);
        assert_eq!(
            led_to(&known, 3, &impact, 3.0),
            [2.0, 0.0, 0.0, 0.0],
            "page 2 was not fetched yet"
        );
        assert_eq!(by_page(&known, &impact, 3.0), [2.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_hub_that_is_fetched_again_has_still_led_to_what_it_was_the_first_to_show() {
        let urls = ["https://a.test/", "https://a.test/hub", "https://a.test/1"];
        // The hub showed page 1 at its first fetch, and at its second one again, after another had.
        let links = [(0, 1, 0), (1, 2, 1), (0, 2, 2), (1, 2, 4)];
        let known = known(&urls, &[0, 1, 0, 2, 1], &links);
        assert_eq!(led_to(&known, 5, &[0.0, 0.0, 6.0], 2.0), [0.0, 4.0, 0.0]);
    }

    fn page(name: &str, text: &str, links: &[&str]) -> PageRecord {
        let url = |name: &str| format!("https://a.test/{name}");
        let outlinks = links.iter().map(|to| Outlink::from((url(to), "")));
        PageRecord {
            url: url(name),
            text: text.to_owned(),
            outlinks: outlinks.collect(),
            ..PageRecord::default()
        }
    }

    #[test]
    fn pages_of_a_store_that_are_fetched_again_led_to_the_same_by_their_links_and_by_those_of_all()
    {
        let folder = tempfile::tempdir().unwrap();
        let pages = [
            vec![page("", "home", &["hub"]), page("hub", "hub", &["1"])],
            vec![page("", "home again", &["hub", "1", "2"]), page("1", "one", &["2", "hub"])],
            vec![
                page("hub", "hub again", &["1", "2", "3"]),
                page("2", "two", &[]),
                page("3", "", &[]),
            ],
        ];
        for (at, pages) in pages.into_iter().enumerate() {
            ingest_all(folder.path(), pages, &format!("part {at}")).unwrap();
        }
        let known = Store::open(folder.path(), &StoreOptions::default()).unwrap().known().unwrap();
        let urls = ["", "hub", "1", "2", "3"].map(|name| format!("https://a.test/{name}"));
        let id = |url: &String| known.urls.get(url).unwrap().index();
        let mut impact = vec![0.0; known.urls.len()];
        for (url, of) in urls.iter().zip([1.0, 3.0, 6.0, 8.0, 4.0]) {
            impact[id(url)] = of;
        }
        let all = led_to(&known, u32::MAX, &impact, 2.0);
        assert_eq!(by_page(&known, &impact, 2.0), all);
        assert_eq!(urls.each_ref().map(|url| all[id(url)]), [7.0, 6.0, 0.0, 0.0, 0.0]);
    }
}
