//! Quality propagated to uncrawled URLs: what the quality of fetched pages says about a page that
//! they link to.
//!
//! Pezzuti, MacAvaney and Tonellotto (ICTIR 2025) take the first parent or the lowest. The
//! [`Posterior`] weighs all evidence there is: with parents of mean quality x, n of them, on a host
//! of mean m, a page is expected to have `m' + n/(n + a) (x - m')`, where `m' = c + h/(h + b) (m - c)`
//! is the mean of the host's h fetched pages drawn towards the mean c of all. That is the posterior
//! mean of normal means with a and b as ratios of variances. Both ratios are learned: every fetched
//! page is first predicted with each of [`STRENGTHS`], and the one with the least squared error so
//! far is used. Where quality passes along links, a becomes small, and where it belongs to
//! hosts, b does.
//!
//! Quality here is a log-probability, as a model gives it; a page without a score is no evidence.

use crate::estimate::running_mean::RunningMean;

/// Ratios of variances that are tried.
pub(crate) const STRENGTHS: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0];
/// Ratio before [`ENOUGH`] predictions.
const COLD_STRENGTH: usize = 2;
/// Predictions from which on the ratio is learned.
const ENOUGH: u32 = 20;

/// Squared errors of each strength.
#[derive(Clone, Debug, Default)]
struct Choice {
    errors: [f64; STRENGTHS.len()],
    predictions: u32,
}

impl Choice {
    fn strength(&self) -> f64 {
        if self.predictions < ENOUGH {
            return STRENGTHS[COLD_STRENGTH];
        }
        let best = (0..STRENGTHS.len()).min_by(|&a, &b| self.errors[a].total_cmp(&self.errors[b]));
        STRENGTHS[best.unwrap_or(COLD_STRENGTH)]
    }

    fn learn(&mut self, evidence: RunningMean, prior: f64, truth: f64) {
        for (error, strength) in self.errors.iter_mut().zip(STRENGTHS) {
            *error += (truth - evidence.towards(prior, strength)).powi(2);
        }
        self.predictions += 1;
    }
}

/// Expected quality of pages not fetched, from that of pages fetched. Costs 16 bytes a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Posterior {
    groups: Vec<RunningMean>,
    all: RunningMean,
    of_group: Choice,
    of_parents: Choice,
}

impl Posterior {
    /// Learns from a page of a group (its host or site) that was fetched with this quality and was
    /// linked to by `parents`. Call in fetch order.
    pub(crate) fn learn(&mut self, group: u32, quality: f64, parents: RunningMean) {
        if let Some(all) = self.all.mean() {
            let group = self.groups.get(group as usize).copied().unwrap_or_default();
            if !group.is_empty() {
                self.of_group.learn(group, all, quality);
            }
            if !parents.is_empty() {
                let prior = group.towards(all, self.of_group.strength());
                self.of_parents.learn(parents, prior, quality);
            }
        }
        if self.groups.len() <= group as usize {
            self.groups.resize(group as usize + 1, RunningMean::default());
        }
        self.groups[group as usize].add(quality);
        self.all.add(quality);
    }

    /// Whether nothing was learned.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Mean of a group's fetched pages, drawn towards that of all.
    pub(crate) fn group_mean(&self, group: u32) -> Option<f64> {
        let group = self.groups.get(group as usize).copied().unwrap_or_default();
        Some(group.towards(self.all.mean()?, self.of_group.strength()))
    }

    /// Expected quality of a page of a group with these parents. None before the first page.
    pub(crate) fn expected(&self, group: u32, parents: RunningMean) -> Option<f64> {
        Some(parents.towards(self.group_mean(group)?, self.of_parents.strength()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scores: &[f64]) -> RunningMean {
        let mut evidence = RunningMean::default();
        for &score in scores {
            evidence.add(score);
        }
        evidence
    }

    #[test]
    fn little_evidence_is_drawn_towards_the_group_and_the_group_towards_all() {
        let mut posterior = Posterior::default();
        assert_eq!(posterior.expected(0, of(&[-1.0])), None);
        posterior.learn(0, -2.0, RunningMean::default());
        posterior.learn(1, -4.0, RunningMean::default());
        // The mean of all is -3; with strength 1 the group of one page lies half-way.
        assert_eq!(posterior.group_mean(0), Some(-2.5));
        assert_eq!(posterior.group_mean(7), Some(-3.0));
        assert_eq!(posterior.expected(0, of(&[])), Some(-2.5));
        assert_eq!(posterior.expected(0, of(&[-0.5])), Some(-1.5));
        assert_eq!(posterior.expected(0, of(&[-0.5; 3])), Some(-1.0));
    }

    #[test]
    fn strengths_follow_what_predicts() {
        // Pages are as good as their parents say, whatever their host.
        let (mut linked, mut hosted) = (Posterior::default(), Posterior::default());
        for step in 0..400_u32 {
            let noise = f64::from(step.wrapping_mul(2_654_435_761) >> 24) / 64.0;
            let quality = -f64::from(step % 5);
            linked.learn(step % 3, quality, of(&[quality]));
            // Pages are as good as their host, whatever their parents say.
            hosted.learn(step % 5, quality, of(&[-noise]));
        }
        assert_eq!(linked.of_parents.strength(), STRENGTHS[0]);
        assert!(hosted.of_parents.strength() >= 64.0);
        assert_eq!(hosted.of_group.strength(), STRENGTHS[0]);
    }
}
