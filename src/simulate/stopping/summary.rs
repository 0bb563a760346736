//! Stops of many crawls as figures.

use super::StopRule;
use crate::evaluate::statistics::{mean_interval, share_interval};
use crate::policy::PolicyChoice;
use crate::results::Interval;
use crate::results::stopping::{PolicyStops, RuleSummary, Stop, StoppingSummary};

/// The stops of these policies by these rules as a summary.
pub(crate) fn summary(
    policies: &[PolicyChoice],
    rules: &[StopRule],
    stops: &[Stop],
) -> StoppingSummary {
    let of = |policy: Option<&str>| {
        let own = |rule: String| {
            let of_rule = |stop: &&Stop| {
                stop.rule == rule && policy.is_none_or(|policy| stop.policy == policy)
            };
            rule_summary(rule.clone(), &stops.iter().filter(of_rule).collect::<Vec<_>>())
        };
        rules.iter().map(|rule| own(rule.name())).collect::<Vec<RuleSummary>>()
    };
    let policies = policies.iter().map(|choice| {
        let name = choice.label();
        PolicyStops { rules: of(Some(&name)), name }
    });
    StoppingSummary { policies: policies.collect(), rules: of(None) }
}

fn rule_summary(rule: String, stops: &[&Stop]) -> RuleSummary {
    let interval = |values: Vec<f64>| {
        let none = Interval { mean: 0.0, low: None, high: None, values: Vec::new() };
        let mut found = mean_interval(&values).unwrap_or(none);
        found.values.clear();
        found
    };
    let of =
        |value: &dyn Fn(&Stop) -> f64| interval(stops.iter().map(|stop| value(stop)).collect());
    let over_oracle = |stop: &&Stop| f64::from(stop.pages) / f64::from(stop.oracle.max(1));
    // Of nothing no share is kept or lost, and no oracle knows when to stop.
    let finding: Vec<&Stop> = stops.iter().copied().filter(|stop| stop.finds).collect();
    let false_stops = stops.iter().filter(|stop| stop.is_false()).count();
    let ndcg: Option<Vec<f64>> = finding.iter().map(|stop| stop.ndcg).collect();
    RuleSummary {
        rule,
        crawls: stops.len(),
        without_results: stops.len() - finding.len(),
        stopped: stops.iter().filter(|stop| stop.stopped).count(),
        false_stops,
        false_share: share_interval(false_stops as u64, finding.len() as u64)
            .unwrap_or_else(|| interval(Vec::new())),
        pages: of(&|stop| f64::from(stop.pages) / f64::from(stop.of.max(1))),
        ndcg: ndcg.map(interval),
        impact: of(&|stop| stop.impact),
        over_oracle: interval(finding.iter().map(over_oracle).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After five pages of ten; the oracle stops there, or where nothing is found after one.
    fn stop(ndcg: f64, finds: bool) -> Stop {
        Stop {
            policy: "bfs".into(),
            set: 1,
            qid: String::new(),
            rule: "knee".into(),
            stopped: true,
            pages: 5,
            of: 10,
            ndcg: Some(ndcg),
            finds,
            impact: 0.0,
            oracle: if finds { 5 } else { 1 },
        }
    }

    #[test]
    fn crawls_that_find_nothing_are_in_no_share_of_what_was_found() {
        // Of nothing there is always all.
        let stops = [stop(0.5, true), stop(1.0, true), stop(1.0, false), stop(1.0, false)];
        let found = rule_summary("knee".into(), &stops.iter().collect::<Vec<_>>());
        assert_eq!((found.crawls, found.without_results, found.stopped), (4, 2, 4));
        assert_eq!((found.false_stops, found.false_share.mean), (1, 0.5));
        assert_eq!(found.ndcg.map(|ndcg| ndcg.mean), Some(0.75));
        assert_eq!(found.over_oracle.mean, 1.0);
        let none = rule_summary("knee".into(), &stops[2..].iter().collect::<Vec<_>>());
        assert_eq!((none.false_stops, none.without_results), (0, 2));
    }
}
