//! What an attacker got of one crawl, at its checkpoints.
//!
//! Seeds are no choice of a policy: they are left out of picks and of the frontier.
//!
//! The share of the frontier is that of all pages that have entered it, picked since or not: the
//! ratio of picks to it is 1 where an attacker's page is as likely to be picked as any other that was
//! found. What waits at a moment is told too, but does not serve: a page that a policy wants is
//! picked in the batch after it was found and hardly waits, while what it does not want stays. So
//! even a random order over pages, drawn once, picks fresh pages more often than their share of
//! what waits.

use super::attacked::Attacked;
use crate::policy::Page;
use crate::simulate::crawl::{CrawlOrder, Start};

/// One crawl at one checkpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gain {
    /// Share of the picks that are the attacker's; 0 before the first.
    pub(crate) picks: f64,
    /// Share of the pages that have entered the frontier; 0 before the first.
    pub(crate) frontier: f64,
    /// Share of the pages that waited when a batch was picked, mean over picks.
    pub(crate) waiting: f64,
    /// Pages of the attacker that are fetched.
    pub(crate) fetched: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Seed,
    Known,
}

/// The frontier while a crawl is followed: pages found that are no seed.
struct Frontier<'a> {
    attacked: &'a Attacked,
    state: Vec<State>,
    entered: Count,
    waiting: Count,
}

impl<'a> Frontier<'a> {
    fn new(attacked: &'a Attacked, start: &Start) -> Self {
        let state = vec![State::Unknown; attacked.collection.urls.len()];
        let (entered, waiting) = (Count::default(), Count::default());
        let mut frontier = Self { attacked, state, entered, waiting };
        for &seed in &start.seeds {
            frontier.state[seed as usize] = State::Seed;
        }
        for &page in &start.crawled {
            frontier.state[page as usize] = State::Known;
        }
        for &page in &start.crawled {
            frontier.follow(page);
        }
        if start.all_known {
            (0..attacked.collection.pages).for_each(|page| frontier.discover(page));
        }
        frontier
    }

    fn discover(&mut self, page: Page) {
        let state = &mut self.state[page as usize];
        if *state == State::Unknown {
            *state = State::Known;
            let is_attacker = self.attacked.is_attacker(page);
            self.entered.add(is_attacker);
            self.waiting.add(is_attacker);
        }
    }

    fn follow(&mut self, page: Page) {
        for &target in self.attacked.collection.links(page) {
            self.discover(target);
        }
    }

    /// Takes a page out; false if it is a seed.
    fn pick(&mut self, page: Page) -> bool {
        let is_choice = self.state[page as usize] != State::Seed;
        if is_choice {
            self.waiting.pages -= 1;
            self.waiting.attackers -= u32::from(self.attacked.is_attacker(page));
        }
        is_choice
    }
}

/// Pages, and those of the attacker among them.
#[derive(Clone, Copy, Default)]
struct Count {
    pages: u32,
    attackers: u32,
}

impl Count {
    fn add(&mut self, is_attacker: bool) {
        self.pages += 1;
        self.attackers += u32::from(is_attacker);
    }

    fn share(self) -> f64 {
        f64::from(self.attackers) / f64::from(self.pages.max(1))
    }
}

/// Follows a crawl: a gain for each of the `checkpoints` that it reached.
pub(crate) fn of_crawl(
    attacked: &Attacked,
    start: &Start,
    order: &CrawlOrder,
    checkpoints: &[u32],
) -> Vec<Gain> {
    let mut frontier = Frontier::new(attacked, start);
    let (mut picks, mut waiting) = (Count::default(), 0.0);
    let mut gains = Vec::new();
    let mut from = 0;
    for &end in &order.batch_ends {
        let batch = &order.pages[from..end as usize];
        // Both as they stood at the start of the batch.
        let (entered, waited) = (frontier.entered.share(), frontier.waiting.share());
        for (at, &page) in batch.iter().enumerate() {
            if frontier.pick(page) {
                picks.add(attacked.is_attacker(page));
                waiting += waited;
            }
            if checkpoints.contains(&((from + at + 1) as u32)) {
                gains.push(Gain {
                    picks: picks.share(),
                    frontier: entered,
                    waiting: waiting / f64::from(picks.pages.max(1)),
                    fetched: picks.attackers,
                });
            }
        }
        for &page in batch {
            frontier.follow(page);
        }
        from = end as usize;
    }
    gains
}
