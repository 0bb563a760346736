//! What every query's pages did, in the order of their fetch: its best pages, and which pages entered its list in
//! which window. Kept up to date in time that grows with what is new, and equal to what following the crawl from
//! its start under the same statistics finds.

use std::ops::Range;

use prospect_index::bm25::{OrderedPostings, Scorer, Scores};
use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use prospect_index::page_store::{NONE, PageTable};
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::windows::Window;
use crate::sketch::insert_ranked;
use crate::sketch::served::ServedLists;
use crate::workload::Query;

/// Places of a result list (METHODS, section 4).
pub(crate) const K: usize = 10;
/// Best pages that are kept of a query: of so many, a random half has fewer than [`K`] once in 10 million times.
const KEPT: usize = 6 * K;
/// Windows at the end of a crawl that its start is compared with.
pub(super) const LAST_WINDOWS: usize = 3;

/// One query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct QueryTrack {
    /// The best pages with their scores, [`KEPT`] at most; the first [`K`] are its list.
    best: Vec<(UrlId, f64)>,
    /// First records of pages that were in the list at the end of the window in which they were fetched first.
    entered: Vec<u32>,
}

/// Results that entered the list of a query, by page fetched: in the first window in which any did, and in the last
/// ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EntryRates {
    /// In the first window with any.
    pub(crate) first: f64,
    /// Mean of the last three windows.
    pub(crate) last: f64,
}

/// All queries of a workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tracks {
    /// Records below this are counted.
    end_seq: u32,
    queries: Vec<QueryTrack>,
    /// By query: the greatest shares of its idf mass that pages hold, as masses.
    holders: Vec<Vec<(UrlId, f64)>>,
}

/// What tracks are made from.
pub(crate) struct Crawl<'a> {
    /// Scores of the queries under the statistics of the epoch.
    pub(crate) scorer: &'a Scorer<'a>,
    /// The same with k1 = 0, by which a score is the idf mass that the page holds.
    pub(crate) presence: &'a Scorer<'a>,
    /// The queries.
    pub(crate) queries: &'a [Query],
    /// Their distinct words.
    pub(crate) distinct: &'a [Query],
    /// Which record brought which page.
    pub(crate) pages: &'a PageTable,
    /// URLs of pages.
    pub(crate) urls: &'a UrlTable,
    /// Windows; those that are not over by the last record that is counted are passed over.
    pub(crate) windows: &'a [Window],
}

/// A page with a score above 0: the record that fetched it first, its URL and score.
type Scored = (u32, UrlId, f64);

impl Crawl<'_> {
    /// Postings of the words of these queries over the pages of these records, as those came to be known.
    fn postings<'q>(
        &self,
        queries: impl IntoIterator<Item = &'q Query>,
        seqs: Range<u32>,
    ) -> Result<OrderedPostings, StoreError> {
        let words = queries.into_iter().flat_map(|query| self.scorer.term_ids(&query.words));
        self.scorer.ordered(words, seqs, |_, url| first_seq(self.pages, url))
    }
}

