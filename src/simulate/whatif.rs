//! Whether what-if answers hold: in the middle of a crawl random scenarios are asked about and carried
//! out, and the change of impact that was predicted is compared with the one that came.

use std::sync::Arc;

use prospect_index::ngram::NgramIndex;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::SimulateError;
use super::crawl::{Budget, SimulatedCrawl, Start};
use super::experiment::{Inputs, web};
use super::settings::{SimulationSettings, TrialSettings};
use crate::evaluate::statistics::{mean_interval, pearson_interval};
use crate::planner::options::GivenOptions;
use crate::policy::planned::Planned;
use crate::policy::{PolicyChoice, Quality};
use crate::results::whatif::{WhatIfCheck, WhatIfTrial};
use crate::sketch::need::Improvability;
use crate::whatif::answer::{Answer, Base};
use crate::whatif::difference::difference;
use crate::whatif::hosts::Hosts;
use crate::whatif::scenario::{Scaling, Scenario, ScenarioError, Which};
use crate::whatif::workload::asked;
use crate::workload::Query;

/// Changes of impact that are none.
const SAME: f64 = 1e-9;
/// Kinds of scenarios, which take turns.
const KINDS: usize = 5;

/// Asks and carries out; scenarios take turns with the seed sets. None for a policy that does not plan.
///
/// # Errors
/// The index cannot be read, or the policy cannot be made.
pub(crate) fn run(
    inputs: &Inputs<'_>,
    settings: &SimulationSettings,
    check: &TrialSettings,
    choice: &PolicyChoice,
    starts: &[Start],
    progress: &dyn Fn(usize),
) -> Result<Option<WhatIfCheck>, SimulateError> {
    if !choice.kind.is_planned() {
        return Ok(None);
    }
    let plan = choice.settings(settings.plan.clone())?;
    let strings = NgramIndex::new(inputs.strings.into_iter().collect())?;
    let web = web(inputs, &strings, None, settings)?;
    let crawled = starts.first().map_or(0, |start| start.crawled.len()) as u32;
    let fetchable = inputs.collection.pages - crawled;
    let budget = Budget::until(check.at, settings, choice, fetchable);
    let batch = budget.batch;
    let (mut trials, mut base_predicted, mut base_realised) = (Vec::new(), 0.0, 0.0);
    for (set, start) in starts.iter().enumerate() {
        let mut planned = Planned::new(&web, inputs.quality.map(Quality), plan.clone());
        SimulatedCrawl::run(inputs.collection, start, &mut planned, budget)?;
        let base = base(&mut planned, batch)?;
        let questions = Asking { hosts: Hosts::new(planned.urls()), planned: &planned, base };
        let today = questions.carry_out(&Scenario::default())?;
        base_predicted += today.answer.expected.impact.enters.impact;
        base_realised += today.realised;
        for at in (set..check.trials).step_by(starts.len()) {
            let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
            random.set_stream(at as u64 + 1);
            let scenario = random_scenario(at, &questions.base, &mut random)?;
            let found = questions.carry_out(&scenario)?;
            let (urls, hosts) = (planned.urls(), &questions.hosts);
            let change = difference(&today.answer, &found.answer, urls, hosts);
            trials.push(WhatIfTrial {
                set: set as u32 + 1,
                scenario: serde_json::to_value(&scenario).unwrap_or_else(|_| json!({})),
                predicted: change.impact,
                interval: Some((change.low, change.high)),
                realised: found.realised - today.realised,
            });
        }
        progress(set + 1);
    }
    let sets = starts.len().max(1) as f64;
    let (base_predicted, base_realised) = (base_predicted / sets, base_realised / sets);
    let predicted: Vec<f64> = trials.iter().map(|trial| trial.predicted).collect();
    let realised: Vec<f64> = trials.iter().map(|trial| trial.realised).collect();
    let unit = base_realised.max(f64::MIN_POSITIVE);
    let errors: Vec<f64> =
        predicted.iter().zip(&realised).map(|(p, r)| (p - r).abs() / unit).collect();
    let size = realised.iter().map(|change| change.abs()).sum::<f64>();
    Ok(Some(WhatIfCheck {
        policy: choice.label(),
        fetched_share: check.at,
        batch: batch as u32,
        base_predicted,
        base_realised,
        correlation: pearson_interval(&predicted, &realised),
        error: mean_interval(&errors),
        covered: covered(&trials),
        size: size / trials.len().max(1) as f64 / unit,
        trials,
    }))
}

