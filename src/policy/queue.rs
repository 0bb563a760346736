//! The queue that most policies are made of: pages by priority, ties by URL, priorities that
//! change.

use std::collections::{BinaryHeap, VecDeque};

use super::{Page, ordered};

/// A priority queue of pages. Changing a priority leaves the old entry in place; it is skipped
/// when it comes up, so that every change costs O(log n).
pub(super) struct PriorityQueue<'a> {
    /// Priority, then how early the URL comes.
    heap: BinaryHeap<(u64, u32)>,
    /// By page: priority, 0 while it is not in the queue.
    current: Vec<u64>,
    url_order: &'a [u32],
    by_order: Vec<Page>,
}

impl<'a> PriorityQueue<'a> {
    pub(super) fn new(url_order: &'a [u32]) -> Self {
        let mut by_order = vec![0; url_order.len()];
        for (page, &place) in url_order.iter().enumerate() {
            by_order[place as usize] = page as Page;
        }
        Self { heap: BinaryHeap::new(), current: vec![0; url_order.len()], url_order, by_order }
    }

    /// Puts a page in, or changes its priority.
    ///
    /// # Panics
    /// If the priority is NaN or infinite, which is an error where it arises and never a rank.
    pub(super) fn set(&mut self, page: Page, priority: f64) {
        assert!(priority.is_finite(), "the priority of page {page} is {priority}");
        let priority = ordered(priority);
        if self.current[page as usize] != priority {
            self.current[page as usize] = priority;
            self.heap.push((priority, u32::MAX - self.url_order[page as usize]));
        }
    }

    /// Lowers the priority of a page of the queue, never raises it.
    pub(super) fn lower(&mut self, page: Page, priority: f64) {
        if ordered(priority) < self.current[page as usize] {
            self.set(page, priority);
        }
    }

    /// Takes the page of highest priority.
    pub(super) fn pop(&mut self) -> Option<Page> {
        loop {
            let (priority, late) = self.heap.pop()?;
            let page = self.by_order[(u32::MAX - late) as usize];
            if self.current[page as usize] == priority {
                self.current[page as usize] = 0;
                return Some(page);
            }
        }
    }

    /// Takes up to `most` pages.
    pub(super) fn take(&mut self, most: usize, batch: &mut Vec<Page>) {
        batch.extend(std::iter::from_fn(|| self.pop()).take(most));
    }
}

/// Seeds of policies that rank the frontier: they come first, in file order.
#[derive(Default)]
pub(super) struct SeedQueue(VecDeque<Page>);

impl SeedQueue {
    pub(super) fn add(&mut self, seeds: &[Page]) {
        self.0.extend(seeds);
    }

    /// Takes the seeds that fit, in their order.
    pub(super) fn take_fitting(
        &mut self,
        batch: &mut Vec<Page>,
        mut fits: impl FnMut(Page) -> bool,
    ) {
        self.0.retain(|&page| {
            let taken = fits(page);
            if taken {
                batch.push(page);
            }
            !taken
        });
    }

    /// Takes up to `most` seeds; the number that may still be taken.
    pub(super) fn take(&mut self, most: usize, batch: &mut Vec<Page>) -> usize {
        let taken = most.min(self.0.len());
        batch.extend(self.0.drain(..taken));
        most - taken
    }
}

/// Seeds first, then all other pages by priority.
pub(super) struct SeedsThenPriority<'a> {
    seeds: SeedQueue,
    is_seed: Vec<bool>,
    queue: PriorityQueue<'a>,
}

impl<'a> SeedsThenPriority<'a> {
    pub(super) fn new(url_order: &'a [u32]) -> Self {
        Self {
            seeds: SeedQueue::default(),
            is_seed: vec![false; url_order.len()],
            queue: PriorityQueue::new(url_order),
        }
    }

    pub(super) fn add_seeds(&mut self, seeds: &[Page]) {
        self.seeds.add(seeds);
        for &page in seeds {
            self.is_seed[page as usize] = true;
        }
    }

    /// Puts a page in, or changes its priority; a seed keeps its place.
    pub(super) fn set(&mut self, page: Page, priority: f64) {
        if !self.is_seed[page as usize] {
            self.queue.set(page, priority);
        }
    }

    /// Takes up to `most` pages.
    pub(super) fn take(&mut self, most: usize, batch: &mut Vec<Page>) {
        let most = self.seeds.take(most, batch);
        self.queue.take(most, batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_change_and_ties_go_by_url() {
        let url_order = [2, 0, 1, 3];
        let mut queue = PriorityQueue::new(&url_order);
        for (page, priority) in [(0, -1.0), (1, -1.0), (2, -1.0), (3, -0.5)] {
            queue.set(page, priority);
        }
        queue.lower(3, -2.0);
        queue.lower(1, 5.0);
        queue.set(0, 1.0);
        let order: Vec<Page> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [0, 1, 2, 3]);
        queue.set(1, -50.0);
        assert_eq!((queue.pop(), queue.pop()), (Some(1), None));
    }
}
