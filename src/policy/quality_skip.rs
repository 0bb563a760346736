//! `quality-skip`: breadth-first, but URLs that are mostly linked from pages of low quality, and
//! URLs of hosts that are, wait until there is nothing else (Pezzuti, Mueller, MacAvaney and
//! Tonellotto, 2025, suggest postponing or skipping them).
//!
//! A page is low if its quality lies below a quantile of the scores fetched so far. More than half
//! of the linking pages decide; a host needs links from [`HOST_LINKS`] pages to be judged. Whether
//! a URL is postponed is decided when its turn comes, and again when a further page links to it.

use std::collections::VecDeque;

use super::queue::SeedQueue;
use super::{Basics, CrawlPolicy, Fetched, NO_QUALITY, Page, PolicyError, Quality};

/// Quantile below which quality is low, where nothing else is asked for.
pub(super) const LOW: f64 = 0.3;
/// Links that a host needs before it is judged.
const HOST_LINKS: u32 = 20;
/// Growth of the crawl after which the quantile is taken anew.
const GROWTH: f64 = 1.05;

/// Linking pages: how many, and how many of them are low.
#[derive(Clone, Copy, Default)]
struct Links {
    all: u32,
    low: u32,
}

impl Links {
    fn is_mostly_low(self, least: u32) -> bool {
        self.all >= least && 2 * self.low > self.all
    }
}

/// Breadth-first past what is linked from low quality.
pub(super) struct QualitySkip<'a> {
    basics: Basics<'a>,
    quality: &'a [f64],
    low: f64,
    drops: bool,
    /// Scores of fetched pages, and the quantile of those before the last growth.
    scores: Vec<f64>,
    threshold: f64,
    measured_at: usize,
    pages: Vec<Links>,
    hosts: Vec<Links>,
    seeds: SeedQueue,
    queue: VecDeque<Page>,
    postponed: VecDeque<Page>,
    is_postponed: Vec<bool>,
}

impl<'a> QualitySkip<'a> {
    /// `low` is the quantile; with `drops` what is postponed is never fetched.
    pub(super) fn new(basics: &Basics<'a>, quality: Quality<'a>, low: f64, drops: bool) -> Self {
        let pages = basics.url_order.len();
        Self {
            basics: *basics,
            quality: quality.0,
            low,
            drops,
            scores: Vec::new(),
            threshold: f64::NEG_INFINITY,
            measured_at: 0,
            pages: vec![Links::default(); pages],
            hosts: vec![Links::default(); basics.hosts],
            seeds: SeedQueue::default(),
            queue: VecDeque::new(),
            postponed: VecDeque::new(),
            is_postponed: vec![false; pages],
        }
    }

    fn is_low(&self, page: Page) -> bool {
        let host = self.basics.host[page as usize];
        self.pages[page as usize].is_mostly_low(1)
            || self.hosts[host as usize].is_mostly_low(HOST_LINKS)
    }

    fn linked(&mut self, parent: Page, pages: &[Page]) {
        let quality = self.quality[parent as usize];
        if quality <= NO_QUALITY {
            return;
        }
        let low = u32::from(quality < self.threshold);
        for &page in pages {
            let host = self.basics.host[page as usize];
            for links in [&mut self.pages[page as usize], &mut self.hosts[host as usize]] {
                links.all += 1;
                links.low += low;
            }
        }
    }

    fn pop(&mut self) -> Option<Page> {
        while let Some(page) = self.queue.pop_front() {
            if !self.is_low(page) {
                return Some(page);
            }
            self.is_postponed[page as usize] = true;
            self.postponed.push_back(page);
        }
        while let Some(page) = self.postponed.pop_front().filter(|_| !self.drops) {
            // A page that was put back into the queue has left this one.
            if std::mem::take(&mut self.is_postponed[page as usize]) {
                return Some(page);
            }
        }
        None
    }
}

impl CrawlPolicy for QualitySkip<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        self.queue.extend(pages);
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let most = self.seeds.take(most, batch);
        batch.extend(std::iter::from_fn(|| self.pop()).take(most));
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        let quality = self.quality[fetched.page as usize];
        if !fetched.failed && quality > NO_QUALITY {
            self.scores.push(quality);
        }
        self.linked(fetched.page, fetched.new);
        self.queue.extend(fetched.new);
    }

    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        self.linked(page, waiting);
        for &page in waiting {
            if self.is_postponed[page as usize] && !self.is_low(page) {
                self.is_postponed[page as usize] = false;
                self.queue.push_back(page);
            }
        }
    }

    fn batch_done(&mut self) -> Result<(), PolicyError> {
        if self.scores.len() as f64 >= GROWTH * self.measured_at as f64 && !self.scores.is_empty() {
            self.measured_at = self.scores.len();
            let at = (self.low * self.scores.len() as f64) as usize;
            let at = at.min(self.scores.len() - 1);
            self.threshold = *self.scores.select_nth_unstable_by(at, f64::total_cmp).1;
        }
        Ok(())
    }
}
