//! Every surface takes every option of the planner's table: a value that is not the default reaches the
//! settings by a flag, a policy or a scenario just as it does by the table. The page sends scenarios, and
//! `tests/serve.rs` holds its list against the table.

use clap::{CommandFactory, FromArgMatches};
use serde_json::{Value, json};

use super::Cli;
use super::options::{OfPastPlan, OfPlan, OfStream, OptionFlags, Surface, value};
use super::whatif::flags::ScenarioFlags;
use crate::planner::options::PlannerOption;
use crate::planner::settings::PlanSettings;
use crate::policy::PolicyChoice;
use crate::whatif::scenario::{Scenario, Scenarios};

/// Options with a value, over [`today`]; what is wrong if they are not taken.
type Settings = Result<PlanSettings, String>;

fn today() -> PlanSettings {
    PlanSettings::new(7)
}

/// The flags of a command, as it takes them.
fn flags(
    command: &str,
    more: &[&str],
    name: &str,
    given: &str,
) -> Result<clap::ArgMatches, String> {
    let flag = format!("--{name}");
    let line = ["prospect", command, "--store", "s"].into_iter().chain(more.iter().copied());
    let found = Cli::command().try_get_matches_from(line.chain([flag.as_str(), given]));
    let found = found.map_err(|error| error.to_string())?;
    found.subcommand_matches(command).cloned().ok_or_else(|| command.to_owned())
}

fn plan(name: &str, given: &str) -> Settings {
    let budget: &[&str] = if name == "budget" { &[] } else { &["--budget", "7"] };
    let found = flags("plan", &[&["--workload", "q"], budget].concat(), name, given)?;
    let flags =
        OptionFlags::<OfPlan>::from_arg_matches(&found).map_err(|error| error.to_string())?;
    flags.settings().map_err(|failure| format!("{failure:?}"))
}

fn stream(name: &str, given: &str) -> Settings {
    // Its budget is that of a run, and not of a plan.
    if name == "budget" {
        return Err("is no option of its plans".to_owned());
    }
    let found = flags("stream", &["--workload", "q"], name, given)?;
    let flags = OptionFlags::<OfStream>::from_arg_matches(&found);
    let flags = flags.map_err(|error| error.to_string())?;
    let settings = flags.settings().map_err(|failure| format!("{failure:?}"))?;
    Ok(with_budget(settings))
}

/// What a stream finds out itself.
fn with_budget(mut settings: PlanSettings) -> PlanSettings {
    settings.selection.budget = today().selection.budget;
    settings
}

fn past_plan(name: &str, given: &str) -> Settings {
    let found = flags("counterfactual", &[], name, given)?;
    let flags = OptionFlags::<OfPastPlan>::from_arg_matches(&found);
    let mut settings = today();
    flags
        .map_err(|error| error.to_string())?
        .given
        .apply(&mut settings)
        .map_err(|e| e.to_string())?;
    Ok(settings)
}

fn under(scenario: &Scenario) -> Settings {
    scenario.settings(&today()).map_err(|error| error.to_string())
}

fn whatif(name: &str, given: &str) -> Settings {
    let found = flags("whatif", &[], name, given)?;
    let flags = ScenarioFlags::from_arg_matches(&found).map_err(|error| error.to_string())?;
    let scenario = flags.scenario().map_err(|failure| format!("{failure:?}"))?;
    under(&scenario.ok_or("it is no scenario")?)
}

fn toml(name: &str, given: &str) -> Settings {
    let text = format!("[[scenario]]\n{name} = {}\n", value(given));
    let found: Scenarios = toml::from_str(&text).map_err(|error| error.to_string())?;
    under(&found.scenario[0])
}

fn json(name: &str, given: &str) -> Settings {
    let scenario: Scenario =
        serde_json::from_value(json!({ name: value(given) })).map_err(|error| error.to_string())?;
    under(&scenario)
}

fn policy(name: &str, given: &str) -> Settings {
    let choice = format!("prospect+{name}={given}").parse::<PolicyChoice>();
    choice.and_then(|choice| choice.settings(today())).map_err(|error| error.to_string())
}

/// A surface, which options it takes, and what comes of one.
type Row = (&'static str, fn(&PlannerOption) -> bool, fn(&str, &str) -> Settings);

const SURFACES: [Row; 7] = [
    ("prospect plan", |_| true, plan),
    ("prospect stream", OfStream::takes, stream),
    ("prospect whatif", |_| true, whatif),
    ("prospect counterfactual", OfPastPlan::takes, past_plan),
    ("a scenario as TOML", |_| true, toml),
    ("a scenario as JSON", |_| true, json),
    ("a policy", |option| !option.is_of_the_crawl, policy),
];

#[test]
fn every_surface_takes_every_option_and_refuses_what_does_not_fit() {
    for option in PlannerOption::all() {
        let (name, example) = (option.name.as_str(), option.example());
        let mut expected = today();
        option.set(&mut expected, &Value::from(example.as_str())).unwrap();
        assert_ne!(option.get(&expected), option.get(&today()), "{name}");
        for (surface, takes, set) in SURFACES {
            if takes(option) {
                let found =
                    set(name, &example).unwrap_or_else(|e| panic!("{surface}, {name}: {e}"));
                assert_eq!(option.get(&found), option.get(&expected), "{surface}, {name}");
                let wrong = set(name, "much").unwrap_err();
                assert!(wrong.contains("much") && wrong.contains(name), "{surface}: {wrong}");
            } else {
                assert!(set(name, &example).is_err(), "{surface} takes {name}");
            }
        }
    }
}

#[test]
fn old_spellings_are_hidden_and_mean_the_same() {
    let top = PlannerOption::named("top").unwrap();
    for set in [whatif, toml, json, plan] {
        assert_eq!(top.get(&set("k", "20").unwrap()), 20);
    }
    let weight = whatif("weight", "query=2").unwrap();
    assert_eq!(weight, whatif("query-weight", "2").unwrap());
    let old: Scenario = serde_json::from_str(r#"{"weights": {"query": 2}}"#).unwrap();
    assert_eq!(under(&old).unwrap(), weight);
    for command in ["plan", "whatif", "counterfactual"] {
        let mut cli = Cli::command();
        let help = cli.find_subcommand_mut(command).unwrap().render_long_help().to_string();
        assert!(
            !help.contains("--k ") && !help.contains("--weight ") && !help.contains("--weights")
        );
        assert!(help.contains("--query-weight <X>"), "{help}");
    }
}
