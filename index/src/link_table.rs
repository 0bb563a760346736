//! Links in memory: who links to whom, with which anchor text, in the order the pages were
//! fetched, so that the links known before any cycle are a prefix.
//!
//! Pages that were fetched again show most of their links as before. Such a link is one of the current version, and
//! known since the first one that had it.
//!
//! Costs 24 bytes a link, 12 a URL and 4 a record of fetch history, plus the distinct anchor texts; 4 more a link
//! that an earlier version of its page had.

use hashbrown::HashMap;

use crate::page::UrlId;

/// One link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Page that shows it.
    pub from: UrlId,
    /// Its target.
    pub to: UrlId,
    /// Anchor text, as an id of [`LinkTable::anchor`].
    pub anchor: u32,
    /// `fetch_seq` of the page that shows it, in its current version.
    pub seq: u32,
    /// `fetch_seq` of the first version of the page that shows it, and from which on all do.
    pub since: u32,
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
    /// By target: rows that are known since an earlier version of their page, ascending.
    older: HashMap<UrlId, Vec<u32>>,
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
    /// Adds a link that is new with its version of the page; links come in order of `seq`.
    pub fn push(&mut self, from: UrlId, to: UrlId, seq: u32, anchor: &str) {
        self.push_since(from, to, (seq, seq), anchor);
    }

    /// Adds a link of the page fetched as `seq` that is known `since` a record; links come in order of `seq`.
    pub(crate) fn push_since(
        &mut self,
        from: UrlId,
        to: UrlId,
        (seq, since): (u32, u32),
        anchor: &str,
    ) {
        let known = self.anchor_ids.get(anchor).copied();
        let id = known.unwrap_or_else(|| {
            let id = self.anchors.len() as u32;
            self.anchors.push(anchor.into());
            self.anchor_ids.insert(anchor.into(), id);
            id
        });
        let row = self.links.len() as u32;
        if since < seq {
            self.older.entry(to).or_default().push(row);
        }
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
        self.links.push(Link { from, to, anchor: id, seq, since });
    }

    /// All links, in fetch order, then document order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Links that are known since the record `seq` or a later one, in fetch order.
    pub fn links_since(&self, seq: u32) -> impl Iterator<Item = Link> + '_ {
        let first = self.links.partition_point(|link| link.seq < seq);
        self.links[first..].iter().copied().filter(move |link| link.since >= seq)
    }

    /// Links that were known before the record `seq`, in fetch order.
    pub fn links_before(&self, seq: u32) -> impl Iterator<Item = Link> + Clone + '_ {
        let end = if self.older.is_empty() {
            self.links.partition_point(|link| link.seq < seq)
        } else {
            self.links.len()
        };
        self.links[..end].iter().copied().filter(move |link| link.since < seq)
    }

    /// Links of the page fetched as `seq`, in document order; none if that version was replaced.
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

    /// Links to `target` that were known before `before_seq`, in fetch order. A page that links
    /// twice with different anchors appears twice.
    pub fn incoming(&self, target: UrlId, before_seq: u32) -> impl Iterator<Item = Link> + '_ {
        let first = self.ends.get(target.index()).map_or(END, |ends| ends.0);
        let rows = std::iter::successors((first != END).then_some(first), |&row| {
            let next = self.next[row as usize];
            (next != END).then_some(next)
        });
        let rows = rows.take_while(move |&row| self.links[row as usize].seq < before_seq);
        // Behind the first that is too late are those that an earlier version of their page had.
        let older = self.older.get(&target).map_or(&[][..], Vec::as_slice);
        let first = older.partition_point(|&row| self.links[row as usize].seq < before_seq);
        rows.chain(older[first..].iter().copied())
            .map(|row| self.links[row as usize])
            .filter(move |link| link.since < before_seq)
    }

    /// Distinct pages that link to `target`, at no cost.
    pub fn all_inlinks(&self, target: UrlId) -> u32 {
        self.inlinks.get(target.index()).copied().unwrap_or(0)
    }

    /// Distinct pages that were known to link to `target` before `before_seq`.
    pub fn inlinks(&self, target: UrlId, before_seq: u32) -> u32 {
        let last = self.ends.get(target.index()).map_or(END, |ends| ends.1);
        if last == END || self.links[last as usize].seq < before_seq {
            return self.all_inlinks(target);
        }
        self.parents(target, before_seq).count() as u32
    }

    /// The distinct pages that were known to link to `target` before `before_seq`, in fetch order; the
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

    #[test]
    fn a_link_of_an_earlier_version_is_known_since_then() {
        let mut table = LinkTable::default();
        table.push(UrlId(1), UrlId(2), 5, "one");
        // A page of record 0 was fetched again as 7, with a link more.
        table.push_since(UrlId(0), UrlId(2), (7, 0), "two");
        table.push_since(UrlId(0), UrlId(2), (7, 7), "zwei");
        table.push_since(UrlId(0), UrlId(3), (7, 7), "three");
        assert_eq!([1, 6, 8].map(|before| table.inlinks(UrlId(2), before)), [1, 2, 2]);
        assert_eq!([7, 8].map(|before| table.inlinks(UrlId(3), before)), [0, 1]);
        let known = |before| table.incoming(UrlId(2), before).map(|link| link.from.0);
        assert_eq!(known(1).collect::<Vec<_>>(), [0]);
        assert_eq!(known(9).collect::<Vec<_>>(), [1, 0, 0]);
        assert_eq!(table.parents(UrlId(2), 9).map(|url| url.0).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(table.links_since(7).map(|link| link.to.0).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(table.links_before(6).map(|link| link.from.0).collect::<Vec<_>>(), [1, 0]);
        assert_eq!((table.of_page(7).len(), table.of_page(0).len()), (3, 0));
    }
}
