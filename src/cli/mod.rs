//! The command line: arguments, settings, progress, output, one file per command. The only part
//! that prints, reads the environment or the clock.

mod bounds;
mod budget;
mod check;
mod compact;
mod counterfactual;
mod crawl_log;
mod defaults;
mod demo;
mod doc_urls;
mod evaluate;
mod evaluation_set;
mod explain;
mod export;
mod formats;
mod generate;
mod help;
mod hints;
mod ingest;
mod log;
mod model;
mod open;
#[cfg(test)]
mod option_surfaces;
mod options;
mod output;
mod plain;
mod plan;
mod policies;
mod quality;
mod queries;
mod report;
mod seeds;
mod serve;
mod simulate;
mod status;
mod steps;
mod stream;
mod sufficiency;
mod url_rules;
mod whatif;
mod words;

use std::process::ExitCode;

use clap::{FromArgMatches, Parser, Subcommand};

use prospect_index::limits;

use self::defaults::Arguments;

pub(crate) use output::Failure;

/// Plans which uncrawled URLs to fetch next, so that search over the crawled pages gets better as
/// fast as possible.
#[derive(Parser)]
#[command(name = "prospect", version = env!("PROSPECT_VERSION"), about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// Options of every command.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Global {
    /// Print the result as JSON with a schema name.
    #[arg(long, global = true)]
    json: bool,
    /// Print nothing but results and errors.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Tell on standard error what each step took.
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Threads; 0 is one per core. Results do not depend on it.
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    threads: usize,
}

#[derive(Subcommand)]
enum Command {
    /// Plan the next batch on a real site that is already on your disk.
    Demo(demo::Args),
    /// Bring fetched pages into a store.
    Ingest(ingest::Args),
    /// Bring the statuses of a crawler's log or database into a store.
    CrawlLog(crawl_log::Args),
    /// Make URLs known that no page links to: lists, sitemaps, indexes of archives.
    Seeds(seeds::Args),
    /// Plan the next batch of URLs to fetch.
    Plan(Box<plan::Args>),
    /// Plan beside a running crawler: records in, URLs to fetch out.
    Stream(Box<stream::Args>),
    /// Tell what is in a store, and what became of its plans.
    Status(status::Args),
    /// List the plans of a store, one a line, with what became of them.
    Log(log::Args),
    /// Tell how well the pages answer a workload, what it still lacks, and whether to stop.
    Sufficiency(Box<sufficiency::Args>),
    /// Make queries with judgements of the pages of a store, to try crawls and sufficiency out.
    EvaluationSet(evaluation_set::Args),
    /// Tell which URLs lead to the same page, and plan one of them.
    UrlRules(url_rules::Args),
    /// Tell why a URL is planned or not, or what a query needs.
    Explain(explain::Args),
    /// Plan under other queries, weights, budgets or caps, and tell what would change.
    Whatif(Box<whatif::Args>),
    /// Show a store in the browser, and what would change if queries, weights, budgets or caps did.
    Serve(serve::Args),
    /// Tell what another batch would have earned, by the outcomes of one that was fetched.
    Counterfactual(counterfactual::Args),
    /// Crawl a collection under any policy, and measure what came of it.
    Simulate(Box<simulate::Args>),
    /// Measure search runs against judgements, and compare them.
    Evaluate(evaluate::Args),
    /// Show what simulations found: tables, or one HTML file with charts.
    Report(report::Args),
    /// Score the quality of documents, look at the scores, and prune by them.
    Quality(quality::Args),
    /// Write what a store holds for other programs: its pages, or an index of them.
    Export(export::Args),
    /// Verify a store.
    Check(check::Args),
    /// Merge the small files of a store, of which every commit writes some.
    Compact(compact::Args),
    /// List the crawl policies that can be simulated.
    Policies,
    /// List the metrics.
    Metrics,
    /// List the formats that are read and written, and the limits.
    Formats,
    /// Write completions for a shell, or man pages.
    Generate(generate::Args),
}

/// Parses the arguments, runs the command, and maps what happened to an exit code: 0 done, 1 the
/// user's input, 2 our fault.
pub fn main() -> ExitCode {
    match parsed() {
        Ok(Ok(cli)) => ended(run(&cli)),
        Ok(Err(error)) => {
            output::print_usage(&error);
            ExitCode::from(u8::from(error.use_stderr()))
        }
        Err(failure) => ended(Err(failure)),
    }
}

/// The arguments, or what is wrong with them; a failure is of the file that has some of them.
fn parsed() -> Result<Result<Cli, clap::Error>, Failure> {
    let mut command = help::command();
    let Arguments { all, told } = defaults::arguments(&command, std::env::args_os().collect())?;
    if defaults::is_given(&all, "scenario") {
        command = command.mut_subcommand("plan", help::without_environment);
    }
    let matches = command.try_get_matches_from(all);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    let is_quiet = cli.as_ref().map_or_else(|error| !error.use_stderr(), |cli| cli.global.quiet);
    if let Some(told) = told.filter(|_| !is_quiet) {
        output::print_note(&told);
    }
    Ok(cli)
}

fn ended(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::print_failure(&failure);
            ExitCode::from(failure.code)
        }
    }
}

fn run(cli: &Cli) -> Result<(), Failure> {
    if cli.global.verbose {
        steps::tell();
    }
    if cli.global.threads > limits::BOUNDS.threads {
        let error = anyhow::anyhow!("{} threads are too many", cli.global.threads);
        let hint =
            format!("--threads takes at most {}; 0 is one for each core", limits::BOUNDS.threads);
        return Err(Failure::input(error, hint));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(cli.global.threads)
        .build_global()
        .map_err(Failure::ours)?;
    match &cli.command {
        Command::Demo(args) => demo::run(args, &cli.global),
        Command::Ingest(args) => ingest::run(args, &cli.global),
        Command::CrawlLog(args) => crawl_log::run(args, &cli.global),
        Command::Seeds(args) => seeds::run(args, &cli.global),
        Command::Plan(args) => plan::run(args, &cli.global),
        Command::Stream(args) => stream::run(args, &cli.global),
        Command::Status(args) => status::run(args, &cli.global),
        Command::Log(args) => log::run(args, &cli.global),
        Command::Sufficiency(args) => sufficiency::run(args, &cli.global),
        Command::EvaluationSet(args) => evaluation_set::run(args, &cli.global),
        Command::UrlRules(args) => url_rules::run(args, &cli.global),
        Command::Explain(args) => explain::run(args, &cli.global),
        Command::Whatif(args) => whatif::run(args, &cli.global),
        Command::Serve(args) => serve::run(args, &cli.global),
        Command::Counterfactual(args) => counterfactual::run(args, &cli.global),
        Command::Simulate(args) => simulate::run(args, &cli.global),
        Command::Evaluate(args) => evaluate::run(args, &cli.global),
        Command::Report(args) => report::run(args, &cli.global),
        Command::Quality(args) => quality::run(args, &cli.global),
        Command::Export(args) => export::run(args, &cli.global),
        Command::Check(args) => check::run(args, &cli.global),
        Command::Compact(args) => compact::run(args, &cli.global),
        Command::Policies => policies::policies(&cli.global),
        Command::Metrics => policies::metrics(&cli.global),
        Command::Formats => formats::run(&cli.global),
        Command::Generate(args) => generate::run(args, &cli.global),
    }
}
