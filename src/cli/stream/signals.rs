//! A stream that is to end: the first signal ends it as the end of its records does, another at once.

use std::process;
use std::thread;

/// Waits for signals in a thread of its own, and calls `stop` at the first. Where signals cannot be had the system's usual
/// answer stays, which ends the process.
pub(super) fn on_first(stop: impl FnOnce() + Send + 'static) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Some(mut signals) = Signals::new() else { return };
            signals.next().await;
            stop();
            process::exit(128 + signals.next().await);
        });
    });
}

#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Signals {
    /// Those by which people and systems end processes.
    fn new() -> Option<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let of = |kind| signal(kind).ok();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [Some(interrupt), Some(terminate), Some(hangup)] = kinds.map(of) else { return None };
        Some(Self([interrupt, terminate, hangup]))
    }

    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => 2,
            _ = terminate.recv() => 15,
            _ = hangup.recv() => 1,
        }
    }
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
