//! What each step of a command took, for `--verbose`: the layers below log what they have done, and here it is told on
//! standard error with the time that it took.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use log::{LevelFilter, Log, Metadata, Record};

use super::output::print_note;

/// Tells steps that are logged, whose targets are modules of this package.
struct Steps {
    started: Instant,
    /// When the last step ended.
    last: Mutex<Duration>,
}

/// Tells each step from now on.
pub(super) fn tell() {
    // It is there for as long as the process is.
    let steps = Box::leak(Box::new(Steps { started: Instant::now(), last: Mutex::default() }));
    if log::set_logger(steps).is_ok() {
        log::set_max_level(LevelFilter::Debug);
    }
}

impl Log for Steps {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let (package, target) = (env!("CARGO_PKG_NAME"), metadata.target());
        target.strip_prefix(package).is_some_and(|rest| rest.starts_with("::"))
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.started.elapsed();
        let took = now.saturating_sub(*last);
        *last = now;
        let (now, took) = (now.as_secs_f64(), took.as_secs_f64());
        print_note(&format!("{now:>9.3} s, this {took:>8.3} s: {}", record.args()));
    }

    fn flush(&self) {}
}
