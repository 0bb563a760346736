//! `prospect policies` and `prospect metrics`: what there is to simulate and to measure.

use std::collections::BTreeMap;
use std::io::Write;

use super::Global;
use super::output::{self, Failure};
use super::plain::stdout;
use crate::estimate::features::group::{FeatureGroup, SEPARATOR};
use crate::estimate::features::table::{Feature, PageFeature};
use crate::evaluate::registry::{METRICS, Scope};
use crate::policy::POLICIES;

/// Lists the policies.
pub(super) fn policies(global: &Global) -> Result<(), Failure> {
    if global.json {
        let policies: Vec<serde_json::Value> = POLICIES
            .iter()
            .map(|kind| {
                serde_json::json!({
                    "name": kind.name,
                    "about": kind.about,
                    "source": kind.source,
                    "oracle": kind.is_oracle(),
                    "needs_quality": kind.needs_quality(),
                    "needs_workload": kind.is_planned(),
                    "options": kind.options(),
                })
            })
            .collect();
        let groups: Vec<serde_json::Value> = FeatureGroup::all()
            .map(|group| {
                serde_json::json!({
                    "name": group.name(),
                    "meaning": group.meaning(),
                    "features": features_of(group),
                })
            })
            .collect();
        let json = serde_json::json!({
            "schema": "prospect.policies/1",
            "policies": policies,
            "groups": groups,
        });
        return output::print_json(&json);
    }
    let mut out = stdout();
    for kind in POLICIES {
        let mut notes = Vec::new();
        if kind.is_oracle() {
            notes.push("oracle: reads what no crawler can know");
        }
        if kind.needs_quality() {
            notes.push("needs --quality");
        }
        if kind.is_planned() {
            notes.push("needs --workload");
        }
        let notes =
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
        writeln!(out, "{:<18} {}{notes}", kind.name, kind.about)?;
        writeln!(out, "{:<18}   {}", "", kind.source)?;
    }
    writeln!(out, "\nOptions, as in hybrid+needy=0.1+rho=0.5:")?;
    let mut shown: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for kind in POLICIES {
        for option in kind.options() {
            shown.entry(option).or_default().push(kind.name);
        }
    }
    for ((name, meaning), of) in shown {
        writeln!(out, "{name:<18} {meaning} ({})", of.join(", "))?;
    }
    writeln!(out, "\nGroups of evidence, as in prospect+without=url{SEPARATOR}anchors:")?;
    for group in FeatureGroup::all() {
        writeln!(out, "{:<18} {}", group.name(), group.meaning())?;
        for feature in features_of(group) {
            writeln!(out, "{:<18}   {feature}", "")?;
        }
    }
    Ok(())
}

/// Names of the features that only this group feeds.
fn features_of(group: FeatureGroup) -> Vec<&'static str> {
    let of_pairs = Feature::ALL.iter().map(|feature| (feature.group(), feature.name()));
    let of_pages = PageFeature::ALL.iter().map(|feature| (feature.group(), feature.name()));
    let of_this = of_pairs.chain(of_pages).filter(|(of, _)| *of == Some(group));
    of_this.map(|(_, name)| name).collect()
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Run(_) => "run",
        Scope::Crawl => "crawl",
    }
}

/// Lists the metrics.
pub(super) fn metrics(global: &Global) -> Result<(), Failure> {
    if global.json {
        let metrics: Vec<serde_json::Value> = METRICS
            .iter()
            .map(|metric| {
                serde_json::json!({
                    "name": metric.name,
                    "scope": scope_name(metric.scope),
                    "per_query": metric.per_query,
                    "measures": metric.measures,
                    "source": metric.source,
                })
            })
            .collect();
        let json = serde_json::json!({ "schema": "prospect.metrics/1", "metrics": metrics });
        return output::print_json(&json);
    }
    let mut out = stdout();
    for metric in METRICS {
        writeln!(out, "{:<13} {}", metric.name, metric.measures)?;
        let by_query = if metric.per_query { "by query" } else { "as a whole" };
        let (scope, source) = (scope_name(metric.scope), metric.source);
        writeln!(out, "{:<13}   of a {scope}, {by_query}; {source}", "")?;
    }
    writeln!(
        out,
        "\nprospect simulate measures all of them; prospect evaluate takes those of a run,"
    )?;
    writeln!(out, "with any cut-off: nDCG@20, R@1000, MRR, AP@100.")?;
    Ok(())
}
