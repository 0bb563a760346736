//! `prospect quality`: scores of documents, what they tell, and pruning by them.

mod analyze;
mod files;
mod prune;
mod score;

use clap::Subcommand;

use super::Global;
use super::output::{Failure, say};
use crate::quality::Counts;

/// Arguments of `prospect quality`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Clone, Debug)]
enum Command {
    /// Add a quality score to every document of Parquet, CSV or JSON files, or to the pages of WARC files.
    Score(Box<score::Args>),
    /// Look at the scores of collections: distribution, neighbours, distances, relevance.
    Analyze(analyze::Args),
    /// Keep the best documents, or divide them into tiers.
    Prune(Box<prune::Args>),
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    match &args.command {
        Command::Score(args) => score::run(args, global),
        Command::Analyze(args) => analyze::run(args, global),
        Command::Prune(args) => prune::run(args, global),
    }
}

/// One line for each reason, with the first example.
fn say_counts(global: &Global, what: &str, counts: &Counts) {
    for (reason, (count, first)) in &counts.0 {
        let line =
            format!("{what} {count} ({reason}), the first at {}: {}", first.place, first.detail);
        say(global, &line);
    }
}

fn counts_as_json(counts: &Counts) -> serde_json::Value {
    let mut entries = serde_json::Map::new();
    for (reason, (count, first)) in &counts.0 {
        let first = format!("{}: {}", first.place, first.detail);
        let entry = serde_json::json!({ "count": count, "first": first });
        entries.insert((*reason).to_owned(), entry);
    }
    entries.into()
}
