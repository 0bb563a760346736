//! Scores of a few pages for many queries that share words: those that link to a URL, for the queries that it may be a
//! candidate of. Each word is looked up in each page once, and not for every query.
//!
//! Costs 8 bytes for each word and page.

use prospect_index::bm25::Scorer;
use prospect_index::page::UrlId;

use crate::estimate::features::first_links::InLink;
use crate::estimate::features::pair::PageScores;

/// Room for the places of words, for one thread: by word, 1 more than its place; all 0 between two uses.
pub(crate) type WordPlaces = Vec<u32>;

/// What each of some words adds to the score of each of some pages.
pub(crate) struct PageTerms<'a> {
    scorer: &'a Scorer<'a>,
    /// Ascending.
    pages: Vec<UrlId>,
    /// Ascending.
    words: Vec<u32>,
    /// By word, then page.
    scores: Vec<f64>,
}

/// Scores for one query: of the pages that were looked at from there, of others by the index.
pub(crate) struct PageTermScores<'a> {
    of: &'a PageTerms<'a>,
    query: &'a [u32],
    /// By page.
    scores: Vec<f64>,
}

impl<'a> PageTerms<'a> {
    /// Of the pages that show these links, for these words; the scorer must score pages one by one.
    pub(crate) fn new(
        scorer: &'a Scorer<'a>,
        links: &[InLink],
        words: impl Iterator<Item = u32>,
        places: &mut WordPlaces,
    ) -> Self {
        let mut pages: Vec<UrlId> = links.iter().map(|link| link.from).collect();
        pages.sort_unstable();
        pages.dedup();
        let mut words: Vec<u32> = words.collect();
        words.sort_unstable();
        words.dedup();
        let most = words.last().map_or(0, |word| *word as usize + 1);
        places.resize(places.len().max(most), 0);
        for (&word, after) in words.iter().zip(1..) {
            places[word as usize] = after;
        }
        let place = |word: u32| places.get(word as usize)?.checked_sub(1);
        let mut scores = vec![0.0; words.len() * pages.len()];
        for (at, &page) in pages.iter().enumerate() {
            for (word, score) in scorer.word_scores(page, place) {
                scores[word as usize * pages.len() + at] = score;
            }
        }
        for &word in &words {
            places[word as usize] = 0;
        }
        Self { scorer, pages, words, scores }
    }

    /// Links that know where the scores of their pages are, of those that were looked at.
    pub(crate) fn placed(&self, links: &[InLink]) -> Vec<InLink> {
        let place = |link: &InLink| self.pages.binary_search(&link.from);
        links.iter().map(|link| place(link).map_or(*link, |at| link.at(at as u32))).collect()
    }

    /// Scores for a query of some of these words, to the bit what [`Scorer::score`] gives.
    pub(crate) fn of_query(&'a self, query: &'a [u32]) -> PageTermScores<'a> {
        let mut scores = vec![0.0; self.pages.len()];
        for word in query {
            let at = self.words.binary_search(word).expect("a word that was looked up");
            let added = &self.scores[at * self.pages.len()..][..self.pages.len()];
            scores.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
        }
        PageTermScores { of: self, query, scores }
    }

    /// Score of a page that was not looked at.
    fn score(&self, query: &[u32], url: UrlId) -> f64 {
        query.iter().fold(0.0, |sum, word| sum + self.word_score(*word, url))
    }

    fn word_score(&self, word: u32, url: UrlId) -> f64 {
        let is_it = |other| (other == word).then_some(());
        self.scorer.word_scores(url, is_it).next().map_or(0.0, |((), score)| score)
    }
}

impl PageScores for PageTermScores<'_> {
    fn of(&self, url: UrlId) -> f64 {
        let at = self.of.pages.binary_search(&url);
        at.map_or_else(|_| self.of.score(self.query, url), |at| self.scores[at])
    }

    fn of_link(&self, link: InLink) -> f64 {
        link.place().map_or_else(|| self.of(link.from), |place| self.scores[place as usize])
    }
}
