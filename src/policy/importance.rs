//! Importance over the links of fetched pages: `inlinks`, `pagerank` (taken anew for every batch),
//! and `query-independent` (Pandey and Olston, WSDM 2008), which ranks by either. Seeds come first,
//! in file order.

use super::queue::{SeedQueue, SeedsThenPriority};
use super::{Basics, CrawlPolicy, Fetched, Page, PolicyError};
use crate::graph::LinkGraph;

/// Pages by the number of fetched pages that link to them.
pub(super) struct Inlinks<'a> {
    count: Vec<u32>,
    queue: SeedsThenPriority<'a>,
}

impl<'a> Inlinks<'a> {
    pub(super) fn new(basics: &Basics<'a>) -> Self {
        let count = vec![0; basics.url_order.len()];
        Self { count, queue: SeedsThenPriority::new(basics.url_order) }
    }

    fn linked(&mut self, pages: &[Page]) {
        for &page in pages {
            self.count[page as usize] += 1;
            self.queue.set(page, f64::from(self.count[page as usize]));
        }
    }
}

impl CrawlPolicy for Inlinks<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.queue.add_seeds(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            self.queue.set(page, f64::from(self.count[page as usize]));
        }
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        self.queue.take(most, batch);
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.linked(fetched.new);
    }

    fn linked_again(&mut self, _page: Page, waiting: &[Page]) {
        self.linked(waiting);
    }
}

/// Pages by PageRank over the links of fetched pages, as of the start of the batch.
///
/// Costs a run of the power iteration over these links for every batch.
pub(super) struct PageRank<'a> {
    url_order: &'a [u32],
    /// Edges from target to source.
    edges: Vec<(u32, u32)>,
    seeds: SeedQueue,
    frontier: Vec<Page>,
}

impl<'a> PageRank<'a> {
    pub(super) fn new(basics: &Basics<'a>) -> Self {
        let url_order = basics.url_order;
        Self { url_order, edges: Vec::new(), seeds: SeedQueue::default(), frontier: Vec::new() }
    }
}

impl CrawlPolicy for PageRank<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        self.frontier.extend(pages);
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let most = self.seeds.take(most, batch);
        if most == 0 || self.frontier.is_empty() {
            return Ok(());
        }
        // Pages that nothing is known of are nodes too. They have the rank of a page without
        // in-links, which scales all ranks and changes no order.
        let rank =
            LinkGraph::of_edges(self.edges.iter().copied(), self.url_order.len()).page_rank();
        let url_order = self.url_order;
        self.frontier.sort_unstable_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            rank[b].total_cmp(&rank[a]).then(url_order[a].cmp(&url_order[b]))
        });
        batch.extend(self.frontier.drain(..most.min(self.frontier.len())));
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.edges.extend(fetched.links.iter().map(|&to| (to, fetched.page)));
        self.frontier.extend(fetched.new);
    }
}
