//! Links in memory: who links to whom, with which anchor text, in the order the pages were
//! fetched, so that the links known before any cycle are a prefix.
//!
//! Pages that were fetched again show most of their links as before. Such a link is one of the current version, and
//! known since the first one that had it.
//!
//! Costs 24 bytes a link, 12 a URL and 4 a record of fetch history, plus the distinct anchor texts; 4 more a link
//! that an earlier version of its page had. Of links that are mapped, what is touched.

use hashbrown::HashMap;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::error::StoreError;
use crate::mapped::Column;
use crate::mapped::image::{ImageReader, ImageWriter};
use crate::mapped::lists::Lists;
use crate::mapped::texts::Strings;
use crate::page::UrlId;

/// One link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
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

/// A link that is new with the version of its page: who shows it, its target, and `fetch_seq`.
impl From<(UrlId, UrlId, u32)> for Link {
    fn from((from, to, seq): (UrlId, UrlId, u32)) -> Self {
        Self { from, to, anchor: 0, seq, since: seq }
    }
}

/// The links of all fetched pages in their current version.
///
/// ```
/// use prospect_index::link_table::LinkTable;
/// use prospect_index::page::UrlId;
///
/// let mut links = LinkTable::default();
/// links.push((UrlId(0), UrlId(2), 0), "crawl policies");
/// links.push((UrlId(0), UrlId(2), 0), "more");
/// links.push((UrlId(1), UrlId(2), 1), "more");
/// assert_eq!(links.inlinks(UrlId(2), u32::MAX), 2); // from two pages
/// assert_eq!(links.inlinks(UrlId(2), 1), 1); // before the second was fetched
///
/// let anchors = links.incoming(UrlId(2), 1).map(|link| links.anchor(link.anchor));
/// assert_eq!(anchors.collect::<Vec<_>>(), ["crawl policies", "more"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LinkTable {
    links: Column<Link>,
    anchors: Strings,
    /// By `fetch_seq`, up to that of the last link: the first link of it or a later one.
    starts: Column<u32>,
    /// By target: its rows in the file, ascending, and how many distinct pages show them.
    mapped: Lists<u32>,
    mapped_inlinks: Column<u32>,
    /// By target: rows that are known since an earlier version of their page, ascending.
    older: HashMap<UrlId, Vec<u32>>,
    /// By link behind those of the file: the next one to the same target, [`END`] for the last.
    next: Vec<u32>,
    /// By target: the first and the last of those, [`END`] where there is none.
    ends: Vec<(u32, u32)>,
    /// By target: distinct pages that show those.
    inlinks: Vec<u32>,
}

/// No link.
const END: u32 = u32::MAX;

impl LinkTable {
    /// How many links there are.
    pub(crate) fn count(&self) -> usize {
        self.links.len()
    }

    /// How many of them are in no file that is mapped.
    pub(crate) fn count_in_memory(&self) -> usize {
        self.links.tail().len()
    }

    /// Adds a link, whose anchor gets its id here; links come in order of `seq`.
    pub fn push(&mut self, link: impl Into<Link>, anchor: &str) {
        let link = link.into();
        let Link { from, to, seq, since, .. } = link;
        let (anchor, _) = self.anchors.insert(anchor);
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
        let again = ends.1 != END && self.links.at(ends.1 as usize).from == from;
        self.inlinks[to.index()] += u32::from(!again);
        match ends.1 {
            END => ends.0 = row,
            last => self.next[last as usize - self.links.mapped().len()] = row,
        }
        ends.1 = row;
        self.next.push(END);
        while self.starts.len() <= seq as usize {
            self.starts.push(row);
        }
        self.links.push(Link { anchor, ..link });
    }

