//! Whether counterfactual estimates hold: at one point of a crawl a batch is drawn again and again,
//! from each draw it is estimated what other batches of the same frontier would have earned, and they
//! are fetched, too. On the way there it is seen how well chances to enter a list were foreseen.

use prospect_index::ngram::NgramIndex;
use prospect_index::page::UrlId;

use super::SimulateError;
use super::crawl::{Budget, SimulatedCrawl, Start};
use super::experiment::{Inputs, web};
use super::settings::{SimulationSettings, TrialSettings};
use crate::estimate::url_estimate::UrlEstimate;
use crate::plan::caps::SoFar;
use crate::plan::off_policy::calibration::Calibration;
use crate::plan::off_policy::counterfactual::{
    Counterfactual, Estimated, HALVES, Logged, Outcome, counterfactual, half_of,
};
use crate::plan::off_policy::targets::{ORDERS, Order, best};
use crate::plan::{SelectionSettings, select};
use crate::policy::planned::Planned;
use crate::policy::{PolicyChoice, Quality};
use crate::results::{
    CalibrationFigures, CounterfactualCheck, CounterfactualFigures, CounterfactualTarget,
};

/// Batches that are valued: those of [`ORDERS`], and the one that breadth-first would fetch.
fn target_names() -> impl Iterator<Item = &'static str> {
    ORDERS.iter().map(|(name, _)| *name).chain([OLDEST])
}
const OLDEST: &str = "oldest first";

/// One batch of a target at one state of a crawl.
struct Target {
    batch: Vec<bool>,
    truth: f64,
}

/// What was found of one target.
#[derive(Default)]
struct Tally {
    shared: f64,
    truth: f64,
    expected: Figures,
    inverse_propensity: Figures,
    doubly_robust: Figures,
}

#[derive(Default)]
struct Figures {
    error: f64,
    half_width: f64,
    held: u32,
}

impl Figures {
    fn add(&mut self, found: Estimated, truth: f64) {
        self.error += found.value - truth;
        self.half_width += found.half_width;
        self.held += u32::from(found.holds(truth));
    }

    /// Of so many trials with this sum of truths.
    fn of(&self, trials: f64, truth: f64) -> CounterfactualFigures {
        let share = |sum: f64| if truth > 0.0 { sum / truth } else { 0.0 };
        CounterfactualFigures {
            bias: share(self.error),
            half_width: share(self.half_width),
            held: f64::from(self.held) / trials,
        }
    }
}

impl Tally {
    fn add(&mut self, found: &Counterfactual, truth: f64) {
        self.shared += found.shared as f64 / found.urls.max(1) as f64;
        self.truth += truth;
        self.expected.add(Estimated { value: found.expected, half_width: 0.0 }, truth);
        self.inverse_propensity.add(found.inverse_propensity, truth);
        self.doubly_robust.add(found.doubly_robust, truth);
    }

    /// Over so many trials.
    fn target(&self, batch: &str, trials: f64) -> CounterfactualTarget {
        CounterfactualTarget {
            batch: batch.to_owned(),
            shared: self.shared / trials,
            truth: self.truth / trials,
            expected: self.expected.of(trials, self.truth),
            inverse_propensity: self.inverse_propensity.of(trials, self.truth),
            doubly_robust: self.doubly_robust.of(trials, self.truth),
        }
    }
}

