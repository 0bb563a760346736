//! When a polite crawler may ask, URL by URL as they are planned: what [`super::polite_time`] says of a batch, for a
//! crawl that does not end with one.
//!
//! Each queue has `connections`, and each of them sends a request each `delay`. A URL gets the connection of its queue
//! that is free first. Times are milliseconds of any clock, which the caller reads.
//!
//! *Memory.* Of queues that have been free for as long as they must, nothing is kept.

use std::collections::HashMap;

use super::polite_time::{PoliteTime, Queues, milliseconds};

/// See the module.
pub(crate) struct Pace {
    time: PoliteTime,
    queues: Queues,
    /// By queue: when each of its connections that was used is free again.
    busy: HashMap<String, Vec<u64>>,
}

impl Pace {
    /// No queue is busy.
    pub(crate) fn new(time: PoliteTime, queues: Queues) -> Self {
        Self { time, queues, busy: HashMap::new() }
    }

    /// When each of these URLs may be asked for, in their order; not before `now`.
    pub(crate) fn schedule<'a>(
        &mut self,
        urls: impl Iterator<Item = &'a str>,
        now: u64,
    ) -> Vec<u64> {
        self.busy.retain(|_, free| free.iter().any(|free| *free > now));
        urls.map(|url| self.next(url, now)).collect()
    }

    /// All connections of the queue of a URL have been used `now`, by whomever.
    pub(crate) fn asked(&mut self, url: &str, now: u64) {
        let (queue, delay) = self.queue(url);
        let free = vec![now + delay; self.time.connections.max(1)];
        self.busy.insert(queue, free);
    }

    /// The queue of a URL, and its delay.
    fn queue(&self, url: &str) -> (String, u64) {
        let queue = self.time.queue(url, &self.queues);
        (queue.to_owned(), milliseconds(self.time.delay_of(queue, &self.queues)))
    }

    fn next(&mut self, url: &str, now: u64) -> u64 {
        let (queue, delay) = self.queue(url);
        let connections = self.busy.entry(queue).or_default();
        if connections.len() < self.time.connections.max(1) {
            connections.push(now + delay);
            return now;
        }
        let Some(free) = connections.iter_mut().min() else { return now };
        let start = now.max(*free);
        *free = start + delay;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: [&str; 4] =
        ["https://a.test/1", "https://b.test/1", "https://a.test/2", "https://a.test/3"];

    #[test]
    fn a_queue_is_asked_once_a_delay_whatever_group_a_url_is_of() {
        let mut pace = Pace::new(PoliteTime::default(), Queues::parse_delays("b.test 9").unwrap());
        assert_eq!(pace.schedule(URLS.into_iter(), 500), [500, 500, 1_500, 2_500]);
        assert_eq!(pace.schedule(URLS[..2].iter().copied(), 600), [3_500, 9_500]);
        assert_eq!(pace.schedule(URLS[..1].iter().copied(), 9_000), [9_000]);
        assert_eq!(pace.busy.len(), 2, "the other host is busy until its delay is over");
        assert_eq!(pace.schedule(std::iter::empty(), 99_000), [0; 0]);
        assert_eq!(pace.busy.len(), 0);
    }

    #[test]
    fn who_was_asked_before_waits() {
        let time = PoliteTime { connections: 2, ..PoliteTime::default() };
        let mut pace = Pace::new(time, Queues::default());
        pace.asked(URLS[0], 5_000);
        assert_eq!(pace.schedule(URLS.into_iter(), 5_100), [6_000, 5_100, 6_000, 7_000]);
    }

    #[test]
    fn connections_of_a_queue_are_used_side_by_side() {
        let time = PoliteTime { connections: 2, ..PoliteTime::default() };
        let mut pace = Pace::new(time, Queues::default());
        let of_a = || [URLS[0], URLS[2], URLS[3]].into_iter();
        assert_eq!(pace.schedule(of_a(), 0), [0, 0, 1_000]);
        assert_eq!(pace.schedule(of_a(), 1_100), [1_100, 2_000, 2_100]);
    }
}
