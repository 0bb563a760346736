//! `qhost`: a page is ranked by the mean quality of the pages fetched from its host; before the
//! first of them, by the mean quality of the pages that link to the host. Pages of one host go by
//! URL; seeds come first, in file order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::queue::SeedQueue;
use super::{Basics, CrawlPolicy, Fetched, NO_QUALITY, Page, PolicyError, Quality, ordered};

#[derive(Clone, Default)]
struct Host {
    /// Quality of its fetched pages: sum and number.
    fetched: (f64, u32),
    /// Quality of the pages that link to it: sum and number.
    linking: (f64, u32),
    /// Its pages in the frontier, by place of their URL.
    waiting: BinaryHeap<Reverse<(u32, Page)>>,
}

impl Host {
    fn score(&self) -> f64 {
        let (sum, count) = if self.fetched.1 > 0 { self.fetched } else { self.linking };
        if count == 0 { NO_QUALITY } else { sum / f64::from(count) }
    }

    /// What it is ranked by: its score, then how early its first URL comes.
    fn key(&self) -> Option<(u64, u32)> {
        let Reverse((place, _)) = self.waiting.peek()?;
        Some((ordered(self.score()), u32::MAX - place))
    }
}

/// Pages by the mean quality of their host.
pub(super) struct HostMean<'a> {
    basics: Basics<'a>,
    quality: &'a [f64],
    hosts: Vec<Host>,
    /// Keys of hosts as they were when they last changed; others are skipped.
    heap: BinaryHeap<((u64, u32), u32)>,
    seeds: SeedQueue,
}

impl<'a> HostMean<'a> {
    pub(super) fn new(basics: &Basics<'a>, quality: Quality<'a>) -> Self {
        Self {
            basics: *basics,
            quality: quality.0,
            hosts: vec![Host::default(); basics.hosts],
            heap: BinaryHeap::new(),
            seeds: SeedQueue::default(),
        }
    }

    fn host(&mut self, page: Page) -> (u32, &mut Host) {
        let host = self.basics.host[page as usize];
        (host, &mut self.hosts[host as usize])
    }

    fn changed(&mut self, host: u32) {
        if let Some(key) = self.hosts[host as usize].key() {
            self.heap.push((key, host));
        }
    }

    fn add(&mut self, page: Page) {
        let place = self.basics.url_order[page as usize];
        let (host, state) = self.host(page);
        state.waiting.push(Reverse((place, page)));
        self.changed(host);
    }

    fn linked(&mut self, parent: Page, pages: &[Page]) {
        let quality = self.quality[parent as usize];
        for &page in pages {
            let (host, state) = self.host(page);
            state.linking = (state.linking.0 + quality, state.linking.1 + 1);
            if state.fetched.1 == 0 {
                self.changed(host);
            }
        }
    }

    fn pop(&mut self) -> Option<Page> {
        loop {
            let (key, host) = self.heap.pop()?;
            if self.hosts[host as usize].key() == Some(key) {
                let Reverse((_, page)) = self.hosts[host as usize].waiting.pop()?;
                self.changed(host);
                return Some(page);
            }
        }
    }
}

impl CrawlPolicy for HostMean<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        for &page in pages {
            self.add(page);
        }
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let most = self.seeds.take(most, batch);
        batch.extend(std::iter::from_fn(|| self.pop()).take(most));
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        if !fetched.failed {
            let quality = self.quality[fetched.page as usize];
            let (host, state) = self.host(fetched.page);
            state.fetched = (state.fetched.0 + quality, state.fetched.1 + 1);
            self.changed(host);
        }
        for &page in fetched.new {
            self.add(page);
        }
        self.linked(fetched.page, fetched.new);
    }

    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        self.linked(page, waiting);
    }
}
