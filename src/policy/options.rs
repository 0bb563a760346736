//! A policy with options, as people write it: `hybrid`, or `hybrid+needy=0.01+rho=0.5`.

use std::collections::BTreeMap;

/// Options of one policy, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options(BTreeMap<String, String>);

/// An option or a policy that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyOptionError {
    /// No such policy.
    #[error("there is no policy {name:?}")]
    Policy {
        /// What was asked for.
        name: String,
    },
    /// Not `name=value`.
    #[error("policy {policy}: {given:?} is no option; `name=value` was expected")]
    Form {
        /// The policy.
        policy: String,
        /// What was given.
        given: String,
    },
    /// No such option.
    #[error("policy {policy} has no option {option:?}; it has {known}")]
    Unknown {
        /// The policy.
        policy: String,
        /// What was given.
        option: String,
        /// What there is.
        known: String,
    },
    /// A value that does not fit.
    #[error("option {option}={value}: {expected} was expected")]
    Value {
        /// The option.
        option: String,
        /// What was given.
        value: String,
        /// What fits.
        expected: String,
    },
    /// A value that does not fit the planner, or settings of it that exclude each other.
    #[error("option {0}")]
    Planner(#[from] crate::planner::options::OptionError),
    /// The policy needs what was not given.
    #[error("policy {policy} needs {what}")]
    Missing {
        /// The policy.
        policy: String,
        /// What is missing.
        what: &'static str,
    },
}

impl Options {
    /// Parses `name=value` parts.
    pub(super) fn parse<'p>(
        policy: &str,
        parts: impl Iterator<Item = &'p str>,
        known: &[&str],
    ) -> Result<Self, PolicyOptionError> {
        let mut options = BTreeMap::new();
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                return Err(PolicyOptionError::Form { policy: policy.into(), given: part.into() });
            };
            if !known.contains(&name) {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let (policy, option) = (policy.into(), name.into());
                return Err(PolicyOptionError::Unknown { policy, option, known });
            }
            options.insert(name.to_owned(), value.to_owned());
        }
        Ok(Self(options))
    }

    /// The options as they are written, in order of their names.
    pub(super) fn suffix(&self) -> String {
        let join = |whole, (name, value): (&String, &String)| format!("{whole}+{name}={value}");
        self.0.iter().fold(String::new(), join)
    }

    /// A number between two others.
    pub(super) fn number(
        &self,
        name: &str,
        least: f64,
        most: f64,
    ) -> Result<Option<f64>, PolicyOptionError> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        match value.parse::<f64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => Err(wrong(name, value, format!("a number between {least} and {most}"))),
        }
    }

    /// One of some names.
    pub(super) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, PolicyOptionError> {
        let Some(value) = self.0.get(name) else { return Ok(None) };
        if let Some((_, chosen)) = choices.iter().find(|(choice, _)| choice == value) {
            return Ok(Some(*chosen));
        }
        let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        Err(wrong(name, value, names.join(" or ")))
    }

    /// Names and values, in order of the names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The same options and one more.
    pub(super) fn with(&self, name: &str, value: &str) -> Self {
        let mut options = self.0.clone();
        options.insert(name.to_owned(), value.to_owned());
        Self(options)
    }

    /// Whether an option is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

fn wrong(option: &str, value: &str, expected: String) -> PolicyOptionError {
    PolicyOptionError::Value { option: option.into(), value: value.into(), expected }
}
