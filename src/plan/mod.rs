//! Batch selection: the URLs of highest estimate under the caps, a share of them explored.
//!
//! Greedy is exact here. The objective is a sum over the picked URLs, and the caps are nested: a
//! host lies within its domain, a domain within the budget (and a site is one of domain, host and
//! host with directory). Sets that respect nested caps are the independent sets of a laminar
//! matroid, and for a matroid the greedy order by weight gives a set of highest sum (Edmonds,
//! 1971). That no longer holds where picks compete for the same place of a result list.

pub mod caps;
pub mod export;

use prospect_index::page::UrlId;
use prospect_index::url_table::UrlTable;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::estimate::frontier::UrlEstimate;
use caps::{Cap, CapCounter, Caps};

/// What to pick.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SelectionSettings {
    /// URLs to pick at most.
    pub budget: usize,
    /// Caps by host, domain and site.
    pub caps: Caps,
    /// Share of the budget that is drawn at random from what greedy left, in [0, 1].
    pub explore: f64,
    /// Seed of the draw.
    pub seed: u64,
}

impl SelectionSettings {
    /// Whether the batch is simply the first of the ranking.
    fn is_plain(&self) -> bool {
        self.caps == Caps::default() && self.explore == 0.0
    }
}

/// One URL of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// Its estimate.
    pub estimate: UrlEstimate,
    /// Rank in the frontier by estimate, from 1.
    pub frontier_rank: u32,
    /// Whether it was drawn at random.
    pub explored: bool,
    /// Probability with which it was picked: 1 for a greedy pick, draws over pool for an explored
    /// one (before caps).
    pub propensity: f64,
}

/// The frontier in rank order, and the batch.
pub struct Batch {
    /// All URLs by estimate descending, then URL ascending.
    pub ranking: Vec<UrlEstimate>,
    /// The batch: greedy picks in rank order, then explored ones in the order drawn.
    pub picks: Vec<Pick>,
    /// For URLs that a cap held back: position in the ranking, and the cap.
    pub held_back: Vec<(u32, Cap)>,
}

/// Picks a batch and ranks the whole frontier.
pub fn select(ranking: Vec<UrlEstimate>, urls: &UrlTable, settings: &SelectionSettings) -> Batch {
    select_from(ranking, urls, settings, true)
}

/// Picks the same batch for who does not look at the ranking: where no cap and no exploration asks
/// for the rest of it, it ends with the batch.
pub fn select_only(
    ranking: Vec<UrlEstimate>,
    urls: &UrlTable,
    settings: &SelectionSettings,
) -> Batch {
    select_from(ranking, urls, settings, false)
}

fn select_from(
    mut ranking: Vec<UrlEstimate>,
    urls: &UrlTable,
    settings: &SelectionSettings,
    whole: bool,
) -> Batch {
    let order = |a: &UrlEstimate, b: &UrlEstimate| {
        b.estimate.total_cmp(&a.estimate).then_with(|| urls.url(a.url).cmp(urls.url(b.url)))
    };
    if settings.is_plain() && !whole && ranking.len() > settings.budget {
        ranking.select_nth_unstable_by(settings.budget, order);
        ranking.truncate(settings.budget);
    }
    // No two URLs are equal, so there is one order.
    ranking.par_sort_unstable_by(order);
    let explored = (settings.explore * settings.budget as f64).floor() as usize;
    let greedy = settings.budget.saturating_sub(explored);
    let mut counter = CapCounter::new(
        settings.caps,
        settings.budget,
        ranking.iter().map(|estimate| estimate.url),
        urls,
    );
    let mut picks = Vec::new();
    let mut left = Vec::new();
    let mut held_back = Vec::new();
    for (at, estimate) in ranking.iter().enumerate() {
        if picks.len() == greedy {
            left.push(at);
            continue;
        }
        match counter.take(estimate.url) {
            Ok(()) => picks.push(pick(at, *estimate, false, 1.0)),
            Err(cap) => held_back.push((at as u32, cap)),
        }
    }
    explore(&ranking, left, explored.min(settings.budget), settings.seed, &mut counter, &mut picks);
    Batch { ranking, picks, held_back }
}

fn pick(at: usize, estimate: UrlEstimate, explored: bool, propensity: f64) -> Pick {
    Pick { estimate, frontier_rank: at as u32 + 1, explored, propensity }
}

