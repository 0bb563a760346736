//! Files of queries: read, and told where they may be meant otherwise.

use std::path::Path;

use super::output::{Failure, say};
use super::{Global, hints};
use crate::workload::{self, Workload};

/// Reads a workload, and says what was assumed of it.
pub(in crate::cli) fn load(path: &Path, global: &Global) -> Result<Workload, Failure> {
    let (workload, assumed) = workload::load_told(path)?;
    for assumption in &assumed {
        let (file, way_out) = (workload::shown(path), hints::of_assumption(assumption));
        say(global, &format!("warning: {file}:{assumption}; {way_out}"));
    }
    Ok(workload)
}
