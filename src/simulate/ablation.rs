//! Ablation: crawls of a policy beside those without one group of its evidence.
//!
//! The crawls are those of policies like any other; here they are compared, seed set by seed set.

use super::summary::{Findings, SummaryMetric};
use crate::estimate::features::group::FeatureGroup;
use crate::evaluate::statistics::mean_interval;
use crate::policy::PolicyChoice;
use crate::policy::amount::Amount;
use crate::results::Interval;
use crate::results::ablation::{AblatedGroup, AblatedPolicy, Ablation, AblationFigures};

/// Share of the pages fetched at which impact is read.
const READ_AT: Amount = Amount::Share(0.1);

/// A policy and the same without a group, as places in the list of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// The policy.
    pub(crate) whole: usize,
    /// The group.
    pub(crate) group: FeatureGroup,
    /// The policy without it.
    pub(crate) without: usize,
}

/// Evidence that an experiment may have or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// Whether pages have a quality.
    pub(crate) quality: bool,
    /// Whether there is an embedding model.
    pub(crate) embeddings: bool,
}

impl Given {
    fn has(self, group: FeatureGroup) -> bool {
        match group {
            FeatureGroup::PageQuality | FeatureGroup::Quality => self.quality,
            FeatureGroup::Embedding => self.embeddings,
            _ => true,
        }
    }
}

/// Adds to `policies` what is missing of their variants without a group. Groups that hold nothing for
/// what is `given` make no variant.
pub(crate) fn pairings(policies: &mut Vec<PolicyChoice>, given: Given) -> Vec<Pairing> {
    let mut pairings = Vec::new();
    for whole in 0..policies.len() {
        for group in FeatureGroup::all().filter(|group| given.has(*group)) {
            let Some(choice) = policies[whole].without(group) else { continue };
            let label = choice.label();
            let named = policies.iter().position(|other| other.label() == label);
            let without = named.unwrap_or(policies.len());
            if named.is_none() {
                policies.push(choice);
            }
            pairings.push(Pairing { whole, group, without });
        }
    }
    pairings
}

/// A figure of one policy, by seed set.
type BySet = Vec<Option<f64>>;

impl Findings<'_> {
    /// What each group is worth, of `fetchable` pages; `None` where nothing was left out.
    pub(crate) fn ablation(&self, fetchable: u32) -> Option<Ablation> {
        let pairings = self.settings.ablation.as_slice();
        if pairings.is_empty() {
            return None;
        }
        let common = &self.crawls.checkpoints[..self.common()];
        let last = common.iter().rposition(|&pages| pages <= READ_AT.pages(fetchable));
        let at = last.or((!common.is_empty()).then_some(0));
        let policies = pairings.chunk_by(|a, b| a.whole == b.whole);
        Some(Ablation {
            read_at: at.map(|at| common[at]),
            policies: policies.map(|pairings| self.ablated(pairings, at)).collect(),
        })
    }

    /// One policy; `at` is the checkpoint at which impact is read.
    fn ablated(&self, pairings: &[Pairing], at: Option<usize>) -> AblatedPolicy {
        let label = |policy: usize| self.settings.policies[policy].label();
        let whole = pairings[0].whole;
        let own = self.figures(whole, at);
        let groups = pairings.iter().map(|pairing| {
            let without = self.figures(pairing.without, at);
            AblatedGroup {
                group: pairing.group.name().to_owned(),
                meaning: pairing.group.meaning().to_owned(),
                policy: label(pairing.without),
                change: as_figures([0, 1, 2].map(|figure| {
                    let pairs = without[figure].iter().zip(&own[figure]);
                    interval(pairs.map(|(without, own)| Some((*without)? - (*own)?)))
                })),
            }
        });
        let groups = groups.collect();
        let of_whole = own.each_ref().map(|figure| interval(figure.iter().copied()));
        AblatedPolicy { policy: label(whole), whole: as_figures(of_whole), groups }
    }

    /// Speedup in relevant pages, in impact, and share of the impact, over all queries.
    fn figures(&self, policy: usize, at: Option<usize>) -> [BySet; 3] {
        let impact = |crawl| Some(self.value(0, SummaryMetric::Impact, crawl, at?));
        [
            self.speedups(policy, 0, true),
            self.speedups(policy, 0, false),
            self.measured[policy].iter().map(impact).collect(),
        ]
    }
}

fn interval(values: impl Iterator<Item = Option<f64>>) -> Option<Interval> {
    mean_interval(&values.flatten().collect::<Vec<f64>>())
}

fn as_figures(
    [speedup_relevant, speedup_impact, impact]: [Option<Interval>; 3],
) -> AblationFigures {
    AblationFigures { speedup_relevant, speedup_impact, impact }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(names: &[&str]) -> Vec<PolicyChoice> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn only_a_whole_policy_that_reads_groups_is_taken_apart() {
        let mut policies = choices(&["bfs", "hybrid", "prospect+without=url", "prospect"]);
        let pairings = pairings(&mut policies, Given { quality: true, embeddings: true });
        assert_eq!(pairings.len(), FeatureGroup::all().count());
        assert!(pairings.iter().all(|pairing| pairing.whole == 3));
        // A variant that was asked for is not crawled twice.
        assert_eq!((pairings[0].group, pairings[0].without), (FeatureGroup::Url, 2));
        assert_eq!(policies.len(), 3 + pairings.len());
        assert_eq!(policies[4].label(), "prospect+without=anchors");
    }

    #[test]
    fn without_models_their_groups_make_no_variant() {
        let mut policies = choices(&["prospect+explore=0.1"]);
        let pairings = pairings(&mut policies, Given { quality: false, embeddings: false });
        assert_eq!(pairings.len(), FeatureGroup::all().count() - 3);
        let of_models = [FeatureGroup::PageQuality, FeatureGroup::Quality, FeatureGroup::Embedding];
        assert!(pairings.iter().all(|pairing| !of_models.contains(&pairing.group)));
        assert_eq!(policies[1].label(), "prospect+explore=0.1+without=url");
    }
}
