//! Finding a query's n-grams in a text: the index's way to verify a candidate, and the direct way
//! for a string that is at hand.

use super::NgramSet;
use super::query::{NO_PARENT, NgramQuery};
use crate::limits;

/// Finds a query's n-grams while the words of a page pass by.
pub(super) struct Walk<'q> {
    query: &'q NgramQuery,
    /// The query's n-grams that end at the last word: by length less 1, or [`NO_PARENT`].
    open: [u8; limits::BOUNDS.ngram_words],
    found: NgramSet,
}

impl<'q> Walk<'q> {
    /// Starts before the first string.
    pub(crate) fn new(query: &'q NgramQuery) -> Self {
        Self { query, open: [NO_PARENT; limits::BOUNDS.ngram_words], found: NgramSet::default() }
    }

    /// Takes the next word by its number in the query; `None` for a word that the query has not,
    /// and between two strings.
    #[inline]
    pub(crate) fn word(&mut self, number: Option<usize>) {
        let Some(word) = number else {
            self.open = [NO_PARENT; limits::BOUNDS.ngram_words];
            return;
        };
        let before = self.open;
        self.found.insert(word);
        self.open[0] = word as u8;
        for length in 1..self.query.longest() {
            self.open[length] = self.child(before[length - 1], word as u8);
        }
    }

    fn child(&mut self, parent: u8, word: u8) -> u8 {
        if parent == NO_PARENT {
            return NO_PARENT;
        }
        match self.query.find(parent, word) {
            Some(number) => {
                self.found.insert(usize::from(number));
                number
            }
            None => NO_PARENT,
        }
    }

    /// What was found.
    pub(crate) fn found(&self) -> NgramSet {
        self.found
    }
}
