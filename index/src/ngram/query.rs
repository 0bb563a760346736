//! A query as a set of distinct word n-grams, each with a weight, and how much of the weight a page
//! must hold to match (METHODS, section 1, "Match").
//!
//! Not here: where weights come from. `idf` is the caller's.

use super::filter::{hash_ngram, hash_word};
use super::walk::Walk;
use super::{NgramError, NgramSet};
use crate::limits;
use crate::words::Analyzer;

/// No parent: the n-gram has one word. No n-gram has this number, there being at most 189.
pub(super) const NO_PARENT: u8 = u8::MAX;
/// Shares are met within this relative difference, so that rounding never turns a match away.
const TOLERANCE: f64 = 1e-9;
/// Bounds computed in another order of sums than the final one may be off by this share of the
/// total weight, far below [`TOLERANCE`] and far above the rounding of 189 additions.
const ROUNDING: f64 = 1e-12;
/// A word's weight at most, so that sums stay finite.
const MAX_WEIGHT: f64 = 1e12;

/// An n-gram as its first n-1 words and its last word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ngram {
    pub(crate) hash: u64,
    pub(crate) weight: f64,
    /// Number of the n-gram of all words but the last, which is smaller than this one's, or
    /// [`NO_PARENT`].
    pub(crate) parent: u8,
    /// Number of the last word; the distinct words come first among the n-grams, so it is also the
    /// number of the n-gram of this word alone.
    pub(crate) word: u8,
}

/// The distinct n-grams of a query and what it takes to match. A new query wants all of them.
///
/// N-grams are numbered by length, then by first occurrence in the query.
///
/// ```
/// use prospect_index::ngram::NgramQuery;
/// use prospect_index::words::{Analyzer, words};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let query = NgramQuery::new(&words("rust hash map"), 2).needing_share(0.5)?;
/// assert_eq!(query.len(), 5); // three words and two pairs of words
/// assert_eq!(query.ngram(4), ["hash", "map"]);
///
/// let plain = Analyzer::default();
/// let found = query.matched_in(&plain, "A hash map in C");
/// assert_eq!(found.iter().collect::<Vec<_>>(), [1, 2, 4]);
/// assert!(query.accepts(&found)); // three of five
/// assert!(!query.accepts(&query.matched_in(&plain, "a map, a hash"))); // two of five
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct NgramQuery {
    words: Vec<String>,
    ngrams: Vec<Ngram>,
    /// See [`NgramQuery::implied_by`].
    implied: Vec<NgramSet>,
    total: f64,
    needed: f64,
    /// Whether every n-gram weighs 1.
    equal_weights: bool,
    longest: usize,
}

impl NgramQuery {
    /// The n-grams of 1..=`max_words` of `words`. Words are as [`crate::words::words`] makes
    /// them; those after the first [`limits::Bounds::query_words`] are ignored, and `max_words` is brought
    /// within 1..=[`limits::Bounds::ngram_words`].
    pub fn new(words: &[String], max_words: usize) -> Self {
        let used = &words[..words.len().min(limits::BOUNDS.query_words)];
        let mut query = Self {
            words: Vec::new(),
            ngrams: Vec::new(),
            implied: Vec::new(),
            total: 0.0,
            needed: 0.0,
            equal_weights: true,
            longest: max_words.clamp(1, limits::BOUNDS.ngram_words).min(used.len()),
        };
        query.number_ngrams(used);
        query.total = query.ngrams.len() as f64;
        query.needed = query.total;
        query
    }

