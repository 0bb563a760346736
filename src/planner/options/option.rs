//! An option: a row of the table, and what is asked of it.

use std::sync::LazyLock;

use serde_json::Value;

use super::field::Field;
use super::{Invalidates, Kind, NONE, OptionError, given, nearest, table};
use crate::estimate::parts::Part;
use crate::planner::settings::PlanSettings;

type Place = dyn for<'a> Fn(&'a mut PlanSettings) -> Field<'a> + Send + Sync;
type Compare = fn(&PlanSettings, &PlanSettings) -> bool;

/// An option of the planner.
pub(crate) struct PlannerOption {
    /// Its name everywhere.
    pub(crate) name: String,
    /// What it is, in a line.
    pub(crate) help: String,
    /// Names that it had and is still found by.
    pub(crate) aliases: Vec<String>,
    /// What has to be made again where it has another value.
    pub(crate) invalidates: Invalidates,
    /// Whether a plan cannot do without it: it has no default.
    pub(crate) is_required: bool,
    /// Whether it is for experiments, and left out of help and page.
    pub(crate) is_hidden: bool,
    /// Whether a simulation sets it for all policies alike.
    pub(crate) is_of_the_crawl: bool,
    /// The part that it weighs, if it does.
    part: Option<Part>,
    /// Whether the pairs of some settings are those of others, whatever it is.
    keeps_pairs: Compare,
    place: Box<Place>,
}

static ALL: LazyLock<Vec<PlannerOption>> = LazyLock::new(table::all);

impl PlannerOption {
    /// All of them, in the order in which they are listed.
    pub(crate) fn all() -> &'static [Self] {
        &ALL
    }

    /// The option of a name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn named(name: &str) -> Result<&'static Self, OptionError> {
        let is_meant = |one: &&Self| one.name == name || one.aliases.iter().any(|old| old == name);
        Self::all().iter().find(is_meant).ok_or_else(|| {
            let names = Self::all().iter().map(|one| one.name.as_str());
            OptionError::Unknown { name: name.to_owned(), near: nearest(name, names).to_owned() }
        })
    }

    /// The weight of a part.
    pub(crate) fn weight(part: Part) -> Option<&'static Self> {
        Self::all().iter().find(|option| option.part == Some(part))
    }

    /// Its value.
    pub(crate) fn get(&self, settings: &PlanSettings) -> Value {
        self.value_in(&mut settings.clone())
    }

    /// Its value, where settings can be lent, which hold the delays and addresses of all hosts.
    pub(crate) fn value_in(&self, settings: &mut PlanSettings) -> Value {
        (self.place)(settings).value()
    }

    /// Sets it to what people give: a number, or text.
    ///
    /// # Errors
    /// The value does not fit; then the settings stay as they are.
    pub(crate) fn set(
        &self,
        settings: &mut PlanSettings,
        given: &Value,
    ) -> Result<(), OptionError> {
        let text = given::text(given);
        let field = (self.place)(settings);
        let (kind, lifts) = (field.kind(), field.lifts());
        field.set(text.trim()).ok_or_else(|| {
            let or_none = if lifts { format!(", or {NONE}") } else { String::new() };
            self.wrong(text, format!("{}{or_none}", kind.must()))
        })
    }

    /// The value that it has where nothing is said; none if it must be given.
    pub(crate) fn default_value(&self) -> Option<Value> {
        (!self.is_required).then(|| self.get(&PlanSettings::new(0)))
    }

    /// What it may hold.
    pub(crate) fn kind(&self) -> Kind {
        (self.place)(&mut PlanSettings::new(0)).kind()
    }

    /// Whether [`NONE`] is a value of it.
    pub(crate) fn lifts(&self) -> bool {
        (self.place)(&mut PlanSettings::new(0)).lifts()
    }

    /// Whether it is a cap on URLs, which [`NONE`] and 0 lift.
    pub(crate) fn is_cap(&self) -> bool {
        (self.place)(&mut PlanSettings::new(0)).is_cap()
    }

    /// Whether it is the weight of a part.
    pub(crate) fn is_weight(&self) -> bool {
        self.part.is_some()
    }

    /// A value that fits, and is not the default.
    pub(crate) fn example(&self) -> String {
        let default = self.default_value();
        match self.kind() {
            Kind::Number { least, most } => f64::midpoint(least, most.min(1.0)).to_string(),
            Kind::Whole { least, .. } if default == Some(Value::from(least)) => {
                (least + 1).to_string()
            }
            Kind::Whole { least, .. } => least.to_string(),
            Kind::Choice(names) => {
                let other = names.into_iter().find(|name| Some(Value::from(*name)) != default);
                other.unwrap_or_default().to_owned()
            }
            Kind::Text { example, .. } => example.to_owned(),
        }
    }

    /// What has to be made again where it is what changes from the old settings to the new.
    pub(super) fn invalidates(&self, old: &PlanSettings, new: &PlanSettings) -> Invalidates {
        if (self.keeps_pairs)(old, new) {
            return self.invalidates.min(Invalidates::Weights);
        }
        self.invalidates
    }

    /// The error for a value of it.
    pub(super) fn wrong(&self, given: String, must: String) -> OptionError {
        OptionError::Value { option: self.name.clone(), given, must }
    }
}

/// What rows of the table say.
impl PlannerOption {
    pub(super) fn new(
        name: impl Into<String>,
        help: impl Into<String>,
        invalidates: Invalidates,
        place: impl for<'a> Fn(&'a mut PlanSettings) -> Field<'a> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            help: help.into(),
            aliases: Vec::new(),
            invalidates,
            is_required: false,
            is_hidden: false,
            is_of_the_crawl: false,
            part: None,
            keeps_pairs: |_, _| false,
            place: Box::new(place),
        }
    }

    pub(super) fn alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into());
        self
    }

    pub(super) fn weighing(self, part: Part) -> Self {
        Self { part: Some(part), ..self }
    }

    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(super) fn hidden(self) -> Self {
        Self { is_hidden: true, ..self }
    }

    pub(super) fn of_the_crawl(self) -> Self {
        Self { is_of_the_crawl: true, ..self }
    }

    pub(super) fn keeps_where(self, keeps_pairs: Compare) -> Self {
        Self { keeps_pairs, ..self }
    }
}
