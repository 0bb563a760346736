//! Candidates by words, asked by URL: which queries may one match? For a planner that goes on, which learns of few URLs
//! and links at a time; [`MatchSource`](super::ngram::MatchSource) is asked by query, for all URLs at once.

use std::cmp::Reverse;

use prospect_index::ngram::NgramQuery;
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use rayon::prelude::*;

use super::EpochQuery;
use super::cutoff::QueryCutoffs;
use crate::estimate::features::first_links::InLink;
use crate::estimate::features::pair::{AskedQuery, FeatureSource};
use crate::workload::QueryId;

/// By URL: the queries that it may be a candidate of by its words, all that it is and perhaps more. Costs 24 bytes a URL,
/// 4 a match, 8 a query, and 4 for each word of one.
#[derive(Default)]
pub(crate) struct QueriesByUrl {
    /// By number of a word: queries that are looked for by it, see [`needed_words`].
    by_word: Vec<Vec<QueryId>>,
    /// By query: words that it may match by alone, as bits. Of the queries that a URL shares a word with most share no other.
    alone: Vec<u64>,
    of_url: Vec<Vec<QueryId>>,
}

/// Words of a query by number, but for those of another workload, with their places among its distinct words.
fn known_words(query: &EpochQuery) -> impl Iterator<Item = (u32, u8)> {
    query.words.distinct().iter().copied().zip(0..).filter(|(word, _)| *word != NONE)
}

/// Words of which a URL must have one to hold so much of a query at `least`: those are left out, in the order of how many
/// queries have them, which all together do not do.
fn needed_words(
    matching: &NgramQuery,
    mut words: Vec<(u32, u8)>,
    least: f64,
    counts: &[u32],
) -> Vec<u32> {
    words.sort_by_key(|(word, _)| Reverse(counts[*word as usize]));
    let is_enough = |words| matching.most_of(words).is_some_and(|most| most >= least);
    let (mut left_out, mut needed) = (0, Vec::new());
    for (word, place) in words {
        if is_enough(left_out | 1 << place) {
            needed.push(word);
        } else {
            left_out |= 1 << place;
        }
    }
    needed
}

/// Room for the words of one URL, for one thread.
#[derive(Default)]
struct Room {
    anchors: Vec<u32>,
    words: Vec<u32>,
    /// By number of a word: whether the URL has it.
    has: Vec<bool>,
    /// By query: whether it is among those that are `touched`.
    is_touched: Vec<bool>,
    touched: Vec<QueryId>,
}

impl QueriesByUrl {
    /// Of these queries, with their cutoffs, which stay; no URL was asked about yet.
    pub(crate) fn new<'q>(
        queries: impl Iterator<Item = &'q EpochQuery> + Clone,
        cutoffs: &QueryCutoffs,
    ) -> Self {
        let words = |query: &'q EpochQuery| known_words(query).map(|(word, _)| word as usize);
        let most = queries.clone().flat_map(words).max();
        let mut counts = vec![0_u32; most.map_or(0, |most| most + 1)];
        for word in queries.clone().flat_map(words) {
            counts[word] += 1;
        }
        let (mut by_word, mut alone) = (vec![Vec::new(); counts.len()], Vec::new());
        for (at, query) in queries.enumerate() {
            let (id, matching) = (QueryId::new(at), &query.words.matching);
            let is_enough = |place: &u8| matching.most_of(1 << place).is_some();
            let places = (0..query.words.distinct().len() as u8).filter(is_enough);
            alone.push(places.fold(0, |all, place| all | 1 << place));
            let known = known_words(query).collect();
            for word in needed_words(matching, known, cutoffs.least(id), &counts) {
                by_word[word as usize].push(id);
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
        let has = || vec![false; self.by_word.len()];
        let room = || Room { has: has(), is_touched: vec![false; queries], ..Room::default() };
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
        Room { anchors, words, has, is_touched, touched }: &mut Room,
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
        // Of words that no query has there is nothing.
        words.truncate(words.partition_point(|&word| (word as usize) < self.by_word.len()));
        for &word in words.iter() {
            has[word as usize] = true;
            for &query in &self.by_word[word as usize] {
                if !std::mem::replace(&mut is_touched[query.index()], true) {
                    touched.push(query);
                }
            }
        }
        let most = |at: QueryId| self.most_of(at, &query(at).words, has);
        let is_in = |at: &QueryId| most(*at).is_some_and(|most| cutoffs.admit(*at, most, url));
        let mut found: Vec<QueryId> = touched.iter().copied().filter(is_in).collect();
        found.sort_unstable();
        for &word in words.iter() {
            has[word as usize] = false;
        }
        touched.drain(..).for_each(|at| is_touched[at.index()] = false);
        found
    }

    /// The weight that a URL could hold of a query, given the words that it `has`; none if that is not enough to match.
    fn most_of(&self, at: QueryId, query: &AskedQuery, has: &[bool]) -> Option<f64> {
        let words = query.distinct().iter().zip(0..);
        let had = words.filter(|(word, _)| has.get(**word as usize) == Some(&true));
        let had = had.fold(0_u64, |had, (_, place)| had | 1 << place);
        // Most share one word, that is not enough.
        let may_match = !had.is_power_of_two() || had & self.alone[at.index()] != 0;
        may_match.then(|| query.matching.most_of(had)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use prospect_index::words::words;

    use super::*;

    #[test]
    fn whatever_is_enough_has_a_word_that_a_query_is_looked_for_by() {
        let counts = [9, 1, 4, 4];
        let known: Vec<(u32, u8)> = (0..4).zip(0..).collect();
        let query = NgramQuery::new(&words("the rye bread oven"), 2);
        for (rho, least) in [(0.0, 0.0), (0.3, 0.0), (0.3, 3.0), (0.5, 5.0), (1.0, 0.0), (0.0, 8.0)]
        {
            let query = query.clone().needing_share(rho).unwrap();
            let needed = needed_words(&query, known.clone(), least, &counts);
            let is_enough = |words| query.most_of(words).is_some_and(|most| most >= least);
            for had in (1..16_u64).filter(|had| is_enough(*had)) {
                assert!(needed.iter().any(|word| had >> word & 1 == 1), "{rho} {least} {had:b}");
            }
            assert_eq!(needed.is_empty(), !is_enough(0b1111), "{rho} {least}");
        }
        let of = |rho| query.clone().needing_share(rho).unwrap();
        assert_eq!(
            needed_words(&of(0.3), known.clone(), 0.0, &counts),
            [3, 1],
            "not by the commonest"
        );
        assert_eq!(
            needed_words(&of(1.0), known, 0.0, &counts),
            [1],
            "by the rarest, as all are needed"
        );
    }
}
