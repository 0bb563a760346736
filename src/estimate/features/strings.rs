//! URLs and anchors as numbers of the words of a workload, so that a planner that goes on cuts each
//! of them into words once, and not for every query and plan.
//!
//! Costs about 4 bytes a URL, 8 an anchor, and 4 for each of their words that some query has; of some alone 4 more for each
//! of these, and 4 for any other.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::words::{self, Analyzer};
use rayon::prelude::*;

use crate::workload::Query;

/// Texts that one thread cuts before it takes others.
const TEXTS: usize = 4096;

/// Strings known so far, as numbers of words. Words that no query has are [`NONE`], one for a run
/// of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    vocabulary: HashMap<String, u32>,
    urls: Lists,
    anchors: Lists,
    /// By place of an anchor: see [`sign`].
    signs: Vec<u32>,
}

/// A bit for each word, and the same for several: texts whose signs have no bit in common have no word in common, and the
/// signs of all anchors take a tenth of the room of their words.
pub(crate) fn sign(words: &[u32]) -> u32 {
    let bit = |word: &u32| 1 << (word.wrapping_mul(0x9E37_79B1) >> 27);
    words.iter().filter(|&&word| word != NONE).map(bit).fold(0, |all, bit: u32| all | bit)
}

#[derive(Clone, Debug, Default)]
struct Lists {
    words: Vec<u32>,
    ends: Vec<u32>,
    /// Where the words of each text are, if only some are cut; else they follow each other.
    places: Vec<u32>,
}

impl Lists {
    fn push(&mut self, text: &str, analyzer: &Analyzer, vocabulary: &HashMap<String, u32>) {
        let start = self.words.len();
        analyzer.for_each_word(text, |word| {
            let number = vocabulary.get(word).copied().unwrap_or(NONE);
            let run = number == NONE && self.words[start..].last() == Some(&NONE);
            if !run {
                self.words.push(number);
            }
        });
        self.ends.push(self.words.len() as u32);
    }

    /// Adds texts, given by number, that are cut side by side.
    fn extend<T: AsRef<str>>(
        &mut self,
        numbers: impl IndexedParallelIterator<Item = usize>,
        text: impl Fn(usize) -> T + Sync,
        analyzer: &Analyzer,
        vocabulary: &HashMap<String, u32>,
    ) {
        let cut = numbers.fold_chunks(TEXTS, Self::default, |mut some, number| {
            some.push(text(number).as_ref(), analyzer, vocabulary);
            some
        });
        for some in cut.collect::<Vec<Self>>() {
            let before = self.words.len() as u32;
            self.words.extend(some.words);
            self.ends.extend(some.ends.into_iter().map(|end| before + end));
        }
    }

    /// Of so many texts only these come, in their order, and none has come yet.
    fn expect(&mut self, texts: &[u32], count: usize) {
        debug_assert!(self.ends.is_empty());
        self.places.resize(count, NONE);
        for (&text, place) in texts.iter().zip(0..) {
            self.places[text as usize] = place;
        }
    }

    /// Where the words of a text are.
    fn place(&self, text: usize) -> usize {
        self.places.get(text).map_or(text, |&place| place as usize)
    }

    /// The words at a place.
    fn at(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start as usize..self.ends[at] as usize]
    }
}

impl Strings {
    /// No string yet, for the words of `queries`.
    pub(crate) fn new(queries: &[Query]) -> Self {
        let mut vocabulary = HashMap::new();
        for word in queries.iter().flat_map(|query| &query.words) {
            let next = vocabulary.len() as u32;
            vocabulary.entry(word.clone()).or_insert(next);
        }
        Self { vocabulary, ..Self::default() }
    }

    /// Takes in URLs and anchors that are new since the last call.
    pub(crate) fn update(&mut self, known: &Known) {
        let urls = self.urls.ends.len()..known.urls.len();
        let anchors = self.anchors.ends.len()..known.links.anchors();
        self.cut(known, urls.into_par_iter(), anchors.into_par_iter());
    }

    /// Takes in some URLs and anchors, given by their numbers, ascending and each once, in place of all: it has none yet, and
    /// is asked of no others.
    pub(crate) fn take_some(&mut self, known: &Known, urls: &[u32], anchors: &[u32]) {
        self.urls.expect(urls, known.urls.len());
        self.anchors.expect(anchors, known.links.anchors());
        let number = |number: &u32| *number as usize;
        self.cut(known, urls.par_iter().map(number), anchors.par_iter().map(number));
    }

    fn cut(
        &mut self,
        known: &Known,
        urls: impl IndexedParallelIterator<Item = usize>,
        anchors: impl IndexedParallelIterator<Item = usize>,
    ) {
        let Self { vocabulary, urls: of_urls, anchors: of_anchors, signs } = self;
        let url = |id: usize| words::url_text(known.urls.url(UrlId(id as u32)));
        of_urls.extend(urls, url, &known.analyzer, vocabulary);
        let anchor = |id: usize| known.links.anchor(id as u32);
        of_anchors.extend(anchors, anchor, &known.analyzer, vocabulary);
        let new = signs.len()..of_anchors.ends.len();
        signs.extend(new.map(|place| sign(of_anchors.at(place))));
    }

    /// Numbers of words of a query; [`NONE`] for one of another workload.
    pub(crate) fn numbers(&self, words: &[String]) -> Vec<u32> {
        words.iter().map(|word| self.vocabulary.get(word).copied().unwrap_or(NONE)).collect()
    }

    /// The words of a URL.
    pub(crate) fn url(&self, url: UrlId) -> &[u32] {
        self.urls.at(self.urls.place(url.index()))
    }

    /// The sign of the words of an anchor.
    pub(crate) fn anchor_sign(&self, id: u32) -> u32 {
        self.signs[self.anchors.place(id as usize)]
    }

    /// The words of an anchor.
    pub(crate) fn anchor(&self, id: u32) -> &[u32] {
        self.anchors.at(self.anchors.place(id as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_a_word_in_common_have_a_bit_of_their_signs_in_common() {
        let words: Vec<u32> = (0..400).collect();
        assert_eq!(sign(&[NONE]), 0, "what no query has is no word");
        let mut apart = 0;
        for some in words.windows(3) {
            assert!(some.iter().all(|&word| sign(some) & sign(&[word, NONE]) != 0));
            apart += usize::from(sign(some) & sign(&[some[0] + 1000]) == 0);
        }
        assert!(apart > 300, "most texts are told apart: {apart}");
    }
}
