//! The first links to each URL, side by side. A link table chains the links to a URL in fetch order, which grows with a
//! crawl and costs two reads from anywhere in memory a link; who looks at the links to most URLs, for many queries, sets
//! them out once.
//!
//! Costs 16 bytes a link that is set out and 4 a URL, 8 while they are or where pages were replaced, and three passes over all
//! links.

use prospect_index::link_table::{Link, LinkTable};
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;

/// What features read of a link to a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InLink {
    /// Page that shows it.
    pub(crate) from: UrlId,
    /// Anchor text, as an id of [`LinkTable::anchor`].
    pub(crate) anchor: u32,
    /// Where the score of the page is, among those of all pages or, once it was [placed](super::page_terms::PageTerms::placed),
    /// of some; [`NONE`] where it is looked for.
    place: u32,
    /// `fetch_seq` from which on the link is known.
    since: u32,
}

impl From<Link> for InLink {
    fn from(Link { from, anchor, since, .. }: Link) -> Self {
        Self { from, anchor, place: NONE, since }
    }
}

impl InLink {
    /// The same, with where the score of its page is.
    pub(crate) fn at(self, place: u32) -> Self {
        Self { place, ..self }
    }

    /// Where the score of the page is among those of any query; none where it has to be looked for.
    pub(crate) fn place(self) -> Option<u32> {
        (self.place != NONE).then_some(self.place)
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstLinks {
    most: usize,
    /// By URL: `fetch_seq` of the page that shows the last of these links; empty if no link is known since an earlier
    /// version of its page, which among those to a URL is told later.
    last_seqs: Vec<u32>,
    /// By URL: where its links begin; one more at the end.
    starts: Vec<u32>,
    links: Vec<InLink>,
}

impl FirstLinks {
    /// The `most` first links to each of so many URLs, with the place of each page's score.
    pub(crate) fn new(
        table: &LinkTable,
        urls: usize,
        most: usize,
        place_of: impl Fn(UrlId) -> Option<u32>,
    ) -> Self {
        let has_older = table.links_from(0).any(|link| link.since < link.seq);
        let mut last_seqs = vec![0; if has_older { urls } else { 0 }];
        let mut starts = vec![0_u32; urls + 1];
        for link in table.links_from(0) {
            let count = &mut starts[link.to.index()];
            *count = (most as u32).min(*count + 1);
        }
        let mut sum = 0;
        for start in &mut starts {
            (*start, sum) = (sum, sum + *start);
        }
        // Where the next link to each URL goes.
        let mut ends = starts.clone();
        let nothing = InLink { from: UrlId(0), anchor: 0, place: NONE, since: 0 };
        let mut links = vec![nothing; sum as usize];
        for link in table.links_from(0) {
            let to = link.to.index();
            if ends[to] < starts[to + 1] {
                let place = place_of(link.from).unwrap_or(NONE);
                links[ends[to] as usize] = InLink { place, ..InLink::from(link) };
                ends[to] += 1;
                if has_older {
                    last_seqs[to] = link.seq;
                }
            }
        }
        Self { most, last_seqs, starts, links }
    }

    /// The first link to a URL, whenever it came to be known.
    pub(crate) fn first(&self, url: UrlId) -> Option<InLink> {
        let [start, end] = *self.starts.get(url.index()..url.index() + 2)? else { return None };
        self.links.get(start as usize..end as usize)?.first().copied()
    }

    /// The first links to a URL that were known before the record `before_seq`, as the table tells them; none where it
    /// takes the table to tell, since pages were replaced.
    pub(crate) fn of(&self, url: UrlId, before_seq: u32) -> Option<impl Iterator<Item = InLink>> {
        let at = |at: usize| self.starts.get(at).map_or(self.links.len(), |&start| start as usize);
        let links = &self.links[at(url.index())..at(url.index() + 1)];
        let is_late = self.last_seqs.get(url.index()).is_some_and(|&last| last >= before_seq);
        let is_whole = links.len() < self.most || !is_late;
        is_whole.then(|| links.iter().copied().filter(move |link| link.since < before_seq))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_first_that_the_table_tells() {
        let mut table = LinkTable::default();
        for seq in 0..60_u32 {
            for place in 0..seq % 7 {
                let (from, to) = (UrlId(seq), UrlId((seq * 5 + place * 3) % 11));
                table.push((from, to, seq), &format!("{place}"));
            }
        }
        // Pages have places, but for some.
        let place_of = |from: UrlId| (!from.0.is_multiple_of(3)).then_some(from.0 * 7);
        let first = FirstLinks::new(&table, 12, 6, place_of);
        for (url, before) in (0..12).flat_map(|url| [0, 9, 60].map(|before| (UrlId(url), before))) {
            let found = first.of(url, before).unwrap();
            let place = |from| place_of(from).unwrap_or(NONE);
            let known = table.incoming(url, before).take(6).map(InLink::from);
            let known = known.map(|link| InLink { place: place(link.from), ..link });
            assert_eq!(found.collect::<Vec<_>>(), known.collect::<Vec<_>>(), "{url:?}, {before}");
        }
        assert!(first.of(UrlId(99), 9).is_some_and(|links| links.count() == 0));
    }
}
