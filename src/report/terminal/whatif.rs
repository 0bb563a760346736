//! What comes of scenarios, as text.

use super::time::short;
use super::{clean, impact};
use crate::report::glossary;
use crate::report::number::{counted, fixed, thousands};
use crate::results::whatif::{
    CapPrice, Difference, PlanFigures, QueryFigures, RevisitFigures, ScenarioFigures, SlowQueue,
    TimeCurve, UrlChange, WhatIf, WhatIfQueryChange,
};

/// Rows of a list.
const ROWS: usize = 8;
/// Characters of a URL, and of a query.
const URL_WIDTH: usize = 64;
const QUERY_WIDTH: usize = 40;
/// Marks of a curve.
const MARKS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// The plan of today, then every scenario against it.
pub(crate) fn tables(found: &WhatIf) -> String {
    let state = &found.state;
    let mut out = format!(
        "plan {}{} without a scenario: {}; {}, {}; BM25 k1 {} b {}, {}\n",
        state.plan_id,
        if state.on_base { ", as [base] has it," } else { "" },
        counted(state.pages as u64, "page"),
        counted(state.queries as u64, "query"),
        counted(state.pairs as u64, "pair"),
        state.k1,
        state.b,
        glossary::lists(state.k, state.visibility.as_deref()),
    );
    out += &plan(&found.base);
    out += &uncovered(&found.base);
    for scenario in &found.scenarios {
        out += &section(scenario);
    }
    out += "\nimpact: askings (query frequencies) whose list the pages are in when the batch is fetched; in brackets \
            what holds 95 %\n";
    out
}

fn plan(plan: &PlanFigures) -> String {
    let drawn = match plan.drawn {
        0 => String::new(),
        drawn => format!(", {drawn} drawn at random"),
    };
    let mut out = format!(
        "  {} of {}{drawn}; impact {}\n    of it when the crawl has grown by a quarter: {}\n",
        thousands(plan.picks as u64),
        counted(plan.frontier as u64, "URL"),
        impact::expected(&plan.expected_impact.enters),
        impact::expected(&plan.expected_impact.stays),
    );
    let weights = plan.weights.iter().map(|(name, weight)| format!("{weight:.2} {name}"));
    out += &format!("  estimate = {}\n", weights.collect::<Vec<_>>().join(" + "));
    out += &format!("  budget: {}\n", curve(plan));
    if let Some(time) = &plan.time {
        out += &format!("  time: {}\n", against_time(time));
    }
    if let Some(RevisitFigures { urls, changed, impact }) = plan.revisits {
        out += &format!(
            "  {} fetched again, which are not in that impact: {} expected to have changed, whose impact in the lists is {}\n",
            counted(urls as u64, "page"),
            fixed(changed, 1),
            fixed(impact, 1),
        );
    }
    for CapPrice { cap, limit, price } in &plan.caps {
        // A batch is not chosen for what enters at once alone: without a cap it can have less of that.
        out += &if *price < 0.0 {
            format!("  {cap} {limit}: without it {} less impact at the close\n", fixed(-price, 1))
        } else {
            format!("  {cap} {limit} costs {} impact\n", fixed(*price, 1))
        };
    }
    if !plan.caps.is_empty() {
        let urls = counted(plan.held_back as u64, "URL");
        out += &format!("  held back by caps: {urls}\n");
    }
    out
}

fn curve(plan: &PlanFigures) -> String {
    // Caps, or the end of the frontier, may leave no more URLs than those of the last point.
    let most = plan.curve.points.last().map_or(0.0, |point| point.budget as f64);
    let mut budgets = MARKS.map(|times| (plan.budget as f64 * times).round().min(most)).to_vec();
    budgets.dedup();
    let mark = |budget: f64| {
        Some(format!("{} → {}", fixed(budget, 0), fixed(impact_at(plan, budget)?, 1)))
    };
    let mut out = budgets.into_iter().filter_map(mark).collect::<Vec<_>>().join(", ");
    out += &format!("; one more URL adds {}", fixed(plan.curve.shadow_price, 3));
    if let Some(knee) = plan.curve.knee {
        out += &format!("; knee at {}", thousands(knee.budget as u64));
    }
    out
}

fn against_time(time: &TimeCurve) -> String {
    let points = time.points.iter().filter(|point| point.seconds > 0.0);
    let points = points.map(|point| {
        let (seconds, impact) = (short(point.seconds), fixed(point.impact, 1));
        format!("{seconds} s → {impact} ({})", thousands(point.urls as u64))
    });
    let mut out = points.collect::<Vec<_>>().join(", ");
    out += &format!(
        " URLs; one more second adds {}, over the next tenth of the time",
        fixed(time.shadow_price, 3)
    );
    if let Some(SlowQueue { queue, delay, shadow_price }) = &time.slowest {
        out += &format!(
            ", one for {} alone (a request takes {} s) {}",
            clean(queue, QUERY_WIDTH),
            short(*delay),
            fixed(*shadow_price, 3)
        );
    }
    out
}

