//! What a budget is worth: expected impact against the number of URLs.

use prospect_index::url_table::UrlTable;

use super::answer::Answer;
use crate::plan::SelectionSettings;
use crate::plan::caps::{CapCounter, Caps};
use crate::results::whatif::{BudgetCurve, BudgetPoint, CapPrice};

/// Points of a curve.
const POINTS: usize = 60;
/// How far a curve goes, in budgets: the rest of the frontier says nothing about this one.
const REACH: usize = 10;

/// Expected impact of the best `most` URLs that caps let through, best first: what each more adds.
fn gains(answer: &Answer, caps: Caps, most: usize, urls: &UrlTable) -> Vec<f64> {
    let ranking = &answer.choice.batch.ranking;
    if caps == Caps::default() {
        return ranking.iter().take(most).map(|url| answer.impact(url)).collect();
    }
    let frontier = ranking.iter().map(|url| url.url);
    let budget = answer.settings.selection.budget;
    let mut counter = CapCounter::new(caps, budget, frontier, urls);
    let taken = ranking.iter().filter(|url| counter.take(url.url).is_ok());
    taken.take(most).map(|url| answer.impact(url)).collect()
}

/// Expected impact against budget, under the caps of the plan and without exploration. Its knee is
/// where the curve lies farthest above the straight line to its end (Satopää et al., "Finding a kneedle
/// in a haystack", 2011).
pub fn curve(answer: &Answer, urls: &UrlTable) -> BudgetCurve {
    let SelectionSettings { budget, caps, .. } = answer.settings.selection;
    let gains = gains(answer, caps, budget.saturating_mul(REACH), urls);
    let shadow_price = gains.get(budget).copied().unwrap_or(0.0);
    let mut sums = Vec::with_capacity(gains.len() + 1);
    let mut sum = 0.0;
    sums.push(sum);
    for gain in &gains {
        sum += gain;
        sums.push(sum);
    }
    let all = gains.len().max(1) as f64;
    let above = |at: usize| sums[at] / sum.max(f64::MIN_POSITIVE) - at as f64 / all;
    let knee = (0..sums.len()).max_by(|&a, &b| above(a).total_cmp(&above(b)).then(b.cmp(&a)));
    let point = |at: usize| BudgetPoint { budget: at, impact: sums[at] };
    let mut marks: Vec<usize> = (0..=POINTS).map(|step| place(step, gains.len())).collect();
    marks.extend([budget.min(gains.len()), knee.unwrap_or(0)]);
    marks.sort_unstable();
    marks.dedup();
    BudgetCurve {
        points: marks.into_iter().map(point).collect(),
        knee: knee.filter(|&at| at > 0).map(point),
        shadow_price,
    }
}

/// Places of points, closer together at the start, where the curve bends.
fn place(step: usize, end: usize) -> usize {
    let share = step as f64 / POINTS as f64;
    (share * share * end as f64).round() as usize
}

/// What each cap costs: impact expected of the batch without it, less that with all of them.
pub fn prices(answer: &Answer, urls: &UrlTable) -> Vec<CapPrice> {
    let SelectionSettings { budget, caps, .. } = answer.settings.selection;
    let worth = |caps| gains(answer, caps, budget, urls).iter().sum::<f64>();
    let limits = [
        ("per-host", caps.per_host.map(|most| most as f64), Caps { per_host: None, ..caps }),
        ("per-domain", caps.per_domain.map(|most| most as f64), Caps { per_domain: None, ..caps }),
        ("per-site", caps.per_site.map(|most| most as f64), Caps { per_site: None, ..caps }),
        ("site-share", caps.site_share, Caps { site_share: None, ..caps }),
    ];
    let set: Vec<_> = limits
        .into_iter()
        .filter_map(|(cap, limit, without)| Some((cap, limit?, without)))
        .collect();
    if set.is_empty() {
        return Vec::new();
    }
    let with = worth(caps);
    let price = |(cap, limit, without): (&str, f64, Caps)| CapPrice {
        cap: cap.to_owned(),
        limit,
        price: worth(without) - with,
    };
    set.into_iter().map(price).collect()
}
