//! Options of the planner as flags, from its table: which of them a command takes, and what was given.

use std::marker::PhantomData;

use clap::{Arg, ArgMatches, Command};
use serde_json::{Number, Value};

use super::Failure;
use super::budget;
use crate::planner::budget_share::BudgetShare;
use crate::planner::options::{GivenOptions, Kind, NONE, OptionError, PlannerOption};
use crate::planner::settings::PlanSettings;

/// A number that an option of this name has, which is `usual` where nobody says otherwise.
pub(super) fn in_range(
    name: &str,
    value: f64,
    (least, most): (f64, f64),
    usual: f64,
) -> Result<f64, Failure> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let error = anyhow::anyhow!("{name} is {value}; it must lie between {least} and {most}");
    Err(Failure::input(error, format!("for example --{} {usual}", name.trim_start_matches('-'))))
}

/// What a command takes of the table.
pub(super) trait Surface: Clone + Send + Sync + 'static {
    /// Whether it takes an option.
    fn takes(option: &PlannerOption) -> bool;
    /// Whether options that are not given have their defaults, and those without one must be given.
    const HAS_DEFAULTS: bool;
    /// Whether a budget may be a share of what may be planned.
    const TAKES_SHARE: bool = Self::HAS_DEFAULTS;
}

/// `prospect plan` takes them all.
#[derive(Clone, Debug)]
pub(super) struct OfPlan;

impl Surface for OfPlan {
    fn takes(_: &PlannerOption) -> bool {
        true
    }

    const HAS_DEFAULTS: bool = true;
}

/// `prospect stream` takes all but the budget of a plan, which is what is missing of what may be in flight.
#[derive(Clone, Debug)]
pub(super) struct OfStream;

impl Surface for OfStream {
    fn takes(option: &PlannerOption) -> bool {
        option.name != "budget"
    }

    const HAS_DEFAULTS: bool = true;
}

/// A scenario may change them all.
#[derive(Clone, Debug)]
pub(in crate::cli) struct OfScenario;

impl Surface for OfScenario {
    fn takes(_: &PlannerOption) -> bool {
        true
    }

    const HAS_DEFAULTS: bool = false;
    const TAKES_SHARE: bool = true;
}

/// A batch that is picked from a plan of the past: by budget, weights and caps, without another draw.
#[derive(Clone, Debug)]
pub(super) struct OfPastPlan;

impl Surface for OfPastPlan {
    fn takes(option: &PlannerOption) -> bool {
        option.name == "budget" || option.is_cap() || option.is_weight()
    }

    const HAS_DEFAULTS: bool = false;
}

/// Options that a command was given.
#[derive(Clone, Debug)]
pub(in crate::cli) struct OptionFlags<S> {
    pub(super) given: GivenOptions,
    /// A budget in percent, which is none before the store is open.
    percent: Option<String>,
    surface: PhantomData<S>,
}

impl OptionFlags<OfPlan> {
    /// The settings of a plan, validated.
    pub(super) fn settings(&self) -> Result<PlanSettings, Failure> {
        settings(&self.given)
    }

    /// The budget as a share, if that is given.
    pub(super) fn budget_share(&self) -> Result<Option<BudgetShare>, Failure> {
        self.percent.as_deref().map(budget::share).transpose()
    }
}

impl OptionFlags<OfStream> {
    /// The settings of the plans of a stream, validated; they have no budget yet.
    pub(super) fn settings(&self) -> Result<PlanSettings, Failure> {
        settings(&self.given)
    }
}

/// Settings that have their defaults where nothing is given.
fn settings(given: &GivenOptions) -> Result<PlanSettings, Failure> {
    let mut settings = PlanSettings::new(0);
    apply(given, &mut settings)?;
    Ok(settings)
}

/// Changes settings by flags.
pub(super) fn apply(given: &GivenOptions, settings: &mut PlanSettings) -> Result<(), Failure> {
    given.apply(settings).map_err(|error| match &error {
        OptionError::Value { option, .. } => {
            let example =
                PlannerOption::named(option).map_or(String::new(), PlannerOption::example);
            Failure::input(
                anyhow::anyhow!("--{error}"),
                format!("for example --{option} {example}"),
            )
        }
        OptionError::Reading { option, .. } => Failure::input(
            anyhow::anyhow!("--{error}"),
            format!("leave --{option} out, or take --reading learned"),
        ),
        OptionError::Unknown { .. } => Failure::ours(error),
    })
}

impl<S: Surface> clap::Args for OptionFlags<S> {
    fn augment_args(command: Command) -> Command {
        let options = PlannerOption::all().iter().filter(|option| S::takes(option));
        options.fold(command, |command, option| command.arg(flag::<S>(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Surface> clap::FromArgMatches for OptionFlags<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let (mut given, mut percent) = (GivenOptions::default(), None);
        for option in PlannerOption::all().iter().filter(|option| S::takes(option)) {
            let Some(text) = matches.get_one::<String>(&option.name) else { continue };
            match text.strip_suffix('%') {
                // A scenario keeps its share as it was said.
                Some(number) if S::HAS_DEFAULTS && takes_share::<S>(option) => {
                    percent = Some(number.to_owned());
                }
                _ => {
                    given.insert(option, value(text));
                }
            }
        }
        Ok(Self { given, percent, surface: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let new = Self::from_arg_matches(matches)?;
        self.given = new.given.on(&self.given);
        self.percent = new.percent.or(self.percent.take());
        Ok(())
    }
}

/// Whether an option may be a share of what there is.
fn takes_share<S: Surface>(option: &PlannerOption) -> bool {
    S::TAKES_SHARE && option.name == "budget"
}

/// The flag of an option. Values are tried by the table, so that a wrong one is told as everywhere.
fn flag<S: Surface>(option: &'static PlannerOption) -> Arg {
    let aliases = option.aliases.iter().filter(|old| !old.contains('.'));
    let is_required = S::HAS_DEFAULTS && option.is_required;
    let flag = Arg::new(option.name.as_str())
        .long(option.name.as_str())
        .aliases(aliases.map(String::as_str))
        .value_name(value_name(option))
        .help(help::<S>(option))
        .hide(option.is_hidden)
        .allow_negative_numbers(true);
    // Time limits a batch as well, and a scenario changes a plan that has a budget.
    if is_required { flag.required_unless_present_any(["seconds", "scenario"]) } else { flag }
}

fn help<S: Surface>(option: &PlannerOption) -> String {
    let mut letters = option.help.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut help: String = first.chain(letters).collect();
    if takes_share::<S>(option) {
        help += ", or a share of the URLs that may be planned now, such as 10%";
    }
    help += &format!(" [{}", option.kind().range());
    if option.lifts() {
        help += &format!(", or {NONE}");
    }
    if let Some(default) = option.default_value().filter(|_| S::HAS_DEFAULTS) {
        let default = default.as_str().map_or_else(|| default.to_string(), str::to_owned);
        help += &format!("; default {default}");
    }
    help + "]"
}

fn value_name(option: &PlannerOption) -> &'static str {
    match option.kind() {
        Kind::Number { .. } => "X",
        Kind::Whole { .. } => "N",
        Kind::Choice(_) => "NAME",
        Kind::Text { .. } => "VALUE",
    }
}

/// What was typed, as a number where it is one.
pub(super) fn value(text: &str) -> Value {
    text.parse::<Number>().map_or_else(|_| Value::from(text), Value::Number)
}
