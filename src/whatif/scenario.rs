//! Scenarios: what is different, as a TOML file, a JSON object or flags say it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::estimate::objective::Objective;
use crate::estimate::parts::{Part, Parts};
use crate::estimate::settings::ImpactReading;
use crate::plan::caps::Caps;
use crate::planner::settings::PlanSettings;
use crate::sketch::visibility::Visibility;

/// A scenario that cannot be carried out.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{key}: {what}")]
pub struct ScenarioError {
    /// The key that is wrong.
    pub key: String,
    /// What is wrong with it.
    pub what: String,
}

impl ScenarioError {
    /// What is wrong with a key.
    pub fn new(key: &str, what: impl Into<String>) -> Self {
        Self { key: key.to_owned(), what: what.into() }
    }
}

/// What is different. Whatever is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Scenario {
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// These queries instead of the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<Vec<AskedQuery>>,
    /// A file of queries instead of the workload; read into `queries` by who may read files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Queries whose frequencies are multiplied, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scale: Vec<Scaling>,
    /// Queries that nobody asks any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<Which>,
    /// Queries that are asked as well. Added to the frequency of a query with the same words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<AskedQuery>,
    /// Length of result lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How likely a rank is seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    /// What a batch is to bring the most of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Share of a query's n-grams that a URL must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<f64>,
    /// Weights of the parts of estimates. Those that are not given keep their value.
    #[serde(skip_serializing_if = "Weights::is_empty")]
    pub weights: Weights,
    /// URLs to pick at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<usize>,
    /// URLs of one host at most; 0 for no cap. So the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_host: Option<usize>,
    /// URLs of one registrable domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_domain: Option<usize>,
    /// URLs of one site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_site: Option<usize>,
    /// URLs of one site, as a share of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site_share: Option<f64>,
    /// Share of the budget that is drawn at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explore: Option<f64>,
    /// Hosts of which nothing is planned; `*.example.org` stands for a domain and all below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_hosts: Vec<String>,
    /// Hosts whose estimates are multiplied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boost_hosts: Vec<Boost>,
    /// URLs that count as fetched already: they compete for places and are not planned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fetched: Vec<String>,
    /// A file of such URLs, one a line; read into `fetched` by who may read files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_file: Option<String>,
}

/// A query of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AskedQuery {
    /// As typed.
    pub query: String,
    /// How often it is asked.
    #[serde(default = "once")]
    pub frequency: f64,
    /// Its id; made up where it is missing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub qid: String,
    /// Its kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

fn once() -> f64 {
    1.0
}

/// Queries that are meant: those that all of what is given holds for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Which {
    /// A regular expression that is found in the query, letter case aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// A kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Ids, or whole queries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    /// A file of them, one a line; read into `list` by who may read files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A factor for frequencies of the queries that all of what is given holds for; of all queries if
/// nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scaling {
    /// The factor.
    pub by: f64,
    /// See [`Which::pattern`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// See [`Which::kind`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// See [`Which::list`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
    /// See [`Which::file`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Scaling {
    /// The queries that are meant.
    pub fn which(&self) -> Which {
        let Self { pattern, kind, list, file, .. } = self.clone();
        Which { pattern, kind, list, file }
    }
}

/// A factor for the estimates of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Boost {
    /// The host; `*.example.org` stands for a domain and all below it.
    pub host: String,
    /// The factor.
    pub by: f64,
}

/// Weights of the parts of estimates, those that are given: a map from names of parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>", into = "BTreeMap<String, f64>")]
pub struct Weights([Option<f64>; Part::COUNT]);

impl Weights {
    /// A weight for each part.
    pub fn of(weight: impl FnMut(Part) -> f64) -> Self {
        Self(Part::ALL.map(weight).map(Some))
    }

    /// Gives a part this weight.
    pub fn set(&mut self, part: Part, weight: f64) {
        self.0[part as usize] = Some(weight);
    }

    /// These weights, but those of `over` where it gives any.
    fn with(&self, over: &Self) -> Self {
        let mut weights = *self;
        over.given().for_each(|(part, weight)| weights.set(part, weight));
        weights
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The weights that are given.
    pub fn given(&self) -> impl Iterator<Item = (Part, f64)> + use<> {
        let weights = Part::ALL.into_iter().zip(self.0);
        weights.filter_map(|(part, weight)| Some((part, weight?)))
    }
}

impl TryFrom<BTreeMap<String, f64>> for Weights {
    type Error = String;

