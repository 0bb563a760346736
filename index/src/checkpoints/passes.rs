//! Which documents have to be scored: those that can change a ranking.
//!
//! Turtle and Flood, "Query evaluation: strategies and optimizations" (1995), `MaxScore`: a document
//! scores no more than the sum of the most that its words can give. So the documents of the rarest
//! words are scored first. What they leave as the least score that matters tells, by word, up to
//! which checkpoint a document with none but this and more common words can still matter; the
//! others are passed over, and no answer changes.

use super::lanes::Real;
use super::postings::Postings;
use super::tables::CrawlTable;

/// The first pass takes words as long as they are in no more than this share of the postings of
/// all.
const FIRST_SHARE: usize = 8;

/// Documents to be scored in a pass: those that hold the term of a slot and are in a checkpoint
/// below its limit, but not those that an earlier pass took.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// By slot: a document of it is to be scored if its first checkpoint is below.
    pub limits: Vec<usize>,
    /// By slot: whether its documents were scored before.
    pub done: Vec<bool>,
    /// Checkpoints from here on need not be scored.
    pub end: usize,
    /// Slots, rarest first.
    by_rarity: Vec<usize>,
}

impl Pass {
    /// The documents of the rarest words, at all checkpoints.
    pub fn first(&mut self, postings: &Postings, checkpoints: usize) {
        let slots = postings.ids().len();
        self.by_rarity.clear();
        self.by_rarity.extend(0..slots);
        self.by_rarity.sort_by_key(|&slot| postings.len(slot));
        self.done.clear();
        self.done.resize(slots, false);
        self.limits.clear();
        self.limits.resize(slots, 0);
        self.end = checkpoints;
        let all: usize = (0..slots).map(|slot| postings.len(slot)).sum();
        let mut taken = 0;
        for &slot in &self.by_rarity {
            if taken > 0 && taken + postings.len(slot) > all / FIRST_SHARE {
                break;
            }
            taken += postings.len(slot);
            self.limits[slot] = checkpoints;
        }
    }

    /// What the first pass left and can still matter, given the least scores that do.
    pub fn second<R: Real>(
        &mut self,
        postings: &Postings,
        crawl: &CrawlTable<R>,
        scale: R,
        bounds: &[R],
        most: &mut Vec<R>,
    ) {
        most.clear();
        most.resize(crawl.width, R::default());
        self.end = 0;
        for &slot in self.by_rarity.iter().rev() {
            self.done[slot] = self.limits[slot] > 0;
            if self.done[slot] {
                self.limits[slot] = 0;
                continue;
            }
            let id = postings.ids()[slot];
            let times = postings.words().iter().filter(|word| **word == slot).count();
            for (most, &weight) in most.iter_mut().zip(crawl.weights(id)) {
                // tf / (tf + norm) is at most 1.
                *most = *most + R::of(times as u32) * weight * scale * R::SLACK;
            }
            let matters = |lane: &usize| most[*lane] >= bounds[*lane];
            let last = (0..crawl.checkpoints).rev().find(matters);
            self.limits[slot] = last.map_or(0, |lane| lane + 1);
            self.end = self.end.max(self.limits[slot]);
        }
    }
}
