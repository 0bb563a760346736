//! Seeds of a crawl whose batches have a time: of each queue as many come as there is time for.

use std::collections::HashMap;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;

use super::Page;
use super::queue::SeedQueue;
use crate::planner::settings::PlanSettings;

/// Takes up to `most` seeds; the number of pages that may still be taken. Where the batch has a time, those are taken
/// that there is time for, and nothing beside them.
pub(super) fn take_seeds(
    seeds: &mut SeedQueue,
    most: usize,
    (settings, urls): (&PlanSettings, &UrlTable),
    batch: &mut Vec<Page>,
) -> usize {
    let (time, queues) = (settings.selection.caps.time, &settings.queues);
    if time.seconds.is_none() {
        return seeds.take(most, batch);
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    let mut all = most;
    seeds.take_fitting(batch, |page| {
        let queue = time.queue(urls.url(UrlId(page)), queues);
        let room = || time.most(time.delay_of(queue, queues));
        let left = left.entry(queue).or_insert_with(room);
        let fits = *left > 0 && all > 0;
        (*left, all) = (*left - usize::from(fits), all - usize::from(fits));
        fits
    });
    if batch.is_empty() { most } else { 0 }
}