    fn try_from(given: BTreeMap<String, f64>) -> Result<Self, String> {
        let mut weights = Self::default();
        for (name, weight) in given {
            let part = Part::named(&name).ok_or_else(|| {
                format!(
                    "there is no part `{name}`: they are {}",
                    Part::ALL.map(Part::name).join(", ")
                )
            })?;
            weights.set(part, weight);
        }
        Ok(weights)
    }
}

impl From<Weights> for BTreeMap<String, f64> {
    fn from(weights: Weights) -> Self {
        weights.given().map(|(part, weight)| (part.name().to_owned(), weight)).collect()
    }
}

/// Scenarios on top of a common base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenarios {
    /// What they share.
    pub base: Scenario,
    /// The scenarios.
    pub scenario: Vec<Scenario>,
}

impl Scenario {
    /// This scenario on top of another: what it says wins, what it lists comes after.
    #[must_use]
    pub fn on(&self, base: &Self) -> Self {
        let joined = |a: &[String], b: &[String]| [a, b].concat();
        let over = &self.weights;
        Self {
            name: self.name.clone(),
            queries: self.queries.clone().or_else(|| base.queries.clone()),
            workload: self.workload.clone().or_else(|| base.workload.clone()),
            scale: [base.scale.as_slice(), &self.scale].concat(),
            drop: [base.drop.as_slice(), &self.drop].concat(),
            add: [base.add.as_slice(), &self.add].concat(),
            k: self.k.or(base.k),
            visibility: self.visibility.or(base.visibility),
            objective: self.objective.or(base.objective),
            rho: self.rho.or(base.rho),
            weights: base.weights.with(over),
            budget: self.budget.or(base.budget),
            per_host: self.per_host.or(base.per_host),
            per_domain: self.per_domain.or(base.per_domain),
            per_site: self.per_site.or(base.per_site),
            site_share: self.site_share.or(base.site_share),
            explore: self.explore.or(base.explore),
            exclude_hosts: joined(&base.exclude_hosts, &self.exclude_hosts),
            boost_hosts: [base.boost_hosts.as_slice(), &self.boost_hosts].concat(),
            fetched: joined(&base.fetched, &self.fetched),
            fetched_file: self.fetched_file.clone().or_else(|| base.fetched_file.clone()),
        }
    }

    /// Whether all pairs have to be estimated again: because lists, matching or an objective that reads
    /// distributions are others, or because there may be new queries and pairs depend on those at hand.
    pub fn is_slow(&self, settings: &PlanSettings) -> bool {
        let may_ask_more = self.queries.is_some() || !self.add.is_empty();
        let today = settings.estimate.objective;
        let objective = self.objective.unwrap_or(today);
        self.k.is_some_and(|k| k != settings.k)
            || self.visibility.is_some_and(|visibility| visibility != settings.visibility)
            || self.rho.is_some_and(|rho| rho != settings.estimate.rule.rho)
            || objective != today && (objective.reads_scores() || today == Objective::Ranks)
            || may_ask_more && settings.estimate.is_fitted_to_queries()
    }

    /// Settings with the lists, the objective and the rule of matching of this scenario, and nothing
    /// else of it.
    ///
    /// # Errors
    /// A value is out of its range.
    pub fn with_lists(&self, base: &PlanSettings) -> Result<PlanSettings, ScenarioError> {
        let mut settings = base.clone();
        if let Some(k) = self.k {
            settings.k = whole("k", k, 1, MOST_RESULTS)?;
        }
        settings.visibility = self.visibility.unwrap_or(settings.visibility);
        let estimate = &mut settings.estimate;
        if let Some(objective) = self.objective {
            if objective.reads_scores() && estimate.reading == ImpactReading::Sketch {
                let what = "it reads how scores are distributed, which the sketch reading of \
                            the plan does not learn";
                return Err(ScenarioError::new("objective", what));
            }
            estimate.objective = objective;
        }
        if let Some(rho) = self.rho {
            settings.estimate.rule.rho = number("rho", rho, 1.0)?;
        }
        Ok(settings)
    }

