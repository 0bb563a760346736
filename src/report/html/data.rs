//! The data of the charts: a summary cut down to what the script draws, figures to six digits.

use serde_json::{Value, json};

use crate::report::glossary;
use crate::report::number::short;
use crate::results::{
    Analyses, Curve, HostShares, Interval, KindSummary, LimitedSketches, PolicySummary,
    QueryChange, Scatter, Summary,
};

/// One entry an experiment.
pub(super) fn data(summaries: &[Summary]) -> Value {
    summaries.iter().map(experiment).collect()
}

fn experiment(summary: &Summary) -> Value {
    let metric =
        |name: &String| json!({ "name": name, "meaning": glossary::metric(name).unwrap_or("") });
    json!({
        "title": summary.title,
        "baseline": summary.baseline,
        "significance": summary.significance,
        "sets": glossary::seed_sets(summary),
        "kinds": summary.kinds,
        "metrics": summary.metrics.iter().map(metric).collect::<Value>(),
        "policies": summary.policies.iter().map(policy).collect::<Value>(),
        "analyses": analyses(&summary.analyses),
    })
}

fn policy(policy: &PolicySummary) -> Value {
    json!({
        "name": policy.name,
        "oracle": policy.oracle,
        "kinds": policy.kinds.iter().map(kind).collect::<Value>(),
        "hosts": hosts(&policy.hosts),
        "gained": changes(&policy.gained),
        "lost": changes(&policy.lost),
    })
}

fn kind(kind: &KindSummary) -> Value {
    json!({
        "queries": kind.queries,
        "curves": kind.curves.iter().map(curve).collect::<Value>(),
        "speedup_relevant": kind.speedup_relevant.as_ref().map(interval),
        "speedup_impact": kind.speedup_impact.as_ref().map(interval),
    })
}

/// A curve as columns: a fraction of the bytes of a list of points.
fn curve(curve: &Curve) -> Value {
    let column = |value: fn(&crate::results::Point) -> f64| -> Vec<f64> {
        curve.points.iter().map(|point| short(value(point))).collect()
    };
    let tests = curve.points.iter().map(|point| {
        point.versus_baseline.map(|test| {
            json!([short(test.difference), short(test.p), short(test.p_holm), test.significant])
        })
    });
    json!({
        "pages": curve.points.iter().map(|point| point.pages).collect::<Vec<u32>>(),
        "mean": column(|point| point.mean),
        "sd": column(|point| point.sd),
        "min": column(|point| point.min),
        "max": column(|point| point.max),
        "tests": tests.collect::<Vec<_>>(),
    })
}

pub(super) fn interval(interval: &Interval) -> Value {
    json!({
        "mean": short(interval.mean),
        "low": interval.low.map(short),
        "high": interval.high.map(short),
        "values": interval.values.iter().copied().map(short).collect::<Vec<f64>>(),
    })
}

/// Hosts in the order of their first mention, with their share at each checkpoint.
fn hosts(shares: &[HostShares]) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in shares.iter().flat_map(|at| &at.shares) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let of_host = |name: &&str| -> Vec<f64> { shares.iter().map(|at| share(at, name)).collect() };
    json!({
        "pages": shares.iter().map(|at| at.pages).collect::<Vec<u32>>(),
        "shares": names.iter().map(of_host).collect::<Vec<_>>(),
        "names": names,
    })
}

/// The share of a host at a checkpoint.
fn share(at: &HostShares, name: &str) -> f64 {
    let found = at.shares.iter().find(|(host, _)| host == name);
    short(found.map_or(0.0, |(_, share)| *share))
}

fn changes(changes: &[QueryChange]) -> Value {
    changes.iter().map(change).collect()
}

fn change(change: &QueryChange) -> Value {
    let QueryChange { qid, query, kind, baseline, policy } = change;
    json!({ "qid": qid, "query": query, "kind": kind, "baseline": short(*baseline), "policy": short(*policy) })
}

fn analyses(analyses: &Analyses) -> Value {
    json!({
        "importance": analyses.importance_impact.as_ref().map(scatter),
        "quality": analyses.quality_neighbours.as_ref().map(scatter),
        "limited": analyses.limited_sketches.iter().map(limited).collect::<Value>(),
    })
}

pub(super) fn scatter(scatter: &Scatter) -> Value {
    let cell = |&(x, y, pages): &(f64, f64, u32)| json!([short(x), short(y), pages]);
    json!({
        "x": scatter.x,
        "y": scatter.y,
        "pages": scatter.pages,
        "correlation": scatter.correlation,
        "line": scatter.line,
        "cells": scatter.cells.iter().map(cell).collect::<Value>(),
        "width": scatter.cell_width,
    })
}

fn limited(limited: &LimitedSketches) -> Value {
    let point = |point: &crate::results::LimitedPoint| {
        json!([point.fraction, point.sketches, short(point.impact_share), short(point.of_full)])
    };
    json!({
        "policy": limited.policy,
        "fetched": limited.fetched_share,
        "points": limited.points.iter().map(point).collect::<Value>(),
    })
}
