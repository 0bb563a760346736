//! Attacked crawls beside those of the honest collection, as a summary holds them.
//!
//! True impact is that of honest pages, and every page fetched counts as effort, whoever owns it.

use super::AttackKind;
use super::attacked::Attacked;
use super::gains::of_crawl;
use crate::evaluate::statistics::mean_interval;
use crate::policy::PolicyChoice;
use crate::policy::amount::Amount;
use crate::results::Interval;
use crate::results::manipulation::{AttackPoint, AttackSummary, AttackedPolicy, Manipulation};
use crate::simulate::experiment::Crawls;
use crate::simulate::measure::cumulative;

/// Shares of the honest pages fetched that tables are read at, early and late.
const READ_AT: [Amount; 2] = [Amount::Share(0.1), Amount::Share(0.3)];

/// Crawls with and without an attacker.
pub(crate) struct AttackComparison<'a> {
    /// The attack.
    pub(crate) kind: AttackKind,
    /// Its collection.
    pub(crate) attacked: &'a Attacked,
    /// Honest pages that link to the attacker.
    pub(crate) linked_from: usize,
    /// Crawls of the attacked collection.
    pub(crate) crawls: &'a Crawls,
    /// Crawls of the honest collection.
    pub(crate) honest: &'a Crawls,
    /// True impact by page of the honest collection.
    pub(crate) impact: &'a [f64],
    /// The policies of both.
    pub(crate) policies: &'a [PolicyChoice],
}

/// One crawl at one checkpoint.
struct Values {
    picks: f64,
    lift: f64,
    frontier: f64,
    waiting: f64,
    owned: f64,
    impact_lost: f64,
}

impl AttackComparison<'_> {
    /// What the attacker got.
    pub(crate) fn summary(&self) -> AttackSummary {
        let collection = &self.attacked.collection;
        let pages = 0..collection.pages;
        let owned = pages.filter(|&page| self.attacked.is_attacker(page));
        let mut hosts: Vec<u32> = owned.map(|page| collection.host[page as usize]).collect();
        let pages = hosts.len() as u32;
        hosts.sort_unstable();
        hosts.dedup();
        let impact = self.attacked.spread(self.impact, || 0.0);
        let mut policies = Vec::with_capacity(self.policies.len());
        for (at, choice) in self.policies.iter().enumerate() {
            let points = self.points(at, pages, &impact);
            policies.push(AttackedPolicy { policy: choice.label(), points });
        }
        AttackSummary {
            attack: self.kind.label(),
            pages,
            hosts: hosts.len() as u32,
            share_of_log: self.kind.share_of_log(),
            linked_from: self.linked_from as u32,
            policies,
        }
    }

    /// At the checkpoints that all crawls of a policy reached; `impact` is by page of the attacked
    /// collection.
    fn points(&self, policy: usize, owned: u32, impact: &[f64]) -> Vec<AttackPoint> {
        let of_set = |set| self.values(policy, set, owned, impact);
        let sets: Vec<Vec<Values>> = (0..self.crawls.starts.len()).map(of_set).collect();
        let reached = sets.iter().map(Vec::len).min().unwrap_or(0);
        let checkpoints = self.crawls.checkpoints[..reached].iter().enumerate();
        checkpoints
            .filter_map(|(at, &pages)| {
                let at_point: Vec<&Values> = sets.iter().map(|set| &set[at]).collect();
                point(pages, &at_point)
            })
            .collect()
    }

    /// At the checkpoints that one crawl reached, attacked or not.
    fn values(&self, policy: usize, set: usize, owned: u32, impact: &[f64]) -> Vec<Values> {
        let (order, honest) = (&self.crawls.orders[policy][set], &self.honest.orders[policy][set]);
        let attacked_impact = cumulative(&order.pages, impact);
        let honest_impact = cumulative(&honest.pages, self.impact);
        let checkpoints = &self.crawls.checkpoints;
        let due =
            f64::from(owned) / f64::from(self.attacked.collection.pages) + self.kind.share_of_log();
        let gains = of_crawl(self.attacked, &self.crawls.starts[set], order, checkpoints);
        let values = checkpoints.iter().zip(gains).map_while(|(&pages, gain)| {
            let (own, without) =
                (attacked_impact[pages as usize - 1], *honest_impact.get(pages as usize - 1)?);
            Some(Values {
                picks: gain.picks,
                lift: gain.picks / due,
                frontier: gain.frontier,
                waiting: gain.waiting,
                owned: f64::from(gain.fetched) / f64::from(owned.max(1)),
                impact_lost: if without > 0.0 { 1.0 - own / without } else { 0.0 },
            })
        });
        values.collect()
    }
}

/// None for no seed set.
fn point(pages: u32, sets: &[&Values]) -> Option<AttackPoint> {
    let of = |value: fn(&Values) -> f64| -> Option<Interval> {
        mean_interval(&sets.iter().map(|set| value(set)).collect::<Vec<f64>>())
    };
    let present = sets.iter().filter(|set| set.frontier > 0.0);
    let ratios: Vec<f64> = present.map(|set| set.picks / set.frontier).collect();
    Some(AttackPoint {
        pages,
        picks: of(|set| set.picks)?,
        lift: of(|set| set.lift),
        frontier: of(|set| set.frontier)?,
        waiting: of(|set| set.waiting)?,
        ratio: mean_interval(&ratios),
        owned: of(|set| set.owned)?,
        impact_lost: of(|set| set.impact_lost)?,
    })
}

/// All attacks of an experiment on `fetchable` honest pages.
pub(crate) fn manipulation(
    share: f64,
    fetchable: u32,
    attacks: Vec<AttackSummary>,
) -> Manipulation {
    let policies = || attacks.iter().flat_map(|attack| &attack.policies);
    let shortest = policies().min_by_key(|policy| policy.points.len());
    let common: Vec<u32> =
        shortest.into_iter().flat_map(|policy| &policy.points).map(|point| point.pages).collect();
    let [early, read_at] = READ_AT.map(|at| {
        let last = common.iter().rfind(|&&pages| pages <= at.pages(fetchable));
        last.or(common.first()).copied()
    });
    Manipulation { share, read_at, read_early: early.filter(|_| early != read_at), attacks }
}
