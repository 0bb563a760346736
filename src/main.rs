//! The `prospect` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    prospect::cli::main()
}