    /// The settings of a plan under this scenario. Weights that are given are fixed, with those of
    /// `blend` beside them.
    ///
    /// # Errors
    /// A value is out of its range.
    pub fn settings(
        &self,
        base: &PlanSettings,
        blend: Parts,
    ) -> Result<PlanSettings, ScenarioError> {
        let mut settings = self.with_lists(base)?;
        if !self.weights.is_empty() {
            let estimate = &mut settings.estimate;
            (estimate.weights, estimate.fitted) = (blend, false);
            for (part, weight) in self.weights.given() {
                estimate.weights[part] = number(&format!("weights.{}", part.name()), weight, MOST)?;
            }
        }
        let selection = &mut settings.selection;
        if let Some(budget) = self.budget {
            selection.budget = whole("budget", budget, 1, MOST_URLS)?;
        }
        let cap = |given: Option<usize>, old| match given {
            None => old,
            Some(0) => None,
            Some(most) => Some(most),
        };
        let site_share = match self.site_share {
            None => selection.caps.site_share,
            Some(share) => Caps::share(number("site-share", share, 1.0)?),
        };
        selection.caps = Caps {
            per_host: cap(self.per_host, selection.caps.per_host),
            per_domain: cap(self.per_domain, selection.caps.per_domain),
            per_site: cap(self.per_site, selection.caps.per_site),
            site_share,
        };
        if let Some(explore) = self.explore {
            selection.explore = number("explore", explore, 1.0)?;
        }
        Ok(settings)
    }
}

/// Largest budget: as many URLs as there are ids.
const MOST_URLS: usize = u32::MAX as usize;
/// Longest result lists.
const MOST_RESULTS: usize = 1000;
/// Largest factor, weight or frequency.
pub const MOST: f64 = 1e9;

/// A number from 0 to `most`.
///
/// # Errors
/// It is not.
pub fn number(key: &str, value: f64, most: f64) -> Result<f64, ScenarioError> {
    if (0.0..=most).contains(&value) {
        return Ok(value);
    }
    Err(ScenarioError::new(key, format!("it is {value}, and must lie between 0 and {most}")))
}

fn whole(key: &str, value: usize, least: usize, most: usize) -> Result<usize, ScenarioError> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let end = if most == MOST_URLS { String::new() } else { format!(" and at most {most}") };
    Err(ScenarioError::new(key, format!("it is {value}, and must be at least {least}{end}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(part: Part, weight: f64) -> Weights {
        let mut weights = Weights::default();
        weights.set(part, weight);
        weights
    }

    #[test]
    fn what_a_scenario_says_wins_over_the_base_and_what_it_lists_is_added() {
        let base = Scenario {
            budget: Some(10),
            per_host: Some(3),
            exclude_hosts: vec!["a.test".into()],
            weights: weight(Part::Page, 0.5),
            ..Scenario::default()
        };
        let over = Scenario {
            name: "more".into(),
            budget: Some(20),
            exclude_hosts: vec!["b.test".into()],
            weights: weight(Part::Query, 2.0),
            ..Scenario::default()
        };
        let both = over.on(&base);
        assert_eq!((both.name.as_str(), both.budget, both.per_host), ("more", Some(20), Some(3)));
        assert_eq!(both.exclude_hosts, ["a.test", "b.test"]);
        let settings = both.settings(&PlanSettings::new(5), Parts::of(|_| 1.0)).unwrap();
        assert_eq!(settings.estimate.weights, Parts::from([2.0, 1.0, 0.5, 1.0, 1.0]));
        assert!(!settings.estimate.fitted);
        assert_eq!(settings.selection.caps.per_host, Some(3));
    }

    #[test]
    fn nothing_said_changes_nothing_and_0_lifts_a_cap() {
        let mut base = PlanSettings::new(5);
        base.selection.caps.per_host = Some(2);
        let same = Scenario::default().settings(&base, Parts::of(|_| 9.0)).unwrap();
        assert_eq!(same, base);
        let lifted = Scenario { per_host: Some(0), ..Scenario::default() };
        assert_eq!(lifted.settings(&base, Parts::of(|_| 9.0)).unwrap().selection.caps.per_host, None);
    }

    #[test]
    fn values_out_of_range_name_their_key() {
        let fails = |scenario: Scenario| {
            scenario.settings(&PlanSettings::new(5), Parts::of(|_| 1.0)).unwrap_err().to_string()
        };
        let budget = Scenario { budget: Some(0), ..Scenario::default() };
        assert_eq!(fails(budget), "budget: it is 0, and must be at least 1");
        let weights = weight(Part::Quality, -1.0);
        let wrong = fails(Scenario { weights, ..Scenario::default() });
        assert!(wrong.starts_with("weights.quality: it is -1"), "{wrong}");
        let rho = fails(Scenario { rho: Some(f64::NAN), ..Scenario::default() });
        assert!(rho.starts_with("rho: it is NaN"), "{rho}");
    }
}
