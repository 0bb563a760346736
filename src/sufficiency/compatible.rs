//! Confidence of one query as crawl4ai's shipped code computes it, which is not what its document describes:
//! kept so that its users can compare. See METHODS, section 4, `compatible`.

use std::collections::{HashMap, HashSet};

use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

/// Pages up to which consistency is of all pairs.
const EXACT_PAGES: usize = 2_000;
/// Pairs that are drawn beyond that.
const DRAWN_PAIRS: usize = 20_000;
/// Shorter words are passed over.
const SHORTEST_WORD: usize = 3;
/// Seed of their draw.
const PAIRS_SEED: u64 = 1;
/// Confidence, and saturation, from which on the source stops.
const ENOUGH: (f64, f64) = (0.7, 0.8);
const WEIGHTS: (f64, f64, f64) = (0.4, 0.3, 0.3);
const LINK_WEIGHTS: (f64, f64, f64) = (0.5, 0.3, 0.2);

/// What pages hold, in the order of their fetch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compatible {
    words: HashMap<String, usize>,
    /// By word: how often it occurs, and in how many pages.
    counts: Vec<(u64, u64)>,
    /// How often the word occurs that does most often.
    most: u64,
    /// By page: its distinct words, ascending.
    pages: Vec<Vec<u32>>,
    /// Words that were new with the first page, and with the last one.
    new_words: Option<(usize, usize)>,
    /// By word: the pages that hold it, while all pairs count.
    holders: Vec<Vec<u32>>,
    /// The sum of the similarities of all pairs.
    alike: f64,
}

/// Confidence and its parts, each in \[0, 1\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Confidence {
    /// Of the query's words by the pages.
    pub(crate) coverage: f64,
    /// Mean similarity of the pages, whatever the query.
    pub(crate) consistency: f64,
    /// How few new words the last page brought.
    pub(crate) saturation: f64,
    /// Their weighted mean.
    #[serde(rename = "confidence")]
    pub(crate) whole: f64,
}

impl Compatible {
    /// Takes in the next page.
    pub(crate) fn add(&mut self, title: &str, text: &str) {
        let before = self.counts.len();
        let mut page = Vec::new();
        for_each_term(title, |word| page.push(self.count(word)));
        for_each_term(text, |word| page.push(self.count(word)));
        page.sort_unstable();
        page.dedup();
        for &word in &page {
            self.counts[word as usize].1 += 1;
        }
        self.compare(&page);
        self.pages.push(page);
        let new = self.counts.len() - before;
        self.new_words = Some((self.new_words.map_or(new, |(first, _)| first), new));
    }

    /// Counts an occurrence of a word, and gives the word's number.
    fn count(&mut self, word: &str) -> u32 {
        let next = self.counts.len();
        let number = *self.words.entry(word.to_owned()).or_insert(next);
        if number == next {
            self.counts.push((0, 0));
        }
        self.counts[number].0 += 1;
        self.most = self.most.max(self.counts[number].0);
        number as u32
    }

    /// Whether consistency is of pairs that are drawn, and not of all.
    pub(crate) fn draws(&self) -> bool {
        self.pages.len() > EXACT_PAGES
    }

    /// What all queries share: consistency and saturation.
    pub(crate) fn of_pages(&self) -> (f64, f64) {
        (self.consistency(), self.saturation())
    }

