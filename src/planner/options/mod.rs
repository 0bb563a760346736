//! The one option table: name, help, range, default, and what another value invalidates.
//!
//! Everything that lets people set options (flags of commands, policies of simulations, scenarios and their
//! flags, the page) lists them from here and sets them by [`GivenOptions`], so that an option has one name and
//! one meaning, and a row of the table, with its place in `cli/help.rs`, is all it takes. `cli/option_surfaces.rs` holds the surfaces
//! to that. Defaults are those of [`PlanSettings::new`].
//!
//! ```
//! use prospect::planner::options::GivenOptions;
//! use prospect::planner::settings::PlanSettings;
//!
//! let mut other = PlanSettings::new(1000);
//! let given = GivenOptions::default().with("per-host", 20)?.with("rho", "0.5")?;
//! given.apply(&mut other)?;
//! assert_eq!(other.selection.caps.per_host, Some(20));
//! # Ok::<(), prospect::planner::options::OptionError>(())
//! ```
//!
//! Not here: the list of URLs that may be planned, and the embedding model, which are files.

mod field;
mod given;
mod option;
mod table;

use serde::Serialize;

use super::settings::PlanSettings;
use crate::estimate::settings::ImpactReading;
pub(crate) use field::{Kind, NONE};
pub use given::GivenOptions;
pub(crate) use option::PlannerOption;

/// What has to be made again where an option has another value; each holds what is before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Invalidates {
    /// The choice from the estimates of today.
    Selection,
    /// Estimates from the same pairs.
    Weights,
    /// Candidate pairs, by the same models.
    Pairs,
    /// Result lists.
    Lists,
    /// The models.
    Models,
}

impl Invalidates {
    /// Whether all pairs have to be estimated again, which takes a while.
    pub(crate) fn is_slow(self) -> bool {
        self >= Self::Pairs
    }
}

/// An option that there is not, or a value that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No such option.
    #[error("there is no option `{name}`; did you mean `{near}`?")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest there is.
        near: String,
    },
    /// A value that does not fit.
    #[error("{option} is {given}; it {must}")]
    Value {
        /// The option.
        option: String,
        /// What was given.
        given: String,
        /// What fits.
        must: String,
    },
    /// A value that does not fit the reading.
    #[error("{option} is {given}; it {must}")]
    Reading {
        /// The option.
        option: &'static str,
        /// What was given.
        given: String,
        /// What fits.
        must: String,
    },
}

/// What has to be made again for new settings, with what was made for the old ones at hand; none if
/// they are the same.
pub(crate) fn invalidated(old: &PlanSettings, new: &PlanSettings) -> Option<Invalidates> {
    let (mut before, mut after) = (old.clone(), new.clone());
    let is_other =
        |option: &&PlannerOption| option.value_in(&mut before) != option.value_in(&mut after);
    let changed = PlannerOption::all().iter().filter(is_other);
    changed.map(|option| option.invalidates(old, new)).max()
}

/// Refuses settings that cannot go together.
fn refuse_contradictions(settings: &PlanSettings) -> Result<(), OptionError> {
    let estimate = &settings.estimate;
    if estimate.reading == ImpactReading::Learned {
        return Ok(());
    }
    if estimate.objective.reads_scores() {
        let must = format!(
            "must be expected: the reading {} knows no distribution of scores",
            estimate.reading.name()
        );
        return refuse(settings, "objective", &must);
    }
    if !estimate.without.is_empty() {
        return refuse(settings, "without", "must go with the reading learned");
    }
    Ok(())
}

/// Refuses the value that settings have for an option under their reading.
fn refuse(settings: &PlanSettings, option: &'static str, must: &str) -> Result<(), OptionError> {
    let given = given::text(&PlannerOption::named(option)?.get(settings));
    Err(OptionError::Reading { option, given, must: must.to_owned() })
}