/// Draws without replacement, uniformly, from what greedy left (Fisher-Yates, as far as needed).
fn explore(
    ranking: &[UrlEstimate],
    mut pool: Vec<usize>,
    draws: usize,
    seed: u64,
    counter: &mut CapCounter<'_>,
    picks: &mut Vec<Pick>,
) {
    if draws == 0 || pool.is_empty() {
        return;
    }
    let propensity = (draws as f64 / pool.len() as f64).min(1.0);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = 0;
    for at in 0..pool.len() {
        if drawn == draws {
            break;
        }
        let other = random.random_range(at..pool.len());
        pool.swap(at, other);
        let estimate = ranking[pool[at]];
        if counter.take(estimate.url).is_ok() {
            picks.push(pick(pool[at], estimate, true, propensity));
            drawn += 1;
        }
    }
}

/// Position of a URL in a ranking.
pub fn position(ranking: &[UrlEstimate], url: UrlId) -> Option<usize> {
    ranking.iter().position(|estimate| estimate.url == url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frontier(estimates: &[(&str, f64)]) -> (UrlTable, Vec<UrlEstimate>) {
        let mut urls = UrlTable::default();
        let ranking = estimates
            .iter()
            .map(|&(url, estimate)| UrlEstimate {
                url: urls.insert(url, ""),
                parts: [estimate, 0.0, 0.0, 0.0, 0.0],
                quality: None,
                estimate,
                inlinks: 1,
            })
            .collect();
        (urls, ranking)
    }

    fn settings(budget: usize, per_host: Option<usize>, explore: f64) -> SelectionSettings {
        let caps = Caps { per_host, ..Caps::default() };
        SelectionSettings { budget, caps, explore, seed: 1 }
    }

    #[test]
    fn greedy_is_the_best_set_under_nested_caps() {
        // Every subset is tried: 2^9 of them, for random weights.
        let hosts = ["https://a.x.test/", "https://b.x.test/", "https://c.y.test/"];
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..50 {
            let names: Vec<String> = (0..9).map(|i| format!("{}{i}", hosts[i % 3])).collect();
            let weighted: Vec<(&str, f64)> = names
                .iter()
                .map(|name| (name.as_str(), f64::from(random.random_range(0..20u8))))
                .collect();
            let (urls, ranking) = frontier(&weighted);
            let caps = Caps { per_host: Some(2), per_domain: Some(3), ..Caps::default() };
            let settings = SelectionSettings { budget: 4, caps, explore: 0.0, seed: 1 };
            let batch = select(ranking.clone(), &urls, &settings);
            assert_eq!(select_only(ranking.clone(), &urls, &settings).picks, batch.picks);
            let plain = SelectionSettings { caps: Caps::default(), ..settings };
            let only = select_only(ranking.clone(), &urls, &plain);
            assert_eq!(only.picks, select(ranking.clone(), &urls, &plain).picks);
            let found: f64 = batch.picks.iter().map(|pick| pick.estimate.estimate).sum();
            let mut best = 0.0f64;
            for set in 0..1u32 << 9 {
                let members: Vec<_> =
                    (0..9).filter(|i| set >> i & 1 == 1).map(|i| ranking[i]).collect();
                let mut counter = CapCounter::new(caps, 4, urls.ids(), &urls);
                let fits = members.len() <= 4
                    && members.iter().all(|member| counter.take(member.url).is_ok());
                if fits {
                    best = best.max(members.iter().map(|member| member.estimate).sum());
                }
            }
            assert_eq!(found, best);
        }
    }

    #[test]
    fn ties_go_by_url_and_caps_are_told() {
        let (urls, ranking) = frontier(&[
            ("https://a.test/2", 1.0),
            ("https://a.test/1", 1.0),
            ("https://b.test/", 0.5),
        ]);
        let batch = select(ranking, &urls, &settings(2, Some(1), 0.0));
        let picked: Vec<&str> =
            batch.picks.iter().map(|pick| urls.url(pick.estimate.url)).collect();
        assert_eq!(picked, ["https://a.test/1", "https://b.test/"]);
        assert_eq!(batch.held_back, [(1, Cap::Host)]);
    }

    #[test]
    fn exploration_fills_its_share_from_what_greedy_left() {
        let names: Vec<String> = (0..100).map(|i| format!("https://h{i}.test/")).collect();
        let weighted: Vec<(&str, f64)> =
            names.iter().enumerate().map(|(i, name)| (name.as_str(), i as f64)).collect();
        let (urls, ranking) = frontier(&weighted);
        let batch = select(ranking.clone(), &urls, &settings(10, None, 0.3));
        assert_eq!(batch.picks.len(), 10);
        let explored: Vec<&Pick> = batch.picks.iter().filter(|pick| pick.explored).collect();
        assert_eq!(explored.len(), 3);
        assert!(explored.iter().all(|pick| (pick.propensity - 3.0 / 93.0).abs() < 1e-12));
        assert!(explored.iter().all(|pick| pick.frontier_rank > 7));
        assert_eq!(select(ranking, &urls, &settings(10, None, 0.3)).picks, batch.picks);
    }
}
