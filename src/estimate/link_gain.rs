//! Links as progressive crawling by information sufficiency ranks them (crawl4ai): relevance to a query, times
//! novelty, times authority. See METHODS, section 4.
//!
//! - Relevance is the share of the query's idf mass that the URL's words, the anchors that lead to it and the texts
//!   around them hold. A URL of which only texts around links hold a word is no candidate.
//! - Novelty is the share of the words of its URL and anchors that no crawled page holds: half if there are none, all
//!   before any page. Texts around links are those of crawled pages, and never new.
//! - Authority is PageRank over the crawled links as a share of the greatest.
//!
//! Most links have no new word. They come last, by relevance times authority.

use std::collections::HashMap;
use std::sync::Arc;

use prospect_index::link_context::word_number;
use prospect_index::page::UrlId;
use prospect_index::words;
use rayon::prelude::*;

use super::EstimateError;
use super::crawl_view::CrawlView;
use super::features::match_rule::{MatchRule, idf_mass};
use super::horizon::{FrontierHorizon, Horizon};
use super::pair_table::PairTable;
use super::url_estimate::{PairEstimate, ScoredCandidates};
use crate::workload::{Query, QueryId};

/// Novelty of a link without words.
const NO_WORDS: f64 = 0.5;
/// What novelty counts where no word is new: so little that all links with a new word come before.
const NOTHING_NEW: f64 = 1e-9;

/// Estimates the URLs that share a word with one of the queries, given as indices, and hold at least `rule.rho` of
/// its idf mass.
///
/// # Errors
/// The index cannot be read.
pub(super) fn estimate(
    input: &CrawlView<'_>,
    queries: &[usize],
    rule: MatchRule,
) -> Result<ScoredCandidates, EstimateError> {
    let links = Links::new(input);
    let novelty = links.novelty(input)?;
    let authority = links.authority(input);
    let pairs = queries.par_iter().flat_map_iter(|&at| {
        let query = &input.queries[at];
        let mass = idf_mass(query, input.scorer);
        let mut relevant = links.relevance(input, query, mass);
        relevant.retain(|(_, relevance)| *relevance >= rule.rho);
        let (links, novelty, authority) = (&links, &novelty, &authority);
        relevant.into_iter().map(move |(place, relevance)| {
            let place = place as usize;
            let (query, expected_score) = (QueryId::new(at), relevance * mass);
            let chance = relevance * novelty[place].max(NOTHING_NEW) * authority[place];
            let url = links.urls[place];
            PairEstimate { url, query, expected_score, chance, matches: true, bin: 0 }
        })
    });
    let pairs = pairs.collect();
    let pairs = Arc::new(PairTable::each(pairs, input.known.urls.len()));
    Ok(ScoredCandidates { pairs, page_impact: Vec::new(), training_pairs: 0, levels: None })
}

/// Words of the links that may be followed.
struct Links {
    /// Where they lead.
    urls: Vec<UrlId>,
    /// Distinct words of URLs and anchors.
    words: Vec<String>,
    /// By link: its distinct words.
    words_of: Vec<Vec<u32>>,
    /// By word: the links that hold it.
    holders: HashMap<String, Vec<u32>>,
}

