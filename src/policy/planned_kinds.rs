//! The policies that the planner itself carries out, as settings of it: `query-driven` and `hybrid`
//! as published (Pandey and Olston, WSDM 2008), and `prospect`, which is `prospect plan`.

use super::options::{OptionError, Options};
use crate::estimate::candidates::ngram::MatchRule;
use crate::estimate::features::group::{FeatureGroups, SEPARATOR};
use crate::estimate::models::pair_model::PairModel;
use crate::estimate::objective::Objective;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::settings::{ImpactReading, Importance};
use crate::plan::caps::Caps;
use crate::planner::settings::PlanSettings;
use crate::sketch::need::Needy;

/// The option that leaves out groups of evidence.
pub(super) const WITHOUT: &str = "without";

/// Options of planned policies; those of `prospect plan` by the same names.
pub(super) const PLANNED_OPTIONS: &[(&str, &str)] = &[
    ("blend", "fitted or fixed: whether weights are fitted on past picks"),
    ("defence", "on or off: whether estimates are guarded against manipulation"),
    ("explore", "share of each batch drawn at random"),
    ("importance", "inlinks or pagerank"),
    ("importance-weight", "weight of the impact expected from importance"),
    ("locality-weight", "weight of the impact on queries whose best pages link to it"),
    ("match", "idf or count"),
    ("needy", "share of the queries to plan for, the neediest first"),
    ("objective", "expected, ranks, served or cautious: what a batch is to bring the most of"),
    ("page-weight", "weight of the impact that the page model expects"),
    ("pair-model", "boosted, linear or forest: how scores of pairs are predicted"),
    ("per-domain", "most pages of a registrable domain in a batch"),
    ("per-host", "most pages of a host in a batch"),
    ("per-site", "most pages of a site in a batch"),
    ("quality-weight", "weight of the impact expected from quality"),
    ("query-weight", "weight of the query-based impact"),
    ("reading", "lasting or sketch"),
    ("rho", "share of a query's n-grams that a URL must hold"),
    (
        "site-share",
        "most of a batch that a site may have, where the frontier has 20 sites; 0 or 1 is no cap",
    ),
    (WITHOUT, "groups of evidence to leave out, with the reading lasting"),
];

/// Weights of the two parts that the source blends.
fn published(query: f64, importance: f64) -> Parts {
    let mut weights = Parts::default();
    (weights[Part::Query], weights[Part::Importance]) = (query, importance);
    weights
}

type Settings = Result<PlanSettings, OptionError>;

/// The settings of `prospect plan`.
pub(super) fn prospect(options: &Options, settings: PlanSettings) -> Settings {
    with(options, settings)
}

/// As published: all n-grams must occur (rho = 1), and T says which sketches a page enters.
pub(super) fn hybrid(options: &Options, mut settings: PlanSettings) -> Settings {
    let max_words = settings.estimate.rule.max_words;
    settings.estimate.rule = MatchRule { rho: 1.0, idf_weighted: false, max_words };
    settings.estimate.reading = ImpactReading::Sketch;
    (settings.estimate.weights, settings.estimate.fitted) = (published(0.9, 0.1), false);
    settings.selection.explore = 0.0;
    settings.selection.caps = Caps::default();
    settings.estimate.defended = false;
    with(options, settings)
}

/// The hybrid without its query-independent part.
pub(super) fn query_driven(options: &Options, settings: PlanSettings) -> Settings {
    let mut settings = hybrid(&Options::default(), settings)?;
    settings.estimate.weights = published(1.0, 0.0);
    with(options, settings)
}

fn with(options: &Options, mut settings: PlanSettings) -> Settings {
    let estimate = &mut settings.estimate;
    let set = |place: &mut f64, value: Option<f64>| *place = value.unwrap_or(*place);
    set(&mut estimate.rule.rho, options.number("rho", 0.0, 1.0)?);
    for part in Part::ALL {
        let weight = options.number(&format!("{}-weight", part.name()), 0.0, 1e9)?;
        set(&mut estimate.weights[part], weight);
    }
    let fitted = options.choice("blend", &[("fitted", true), ("fixed", false)])?;
    estimate.fitted = fitted.unwrap_or(estimate.fitted);
    let defence = options.choice("defence", &[("on", true), ("off", false)])?;
    estimate.defended = defence.unwrap_or(estimate.defended);
    set(&mut settings.selection.explore, options.number("explore", 0.0, 1.0)?);
    let matching = options.choice("match", &[("idf", true), ("count", false)])?;
    estimate.rule.idf_weighted = matching.unwrap_or(estimate.rule.idf_weighted);
    let readings = [("lasting", ImpactReading::Learned), ("sketch", ImpactReading::Sketch)];
    estimate.reading = options.choice("reading", &readings)?.unwrap_or(estimate.reading);
    let models = [
        ("boosted", PairModel::Boosted),
        ("linear", PairModel::Linear),
        ("forest", PairModel::Forest),
    ];
    estimate.pair_model = options.choice("pair-model", &models)?.unwrap_or(estimate.pair_model);
    let objectives = Objective::ALL.map(|objective| (objective.name(), objective));
    estimate.objective = options.choice("objective", &objectives)?.unwrap_or(estimate.objective);
    if let Some(names) = options.names(WITHOUT, SEPARATOR) {
        let groups = FeatureGroups::named(names);
        estimate.without = groups
            .map_err(|unknown| options.wrong(WITHOUT, format!("some of {}", unknown.known)))?;
        if estimate.reading != ImpactReading::Learned {
            return Err(options.wrong(WITHOUT, "the reading lasting".to_owned()));
        }
    }
    if estimate.objective.reads_scores() && estimate.reading != ImpactReading::Learned {
        return Err(
            options.wrong("objective", "expected or cautious, or the reading lasting".to_owned())
        );
    }
    let importance = [("inlinks", Importance::Inlinks), ("pagerank", Importance::PageRank)];
    estimate.importance = options.choice("importance", &importance)?.unwrap_or(estimate.importance);
    let needy = options.number("needy", f64::MIN_POSITIVE, 1.0)?.map(Needy::Share);
    settings.needy = needy.or(settings.needy);
    let caps = &mut settings.selection.caps;
    caps.per_host = options.count("per-host")?.or(caps.per_host);
    caps.per_domain = options.count("per-domain")?.or(caps.per_domain);
    caps.per_site = options.count("per-site")?.or(caps.per_site);
    if let Some(share) = options.number("site-share", 0.0, 1.0)? {
        caps.site_share = Caps::share(share);
    }
    Ok(settings)
}
