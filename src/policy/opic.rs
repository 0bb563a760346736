//! `opic`: on-line page importance (Abiteboul, Preda and Cobena, WWW 2003), in the form that is
//! used to order a crawl (Baeza-Yates et al., WWW 2005). Every page starts with cash 1. When a page
//! is fetched, it gives its cash in equal parts to the pages it links to; the frontier is ranked by
//! cash. What goes to pages already fetched is spent. Seeds come first, in file order.

use super::queue::SeedsThenPriority;
use super::{Basics, CrawlPolicy, Fetched, Page, PolicyError};

/// Pages by cash.
pub(super) struct Opic<'a> {
    cash: Vec<f64>,
    /// By fetched page: what each page it links to gets.
    share: Vec<f64>,
    queue: SeedsThenPriority<'a>,
}

impl<'a> Opic<'a> {
    pub(super) fn new(basics: &Basics<'a>) -> Self {
        let pages = basics.url_order.len();
        Self {
            cash: vec![1.0; pages],
            share: vec![0.0; pages],
            queue: SeedsThenPriority::new(basics.url_order),
        }
    }

    fn pay(&mut self, parent: Page, pages: &[Page]) {
        let share = self.share[parent as usize];
        for &page in pages {
            self.cash[page as usize] += share;
            self.queue.set(page, self.cash[page as usize]);
        }
    }
}

impl CrawlPolicy for Opic<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.queue.add_seeds(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            self.queue.set(page, self.cash[page as usize]);
        }
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        self.queue.take(most, batch);
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        let page = fetched.page as usize;
        self.share[page] = self.cash[page] / fetched.links.len().max(1) as f64;
        self.pay(fetched.page, fetched.new);
    }

    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        self.pay(page, waiting);
    }
}
