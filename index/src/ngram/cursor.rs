//! A reading position in one posting list, in terms of URLs rather than local ids, so that lists of
//! several segments can be read side by side.

use super::NgramSet;
use super::layout::PostingRef;
use super::segment::{NgramPostings, Segment};
use super::varint;
use super::window::{self, Window};

/// Head of a cursor that is at its end; above every URL.
pub(super) const END: u64 = u64::MAX;

/// A reading position. It borrows nothing, so that cursors can be kept from query to query; every
/// call must name the segment it was made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// Number of the segment in the index.
    pub(crate) segment: usize,
    /// What a URL on the list holds: the list's n-gram and those within it.
    implied: NgramSet,
    /// The URL it stands at, or [`END`].
    pub(crate) head: u64,
    at: usize,
    left: u32,
    local: u32,
}

impl Cursor {
    /// A cursor at the first URL of the list.
    pub(crate) fn new(
        segment: usize,
        implied: NgramSet,
        postings: NgramPostings,
        of: &Segment,
    ) -> Self {
        let mut cursor = Self { segment, implied, head: END, at: 0, left: 0, local: 0 };
        match postings.place {
            PostingRef::Single(local) if of.is_hidden(local as usize) => {}
            PostingRef::Single(local) => cursor.head = url(of.url_table(), local),
            PostingRef::List(at) => {
                cursor.at = at;
                cursor.left = postings.count;
                cursor.advance(of);
            }
        }
        cursor
    }

    /// Goes to the next URL. Bytes that end early end the list.
    #[inline]
    fn advance(&mut self, of: &Segment) {
        self.head = END;
        while self.left > 0 {
            self.left -= 1;
            let Some(difference) = varint::get(of.posting_bytes(), &mut self.at) else { return };
            self.local = self.local.saturating_add(difference);
            if !of.is_hidden(self.local as usize) {
                self.head = url(of.url_table(), self.local);
                return;
            }
        }
    }

    /// What a URL on the list holds.
    pub(crate) fn implied(&self) -> &NgramSet {
        &self.implied
    }

    /// Reads the rest of the list.
    pub(crate) fn for_each(&mut self, of: &Segment, mut take: impl FnMut(u32)) {
        while self.head != END {
            take(self.head as u32);
            self.advance(of);
        }
    }

    /// Reads the URLs within the window and adds the n-gram to them; earlier ones must have been
    /// read. The cursor then stands behind the window.
    pub(crate) fn record(&mut self, of: &Segment, window: &mut Window) {
        let (base, end) = window.range();
        let mut cursor = *self;
        while cursor.head < end {
            window.add((cursor.head - base) as usize, &cursor.implied);
            cursor.advance(of);
        }
        *self = cursor;
    }

    /// As [`record`](Self::record), but only for URLs that are in the window already, and passing
    /// over URLs before the window.
    pub(crate) fn record_known(&mut self, of: &Segment, window: &mut Window) {
        let (base, end) = window.range();
        let mut cursor = *self;
        while cursor.head < base {
            cursor.advance(of);
        }
        while cursor.head < end {
            window.add_if_known((cursor.head - base) as usize, &cursor.implied);
            cursor.advance(of);
        }
        *self = cursor;
    }
}

/// Start of the earliest window that some cursor has a URL in.
pub(super) fn next_base(cursors: &[Cursor]) -> Option<u64> {
    let first = cursors.iter().map(|cursor| cursor.head).min()?;
    (first != END).then(|| window::base_of(first))
}

fn url(table: &[u32], local: u32) -> u64 {
    table.get(local as usize).map_or(END, |&url| u64::from(url))
}
