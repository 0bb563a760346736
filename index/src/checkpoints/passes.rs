//! Which documents have to be scored: those that can change a ranking.
//!
//! Turtle and Flood, "Query evaluation: strategies and optimizations" (1995), `MaxScore`: a document
//! scores no more than the sum of the most that its words can give. So the documents of the rarest
//! words are scored first. What they leave as the least score that matters tells, by word, up to
//! which checkpoint a document with none but this and more common words can still matter; the
//! others are passed over. Within a pass, what the rarer words of a document give, and the most that
//! the others can, tells whether it is worth the others. No answer changes.

use super::lanes::Real;
use super::postings::Postings;
use super::tables::CrawlTable;

/// The first pass takes words as long as they are in no more than this share of all postings.
const FIRST_SHARE: usize = 8;
/// A document is tried by words that are in no more than this share of all postings.
const TRIED_SHARE: usize = 3;

/// Documents to be scored in a pass: those that hold the term of a slot and are in a checkpoint
/// below its limit, but not those that an earlier pass took.
#[derive(Debug, Default)]
pub(super) struct Pass<R> {
    /// By slot: a document of it is to be scored if its first checkpoint is below.
    pub(crate) limits: Vec<usize>,
    /// By slot: whether its documents were scored before.
    pub(crate) done: Vec<bool>,
    /// By slot: whether a document is tried by it.
    pub(crate) tried: Vec<bool>,
    /// A row: the most that the words give by which no document is tried.
    pub(crate) rest: Vec<R>,
    /// Checkpoints from here on need not be scored.
    pub(crate) end: usize,
    /// Slots, rarest first.
    by_rarity: Vec<usize>,
    /// A row, while limits are found.
    most: Vec<R>,
}

impl<R: Real> Pass<R> {
    /// The documents of the rarest words, at all checkpoints.
    pub(crate) fn first(&mut self, postings: &Postings, crawl: &CrawlTable<R>, scale: R) {
        let slots = postings.ids().len();
        self.by_rarity.clear();
        self.by_rarity.extend(0..slots);
        self.by_rarity.sort_by_key(|&slot| postings.len(slot));
        self.done.clear();
        self.done.resize(slots, false);
        self.try_by(postings, FIRST_SHARE);
        self.limits.clear();
        self.limits.extend(self.tried.iter().map(|tried| usize::from(*tried) * crawl.checkpoints));
        self.end = crawl.checkpoints;
        self.sum_rest(postings, crawl, scale);
    }

    /// What the first pass left and can still matter, given the least scores that do.
    pub(crate) fn second(
        &mut self,
        postings: &Postings,
        crawl: &CrawlTable<R>,
        scale: R,
        bounds: &[R],
    ) {
        let mut most = std::mem::take(&mut self.most);
        most.clear();
        most.resize(crawl.width, R::default());
        self.end = 0;
        for &slot in self.by_rarity.iter().rev() {
            self.done[slot] = self.limits[slot] > 0;
            self.limits[slot] = 0;
            if self.done[slot] {
                continue;
            }
            add_most(&mut most, postings, crawl, scale, slot);
            let matters = |lane: &usize| most[*lane] * R::SLACK >= bounds[*lane];
            let last = (0..crawl.checkpoints).rev().find(matters);
            self.limits[slot] = last.map_or(0, |lane| lane + 1);
            self.end = self.end.max(self.limits[slot]);
        }
        self.most = most;
        self.try_by(postings, TRIED_SHARE);
        self.sum_rest(postings, crawl, scale);
    }

    /// Tries by the rarest words with this share of the postings, and by one at least.
    fn try_by(&mut self, postings: &Postings, share: usize) {
        self.tried.clear();
        self.tried.resize(self.done.len(), false);
        let left = || self.by_rarity.iter().copied().filter(|&slot| !self.done[slot]);
        let all: usize = left().map(|slot| postings.len(slot)).sum();
        let mut taken = 0;
        for slot in left() {
            if taken > 0 && taken + postings.len(slot) > all / share {
                break;
            }
            taken += postings.len(slot);
            self.tried[slot] = true;
        }
    }

    fn sum_rest(&mut self, postings: &Postings, crawl: &CrawlTable<R>, scale: R) {
        self.rest.clear();
        self.rest.resize(crawl.width, R::default());
        for slot in 0..self.done.len() {
            if !self.done[slot] && !self.tried[slot] {
                add_most(&mut self.rest, postings, crawl, scale, slot);
            }
        }
    }

    /// Whether a document can matter that has these scores, from the lane `first` on, by the words
    /// that it is tried by.
    #[inline]
    pub(crate) fn can_matter(&self, first: usize, scores: &[R], bounds: &[R]) -> bool {
        let mut any = false;
        for ((&score, &rest), &bound) in
            scores.iter().zip(&self.rest[first..]).zip(&bounds[first..])
        {
            any |= (score + rest) * R::SLACK >= bound;
        }
        any
    }
}

/// Adds the most that the term of a slot can give to a document: tf / (tf + norm) is at most 1.
fn add_most<R: Real>(
    row: &mut [R],
    postings: &Postings,
    crawl: &CrawlTable<R>,
    scale: R,
    slot: usize,
) {
    let times = postings.words().iter().filter(|word| **word == slot).count();
    for (most, &weight) in row.iter_mut().zip(crawl.weights(postings.ids()[slot])) {
        *most = *most + R::of(times as u32) * weight * scale;
    }
}