    fn number_ngrams(&mut self, used: &[String]) {
        let mut word_numbers = Vec::with_capacity(used.len());
        for word in used {
            let known = self.words.iter().position(|other| other == word);
            word_numbers.push(known.unwrap_or(self.words.len()) as u8);
            if known.is_none() {
                self.words.push(word.clone());
            }
        }
        // The n-gram that starts at each word of the query, one length after the other.
        let mut starting = vec![NO_PARENT; used.len()];
        for length in 1..=self.longest {
            let shorter = starting.clone();
            for start in 0..=used.len() - length {
                let word = word_numbers[start + length - 1];
                let known = self.find(shorter[start], word);
                starting[start] = known.unwrap_or(self.ngrams.len() as u8);
                if known.is_none() {
                    let suffix = if length > 1 { shorter[start + 1] } else { NO_PARENT };
                    self.push(shorter[start], word, suffix);
                }
            }
        }
    }

    /// The number of the n-gram made of `parent` and `word`, if the query has it.
    pub(super) fn find(&self, parent: u8, word: u8) -> Option<u8> {
        let same = |ngram: &Ngram| ngram.word == word && ngram.parent == parent;
        self.ngrams.iter().position(same).map(|number| number as u8)
    }

    /// Adds an n-gram; `suffix` is the n-gram of all its words but the first, or [`NO_PARENT`].
    fn push(&mut self, parent: u8, word: u8, suffix: u8) {
        let own = hash_word(&self.words[usize::from(word)]);
        let hash =
            self.ngrams.get(usize::from(parent)).map_or(own, |parent| hash_ngram(parent.hash, own));
        let mut implied = self.implied_by(parent);
        implied |= self.implied_by(suffix);
        implied.insert(self.ngrams.len());
        self.implied.push(implied);
        self.ngrams.push(Ngram { hash, weight: 1.0, parent, word });
    }

    /// Makes a page match when it holds at least `max(1, ceil(rho * m))` of the m n-grams.
    ///
    /// # Errors
    /// [`NgramError::Share`] when `rho` is not within 0..=1.
    pub fn needing_share(mut self, rho: f64) -> Result<Self, NgramError> {
        self.equal_weights = true;
        let m = self.ngrams.len() as f64;
        for ngram in &mut self.ngrams {
            ngram.weight = 1.0;
        }
        self.total = m;
        self.needed = (check_share(rho)? * m - TOLERANCE).ceil().max(1.0);
        Ok(self)
    }

    /// Makes a page match when it holds at least one n-gram and at least `rho` of the n-grams'
    /// total weight. An n-gram weighs the sum of `weight` over its words; `weight` is asked once
    /// for each distinct word. If all weights are 0, one n-gram suffices.
    ///
    /// # Errors
    /// [`NgramError::Share`] when `rho` is not within 0..=1, [`NgramError::Weight`] when a weight
    /// is negative, not a number or above 1e12.
    pub fn needing_weight(
        mut self,
        rho: f64,
        mut weight: impl FnMut(&str) -> f64,
    ) -> Result<Self, NgramError> {
        self.equal_weights = false;
        let mut word_weights = Vec::with_capacity(self.words.len());
        for word in &self.words {
            let got = weight(word);
            if !(0.0..=MAX_WEIGHT).contains(&got) {
                return Err(NgramError::Weight { word: word.clone(), got });
            }
            word_weights.push(got);
        }
        for at in 0..self.ngrams.len() {
            let Ngram { parent, word, .. } = self.ngrams[at];
            let before = self.ngrams.get(usize::from(parent)).map_or(0.0, |ngram| ngram.weight);
            self.ngrams[at].weight = before + word_weights[usize::from(word)];
        }
        self.total = self.ngrams.iter().map(|ngram| ngram.weight).sum();
        self.needed = check_share(rho)? * self.total * (1.0 - TOLERANCE);
        Ok(self)
    }

    /// Makes a page match when it holds n-grams of this weight, if it took less before.
    #[must_use]
    pub fn needing_at_least(mut self, weight: f64) -> Self {
        self.needed = self.needed.max(weight * (1.0 - TOLERANCE));
        self
    }

    /// Number of distinct n-grams.
    pub fn len(&self) -> usize {
        self.ngrams.len()
    }

