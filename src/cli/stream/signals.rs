//! A stream that is to end: the first signal ends it as the end of its records does, another at once.

use std::process;
use std::thread;

/// Waits for signals in a thread of its own, and calls `stop` at the first, which may wait in its turn. Signals that whoever
/// started the process has it ignore stay ignored; where signals cannot be had the system's usual answer stays.
pub(super) fn on_first(stop: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Some(mut signals) = Signals::new() else { return };
            signals.next().await;
            thread::spawn(stop);
            process::exit(128 + signals.next().await);
        });
    });
}

#[cfg(unix)]
struct Signals(tokio::sync::mpsc::Receiver<i32>);

#[cfg(unix)]
impl Signals {
    /// Those by which people and systems end processes.
    fn new() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (sender, numbers) = tokio::sync::mpsc::channel(1);
        let ignored = ignored();
        for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
            let number = kind.as_raw_value();
            if ignored >> (number - 1) & 1 == 1 {
                continue;
            }
            let (mut signal, sender) = (signal(kind).ok()?, sender.clone());
            tokio::spawn(async move {
                while signal.recv().await.is_some() && sender.send(number).await.is_ok() {}
            });
        }
        Some(Self(numbers))
    }

    /// The number of the next one; none comes where all are ignored.
    async fn next(&mut self) -> i32 {
        match self.0.recv().await {
            Some(number) => number,
            None => std::future::pending().await,
        }
    }
}

/// Signals that the process ignores, a bit each, as far as the system tells.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[allow(clippy::unnecessary_wraps, reason = "as on other systems")]
    fn new() -> Option<Self> {
        Some(Self)
    }

    async fn next(&mut self) -> i32 {
        let _ = tokio::signal::ctrl_c().await;
        2
    }
}
