//! Summaries of experiments that were never run: the shape of real ones, every analysis among
//! them, and names that are nobody's.

#![allow(dead_code, reason = "each test binary uses a part")]

use crate::results::ablation::{AblatedGroup, AblatedPolicy, Ablation, AblationFigures};
use crate::results::manipulation::{AttackPoint, AttackSummary, AttackedPolicy, Manipulation};
use crate::results::whatif::{WhatIfCheck, WhatIfTrial};
use crate::results::{
    Analyses, AreaTest, CalibrationFigures, CollectionFigures, Comparison, CounterfactualCheck,
    CounterfactualFigures, CounterfactualTarget, Curve, HostShares, InputFile, Interval,
    KindSummary, LimitedPoint, LimitedSketches, Point, PolicySummary, Provenance, QueryChange,
    SCHEMA, Scatter, Summary,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Pages of the collection.
pub const PAGES: u32 = 12_000;
const SETS: usize = 5;
const KINDS: &[(&str, u32)] = &[("all", 160), ("keyword", 90), ("question", 70)];
const METRICS: &[(&str, f64)] = &[
    ("HR", 0.16),
    ("maxNDCG", 3.4),
    ("maxNDCG share", 1.0),
    ("nDCG@10", 0.62),
    ("R@100", 0.88),
    ("impact", 1.0),
];
/// Name, whether it is an oracle, how fast it is.
const POLICIES: &[(&str, bool, f64)] = &[
    ("bfs", false, 1.0),
    ("dfs", false, 0.82),
    ("random", false, 0.97),
    ("qfirst", false, 1.35),
    ("qmin", false, 1.5),
    ("qoracle", true, 1.9),
    ("prospect", false, 2.3),
    ("impact-oracle", true, 3.4),
];

/// An experiment with eight policies, five seed sets, 21 checkpoints and three query kinds.
pub fn experiment() -> Summary {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let shares = [1, 2].into_iter().chain((1..20).map(|at| at * 5));
    let checkpoints: Vec<u32> = shares.map(|share| share * PAGES / 100).collect();
    let policies = POLICIES.iter().map(|policy| one(*policy, &checkpoints, &mut random)).collect();
    Summary {
        schema: SCHEMA.to_owned(),
        title: "A web that never was".to_owned(),
        provenance: provenance(),
        experiment: String::new(),
        commit: None,
        collection: CollectionFigures {
            pages: PAGES,
            links: 148_211,
            hosts: 341,
            crawled_before: 0,
            planning_queries: 151,
            evaluation_queries: 160,
            relevant_pages: 1_904,
            total_impact: 5_120.5,
        },
        baseline: Some("bfs".to_owned()),
        significance: 0.01,
        checkpoints,
        kinds: KINDS.iter().map(|(kind, _)| (*kind).to_owned()).collect(),
        metrics: METRICS.iter().map(|(metric, _)| (*metric).to_owned()).collect(),
        policies,
        analyses: analyses(&mut random),
        ablation: Some(ablation()),
        stopping: None,
        single_query: None,
        sufficiency: None,
        time: None,
        manipulation: Some(manipulation(&[360, 3600])),
    }
}

fn provenance() -> Provenance {
    let input = |role: &str, name: &str, bytes| InputFile {
        role: role.to_owned(),
        name: name.to_owned(),
        bytes,
        xxh3: format!("{:016x}", u64::wrapping_mul(bytes, 0x9e37_79b9_7f4a)),
    };
    Provenance {
        version: "0.1.0".to_owned(),
        config: serde_json::json!({
            "batch": "1%", "bm25": { "b": 0.75, "k1": 1.2 }, "max_pages": PAGES,
            "policies": POLICIES.iter().map(|(name, ..)| name).collect::<Vec<_>>(),
            "seed": 1, "seed_sets": SETS, "seeds": "random:50",
        }),
        config_hash: "5f0c9d3ab1e2c477".to_owned(),
        inputs: vec![
            input("corpus", "web.jsonl.zst", 48_123_456),
            input("workload", "queries.tsv", 9_120),
            input("qrels", "judgements.qrels", 120_331),
        ],
        seed: 1,
        k1: 1.2,
        b: 0.75,
        k: 100,
        visibility: None,
        reranker: None,
        embedding: None,
    }
}

fn one(
    (name, oracle, speed): (&str, bool, f64),
    checkpoints: &[u32],
    random: &mut ChaCha8Rng,
) -> PolicySummary {
    let first = name == POLICIES[0].0;
    let kinds = KINDS.iter().enumerate().map(|(at, (kind, queries))| {
        let speed = speed * (1.0 + (at as f64 - 1.0) * 0.06);
        let curves = METRICS.iter().map(|metric| curve(*metric, speed, first, checkpoints, random));
        KindSummary {
            kind: (*kind).to_owned(),
            queries: *queries,
            curves: curves.collect(),
            speedup_relevant: (!first).then(|| interval(speed, 0.09, random)),
            speedup_impact: (!first && name != "random")
                .then(|| interval(speed.powf(1.2), 0.14, random)),
        }
    });
    let kinds = kinds.collect();
    PolicySummary {
        name: name.to_owned(),
        oracle,
        fetched: (0..SETS as u32).map(|set| PAGES - 40 * set).collect(),
        kinds,
        hosts: checkpoints.iter().map(|&pages| hosts(pages, speed)).collect(),
        gained: if first { Vec::new() } else { changes(random, 1.0) },
        lost: if first { Vec::new() } else { changes(random, -1.0) },
    }
}

fn curve(
    (metric, top): (&str, f64),
    speed: f64,
    first: bool,
    checkpoints: &[u32],
    random: &mut ChaCha8Rng,
) -> Curve {
    let tested = !first && !metric.contains("impact") && !metric.contains("share");
    let shape = |share: f64, speed: f64| 1.0 - (1.0 - share).powf(speed);
    let points: Vec<Point> = checkpoints
        .iter()
        .map(|&pages| {
            let share = f64::from(pages) / f64::from(PAGES);
            let collected = |speed| match metric {
                "HR" => top * shape(share, speed) / share,
                _ => top * shape(share, speed),
            };
            let mean = collected(speed) * (1.0 + random.random_range(-0.01..0.01));
            let sd = mean * 0.06 * (1.2 - share);
            let difference = mean - collected(1.0);
            let p = (-(difference / (0.03 * top)).powi(2)).exp().clamp(1e-12, 1.0);
            let p_holm = (p * 40.0).min(1.0);
            Point {
                pages,
                seconds: None,
                mean,
                sd,
                min: mean - 1.4 * sd,
                max: mean + 1.5 * sd,
                versus_baseline: tested.then_some(Comparison {
                    difference,
                    p,
                    p_bonferroni: (p * 147.0).min(1.0),
                    p_holm,
                    significant: p_holm < 0.01,
                }),
            }
        })
        .collect();
    let mean = points.iter().map(|point| point.mean).sum::<f64>() / points.len() as f64;
    let gain = (speed - 1.0) * 0.1 * top;
    Curve {
        metric: metric.to_owned(),
        points,
        area: interval(mean, 0.03 * mean, random),
        area_gain: tested.then(|| Interval {
            mean: gain,
            low: Some(gain - 0.02 * top),
            high: Some(gain + 0.021 * top),
            values: Vec::new(),
        }),
        area_test: tested.then(|| {
            let p = if gain.abs() > 0.02 * top { 0.0005 } else { 0.4 };
            AreaTest { p, p_holm: p, significant: p < 0.01 }
        }),
    }
}

fn interval(mean: f64, half: f64, random: &mut ChaCha8Rng) -> Interval {
    let values = (0..SETS).map(|_| mean + random.random_range(-half..half)).collect();
    Interval { mean, low: Some(mean - half), high: Some(mean + half), values }
}

fn hosts(pages: u32, speed: f64) -> HostShares {
    let share = f64::from(pages) / f64::from(PAGES);
    let mut weights: Vec<(String, f64)> = (0..10)
        .map(|host| {
            let tilt = 1.0 + (1.0 - share) * speed * (f64::from(host) * 1.7).sin() * 0.4;
            (format!("host{host}.example"), tilt.max(0.05) / f64::from(host + 2))
        })
        .collect();
    weights.push(("(other)".to_owned(), 0.7));
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    HostShares {
        pages,
        shares: weights.into_iter().map(|(host, weight)| (host, weight / total)).collect(),
    }
}

fn changes(random: &mut ChaCha8Rng, sign: f64) -> Vec<QueryChange> {
    let change = |at: usize| {
        let baseline = if sign > 0.0 { 0.2 } else { 0.75 } + random.random_range(-0.1..0.1);
        let step = sign * (0.45 - 0.03 * at as f64);
        let (kind, query) = if at.is_multiple_of(2) {
            ("keyword", format!("word{at} word{}", at * 3))
        } else {
            ("question", format!("what does word{at} have to do with word{}", at + 40))
        };
        QueryChange {
            qid: format!("q{}", at * 7 + usize::from(sign > 0.0)),
            query,
            kind: kind.to_owned(),
            baseline,
            policy: baseline + step,
        }
    };
    (0..10).map(change).collect()
}

fn analyses(random: &mut ChaCha8Rng) -> Analyses {
    let points = (0..700).map(|_| {
        let inlinks = (random.random_range(0.0_f64..1.0).powi(4) * 600.0).floor();
        let impact = random.random_range(0.0_f64..1.0).powi(6) * 60.0 + inlinks * 0.01;
        (inlinks, (impact * 4.0).round() / 4.0, random.random_range(1..40))
    });
    let importance = Scatter {
        x: "in-links".to_owned(),
        y: "true impact".to_owned(),
        pages: PAGES,
        correlation: Some(0.113),
        line: Some((7.9, 0.0119)),
        cells: points.collect(),
        cell_width: 1.0,
    };
    let width = 0.25;
    let cells = (0..18).flat_map(|row| (0..16).map(move |column| (row, column)));
    let cells = cells.filter_map(|(row, column)| {
        let x = -4.0 + width * (f64::from(column) + if row % 2 == 1 { 0.5 } else { 0.0 });
        let y = -4.0 + width * 0.866 * f64::from(row);
        let off = (y - (-1.6 + 0.3 * (x + 1.5))) / 0.8;
        let pages = 900.0 * (-off * off - ((x + 1.5) / 1.0).powi(2)).exp();
        (pages >= 1.0).then_some((x, y, pages as u32))
    });
    let quality = Scatter {
        x: "quality of the page".to_owned(),
        y: "mean quality of the pages it links to".to_owned(),
        pages: 9_204,
        correlation: Some(0.301),
        line: Some((-1.15, 0.3)),
        cells: cells.collect(),
        cell_width: width,
    };
    Analyses {
        importance_impact: Some(importance),
        quality_neighbours: Some(quality),
        limited_sketches: vec![limited("prospect", 0.62), limited("impact-oracle", 0.88)],
        whatif: vec![whatif()],
        counterfactual: vec![counterfactual()],
    }
}

fn calibration(pairs: u64) -> CalibrationFigures {
    CalibrationFigures { pairs, error: 0.0123, log_loss: 0.234, base_log_loss: 0.345 }
}

fn counterfactual() -> CounterfactualCheck {
    let figures = |bias, half_width| CounterfactualFigures { bias, half_width, held: 0.97 };
    let target = |(batch, shared): (&str, f64)| CounterfactualTarget {
        batch: batch.to_owned(),
        shared,
        truth: 123.4,
        expected: figures(-0.1, 0.0),
        inverse_propensity: figures(0.023, 0.64),
        doubly_robust: figures(0.012, 0.061),
    };
    CounterfactualCheck {
        policy: "prospect".to_owned(),
        fetched_share: 0.1,
        trials: 100,
        batch: 459,
        frontier: 20_123,
        explore: 0.2,
        targets: [("greedy", 0.83), ("page part <b>", 0.4)].map(target).into(),
        greedy: calibration(345_678),
        explored: calibration(4_321),
    }
}

/// With ends a tenth of the mean away.
fn near(mean: f64) -> Interval {
    let half = mean.abs() * 0.1;
    Interval { mean, low: Some(mean - half), high: Some(mean + half), values: vec![mean; SETS] }
}

fn ablation() -> Ablation {
    let figures = |speedup: f64, impact| AblationFigures {
        speedup_relevant: Some(near(speedup)),
        speedup_impact: None,
        impact: Some(near(impact)),
    };
    let group = |(name, loss): (&str, f64)| AblatedGroup {
        group: name.to_owned(),
        meaning: format!("what {name} says"),
        policy: format!("prospect+without={name}"),
        change: figures(loss, loss / 10.0),
    };
    let groups = [("url", -0.3), ("anchors", 0.02)].map(group).into();
    let whole = figures(2.4, 0.31);
    let policies = vec![AblatedPolicy { policy: "prospect".to_owned(), whole, groups }];
    Ablation { read_at: Some(3600), policies }
}

fn manipulation(checkpoints: &[u32]) -> Manipulation {
    let attack = |attack: &str, strength: f64| {
        let policy = |(policy, _, speed): &(&str, bool, f64)| AttackedPolicy {
            policy: (*policy).to_owned(),
            points: checkpoints
                .iter()
                .map(|&pages| AttackPoint {
                    pages,
                    picks: near(0.01 * strength * speed),
                    lift: Some(near(strength * speed)),
                    frontier: near(0.01),
                    waiting: near(0.008),
                    // One policy never met the attacker.
                    ratio: (*policy != "dfs").then(|| near(strength * speed)),
                    owned: near(0.2 * speed),
                    impact_lost: near(0.02 * strength),
                })
                .collect(),
        };
        let policies = POLICIES.iter().map(policy).collect();
        let (pages, attack) = (121, attack.to_owned());
        AttackSummary { attack, pages, hosts: 1, share_of_log: 0.0, linked_from: 121, policies }
    };
    let attacks = vec![attack("anchor-stuffing", 1.5), attack("link-farm:10", 2.0)];
    let read_early = (checkpoints.len() > 1).then(|| checkpoints[0]);
    Manipulation { share: 0.01, read_at: checkpoints.last().copied(), read_early, attacks }
}

fn limited(policy: &str, full: f64) -> LimitedSketches {
    let point = |fraction: f64| {
        let of_full = (1.0 + fraction.log10() * 0.13).min(1.0);
        LimitedPoint {
            fraction,
            sketches: (fraction * 151.0).ceil() as u32,
            impact_share: full * of_full,
            of_full,
        }
    };
    LimitedSketches {
        policy: policy.to_owned(),
        fetched_share: 0.2,
        points: [0.01, 0.03, 0.1, 0.3, 1.0].into_iter().map(point).collect(),
    }
}

fn whatif() -> WhatIfCheck {
    let trial = |scenario: serde_json::Value, predicted, realised| WhatIfTrial {
        set: 1,
        scenario,
        predicted,
        interval: Some((0.0, 400.0)),
        realised,
    };
    let interval = |mean: f64, half: f64| Interval {
        mean,
        low: Some(mean - half),
        high: Some(mean + half),
        values: Vec::new(),
    };
    WhatIfCheck {
        policy: "prospect".to_owned(),
        fetched_share: 0.1,
        batch: 459,
        base_predicted: 527.5,
        base_realised: 613.0,
        correlation: Some(interval(0.9, 0.05)),
        error: Some(interval(0.12, 0.03)),
        covered: Some(1.0),
        size: 0.314,
        trials: vec![
            trial(serde_json::json!({ "budget": 50 }), 363.3, 300.0),
            trial(serde_json::json!({ "scale": [{ "by": 2, "pattern": "<b>hot" }] }), 14.8, 9.1),
        ],
    }
}
