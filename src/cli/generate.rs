//! `prospect generate`: completions and man pages, from the definitions that the help is made of.

use std::io::Write;
use std::path::PathBuf;

use clap_complete::Shell;
use clap_mangen::Man;

use super::output::{self, Failure, say};
use super::plain::stdout;
use super::{Global, help};

/// Arguments of `prospect generate`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum What {
    /// Write completions of commands and options for a shell to standard output.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write man pages: one for each command into a folder, or that of `prospect` alone to standard output.
    Man {
        /// The folder, such as /usr/local/share/man/man1; made if it is missing.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    match &args.what {
        What::Completions { shell } => {
            // Generators take it for granted that they can write; a pipe may be closed.
            let mut text = Vec::new();
            clap_complete::generate(*shell, &mut help::command(), "prospect", &mut text);
            Ok(stdout().write_all(&text)?)
        }
        What::Man { out: None } => Ok(Man::new(help::command()).render(&mut stdout())?),
        What::Man { out: Some(folder) } => {
            let written = std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(help::command(), folder));
            written.map_err(|error| output::not_written(folder, error))?;
            say(global, &format!("next: man {}", folder.join("prospect.1").display()));
            Ok(())
        }
    }
}
