//! What a batch is to bring the most of, and the cautious reading of an estimate.
//!
//! The objectives differ in what they know of competition. `expected` and `ranks` share out the
//! places of a query among all its candidates, whoever is picked; they add up over URLs. `served`
//! knows what the rest of the batch takes, and nothing of who comes later. `cautious` is `expected`
//! less what may well not come: the worst case itself is NP-hard to plan for (Pandey and Olston,
//! WSDM 2008, section 4.1).

use serde::{Deserialize, Serialize};

use crate::estimate::blend::Blend;
use crate::estimate::parts::Part;
use crate::estimate::url_estimate::PairEstimate;

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

    /// Whether pairs that were scored for it do for another objective, too.
    pub fn keeps_pairs_for(self, next: Self) -> bool {
        self != Self::Ranks && !next.reads_scores()
    }

    /// Whether it reads how scores are distributed, which only the learned reading learns.
    pub fn reads_scores(self) -> bool {
        matches!(self, Self::Ranks | Self::Served)
    }
}

/// What the pairs of a URL may well not bring: [`QUARTILE`] standard deviations of the sum of
/// independent entries, but no more than they promise. `counted` tells by query how often it is asked.
pub(super) fn doubtful<'a>(
    pairs: impl Iterator<Item = &'a PairEstimate>,
    counted: &[f64],
    blend: &Blend,
) -> f64 {
    let (mut mean, mut variance) = (0.0, 0.0);
    for pair in pairs {
        let part = Part::of_pair(pair.matches);
        let worth = blend.weights[part] * counted[pair.query.index()];
        mean += worth * pair.chance;
        variance += worth * worth * pair.chance * (1.0 - pair.chance);
    }
    mean.min(QUARTILE * variance.sqrt())
}

#[cfg(test)]
mod tests {
    use prospect_index::page::UrlId;

    use super::*;
    use crate::estimate::parts::Parts;
    use crate::workload::QueryId;

    /// What is left of the promise of a URL with these chances, and of what it was.
    fn left(chances: &[f64]) -> (f64, f64) {
        let pair = |(query, &chance): (usize, &f64)| PairEstimate {
            url: UrlId(0),
            query: QueryId::new(query),
            expected_score: 0.0,
            chance,
            matches: true,
            bin: 0,
        };
        let pairs: Vec<PairEstimate> = chances.iter().enumerate().map(pair).collect();
        let blend = Blend::fixed(Parts::START);
        let promised = blend.weights[Part::Query] * chances.iter().sum::<f64>();
        (promised - doubtful(pairs.iter(), &[1.0; 9], &blend), promised)
    }

    #[test]
    fn of_equal_means_the_surer_one_is_worth_more() {
        let (certain, promised) = left(&[1.0, 1.0]);
        assert_eq!(certain, promised);
        // The standard deviation of four even bets is 1.
        let (even, _) = left(&[0.5; 4]);
        assert!((even - 0.9 * (2.0 - QUARTILE)).abs() < 1e-12);
        let (long, _) = left(&[0.25; 8]);
        assert!(long < even && long > 0.0);
        assert_eq!(left(&[]), (0.0, 0.0));
    }

    #[test]
    fn pairs_take_no_more_than_they_promise() {
        assert_eq!(left(&[0.01]).0, 0.0);
    }
}
