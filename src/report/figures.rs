//! The main figures of experiments as JSON: per query kind and policy the areas and speedups, what
//! each group of evidence is worth, and what attackers got, with what they were made from. Curves
//! and analyses stay in `summary.json`.

use serde_json::{Map, Value, json};

use crate::results::{PolicySummary, Summary};

/// Name and version of the format.
pub(crate) const SCHEMA: &str = "prospect.report/1";

/// The figures of these experiments; `kind` leaves out all other query kinds.
///
/// # Errors
///
/// When a value cannot be JSON, which the types of a summary do not allow.
pub(crate) fn figures(
    summaries: &[Summary],
    kind: Option<&str>,
) -> Result<Value, serde_json::Error> {
    let experiments: Vec<Value> =
        summaries.iter().map(|summary| experiment(summary, kind)).collect::<Result<_, _>>()?;
    Ok(json!({ "schema": SCHEMA, "experiments": experiments }))
}

fn experiment(summary: &Summary, kind: Option<&str>) -> Result<Value, serde_json::Error> {
    let mut kinds = Vec::new();
    for (at, name) in summary.kinds.iter().enumerate() {
        if kind.is_some_and(|kind| kind != name) {
            continue;
        }
        let policies: Vec<Value> = summary
            .policies
            .iter()
            .map(|policy| figures_of(policy, at))
            .collect::<Result<_, _>>()?;
        let queries = summary.policies.first().map_or(0, |policy| policy.kinds[at].queries);
        kinds.push(json!({ "kind": name, "queries": queries, "policies": policies }));
    }
    Ok(json!({
        "title": summary.title,
        "provenance": serde_json::to_value(&summary.provenance)?,
        "collection": serde_json::to_value(&summary.collection)?,
        "baseline": summary.baseline,
        "kinds": kinds,
        "ablation": serde_json::to_value(&summary.ablation)?,
        "manipulation": serde_json::to_value(&summary.manipulation)?,
    }))
}

fn figures_of(policy: &PolicySummary, kind: usize) -> Result<Value, serde_json::Error> {
    let kind = &policy.kinds[kind];
    let mut metrics = Map::new();
    for curve in &kind.curves {
        let figures = json!({
            "area": serde_json::to_value(&curve.area)?,
            "area_gain": serde_json::to_value(&curve.area_gain)?,
            "area_test": serde_json::to_value(curve.area_test)?,
        });
        metrics.insert(curve.metric.clone(), figures);
    }
    Ok(json!({
        "policy": policy.name,
        "oracle": policy.oracle,
        "fetched": policy.fetched,
        "metrics": metrics,
        "speedup_relevant": serde_json::to_value(&kind.speedup_relevant)?,
        "speedup_impact": serde_json::to_value(&kind.speedup_impact)?,
    }))
}
