//! How much impact is kept when only the sketches of the neediest queries are (Pandey and Olston,
//! WSDM 2008, sections 6.3 and 6.4).
//!
//! The queries are split in two halves at random. Improvability is trained on the outcomes of one
//! half; of the other, only a fraction of the sketches is kept, the neediest first, and the impact
//! that the crawl collects for that half is read at one point of the crawl.

use prospect_index::ngram::NgramIndex;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::SimulateError;
use super::crawl::{Budget, SimulatedCrawl, Start};
use super::experiment::{Inputs, web};
use super::settings::{SimulationSettings, SketchSettings};
use super::truth;
use crate::planner::settings::PlanSettings;
use crate::policy::PolicyChoice;
use crate::policy::hidden_web::Web;
use crate::policy::planned::Planned;
use crate::results::{LimitedPoint, LimitedSketches};
use crate::sketch::need::Needy;
use crate::workload::Workload;

/// Stream of the seed that halves the queries; seed sets use low ones.
const HALVES_STREAM: u64 = 1 << 34;

/// Runs the experiment for a planned policy from the start of the first seed set.
///
/// # Errors
/// The index cannot be read, or the policy cannot be made.
pub(crate) fn run(
    inputs: &Inputs<'_>,
    settings: &SimulationSettings,
    sketches: &SketchSettings,
    choice: &PolicyChoice,
    start: &Start,
    progress: &dyn Fn(f64),
) -> Result<LimitedSketches, SimulateError> {
    let (trainers, tested) = halves(inputs.planning, settings.seed);
    let inputs = Inputs { planning: &tested, ..*inputs };
    let strings = NgramIndex::new(inputs.strings.into_iter().collect())?;
    let web = web(&inputs, &strings, Some(&trainers), settings)?;
    let plan = choice.settings(settings.plan.clone())?;
    let impact = truth::impact(inputs.collection, &tested, plan.bm25, plan.places())?;
    let fetchable = inputs.collection.pages - start.crawled.len() as u32;
    let budget = Budget::until(sketches.at, settings, choice, fetchable);
    let before: f64 = start.crawled.iter().map(|&page| impact[page as usize]).sum();
    let total = impact.iter().sum::<f64>() - before;
    let trial = Trial { inputs: &inputs, web, plan, start, budget, impact, total };
    let full = trial.impact_share(1.0)?;
    let points = sketches
        .fractions
        .iter()
        .map(|&fraction| {
            progress(fraction);
            let impact_share = if fraction >= 1.0 { full } else { trial.impact_share(fraction)? };
            Ok(LimitedPoint {
                fraction,
                sketches: Needy::Share(fraction).of(tested.queries.len()) as u32,
                impact_share,
                of_full: if full > 0.0 { impact_share / full } else { 0.0 },
            })
        })
        .collect::<Result<_, SimulateError>>()?;
    Ok(LimitedSketches { policy: choice.label(), fetched_share: sketches.at, points })
}

/// What a crawl with some of the sketches needs.
struct Trial<'a> {
    inputs: &'a Inputs<'a>,
    web: Web<'a>,
    plan: PlanSettings,
    start: &'a Start,
    budget: Budget,
    /// True impact by page.
    impact: Vec<f64>,
    /// Impact that is not crawled at the start.
    total: f64,
}

impl Trial<'_> {
    /// The share of the impact that a crawl collects with this fraction of the sketches.
    fn impact_share(&self, fraction: f64) -> Result<f64, SimulateError> {
        let needy = Some(Needy::Share(fraction));
        let plan = PlanSettings { needy, ..self.plan.clone() };
        let mut policy = Planned::new(&self.web, None, plan);
        let crawl =
            SimulatedCrawl::run(self.inputs.collection, self.start, &mut policy, self.budget)?;
        let order = crawl.order;
        let collected: f64 = order.pages.iter().map(|&page| self.impact[page as usize]).sum();
        Ok(if self.total > 0.0 { collected / self.total } else { 0.0 })
    }
}

/// The queries in two halves at random, each by qid.
pub(crate) fn halves(workload: &Workload, seed: u64) -> (Workload, Workload) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(HALVES_STREAM);
    let mut order: Vec<usize> = (0..workload.queries.len()).collect();
    order.shuffle(&mut random);
    let (first, second) = order.split_at(order.len() / 2);
    (part(workload, first), part(workload, second))
}

/// The queries at these places, in the order of the workload.
fn part(workload: &Workload, places: &[usize]) -> Workload {
    let mut places = places.to_vec();
    places.sort_unstable();
    Workload { queries: places.iter().map(|&at| workload.queries[at].clone()).collect() }
}
