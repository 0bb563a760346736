//! `bfs`: first in, first out; seeds in file order.

use std::collections::VecDeque;

use super::{CrawlPolicy, Fetched, Page, PolicyError};

/// Breadth-first search.
#[derive(Default)]
pub(super) struct BreadthFirst(VecDeque<Page>);

impl CrawlPolicy for BreadthFirst {
    fn seeds(&mut self, seeds: &[Page]) {
        self.0.extend(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        self.0.extend(pages);
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let count = most.min(self.0.len());
        batch.extend(self.0.drain(..count));
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.0.extend(fetched.new);
    }
}
