//! Scenarios: what is different, as a TOML file, a JSON object or flags say it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::planner::budget_share::BudgetShare;
use crate::planner::options::{GivenOptions, Invalidates, OptionError, PlannerOption, invalidated};
use crate::planner::settings::PlanSettings;

/// A scenario that cannot be carried out.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("{key}: {what}")]
pub struct ScenarioError {
    /// The key that is wrong.
    pub(crate) key: String,
    /// What is wrong with it.
    pub(crate) what: String,
}

impl ScenarioError {
    /// What is wrong with a key.
    pub(crate) fn new(key: &str, what: impl Into<String>) -> Self {
        Self { key: key.to_owned(), what: what.into() }
    }
}

impl From<OptionError> for ScenarioError {
    fn from(error: OptionError) -> Self {
        match error {
            OptionError::Value { option, given, must } => {
                Self { key: option, what: format!("it is {given}, and {must}") }
            }
            OptionError::Reading { option, given, must } => {
                Self::new(option, format!("it is {given}, and {must}"))
            }
            OptionError::Unknown { ref name, .. } => Self::new(name, error.to_string()),
        }
    }
}

/// What is different. Whatever is not said stays as it is.
///
/// ```
/// use prospect::whatif::scenario::Scenario;
///
/// let said = r#"{"name": "more", "budget": 20, "scale": [{"kind": "question", "by": 2.0}]}"#;
/// let scenario: Scenario = serde_json::from_str(said)?;
/// let again = serde_json::to_string(&scenario)?;
/// assert_eq!(serde_json::from_str::<Scenario>(&again)?, scenario);
///
/// let wrong = serde_json::from_str::<Scenario>(r#"{"budgets": 20}"#);
/// assert!(wrong.is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Scenario {
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    /// These queries instead of the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queries: Option<Vec<AskedQuery>>,
    /// A file of queries instead of the workload; read into `queries` by who may read files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workload: Option<String>,
    /// Queries whose frequencies are multiplied, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) scale: Vec<Scaling>,
    /// Queries that nobody asks any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) drop: Vec<Which>,
    /// Queries that are asked as well. Added to the frequency of a query with the same words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) add: Vec<AskedQuery>,
    /// Options of the plan, each a key of its own.
    #[serde(flatten)]
    pub(crate) options: GivenOptions,
    /// Hosts of which nothing is planned; `*.example.org` stands for a domain and all below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) exclude_hosts: Vec<String>,
    /// Hosts whose estimates are multiplied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) boost_hosts: Vec<Boost>,
    /// URLs that count as fetched already: they compete for places and are not planned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fetched: Vec<String>,
    /// A file of such URLs, one a line; read into `fetched` by who may read files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fetched_file: Option<String>,
}

/// A query of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AskedQuery {
    /// As typed.
    pub(crate) query: String,
    /// How often it is asked.
    #[serde(default = "once")]
    pub(crate) frequency: f64,
    /// Its id; made up where it is missing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) qid: String,
    /// Its kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) kind: String,
}

fn once() -> f64 {
    1.0
}

/// Queries that are meant: those that all of what is given holds for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Which {
    /// A regular expression that is found in the query, letter case aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,
    /// A kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// Ids, or whole queries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) list: Vec<String>,
    /// A file of them, one a line; read into `list` by who may read files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

/// A factor for frequencies of the queries that all of what is given holds for; of all queries if
/// nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Scaling {
    /// The factor.
    pub(crate) by: f64,
    /// See [`Which::pattern`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pattern: Option<String>,
    /// See [`Which::kind`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// See [`Which::list`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) list: Vec<String>,
    /// See [`Which::file`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

impl Scaling {
    /// The queries that are meant.
    pub(crate) fn which(&self) -> Which {
        let Self { pattern, kind, list, file, .. } = self.clone();
        Which { pattern, kind, list, file }
    }
}