impl Tracks {
    /// Follows the crawl up to the record before `end_seq`.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn build(crawl: &Crawl<'_>, end_seq: u32) -> Result<Self, StoreError> {
        let every = crawl.postings(crawl.queries, 0..end_seq)?;
        let one = |query| QueryTrack::anew(crawl, query, &every, end_seq);
        let queries = crawl.queries.par_iter().map(one).collect();
        drop(every);
        let holders = ServedLists::build(crawl.presence, crawl.distinct, K, end_seq, crawl.urls)?;
        Ok(Self { end_seq, queries, holders: holders.lists })
    }

    /// Goes on to the record before `end_seq` under the same statistics.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn update(&mut self, crawl: &Crawl<'_>, end_seq: u32) -> Result<(), StoreError> {
        let old_end = self.end_seq;
        if end_seq == old_end {
            return Ok(());
        }
        let mut holders = ServedLists::default();
        (holders.k, holders.end_seq) = (K, old_end);
        holders.lists = std::mem::take(&mut self.holders);
        holders.update(crawl.presence, crawl.distinct, end_seq, crawl.pages, crawl.urls)?;
        self.holders = holders.lists;
        let new = crawl.postings(crawl.queries, old_end..end_seq)?;
        let were_replaced = crawl.pages.replaced_since(old_end);
        let pairs = self.queries.par_iter_mut().zip(crawl.queries);
        let is_stale = pairs.map_init(Scores::default, |scores, (track, query)| {
            crawl.scorer.score_ordered(&crawl.scorer.term_ids(&query.words), &new, scores);
            let found = crawl.scorer.scored(scores).collect();
            !track.took_in(found, crawl, were_replaced, old_end..end_seq)
        });
        let is_stale: Vec<bool> = is_stale.collect();
        let stale = || crawl.queries.iter().zip(&is_stale).filter(|(_, is_stale)| **is_stale);
        let postings = crawl.postings(stale().map(|(query, _)| query), 0..end_seq)?;
        let pairs = self.queries.par_iter_mut().zip(crawl.queries).zip(&is_stale);
        pairs.filter(|(_, is_stale)| **is_stale).for_each(|((track, query), _)| {
            *track = QueryTrack::anew(crawl, query, &postings, end_seq);
        });
        self.end_seq = end_seq;
        Ok(())
    }

    /// Records below this are counted.
    pub(crate) fn end_seq(&self) -> u32 {
        self.end_seq
    }

    /// How many queries there are.
    pub(crate) fn len(&self) -> usize {
        self.queries.len()
    }

    /// The list of a query: its best pages, at most [`K`].
    pub(crate) fn list(&self, query: usize) -> &[(UrlId, f64)] {
        let best = &self.queries[query].best;
        &best[..best.len().min(K)]
    }

    /// The score of the best page of a query among those fetched before a record, under the statistics of now. Where all
    /// that are kept are newer, the least of them: a page of before is no better.
    pub(super) fn best_before(&self, query: usize, seq: u32, pages: &PageTable) -> f64 {
        let best = &self.queries[query].best;
        // A page that was fetched again was there before.
        let is_before = |url: UrlId| pages.first_seq(url).is_some_and(|own| own < seq);
        match best.iter().find(|(url, _)| is_before(*url)) {
            Some((_, score)) => *score,
            None if best.len() == KEPT => best[KEPT - 1].1,
            None => 0.0,
        }
    }

    /// Coverage of a query by whole pages: the mean over the places of the share of its idf `mass` that a page
    /// holds, of the pages that hold most.
    pub(super) fn answers(&self, query: usize, mass: f64) -> f64 {
        let held = self.holders[query].iter().fold(0.0, |sum, (_, held)| sum + held);
        if mass > 0.0 { (held / mass / K as f64).min(1.0) } else { 0.0 }
    }

    /// Scores of the best pages of a query that are in a half of the crawl, best first; none if more of them may be
    /// needed than are kept.
    pub(super) fn best_of(&self, query: usize, is_in: impl Fn(UrlId) -> bool) -> Option<Vec<f64>> {
        let best = &self.queries[query].best;
        let found: Vec<f64> =
            best.iter().filter(|(url, _)| is_in(*url)).map(|(_, score)| *score).take(K).collect();
        (found.len() == K || best.len() < KEPT).then_some(found)
    }

    /// Results that entered the list of a query by page; none before there are two windows.
    pub(super) fn entry_rates(&self, query: usize, windows: &[Window]) -> Option<EntryRates> {
        let windows = self.over(windows);
        if windows.len() < 2 {
            return None;
        }
        let entered = &self.queries[query].entered;
        let rate = |window: &Window| entry_rate(entered, window);
        let first = entered
            .first()
            .and_then(|first| windows.iter().find(|window| *first < window.end_seq).map(rate));
        let last = &windows[windows.len() - LAST_WINDOWS.min(windows.len())..];
        let last = last.iter().map(rate).sum::<f64>() / last.len() as f64;
        Some(EntryRates { first: first.unwrap_or(0.0), last })
    }

    /// Windows in which results entered the list of a query, by place, with how many.
    pub(super) fn entered<'w>(
        &'w self,
        query: usize,
        windows: &'w [Window],
    ) -> impl Iterator<Item = (usize, usize)> + 'w {
        let entered = &self.queries[query].entered;
        let of = |seq: &u32| windows.partition_point(|window| window.end_seq <= *seq);
        let same = entered.chunk_by(move |a, b| of(a) == of(b));
        same.map(move |seqs| (of(&seqs[0]), seqs.len())).filter(|(at, _)| *at < windows.len())
    }

    /// Windows that are over.
    fn over<'w>(&self, windows: &'w [Window]) -> &'w [Window] {
        &windows[..windows.partition_point(|window| window.end_seq <= self.end_seq)]
    }
}