/// Impact at a budget, between known points of the curve in proportion; none beyond them.
fn impact_at(plan: &PlanFigures, budget: f64) -> Option<f64> {
    let known = plan.curve.points.iter().rev().find(|point| point.budget as f64 <= budget)?;
    let next = plan.curve.points.iter().find(|point| point.budget as f64 >= budget)?;
    let span = (next.budget - known.budget) as f64;
    let share = if span > 0.0 { (budget - known.budget as f64) / span } else { 0.0 };
    Some(known.impact + share * (next.impact - known.impact))
}

fn uncovered(plan: &PlanFigures) -> String {
    let uncovered = &plan.uncovered;
    if uncovered.queries == 0 {
        return "  every query has a URL in the frontier that may help it\n".to_owned();
    }
    let name = |query: &QueryFigures| {
        format!("\"{}\" ({} results now)", clean(&query.query, QUERY_WIDTH), query.served)
    };
    let named: Vec<String> = uncovered.most_asked.iter().take(ROWS).map(name).collect();
    let more = match uncovered.queries - named.len() {
        0 => String::new(),
        more => format!(" and {} more", thousands(more as u64)),
    };
    format!(
        "  no known URL is expected to help {} ({} askings); to be seeded: {}{more}\n",
        counted(uncovered.queries as u64, "query"),
        fixed(uncovered.frequency, 0),
        named.join(", ")
    )
}

fn section(scenario: &ScenarioFigures) -> String {
    let Difference { impact, low, high, unchanged_batch, .. } = scenario.difference;
    let mut out = format!("\n{}\n", clean(&scenario.name, super::WIDTH));
    out += &plan(&scenario.plan);
    let worth = scenario.plan.enters() - unchanged_batch;
    out += &format!(
        "  {} ({} to {}) against the plan without it: {} of the same batch, {} by planning again\n",
        signed(impact),
        signed(low),
        signed(high),
        signed(impact - worth),
        signed(worth),
    );
    if ["top", "visibility"].iter().any(|key| scenario.scenario.get(key).is_some()) {
        out += "  (its lists are of another kind: its impact is not in the same unit)\n";
    }
    let difference = &scenario.difference;
    out += &format!(
        "  {} stay, {} enter, {} leave\n",
        thousands(difference.kept as u64),
        thousands(difference.entering_count as u64),
        thousands(difference.leaving_count as u64),
    );
    out += &urls("enter", &difference.entering);
    out += &urls("leave", &difference.leaving);
    out += &queries("gain", &difference.gaining);
    out += &queries("lose", &difference.losing);
    if scenario.plan.uncovered.queries > 0 {
        out += &uncovered(&scenario.plan);
    }
    out
}

fn signed(value: f64) -> String {
    if value < 0.0 { fixed(value, 1) } else { format!("+{}", fixed(value, 1)) }
}

fn urls(what: &str, changes: &[UrlChange]) -> String {
    let mut out = String::new();
    for (at, change) in changes.iter().take(ROWS).enumerate() {
        let rank = change.rank_after.or(change.rank_before).unwrap_or(0);
        out += &format!(
            "    {:5}  {rank:>6}  {:>9} → {:<9} {}\n{:38}{}\n",
            if at == 0 { what } else { "" },
            fixed(change.estimate_before, 2),
            fixed(change.estimate_after, 2),
            tail(&change.url, URL_WIDTH),
            "",
            clean(&change.reason, URL_WIDTH),
        );
    }
    out
}

/// A URL without its scheme; if it is too long, its end, which tells more than its start.
fn tail(url: &str, most: usize) -> String {
    let url = clean(url, usize::MAX - 1);
    let url = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let count = url.chars().count();
    if count <= most {
        return url.to_owned();
    }
    let end: String = url.chars().skip(count - (most - 1)).collect();
    format!("…{end}")
}

fn queries(what: &str, changes: &[WhatIfQueryChange]) -> String {
    let mut out = String::new();
    for (at, change) in changes.iter().take(ROWS).enumerate() {
        out += &format!(
            "    {:5}  {:>8}  {}: {} → {} results expected, asked {} → {} times\n",
            if at == 0 { what } else { "" },
            signed(change.askings_gained()),
            clean(&change.query, QUERY_WIDTH),
            fixed(change.results_before, 2),
            fixed(change.results_after, 2),
            change.frequency_before,
            change.frequency_after,
        );
    }
    out
}
