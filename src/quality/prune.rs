//! Cuts a scored collection: the best share of it, all from a score on, or tiers by quantile.
//!
//! Memory: 8 bytes a document with a score. A first pass collects the scores, a second asks for the
//! place of each.

use std::collections::HashMap;

use super::QualityError;
use crate::documents::DocumentSource;

/// Reads the scores of a file; those that are missing are counted.
///
/// # Errors
/// The file cannot be read or has no such column.
pub(crate) fn scores(
    source: &mut dyn DocumentSource,
    column: &str,
) -> Result<(Vec<f64>, u64), QualityError> {
    let columns = source.columns().to_vec();
    let asked = [column.to_owned()];
    let (mut scores, mut missing) = (Vec::new(), 0);
    while let Some(batch) = source.next_batch()? {
        for values in batch.values(&asked) {
            match values[0].number() {
                Some(score) => scores.push(score),
                None => missing += 1,
            }
        }
    }
    if scores.is_empty() {
        let (file, column) = (source.name().to_owned(), column.to_owned());
        return Err(if columns.contains(&column) {
            QualityError::Unscored { file, column }
        } else {
            QualityError::NoScores { file, column, columns }
        });
    }
    Ok((scores, missing))
}

/// Documents in groups by score, the best first. Documents of equal score are in the order of the
/// file.
#[derive(Clone, Debug)]
pub(crate) struct Tiers {
    /// Scores from high to low.
    falling: Vec<f64>,
    /// How many documents the first tier has, the first two, and so on; the last has all.
    ends: Vec<usize>,
    /// Documents seen of each score that an end lies in.
    seen: HashMap<u64, usize>,
}

impl Tiers {
    /// Tiers of which the first i have this share of the documents with a score, rounded up.
    ///
    /// # Errors
    /// Shares that do not rise, or lie outside of 0 to 1.
    pub(crate) fn by_share(scores: Vec<f64>, shares: &[f64]) -> Result<Self, QualityError> {
        if shares.is_empty() || !shares.iter().all(|share| *share > 0.0 && *share <= 1.0) {
            let what = "a share must lie above 0 and be at most 1".to_owned();
            return Err(QualityError::Shares(what));
        }
        if !shares.is_sorted_by(|a, b| a < b) {
            let what = "the shares of tiers must rise: each includes those before it".to_owned();
            return Err(QualityError::Shares(what));
        }
        let documents = scores.len();
        // Shares such as 0.7 have no exact binary form; what they lack must not make one more.
        let end = |share: &f64| (share * documents as f64 - 1e-9).ceil() as usize;
        let mut ends: Vec<usize> = shares.iter().map(end).collect();
        if ends.last() != Some(&documents) {
            ends.push(documents);
        }
        Ok(Self::new(scores, ends))
    }

    /// Two tiers: scores of at least `threshold`, and those below.
    pub(crate) fn by_score(scores: Vec<f64>, threshold: f64) -> Self {
        let above = scores.iter().filter(|score| **score >= threshold).count();
        let documents = scores.len();
        Self::new(scores, vec![above, documents])
    }

    fn new(mut scores: Vec<f64>, ends: Vec<usize>) -> Self {
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut seen = HashMap::new();
        for &end in ends.iter().filter(|end| **end > 0 && **end < scores.len()) {
            seen.insert(scores[end].to_bits(), 0);
        }
        Self { falling: scores, ends, seen }
    }

    /// Number of tiers.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Documents in a tier.
    pub(crate) fn size(&self, tier: usize) -> usize {
        self.ends[tier] - tier.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Lowest score in a tier.
    pub(crate) fn lowest(&self, tier: usize) -> Option<f64> {
        (self.size(tier) > 0).then(|| self.falling[self.ends[tier] - 1])
    }

    /// The tier, from 0, of the next document of the file, which has this score.
    pub(crate) fn place(&mut self, score: f64) -> usize {
        let better = self.falling.partition_point(|other| other.total_cmp(&score).is_gt());
        let rank = match self.seen.get_mut(&score.to_bits()) {
            Some(seen) => {
                *seen += 1;
                better + *seen - 1
            }
            None => better,
        };
        self.ends.partition_point(|end| *end <= rank).min(self.ends.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Tiers;

    #[track_caller]
    fn check(mut tiers: Tiers, scores: &[f64], expected: &[usize]) {
        let found: Vec<usize> = scores.iter().map(|score| tiers.place(*score)).collect();
        assert_eq!(found, expected);
        for tier in 0..tiers.count() {
            let size = expected.iter().filter(|found| **found == tier).count();
            assert_eq!(size, tiers.size(tier), "tier {tier}");
        }
    }

    #[test]
    fn a_share_is_rounded_up_and_ties_go_by_row() {
        let scores = [-1.0, -3.0, -1.0, -2.0, -1.0];
        let by = |shares: &[f64]| Tiers::by_share(scores.to_vec(), shares).unwrap();
        check(by(&[0.2]), &scores, &[0, 1, 1, 1, 1]);
        check(by(&[0.4]), &scores, &[0, 1, 0, 1, 1]);
        check(by(&[0.41]), &scores, &[0, 1, 0, 1, 0]);
        check(by(&[0.2, 0.4, 1.0]), &scores, &[0, 2, 1, 2, 2]);
        check(by(&[1.0]), &scores, &[0; 5]);
        // A share too small for a document of its own makes an empty tier, and moves no other.
        check(by(&[0.1, 0.2, 1.0]), &scores, &[0, 2, 2, 2, 2]);
        // 0.7 * 10 is 7.000000000000001 in doubles.
        let ten = vec![-1.0; 10];
        assert_eq!(Tiers::by_share(ten, &[0.7]).unwrap().size(0), 7);
    }

    #[test]
    fn a_threshold_keeps_what_reaches_it() {
        let scores = [-1.0, -3.0, -2.0];
        check(Tiers::by_score(scores.to_vec(), -2.0), &scores, &[0, 1, 0]);
        check(Tiers::by_score(scores.to_vec(), -5.0), &scores, &[0, 0, 0]);
        check(Tiers::by_score(scores.to_vec(), 0.0), &scores, &[1, 1, 1]);
        assert_eq!(Tiers::by_score(scores.to_vec(), -2.0).lowest(0), Some(-2.0));
    }

    #[test]
    fn shares_that_make_no_tiers_are_refused() {
        for shares in [&[][..], &[0.0], &[1.5], &[f64::NAN], &[0.5, 0.5], &[0.5, 0.2]] {
            assert!(Tiers::by_share(vec![-1.0], shares).is_err(), "{shares:?}");
        }
    }
}
