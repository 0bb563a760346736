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
