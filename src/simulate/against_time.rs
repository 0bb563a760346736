//! Crawls against simulated time.

use super::measure::Measured;
use super::summary::Findings;
use crate::evaluate::crawl::mean;
use crate::evaluate::statistics::mean_interval;
use crate::results::time::{PolicyTime, TimePoint, TimeSummary};

impl Findings<'_> {
    /// What crawls had found when, where time is simulated.
    pub(crate) fn time(&self) -> Option<TimeSummary> {
        let clock = self.settings.clock.as_ref()?;
        let ends = self.crawls.seconds.iter().flatten().filter_map(|asked| asked.last());
        let seconds = clock.marks(ends.copied().fold(0.0, f64::max));
        // By policy, then by set.
        let all: Vec<Vec<Vec<TimePoint>>> = (0..self.measured.len())
            .map(|policy| {
                let sets = self.measured[policy].iter().enumerate();
                sets.map(|(set, crawl)| self.points(policy, set, crawl, &seconds)).collect()
            })
            .collect();
        let policies = self.settings.policies.iter().enumerate();
        let policies = policies.map(|(policy, choice)| PolicyTime {
            name: choice.label(),
            batches: mean(self.crawls.orders[policy].iter().map(|one| one.batch_ends.len() as f64))
                .unwrap_or_default(),
            points: (0..seconds.len())
                .map(|at| {
                    let of = |what: fn(&TimePoint) -> f64| {
                        mean(all[policy].iter().map(|set| what(&set[at]))).unwrap_or_default()
                    };
                    TimePoint {
                        pages: of(|point| point.pages),
                        relevant: of(|point| point.relevant),
                        impact: of(|point| point.impact),
                    }
                })
                .collect(),
            gain: self.gain(policy, &all),
        });
        Some(TimeSummary { policies: policies.collect(), seconds })
    }

    /// What one crawl had found at some seconds.
    fn points(
        &self,
        policy: usize,
        set: usize,
        crawl: &Measured,
        seconds: &[f64],
    ) -> Vec<TimePoint> {
        let (order, asked) = (&self.crawls.orders[policy][set], &self.crawls.seconds[policy][set]);
        let (mut pages, mut relevant) = (0, 0_u64);
        let mut points = Vec::with_capacity(seconds.len());
        for (number, &second) in seconds.iter().enumerate() {
            let is_last = number + 1 == seconds.len();
            while asked.get(pages).is_some_and(|at| *at < second || is_last) {
                let page = order.pages[pages] as usize;
                relevant += u64::from(self.inputs.relevant.get(page).copied().unwrap_or(0));
                pages += 1;
            }
            // The first kind is all queries.
            let impact = pages.checked_sub(1).map_or(0.0, |last| crawl.impact[0][last]);
            let total = crawl.total_impact[0];
            points.push(TimePoint {
                pages: pages as f64,
                relevant: relevant as f64,
                impact: if total > 0.0 { impact / total } else { 0.0 },
            });
        }
        points
    }

    fn gain(&self, policy: usize, all: &[Vec<Vec<TimePoint>>]) -> Option<crate::results::Interval> {
        let baseline = self.baseline().filter(|&baseline| baseline != policy)?;
        let pairs = all[policy].iter().zip(&all[baseline]);
        let gains = pairs.map(|(own, base)| self.found(own) - self.found(base));
        mean_interval(&gains.collect::<Vec<f64>>())
    }

    /// What a crawl found in all: relevant pages, or impact where there are no judgements.
    fn found(&self, points: &[TimePoint]) -> f64 {
        let last = points.last().copied().unwrap_or_default();
        if self.judged.is_empty() { last.impact } else { last.relevant }
    }

    /// When so many pages were asked for, on average over seed sets.
    pub(super) fn seconds_of(&self, policy: usize, pages: u32) -> Option<f64> {
        let sets = self.crawls.seconds.get(policy)?;
        let at = |asked: &Vec<f64>| asked.get((pages as usize).checked_sub(1)?).copied();
        let times: Vec<f64> = sets.iter().map(at).collect::<Option<_>>()?;
        mean(times.into_iter())
    }
}
