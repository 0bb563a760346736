//! How fast the crawler of an experiment is, where time is simulated.

use std::path::Path;

use serde_json::Value;

use super::config::Config;
use super::settings::StartFiles;
use crate::cli::bounds;
use crate::cli::options::apply;
use crate::cli::output::Failure;
use crate::plan::polite_time::PoliteTime;
use crate::planner::options::GivenOptions;
use crate::planner::settings::PlanSettings;
use crate::policy::PolicyChoice;
use crate::policy::amount::BatchSize;
use crate::simulate::clock::Clock;

/// The clock that is asked for: with a setting of time, or a batch that is one.
pub(super) fn clock(
    config: &Config,
    batch: BatchSize,
    policies: &[PolicyChoice],
    files: &mut StartFiles,
) -> Result<Option<Clock>, Failure> {
    let own = policies.iter().filter_map(PolicyChoice::batch);
    let is_time = own.chain([batch]).any(|batch| batch.seconds().is_some());
    if !is_time && !is_timed(config) {
        return Ok(None);
    }
    refuse(config)?;
    let time = polite_time(config)?;
    let wrong = |what: String, hint: &str| Failure::input(anyhow::anyhow!(what), hint);
    if time.delay < 0.001 {
        let hint = "simulated time passes in milliseconds: --delay 1";
        return Err(wrong(format!("delay is {}", time.delay), hint));
    }
    if let Some(most) = config.max_seconds.filter(|most| !most.is_finite() || *most <= 0.0) {
        return Err(wrong(format!("max-seconds is {most}"), "for example --max-seconds 1440"));
    }
    let (addresses, delays) = (config.addresses.as_ref(), config.delays.as_ref());
    let queues =
        bounds::queues(time.queue_by, addresses.map(Path::new), None, delays.map(Path::new))?;
    for (name, path) in [("delays", &config.delays), ("addresses", &config.addresses)] {
        files.extend(path.iter().map(|path| (name, path.clone())));
    }
    Ok(Some(Clock { time, queues, most: config.max_seconds }))
}

/// The options of the table of planner options that are of the crawler.
fn polite_time(config: &Config) -> Result<PoliteTime, Failure> {
    let given = [
        // By its text: what is no number of JSON is told as it was said.
        ("delay", config.delay.map(|delay| Value::from(delay.to_string()))),
        ("queue-by", config.queue_by.clone().map(Value::from)),
        ("connections", config.connections.map(Value::from)),
    ];
    let mut options = GivenOptions::default();
    for (name, value) in given {
        if let Some(value) = value {
            options = options.with(name, value).map_err(Failure::ours)?;
        }
    }
    let mut settings = PlanSettings::new(0);
    apply(&options, &mut settings)?;
    Ok(settings.selection.caps.time)
}

/// Whether a setting of time is given.
pub(super) fn is_timed(config: &Config) -> bool {
    config.delay.is_some()
        || config.delays.is_some()
        || config.addresses.is_some()
        || config.queue_by.is_some()
        || config.connections.is_some()
        || config.max_seconds.is_some()
}

/// Trials beside a crawl know no time.
fn refuse(config: &Config) -> Result<(), Failure> {
    let beside = [
        (!config.sketches.is_empty(), "sketches"),
        (config.counterfactual.is_some(), "counterfactual"),
        (config.whatif.is_some(), "whatif"),
        (config.ablate, "ablate"),
        (!config.attack.is_empty(), "attack"),
    ];
    match beside.into_iter().find(|(given, _)| *given) {
        Some((_, name)) => {
            let error = anyhow::anyhow!("{name} counts pages, and the experiment counts seconds");
            Err(Failure::input(error, "make two experiments of them, one without settings of time"))
        }
        None => Ok(()),
    }
}
