//! What a budget is worth: expected impact against the number of URLs, and what caps cost of it.

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;
use rayon::prelude::*;

use super::answer::Answer;
use crate::plan::SelectionSettings;
use crate::plan::caps::{Cap, CapGroups, Caps, SoFar};
use crate::results::whatif::{BudgetCurve, BudgetPoint, CapPrice};

/// Points of a curve.
const POINTS: usize = 60;
/// How far a curve goes, in budgets: the rest of the frontier says nothing about this one.
const REACH: usize = 10;

/// An answer's ranking under its caps, to be cut at any budget.
pub(crate) struct Budgets<'a> {
    answer: &'a Answer,
    urls: &'a UrlTable,
    ranked: Vec<UrlId>,
    fetched: Vec<UrlId>,
    under: Under<'a>,
}

/// What caps let through of a ranking.
struct Under<'a> {
    answer: &'a Answer,
    groups: CapGroups,
    /// By rank: the smallest group.
    of_rank: Vec<u32>,
}

impl<'a> Budgets<'a> {
    /// Those of an answer.
    pub(crate) fn of(answer: &'a Answer, urls: &'a UrlTable) -> Self {
        let ranked: Vec<UrlId> = answer.choice.batch.ranking.iter().map(|url| url.url).collect();
        let fetched: Vec<UrlId> = answer.scored.fetched().collect();
        let so_far = so_far(answer, urls, &fetched);
        let under = Under::new(answer, answer.settings.selection.caps, &ranked, so_far);
        Self { answer, urls, ranked, fetched, under }
    }

    /// Expected impact against budget, under the caps of the plan and without exploration. Its knee is
    /// where the curve lies farthest above the straight line to its end (Satopää et al., "Finding a
    /// kneedle in a haystack", 2011).
    pub(crate) fn curve(&self) -> BudgetCurve {
        let budget = self.answer.settings.selection.budget;
        let sums = if self.under.groups.has(Cap::SiteShare) {
            self.sums_of_shares(budget)
        } else {
            self.sums(budget.saturating_mul(REACH))
        };
        let knee = knee(&sums);
        let end = sums.len() - 1;
        let mut marks: Vec<usize> = if end > 2 * POINTS {
            (0..=POINTS).map(|step| place(step, end)).collect()
        } else {
            (0..=end).collect()
        };
        let planned = sums.partition_point(|point| point.budget < budget).min(end);
        marks.extend([planned, knee]);
        marks.sort_unstable();
        marks.dedup();
        BudgetCurve {
            points: marks.into_iter().map(|at| sums[at]).collect(),
            knee: Some(knee).filter(|&at| at > 0).map(|at| sums[at]),
            shadow_price: self.under.gains(budget.saturating_add(1)).nth(budget).unwrap_or(0.0),
        }
    }

    /// What each cap costs: impact expected of the batch without it, less that with all of them.
    pub(crate) fn prices(&self) -> Vec<CapPrice> {
        let SelectionSettings { budget, caps, .. } = self.answer.settings.selection;
        // Where it does not apply, the one that is there by default is not worth a word.
        let site_share = caps.site_share.filter(|_| self.under.groups.has(Cap::SiteShare));
        let limits = [
            ("per-host", caps.per_host.map(|most| most as f64), Caps { per_host: None, ..caps }),
            (
                "per-domain",
                caps.per_domain.map(|most| most as f64),
                Caps { per_domain: None, ..caps },
            ),
            ("per-site", caps.per_site.map(|most| most as f64), Caps { per_site: None, ..caps }),
            ("site-share", site_share, Caps { site_share: None, ..caps }),
        ];
        let with: f64 = self.under.gains(budget).sum();
        let price = |(cap, limit, without): (&str, Option<f64>, Caps)| {
            limit.map(|limit| self.price(cap, limit, without, with))
        };
        limits.into_iter().filter_map(price).collect()
    }

    /// What a cap costs, of a batch that brings `with` with all of them.
    fn price(&self, cap: &str, limit: f64, without: Caps, with: f64) -> CapPrice {
        let so_far = so_far(self.answer, self.urls, &self.fetched);
        let without = Under::new(self.answer, without, &self.ranked, so_far);
        let budget = self.answer.settings.selection.budget;
        let price = without.gains(budget).sum::<f64>() - with;
        CapPrice { cap: cap.to_owned(), limit, price }
    }

    /// Impact of every budget up to `most`: where caps do not depend on it, one more URL adds to those
    /// before it.
    fn sums(&self, most: usize) -> Vec<BudgetPoint> {
        let mut sums = vec![BudgetPoint { budget: 0, impact: 0.0 }];
        let mut impact = 0.0;
        for (at, gain) in self.under.gains(most).enumerate() {
            impact += gain;
            sums.push(BudgetPoint { budget: at + 1, impact });
        }
        sums
    }

    /// Impact of some budgets around this one where a share of each is a cap.
    fn sums_of_shares(&self, budget: usize) -> Vec<BudgetPoint> {
        let end = self.ranked.len().min(budget.saturating_mul(REACH));
        let mut marks: Vec<usize> = (0..=POINTS).map(|step| place(step, end)).collect();
        marks.push(budget.min(end));
        marks.sort_unstable();
        let sum = |most| self.under.sum(most);
        let mut sums: Vec<BudgetPoint> = marks.into_par_iter().map(sum).collect();
        // Other caps may leave no more URLs.
        sums.dedup_by_key(|point| point.budget);
        sums
    }
}

fn so_far<'a>(answer: &Answer, urls: &'a UrlTable, fetched: &'a [UrlId]) -> SoFar<'a> {
    SoFar { urls, fetched, site_level: answer.scored.site_level() }
}

impl<'a> Under<'a> {
    fn new(answer: &'a Answer, caps: Caps, ranked: &[UrlId], so_far: SoFar<'_>) -> Self {
        let groups = CapGroups::new(caps, ranked, so_far);
        let of_rank = ranked.iter().map(|&url| groups.smallest_group(url)).collect();
        Self { answer, groups, of_rank }
    }

    /// Expected impact of each URL that caps let into a batch of `budget`, best first.
    fn gains(&self, budget: usize) -> impl Iterator<Item = f64> {
        let mut counter = self.groups.counter(budget);
        let ranked = self.answer.choice.batch.ranking.iter().zip(&self.of_rank);
        let taken = ranked.filter(move |(_, group)| counter.take_of(**group).is_ok());
        taken.take(budget).map(|(url, _)| self.answer.impact(url))
    }

    /// What a budget of at most so many URLs brings.
    fn sum(&self, most: usize) -> BudgetPoint {
        let sum = |(urls, impact), gain| (urls + 1, impact + gain);
        let (budget, impact) = self.gains(most).fold((0, 0.0), sum);
        BudgetPoint { budget, impact }
    }
}

/// The point farthest above the straight line from the first to the last.
fn knee(sums: &[BudgetPoint]) -> usize {
    let Some(last) = sums.last() else { return 0 };
    let above = |at: usize| height(&sums[at], last);
    (0..sums.len()).max_by(|&a, &b| above(a).total_cmp(&above(b)).then(b.cmp(&a))).unwrap_or(0)
}

/// How far a point lies above the straight line to the last one.
fn height(point: &BudgetPoint, last: &BudgetPoint) -> f64 {
    point.impact / last.impact.max(f64::MIN_POSITIVE)
        - point.budget as f64 / last.budget.max(1) as f64
}

/// Places of points, closer together at the start, where the curve bends.
fn place(step: usize, end: usize) -> usize {
    let share = step as f64 / POINTS as f64;
    (share * share * end as f64).round() as usize
}
