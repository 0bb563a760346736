//! What a batch is to bring the most of, and the cautious reading of an estimate.
//!
//! The objectives differ in what they know of competition. `expected` and `ranks` share out the
//! places of a query among all its candidates, whoever is picked; they add up over URLs. `served`
//! knows what the rest of the batch takes, and nothing of who comes later. `cautious` is `expected`
//! less what may well not come: the worst case itself is NP-hard to plan for (Pandey and Olston,
//! WSDM 2008, section 4.1).

use serde::{Deserialize, Serialize};

use super::blend::{self, Blend};
use super::frontier::{PairEstimate, UrlEstimate};
use crate::workload::Query;

/// Standard deviations below the mean at which a normal variable has a quarter of its mass.
const QUARTILE: f64 = 0.674_489_750_196_081_7;

/// What a batch is to bring the most of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Expected impact, the K-th score of every query at its expectation: O(n) for n candidates.
    #[default]
    Expected,
    /// Expected impact over all ranks that the candidates of a query can come in (Pandey and Olston,
    /// WSDM 2008, section 4.2).
    Ranks,
    /// What the top K hold after the batch: two pages after one place are not worth twice.
    Served,
    /// The lower quartile of the impact.
    Cautious,
}

impl Objective {
    /// All of them, the one that is used where nothing is said first.
    pub const ALL: [Self; 4] = [Self::Expected, Self::Ranks, Self::Served, Self::Cautious];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Ranks => "ranks",
            Self::Served => "served",
            Self::Cautious => "cautious",
        }
    }

    /// Whether it is the one that is used where nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it reads how scores are distributed, which only the lasting reading learns.
    pub fn reads_scores(self) -> bool {
        matches!(self, Self::Ranks | Self::Served)
    }
}

/// Takes from every estimate what its pairs may well not bring: [`QUARTILE`] standard deviations of
/// the sum of independent entries, but no more than they promise. `urls` and `pairs` are by URL.
pub(super) fn make_cautious(
    urls: &mut [UrlEstimate],
    pairs: &[PairEstimate],
    queries: &[Query],
    blend: &Blend,
) {
    let mut pairs = pairs.chunk_by(|a, b| a.url == b.url).peekable();
    for url in urls {
        while pairs.next_if(|pairs| pairs[0].url < url.url).is_some() {}
        let Some(pairs) = pairs.next_if(|pairs| pairs[0].url == url.url) else { continue };
        let (mut mean, mut variance) = (0.0, 0.0);
        for pair in pairs {
            let part = if pair.matches { blend::QUERY } else { blend::LOCALITY };
            let worth = blend.weights[part] * queries[pair.query as usize].frequency;
            mean += worth * pair.chance;
            variance += worth * worth * pair.chance * (1.0 - pair.chance);
        }
        url.estimate -= mean.min(QUARTILE * variance.sqrt());
        // What is left of a sum of which all was taken may be a rounding below 0.
        url.estimate = url.estimate.max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use prospect_index::page::UrlId;

    use super::super::blend::{PARTS, START};
    use super::*;

    fn url(at: u32, chances: &[f64], other: f64) -> (UrlEstimate, Vec<PairEstimate>) {
        let pair = |(query, &chance): (usize, &f64)| PairEstimate {
            url: UrlId(at),
            query: query as u32,
            expected_score: 0.0,
            chance,
            entry_chance: 0.0,
            margin: 0.0,
            matches: true,
            bin: 0,
        };
        let mut parts = [0.0; PARTS];
        (parts[blend::QUERY], parts[blend::PAGE]) = (chances.iter().sum(), other);
        let estimate = Blend::fixed(START).of(parts);
        let url =
            UrlEstimate { url: UrlId(at), parts, quality: None, trust: 1.0, estimate, inlinks: 0 };
        (url, chances.iter().enumerate().map(pair).collect())
    }

    /// Estimates of URLs with these chances of pairs and this impact by the page model.
    fn cautious(frontier: &[(&[f64], f64)]) -> Vec<f64> {
        let made = frontier.iter().enumerate();
        let made = made.map(|(at, (chances, other))| url(at as u32, chances, *other));
        let (mut urls, pairs): (Vec<UrlEstimate>, Vec<Vec<PairEstimate>>) = made.unzip();
        let queries: Vec<Query> =
            (0..9).map(|at| Query::new(&at.to_string(), "query", 1.0, "")).collect();
        make_cautious(&mut urls, &pairs.concat(), &queries, &Blend::fixed(START));
        urls.iter().map(|url| url.estimate).collect()
    }

    #[test]
    fn of_equal_means_the_surer_one_is_worth_more() {
        let found =
            cautious(&[(&[1.0, 1.0], 0.0), (&[0.5; 4], 0.0), (&[0.25; 8], 0.0), (&[], 40.0)]);
        // Of the first and the last nothing is uncertain.
        assert_eq!((found[0], found[3]), (0.9 * 2.0, 0.05 * 40.0));
        // The standard deviation of four even bets is 1.
        assert!((found[1] - 0.9 * (2.0 - QUARTILE)).abs() < 1e-12);
        assert!(found[2] < found[1] && found[2] > 0.0);
    }

    #[test]
    fn pairs_take_no_more_than_they_promise() {
        let found = cautious(&[(&[0.01], 0.0), (&[0.01], 10.0)]);
        assert_eq!(found[0], 0.0);
        assert!((found[1] - 0.5).abs() < 1e-12);
    }
}
