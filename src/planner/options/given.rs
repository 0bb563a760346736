//! Options that are given, wherever: what is said, over settings that are there.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{OptionError, PlannerOption, refuse_contradictions};
use crate::estimate::features::group::SEPARATOR;
use crate::estimate::parts::Part;
use crate::planner::settings::PlanSettings;

/// Options with values, as people gave them: they are tried when they are [applied](Self::apply).
///
/// ```
/// use prospect::planner::options::{GivenOptions, OptionError};
/// use prospect::planner::settings::PlanSettings;
///
/// # fn main() -> Result<(), OptionError> {
/// let mut settings = PlanSettings::new(1000);
/// GivenOptions::default().with("per-host", 5)?.with("explore", 0)?.apply(&mut settings)?;
/// assert_eq!(settings.selection.caps.per_host, Some(5));
///
/// let misspelt = GivenOptions::default().with("per-hots", 5).unwrap_err();
/// assert_eq!(misspelt.to_string(), "there is no option `per-hots`; did you mean `per-host`?");
/// let too_much = GivenOptions::default().with("explore", 2)?.apply(&mut settings);
/// assert!(matches!(too_much, Err(OptionError::Value { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct GivenOptions(BTreeMap<&'static str, Value>);

impl GivenOptions {
    /// The same and one more, by its name.
    ///
    /// # Errors
    /// There is no such option.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Result<Self, OptionError> {
        self.insert(PlannerOption::named(name)?, value);
        Ok(self)
    }

    /// The same with weights of parts.
    #[must_use]
    pub(crate) fn with_weights(mut self, weights: impl Iterator<Item = (Part, f64)>) -> Self {
        for (part, weight) in weights {
            if let Some(option) = PlannerOption::weight(part) {
                self.insert(option, weight);
            }
        }
        self
    }

    /// Gives an option a value; whether it had none.
    pub(crate) fn insert(
        &mut self,
        option: &'static PlannerOption,
        value: impl Into<Value>,
    ) -> bool {
        self.0.insert(&option.name, value.into()).is_none()
    }

    /// What is said of an option, by its name.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether an option of this kind is given.
    pub(crate) fn any(&self, is_meant: impl Fn(&PlannerOption) -> bool) -> bool {
        self.options().any(|(option, _)| is_meant(option))
    }

    /// These options, and those of `base` which are not among them.
    #[must_use]
    pub(crate) fn on(&self, base: &Self) -> Self {
        let mut all = base.0.clone();
        all.extend(self.0.iter().map(|(name, value)| (*name, value.clone())));
        Self(all)
    }

    /// Those for which pairs have to be estimated again.
    #[must_use]
    pub(crate) fn slow(&self) -> Self {
        let slow = self.options().filter(|(option, _)| option.invalidates.is_slow());
        Self(slow.map(|(option, value)| (option.name.as_str(), value.clone())).collect())
    }

    /// Changes settings.
    ///
    /// # Errors
    /// A value does not fit, or options exclude each other.
    pub fn apply(&self, settings: &mut PlanSettings) -> Result<(), OptionError> {
        for (option, value) in self.options() {
            option.set(settings, value)?;
        }
        refuse_contradictions(settings)
    }

    fn options(&self) -> impl Iterator<Item = (&'static PlannerOption, &Value)> {
        self.0.iter().filter_map(|(name, value)| Some((PlannerOption::named(name).ok()?, value)))
    }
}

/// A value as text: a list as its names.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(names) if names.iter().all(Value::is_string) => {
            names.iter().map(text).collect::<Vec<_>>().join(&SEPARATOR.to_string())
        }
        other => other.to_string(),
    }
}
