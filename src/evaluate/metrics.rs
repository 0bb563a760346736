//! Metrics of one query, from the ranks at which its judged pages were retrieved.
//!
//! All are those of `trec_eval`, in 64-bit floating point: nDCG as its `ndcg_cut` (Järvelin and
//! Kekäläinen, TOIS 2002; gain = grade, discount `1 / log2(rank + 1)`), R as `recall`, MRR as
//! `recip_rank`, AP as `map`, P and Success as `P` and `success`, bpref as `bpref`; but for Judged, which
//! is that of `ir_measures`. A page is relevant if its grade is above 0; other grades gain nothing.
//!
//! Not here: where ranks come from, averages over queries, and what is measured on a crawl.

use std::fmt;

/// Results beyond this rank do not count, as with `trec_eval -M 1000`; TREC's runs have as many.
pub(crate) const DEPTH: u32 = 1000;

/// A metric that is taken by query, with its cut-off rank (1 to [`DEPTH`]).
///
/// ```
/// use prospect::evaluate::metrics::{Judged, Metric};
///
/// // Of two relevant pages, one was found, at rank 2.
/// let (judged, ranks, results) = (Judged::new([1, 1]), [(2, 1)], 7);
/// assert_eq!(judged.value(Metric::AveragePrecision(1000), &ranks, results), (1.0 / 2.0) / 2.0);
/// assert_eq!(judged.value(Metric::ReciprocalRank(1), &ranks, results), 0.0);
/// assert_eq!(judged.value(Metric::Precision(5), &ranks, results), 1.0 / 5.0);
/// let (ndcg, ideal) = (judged.value(Metric::Ndcg(10), &ranks, results), 1.0 + 1.0 / 3_f64.log2());
/// assert!((ndcg - 1.0 / 3_f64.log2() / ideal).abs() < 1e-12);
/// assert_eq!(Metric::Ndcg(10).to_string(), "nDCG@10");
/// assert_eq!(Metric::ReciprocalRank(1000).to_string(), "MRR");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// nDCG over the first so many results.
    Ndcg(u32),
    /// Share of the relevant pages that are among the first so many results.
    Recall(u32),
    /// 1 / rank of the first relevant page, 0 if it lies beyond the cut-off.
    ReciprocalRank(u32),
    /// Mean over the relevant pages of the precision at their rank, 0 beyond the cut-off.
    AveragePrecision(u32),
    /// Share of the first so many results, whether there are as many or not, that is relevant.
    Precision(u32),
    /// 1 if a relevant page is among the first so many results, else 0.
    Success(u32),
    /// Share of the first so many results, of those that there are, that is judged at all.
    Judged(u32),
    /// Mean over the relevant pages of the share of judged pages that are not relevant (grade 0) which come after them,
    /// of as many as pages are relevant; pages that are not judged count for nothing.
    Bpref,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ndcg(cutoff) => write!(f, "nDCG@{cutoff}"),
            Self::Recall(cutoff) => write!(f, "R@{cutoff}"),
            Self::ReciprocalRank(DEPTH) => write!(f, "MRR"),
            Self::ReciprocalRank(cutoff) => write!(f, "MRR@{cutoff}"),
            Self::AveragePrecision(DEPTH) => write!(f, "AP"),
            Self::AveragePrecision(cutoff) => write!(f, "AP@{cutoff}"),
            Self::Precision(cutoff) => write!(f, "P@{cutoff}"),
            Self::Success(cutoff) => write!(f, "Success@{cutoff}"),
            Self::Judged(cutoff) => write!(f, "Judged@{cutoff}"),
            Self::Bpref => write!(f, "bpref"),
        }
    }
}

/// What is judged relevant to one query in the whole collection, retrieved or not: the measure of
/// what an ideal ranking would reach.
///
/// ```
/// use prospect::evaluate::metrics::{Judged, Metric};
///
/// // Three pages are judged; the one of grade 2 was found at rank 3, that of grade 0 at rank 1.
/// let judged = Judged::new([2, 1, 0]);
/// let (ranks, results) = ([(3, 2), (1, 0)], 4);
/// assert_eq!(judged.value(Metric::ReciprocalRank(10), &ranks, results), 1.0 / 3.0);
/// assert_eq!(judged.value(Metric::Recall(100), &ranks, results), 0.5);
/// assert_eq!(judged.value(Metric::Judged(10), &ranks, results), 2.0 / 4.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Grades above 0, highest first.
    gains: Vec<i32>,
    /// Pages of grade 0: judged not relevant. A grade below that says nothing of relevance.
    not_relevant: usize,
}

