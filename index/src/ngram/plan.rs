//! Choosing which posting lists a query reads.
//!
//! Sort the n-grams by frequency. A page that holds none of the first i of them holds at most the
//! weight of the rest; so with i the smallest for which that is too little, every matching page is
//! in one of the first i lists. These *drive* the match. Of the other lists, those that are not
//! much longer than the drivers are *scanned*, and only candidates looked for; what remains (the
//! commonest words) is never read: candidates that may still match are *verified* against their
//! own strings. An n-gram within another occurs wherever that one does, so what all drivers imply
//! is neither scanned nor verified. So the cost follows the rarest n-grams.

use super::NgramSet;
use super::query::NgramQuery;
use super::resolve::Resolved;

/// A list is scanned if it has at most this many postings for each one of the drivers: verifying a
/// page costs about as much as reading so many postings.
const SCAN_FACTOR: u64 = 32;

/// Which n-grams' lists are read, and how.
#[derive(Debug, Default)]
pub(super) struct MatchPlan {
    /// Drivers, then scanned.
    order: Vec<u8>,
    drivers: usize,
    unread: NgramSet,
}

impl MatchPlan {
    /// Plans a resolved query.
    pub(crate) fn make(&mut self, query: &NgramQuery, resolved: &Resolved) {
        let frequency = |ngram: u8| resolved.frequency(ngram);
        let weight = |ngram: u8| query.weight(usize::from(ngram));
        // N-grams without weight help nobody over a threshold, so they drive last.
        let key = |ngram: u8| (weight(ngram) == 0.0, frequency(ngram), ngram);
        self.order.clear();
        self.order.extend((0..query.len() as u8).filter(|&ngram| frequency(ngram) > 0));
        self.order.sort_unstable_by_key(|&ngram| key(ngram));

        let mut rest: f64 = self.order.iter().map(|&ngram| weight(ngram)).sum();
        let mut driving = 0;
        self.drivers = 0;
        while self.drivers < self.order.len() && !query.rules_out(rest) {
            let ngram = self.order[self.drivers];
            rest -= weight(ngram);
            driving += frequency(ngram);
            self.drivers += 1;
        }
        self.choose_scanned(query, resolved, driving);
    }

    fn choose_scanned(&mut self, query: &NgramQuery, resolved: &Resolved, driving: u64) {
        let mut implied = NgramSet::all();
        for &ngram in self.drivers() {
            implied.retain(&query.implied_by(ngram));
        }
        let mut others = self.order.split_off(self.drivers);
        others.retain(|&ngram| !implied.contains(usize::from(ngram)));
        others.sort_unstable_by_key(|&ngram| (resolved.frequency(ngram), ngram));
        let limit = driving.saturating_mul(SCAN_FACTOR);
        let scanned = others.partition_point(|&ngram| resolved.frequency(ngram) <= limit);
        self.unread = NgramSet::default();
        for &ngram in &others[scanned..] {
            self.unread.insert(usize::from(ngram));
        }
        self.order.extend(&others[..scanned]);
    }

    /// N-grams one of which every match holds.
    pub(crate) fn drivers(&self) -> &[u8] {
        &self.order[..self.drivers]
    }

    /// N-grams looked up for candidates only.
    pub(crate) fn scanned(&self) -> &[u8] {
        &self.order[self.drivers..]
    }

    /// Whether candidates need no more than the drivers' lists.
    pub(crate) fn decides_alone(&self) -> bool {
        self.drivers == self.order.len() && self.unread.is_empty()
    }

    /// N-grams that candidates may hold and whose lists are not read.
    pub(crate) fn unread(&self) -> &NgramSet {
        &self.unread
    }
}
