//! Lazy greedy selection by gains that fall as picks are made.
//!
//! The value of a set of URLs is taken to be monotone and submodular: a URL adds something, and never
//! more to a larger set. Then the greedy set has at least 1 - 1/e of the value of the best set of the
//! budget's size (Nemhauser, Wolsey and Fisher, 1978), and half of that of the best under nested caps,
//! which are a matroid (Fisher, Nemhauser and Wolsey, 1978). As gains only fall, what a URL gained when
//! it was last looked at is an upper bound, and only the highest is looked at again (Minoux, 1978).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::SelectionSettings;
use super::caps::{CapGroups, SoFar};
use super::explore::Draws;
use crate::estimate::url_estimate::UrlEstimate;

/// What URLs, given by position, add to those picked so far.
pub(super) trait Gains: Sync {
    /// Of one URL; never more after a pick than before it.
    fn gain(&self, at: usize) -> f64;

    /// Adds a URL to the picks.
    fn pick(&mut self, at: usize);
}

/// Makes gains the estimates of URLs: picks get what they added when they were picked, the others what
/// they would add to all picks. Those of the batch that are not drawn at random are picks; taken in
/// the order of these estimates under the same caps, URLs give the same ones. A URL that a cap held
/// back gains no more than the pick that exhausted the cap, as it could have been picked instead.
pub(super) fn rank_by_gain(
    urls: &mut [UrlEstimate],
    gains: &mut impl Gains,
    so_far: SoFar<'_>,
    settings: &SelectionSettings,
) {
    let picked = greedy(urls, gains, so_far, settings);
    let left = all(urls.len(), gains);
    for (url, gain) in urls.iter_mut().zip(left) {
        url.estimate = gain;
    }
    for (at, gain) in picked {
        urls[at].estimate = gain;
    }
}

fn all(count: usize, gains: &impl Gains) -> Vec<f64> {
    (0..count).into_par_iter().map(|at| gains.gain(at)).collect()
}

/// The greedy picks in order, each with what it added.
fn greedy(
    urls: &[UrlEstimate],
    gains: &mut impl Gains,
    so_far: SoFar<'_>,
    settings: &SelectionSettings,
) -> Vec<(usize, f64)> {
    let SelectionSettings { budget, caps, explore, .. } = *settings;
    let most = budget.saturating_sub(Draws::of(explore, budget).count);
    let groups = CapGroups::of(caps, urls, std::iter::empty(), so_far, budget);
    let mut counter = groups.counter(budget);
    let bound =
        |(at, gain): (usize, f64)| Bound { gain, url: so_far.urls.url(urls[at].url), at, picks: 0 };
    let mut heap: BinaryHeap<Bound<'_>> =
        all(urls.len(), gains).into_iter().enumerate().map(bound).collect();
    let mut picked = Vec::new();
    while picked.len() < most {
        let Some(best) = heap.pop() else { break };
        if best.picks < picked.len() {
            heap.push(Bound { gain: gains.gain(best.at), picks: picked.len(), ..best });
        } else if counter.take(urls[best.at].url).is_ok() {
            gains.pick(best.at);
            picked.push((best.at, best.gain));
        }
    }
    picked
}

/// A URL with what it gained when it was last looked at.
struct Bound<'a> {
    gain: f64,
    url: &'a str,
    at: usize,
    /// Picks made by then.
    picks: usize,
}

impl Ord for Bound<'_> {
    /// By gain, of equal ones the first URL is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.url.cmp(self.url))
    }
}

impl PartialOrd for Bound<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bound<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bound<'_> {}

#[cfg(test)]
mod tests {
    use prospect_index::page::UrlId;
    use prospect_index::url_table::UrlTable;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::plan::caps::Caps;
    use crate::plan::select;

    /// Weighted coverage: the weight of everything that some pick covers.
    #[derive(Clone)]
    struct Coverage {
        covers: Vec<Vec<usize>>,
        left: Vec<f64>,
    }

    impl Gains for Coverage {
        fn gain(&self, at: usize) -> f64 {
            self.covers[at].iter().map(|&thing| self.left[thing]).sum()
        }

        fn pick(&mut self, at: usize) {
            for &thing in &self.covers[at] {
                self.left[thing] = 0.0;
            }
        }
    }

    impl Coverage {
        fn random(urls: usize, random: &mut ChaCha8Rng) -> Self {
            let things = 12;
            let left = (0..things).map(|_| f64::from(random.random_range(0..20_u8))).collect();
            let mut draw = |_| (0..things).filter(|_| random.random_range(0..4_u8) == 0).collect();
            let covers = (0..urls).map(&mut draw).collect();
            Self { covers, left }
        }

