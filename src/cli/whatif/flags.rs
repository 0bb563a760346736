//! One scenario by flags.

use std::path::PathBuf;

use super::Failure;
use crate::cli::options::{OfScenario, OptionFlags};
use crate::estimate::parts::Part;
use crate::planner::options::{GivenOptions, PlannerOption};
use crate::whatif::scenario::{AskedQuery, Boost, Scaling, Scenario, Which};

/// What is different.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Scenario")]
pub(in crate::cli) struct ScenarioFlags {
    /// Name of the scenario that the flags below make; without them, of the one of the file that is asked.
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) name: Option<String>,
    /// A file of queries instead of the workload.
    #[arg(long, value_name = "FILE")]
    replace: Option<PathBuf>,
    /// A query that is asked as well, and how often: "rye flour=50".
    #[arg(long, value_name = "QUERY=N")]
    add: Vec<String>,
    /// Queries in which a regular expression is found are asked so many times as often: "^rust=10".
    #[arg(long, value_name = "PATTERN=FACTOR")]
    scale: Vec<String>,
    /// Queries of a kind are asked so many times as often: "question=2".
    #[arg(long, value_name = "KIND=FACTOR")]
    scale_kind: Vec<String>,
    /// Queries in which a regular expression is found are asked no more.
    #[arg(long, value_name = "PATTERN")]
    drop: Vec<String>,
    #[command(flatten)]
    options: OptionFlags<OfScenario>,
    /// The weight of a part as it was written once: "query=1" for `--query-weight 1`.
    #[arg(long, value_name = "PART=W", hide = true)]
    weight: Vec<String>,
    /// Plan nothing of a host; "*.example.org" stands for a domain and all below it.
    #[arg(long, value_name = "HOST")]
    exclude_host: Vec<String>,
    /// Multiply the estimates of a host: "example.org=2".
    #[arg(long, value_name = "HOST=FACTOR")]
    boost_host: Vec<String>,
    /// A file of URLs that count as fetched, one a line.
    #[arg(long, value_name = "FILE")]
    fetched: Option<PathBuf>,
}

impl ScenarioFlags {
    /// The scenario; none if no flag is given.
    pub(in crate::cli) fn scenario(&self) -> Result<Option<Scenario>, Failure> {
        let path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let scenario = Scenario {
            name: self.name.clone().unwrap_or_default(),
            queries: None,
            workload: self.replace.as_ref().map(path),
            scale: self.scalings()?,
            drop: self.drop.iter().map(|pattern| by_pattern(pattern)).collect(),
            add: self.add.iter().map(|given| added(given)).collect::<Result<_, _>>()?,
            options: self.weights()?.on(&self.options.given),
            exclude_hosts: self.exclude_host.clone(),
            boost_hosts: self
                .boost_host
                .iter()
                .map(|given| boost(given))
                .collect::<Result<_, _>>()?,
            fetched: Vec::new(),
            fetched_file: self.fetched.as_ref().map(path),
        };
        let nothing = Scenario { name: scenario.name.clone(), ..Scenario::default() };
        Ok((scenario != nothing).then_some(scenario))
    }

    fn scalings(&self) -> Result<Vec<Scaling>, Failure> {
        let mut all = Vec::new();
        for given in &self.scale {
            let (pattern, by) = pair("--scale", given, "\"^rust=10\"")?;
            all.push(Scaling { by, pattern: Some(pattern), ..Scaling::default() });
        }
        for given in &self.scale_kind {
            let (kind, by) = pair("--scale-kind", given, "question=2")?;
            all.push(Scaling { by, kind: Some(kind), ..Scaling::default() });
        }
        Ok(all)
    }

    fn weights(&self) -> Result<GivenOptions, Failure> {
        let mut weights = GivenOptions::default();
        for given in &self.weight {
            let (part, weight) = pair("--weight", given, "query=1")?;
            let Some(option) = Part::named(&part).and_then(PlannerOption::weight) else {
                let error = anyhow::anyhow!("--weight {given}: there is no part {part:?}");
                let names = Part::ALL.map(Part::name).join(", ");
                return Err(Failure::input(error, format!("the parts are {names}")));
            };
            weights.insert(option, weight);
        }
        Ok(weights)
    }
}

fn by_pattern(pattern: &str) -> Which {
    Which { pattern: Some(pattern.to_owned()), ..Which::default() }
}

fn boost(given: &str) -> Result<Boost, Failure> {
    let (host, by) = pair("--boost-host", given, "example.org=2")?;
    Ok(Boost { host, by })
}

/// A query alone is asked once.
fn added(given: &str) -> Result<AskedQuery, Failure> {
    let (query, frequency) = match given.rsplit_once('=') {
        Some(_) => pair("--add", given, "\"rye flour=50\"")?,
        None => (given.to_owned(), 1.0),
    };
    Ok(AskedQuery { query, frequency, qid: String::new(), kind: String::new() })
}

/// A name and a number, from `NAME=NUMBER`.
fn pair(flag: &str, given: &str, example: &str) -> Result<(String, f64), Failure> {
    let parted = given.rsplit_once('=');
    let found = parted.and_then(|(name, number)| Some((name, number.trim().parse().ok()?)));
    match found {
        Some((name, number)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), number)),
        _ => {
            let error = anyhow::anyhow!("{flag} {given:?} is no name, `=` and a number");
            Err(Failure::input(error, format!("for example {flag} {example}")))
        }
    }
}
