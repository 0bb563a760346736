//! demo
use super::Global; use super::output::Failure;
/// Arguments
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {}
pub(super) fn run(_args: &Args, _global: &Global) -> Result<(), Failure> { Ok(()) }