impl Judged {
    /// From the grades of all judged pages of the collection, in any order.
    pub fn new(grades: impl IntoIterator<Item = i32>) -> Self {
        let (mut gains, others): (Vec<i32>, Vec<i32>) =
            grades.into_iter().partition(|&grade| grade > 0);
        gains.sort_unstable_by(|a, b| b.cmp(a));
        Self { gains, not_relevant: others.into_iter().filter(|&grade| grade == 0).count() }
    }

    /// Relevant pages.
    pub(crate) fn relevant(&self) -> usize {
        self.gains.len()
    }

    /// A metric of the query. `ranks` holds the rank (from 1) and the grade of each judged page
    /// that was retrieved, in any order; `results` is how many were retrieved. Pages that are not relevant may be
    /// left out where the metric is neither Judged nor bpref. 0 if nothing is relevant, but for Judged.
    pub fn value(&self, metric: Metric, ranks: &[(u32, i32)], results: usize) -> f64 {
        match metric {
            Metric::Ndcg(cutoff) => self.ndcg(ranks, cutoff),
            Metric::Recall(cutoff) => self.recall(ranks, cutoff),
            Metric::ReciprocalRank(cutoff) => Self::reciprocal_rank(ranks, cutoff),
            Metric::AveragePrecision(cutoff) => self.average_precision(ranks, cutoff),
            Metric::Precision(cutoff) => {
                relevant(ranks, cutoff).len() as f64 / f64::from(cutoff.max(1))
            }
            Metric::Success(cutoff) => f64::from(u8::from(!relevant(ranks, cutoff).is_empty())),
            Metric::Judged(cutoff) => {
                let judged = ranks.iter().filter(|(rank, _)| *rank <= cutoff).count();
                share(judged as f64, results.min(cutoff as usize) as f64)
            }
            Metric::Bpref => self.bpref(ranks),
        }
    }

    /// Buckley and Voorhees, SIGIR 2004, as `trec_eval` bounds it: with R relevant pages and N judged not relevant, 1 - n /
    /// min(R, N) of each relevant page that was retrieved, n of the pages before it being judged not relevant, R at most.
    fn bpref(&self, ranks: &[(u32, i32)]) -> f64 {
        let mut found: Vec<_> = ranks.iter().filter(|(rank, _)| *rank <= DEPTH).collect();
        found.sort_unstable();
        let most = self.relevant().min(self.not_relevant) as f64;
        let (mut before, mut total) = (0, 0.0);
        for (_, grade) in found {
            match *grade {
                0 => before += 1,
                1.. if before > 0 => total += 1.0 - before.min(self.relevant()) as f64 / most,
                1.. => total += 1.0,
                _ => {}
            }
        }
        share(total, self.relevant() as f64)
    }

    /// nDCG over the first `cutoff` results; the ideal is over all judged pages.
    pub(crate) fn ndcg(&self, ranks: &[(u32, i32)], cutoff: u32) -> f64 {
        let gain = |(rank, grade)| f64::from(grade) * discount(rank);
        let found: f64 = relevant(ranks, cutoff).into_iter().map(gain).sum();
        let ideal: f64 = (1..=cutoff.min(DEPTH)).zip(self.gains.iter().copied()).map(gain).sum();
        share(found, ideal)
    }

    /// Share of the relevant pages that are among the first `cutoff` results.
    pub(crate) fn recall(&self, ranks: &[(u32, i32)], cutoff: u32) -> f64 {
        share(relevant(ranks, cutoff).len() as f64, self.relevant() as f64)
    }

    /// 1 / rank of the first relevant page, 0 if it lies beyond `cutoff`.
    pub(crate) fn reciprocal_rank(ranks: &[(u32, i32)], cutoff: u32) -> f64 {
        relevant(ranks, cutoff).first().map_or(0.0, |&(rank, _)| 1.0 / f64::from(rank))
    }

    /// Mean over all relevant pages of the precision at their rank, 0 for those beyond `cutoff`.
    pub(crate) fn average_precision(&self, ranks: &[(u32, i32)], cutoff: u32) -> f64 {
        let ranks = relevant(ranks, cutoff);
        let precision =
            |(found, (rank, _)): (usize, (u32, i32))| (found + 1) as f64 / f64::from(rank);
        let total: f64 = ranks.into_iter().enumerate().map(precision).sum();
        share(total, self.relevant() as f64)
    }
}

