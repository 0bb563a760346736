//! `qposterior`: a page is ranked by the quality expected of it from all evidence there is: the
//! pages that link to it, its host and the crawl so far ([`Posterior`]).
//!
//! Every fetched page moves the means of its host and of the crawl, and so the rank of every page
//! that waits. A page is ranked when a link to it is found, and all are ranked anew whenever the
//! crawl has grown by a twentieth since the last time. Seeds come first, in file order.

use super::queue::SeedsThenPriority;
use super::{Basics, CrawlPolicy, Fetched, NO_QUALITY, Page, PolicyError, Quality};
use crate::estimate::models::quality_posterior::Posterior;
use crate::estimate::running_mean::RunningMean;

/// Growth of the crawl after which all pages are ranked anew.
const GROWTH: f64 = 1.05;

/// Pages by expected quality.
pub(super) struct PosteriorQuality<'a> {
    basics: Basics<'a>,
    quality: &'a [f64],
    posterior: Posterior,
    /// By page: scores of the pages that link to it.
    parents: Vec<RunningMean>,
    queue: SeedsThenPriority<'a>,
    /// In the frontier, and those that have left it since the last ranking.
    waiting: Vec<Page>,
    is_waiting: Vec<bool>,
    fetched: usize,
    ranked_at: usize,
}

impl<'a> PosteriorQuality<'a> {
    pub(super) fn new(basics: &Basics<'a>, quality: Quality<'a>) -> Self {
        let pages = basics.url_order.len();
        Self {
            basics: *basics,
            quality: quality.0,
            posterior: Posterior::default(),
            parents: vec![RunningMean::default(); pages],
            queue: SeedsThenPriority::new(basics.url_order),
            waiting: Vec::new(),
            is_waiting: vec![false; pages],
            fetched: 0,
            ranked_at: 0,
        }
    }

    fn rank(&mut self, page: Page) {
        let host = self.basics.host[page as usize];
        let expected = self.posterior.expected(host, self.parents[page as usize]);
        self.queue.set(page, expected.unwrap_or(NO_QUALITY));
    }

    fn add(&mut self, page: Page) {
        self.waiting.push(page);
        self.is_waiting[page as usize] = true;
        self.rank(page);
    }

    fn linked(&mut self, parent: Page, pages: &[Page]) {
        let quality = self.quality[parent as usize];
        if quality > NO_QUALITY {
            for &page in pages {
                self.parents[page as usize].add(quality);
            }
        }
    }
}

impl CrawlPolicy for PosteriorQuality<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.queue.add_seeds(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            self.add(page);
        }
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let before = batch.len();
        self.queue.take(most, batch);
        for &page in &batch[before..] {
            self.is_waiting[page as usize] = false;
        }
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.fetched += 1;
        let quality = self.quality[fetched.page as usize];
        if !fetched.failed && quality > NO_QUALITY {
            let host = self.basics.host[fetched.page as usize];
            self.posterior.learn(host, quality, self.parents[fetched.page as usize]);
        }
        self.linked(fetched.page, fetched.new);
        for &page in fetched.new {
            self.add(page);
        }
    }

    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        self.linked(page, waiting);
        for &page in waiting {
            self.rank(page);
        }
    }

    fn batch_done(&mut self) -> Result<(), PolicyError> {
        if self.fetched as f64 >= GROWTH * self.ranked_at as f64 {
            self.ranked_at = self.fetched;
            self.waiting.retain(|&page| self.is_waiting[page as usize]);
            for at in 0..self.waiting.len() {
                self.rank(self.waiting[at]);
            }
        }
        Ok(())
    }
}
