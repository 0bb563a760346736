//! How fast the crawler of an experiment is, where time is simulated.

use std::path::Path;

use super::config::Config;
use super::settings::StartFiles;
use crate::cli::bounds;
use crate::cli::output::Failure;
use crate::plan::polite_time::{PoliteTime, QueueBy};
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
    let mut time = PoliteTime::default();
    let wrong = |what: String, hint: &str| Failure::input(anyhow::anyhow!(what), hint);
    if let Some(delay) = config.delay {
        if !(0.001..=1e6).contains(&delay) {
            let hint = "it is a number of seconds, a thousandth at least: --delay 1";
            return Err(wrong(format!("delay is {delay}"), hint));
        }
        time.delay = delay;
    }
    if let Some(name) = &config.queue_by {
        let by = QueueBy::ALL.into_iter().find(|by| by.name() == name);
        let hint = "it is host, domain or ip";
        time.queue_by = by.ok_or_else(|| wrong(format!("queue-by is {name:?}"), hint))?;
    }
    if let Some(connections) = config.connections {
        if connections == 0 {
            return Err(wrong("connections is 0".to_owned(), "for example --connections 2"));
        }
        time.connections = connections;
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
