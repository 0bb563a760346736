//! What is measured on a crawl: how fast it finds relevant pages and impact, without any search.
//!
//! Definitions of Pezzuti, MacAvaney and Tonellotto (ICTIR 2025) and, for impact, of Pandey and
//! Olston (WSDM 2008). Not here: when which page was fetched.

use super::metrics::discount;

/// Levels at which crawls are compared by impact, in percent of the total true impact.
pub(crate) const IMPACT_LEVELS: std::ops::RangeInclusive<u32> = 5..=95;

/// Distance of two levels in percent.
pub(crate) const IMPACT_STEP: usize = 5;

/// Sums of the same impacts in another order may fall short of a level by this share of the total.
const ROUNDING: f64 = 1e-9;

/// Harvest rate: the share of the fetched pages that are relevant to any query; 0 before any page.
pub(crate) fn harvest_rate(relevant: usize, fetched: usize) -> f64 {
    if fetched == 0 { 0.0 } else { relevant as f64 / fetched as f64 }
}

/// maxNDCG of a query: the discounted gain of its relevant pages that were fetched, were they
/// ranked first. Not normalised; grades do not matter.
pub(crate) fn max_ndcg(relevant_fetched: u32) -> f64 {
    // An empty sum is -0.
    (1..=relevant_fetched).map(discount).sum::<f64>() + 0.0
}

/// How many times fewer pages crawl A fetches than crawl B to find as many relevant pages:
/// `tau_b(n) / tau_a(n)`, mean over n = 1 to what both reach. `tau[n - 1]` is the number of pages
/// fetched when the n-th relevant page was, itself included, so at least 1. None if a crawl finds
/// nothing.
pub(crate) fn speedup(tau_a: &[u32], tau_b: &[u32]) -> Option<f64> {
    let ratios = tau_a.iter().zip(tau_b).map(|(&a, &b)| {
        debug_assert!(a > 0 && b > 0, "a page that was found was fetched");
        f64::from(b) / f64::from(a)
    });
    mean(ratios)
}

/// As [`speedup`], over the [`IMPACT_LEVELS`] of the total true impact that both crawls reach.
/// `impact[t - 1]` is the impact collected with the first t pages; `total` is that of the whole
/// collection. None if no level is reached by both, or there is no impact at all.
pub(crate) fn impact_speedup(impact_a: &[f64], impact_b: &[f64], total: f64) -> Option<f64> {
    if total <= 0.0 {
        return None;
    }
    let pages = |impact, percent| pages_to(impact, total, percent);
    let ratio = |percent| Some(pages(impact_b, percent)? / pages(impact_a, percent)?);
    mean(IMPACT_LEVELS.step_by(IMPACT_STEP).map_while(ratio))
}

/// Pages until so many percent of the total impact are collected.
fn pages_to(impact: &[f64], total: f64, percent: u32) -> Option<f64> {
    let level = total * f64::from(percent) / 100.0 - total * ROUNDING;
    let before = impact.partition_point(|&collected| collected < level);
    (before < impact.len()).then_some((before + 1) as f64)
}

/// Mean of some values; none for none.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?} is not {expected}");
    }

    #[test]
    fn gains_and_rates() {
        assert_eq!([harvest_rate(0, 0), harvest_rate(1, 4)], [0.0, 0.25]);
        assert_eq!(max_ndcg(0).to_string(), "0");
        close(Some(max_ndcg(3)), 1.0 + 1.0 / 3f64.log2() + 0.5);
    }

    #[test]
    fn speedup_is_a_mean_of_ratios_over_what_both_found() {
        close(speedup(&[1, 4, 5], &[2, 2]), f64::midpoint(2.0, 0.5));
        close(speedup(&[3, 7], &[3, 7]), 1.0);
        assert_eq!(speedup(&[], &[1]), None);
    }

    #[test]
    fn impact_speedup_compares_levels_that_both_reach() {
        // Twenty pages of equal impact: A meets each level with one page more, B with two.
        let a: Vec<f64> = (1..=20).map(f64::from).collect();
        let b: Vec<f64> = (1..=40).map(|t| f64::from(t) / 2.0).collect();
        close(impact_speedup(&a, &b, 20.0), 2.0);
        // B stops at 10 %.
        close(impact_speedup(&a, &b[..4], 20.0), 2.0);
        assert_eq!(impact_speedup(&a, &b[..1], 20.0), None);
        assert_eq!(impact_speedup(&a, &b, 0.0), None);
        // Nothing, then all at once, against all with the first page.
        close(impact_speedup(&[20.0], &[0.0, 0.0, 20.0], 20.0), 3.0);
    }

    #[test]
    fn a_level_that_is_missed_by_rounding_only_is_reached() {
        let impact: Vec<f64> = (1..=10).map(|t| f64::from(t) * 0.1).collect();
        let summed: Vec<f64> = (1..=10).map(|t| (0..t).map(|_| 0.1).sum()).collect();
        assert_ne!(impact, summed);
        close(impact_speedup(&impact, &summed, 1.0), 1.0);
    }
}