/// Tries the estimates out; trials take turns with the seed sets. None for a policy that does not
/// plan, or explores nothing: without a draw there is nothing to estimate from.
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
) -> Result<Option<CounterfactualCheck>, SimulateError> {
    let plan = choice.settings(settings.plan.clone())?;
    if !choice.kind.is_planned() || plan.selection.explore == 0.0 {
        return Ok(None);
    }
    let strings = NgramIndex::new(inputs.strings.into_iter().collect())?;
    let web = web(inputs, &strings, None, settings)?;
    let crawled = starts.first().map_or(0, |start| start.crawled.len()) as u32;
    let fetchable = inputs.collection.pages - crawled;
    let budget = Budget::until(check.at, settings, choice, fetchable);
    let batch = budget.batch;
    let selection = SelectionSettings { budget: batch, ..plan.selection };
    let mut tallies: Vec<Tally> = target_names().map(|_| Tally::default()).collect();
    let (mut frontier, mut predictions) = (0, Vec::new());
    for (set, start) in starts.iter().enumerate() {
        let mut planned = Planned::new(&web, inputs.quality.map(Quality), plan.clone());
        planned.keep_closed();
        SimulatedCrawl::run(inputs.collection, start, &mut planned, budget)?;
        let ranking = planned.ranking()?;
        frontier += ranking.len();
        let closed = planned.closed().iter().flat_map(|closed| &closed.pairs);
        predictions.extend(closed.map(|pair| (pair.pool, pair.pair.entry_chance, pair.entered)));
        let fetched = planned.fetched_urls();
        let so_far = SoFar { fetched: &fetched, ..SoFar::start(planned.urls()) };
        let targets = targets(&planned, &ranking, so_far, &selection)?;
        for trial in (set..check.trials).step_by(starts.len()) {
            let seed = settings.seed.wrapping_add(1 + trial as u64);
            let drawn = SelectionSettings { seed, ..selection };
            let logged = logged(&planned, &ranking, so_far, &drawn)?;
            for (target, tally) in targets.iter().zip(&mut tallies) {
                tally.add(&counterfactual(&logged, &target.batch), target.truth);
            }
        }
        progress(set + 1);
    }
    let [greedy, explored] = Calibration::greedy_and_explored(&predictions);
    let trials = check.trials as f64;
    let targets = target_names().zip(&tallies).map(|(name, tally)| tally.target(name, trials));
    Ok(Some(CounterfactualCheck {
        policy: choice.label(),
        fetched_share: check.at,
        trials: check.trials as u32,
        batch: batch as u32,
        frontier: (frontier / starts.len().max(1)) as u32,
        explore: selection.explore,
        targets: targets.collect(),
        greedy: figures(&greedy),
        explored: figures(&explored),
    }))
}

fn figures(found: &Calibration) -> CalibrationFigures {
    let Calibration { pairs, error, log_loss, base_log_loss, .. } = *found;
    CalibrationFigures { pairs: pairs as u64, error, log_loss, base_log_loss }
}

/// The batch of every target, and what it earns.
fn targets(
    planned: &Planned<'_>,
    ranking: &[UrlEstimate],
    so_far: SoFar<'_>,
    selection: &SelectionSettings,
) -> Result<Vec<Target>, SimulateError> {
    let of =
        |value: &dyn Fn(&UrlEstimate) -> f64| target(planned, ranking, so_far, selection, value);
    let by_order = |(_, order): &(_, Order)| of(&|url| order(url.parts, url.estimate));
    let oldest = of(&|url| -f64::from(url.url.0));
    ORDERS.iter().map(by_order).chain([oldest]).collect()
}

/// The batch that is best by `value`, and what it earns.
fn target(
    planned: &Planned<'_>,
    ranking: &[UrlEstimate],
    so_far: SoFar<'_>,
    selection: &SelectionSettings,
    value: &dyn Fn(&UrlEstimate) -> f64,
) -> Result<Target, SimulateError> {
    let ranked = ranking.iter().map(|url| (url.url, value(url)));
    let batch = best(ranked, selection, so_far);
    let of_batch = ranking.iter().zip(&batch).filter(|(_, is_in)| **is_in);
    let urls: Vec<UrlId> = of_batch.map(|(url, _)| url.url).collect();
    let truth =
        planned.would_earn(&urls, planned.queries())?.iter().fold(0.0, |sum, own| sum + own);
    Ok(Target { batch, truth })
}

/// A draw with its outcomes, in the order of the ranking.
fn logged(
    planned: &Planned<'_>,
    ranking: &[UrlEstimate],
    so_far: SoFar<'_>,
    selection: &SelectionSettings,
) -> Result<Vec<Logged>, SimulateError> {
    let batch = select(ranking, so_far, selection);
    let urls: Vec<UrlId> = batch.picks.iter().map(|pick| pick.estimate.url).collect();
    let mut outcomes = vec![None; planned.urls().len()];
    for (url, impact) in urls.iter().zip(planned.would_earn(&urls, planned.queries())?) {
        outcomes[url.index()] = Some(Outcome { impact, in_half: 0.0 });
    }
    for half in 0..HALVES {
        let of_half = |url: &UrlId| half_of(planned.urls().url(*url)) == half;
        let urls: Vec<UrlId> = urls.iter().copied().filter(of_half).collect();
        for (url, in_half) in urls.iter().zip(planned.would_earn(&urls, planned.queries())?) {
            if let Some(outcome) = &mut outcomes[url.index()] {
                outcome.in_half = in_half;
            }
        }
    }
    let logged = ranking.iter().zip(&batch.pools).map(|(url, &(_, propensity))| {
        let outcome = outcomes[url.url.index()];
        Logged { estimate: url.estimate, propensity, picked: outcome.is_some(), outcome }
    });
    Ok(logged.collect())
}
