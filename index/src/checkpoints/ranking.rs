//! Best pages and ranks of wanted pages at every checkpoint, while the scores of one document after
//! the other come in. No score is kept.

use super::lanes::{Real, any_at_least, count_at_least};

/// A page with its score, as it stands in a list.
#[derive(Clone, Copy, Debug)]
struct Ranked<R> {
    page: u32,
    order: u32,
    score: R,
}

/// Rankings of one query in one crawl. Rows have a lane for each checkpoint and are `width` wide.
#[derive(Debug, Default)]
pub(super) struct Rankings<R> {
    width: usize,
    top: usize,
    /// By lane: best pages so far.
    best: Vec<Vec<Ranked<R>>>,
    /// A row: a document with lower scores changes nothing.
    bounds: Vec<R>,
    /// A row: least score that a list still takes.
    entry: Vec<R>,
    /// A row: least score of a wanted page.
    lowest: Vec<R>,
    /// Place of each wanted page among all by URL.
    orders: Vec<u32>,
    /// By wanted page, a row.
    scores: Vec<R>,
    /// By wanted page, a row for documents whose URL stands behind its own (a higher score beats
    /// it), then a row for those before (an equal one does too).
    beaten_from: Vec<R>,
    /// By wanted page, a row: documents that beat it.
    beaten_by: Vec<u32>,
}

impl<R: Real> Rankings<R> {
    /// Starts on a crawl with rows of this width; wanted pages follow.
    pub(crate) fn start(&mut self, width: usize, top: usize) {
        self.width = width;
        self.top = top;
        self.best.resize_with(width, Vec::new);
        self.best.iter_mut().for_each(Vec::clear);
        let least = if top == 0 { R::ABOVE } else { R::LEAST };
        refill(&mut self.entry, width, least);
        refill(&mut self.bounds, width, least);
        refill(&mut self.lowest, width, R::ABOVE);
        self.orders.clear();
        self.scores.clear();
        self.beaten_from.clear();
        self.beaten_by.clear();
    }

    /// A wanted page, with its scores (0 where it is not fetched).
    pub(crate) fn want(&mut self, order: u32, scores: &[R]) {
        let shown = |&score: &R| if score >= R::LEAST { score } else { R::ABOVE };
        let equal = || scores.iter().map(shown);
        self.beaten_from.extend(equal().map(R::above));
        self.beaten_from.extend(equal());
        for (lane, score) in equal().enumerate() {
            self.lowest[lane] = self.lowest[lane].least(score);
            self.bounds[lane] = self.bounds[lane].least(score);
        }
        self.beaten_by.resize(self.beaten_by.len() + self.width, 0);
        self.scores.extend_from_slice(scores);
        self.orders.push(order);
    }

    /// A row: a document with lower scores changes nothing. Never falls while documents are seen.
    pub(crate) fn bounds(&self) -> &[R] {
        &self.bounds
    }

    /// Scores of a document from the lane `start` on.
    #[inline]
    pub(crate) fn see(&mut self, page: u32, order: u32, start: usize, scores: &[R]) {
        if any_at_least(scores, &self.bounds[start..]) {
            self.count(order, start, scores);
            if any_at_least(scores, &self.entry[start..]) {
                self.enter(page, order, start, scores);
            }
        }
    }

    fn count(&mut self, order: u32, start: usize, scores: &[R]) {
        let width = self.width;
        for (wanted, &own) in self.orders.iter().enumerate() {
            let from = (2 * wanted + usize::from(order < own)) * width;
            let beaten_by = &mut self.beaten_by[wanted * width + start..(wanted + 1) * width];
            count_at_least(beaten_by, scores, &self.beaten_from[from + start..from + width]);
        }
    }

    #[cold]
    fn enter(&mut self, page: u32, order: u32, start: usize, scores: &[R]) {
        for (lane, &score) in (start..).zip(scores) {
            if score >= self.entry[lane] {
                self.insert(lane, Ranked { page, order, score });
            }
        }
    }

    fn insert(&mut self, lane: usize, new: Ranked<R>) {
        let best = &mut self.best[lane];
        let before = |a: &Ranked<R>, b: &Ranked<R>| {
            a.score > b.score || (a.score == b.score && a.order < b.order)
        };
        let at = best.partition_point(|kept| before(kept, &new));
        if at == self.top {
            return;
        }
        best.truncate(self.top - 1);
        best.insert(at, new);
        if best.len() == self.top {
            let last = best[self.top - 1].score;
            self.entry[lane] = last;
            self.bounds[lane] = last.least(self.lowest[lane]);
        }
    }

    /// The best pages at a checkpoint, best first.
    pub(crate) fn best(&self, checkpoint: usize) -> impl Iterator<Item = (u32, f64)> {
        self.best[checkpoint].iter().map(|ranked| (ranked.page, ranked.score.into()))
    }

    /// Score at a checkpoint and rank of each wanted page, as they came.
    pub(crate) fn wanted(&self, checkpoint: usize) -> impl Iterator<Item = (f64, Option<u32>)> {
        (0..self.orders.len()).map(move |wanted| {
            let score = self.scores[wanted * self.width + checkpoint];
            let beaten_by = self.beaten_by[wanted * self.width + checkpoint];
            (score.into(), (score >= R::LEAST).then_some(beaten_by + 1))
        })
    }
}

fn refill<T: Copy>(values: &mut Vec<T>, len: usize, value: T) {
    values.clear();
    values.resize(len, value);
}
