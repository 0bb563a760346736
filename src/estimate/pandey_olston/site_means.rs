//! What past outcomes of a site were, as a feature of the score tree.

use crate::estimate::running_mean::RunningMean;

/// Outcomes that a site's mean is shrunk by towards the mean of all.
const PRIOR_OUTCOMES: f64 = 10.0;

/// Mean outcome by site over the outcomes added so far, shrunk towards the mean of all while a
/// site has few.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteMeans {
    of_site: Vec<RunningMean>,
    all: RunningMean,
}

impl SiteMeans {
    /// No outcome, for `sites` sites.
    pub(crate) fn new(sites: usize) -> Self {
        Self { of_site: vec![RunningMean::default(); sites], all: RunningMean::default() }
    }

    /// Adds an outcome.
    pub(crate) fn add(&mut self, site: u32, outcome: f64) {
        self.of_site[site as usize].add(outcome);
        self.all.add(outcome);
    }

    /// Mean of a site; 0 before the first outcome of all.
    pub(crate) fn mean(&self, site: u32) -> f64 {
        self.of_site[site as usize].towards(self.all.mean().unwrap_or(0.0), PRIOR_OUTCOMES)
    }
}
