//! Options that one repeats: `prospect.toml` in the folder that the store lies in. They are as if they stood on the
//! command line, unless they do, or the environment has them.
//!
//! ```toml
//! [plan]
//! workload = "queries.tsv"
//! budget = "10%"
//! ```
//!
//! Read for commands that must be given a store, as the environment is: who may leave `--store` out has no folder.

use std::any::TypeId;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value};

use super::help::environment;
use super::output::Failure;
use crate::planner::options::nearest;
use crate::workload::open_text;

/// Name of the file.
const FILE: &str = "prospect.toml";
const EXAMPLE: &str = "options of a command stand below its name: [plan] and then budget = \"10%\"";

/// The arguments of a command.
pub(super) struct Arguments {
    /// All of them.
    pub(super) all: Vec<OsString>,
    /// Which of them a file added, to be told.
    pub(super) told: Option<String>,
}

impl From<Vec<OsString>> for Arguments {
    fn from(all: Vec<OsString>) -> Self {
        Self { all, told: None }
    }
}

/// What was typed, with what the file says behind the name of the command.
pub(super) fn arguments(command: &Command, mut typed: Vec<OsString>) -> Result<Arguments, Failure> {
    let named = |word: &OsString| word.to_str().and_then(|word| command.find_subcommand(word));
    // `prospect help plan` runs nothing.
    let is_help = typed.get(1).is_some_and(|word| word == "help");
    let found = (1..typed.len()).find_map(|at| Some((at, named(&typed[at])?)));
    let Some((at, command_named)) = found.filter(|_| !is_help) else { return Ok(typed.into()) };
    let Some(path) = file_beside_store(command_named, &typed) else { return Ok(typed.into()) };
    let all = read(&path)?;
    if let Some(other) = all.keys().find(|name| command.find_subcommand(name).is_none()) {
        let names = command.get_subcommands().map(Command::get_name);
        return Err(match &all[other] {
            Value::Object(_) => unknown(&path, "there is no command", other, names),
            _ => wrong(&path, &format!("`{other}` stands below no command")),
        });
    }
    let mut added = Vec::new();
    if let Some(section) = all.get(command_named.get_name()) {
        let name = command_named.get_name();
        let Value::Object(options) = section else {
            return Err(wrong(&path, &format!("{name} is no table")));
        };
        for (name, value) in options {
            let arg = option(command_named, name, &path)?;
            let set = environment(command_named.get_name(), arg);
            if is_given(&typed, name)
                || has_own(
                    command_named,
                    arg,
                    options.contains_key("scenario") || is_given(&typed, "scenario"),
                )
                || set.is_some_and(|set| !set.is_empty())
                || is_excluded(command_named, arg, &typed)
            {
                continue;
            }
            added.extend(as_typed((command_named.get_name(), arg), name, value, &path)?);
        }
    }
    let words: Vec<_> = added.iter().map(|word| word.to_string_lossy()).collect();
    let told = format!("from {}: {}", path.display(), words.join(" "));
    let told = (!added.is_empty()).then_some(told);
    let behind = typed.split_off(at + 1);
    let all = [typed, added, behind].concat();
    Ok(Arguments { all, told })
}

/// The file, if the command must be given a store, is given one, and the file is there.
fn file_beside_store(command: &Command, typed: &[OsString]) -> Option<PathBuf> {
    let store = command.get_arguments().find(|arg| arg.get_long() == Some("store"))?;
    if !store.is_required_set() {
        return None;
    }
    let given = typed.iter().enumerate().find_map(|(at, word)| match word.to_str()? {
        "--store" => typed.get(at + 1).cloned(),
        word => word.strip_prefix("--store=").map(OsString::from),
    });
    let set = || environment(command.get_name(), store);
    let store = PathBuf::from(given.or_else(set)?);
    // The folder of a store that is named by a link is that of the link.
    let folder = store.parent().map_or_else(PathBuf::new, Path::to_owned);
    Some(folder.join(FILE)).filter(|path| path.is_file())
}

fn read(path: &Path) -> Result<Map<String, Value>, Failure> {
    let text = open_text(path)?;
    toml::from_str(&text).map_err(|error| wrong(path, &error.to_string()))
}

pub(super) fn is_given(typed: &[OsString], name: &str) -> bool {
    let long = format!("--{name}");
    typed.iter().any(|word| {
        let word = word.to_string_lossy();
        word.strip_prefix(&long).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })
}

/// Whether there is what an option gives, which then is only what is typed: a scenario changes the queries of the open plan.
fn has_own(command: &Command, arg: &Arg, has_scenario: bool) -> bool {
    has_scenario && command.get_name() == "plan" && arg.get_long() == Some("workload")
}

/// Whether something is typed that an option cannot stand beside.
fn is_excluded(command: &Command, arg: &Arg, typed: &[OsString]) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let long = |other: &&Arg| other.get_long().is_some_and(|long| is_given(typed, long));
    let mut given = command.get_arguments().filter(long);
    given.any(|other| excludes(arg, other) || excludes(other, arg))
}

/// The option of a name; the store is what the file is found by.
fn option<'a>(command: &'a Command, name: &str, path: &Path) -> Result<&'a Arg, Failure> {
    let mut options = command.get_arguments().filter(|arg| arg.get_long() != Some("store"));
    options.find(|arg| arg.get_long() == Some(name)).ok_or_else(|| {
        let names = command.get_arguments().filter_map(Arg::get_long);
        let what = format!("[{}] takes no", command.get_name());
        unknown(path, &what, name, names.filter(|name| *name != "store"))
    })
}

/// An option as it would be typed; a path is one from the folder of the file.
fn as_typed(
    (command, arg): (&str, &Arg),
    name: &str,
    value: &Value,
    path: &Path,
) -> Result<Vec<OsString>, Failure> {
    let long = OsString::from(format!("--{name}"));
    let takes_value = !matches!(arg.get_action(), ArgAction::SetTrue);
    let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let written = |value: &Value| written(value, is_path, path);
    let values = match value {
        Value::Bool(is_set) if !takes_value => {
            return Ok(is_set.then_some(long).into_iter().collect());
        }
        Value::Array(values) if takes_value => values.iter().map(written).collect(),
        value if takes_value => written(value).map(|value| vec![value]),
        _ => None,
    };
    let values: Vec<OsString> =
        values.ok_or_else(|| wrong(path, &format!("[{command}] {name} cannot be {value}")))?;
    // With a sign of equality, for a value may start with a dash.
    let words = values.into_iter().map(|value| {
        let mut word = long.clone();
        word.push(OsStr::new("="));
        word.push(value);
        word
    });
    Ok(words.collect())
}

/// One value of an option as it would be typed; none if it cannot be one.
fn written(value: &Value, is_path: bool, path: &Path) -> Option<OsString> {
    match value {
        Value::String(text) if is_path && text != "-" => {
            Some(path.with_file_name(text).into_os_string())
        }
        Value::String(text) => Some(text.into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

fn wrong(path: &Path, what: &str) -> Failure {
    Failure::input(anyhow::anyhow!("{}: {}", path.display(), what.trim_end()), EXAMPLE)
}

fn unknown<'a>(
    path: &Path,
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> Failure {
    let error = anyhow::anyhow!("{}: {what} `{name}`", path.display());
    let hint = match nearest(name, names) {
        "" => "leave it out here, and say it on the command line".to_owned(),
        near => format!("did you mean `{near}`? {EXAMPLE}"),
    };
    Failure::input(error, hint)
}
