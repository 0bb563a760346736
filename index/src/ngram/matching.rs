//! Matching a query against all segments, exactly.
//!
//! [`super::plan`] says which lists are read, [`super::window`] collects candidates in ascending
//! order, and candidates for which unread n-grams could decide are verified here against their
//! strings.

use super::cursor::{self, Cursor};
use super::resolve::Resolved;
use super::walk::Walk;
use super::{NgramError, NgramQuery, NgramSet, Scratch, Segment, varint};
use crate::page::UrlId;

/// A URL that holds enough of a query's n-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The URL.
    pub url: UrlId,
    /// All of the query's n-grams that its strings hold, over all segments.
    pub matched: NgramSet,
}

/// Segments that answer together. Cheap to make; may be used from many threads, each with its own
/// [`Scratch`].
pub struct NgramIndex<'a> {
    segments: Vec<&'a Segment>,
    max_words: usize,
}

impl<'a> NgramIndex<'a> {
    /// An index over `segments`, in any order and with URLs in common or not.
    ///
    /// # Errors
    /// [`NgramError::MixedSegments`] when they index n-grams of different lengths.
    pub fn new(segments: Vec<&'a Segment>) -> Result<Self, NgramError> {
        let max_words = segments.first().map_or(usize::MAX, |segment| segment.max_words());
        for segment in &segments {
            if segment.max_words() != max_words {
                let got = segment.max_words();
                return Err(NgramError::MixedSegments { expected: max_words, got });
            }
        }
        Ok(Self { segments, max_words })
    }

    /// All URLs that match `query` and are not `masked`, ascending. A page's n-grams are the union
    /// over all segments.
    ///
    /// Time is in proportion to the lists of the query's rarest n-grams; what is
    /// allocated besides the result does not grow with the index.
    ///
    /// # Errors
    /// [`NgramError::QueryTooLong`] when the query holds longer n-grams than are indexed.
    pub fn match_query(
        &self,
        query: &NgramQuery,
        masked: impl Fn(UrlId) -> bool,
        scratch: &mut Scratch,
    ) -> Result<Vec<Match>, NgramError> {
        if query.longest() > self.max_words {
            let (got, indexed) = (query.longest(), self.max_words);
            return Err(NgramError::QueryTooLong { got, indexed });
        }
        if !scratch.prepare(&self.segments, query) {
            return Ok(Vec::new());
        }
        match (scratch.drivers.as_slice(), scratch.plan.decides_alone()) {
            (&[driver], true) => Ok(self.match_one_list(query, masked, driver)),
            _ => Ok(self.match_lists(query, masked, scratch)),
        }
    }

    /// A weight of a query's n-grams that the strings of at least `count` URLs hold, as far as single n-grams tell: the
    /// heaviest that come so often, each with those within it. URLs of several segments count in each, and masked ones too.
    pub fn held_by(&self, query: &NgramQuery, count: u64, scratch: &mut Scratch) -> f64 {
        if query.longest() > self.max_words || !scratch.resolved.look_up(&self.segments, query) {
            return 0.0;
        }
        let often = (0..query.len() as u8).filter(|&at| scratch.resolved.frequency(at) >= count);
        often.map(|at| query.weight_of(&query.implied_by(at))).fold(0.0, f64::max)
    }

    /// One list has all there is to know: its URLs match or none does.
    fn match_one_list(
        &self,
        query: &NgramQuery,
        masked: impl Fn(UrlId) -> bool,
        mut driver: Cursor,
    ) -> Vec<Match> {
        let matched = *driver.implied();
        let mut matches = Vec::new();
        if query.accepts(&matched) {
            driver.for_each(self.segments[driver.segment], |url| {
                if !masked(UrlId(url)) {
                    matches.push(Match { url: UrlId(url), matched });
                }
            });
        }
        matches
    }

    fn match_lists(
        &self,
        query: &NgramQuery,
        masked: impl Fn(UrlId) -> bool,
        scratch: &mut Scratch,
    ) -> Vec<Match> {
        let Scratch { resolved, plan, drivers, scanned, window } = scratch;
        let mut matches = Vec::new();
        // Neighbours often hold the same n-grams: the last verdict is kept.
        let mut judged = (NgramSet::default(), false);
        while let Some(base) = cursor::next_base(drivers) {
            window.move_to(base);
            for cursor in &mut *drivers {
                cursor.record(self.segments[cursor.segment], window);
            }
            for cursor in &mut *scanned {
                cursor.record_known(self.segments[cursor.segment], window);
            }
            window.drain(|url, mut matched| {
                let mut most = matched;
                most |= *plan.unread();
                if judged.0 != most {
                    judged = (most, query.accepts(&most));
                }
                if !judged.1 || masked(UrlId(url)) {
                    return;
                }
                if most != matched {
                    matched |= self.ngrams_of(url, query, resolved);
                    if !query.accepts(&matched) {
                        return;
                    }
                }
                matches.push(Match { url: UrlId(url), matched });
            });
        }
        matches
    }

    /// The query's n-grams that occur in the strings of a URL.
    fn ngrams_of(&self, url: u32, query: &NgramQuery, resolved: &Resolved) -> NgramSet {
        let mut walk = Walk::new(query);
        for (at, segment) in self.segments.iter().enumerate() {
            let Ok(local) = segment.url_table().binary_search(&url) else { continue };
            if segment.is_hidden(local) {
                continue;
            }
            let ids = resolved.word_ids(at, query);
            let bytes = segment.strings_of(local);
            let mut position = 0;
            while let Some(value) = varint::get(bytes, &mut position) {
                // 0 ends a string: no word, like a word that the query has not.
                let token = value.checked_sub(1);
                walk.word(ids.iter().position(|id| id.is_some() && *id == token));
            }
            walk.word(None);
        }
        walk.found()
    }
}
