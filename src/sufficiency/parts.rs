//! The parts of a query's sufficiency, as METHODS, section 4, makes the source's document definite.

use serde::Serialize;

use super::track::EntryRates;

/// Random halves of the crawl that answers are compared over.
pub(super) const HALVES: u32 = 20;

/// How well a crawl answers a query. Every number is in \[0, 1\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct QueryParts {
    /// Mean over the places of the share of the query's idf mass that a page holds.
    pub(crate) coverage: f64,
    /// The same of words one by one: how many pages hold each, up to the places.
    pub(crate) words: f64,
    /// How alike the answers of random halves of the crawl are.
    pub(crate) consistency: f64,
    /// How far the results that enter its list by page fetched have fallen since the first window with any.
    pub(crate) saturation: f64,
    /// Share of the filled places whose page nearly repeats an earlier one.
    pub(crate) redundancy: f64,
    /// Mean coverage of the queries most like it, or of its variants.
    pub(crate) domain_coverage: f64,
}

impl QueryParts {
    /// The least of coverage, consistency and what is not redundant, times the coverage of the domain.
    pub(crate) fn sufficiency(&self) -> f64 {
        self.coverage.min(self.consistency).min(1.0 - self.redundancy) * self.domain_coverage
    }

    /// What the source's code takes the least of: coverage, consistency and saturation.
    pub(crate) fn confidence(&self) -> f64 {
        self.coverage.min(self.consistency).min(self.saturation)
    }

    /// The parts summed, each times a weight.
    pub(super) fn plus(&self, other: &Self, weight: f64) -> Self {
        Self {
            coverage: self.coverage + weight * other.coverage,
            words: self.words + weight * other.words,
            consistency: self.consistency + weight * other.consistency,
            saturation: self.saturation + weight * other.saturation,
            redundancy: self.redundancy + weight * other.redundancy,
            domain_coverage: self.domain_coverage + weight * other.domain_coverage,
        }
    }
}

/// Coverage by words one by one: `sum idf ln(1 + min(df, k)) / (ln(1 + k) sum idf)`, of words with their idf and how
/// many pages hold them.
pub(super) fn word_coverage(words: impl Iterator<Item = (f64, u64)>, k: usize) -> f64 {
    let (mut held, mut all) = (0.0, 0.0);
    for (idf, pages) in words {
        held += idf * (1.0 + pages.min(k as u64) as f64).ln();
        all += idf;
    }
    if all > 0.0 { (held / ((1.0 + k as f64).ln() * all)).min(1.0) } else { 0.0 }
}

/// One minus the standard deviation of answers over their mean; 0 where there are none.
pub(super) fn consistency(answers: &[f64]) -> f64 {
    let count = answers.len().max(1) as f64;
    let mean = answers.iter().sum::<f64>() / count;
    if mean <= 0.0 {
        return 0.0;
    }
    let variance = answers.iter().map(|answer| (answer - mean).powi(2)).sum::<f64>() / count;
    1.0 - (variance.sqrt() / mean).min(1.0)
}

/// How far entries by page have fallen; 0 before two windows, or where nothing ever entered.
pub(super) fn saturation(rates: Option<EntryRates>) -> f64 {
    match rates {
        Some(EntryRates { first, last }) if first > 0.0 => (1.0 - last / first).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_up_to_the_places() {
        let all = [(1.0, 50), (3.0, 10)];
        assert_eq!(word_coverage(all.into_iter(), 10), 1.0);
        let half = word_coverage([(1.0, 0), (3.0, 10)].into_iter(), 10);
        assert!((half - 0.75).abs() < 1e-12);
        let one = word_coverage([(1.0, 1)].into_iter(), 10);
        assert!((one - 2_f64.ln() / 11_f64.ln()).abs() < 1e-12);
        assert_eq!(word_coverage([].into_iter(), 10), 0.0);
    }

    #[test]
    fn answers_that_are_alike_are_consistent() {
        assert_eq!(consistency(&[0.4, 0.4]), 1.0);
        assert_eq!(consistency(&[0.2, 0.6]), 0.5);
        assert_eq!((consistency(&[]), consistency(&[0.0, 0.0])), (0.0, 0.0));
        assert!(consistency(&[0.0, 0.0, 0.0, 1.0]).abs() < 1e-12);
    }

    #[test]
    fn fewer_entries_are_more_saturation() {
        let rates = |first, last| Some(EntryRates { first, last });
        assert_eq!((saturation(None), saturation(rates(0.0, 0.0))), (0.0, 0.0));
        assert_eq!((saturation(rates(0.1, 0.025)), saturation(rates(0.1, 0.2))), (0.75, 0.0));
    }

    /// Sufficiency and confidence of some parts after a change.
    fn moved(change: fn(&mut QueryParts)) -> (f64, f64) {
        let mut parts = QueryParts {
            coverage: 0.8,
            words: 0.9,
            consistency: 0.8,
            saturation: 0.8,
            redundancy: 0.2,
            domain_coverage: 0.5,
        };
        change(&mut parts);
        (parts.sufficiency(), parts.confidence())
    }

    #[test]
    fn each_part_moves_what_is_made_of_it() {
        let (sufficiency, confidence) = moved(|_| ());
        assert_eq!((sufficiency, confidence), (0.4, 0.8));
        assert!(moved(|parts| parts.coverage = 0.7) == (0.35, 0.7));
        assert!(moved(|parts| parts.consistency = 0.7) == (0.35, 0.7));
        assert!(moved(|parts| parts.redundancy = 0.3) == (0.35, 0.8));
        assert!(moved(|parts| parts.domain_coverage = 0.6).0 > sufficiency);
        assert!(moved(|parts| parts.saturation = 0.1) == (sufficiency, 0.1));
    }
}
