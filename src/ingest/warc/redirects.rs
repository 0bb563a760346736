//! Redirects, paired with the pages that they lead to.
//!
//! A page that follows a redirect to it, in the same file or a later one, was asked for by the URL that
//! redirects. What is not taken up so is told at the end: the URL moved, and where to.
//!
//! *Memory.* Some 500 bytes a redirect, until its target comes.

use std::collections::{BTreeMap, HashMap};

use prospect_index::page::PageRecord;

use super::page::Moved;
use crate::ingest::record::key_of;
use crate::ingest::{Origin, SourceItem};

/// Redirects that were seen and not taken up, by their number.
#[derive(Default)]
pub(super) struct Redirects {
    seen: u64,
    waiting: BTreeMap<u64, Moved>,
    /// By target: the redirects to it.
    to: HashMap<u128, Vec<u64>>,
}

impl Redirects {
    pub(super) fn add(&mut self, moved: Moved) {
        self.to.entry(key_of(&moved.to)).or_default().push(self.seen);
        self.waiting.insert(self.seen, moved);
        self.seen += 1;
    }

    /// Says of a record which URL was asked for, if that redirects to it.
    pub(super) fn pair(&mut self, record: &mut PageRecord) {
        if record.requested_url.is_some() || self.waiting.is_empty() {
            return;
        }
        let Ok(url) = url::Url::parse(&record.url) else { return };
        // The start of the chain is what was asked for; its other links are told at the end.
        let (mut key, mut first) = (key_of(&url), None);
        let mut steps = Vec::new();
        while let Some(&number) = self.to.get(&key).and_then(|numbers| numbers.first()) {
            if steps.contains(&number) {
                break;
            }
            steps.push(number);
            first = Some(number);
            key = key_of(&self.waiting[&number].from);
        }
        let Some(moved) = first.and_then(|number| self.waiting.remove(&number)) else { return };
        let target = key_of(&moved.to);
        if let Some(numbers) = self.to.get_mut(&target) {
            numbers.retain(|number| Some(*number) != first);
            if numbers.is_empty() {
                self.to.remove(&target);
            }
        }
        record.requested_url = Some(moved.record.url);
    }

    /// What was not taken up, in the order of the input, at most `max` at a time.
    pub(super) fn rest(&mut self, max: usize) -> Vec<SourceItem> {
        self.to.clear();
        let mut rest = Vec::new();
        while rest.len() < max.max(1)
            && let Some((_, Moved { record, origin, .. })) = self.waiting.pop_first()
        {
            rest.push(moved_item(record, origin));
        }
        rest
    }
}

fn moved_item(record: PageRecord, origin: Origin) -> SourceItem {
    SourceItem::Page { record, origin, cuts: Vec::new() }
}