/// A factor for the estimates of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Boost {
    /// The host; `*.example.org` stands for a domain and all below it.
    pub(crate) host: String,
    /// The factor.
    pub(crate) by: f64,
}

/// Scenarios on top of a common base.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Scenarios {
    /// What they share.
    pub(crate) base: Scenario,
    /// The scenarios.
    pub(crate) scenario: Vec<Scenario>,
}

impl Scenario {
    /// This scenario on top of another: what it says wins, what it lists comes after.
    #[must_use]
    pub(crate) fn on(&self, base: &Self) -> Self {
        let joined = |a: &[String], b: &[String]| [a, b].concat();
        Self {
            name: self.name.clone(),
            queries: self.queries.clone().or_else(|| base.queries.clone()),
            workload: self.workload.clone().or_else(|| base.workload.clone()),
            scale: [base.scale.as_slice(), &self.scale].concat(),
            drop: [base.drop.as_slice(), &self.drop].concat(),
            add: [base.add.as_slice(), &self.add].concat(),
            options: self.options.on(&base.options),
            exclude_hosts: joined(&base.exclude_hosts, &self.exclude_hosts),
            boost_hosts: [base.boost_hosts.as_slice(), &self.boost_hosts].concat(),
            fetched: joined(&base.fetched, &self.fetched),
            fetched_file: self.fetched_file.clone().or_else(|| base.fetched_file.clone()),
        }
    }

    /// Whether all pairs have to be estimated again: because options say so, or because there may be new
    /// queries and pairs depend on those at hand.
    pub(crate) fn is_slow(&self, settings: &PlanSettings) -> bool {
        let may_ask_more = self.queries.is_some() || !self.add.is_empty();
        // What cannot be carried out is refused at once.
        let changed = self.with_lists(settings);
        changed.is_ok_and(|new| invalidated(settings, &new).is_some_and(Invalidates::is_slow))
            || may_ask_more && settings.estimate.is_fitted_to_queries()
    }

    /// Settings with the options of this scenario for which pairs are estimated again, and nothing else of
    /// it.
    ///
    /// # Errors
    /// A value is out of its range.
    pub(crate) fn with_lists(&self, base: &PlanSettings) -> Result<PlanSettings, ScenarioError> {
        let mut settings = base.clone();
        self.options.slow().apply(&mut settings)?;
        Ok(settings)
    }

    /// The same with a number where the budget is a share in percent: so much of the URLs that may be planned.
    ///
    /// # Errors
    /// It is no share.
    pub(crate) fn with_budget_of(mut self, urls: usize) -> Result<Self, ScenarioError> {
        let given = self.options.get(BUDGET).and_then(Value::as_str);
        let Some(percent) = given.and_then(|text| text.strip_suffix('%')) else { return Ok(self) };
        let Some(share) = BudgetShare::parse(percent) else {
            let what =
                format!("it is {percent}%, and a share must lie above 0% and be at most 100%");
            return Err(ScenarioError::new(BUDGET, what));
        };
        self.options.insert(PlannerOption::named(BUDGET)?, share.of(urls));
        Ok(self)
    }

    /// Whether it says how many URLs to plan.
    pub(crate) fn has_budget(&self) -> bool {
        self.options.get(BUDGET).is_some()
    }

    /// The same with so many URLs as its budget, unless it has one.
    ///
    /// # Errors
    /// There is no such option.
    pub(crate) fn with_budget(mut self, urls: usize) -> Result<Self, ScenarioError> {
        if !self.has_budget() {
            self.options.insert(PlannerOption::named(BUDGET)?, urls);
        }
        Ok(self)
    }

    /// The settings of a plan under this scenario.
    ///
    /// # Errors
    /// A value is out of its range.
    pub(crate) fn settings(&self, base: &PlanSettings) -> Result<PlanSettings, ScenarioError> {
        let mut settings = base.clone();
        self.options.apply(&mut settings)?;
        if !settings.has_queues() {
            let what = "no address of any host is known";
            return Err(ScenarioError::new("queue-by", what));
        }
        Ok(settings)
    }
}