    /// All links but the first so many, in fetch order, then document order; they are counted at no cost.
    pub fn links_from(&self, first: usize) -> impl Iterator<Item = Link> + '_ {
        self.links.iter().skip(first)
    }

    /// Links that are known since the record `seq` or a later one, in fetch order.
    pub(crate) fn links_since(&self, seq: u32) -> impl Iterator<Item = Link> + '_ {
        let links = self.links.iter().skip(self.start(seq));
        links.filter(move |link| link.since >= seq)
    }

    /// Links that were known before the record `seq`, in fetch order.
    pub fn links_before(&self, seq: u32) -> impl Iterator<Item = Link> + Clone + '_ {
        let end = if self.older.is_empty() { self.start(seq) } else { self.links.len() };
        self.links.iter().take(end).filter(move |link| link.since < seq)
    }

    /// The first link of the record `seq` or a later one.
    fn start(&self, seq: u32) -> usize {
        self.starts.get(seq as usize).map_or(self.links.len(), |row| row as usize)
    }

    /// Links of the page fetched as `seq`, in document order; none if that version was replaced.
    pub fn of_page(&self, seq: u32) -> &[Link] {
        self.links.run(self.start(seq), self.start(seq.saturating_add(1)))
    }

    /// Distinct anchor texts; one of them may be empty.
    pub fn anchors(&self) -> usize {
        self.anchors.len()
    }

    /// Text of an anchor.
    pub fn anchor(&self, id: u32) -> &str {
        self.anchors.text(id)
    }

    /// Links to `target` that were known before `before_seq`, in fetch order. A page that links
    /// twice with different anchors appears twice.
    pub fn incoming(&self, target: UrlId, before_seq: u32) -> impl Iterator<Item = Link> + '_ {
        let link = |row: u32| self.links.at(row as usize);
        let links = self.rows_of(target).map(link).take_while(move |link| link.seq < before_seq);
        // Behind the first that is too late are those that an earlier version of their page had.
        let older = self.older.get(&target).map_or(&[][..], Vec::as_slice);
        let first = older.partition_point(|&row| link(row).seq < before_seq);
        links
            .chain(older[first..].iter().map(move |&row| link(row)))
            .filter(move |link| link.since < before_seq)
    }

    /// Rows of the links to `target`, ascending.
    fn rows_of(&self, target: UrlId) -> impl Iterator<Item = u32> + '_ {
        let first = self.ends.get(target.index()).map_or(END, |ends| ends.0);
        let behind = self.links.mapped().len();
        let rows = std::iter::successors((first != END).then_some(first), move |&row| {
            let next = self.next[row as usize - behind];
            (next != END).then_some(next)
        });
        self.mapped.of(target.index()).iter().copied().chain(rows)
    }

    /// Distinct pages that link to `target`, at no cost.
    pub(crate) fn all_inlinks(&self, target: UrlId) -> u32 {
        let mapped = self.mapped_inlinks.get(target.index());
        mapped.unwrap_or(0) + self.inlinks.get(target.index()).copied().unwrap_or(0)
    }

    /// The last link to `target`.
    fn last_to(&self, target: UrlId) -> Option<Link> {
        let behind = self.ends.get(target.index()).map(|ends| ends.1).filter(|&row| row != END);
        let last = behind.or_else(|| self.mapped.of(target.index()).last().copied());
        last.map(|row| self.links.at(row as usize))
    }

    /// Distinct pages that were known to link to `target` before `before_seq`; of all at no cost.
    pub fn inlinks(&self, target: UrlId, before_seq: u32) -> u32 {
        if before_seq == u32::MAX || self.last_to(target).is_none_or(|last| last.seq < before_seq) {
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

    /// Writes the table as files that are mapped.
    pub(crate) fn write(&self, image: &mut ImageWriter) -> Result<(), StoreError> {
        image.column("links", &[self.links.mapped(), self.links.tail()])?;
        self.anchors.write(image, "anchors")?;
        image.column("link-starts", &[self.starts.mapped(), self.starts.tail()])?;
        let mut older: Vec<u32> = self.older.values().flatten().copied().collect();
        older.sort_unstable();
        image.column("older-links", &[&older])?;
        let targets = self.mapped.len().max(self.ends.len()) as u32;
        let (mut incoming, mut inlinks) = (Lists::default(), Vec::with_capacity(targets as usize));
        for to in (0..targets).map(UrlId) {
            incoming.push(&self.rows_of(to).collect::<Vec<u32>>());
            inlinks.push(self.all_inlinks(to));
        }
        incoming.write(image, "incoming")?;
        image.column("inlinks", &[&inlinks])
    }

    /// The table of such files, if they are whole.
    pub(crate) fn read(image: &ImageReader) -> Option<Self> {
        let mut table = Self {
            links: image.column("links")?,
            anchors: Strings::read(image, "anchors")?,
            starts: image.column("link-starts")?,
            mapped: Lists::read(image, "incoming")?,
            mapped_inlinks: image.column("inlinks")?,
            ..Self::default()
        };
        for row in image.column::<u32>("older-links")?.iter() {
            let to = table.links.get(row as usize)?.to;
            table.older.entry(to).or_default().push(row);
        }
        let fits = table.mapped.cells() == table.links.len()
            && table.mapped_inlinks.len() == table.mapped.len();
        fits.then_some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_known_before_a_cycle_are_a_prefix() {
        let mut table = LinkTable::default();
        table.push((UrlId(0), UrlId(2), 0), "two");
        table.push((UrlId(0), UrlId(2), 0), "zwei");
        table.push((UrlId(1), UrlId(2), 5), "two");
        table.push((UrlId(1), UrlId(3), 5), "three");
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
        table.push((UrlId(1), UrlId(2), 5), "one");
        // A page of record 0 was fetched again as 7, with a link more.
        table.push(Link { since: 0, ..Link::from((UrlId(0), UrlId(2), 7)) }, "two");
        table.push((UrlId(0), UrlId(2), 7), "zwei");
        table.push((UrlId(0), UrlId(3), 7), "three");
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