/// `1 / log2(rank + 1)`, for a rank from 1.
pub(crate) fn discount(rank: u32) -> f64 {
    1.0 / (f64::from(rank) + 1.0).log2()
}

/// The relevant pages within the cut-off, by rank.
fn relevant(ranks: &[(u32, i32)], cutoff: u32) -> Vec<(u32, i32)> {
    let within = |&(rank, grade): &(u32, i32)| grade > 0 && rank <= cutoff.min(DEPTH);
    let mut found: Vec<_> = ranks.iter().copied().filter(within).collect();
    found.sort_unstable();
    found
}

/// Adding 0 makes 0 of the -0 that an empty sum is.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole + 0.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn metrics_of_a_ranking_that_can_be_checked_by_hand() {
        let judged = Judged::new([1, 0, 3, -2, 2]);
        let ranks = [(4, 1), (2, 3), (1, -2), (3, 0)];
        assert_eq!(judged.relevant(), 3);
        close(Judged::reciprocal_rank(&ranks, 10), 0.5);
        close(Judged::reciprocal_rank(&ranks, 1), 0.0);
        close(judged.recall(&ranks, 100), 2.0 / 3.0);
        close(judged.recall(&ranks, 3), 1.0 / 3.0);
        close(judged.average_precision(&ranks, DEPTH), (1.0 / 2.0 + 2.0 / 4.0) / 3.0);
        let dcg = 3.0 / 3f64.log2() + 1.0 / 5f64.log2();
        close(judged.ndcg(&ranks, 10), dcg / (3.0 + 2.0 / 3f64.log2() + 1.0 / 2.0));
        close(judged.ndcg(&ranks, 2), 3.0 / 3f64.log2() / (3.0 + 2.0 / 3f64.log2()));
    }

    #[test]
    fn nothing_relevant_is_worth_nothing() {
        let judged = Judged::new([0, -1]);
        let of_lists = [Metric::Ndcg(10), Metric::Recall(5), Metric::AveragePrecision(DEPTH)];
        let others = [Metric::Precision(5), Metric::Success(1), Metric::Bpref];
        for metric in of_lists.into_iter().chain(others) {
            assert_eq!(judged.value(metric, &[(1, 0)], 1), 0.0);
            let nothing = Judged::new([1]).value(metric, &[], 0);
            assert_eq!(nothing.to_string(), "0", "-0 would be printed as such");
        }
    }

    #[test]
    fn what_is_judged_and_what_comes_first_can_be_counted_by_hand() {
        // Two relevant pages, three that are not, one of which nothing is known; seven results.
        let judged = Judged::new([1, 2, 0, 0, 0, -1]);
        let (ranks, results) = ([(1, 0), (2, 1), (4, -1), (5, 0), (7, 2)], 7);
        let value = |metric| judged.value(metric, &ranks, results);
        close(value(Metric::Precision(5)), 1.0 / 5.0);
        close(value(Metric::Precision(10)), 2.0 / 10.0);
        assert_eq!([1, 2].map(|cutoff| value(Metric::Success(cutoff))), [0.0, 1.0]);
        close(value(Metric::Judged(5)), 4.0 / 5.0);
        close(value(Metric::Judged(10)), 5.0 / 7.0);
        // One of three before the first, two before the second; no more than two count.
        close(value(Metric::Bpref), f64::midpoint(1.0 - 1.0 / 2.0, 1.0 - 2.0 / 2.0));
        close(Judged::new([1, 1]).value(Metric::Bpref, &[(3, 1)], 5), 0.5);
        // A page of grade 0 that was not retrieved is before none.
        close(Judged::new([1, 0]).value(Metric::Bpref, &[(3, 1)], 5), 1.0);
    }

    #[test]
    fn ranks_beyond_the_depth_do_not_count() {
        let judged = Judged::new([1, 1]);
        let ranks = [(DEPTH, 1), (DEPTH + 1, 1)];
        assert_eq!(judged.recall(&ranks, u32::MAX), 0.5);
        close(judged.average_precision(&ranks, u32::MAX), 1.0 / f64::from(DEPTH) / 2.0);
    }
}