/// Share of the realised changes that lie in their intervals.
fn covered(trials: &[WhatIfTrial]) -> Option<f64> {
    let intervals = trials.iter().filter_map(|trial| Some((trial.interval?, trial.realised)));
    let is_within =
        |((low, high), realised): ((f64, f64), f64)| (low - SAME..=high + SAME).contains(&realised);
    let found: Vec<bool> = intervals.map(is_within).collect();
    let within = found.iter().filter(|is_within| **is_within).count();
    (!found.is_empty()).then(|| within as f64 / found.len() as f64)
}

/// What questions about the next batch start from: pairs of all queries, scored now.
fn base(planned: &mut Planned<'_>, budget: usize) -> Result<Base, SimulateError> {
    let scored = planned.all_pairs()?;
    let mut settings = planned.settings().clone();
    settings.selection.budget = budget;
    Ok(Base {
        shares: planned.shares(),
        pages: planned.pages(),
        queries: Arc::new(planned.queries().to_vec()),
        served: Arc::new(planned.served().cloned().unwrap_or_default()),
        scored: Arc::new(scored),
        improvability: Improvability::fit(&planned.past().queries, settings.places().k),
        settings,
        next_seq: planned.next_seq(),
        lack: Arc::new(planned.lack().to_vec()),
        in_flight: Arc::default(),
        changes: Arc::default(),
    })
}

struct Asking<'a, 'b> {
    planned: &'a Planned<'b>,
    hosts: Hosts,
    base: Base,
}

impl Asking<'_, '_> {
    /// The plan under a scenario, and the impact that its batch has.
    fn carry_out(&self, scenario: &Scenario) -> Result<CarriedOut, SimulateError> {
        let asked = asked(&self.base.queries, scenario, self.planned.analyzer())?;
        let urls = self.planned.urls();
        let answer = self.base.answer(scenario, &asked, urls, &self.hosts);
        let answer = answer?;
        let realised = self.planned.would_earn(&answer.urls(), &answer.queries)?;
        Ok(CarriedOut { answer, realised: realised.iter().sum() })
    }
}

struct CarriedOut {
    answer: Answer,
    realised: f64,
}

/// One scenario of each kind in turn: another budget, other weights, a topic that becomes hot, queries
/// that nobody asks any more, and a cap.
fn random_scenario(
    at: usize,
    base: &Base,
    random: &mut ChaCha8Rng,
) -> Result<Scenario, ScenarioError> {
    let budget = base.settings.selection.budget as f64;
    let mut factor = |reach: f64| random.random_range(-reach..reach).exp2();
    Ok(match at % KINDS {
        0 => {
            let budget = (budget * factor(2.0)).round().max(1.0) as usize;
            let options = GivenOptions::default().with("budget", budget)?;
            Scenario { options, ..Scenario::default() }
        }
        1 => {
            let today = base.settings.estimate.weights;
            let weights = today.iter().map(|(part, weight)| (part, weight * factor(2.0)));
            let options = GivenOptions::default().with_weights(weights);
            Scenario { options, ..Scenario::default() }
        }
        2 => {
            let by = factor(2.0) * 10.0;
            Scenario {
                scale: vec![Scaling {
                    by,
                    list: topic(&base.queries, random),
                    ..Scaling::default()
                }],
                ..Scenario::default()
            }
        }
        3 => {
            let mut ids: Vec<String> = base.queries.iter().map(|query| query.qid.clone()).collect();
            ids.shuffle(random);
            ids.truncate((ids.len() / 2).max(1));
            let drop = vec![Which { list: ids, ..Which::default() }];
            Scenario { drop, ..Scenario::default() }
        }
        _ => {
            let most = (budget * factor(2.0) / 10.0).round().max(1.0) as usize;
            let options = GivenOptions::default().with("per-host", most)?;
            Scenario { options, ..Scenario::default() }
        }
    })
}

/// Ids of the queries that share a word.
fn topic(queries: &[Query], random: &mut ChaCha8Rng) -> Vec<String> {
    let said: Vec<&String> = queries.iter().flat_map(|query| &query.words).collect();
    let Some(&word) = said.choose(random) else { return Vec::new() };
    let about = queries.iter().filter(|query| query.words.contains(word));
    about.map(|query| query.qid.clone()).collect()
}
