//! Progress of an experiment: a bar a policy with ETA on a terminal, a plain line a policy every
//! ten seconds elsewhere.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::cli::Global;
use crate::report::number::with_noun;
use crate::simulate::experiment::CrawlProgress;

/// Time between plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Progress by policy.
pub(super) struct Policies {
    labels: Vec<String>,
    sets: u32,
    bars: Option<MultiProgress>,
    plain: bool,
    state: Mutex<State>,
}

struct State {
    by_policy: BTreeMap<usize, OnePolicy>,
    said: Instant,
}

struct OnePolicy {
    started: Instant,
    /// By set: pages fetched, and whether it is complete.
    sets: BTreeMap<u32, (u32, bool)>,
    bar: Option<ProgressBar>,
}

impl Policies {
    pub(super) fn new(global: &Global, labels: Vec<String>, sets: u32) -> Self {
        let terminal = io::stderr().is_terminal() && !global.quiet;
        let state = State { by_policy: BTreeMap::new(), said: Instant::now() };
        Self {
            labels,
            sets,
            bars: terminal.then(MultiProgress::new),
            plain: !terminal && !global.quiet,
            state: Mutex::new(state),
        }
    }

    fn note(&self, policy: usize, set: u32, pages: Option<(u32, u32)>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { by_policy, said } = &mut *state;
        let own = by_policy.entry(policy).or_insert_with(|| OnePolicy {
            started: Instant::now(),
            sets: BTreeMap::new(),
            bar: self.bars.as_ref().map(|bars| self.bar(bars, policy)),
        });
        let slot = own.sets.entry(set).or_insert((0, false));
        let per_set = if let Some((fetched, of)) = pages {
            slot.0 = fetched;
            of
        } else {
            slot.1 = true;
            slot.0
        };
        let complete = own.sets.values().filter(|(_, complete)| *complete).count() as u32;
        let total = u64::from(per_set) * u64::from(self.sets);
        // A complete crawl counts in full, although it may have ended early.
        let done: u64 = own
            .sets
            .values()
            .map(|(pages, complete)| {
                u64::from(if *complete { per_set.max(*pages) } else { *pages })
            })
            .sum();
        if let Some(bar) = &own.bar {
            bar.set_length(total.max(done));
            bar.set_position(done);
            if complete == self.sets {
                bar.finish();
            }
        }
        let finished = complete == self.sets;
        if self.plain && (finished || said.elapsed() >= PLAIN_EVERY) {
            *said = Instant::now();
            let label = &self.labels[policy];
            let line = if finished {
                format!(
                    "{label}: {} in {:.1} s",
                    with_noun(self.sets, "crawl"),
                    own.started.elapsed().as_secs_f64()
                )
            } else {
                let seconds = own.started.elapsed().as_secs_f64();
                let left = seconds * (total.saturating_sub(done)) as f64 / done.max(1) as f64;
                format!("{label}: {done} of at most {total} pages, ETA {left:.0} s")
            };
            crate::cli::output::print_note(&line);
        }
    }

    fn bar(&self, bars: &MultiProgress, policy: usize) -> ProgressBar {
        let bar = bars.add(ProgressBar::new(0));
        if let Ok(style) =
            ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} pages ETA {eta}")
        {
            bar.set_style(style);
        }
        bar.with_message(self.labels[policy].clone())
    }
}

impl CrawlProgress for Policies {
    fn crawled(&self, policy: usize, set: u32, pages: u32, of: u32) {
        self.note(policy, set, Some((pages, of)));
    }

    fn done(&self, policy: usize, set: u32) {
        self.note(policy, set, None);
    }
}
