//! Where rules would have stopped crawls.

use super::{Column, named, rows};
use crate::report::number::{fixed, with_interval};
use crate::results::Interval;
use crate::results::stopping::{RuleSummary, StoppingSummary};

/// A share with its interval, in percent.
fn share(found: &Interval) -> String {
    let percent = |share: f64| fixed(100.0 * share, 0);
    match (found.low, found.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", percent(found.mean), percent(low), percent(high))
        }
        _ => percent(found.mean),
    }
}

fn column(heading: &str, rules: &[&RuleSummary], cell: impl Fn(&RuleSummary) -> String) -> Column {
    Column { heading: heading.to_owned(), cells: rules.iter().map(|rule| cell(rule)).collect() }
}

/// The table of what came of rules, over all policies, then for each.
pub(super) fn table(stopping: &StoppingSummary) -> String {
    let mut out =
        "stop rules: share of the pages fetched, and of the final nDCG@10 and impact\n".to_owned();
    let all = ("all", &stopping.rules);
    let each = stopping.policies.iter().map(|policy| (policy.name.as_str(), &policy.rules));
    let lines: Vec<(&str, &RuleSummary)> = std::iter::once(all)
        .chain(each.filter(|_| stopping.policies.len() > 1))
        .flat_map(|(name, rules)| rules.iter().map(move |rule| (name, rule)))
        .collect();
    let rules: Vec<&RuleSummary> = lines.iter().map(|(_, rule)| *rule).collect();
    let columns = [
        column("rule", &rules, |rule| rule.rule.clone()),
        column("crawls", &rules, |rule| rule.crawls.to_string()),
        column("find nothing", &rules, |rule| rule.without_results.to_string()),
        column("stopped", &rules, |rule| rule.stopped.to_string()),
        column("falsely", &rules, |rule| rule.false_stops.to_string()),
        column("false, % of the others", &rules, |rule| share(&rule.false_share)),
        column("pages", &rules, |rule| with_interval(&rule.pages, 3)),
        column("nDCG@10", &rules, |rule| {
            rule.ndcg.as_ref().map_or_else(|| "-".to_owned(), |ndcg| with_interval(ndcg, 3))
        }),
        column("impact", &rules, |rule| with_interval(&rule.impact, 3)),
        column("pages over the oracle's", &rules, |rule| fixed(rule.over_oracle.mean, 2)),
    ];
    let names = lines.iter().map(|(name, _)| named(name)).collect();
    out.push_str(&rows(&Column { heading: "policy".into(), cells: names }, &columns));
    out
}
