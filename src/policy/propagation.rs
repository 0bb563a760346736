//! Neural prioritisation (Pezzuti, MacAvaney and Tonellotto, ICTIR 2025): a page is ranked by the
//! quality of the pages that link to it. `qfirst` takes the first parent, `qmin` the worst so far,
//! `qmean` their mean; `qoracle` takes the page's own quality.
//!
//! Seeds have priority 1, above every log-probability. Under `qmin` a seed that still waits is
//! lowered when a parent links to it; under `qmean` it keeps its place.

use super::queue::PriorityQueue;
use super::{Basics, CrawlPolicy, Fetched, NO_QUALITY, Page, PolicyError, Quality};

/// How the quality of parents becomes a priority.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Of the first parent, never changed.
    First,
    /// The lowest of all parents so far.
    Min,
    /// The mean of all parents so far.
    Mean,
    /// The page's own.
    Own,
}

const SEED_PRIORITY: f64 = 1.0;

/// Pages by the quality of their parents.
pub(super) struct Propagation<'a> {
    rule: Rule,
    quality: &'a [f64],
    queue: PriorityQueue<'a>,
    /// By page, for the mean only: sum over parents, and how many.
    parents: Vec<(f64, u32)>,
    is_seed: Vec<bool>,
}

impl<'a> Propagation<'a> {
    pub(super) fn new(basics: &Basics<'a>, quality: Quality<'a>, rule: Rule) -> Self {
        let pages = basics.url_order.len();
        let (parents, is_seed) = match rule {
            Rule::Mean => (vec![(0.0, 0); pages], vec![false; pages]),
            _ => (Vec::new(), Vec::new()),
        };
        let queue = PriorityQueue::new(basics.url_order);
        Self { rule, quality: quality.0, queue, parents, is_seed }
    }

    fn mean_with(&mut self, page: Page, parent: f64) {
        let (sum, count) = &mut self.parents[page as usize];
        *sum += parent;
        *count += 1;
        let mean = *sum / f64::from(*count);
        if !self.is_seed[page as usize] {
            self.queue.set(page, mean);
        }
    }
}

impl CrawlPolicy for Propagation<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        for &page in seeds {
            self.queue.set(page, SEED_PRIORITY);
            if self.rule == Rule::Mean {
                self.is_seed[page as usize] = true;
            }
        }
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            let own = self.rule == Rule::Own;
            self.queue.set(page, if own { self.quality[page as usize] } else { NO_QUALITY });
        }
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        self.queue.take(most, batch);
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        let parent = self.quality[fetched.page as usize];
        for &page in fetched.new {
            match self.rule {
                Rule::First | Rule::Min => self.queue.set(page, parent),
                Rule::Mean => self.mean_with(page, parent),
                Rule::Own => self.queue.set(page, self.quality[page as usize]),
            }
        }
    }

    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        let parent = self.quality[page as usize];
        for &page in waiting {
            match self.rule {
                Rule::Min => self.queue.lower(page, parent),
                Rule::Mean => self.mean_with(page, parent),
                Rule::First | Rule::Own => {}
            }
        }
    }
}
