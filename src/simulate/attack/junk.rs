//! Words that nobody asks for: what the pages of attackers are made of.

use std::collections::HashSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Stream of the seed that attackers draw from. Seed sets and policies have others.
const STREAM: u64 = 1 << 35;
/// Letters of a word.
const LETTERS: std::ops::RangeInclusive<usize> = 6..=10;

/// A source of junk, the same for the same seed.
pub(super) struct Junk<'a> {
    random: ChaCha8Rng,
    /// Words of queries, which are never given.
    asked: HashSet<&'a str>,
}

impl<'a> Junk<'a> {
    /// Junk without the words `asked`.
    pub(super) fn new(seed: u64, asked: impl Iterator<Item = &'a str>) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        Self { random, asked: asked.collect() }
    }

    /// A word of small letters.
    pub(super) fn word(&mut self) -> String {
        loop {
            let length = self.random.random_range(LETTERS);
            let letter = |_| char::from(self.random.random_range(b'a'..=b'z'));
            let word: String = (0..length).map(letter).collect();
            if !self.asked.contains(word.as_str()) {
                return word;
            }
        }
    }

    /// So many words.
    pub(super) fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junk_is_seeded_and_holds_no_word_that_is_asked_for() {
        let first: Vec<String> = {
            let mut junk = Junk::new(7, std::iter::empty());
            (0..50).map(|_| junk.word()).collect()
        };
        let mut again = Junk::new(7, std::iter::empty());
        assert_eq!(again.text(50), first.join(" "));
        let asked = first.iter().step_by(5).map(String::as_str);
        let mut junk = Junk::new(7, asked.clone());
        let text = junk.text(50);
        assert!(asked.into_iter().all(|word| !text.split(' ').any(|own| own == word)), "{text}");
        assert!(text.contains(&first[1]));
        assert_ne!(Junk::new(8, std::iter::empty()).text(5), first[..5].join(" "));
    }
}