/// The option of the budget.
const BUDGET: &str = "budget";

/// Largest factor, weight or frequency.
pub(crate) const MOST: f64 = 1e9;

/// A number from 0 to `most`.
///
/// # Errors
/// It is not.
pub(crate) fn number(key: &str, value: f64, most: f64) -> Result<f64, ScenarioError> {
    if (0.0..=most).contains(&value) {
        return Ok(value);
    }
    Err(ScenarioError::new(key, format!("it is {value}, and must lie between 0 and {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::parts::Parts;

    fn said(json: &str) -> Scenario {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_a_scenario_says_wins_over_the_base_and_what_it_lists_is_added() {
        let base = said(
            r#"{"budget": 10, "per-host": 3, "exclude-hosts": ["a.test"], "page-weight": 0.5}"#,
        );
        let over =
            r#"{"name": "more", "budget": 20, "exclude-hosts": ["b.test"], "query-weight": 2}"#;
        let both = said(over).on(&base);
        assert_eq!(both.name, "more");
        assert_eq!(both.exclude_hosts, ["a.test", "b.test"]);
        let settings = both.settings(&PlanSettings::new(5)).unwrap();
        assert_eq!(settings.estimate.weights, Parts::from([2.0, 0.05, 0.5, 0.01, 0.05, 0.1]));
        assert_eq!((settings.selection.budget, settings.selection.caps.per_host), (20, Some(3)));
    }

    #[test]
    fn nothing_said_changes_nothing_and_0_lifts_a_cap() {
        let mut base = PlanSettings::new(5);
        base.selection.caps.per_host = Some(2);
        assert_eq!(Scenario::default().settings(&base).unwrap(), base);
        for lifted in [r#"{"per-host": 0}"#, r#"{"per-host": "none"}"#] {
            let settings = said(lifted).settings(&base).unwrap();
            assert_eq!(settings.selection.caps.per_host, None);
        }
    }

    fn fails(json: &str) -> String {
        let settings = said(json).settings(&PlanSettings::new(5));
        settings.unwrap_err().to_string()
    }

    #[test]
    fn values_out_of_range_name_their_key() {
        let most = u32::MAX;
        let budget = format!("budget: it is 0, and must be a whole number from 1 to {most}");
        assert_eq!(fails(r#"{"budget": 0}"#), budget);
        let wrong = fails(r#"{"quality-weight": -1}"#);
        assert!(
            wrong.starts_with("quality-weight: it is -1, and must lie between 0 and "),
            "{wrong}"
        );
        assert!(fails(r#"{"rho": null}"#).starts_with("rho: it is null"));
        assert!(
            fails(r#"{"objective": "luck"}"#)
                .starts_with("objective: it is luck, and must be expected")
        );
    }

    #[test]
    fn old_spellings_say_the_same() {
        let new = said(r#"{"top": 20, "query-weight": 1, "page-weight": 0.5}"#);
        assert_eq!(said(r#"{"k": 20, "weights": {"query": 1, "page": 0.5}}"#), new);
        assert_eq!(said(&serde_json::to_string(&new).unwrap()), new, "as it is written");
    }

    #[test]
    fn keys_that_there_are_not_are_answered_with_the_nearest() {
        let fails = |json: &str| serde_json::from_str::<Scenario>(json).unwrap_err().to_string();
        let near = [
            (r#"{"per-hots": 3}"#, "unknown field `per-hots`, did you mean `per-host`?"),
            (
                r#"{"exclude-host": []}"#,
                "unknown field `exclude-host`, did you mean `exclude-hosts`?",
            ),
            (r#"{"weights": {"luck": 1}}"#, "there is no part `luck`: they are query, locality"),
            (r#"{"top": 3, "k": 4}"#, "`top` is said twice"),
        ];
        for (json, expected) in near {
            assert!(fails(json).starts_with(expected), "{json}: {}", fails(json));
        }
    }
}
