//! What fetched pages led to: the label of the part *discovery*, and its outcome.

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

/// The mean impact of the pages that were fetched before `end_seq`; 0 of none.
pub(crate) fn mean_impact(known: &Known, end_seq: u32, impact: &[f64]) -> f64 {
    let fetched = known.pages.discovered().take_while(|(seq, _)| *seq < end_seq);
    let (sum, pages) =
        fetched.fold((0.0, 0_u32), |(sum, pages), (_, url)| (sum + impact[url.index()], pages + 1));
    sum / f64::from(pages.max(1))
}

#[cfg(test)]
mod tests {
    use prospect_index::page::UrlId;

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
            known.links.push(UrlId(from), UrlId(to), since, "");
        }
        known
    }

    #[test]
    fn a_page_is_led_to_by_the_first_that_links_to_it_and_not_by_itself() {
        let urls =
            ["https://a.test/", "https://a.test/hub", "https://a.test/1", "https://a.test/2"];
        let links = [(0, 1, 0), (0, 2, 0), (1, 2, 1), (1, 3, 1), (3, 3, 3), (2, 3, 2)];
        let known = known(&urls, &[0, 1, 2, 3], &links);
        let impact = [1.0, 2.0, 5.0, 4.0];
        assert_eq!(mean_impact(&known, 4, &impact), 3.0);
        // The hub is no better than the mean page, page 1 was known from the start.
        assert_eq!(led_to(&known, 4, &impact, 3.0), [2.0, 1.0, 0.0, 0.0]);
        assert_eq!(
            led_to(&known, 3, &impact, 3.0),
            [2.0, 0.0, 0.0, 0.0],
            "page 2 was not fetched yet"
        );
        assert_eq!((mean_impact(&known, 2, &impact), mean_impact(&known, 0, &impact)), (1.5, 0.0));
    }

    #[test]
    fn a_hub_that_is_fetched_again_has_still_led_to_what_it_was_the_first_to_show() {
        let urls = ["https://a.test/", "https://a.test/hub", "https://a.test/1"];
        // The hub showed page 1 at its first fetch, and at its second one again, after another had.
        let links = [(0, 1, 0), (1, 2, 1), (0, 2, 2), (1, 2, 4)];
        let known = known(&urls, &[0, 1, 0, 2, 1], &links);
        assert_eq!(led_to(&known, 5, &[0.0, 0.0, 6.0], 2.0), [0.0, 4.0, 0.0]);
    }
}
