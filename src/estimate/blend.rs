//! The blend: an estimate as the weighted sum of its parts.
//!
//! Parts are chances to be in lists for good, summed, or regressions of the impact that pages have kept, and their
//! weights stay what they are: fitted to the impact that past picks have in the lists of today, by a ridge towards the
//! start, they made no crawl better (`docs/ablation.md`, "Weights of the parts").

use serde::Serialize;

use super::parts::Parts;

/// Weights of the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Blend {
    /// By part.
    pub(crate) weights: Parts,
}

impl Blend {
    /// Of these weights.
    pub(crate) fn new(weights: Parts) -> Self {
        Self { weights }
    }

    /// The blended estimate.
    pub(crate) fn of(&self, parts: Parts) -> f64 {
        self.weights.dot(&parts)
    }

    /// The same of the page itself, without what it leads to: what its own outcome can keep.
    pub(super) fn of_the_page(&self, parts: Parts) -> f64 {
        self.of(parts.of_the_page())
    }

    /// The share that this has in the whole; 1 of nothing.
    pub(crate) fn share_of_the_page(&self, parts: Parts) -> f64 {
        let whole = self.of(parts);
        if whole == 0.0 { 1.0 } else { self.of_the_page(parts) / whole }
    }
}

impl std::fmt::Display for Blend {
    /// As a sum, each weight before the name of its part; a part that weighs nothing is no part.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = self.weights.iter().filter(|(_, weight)| *weight != 0.0);
        let terms = parts.map(|(part, weight)| format!("{weight:.2} {}", part.name()));
        formatter.write_str(&terms.collect::<Vec<_>>().join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::parts::Part;

    #[test]
    fn a_blend_reads_as_a_sum() {
        let text = "0.90 query + 0.05 locality + 0.05 page + 0.01 importance + 0.05 quality + 0.10 discovery";
        assert_eq!(Blend::new(Parts::DEFAULT).to_string(), text);
        assert_eq!(Blend::new(Parts::default()).to_string(), "");
    }

    #[test]
    fn what_a_page_leads_to_is_no_share_of_the_page() {
        let blend = Blend::new(Parts::DEFAULT);
        let mut parts = Parts::default();
        assert_eq!(blend.share_of_the_page(parts), 1.0, "of nothing");
        (parts[Part::Query], parts[Part::Discovery]) = (1.0, 3.0);
        assert!((blend.of(parts) - 1.2).abs() < 1e-12);
        assert!((blend.of_the_page(parts) - 0.9).abs() < 1e-12);
        assert!((blend.share_of_the_page(parts) - 0.75).abs() < 1e-12);
    }
}
