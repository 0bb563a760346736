//! Links in memory: who links to whom, with which anchor text, in the order the pages were
//! fetched, so that the links known before any cycle are a prefix.
//!
//! Costs 20 bytes a link, 12 a URL and 4 a record of fetch history, plus the distinct anchor texts.

use hashbrown::HashMap;

use crate::page::UrlId;

/// One link, as row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Page that shows it.
    pub from: UrlId,
    /// Its target.
    pub to: UrlId,
    /// Anchor text, as an id of [`LinkTable::anchor`].
    pub anchor: u32,
    /// `fetch_seq` of the page that shows it.
    pub seq: u32,
}

/// The links of all fetched pages in their current version.
///
/// ```
/// use prospect_index::link_table::LinkTable;
/// use prospect_index::page::UrlId;
///
/// let mut links = LinkTable::default();
/// links.push(UrlId(0), UrlId(2), 0, "crawl policies");
/// links.push(UrlId(0), UrlId(2), 0, "more");
/// links.push(UrlId(1), UrlId(2), 1, "more");
/// assert_eq!(links.all_inlinks(UrlId(2)), 2); // from two pages
/// assert_eq!(links.inlinks(UrlId(2), 1), 1); // before the second was fetched
///
/// let anchors = links.incoming(UrlId(2), 1).map(|link| links.anchor(link.anchor));
/// assert_eq!(anchors.collect::<Vec<_>>(), ["crawl policies", "more"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LinkTable {
    links: Vec<Link>,
    anchors: Vec<Box<str>>,
    anchor_ids: HashMap<Box<str>, u32>,
    /// By `fetch_seq`, up to that of the last link: the first link of it or a later one.
    starts: Vec<u32>,
    /// By link: the next one to the same target, [`END`] for the last.
    next: Vec<u32>,
    /// By target: its first and its last link, [`END`] where there is none.
    ends: Vec<(u32, u32)>,
    /// By target: distinct pages that link to it.
    inlinks: Vec<u32>,
}

/// No link.
const END: u32 = u32::MAX;

impl LinkTable {
    /// Adds a link; links come in order of `seq`.
    pub fn push(&mut self, from: UrlId, to: UrlId, seq: u32, anchor: &str) {
        let known = self.anchor_ids.get(anchor).copied();
        let id = known.unwrap_or_else(|| {
            let id = self.anchors.len() as u32;
            self.anchors.push(anchor.into());
            self.anchor_ids.insert(anchor.into(), id);
            id
        });
        let row = self.links.len() as u32;
        if self.ends.len() <= to.index() {
            self.ends.resize(to.index() + 1, (END, END));
            self.inlinks.resize(to.index() + 1, 0);
        }
        let ends = &mut self.ends[to.index()];
        // Links of one page are adjacent, since rows are in fetch order.
        let again = ends.1 != END && self.links[ends.1 as usize].from == from;
        self.inlinks[to.index()] += u32::from(!again);
        match ends.1 {
            END => ends.0 = row,
            last => self.next[last as usize] = row,
        }
        ends.1 = row;
        self.next.push(END);
        while self.starts.len() <= seq as usize {
            self.starts.push(row);
        }
        self.links.push(Link { from, to, anchor: id, seq });
    }

    /// All links, in fetch order, then document order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Links of the page fetched as `seq`, in document order.
    pub fn of_page(&self, seq: u32) -> &[Link] {
        let start = |seq: usize| self.starts.get(seq).map_or(self.links.len(), |&row| row as usize);
        &self.links[start(seq as usize)..start(seq as usize + 1)]
    }

    /// Distinct anchor texts; one of them may be empty.
    pub fn anchors(&self) -> usize {
        self.anchors.len()
    }

    /// Text of an anchor.
    pub fn anchor(&self, id: u32) -> &str {
        &self.anchors[id as usize]
    }

    /// Links to `target` from pages fetched before `before_seq`, in fetch order. A page that links
    /// twice with different anchors appears twice.
    pub fn incoming(&self, target: UrlId, before_seq: u32) -> impl Iterator<Item = Link> + '_ {
        let first = self.ends.get(target.index()).map_or(END, |ends| ends.0);
        let rows = std::iter::successors((first != END).then_some(first), |&row| {
            let next = self.next[row as usize];
            (next != END).then_some(next)
        });
        rows.map(|row| self.links[row as usize]).take_while(move |link| link.seq < before_seq)
    }

    /// Distinct pages that link to `target`, at no cost.
    pub fn all_inlinks(&self, target: UrlId) -> u32 {
        self.inlinks.get(target.index()).copied().unwrap_or(0)
    }

    /// Distinct pages fetched before `before_seq` that link to `target`.
    pub fn inlinks(&self, target: UrlId, before_seq: u32) -> u32 {
        let last = self.ends.get(target.index()).map_or(END, |ends| ends.1);
        if last == END || self.links[last as usize].seq < before_seq {
            return self.all_inlinks(target);
        }
        self.parents(target, before_seq).count() as u32
    }

    /// The distinct pages fetched before `before_seq` that link to `target`, in fetch order; the
    /// target itself if it does.
    pub fn parents(&self, target: UrlId, before_seq: u32) -> impl Iterator<Item = UrlId> + '_ {
        let mut last = None;
        // Links of one page are adjacent, since rows are in fetch order.
        self.incoming(target, before_seq)
            .map(|link| link.from)
            .filter(move |&from| last.replace(from) != Some(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_known_before_a_cycle_are_a_prefix() {
        let mut table = LinkTable::default();
        table.push(UrlId(0), UrlId(2), 0, "two");
        table.push(UrlId(0), UrlId(2), 0, "zwei");
        table.push(UrlId(1), UrlId(2), 5, "two");
        table.push(UrlId(1), UrlId(3), 5, "three");
        assert_eq!(table.inlinks(UrlId(2), u32::MAX), 2);
        assert_eq!(table.inlinks(UrlId(2), 5), 1);
        assert_eq!([0, 2, 3, 9].map(|url| table.all_inlinks(UrlId(url))), [0, 2, 1, 0]);
        assert_eq!(table.inlinks(UrlId(9), 5), 0);
        let anchors: Vec<_> =
            table.incoming(UrlId(2), 5).map(|link| table.anchor(link.anchor)).collect();
        assert_eq!(anchors, ["two", "zwei"]);
        assert_eq!(table.anchors(), 3);
        assert_eq!([0, 3, 5, 9].map(|seq| table.of_page(seq).len()), [2, 0, 2, 0]);
    }
}
