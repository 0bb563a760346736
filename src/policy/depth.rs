//! `dfs`: last in, first out; a page is marked when it is pushed, so the last seed is fetched
//! first and the last link of a page is followed first.

use super::{CrawlPolicy, Fetched, Page, PolicyError};

/// Depth-first search.
#[derive(Default)]
pub(super) struct DepthFirst(Vec<Page>);

impl CrawlPolicy for DepthFirst {
    fn seeds(&mut self, seeds: &[Page]) {
        self.0.extend(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        // Below everything that a link led to.
        self.0.splice(0..0, pages.iter().rev().copied());
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let rest = self.0.len().saturating_sub(most);
        batch.extend(self.0.drain(rest..).rev());
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.0.extend(fetched.new);
    }
}