        fn of_set(&self, set: impl Iterator<Item = usize>) -> f64 {
            let mut coverage = self.clone();
            let mut value = 0.0;
            for at in set {
                value += coverage.gain(at);
                coverage.pick(at);
            }
            value
        }
    }

    fn frontier(count: usize) -> (UrlTable, Vec<UrlEstimate>) {
        let mut table = UrlTable::default();
        let hosts = ["a.x.test", "b.x.test", "c.y.test"];
        let address = |at| format!("https://{}/{at}", hosts[at % 3]);
        let urls = (0..count).map(|at| UrlEstimate::valued(table.insert(&address(at), ""), 0.0));
        let urls = urls.collect();
        (table, urls)
    }

    fn settings(caps: Caps, explore: f64) -> SelectionSettings {
        SelectionSettings { caps, explore, ..SelectionSettings::new(4) }
    }

    /// Every set of the budget's size under the caps.
    fn sets(table: &UrlTable, settings: &SelectionSettings) -> Vec<Vec<usize>> {
        let ids: Vec<UrlId> = table.ids().collect();
        let groups = CapGroups::new(settings.caps, &ids, SoFar::start(table));
        let all = (0..1_u32 << ids.len())
            .map(|set| (0..ids.len()).filter(|at| set >> at & 1 == 1).collect::<Vec<usize>>());
        let fitting = all.filter(|set| {
            let mut counter = groups.counter(4);
            set.len() <= 4 && set.iter().all(|&at| counter.take(ids[at]).is_ok())
        });
        fitting.collect()
    }

    #[test]
    fn greedy_keeps_its_guarantees_and_estimates_select_the_same_batch() {
        let nested = Caps { per_host: Some(1), per_domain: Some(2), ..Caps::default() };
        for (caps, guarantee) in [(Caps::default(), 1.0 - (-1.0_f64).exp()), (nested, 0.5)] {
            let mut random = ChaCha8Rng::seed_from_u64(3);
            let (table, urls) = frontier(10);
            let settings = settings(caps, 0.0);
            let sets = sets(&table, &settings);
            for _ in 0..50 {
                let coverage = Coverage::random(urls.len(), &mut random);
                let picked = greedy(&urls, &mut coverage.clone(), SoFar::start(&table), &settings);
                let value = coverage.of_set(picked.iter().map(|(at, _)| *at));
                let values = sets.iter().map(|set| coverage.of_set(set.iter().copied()));
                let best = values.fold(0.0, f64::max);
                assert!(value >= guarantee * best && value <= best, "{value} of {best}");
                let mut ranked = urls.clone();
                rank_by_gain(&mut ranked, &mut coverage.clone(), SoFar::start(&table), &settings);
                let batch = select(&ranked, SoFar::start(&table), &settings);
                let selected: Vec<UrlId> =
                    batch.picks.iter().map(|pick| pick.estimate.url).collect();
                let expected: Vec<UrlId> = picked.iter().map(|(at, _)| urls[*at].url).collect();
                assert_eq!(selected, expected);
            }
        }
    }

    #[test]
    fn lazy_picks_are_those_of_looking_at_all_every_time() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (table, urls) = frontier(60);
        let settings = SelectionSettings { budget: 20, ..settings(Caps::default(), 0.0) };
        for _ in 0..20 {
            let mut coverage = Coverage::random(urls.len(), &mut random);
            let lazy = greedy(&urls, &mut coverage.clone(), SoFar::start(&table), &settings);
            let mut left: Vec<usize> = (0..urls.len()).collect();
            for (at, gain) in lazy {
                left.sort_by(|&a, &b| {
                    let url = |at: usize| table.url(urls[at].url);
                    coverage.gain(b).total_cmp(&coverage.gain(a)).then(url(a).cmp(url(b)))
                });
                let best = left.remove(0);
                assert_eq!((at, gain), (best, coverage.gain(best)));
                coverage.pick(best);
            }
        }
    }

    #[test]
    fn what_is_drawn_at_random_takes_no_place_of_a_pick() {
        let (table, urls) = frontier(10);
        let coverage = Coverage::random(urls.len(), &mut ChaCha8Rng::seed_from_u64(7));
        let [none, half] = [0.0, 0.5].map(|explore| {
            let settings = settings(Caps::default(), explore);
            greedy(&urls, &mut coverage.clone(), SoFar::start(&table), &settings)
        });
        assert_eq!(half, none[..2]);
    }
}
