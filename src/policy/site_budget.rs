//! `site-budget`: every host gets a part of the budget in proportion to its centrality, and a share
//! of the budget wanders.
//!
//! Centrality of a host is its PageRank in the graph of hosts that link to each other, over the
//! links of fetched pages; it is taken anew whenever the crawl has grown by a twentieth. Within a
//! host pages go in order of discovery. Parts that are not whole pages are kept as credit for later
//! batches. Wandering picks are drawn uniformly from the frontier, so that a host without a link
//! from others is found. Seeds come first, in file order.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::queue::SeedQueue;
use super::{Basics, CrawlPolicy, Fetched, Page, PolicyError};
use crate::graph::LinkGraph;

/// Share of the budget that wanders.
pub(super) const WANDER: f64 = 0.1;
/// Centrality is taken anew after this growth.
const GROWTH: f64 = 1.05;
/// Streams of the seed: see `priority`.
const POLICY_STREAM: u64 = 1 << 33;
const ABSENT: u32 = u32::MAX;

/// Pages by the budget of their host.
pub(super) struct SiteBudget<'a> {
    basics: Basics<'a>,
    wander: f64,
    wander_credit: f64,
    random: ChaCha8Rng,
    seeds: SeedQueue,
    hosts: Vec<Host>,
    /// The frontier, in no order, and the place of each page in it.
    frontier: Vec<Page>,
    place: Vec<u32>,
    /// Edges between hosts, from target to source, repeated.
    edges: Vec<(u32, u32)>,
    centrality: Vec<f64>,
    fetched: usize,
    taken_at: usize,
}

#[derive(Clone, Default)]
struct Host {
    queue: VecDeque<Page>,
    waiting: usize,
    credit: f64,
}

impl<'a> SiteBudget<'a> {
    pub(super) fn new(basics: &Basics<'a>, wander: f64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(basics.seed);
        random.set_stream(POLICY_STREAM + u64::from(basics.set));
        Self {
            basics: *basics,
            wander,
            wander_credit: 0.0,
            random,
            seeds: SeedQueue::default(),
            hosts: vec![Host::default(); basics.hosts],
            frontier: Vec::new(),
            place: vec![ABSENT; basics.url_order.len()],
            edges: Vec::new(),
            centrality: vec![1.0; basics.hosts],
            fetched: 0,
            taken_at: 0,
        }
    }

    fn add(&mut self, pages: &[Page]) {
        for &page in pages {
            self.place[page as usize] = self.frontier.len() as u32;
            self.frontier.push(page);
            let host = &mut self.hosts[self.basics.host[page as usize] as usize];
            host.queue.push_back(page);
            host.waiting += 1;
        }
    }

    fn remove(&mut self, page: Page) {
        let at = std::mem::replace(&mut self.place[page as usize], ABSENT) as usize;
        self.frontier.swap_remove(at);
        if let Some(&moved) = self.frontier.get(at) {
            self.place[moved as usize] = at as u32;
        }
        self.hosts[self.basics.host[page as usize] as usize].waiting -= 1;
    }

    fn wander(&mut self, most: usize, batch: &mut Vec<Page>) -> usize {
        self.wander_credit += self.wander * most as f64;
        let steps = (self.wander_credit.floor() as usize).min(most).min(self.frontier.len());
        self.wander_credit -= steps as f64;
        for _ in 0..steps {
            let page = self.frontier[self.random.random_range(0..self.frontier.len())];
            self.remove(page);
            batch.push(page);
        }
        most - steps
    }

    /// Gives out `most` pages to hosts in proportion to their centrality.
    fn spend(&mut self, mut most: usize, batch: &mut Vec<Page>) {
        most = most.min(self.frontier.len());
        while most > 0 {
            let waiting = |host: &usize| self.hosts[*host].waiting > 0;
            let open: Vec<usize> = (0..self.hosts.len()).filter(waiting).collect();
            let total: f64 = open.iter().map(|&host| self.centrality[host]).sum();
            for &host in &open {
                self.hosts[host].credit += self.centrality[host] / total * most as f64;
            }
            let before = most;
            for &host in &open {
                let state = &self.hosts[host];
                let pages = (state.credit.max(0.0).floor() as usize).min(state.waiting).min(most);
                most -= pages;
                self.take(host, pages, batch);
            }
            if most == before {
                // No one has a whole page: the largest credit goes first, then the first host.
                let credit = |host: &usize| self.hosts[*host].credit;
                let best = open
                    .iter()
                    .copied()
                    .reduce(|best, host| if credit(&host) > credit(&best) { host } else { best });
                most -= 1;
                self.take(best.unwrap_or(0), 1, batch);
            }
        }
    }

    fn take(&mut self, host: usize, pages: usize, batch: &mut Vec<Page>) {
        let mut left = pages;
        while left > 0 {
            let Some(page) = self.hosts[host].queue.pop_front() else { return };
            if self.place[page as usize] != ABSENT {
                self.remove(page);
                batch.push(page);
                left -= 1;
            }
        }
        self.hosts[host].credit -= pages as f64;
        if self.hosts[host].waiting == 0 {
            self.hosts[host].credit = 0.0;
        }
    }

    fn update_centrality(&mut self) {
        if (self.fetched as f64) < GROWTH * self.taken_at as f64 {
            return;
        }
        self.taken_at = self.fetched;
        self.edges.sort_unstable();
        self.edges.dedup();
        let ranks = LinkGraph::of_edges(self.edges.iter().copied(), self.basics.hosts).page_rank();
        self.centrality = ranks;
    }
}

impl CrawlPolicy for SiteBudget<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        self.add(pages);
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let most = self.seeds.take(most, batch);
        if most > 0 && !self.frontier.is_empty() {
            self.update_centrality();
            // Of what is fetched, not of what was asked for: a resumed crawl asks for the former.
            let most = most.min(self.frontier.len());
            let most = self.wander(most, batch);
            self.spend(most, batch);
        }
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.fetched += 1;
        self.add(fetched.new);
        let from = self.basics.host[fetched.page as usize];
        let hosts = fetched.links.iter().map(|&to| self.basics.host[to as usize]);
        self.edges.extend(hosts.filter(|&to| to != from).map(|to| (to, from)));
    }
}