impl Links {
    fn new(input: &CrawlView<'_>) -> Self {
        let known = input.known;
        let now = FrontierHorizon { known, within: input.within };
        let urls: Vec<UrlId> = known.urls.ids().filter(|url| now.of(*url).is_some()).collect();
        let mut numbered = NumberedWords::default();
        let mut words_of = Vec::with_capacity(urls.len());
        for (place, &url) in urls.iter().enumerate() {
            let mut own: Vec<u32> = Vec::new();
            let mut take = |word: &str| own.push(numbered.number(word));
            known.analyzer.for_each_word(&words::url_text(known.urls.url(url)), &mut take);
            let mut anchors: Vec<u32> =
                known.links.incoming(url, u32::MAX).map(|link| link.anchor).collect();
            anchors.sort_unstable();
            anchors.dedup();
            for anchor in anchors {
                known.analyzer.for_each_word(known.links.anchor(anchor), &mut take);
            }
            own.sort_unstable();
            own.dedup();
            for &word in &own {
                numbered.holders[word as usize].push(place as u32);
            }
            words_of.push(own);
        }
        let NumberedWords { numbers, holders: mut by_word } = numbered;
        let mut words = vec![String::new(); by_word.len()];
        let mut holders = HashMap::with_capacity(by_word.len());
        for (word, number) in numbers {
            holders.insert(word.clone(), std::mem::take(&mut by_word[number as usize]));
            words[number as usize] = word;
        }
        Self { urls, words, words_of, holders }
    }

    /// By link: the share of its words that no crawled page holds.
    fn novelty(&self, input: &CrawlView<'_>) -> Result<Vec<f64>, EstimateError> {
        if input.known.pages.len() == 0 {
            return Ok(vec![1.0; self.urls.len()]);
        }
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let held = input.scorer.held(&words, input.manifest.next_seq)?;
        Ok(self.words_of.iter().map(|words| novelty(words, &held)).collect())
    }

    /// By link: what PageRank its URL has, as a share of the greatest.
    fn authority(&self, input: &CrawlView<'_>) -> Vec<f64> {
        let ranks = input.ranks.now(input.known);
        // Ranks are ln(1 + n PageRank).
        let rank = |url: &UrlId| f64::from(ranks.get(url.index()).copied().unwrap_or(0.0)).exp_m1();
        let most = f64::from(ranks.iter().copied().fold(0.0, f32::max)).exp_m1();
        self.urls.iter().map(|url| if most > 0.0 { rank(url) / most } else { 1.0 }).collect()
    }

    /// The links that hold a word of a query, by place, with the share of its idf `mass` that they hold, texts around
    /// them included.
    fn relevance(&self, input: &CrawlView<'_>, query: &Query, mass: f64) -> Vec<(u32, f64)> {
        let mut held: HashMap<u32, u64> = HashMap::new();
        // Words beyond the 64th are passed over.
        let words = || query.words.iter().take(64).enumerate();
        for (bit, word) in words() {
            for &place in self.holders.get(word).into_iter().flatten() {
                *held.entry(place).or_default() |= 1 << bit;
            }
        }
        let numbers: Vec<(usize, u32)> = words().map(|(bit, w)| (bit, word_number(w))).collect();
        let mut found: Vec<(u32, f64)> = held
            .into_iter()
            .map(|(place, mut bits)| {
                for around in input.link_context.of(self.urls[place as usize], u32::MAX) {
                    for (bit, number) in &numbers {
                        bits |= u64::from(around.words.contains(number)) << bit;
                    }
                }
                let idf = |(bit, word): (usize, &String)| {
                    if bits >> bit & 1 == 1 { input.scorer.idf(word) } else { 0.0 }
                };
                let held: f64 = words().map(idf).sum();
                (place, if mass > 0.0 { held / mass } else { 0.0 })
            })
            .collect();
        found.sort_unstable_by_key(|(place, _)| *place);
        found
    }
}

/// Words while links are read.
#[derive(Default)]
struct NumberedWords {
    numbers: HashMap<String, u32>,
    /// By number: the links that hold it.
    holders: Vec<Vec<u32>>,
}

impl NumberedWords {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.holders.len() as u32;
        self.holders.push(Vec::new());
        self.numbers.insert(word.to_owned(), number);
        number
    }
}

/// The share of words that are new, where some are `held` by crawled pages.
fn novelty(words: &[u32], held: &[bool]) -> f64 {
    if words.is_empty() {
        return NO_WORDS;
    }
    let new = words.iter().filter(|word| !held[**word as usize]).count();
    new as f64 / words.len() as f64
}