/// How many of these records are in a window, by its pages.
fn entry_rate(entered: &[u32], window: &Window) -> f64 {
    let from = entered.partition_point(|&seq| seq < window.first_seq);
    let to = entered.partition_point(|&seq| seq < window.end_seq);
    (to - from) as f64 / window.pages as f64
}

impl QueryTrack {
    /// Follows the crawl from its start. A page that more than [`KEPT`] ones before it beat was never among the best.
    fn anew(crawl: &Crawl<'_>, query: &Query, postings: &OrderedPostings, end_seq: u32) -> Self {
        let words = crawl.scorer.term_ids(&query.words);
        let contenders = crawl.scorer.contenders(&words, postings, KEPT).into_iter();
        let pages = contenders.map(|page| (page.first, page.url, page.score)).collect();
        let mut track = Self::default();
        track.follow(pages, crawl, 0, end_seq);
        track
    }

    /// Takes in pages of these records; whether it did, and need not be followed anew: a page that has another text now
    /// may have entered with the earlier one.
    fn took_in(
        &mut self,
        mut found: Vec<Scored>,
        crawl: &Crawl<'_>,
        were_replaced: bool,
        records: Range<u32>,
    ) -> bool {
        if were_replaced {
            for (seq, url, _) in &mut found {
                *seq = first_seq(crawl.pages, *url);
            }
        }
        let is_current = !self.is_stale(crawl.pages, records.start)
            && found.iter().all(|(first, ..)| *first >= records.start);
        if is_current {
            self.follow(found, crawl, records.start, records.end);
        }
        is_current
    }

    /// Takes in pages that were fetched first by the record `from` or later ones. One that was fetched again was there
    /// before: it enters no list by that.
    fn follow(&mut self, mut pages: Vec<Scored>, crawl: &Crawl<'_>, from: u32, end_seq: u32) {
        // They come in a few runs, one of each word, which a stable sort merges.
        pages.sort_by_key(|(seq, ..)| *seq);
        let mut pages = pages.into_iter().peekable();
        let ahead = crawl.windows.partition_point(|window| window.end_seq <= from);
        for window in &crawl.windows[ahead..] {
            if window.end_seq > end_seq {
                break;
            }
            // Of a window that had begun, some are in the list already.
            let mut enters = window.first_seq < from;
            while let Some((_, url, score)) = pages.next_if(|(seq, ..)| *seq < window.end_seq) {
                enters |= self.best.get(K - 1).is_none_or(|last| last.1 <= score);
                insert_ranked(&mut self.best, (url, score), KEPT, crawl.urls);
            }
            if !enters {
                continue;
            }
            let list = &self.best[..self.best.len().min(K)];
            let seqs = list.iter().map(|(url, _)| first_seq(crawl.pages, *url));
            let place = self.entered.len();
            self.entered.extend(seqs.filter(|seq| *seq >= window.first_seq));
            self.entered[place..].sort_unstable();
        }
        for (_, url, score) in pages {
            insert_ranked(&mut self.best, (url, score), KEPT, crawl.urls);
        }
    }

    /// Whether a page that counts has been replaced, or is gone, since the record before `old_end`.
    fn is_stale(&self, pages: &PageTable, old_end: u32) -> bool {
        let gone = |url: UrlId| pages.page_seq(url).is_none_or(|seq| seq >= old_end);
        let entered = |seq: u32| pages.record(seq).is_none_or(|(url, _)| gone(url));
        self.best.iter().any(|(url, _)| gone(*url)) || self.entered.iter().any(|&seq| entered(seq))
    }
}

/// The record that brought the page of a URL first.
fn first_seq(pages: &PageTable, url: UrlId) -> u32 {
    pages.first_seq(url).unwrap_or(NONE)
}
