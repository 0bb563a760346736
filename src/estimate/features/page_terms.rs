//! Scores of a few pages for many queries that share words: those that link to a URL, for the queries that it may be a
//! candidate of. Each word is looked up in each page once, and not for every query.
//!
//! Costs 8 bytes for each word and page.

use prospect_index::bm25::Scorer;
use prospect_index::page::UrlId;

use crate::estimate::features::first_links::InLink;
use crate::estimate::features::pair::PageScores;

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
    ) -> Self {
        let mut pages: Vec<UrlId> = links.iter().map(|link| link.from).collect();
        pages.sort_unstable();
        pages.dedup();
        let mut words: Vec<u32> = words.collect();
        words.sort_unstable();
        words.dedup();
        let mut scores = vec![0.0; words.len() * pages.len()];
        for (at, &page) in pages.iter().enumerate() {
            let take = |word: usize, score| scores[word * pages.len() + at] = score;
            scorer.word_scores(page, &words, take);
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
        let mut added = 0.0;
        self.scorer.word_scores(url, &[word], |_, score| added = score);
        added
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
