//! Fault injection for tests: the n-th step towards the disk fails, as does every later one.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts steps and fails from a chosen one on.
#[derive(Debug)]
pub(crate) struct FaultPlan {
    taken: AtomicU64,
    fail_from: u64,
    kind: io::ErrorKind,
}

impl FaultPlan {
    /// Lets `fail_from` steps pass, then fails with an error of this kind.
    pub(crate) fn new(fail_from: u64, kind: io::ErrorKind) -> Self {
        Self { taken: AtomicU64::new(0), fail_from, kind }
    }

    pub(super) fn step(&self) -> io::Result<()> {
        let taken = self.taken.fetch_add(1, Ordering::SeqCst);
        if taken < self.fail_from { Ok(()) } else { Err(self.kind.into()) }
    }
}
