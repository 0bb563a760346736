//! Looking a query's n-grams up in every segment, and giving up as soon as what is absent
//! everywhere rules a match out.

use super::NgramSet;
use super::query::{NO_PARENT, NgramQuery};
use super::segment::{NgramPostings, PostingPlace, Segment};

/// What the index knows of a query's n-grams. Tables are by segment, then word or n-gram.
#[derive(Default)]
pub(super) struct Resolved {
    word_ids: Vec<Option<u32>>,
    places: Vec<Option<PostingPlace>>,
    postings: Vec<Option<NgramPostings>>,
    /// By n-gram: number of postings over all segments. A URL of several segments counts in each.
    frequencies: Vec<u64>,
}

impl Resolved {
    /// Looks everything up; `false` if no page can match.
    pub(crate) fn look_up(&mut self, segments: &[&Segment], query: &NgramQuery) -> bool {
        let Some((candidates, mut possible)) = pass_filters(segments, query) else { return false };
        let ngrams = query.len();
        reset(&mut self.word_ids, segments.len() * query.words().len());
        reset(&mut self.places, segments.len() * ngrams);
        reset(&mut self.postings, segments.len() * ngrams);
        self.frequencies.clear();
        self.frequencies.resize(ngrams, 0);
        for ngram in candidates.iter() {
            self.look_up_ngram(segments, query, ngram);
            if self.frequencies[ngram] == 0 {
                possible -= query.weight(ngram);
                if query.rules_out(possible) {
                    return false;
                }
            }
        }
        true
    }

    /// An n-gram is reached from the place of its first n-1 words, so that each costs three steps
    /// in the FST, and none where those words do not occur together.
    fn look_up_ngram(&mut self, segments: &[&Segment], query: &NgramQuery, number: usize) {
        let ngram = query.ngrams()[number];
        for (at, segment) in segments.iter().enumerate() {
            let row = at * query.len();
            let found = if ngram.parent == NO_PARENT {
                let id = segment.token(&query.words()[number]);
                self.word_ids[at * query.words().len() + number] = id;
                id.and_then(|id| segment.word_at(id))
            } else {
                let id = self.word_ids(at, query)[usize::from(ngram.word)];
                let from = self.places[row + usize::from(ngram.parent)];
                let place = from.zip(id).and_then(|(from, id)| segment.step(from, id));
                place.map(|place| (place, segment.postings_at(place)))
            };
            let Some((place, postings)) = found else { continue };
            self.places[row + number] = Some(place);
            self.postings[row + number] = postings;
            let count = self.postings[row + number].map_or(0, |postings| postings.count);
            self.frequencies[number] += u64::from(count);
        }
    }

    /// The ids of the query's words in one segment.
    pub(crate) fn word_ids(&self, segment: usize, query: &NgramQuery) -> &[Option<u32>] {
        let words = query.words().len();
        &self.word_ids[segment * words..(segment + 1) * words]
    }

    /// The postings of an n-gram in one segment.
    pub(crate) fn postings(&self, segment: usize, ngram: u8) -> Option<NgramPostings> {
        self.postings[segment * self.frequencies.len() + usize::from(ngram)]
    }

    /// Number of postings of an n-gram over all segments.
    pub(crate) fn frequency(&self, ngram: u8) -> u64 {
        self.frequencies[usize::from(ngram)]
    }
}

/// The n-grams that some segment's filter lets pass, and their weight; `None` when that is too
/// little. The longest are asked first: they are the likeliest to be absent.
fn pass_filters(segments: &[&Segment], query: &NgramQuery) -> Option<(NgramSet, f64)> {
    let mut passing = NgramSet::default();
    let mut possible = query.total_weight();
    for (number, ngram) in query.ngrams().iter().enumerate().rev() {
        if segments.iter().any(|segment| segment.may_contain(ngram.hash)) {
            passing.insert(number);
        } else {
            possible -= ngram.weight;
            if query.rules_out(possible) {
                return None;
            }
        }
    }
    (!passing.is_empty()).then_some((passing, possible))
}

fn reset<T: Clone>(table: &mut Vec<Option<T>>, length: usize) {
    table.clear();
    table.resize(length, None);
}
