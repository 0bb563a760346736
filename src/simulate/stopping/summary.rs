//! Stops of many crawls as figures.

use super::StopRule;
use crate::evaluate::statistics::{mean_interval_alone, share_interval};
use crate::policy::PolicyChoice;
use crate::results::Interval;
use crate::results::stopping::{PolicyStops, RuleSummary, Stop, StoppingSummary};

/// The stops of these policies by these rules as a summary.
pub(crate) fn summary(
    policies: &[PolicyChoice],
    rules: &[StopRule],
    stops: &[Stop],
) -> StoppingSummary {
    let policies = policies.iter().map(|choice| {
        let name = choice.label();
        let of_policy = stops.iter().filter(|stop| stop.policy == name);
        PolicyStops { rules: rule_summaries(rules, &of_policy.collect::<Vec<_>>()), name }
    });
    let policies = policies.collect();
    StoppingSummary { policies, rules: rule_summaries(rules, &stops.iter().collect::<Vec<_>>()) }
}

/// A summary for each rule, of its own among these stops.
fn rule_summaries(rules: &[StopRule], stops: &[&Stop]) -> Vec<RuleSummary> {
    let summaries = rules.iter().map(|rule| {
        let name = rule.name();
        let own: Vec<&Stop> = stops.iter().copied().filter(|stop| stop.rule == name).collect();
        rule_summary(name, &own)
    });
    summaries.collect()
}

fn rule_summary(rule: String, stops: &[&Stop]) -> RuleSummary {
    let over_oracle = |stop: &Stop| f64::from(stop.pages) / f64::from(stop.oracle.max(1));
    let of_crawl = |stop: &Stop| f64::from(stop.pages) / f64::from(stop.of.max(1));
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
            .unwrap_or_else(|| mean_interval_alone(&[])),
        pages: mean_over(stops, of_crawl),
        ndcg: ndcg.map(|values| mean_interval_alone(&values)),
        impact: mean_over(stops, |stop| stop.impact),
        over_oracle: mean_over(&finding, over_oracle),
    }
}

fn mean_over(stops: &[&Stop], value: impl Fn(&Stop) -> f64) -> Interval {
    mean_interval_alone(&stops.iter().map(|stop| value(stop)).collect::<Vec<f64>>())
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
