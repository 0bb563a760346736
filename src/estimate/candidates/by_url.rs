//! Candidates by words, asked by URL: which queries may one match? For a planner that goes on, which learns of few URLs
//! and links at a time; [`MatchSource`](super::ngram::MatchSource) is asked by query, for all URLs at once.

use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use rayon::prelude::*;

use super::EpochQuery;
use super::cutoff::QueryCutoffs;
use crate::estimate::features::first_links::InLink;
use crate::estimate::features::pair::FeatureSource;
use crate::workload::QueryId;

/// By URL: the queries that it may be a candidate of by its words, all that it is and perhaps more. Costs 24 bytes a URL,
/// 4 a match, 8 a query, and 8 for each word of one.
#[derive(Default)]
pub(crate) struct QueriesByUrl {
    /// By number of a word: queries that have it, with its place among their distinct words.
    by_word: Vec<Vec<(QueryId, u8)>>,
    /// By query: words that it may match by alone, as bits. Of the queries that a URL shares a word with most share no other.
    alone: Vec<u64>,
    of_url: Vec<Vec<QueryId>>,
}

/// Room for the words of one URL, for one thread.
#[derive(Default)]
struct Room {
    anchors: Vec<u32>,
    words: Vec<u32>,
    /// By query: which of its words the URL has, as bits; 0 but for those that are touched.
    had: Vec<u64>,
    touched: Vec<QueryId>,
}

impl QueriesByUrl {
    /// Of these queries; no URL was asked about yet.
    pub(crate) fn new<'q>(queries: impl Iterator<Item = &'q EpochQuery>) -> Self {
        let (mut by_word, mut alone): (Vec<Vec<(QueryId, u8)>>, Vec<u64>) = Default::default();
        for (at, query) in queries.enumerate() {
            let words = query.words.distinct().iter().zip(0..);
            let is_enough = |place: &u8| query.words.matching.most_of(1 << place).is_some();
            let places = words.clone().map(|(_, place)| place).filter(is_enough);
            alone.push(places.fold(0, |all, place| all | 1 << place));
            for (&word, place) in words.filter(|(word, _)| **word != NONE) {
                let word = word as usize;
                by_word.resize_with(by_word.len().max(word + 1), Vec::new);
                by_word[word].push((QueryId::new(at), place));
            }
        }
        Self { by_word, alone, of_url: Vec::new() }
    }

    /// The queries that a URL may match, ascending, as of when it was last brought up to date.
    pub(crate) fn of(&self, url: UrlId) -> &[QueryId] {
        self.of_url.get(url.index()).map_or(&[], Vec::as_slice)
    }

    /// Brings URLs up to date, each of which comes with the first [`LINKS`](crate::estimate::features::pair::LINKS) to it.
    pub(crate) fn update<'q, 'l>(
        &mut self,
        source: &FeatureSource<'_>,
        query: &(impl Fn(QueryId) -> &'q EpochQuery + Sync),
        queries: usize,
        cutoffs: &QueryCutoffs,
        urls: impl IndexedParallelIterator<Item = (UrlId, &'l Vec<InLink>)>,
    ) {
        self.of_url.resize_with(source.known.urls.len(), Vec::new);
        let room = || Room { had: vec![0; queries], ..Room::default() };
        let found: Vec<(UrlId, Vec<QueryId>)> = urls
            .map_init(room, |room, of| (of.0, self.find(source, query, cutoffs, of, room)))
            .collect();
        for (url, found) in found {
            self.of_url[url.index()] = found;
        }
    }

    /// Queries that it would be a candidate of if the words that the strings of a URL share with them stood in their order.
    fn find<'q>(
        &self,
        source: &FeatureSource<'_>,
        query: &impl Fn(QueryId) -> &'q EpochQuery,
        cutoffs: &QueryCutoffs,
        (url, links): (UrlId, &Vec<InLink>),
        Room { anchors, words, had, touched }: &mut Room,
    ) -> Vec<QueryId> {
        let Some(strings) = source.strings else { return Vec::new() };
        anchors.clear();
        anchors.extend(links.iter().map(|link| link.anchor));
        anchors.sort_unstable();
        anchors.dedup();
        words.clear();
        words.extend(strings.url(url));
        words.extend(anchors.iter().flat_map(|&anchor| strings.anchor(anchor)));
        words.sort_unstable();
        words.dedup();
        for &word in words.iter() {
            for &(query, place) in self.by_word.get(word as usize).map_or(&[][..], Vec::as_slice) {
                let had = &mut had[query.index()];
                if *had == 0 {
                    touched.push(query);
                }
                *had |= 1 << place;
            }
        }
        // Most share one word, that is not enough.
        let may = |at: &&QueryId| self.may_match(**at, had[at.index()]);
        let most = |at: QueryId| query(at).words.matching.most_of(had[at.index()]);
        let is_in = |at: &QueryId| most(*at).is_some_and(|most| cutoffs.admit(*at, most, url));
        let mut found: Vec<QueryId> = touched.iter().filter(may).copied().filter(is_in).collect();
        found.sort_unstable();
        touched.drain(..).for_each(|at| had[at.index()] = 0);
        found
    }

    /// Whether a URL may match a query that has these of its words, as far as a look tells.
    fn may_match(&self, query: QueryId, had: u64) -> bool {
        !had.is_power_of_two() || had & self.alone[query.index()] != 0
    }
}
