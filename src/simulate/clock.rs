//! Simulated time: when a polite crawler has fetched what.
//!
//! Batches follow one another: the next one is picked when the last request of this one has had its time
//! ([`PoliteTime::schedule`]). Planning takes no time.

use std::collections::{HashMap, HashSet};

use prospect_index::page::UrlId;
use serde::Serialize;

use super::collection::Collection;
use super::crawl::CrawlOrder;
use crate::plan::polite_time::{PoliteTime, Queues};
use crate::policy::Page;
use crate::policy::host_queues::QueueRoom;

/// Marks of a crawl whose end is not given.
const MARKS: u32 = 24;

/// How fast a crawler is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Clock {
    /// Its delay, its queues and their connections.
    pub(crate) time: PoliteTime,
    /// What is known of its queues.
    #[serde(flatten)]
    pub(crate) queues: Queues,
    /// Seconds after which it stops.
    pub(crate) most: Option<f64>,
}

impl Clock {
    /// Seconds that a batch takes, and when each of its pages is asked for.
    pub(crate) fn batch(&self, collection: &Collection, batch: &[Page]) -> (f64, Vec<f64>) {
        let urls = batch.iter().map(|&page| collection.urls.url(UrlId(page)));
        let (starts, last) = self.time.schedule(urls, &self.queues, std::iter::empty());
        (last.seconds, starts)
    }

    /// A crawl in the order in which its pages are asked for, as far as there is time, and when each is.
    pub(crate) fn timed(
        &self,
        collection: &Collection,
        order: &CrawlOrder,
    ) -> (CrawlOrder, Vec<f64>) {
        let mut timed = CrawlOrder { no_gain: order.no_gain, ..CrawlOrder::default() };
        let mut seconds = Vec::new();
        let (mut now, mut from) = (0.0, 0);
        for &end in &order.batch_ends {
            let batch = &order.pages[from..end as usize];
            let (takes, starts) = self.batch(collection, batch);
            let mut asked: Vec<(f64, usize)> = starts.into_iter().zip(0..).collect();
            asked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (start, at) in asked {
                let start = now + start;
                if self.most.is_none_or(|most| start < most) {
                    timed.pages.push(batch[at]);
                    seconds.push(start);
                }
            }
            timed.batch_ends.push(timed.pages.len() as u32);
            (now, from) = (now + takes, end as usize);
        }
        (timed, seconds)
    }

    /// What its queues have time for in a batch of so many seconds.
    pub(crate) fn room(&self, collection: &Collection, seconds: f64) -> QueueRoom {
        let time = PoliteTime { seconds: Some(seconds), ..self.time };
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut room = QueueRoom::default();
        for id in collection.urls.ids() {
            let name = time.queue(collection.urls.url(id), &self.queues);
            let queue = *numbers.entry(name).or_insert_with(|| {
                room.most.push(time.most(time.delay_of(name, &self.queues)));
                room.most.len() as u32 - 1
            });
            room.of_page.push(queue);
        }
        room
    }

    /// Queues that there is no time for in a batch of so many seconds, and delays of no queue of the collection.
    pub(crate) fn unused(&self, collection: &Collection, seconds: Option<f64>) -> (usize, usize) {
        let never = seconds.map_or(0, |seconds| {
            self.room(collection, seconds).most.iter().filter(|most| **most == 0).count()
        });
        let of = |id| self.time.queue(collection.urls.url(id), &self.queues);
        let queues: HashSet<&str> = collection.urls.ids().map(of).collect();
        (never, self.queues.names().filter(|name| !queues.contains(name)).count())
    }

    /// Seconds at which crawls are looked at, of which the longest takes so many.
    pub(crate) fn marks(&self, longest: f64) -> Vec<f64> {
        let end = self.most.unwrap_or(longest);
        (1..=MARKS).map(|at| end * f64::from(at) / f64::from(MARKS)).collect()
    }
}
