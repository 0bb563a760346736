//! How far sufficiency tells what search returns.

use super::{Column, clean, named, rows};
use crate::report::number::{fixed, thousands};
use crate::results::Interval;
use crate::results::sufficiency_check::{
    KindCheck, Moves, PolicyCheck, StrategyCheck, SufficiencyBin, SufficiencyCheck,
};

/// Characters of a strategy's or a kind's name.
const SHORT_WIDTH: usize = 20;

/// The tables: correlations by policy, strategy and kind; then what was said beside what came; then moves of coverage.
pub(super) fn tables(check: &SufficiencyCheck) -> String {
    let mut out = format!(
        "sufficiency and the nDCG@10 of the same {} judged queries, half way: correlation over queries, 95 %\n",
        thousands(check.queries as u64)
    );
    out.push_str(&correlations(check));
    out.push_str("\nby tenths of sufficiency, over queries, crawls and checkpoints\n");
    out.push_str(&bins(check));
    for policy in &check.policies {
        let Moves { within, falls_within, between, falls_between } = policy.coverage;
        out += &format!(
            "{}: coverage of a query fell in {} of {} steps within a statistics epoch, in {} of {} between two\n",
            named(&policy.name),
            thousands(falls_within),
            thousands(within),
            thousands(falls_between),
            thousands(between),
        );
    }
    out
}

fn each(check: &SufficiencyCheck) -> impl Iterator<Item = (&PolicyCheck, &StrategyCheck)> {
    check.policies.iter().flat_map(|policy| policy.strategies.iter().map(move |own| (policy, own)))
}

fn column(heading: &str, cells: Vec<String>) -> Column {
    Column { heading: heading.to_owned(), cells }
}

fn correlations(check: &SufficiencyCheck) -> String {
    let lines: Vec<(&PolicyCheck, &StrategyCheck, &KindCheck)> = each(check)
        .flat_map(|(policy, strategy)| {
            strategy.kinds.iter().map(move |kind| (policy, strategy, kind))
        })
        .collect();
    let cells = |cell: &dyn Fn(&StrategyCheck, &KindCheck) -> String| -> Vec<String> {
        lines.iter().map(|(_, strategy, kind)| cell(strategy, kind)).collect()
    };
    let names = lines.iter().map(|(policy, ..)| named(&policy.name)).collect();
    let columns = [
        column("strategy", cells(&|strategy, _| clean(&strategy.name, SHORT_WIDTH))),
        column("kind", cells(&|_, kind| clean(&kind.kind, SHORT_WIDTH))),
        column("queries", cells(&|_, kind| thousands(kind.queries as u64))),
        column("pages", cells(&|strategy, _| thousands(strategy.half.into()))),
        column("with nDCG@10", cells(&|_, kind| correlation(kind.correlation.as_ref()))),
        column(
            "with its share of the final",
            cells(&|_, kind| correlation(kind.with_share.as_ref())),
        ),
    ];
    rows(&column("policy", names), &columns)
}

fn bins(check: &SufficiencyCheck) -> String {
    let lines: Vec<(&PolicyCheck, &StrategyCheck, &SufficiencyBin)> = each(check)
        .flat_map(|(policy, strategy)| strategy.bins.iter().map(move |bin| (policy, strategy, bin)))
        .collect();
    let cells = |cell: &dyn Fn(&StrategyCheck, &SufficiencyBin) -> String| -> Vec<String> {
        lines.iter().map(|(_, strategy, bin)| cell(strategy, bin)).collect()
    };
    let names = lines.iter().map(|(policy, ..)| named(&policy.name)).collect();
    let columns = [
        column("strategy", cells(&|strategy, _| clean(&strategy.name, SHORT_WIDTH))),
        column("from", cells(&|_, bin| fixed(bin.from, 1))),
        column("count", cells(&|_, bin| thousands(bin.count as u64))),
        column("sufficiency", cells(&|_, bin| fixed(bin.sufficiency, 3))),
        column("nDCG@10", cells(&|_, bin| fixed(bin.ndcg, 3))),
        column(
            "share of the final",
            cells(&|_, bin| bin.share.map_or_else(|| "-".to_owned(), |share| fixed(share, 3))),
        ),
    ];
    rows(&column("policy", names), &columns)
}

fn correlation(found: Option<&Interval>) -> String {
    let Some(Interval { mean, low: Some(low), high: Some(high), .. }) = found else {
        return "-".to_owned();
    };
    format!("{} ({} to {})", fixed(*mean, 2), fixed(*low, 2), fixed(*high, 2))
}