    /// The distinct words, by first occurrence.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The words of n-gram `number`; none for one the query has not.
    pub fn ngram(&self, number: usize) -> Vec<&str> {
        let mut words = Vec::with_capacity(limits::BOUNDS.ngram_words);
        let mut at = self.ngrams.get(number);
        while let Some(ngram) = at {
            words.push(self.words[usize::from(ngram.word)].as_str());
            at = self.ngrams.get(usize::from(ngram.parent));
        }
        words.reverse();
        words
    }

    /// The weight of n-gram `number`; 0 for one the query has not.
    pub(crate) fn weight(&self, number: usize) -> f64 {
        self.ngrams.get(number).map_or(0.0, |ngram| ngram.weight)
    }

    /// The summed weight of all n-grams.
    pub fn total_weight(&self) -> f64 {
        self.total
    }

    /// The summed weight of `set`, added in ascending order of n-grams, so that equal sets weigh
    /// the same to the last bit.
    pub fn weight_of(&self, set: &NgramSet) -> f64 {
        // From 0, for the sum of nothing is -0.
        set.iter().fold(0.0, |sum, ngram| sum + self.weight(ngram))
    }

    /// Whether a page that holds exactly `set` matches.
    pub fn accepts(&self, set: &NgramSet) -> bool {
        let weight = if self.equal_weights { set.len() as f64 } else { self.weight_of(set) };
        weight >= self.needed && !set.is_empty()
    }

    /// The weight that a page could hold which has just these words of the query, by their places in
    /// [`NgramQuery::words`], if they stood together wherever they do in the query; none if that is not enough to match.
    ///
    /// ```
    /// use prospect_index::ngram::NgramQuery;
    /// use prospect_index::words::words;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let query = NgramQuery::new(&words("rust hash map"), 2).needing_share(0.5)?;
    /// assert_eq!(query.most_of(0b110), Some(3.0)); // "hash", "map" and, it may be, "hash map": three of five
    /// assert_eq!(query.most_of(0b101), None); // "rust" and "map"
    /// # Ok(())
    /// # }
    /// ```
    pub fn most_of(&self, words: u64) -> Option<f64> {
        let mut possible = NgramSet::default();
        for (number, ngram) in self.ngrams.iter().enumerate() {
            let (parent, word) = (ngram.parent, ngram.word);
            let begins = parent == NO_PARENT || possible.contains(usize::from(parent));
            if begins && words >> word & 1 == 1 {
                possible.insert(number);
            }
        }
        self.accepts(&possible).then(|| self.weight_of(&possible))
    }

    /// The query's n-grams that occur in a string whose words are given by their places in
    /// [`NgramQuery::words`]; `None` for a word that the query has not, or a run of them.
    pub fn matched_words(&self, words: impl Iterator<Item = Option<usize>>) -> NgramSet {
        let mut walk = Walk::new(self);
        for word in words {
            walk.word(word);
        }
        walk.found()
    }

    /// The query's n-grams that occur in one string, whose words `analyzer` makes.
    pub fn matched_in(&self, analyzer: &Analyzer, text: &str) -> NgramSet {
        let mut walk = Walk::new(self);
        analyzer.for_each_word(text, |word| {
            walk.word(self.words.iter().position(|other| other == word));
        });
        walk.found()
    }

    /// Whether no page of at most this weight, summed in any order, can match.
    pub(super) fn rules_out(&self, weight: f64) -> bool {
        weight + ROUNDING * self.total < self.needed
    }

    /// The n-gram and all n-grams within it: whatever string holds it holds these too.
    pub(super) fn implied_by(&self, number: u8) -> NgramSet {
        self.implied.get(usize::from(number)).copied().unwrap_or_default()
    }

    pub(super) fn ngrams(&self) -> &[Ngram] {
        &self.ngrams
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }
}

fn check_share(rho: f64) -> Result<f64, NgramError> {
    if (0.0..=1.0).contains(&rho) { Ok(rho) } else { Err(NgramError::Share { got: rho }) }
}
