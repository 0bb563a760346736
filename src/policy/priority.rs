//! Policies that give every page a score of its own, fixed when it is discovered: `random`, and
//! the oracles `craw4llm-oracle` (Yu, Liu and Xiong, ACL 2025: the quality of the page's own text),
//! `impact-oracle` (its true impact) and `relevance-oracle` (how many queries it was judged
//! relevant for). The oracles are references, not bounds: greedy sees no further than the frontier.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::queue::SeedsThenPriority;
use super::{Basics, CrawlPolicy, Fetched, Page, PolicyError};

/// Streams of one seed: sets count from 1 and draw seeds from the stream of their number; the
/// policy draws from one far behind them.
const POLICY_STREAM: u64 = 1 << 32;

/// Pages by a fixed score, seeds first in file order.
pub(super) struct FixedPriority<'a> {
    score: Vec<f64>,
    queue: SeedsThenPriority<'a>,
}

impl<'a> FixedPriority<'a> {
    /// By page: its score.
    pub(super) fn new(basics: &Basics<'a>, score: Vec<f64>) -> Self {
        Self { score, queue: SeedsThenPriority::new(basics.url_order) }
    }

    /// A random order of all pages: Fisher-Yates over pages in URL order.
    pub(super) fn random(basics: &Basics<'a>) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(basics.seed);
        random.set_stream(POLICY_STREAM + u64::from(basics.set));
        let mut places: Vec<u32> = (0..basics.url_order.len() as u32).collect();
        places.shuffle(&mut random);
        let score = basics.url_order.iter().map(|&at| f64::from(places[at as usize])).collect();
        Self::new(basics, score)
    }

    fn add(&mut self, pages: &[Page]) {
        for &page in pages {
            self.queue.set(page, self.score[page as usize]);
        }
    }
}

impl CrawlPolicy for FixedPriority<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.queue.add_seeds(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        self.add(pages);
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        self.queue.take(most, batch);
        Ok(())
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.add(fetched.new);
    }
}
