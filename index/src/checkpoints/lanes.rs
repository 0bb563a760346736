//! Numbers side by side, one lane a checkpoint: what one posting adds is computed for all
//! checkpoints at once, by the vector instructions that a compiler finds for plain slices.

use std::ops::{Add, Div, Mul};

/// The two kinds of numbers that scores are computed in.
pub(super) trait Real:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Into<f64>
    + Send
    + Sync
{
    /// Rows start and end at multiples of this many lanes: two registers of 16 bytes, which is what
    /// a loop takes at a time, so that none is left over.
    const LANES: usize;
    /// Above every score.
    const ABOVE: Self;
    /// The least score that a ranking shows: a score of 0 is below it.
    const LEAST: Self;
    /// A bound times this holds for a sum of thousands of rounded terms.
    const SLACK: Self;

    /// A term frequency.
    fn of(tf: u32) -> Self;

    /// The next larger number.
    fn above(self) -> Self;

    /// The lane where a row starts that has to hold `lane`.
    fn start(lane: usize) -> usize {
        lane / Self::LANES * Self::LANES
    }

    /// The smaller of two scores.
    fn least(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
}

impl Real for f64 {
    const LANES: usize = 4;
    const ABOVE: Self = Self::INFINITY;
    const LEAST: Self = Self::MIN_POSITIVE;
    const SLACK: Self = 1.001;

    fn of(tf: u32) -> Self {
        Self::from(tf)
    }

    fn above(self) -> Self {
        self.next_up()
    }
}

impl Real for f32 {
    const LANES: usize = 8;
    const ABOVE: Self = Self::INFINITY;
    const LEAST: Self = Self::MIN_POSITIVE;
    const SLACK: Self = 1.001;

    fn of(tf: u32) -> Self {
        tf as Self
    }

    fn above(self) -> Self {
        self.next_up()
    }
}

/// Adds what one posting gives to the scores of its document: `weight (scaled / (tf + norm))`,
/// a lane a checkpoint. The order of operations is that of [`crate::bm25::Bm25::term_score`].
#[inline]
pub(super) fn add_posting<R: Real>(scores: &mut [R], weights: &[R], norms: &[R], tf: R, scaled: R) {
    for ((score, &weight), &norm) in scores.iter_mut().zip(weights).zip(norms) {
        *score = *score + weight * (scaled / (tf + norm));
    }
}

/// Whether a lane of `scores` is at least that of `bounds`.
#[inline]
pub(super) fn any_at_least<R: Real>(scores: &[R], bounds: &[R]) -> bool {
    let mut any = false;
    for (score, bound) in scores.iter().zip(bounds) {
        // No early end, so that lanes are compared side by side.
        any |= score >= bound;
    }
    any
}

/// Counts, by lane, the scores that are at least `bounds`.
#[inline]
pub(super) fn count_at_least<R: Real>(counts: &mut [u32], scores: &[R], bounds: &[R]) {
    for ((count, score), bound) in counts.iter_mut().zip(scores).zip(bounds) {
        *count += u32::from(score >= bound);
    }
}
