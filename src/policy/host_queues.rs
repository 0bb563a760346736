//! A policy as a polite crawler carries it out: a queue for each host, filled in the order of the policy, and for
//! each queue as many pages a batch as there is time for.
//!
//! The policy is asked for pages for as long as a queue has time left for one that the policy may still have; what
//! it gives for the others waits in their queues, in that order, as it does with crawlers that hand URLs on.

use std::collections::VecDeque;

use super::{CrawlPolicy, Fetched, Page, PolicyError};

/// The queues of a crawler, and what each has time for.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueRoom {
    /// By page: its queue.
    pub(crate) of_page: Vec<u32>,
    /// By queue: pages a batch.
    pub(crate) most: Vec<usize>,
}

/// A policy behind queues.
pub(crate) struct HostQueues<'a> {
    policy: Box<dyn CrawlPolicy + 'a>,
    room: &'a QueueRoom,
    /// By queue: pages that the policy gave and that are not fetched.
    queues: Vec<VecDeque<Page>>,
    /// By queue: pages that the policy has still to give.
    with_policy: Vec<usize>,
    /// By page: whether the policy gave it.
    is_given: Vec<bool>,
    still: Vec<Page>,
}

impl<'a> HostQueues<'a> {
    /// Of a policy that knows no page yet.
    pub(crate) fn new(policy: Box<dyn CrawlPolicy + 'a>, room: &'a QueueRoom) -> Self {
        let queues = room.most.len();
        Self {
            policy,
            room,
            queues: vec![VecDeque::new(); queues],
            with_policy: vec![0; queues],
            is_given: vec![false; room.of_page.len()],
            still: Vec::new(),
        }
    }

    fn enter(&mut self, pages: &[Page]) {
        for &page in pages {
            self.with_policy[self.room.of_page[page as usize] as usize] += 1;
        }
    }
}

impl CrawlPolicy for HostQueues<'_> {
    fn seeds(&mut self, seeds: &[Page]) {
        self.enter(seeds);
        self.policy.seeds(seeds);
    }

    fn known(&mut self, pages: &[Page]) {
        self.enter(pages);
        self.policy.known(pages);
    }

    fn next(&mut self, most: usize, batch: &mut Vec<Page>) -> Result<(), PolicyError> {
        let full = batch.len().saturating_add(most);
        let mut left = self.room.most.clone();
        for (queue, left) in self.queues.iter_mut().zip(&mut left) {
            let now = queue.len().min(*left).min(full - batch.len());
            batch.extend(queue.drain(..now));
            *left -= now;
        }
        let mut given = Vec::new();
        loop {
            // As many as have to be asked for at least; those of full queues come on top.
            let open = left.iter().zip(&self.with_policy).map(|(left, has)| *left.min(has));
            let wanted = open.sum::<usize>().min(full - batch.len());
            given.clear();
            if wanted > 0 {
                self.policy.next(wanted, &mut given)?;
            }
            if given.is_empty() {
                return Ok(());
            }
            for &page in &given {
                let queue = self.room.of_page[page as usize] as usize;
                self.with_policy[queue] -= 1;
                self.is_given[page as usize] = true;
                if left[queue] > 0 {
                    left[queue] -= 1;
                    batch.push(page);
                } else {
                    self.queues[queue].push_back(page);
                }
            }
        }
    }

    fn fetched(&mut self, fetched: &Fetched<'_>) {
        self.enter(fetched.new);
        self.policy.fetched(fetched);
    }

    fn linked_again(&mut self, page: Page, waiting: &[Page]) {
        // Those that stand in a queue are the policy's no longer.
        self.still.clear();
        self.still.extend(waiting.iter().filter(|page| !self.is_given[**page as usize]));
        self.policy.linked_again(page, &self.still);
    }

    fn batch_done(&mut self) -> Result<(), PolicyError> {
        self.policy.batch_done()
    }
}

#[cfg(test)]
mod tests {
    use super::super::breadth::BreadthFirst;
    use super::*;

    /// The next pages, `most` at most.
    fn next(queues: &mut HostQueues<'_>, most: usize) -> Vec<Page> {
        let mut batch = Vec::new();
        queues.next(most, &mut batch).unwrap();
        batch
    }

    #[test]
    fn each_queue_gives_what_it_has_time_for_in_the_order_of_the_policy() {
        // Pages 0 to 4 and 8 are of a slow host, 5 to 7 of another.
        let of_page = [0, 0, 0, 0, 0, 1, 1, 1, 0].to_vec();
        let room = QueueRoom { of_page, most: vec![2, 3] };
        let mut queues = HostQueues::new(Box::new(BreadthFirst::default()), &room);
        queues.seeds(&[0, 1, 2, 5, 3, 6]);
        assert_eq!(next(&mut queues, 100), [0, 1, 5, 6]);
        let fetched = |page, new: &'static [Page]| Fetched { page, links: new, new, failed: false };
        queues.fetched(&fetched(0, &[4, 7]));
        queues.linked_again(1, &[2, 3]);
        // What waits comes first.
        assert_eq!(next(&mut queues, 100), [2, 3, 7]);
        queues.fetched(&fetched(7, &[8]));
        assert_eq!(next(&mut queues, 1), [4]);
        assert_eq!(next(&mut queues, 100), [8]);
        assert!(next(&mut queues, 100).is_empty());
    }
}
