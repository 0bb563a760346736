//! How sites keep what their estimates promise: the defence against who is good at looking good.
//!
//! Anchors, links, and even the first pages of a site can be made for a crawler. What no site can
//! make up is what its later pages are worth once they are fetched. Where past picks of a site
//! brought less of what they had promised than picks usually do, its URLs count for less. No pick is
//! credited with more than it had promised, so that a few very good pages do not pay for many bad
//! ones, and later picks count more, so that a site which turns bad is noticed. What counts is the
//! share of picks in general, so that optimism about all sites is no site's fault. A site that nothing was fetched of
//! answers for what others did that were as new: who can throw a name away cannot throw away the names of all newcomers.

use prospect_index::page::UrlId;
use serde::{Deserialize, Serialize};

use crate::estimate::blend::Blend;
use crate::estimate::parts::Parts;

/// Picks of usual worth that a site starts with.
const PRIOR_PICKS: f64 = 1.0;
/// Picks of usual worth that all newcomers start with.
const PRIOR_NEWCOMERS: f64 = 3.0;
/// Picks of a site after which an earlier one counts half.
const HALF_LIFE: f64 = 3.0;

/// A fetched pick: what each part had promised, and what it brought, in impact units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PickOutcome {
    /// The URL that was asked for.
    pub(crate) url: UrlId,
    /// The parts as of the plan.
    pub(crate) parts: Parts,
    /// Realised impact at the close of its cycle.
    pub(crate) realised: f64,
}

/// What was promised, and what of it was kept, in impact units.
#[derive(Clone, Copy, Debug, Default)]
struct Promise {
    given: f64,
    kept: f64,
}

impl Promise {
    fn add(&mut self, given: f64, kept: f64) {
        self.given += given;
        self.kept += kept;
    }

    /// The share that is kept, if `prior` more was promised of which the `usual` share was kept.
    fn kept_share(self, prior: f64, usual: f64) -> f64 {
        (self.kept + prior * usual) / (self.given + prior)
    }
}

/// The promises of every site.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteReliability {
    /// By site; none where nothing of it was fetched.
    of_site: Vec<Option<Promise>>,
    /// Of the first pick of each site.
    newcomers: Promise,
    all: Promise,
    picks: usize,
}

impl SiteReliability {
    /// Of past picks, in the order in which they were picked, each with its site. What they had
    /// promised is their parts under the `blend` of today, without what they lead to.
    pub(crate) fn new(picks: impl Iterator<Item = (u32, PickOutcome)>, blend: &Blend) -> Self {
        let fades = 0.5_f64.powf(1.0 / HALF_LIFE);
        let mut promises = Self::default();
        for (site, pick) in picks {
            let given = blend.of_the_page(pick.parts);
            let kept = given.min(pick.realised);
            let at = site as usize;
            if promises.of_site.len() <= at {
                promises.of_site.resize(at + 1, None);
            }
            if promises.of_site[at].is_none() {
                promises.newcomers.add(given, kept);
            }
            let of_site = promises.of_site[at].get_or_insert_default();
            *of_site = Promise { given: of_site.given * fades, kept: of_site.kept * fades };
            of_site.add(given, kept);
            promises.all.add(given, kept);
            promises.picks += 1;
        }
        promises
    }

    /// The share of its promises that a site keeps, over the usual share, as far as it is known, else that of
    /// newcomers; at most 1.
    pub(crate) fn of(&self, site: u32) -> f64 {
        let usual = self.all.kept / self.all.given;
        if usual.is_nan() || usual <= 0.0 {
            return 1.0;
        }
        let pick = self.all.given / self.picks as f64;
        let of_site = self.of_site.get(site as usize).copied().flatten();
        let newcomers = (self.newcomers, PRIOR_NEWCOMERS);
        let (promise, prior) = of_site.map_or(newcomers, |of_site| (of_site, PRIOR_PICKS));
        (promise.kept_share(prior * pick, usual) / usual).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::parts::Part;

    /// By site: what its picks brought, of a promise of 1 each. Sites take turns.
    fn promises(realised: &[&[f64]]) -> SiteReliability {
        let mut blend = Blend::new(Parts::DEFAULT);
        blend.weights[Part::Query] = 1.0;
        let mut parts = Parts::default();
        parts[Part::Query] = 1.0;
        let longest = realised.iter().map(|site| site.len()).max().unwrap_or(0);
        let picks = (0..longest).flat_map(|turn| {
            realised.iter().enumerate().filter_map(move |(site, all)| {
                let outcome = PickOutcome { url: UrlId(0), parts, realised: *all.get(turn)? };
                Some((site as u32, outcome))
            })
        });
        SiteReliability::new(picks, &blend)
    }

    #[test]
    fn who_breaks_promises_is_trusted_less_and_nobody_more_than_fully() {
        let found = promises(&[&[0.5; 20], &[0.0; 20], &[1.0; 20]]);
        assert_eq!(found.of(0), 1.0, "as usual");
        assert_eq!(found.of(2), 1.0);
        assert_eq!(found.of(9), 1.0, "a site that nothing is known of");
        assert!(found.of(1) < 0.4, "{}", found.of(1));
        let once = promises(&[&[0.5; 20], &[0.0; 1], &[1.0; 20]]);
        let trust = once.of(1);
        assert!((0.4..0.6).contains(&trust), "one pick says half: {trust}");
    }

    #[test]
    fn newcomers_answer_for_newcomers() {
        let mut sites: Vec<&[f64]> = vec![&[1.0; 40]; 3];
        assert_eq!(promises(&sites).of(99), 1.0, "nobody disappointed");
        sites.extend([&[0.0][..]; 20]);
        let found = promises(&sites);
        assert!(found.of(99) < 0.4, "{}", found.of(99));
        assert_eq!(found.of(0), 1.0, "those who are known answer for themselves");
        assert_eq!(found.of(3), promises(&[&[1.0; 122], &[0.0]]).of(1), "also those who broke one");
    }

    #[test]
    fn without_picks_or_anything_kept_all_are_trusted() {
        assert_eq!(promises(&[]).of(0), 1.0);
        assert_eq!(promises(&[&[0.0; 5], &[0.0; 5]]).of(0), 1.0);
    }

    #[test]
    fn bait_does_not_pay_for_what_follows() {
        let mut switched = vec![9.0; 30];
        switched.extend([0.0; 30]);
        let honest = vec![0.5; 60];
        let found = promises(&[&honest, &switched]);
        assert!(found.of(1) < 0.5, "{}", found.of(1));
        let mut better = switched;
        better.reverse();
        assert_eq!(promises(&[&honest, &better]).of(1), 1.0, "who gets better is forgiven");
    }
}
