//! Scenarios from a TOML file, and the files that they name.

use std::path::Path;

use super::Failure;
use crate::whatif::scenario::{AskedQuery, Scenario, Scenarios, Which};
use crate::workload::{self, open_lines, open_text};

const BELOW: &str = "see the scenarios of docs/whatif.md: [base] for what they share, and a table \
                     [[scenario]] for each";

/// The scenarios of a file, with what they name beside it.
pub(super) fn load(path: &Path) -> Result<Scenarios, Failure> {
    let text = open_text(path)?;
    let mut found: Scenarios = toml::from_str(&text).map_err(|error| broken(path, &error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    resolve(&mut found.base, folder)?;
    for scenario in &mut found.scenario {
        resolve(scenario, folder)?;
    }
    Ok(found)
}

/// What the scenarios of a file share, and the one of a name; its only one needs none.
pub(in crate::cli) fn one(
    path: &Path,
    wanted: Option<&str>,
) -> Result<(Scenario, Scenario), Failure> {
    let Scenarios { base, mut scenario } = load(path)?;
    name(&mut scenario)?;
    let names: Vec<String> = scenario.iter().map(|one| format!("{:?}", one.name)).collect();
    let file = path.display();
    let (error, hint) = match (wanted, scenario.len()) {
        (_, 0) => (anyhow::anyhow!("{file}: there is no scenario in it"), BELOW.to_owned()),
        (None, 1) => return Ok((base, scenario.remove(0))),
        (None, count) => {
            let hint = format!("say which with --name: {}", names.join(", "));
            (anyhow::anyhow!("{file}: it has {count} scenarios"), hint)
        }
        (Some(wanted), _) => {
            if let Some(at) = scenario.iter().position(|one| one.name == wanted) {
                return Ok((base, scenario.remove(at)));
            }
            let hint = format!("--name takes one of {}", names.join(", "));
            (anyhow::anyhow!("{file}: it has no scenario {wanted:?}"), hint)
        }
    };
    Err(Failure::input(error, hint))
}

/// Where a scenario is told.
pub(in crate::cli) fn place(path: &Path, scenario: &Scenario) -> String {
    format!("{}: {}", path.display(), scenario.name)
}

/// A file that holds no scenarios.
fn broken(path: &Path, error: &toml::de::Error) -> Failure {
    let error = anyhow::anyhow!("{}: {}", path.display(), error.to_string().trim_end());
    Failure::input(error, BELOW)
}

/// Gives numbers to scenarios without a name.
pub(super) fn name(scenarios: &mut [Scenario]) -> Result<(), Failure> {
    for at in 0..scenarios.len() {
        if scenarios[at].name.is_empty() {
            scenarios[at].name = format!("scenario {}", at + 1);
        }
        let (before, rest) = scenarios.split_at(at);
        if before.iter().any(|other| other.name == rest[0].name) {
            let error = anyhow::anyhow!("two scenarios have the name {:?}", rest[0].name);
            return Err(Failure::input(error, "give another name to one of them"));
        }
    }
    Ok(())
}

/// Reads the files that a scenario names, relative to `folder`.
pub(super) fn resolve(scenario: &mut Scenario, folder: &Path) -> Result<(), Failure> {
    if let Some(file) = scenario.workload.take() {
        if scenario.queries.is_some() {
            let error = anyhow::anyhow!("{:?} has both `queries` and `workload`", scenario.name);
            return Err(Failure::input(error, "keep one of them"));
        }
        let read = workload::load(&folder.join(file))?;
        let asked = read.queries.into_iter().filter(|query| !query.words.is_empty());
        let asked = asked.map(|query| AskedQuery {
            query: query.text,
            frequency: query.frequency,
            qid: query.qid,
            kind: query.kind,
        });
        scenario.queries = Some(asked.collect());
    }
    if let Some(file) = scenario.fetched_file.take() {
        scenario.fetched.extend(lines(&folder.join(file))?);
    }
    for scaling in &mut scenario.scale {
        list(&mut scaling.file, &mut scaling.list, folder)?;
    }
    for Which { file, list: listed, .. } in &mut scenario.drop {
        list(file, listed, folder)?;
    }
    Ok(())
}

fn list(file: &mut Option<String>, list: &mut Vec<String>, folder: &Path) -> Result<(), Failure> {
    if let Some(file) = file.take() {
        list.extend(lines(&folder.join(file))?);
    }
    Ok(())
}

fn lines(path: &Path) -> Result<Vec<String>, Failure> {
    let lines = open_lines(path)?;
    if lines.is_empty() {
        let error = anyhow::anyhow!("{}: there is no line in it", path.display());
        return Err(Failure::input(error, "it takes one entry a line"));
    }
    Ok(lines)
}