    /// Whether the source would stop, of queries with how often each is asked: by their mean confidence, or as the last page
    /// brought few new words. Its third rule, a best link of less than 0.1, cannot hold: a link has 0.2 for its authority.
    pub(crate) fn has_enough<'q>(&self, queries: impl Iterator<Item = (&'q str, f64)>) -> bool {
        let (enough, saturated) = ENOUGH;
        if self.saturation() >= saturated {
            return true;
        }
        let shared = self.of_pages();
        let (mut sum, mut askings) = (0.0, 0.0);
        for (query, frequency) in queries {
            sum += frequency * self.confidence(query, shared).whole;
            askings += frequency;
        }
        askings > 0.0 && sum >= enough * askings
    }

    /// Confidence of a query, with what all queries share.
    pub(crate) fn confidence(
        &self,
        query: &str,
        (consistency, saturation): (f64, f64),
    ) -> Confidence {
        let coverage = self.coverage(&terms(query));
        let whole = WEIGHTS.0 * coverage + WEIGHTS.1 * consistency + WEIGHTS.2 * saturation;
        Confidence { coverage, consistency, saturation, whole }
    }

    fn coverage(&self, terms: &HashSet<String>) -> f64 {
        if terms.is_empty() || self.pages.is_empty() {
            return 0.0;
        }
        let mut terms: Vec<&String> = terms.iter().collect();
        terms.sort_unstable();
        let sum = terms.iter().map(|term| self.coverage_of(term)).sum::<f64>();
        (sum / terms.len() as f64).sqrt().min(1.0)
    }

    /// Coverage of one word, where there are pages.
    fn coverage_of(&self, term: &str) -> f64 {
        let Some(&number) = self.words.get(term) else { return 0.0 };
        let (times, holders) = self.counts[number];
        let frequency = (1.0 + times as f64).ln() / (1.0 + self.most as f64).ln();
        holders as f64 / self.pages.len() as f64 * (1.0 + 0.5 * frequency)
    }

    fn consistency(&self) -> f64 {
        let count = self.pages.len();
        if count < 2 {
            return 1.0;
        }
        if !self.draws() {
            return self.alike / (count * (count - 1) / 2) as f64;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(PAIRS_SEED);
        let drawn = (0..DRAWN_PAIRS).map(|_| {
            let pair = sample(&mut rng, count, 2);
            jaccard(&self.pages[pair.index(0)], &self.pages[pair.index(1)])
        });
        drawn.sum::<f64>() / DRAWN_PAIRS as f64
    }

    /// Similarities of a new page to those before it, summed, as long as all pairs count.
    fn compare(&mut self, page: &[u32]) {
        if self.pages.len() >= EXACT_PAGES {
            self.holders = Vec::new();
            return;
        }
        self.holders.resize(self.counts.len(), Vec::new());
        let mut shared = vec![0_usize; self.pages.len()];
        for &word in page {
            let holders = &mut self.holders[word as usize];
            for &earlier in &*holders {
                shared[earlier as usize] += 1;
            }
            holders.push(self.pages.len() as u32);
        }
        for (earlier, shared) in self.pages.iter().zip(shared) {
            self.alike += similarity(shared, earlier.len() + page.len());
        }
    }

    fn saturation(&self) -> f64 {
        match self.new_words {
            Some((first, last)) if self.pages.len() > 1 && first > 0 => {
                (1.0 - last as f64 / first as f64).clamp(0.0, 1.0)
            }
            _ => 0.0,
        }
    }

    /// How new the words of a link are: the share that no page holds.
    fn novelty(&self, link: &HashSet<String>) -> f64 {
        if self.pages.is_empty() {
            return 1.0;
        }
        if link.is_empty() {
            return 0.5;
        }
        let new = link.iter().filter(|term| !self.words.contains_key(*term)).count();
        new as f64 / link.len() as f64
    }
}

/// Links that could be followed next, in the order of their discovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    novelty: Vec<f64>,
    /// By word: the links that hold it.
    holders: HashMap<String, Vec<u32>>,
    /// The first of those with the most new words.
    newest: Option<u32>,
}

impl Links {
    /// Takes in the next link by its text.
    pub(crate) fn add(&mut self, state: &Compatible, text: &str) {
        let (terms, at) = (terms(text), self.novelty.len() as u32);
        let novelty = state.novelty(&terms);
        if self.newest.is_none_or(|newest| self.novelty[newest as usize] < novelty) {
            self.newest = Some(at);
        }
        self.novelty.push(novelty);
        for term in terms {
            self.holders.entry(term).or_default().push(at);
        }
    }

    /// The link that a query is best served by, by its place, and its score; the first of equals. None without links.
    pub(crate) fn best(&self, query: &str) -> Option<(usize, f64)> {
        let query = terms(query);
        let mut shared: HashMap<u32, usize> = self.newest.iter().map(|&link| (link, 0)).collect();
        for link in query.iter().filter_map(|term| self.holders.get(term)).flatten() {
            *shared.entry(*link).or_default() += 1;
        }
        let relevance = |count: usize| count as f64 / query.len().max(1) as f64;
        let score = |(link, count): (u32, usize)| {
            (link as usize, link_score(relevance(count), self.novelty[link as usize]))
        };
        shared
            .into_iter()
            .map(score)
            .max_by(|(a, score), (b, other)| score.total_cmp(other).then_with(|| b.cmp(a)))
    }
}

/// Score of a link. Its relevance is the contextual BM25 score where a crawler has one, else the share of the
/// query's words that its text holds; its authority is always 1.
fn link_score(relevance: f64, novelty: f64) -> f64 {
    LINK_WEIGHTS.0 * relevance + LINK_WEIGHTS.1 * novelty + LINK_WEIGHTS.2
}

/// The words of the source's code: runs of letters and digits in lower case, longer than two characters.
fn for_each_term(text: &str, mut take: impl FnMut(&str)) {
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        if run.chars().count() >= SHORTEST_WORD {
            take(&run.to_lowercase());
        }
    }
}

fn terms(text: &str) -> HashSet<String> {
    let mut terms = HashSet::new();
    for_each_term(text, |word| {
        terms.insert(word.to_owned());
    });
    terms
}

/// Jaccard similarity of ascending sets; 0 of two empty ones.
fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0_usize);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
        }
    }
    similarity(shared, a.len() + b.len())
}

