//! The policies that the planner itself carries out, as settings of it: `query-driven` and `hybrid`
//! as published (Pandey and Olston, WSDM 2008), and `prospect`, which is `prospect plan`.

use super::options::{Options, PolicyOptionError};
use crate::estimate::features::match_rule::MatchRule;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::settings::ImpactReading;
use crate::plan::caps::Caps;
use crate::planner::options::{GivenOptions, PlannerOption};
use crate::planner::settings::{Demand, PlanSettings};

/// The option that leaves out groups of evidence.
pub(super) const WITHOUT: &str = "without";

/// Options of planned policies: those of the planner that a simulation does not set for all policies.
pub(super) fn options() -> impl Iterator<Item = &'static PlannerOption> {
    PlannerOption::all().iter().filter(|option| !option.is_of_the_crawl)
}

/// Weights of the two parts that the source blends.
fn published(query: f64, importance: f64) -> Parts {
    let mut weights = Parts::default();
    (weights[Part::Query], weights[Part::Importance]) = (query, importance);
    weights
}

type Settings = Result<PlanSettings, PolicyOptionError>;

/// The settings of `prospect plan`.
pub(super) fn prospect(options: &Options, settings: PlanSettings) -> Settings {
    with(options, settings)
}

/// As published: all n-grams must occur (rho = 1), and T says which sketches a page enters.
pub(super) fn hybrid(options: &Options, mut settings: PlanSettings) -> Settings {
    let max_words = settings.estimate.rule.max_words;
    settings.estimate.rule = MatchRule { rho: 1.0, idf_weighted: false, max_words };
    settings.estimate.reading = ImpactReading::Sketch;
    settings.estimate.weights = published(0.9, 0.1);
    settings.selection.explore = 0.0;
    // The time of a polite crawler is the crawl's, and no matter of the policy.
    settings.selection.caps = Caps { time: settings.selection.caps.time, ..Caps::default() };
    settings.estimate.defended = false;
    with(options, settings)
}

/// The hybrid without its query-independent part.
pub(super) fn query_driven(options: &Options, settings: PlanSettings) -> Settings {
    let mut settings = hybrid(&Options::default(), settings)?;
    settings.estimate.weights = published(1.0, 0.0);
    with(options, settings)
}

/// Progressive crawling (crawl4ai) for a workload: relevance, novelty and authority of links, for what queries lack.
pub(super) fn sufficiency(options: &Options, settings: PlanSettings) -> Settings {
    let mut settings = query_driven(&Options::default(), settings)?;
    settings.estimate.rule = MatchRule { rho: 0.0, ..MatchRule::default() };
    settings.estimate.reading = ImpactReading::LinkGain;
    settings.demand = Demand::Lack;
    with(options, settings)
}

fn with(options: &Options, mut settings: PlanSettings) -> Settings {
    let mut given = GivenOptions::default();
    for (name, value) in options.iter() {
        given = given.with(name, value)?;
    }
    given.apply(&mut settings)?;
    Ok(settings)
}
