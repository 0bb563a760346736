//! URLs to fetch on standard output, each with the time from which a polite crawler may ask for it.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::campaign::stream::Asked;
use crate::cli::plain::{Plain, stdout};
use crate::plan::pace::Pace;

/// A line.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    rank: usize,
    estimate: f64,
    plan: &'a str,
    /// Seconds since 1970, in whole milliseconds.
    not_before: f64,
}

/// Where URLs go.
pub(super) struct Outgoing {
    out: BufWriter<Plain<StdoutLock<'static>>>,
    pace: Pace,
}

impl Outgoing {
    /// To standard output, at this pace.
    pub(super) fn new(pace: Pace) -> Self {
        Self { out: BufWriter::new(stdout()), pace }
    }

    /// Writes URLs, all of them or what fits before an error.
    ///
    /// # Errors
    /// Nobody reads them, or they cannot be written.
    pub(super) fn ask(&mut self, asked: &[Asked]) -> io::Result<()> {
        let times = self.pace.schedule(asked.iter().map(|asked| asked.canonical.as_str()), now());
        for (Asked { url, rank, estimate, plan, .. }, time) in asked.iter().zip(times) {
            let not_before = time as f64 / 1e3;
            self.line(&Line { url, rank: *rank, estimate: *estimate, plan, not_before })?;
        }
        self.out.flush()
    }

    /// These may have been asked for a moment ago, by a stream before this one.
    pub(super) fn asked_before(&mut self, asked: &[Asked]) {
        let now = now();
        for asked in asked {
            self.pace.asked(&asked.canonical, now);
        }
    }

    /// Writes what is no URL, as the last line.
    ///
    /// # Errors
    /// Nobody reads it, or it cannot be written.
    pub(super) fn end(&mut self, value: &serde_json::Value) -> io::Result<()> {
        self.line(value)?;
        self.out.flush()
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