/// The name that is nearest to a misspelt one; none has no letters.
pub(crate) fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> &'a str {
    names.min_by_key(|name| strsim::osa_distance(given, name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// What no option sets: a list of URLs, and a model, which are files.
    const SET_OTHERWISE: [&str; 1] = ["/within"];

    fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
        let Some(object) = value.as_object() else {
            return found.push((path.to_owned(), value.clone()));
        };
        for (key, value) in object {
            leaves(value, &format!("{path}/{key}"), found);
        }
    }

    fn settings_leaves(settings: &PlanSettings) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        leaves(&serde_json::to_value(settings).unwrap(), "", &mut found);
        // Weights are one list in JSON, and an option each.
        found.retain(|(path, _)| path != "/estimate/weights");
        for (part, weight) in settings.estimate.weights.iter() {
            found.push((format!("/estimate/weights/{}", part.name()), weight.into()));
        }
        found
    }

    #[test]
    fn every_setting_is_reached_by_an_option_or_set_otherwise() {
        let today = PlanSettings::new(7);
        let before = settings_leaves(&today);
        let mut reached = BTreeSet::new();
        let mut everything = today.clone();
        for option in PlannerOption::all() {
            let (example, mut other) = (Value::from(option.example()), today.clone());
            option.set(&mut other, &example).unwrap();
            option.set(&mut everything, &example).unwrap();
            let changed: Vec<String> = settings_leaves(&other)
                .into_iter()
                .filter(|leaf| !before.contains(leaf))
                .map(|(path, _)| path)
                .collect();
            assert_eq!(changed.len(), 1, "{} changes {changed:?}", option.name);
            assert!(reached.insert(changed[0].clone()), "{changed:?} has two options");
        }
        for (path, _) in settings_leaves(&everything) {
            let known = reached.contains(&path) || SET_OTHERWISE.contains(&path.as_str());
            assert!(known, "{path} is reached by no option");
        }
    }

    #[test]
    fn names_are_found_once_and_misspelt_ones_tell_the_nearest() {
        let mut names: Vec<&str> = Vec::new();
        for option in PlannerOption::all() {
            names.push(&option.name);
            names.extend(option.aliases.iter().map(String::as_str));
            assert!(option.help.len() < 90 && !option.help.ends_with('.'), "{}", option.help);
        }
        for name in &names {
            let meant = PlannerOption::named(name).unwrap();
            assert!(meant.name == *name || meant.aliases.iter().any(|old| old == name));
        }
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let error = GivenOptions::default().with("per-hots", 1).unwrap_err().to_string();
        assert_eq!(error, "there is no option `per-hots`; did you mean `per-host`?");
    }

    /// What an option holds after it was given a value; what is wrong with the value, if it does not fit.
    #[track_caller]
    fn check(name: &str, given: impl Into<Value>, expected: impl Into<Value>) {
        let (option, mut settings) = (PlannerOption::named(name).unwrap(), PlanSettings::new(7));
        let found = match option.set(&mut settings, &given.into()) {
            Ok(()) => option.get(&settings),
            Err(error) => Value::from(error.to_string()),
        };
        assert_eq!(found, expected.into());
    }

    #[test]
    fn values_are_taken_as_numbers_and_as_text() {
        check("rho", 0.5, 0.5);
        check("rho", "0.5", 0.5);
        check("rho", 1.5, "rho is 1.5; it must lie between 0 and 1");
        check("rho", "NaN", "rho is NaN; it must lie between 0 and 1");
        check("seed", u64::MAX, u64::MAX);
        check("top", "1001", "top is 1001; it must be a whole number from 1 to 1000");
        check("k", 20, 20);
        check("weights.page", 2, 2.0);
        check("match", "count", "count");
        check("match", "x", "match is x; it must be idf or count");
        check("visibility", "geometric:0.5", "geometric:0.5");
        check("without", "url.anchors", "url.anchors");
        check("without", vec!["anchors", "url"], "url.anchors");
        check("without", "none", "none");
    }

    #[test]
    fn none_and_0_lift_a_cap_and_0_lifts_nothing_else() {
        for cap in PlannerOption::all().iter().filter(|option| option.is_cap()) {
            for lifting in ["none", "0"] {
                check(&cap.name, lifting, NONE);
            }
        }
        check("per-host", 3, 3);
        check("site-share", 1, NONE);
        check("needy", "none", NONE);
        check("needy", 1, 1);
        check("needy", "1.0", 1.0);
        let needy = "it must be a number of queries, or a share below 1, or none";
        check("needy", 0, format!("needy is 0; {needy}"));
        check("needy", -3, format!("needy is -3; {needy}"));
        check("needy", 1.5, format!("needy is 1.5; {needy}"));
    }

    /// What has to be made again for these options.
    fn made(given: &[(&str, &str)]) -> Option<Invalidates> {
        let (today, mut other) = (PlanSettings::new(7), PlanSettings::new(7));
        for (name, value) in given {
            PlannerOption::named(name).unwrap().set(&mut other, &Value::from(*value)).unwrap();
        }
        invalidated(&today, &other)
    }

    #[test]
    fn pairs_are_made_again_where_an_option_says_so() {
        assert_eq!(made(&[]), None);
        assert_eq!(made(&[("budget", "7")]), None);
        assert_eq!(made(&[("budget", "8"), ("explore", "0")]), Some(Invalidates::Selection));
        assert_eq!(made(&[("budget", "8"), ("query-weight", "1")]), Some(Invalidates::Weights));
        assert_eq!(made(&[("objective", "served")]), Some(Invalidates::Pairs));
        assert_eq!(made(&[("top", "20"), ("rho", "1")]), Some(Invalidates::Lists));
        assert_eq!(made(&[("k1", "2"), ("top", "20")]), Some(Invalidates::Models));
    }
}