/// Jaccard similarity of two sets that have so many words together, those they share counted twice.
fn similarity(shared: usize, both: usize) -> f64 {
    let all = both - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "crawl budget for tail queries";
    const PAGES: [&str; 3] = [
        "The crawl budget limits the crawl. Crawl budget matters.",
        "Tail queries are rare queries about obscure topics.",
        "Budget for tail queries: spend crawl on tail topics.",
    ];

    /// METHODS, section 6.
    #[test]
    fn the_golden_example_holds_to_six_decimals() {
        let golden = [
            (0.761_084, 1.0, 0.0, 0.604_433, 5),
            (0.744_478, 0.0, 0.0, 0.297_791, 7),
            (0.923_739, 0.157_576, 0.6, 0.596_768, 2),
        ];
        let mut state = Compatible::default();
        for (page, (coverage, consistency, saturation, confidence, new)) in PAGES.iter().zip(golden)
        {
            state.add("", page);
            let shared = state.of_pages();
            let found = state.confidence(QUERY, shared);
            let pairs = [
                (found.coverage, coverage),
                (found.consistency, consistency),
                (found.saturation, saturation),
                (found.whole, confidence),
            ];
            assert!(pairs.iter().all(|(is, wanted)| (is - wanted).abs() < 5e-7), "{pairs:?}");
            assert_eq!(state.new_words.unwrap().1, new);
        }
    }

    fn best(state: &Compatible, texts: &[&str]) -> Option<(usize, f64)> {
        let mut links = Links::default();
        for text in texts {
            links.add(state, text);
        }
        links.best(QUERY)
    }

    #[track_caller]
    fn is(found: Option<(usize, f64)>, place: usize, score: f64) {
        let (link, own) = found.unwrap();
        assert!(link == place && (own - score).abs() < 1e-12, "{link} {own}");
    }

    #[test]
    fn links_are_scored_as_in_the_golden_example() {
        let mut state = Compatible::default();
        is(best(&state, &[""]), 0, 0.5); // All is new before any page.
        for page in PAGES {
            state.add("", page);
        }
        is(best(&state, &["crawl budget tail queries for"]), 0, 0.7);
        is(best(&state, &["Tail queries guide"]), 0, 0.5);
        is(best(&state, &[""]), 0, 0.35);
        let texts =
            ["Tail queries guide", "Guide tail queries", "", "crawl budget tail queries for"];
        is(best(&state, &texts), 3, 0.7);
        is(best(&state, &texts[..3]), 0, 0.5);
        assert_eq!(best(&state, &[]), None);
        // With a contextual score.
        assert!((link_score(0.4, 0.0) - 0.4).abs() < 1e-12);
    }

    fn are_enough(pages: &[&str], queries: &[(&str, f64)]) -> bool {
        let mut state = Compatible::default();
        for page in pages {
            state.add("", page);
        }
        state.has_enough(queries.iter().copied())
    }

    #[test]
    fn the_mean_over_askings_or_a_page_without_new_words_is_enough() {
        // Half of the words are new, two of three shared: 0.4 + 0.3 * 2/3 + 0.3 * 0.5 = 0.75, and without the word 0.35.
        let two = ["apple banana", "apple banana cherry"];
        assert!(are_enough(&two, &[("apple", 1.0)]));
        assert!(!are_enough(&two, &[("apple", 1.0), ("pear", 1.0)]), "0.55 on the mean");
        assert!(are_enough(&two, &[("apple", 9.0), ("pear", 1.0)]), "0.71");
        assert!(!are_enough(&two, &[]), "nobody asks");
        // Of five first words the second page adds one, or two.
        let first = "apple banana cherry damson elder";
        assert!(are_enough(&[first, "apple fig"], &[("pear", 1.0)]));
        assert!(!are_enough(&[first, "fig guava"], &[("pear", 1.0)]));
    }

    #[test]
    fn similarities_are_summed_as_pages_come() {
        let mut state = Compatible::default();
        for page in 0..40_u32 {
            let words = (0..12).map(|at| format!("word{}", (page * 7 + at * at) % 50));
            state.add("", &words.collect::<Vec<_>>().join(" "));
            let pages = &state.pages;
            let pairs = (0..pages.len()).flat_map(|a| (a + 1..pages.len()).map(move |b| (a, b)));
            let all: f64 = pairs.map(|(a, b)| jaccard(&pages[a], &pages[b])).sum();
            assert!((state.alike - all).abs() < 1e-9, "{} {all}", state.alike);
        }
    }

    #[test]
    fn beyond_two_thousand_pages_pairs_are_drawn() {
        let mut state = Compatible::default();
        for page in 0..2_001 {
            if page == EXACT_PAGES {
                assert!(!state.draws());
                let (exact, _) = state.of_pages();
                assert!((exact - 999.0 / 1_999.0).abs() < 1e-12, "{exact}");
            }
            state.add("", if page % 2 == 0 { "even pages share" } else { "odd ones differ" });
        }
        assert!(state.draws());
        let (consistency, _) = state.of_pages();
        assert!((consistency - 0.5).abs() < 0.02, "{consistency}");
        assert_eq!(state.of_pages(), state.of_pages());
        assert_eq!(Compatible::default().confidence("a query", (1.0, 0.0)).coverage, 0.0);
    }
}
