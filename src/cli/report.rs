//! `prospect report`: what simulations found, as tables on the terminal, as JSON, as one HTML file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Global;
use super::output::{self, Failure, say};
use super::plain::stdout;
use crate::report::{figures, html, read, terminal};
use crate::results::Summary;

/// The file that a simulation leaves in its directory.
const SUMMARY: &str = "summary.json";
const PROVENANCE: &str = "PROVENANCE.json";
/// What `prospect simulate --changes` leaves.
const REVISITS: &str = "revisits.json";
const HOW_TO_MAKE: &str = "a directory of results is what prospect simulate … --out DIR leaves";

/// Arguments of `prospect report`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// Directories that `prospect simulate --out` wrote.
    #[arg(required = true, value_name = "DIR")]
    directories: Vec<PathBuf>,
    /// Write a report with charts to this file, which needs no other; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Show one query kind only; `all` is all queries together.
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let summaries: Vec<Summary> =
        args.directories.iter().map(|directory| load(directory)).collect::<Result<_, _>>()?;
    let kind = args.kind.as_deref();
    check_kind(&summaries, kind)?;
    if let Some(path) = &args.html {
        if summaries.iter().any(|summary| summary.single_query.is_some()) {
            let error = anyhow::anyhow!("crawls for one query each have no curves to draw");
            return Err(Failure::input(error, "leave out --html: they are told as tables"));
        }
        let page = html::page(&summaries)?;
        if path == Path::new("-") {
            return Ok(stdout().write_all(page.as_bytes())?);
        }
        output::write_file(path, |out| out.write_all(page.as_bytes()))
            .map_err(|error| output::not_written(path, error))?;
    }
    if global.json {
        output::print_json(&figures::figures(&summaries, kind)?)?;
    } else {
        let tables: Vec<String> =
            summaries.iter().map(|summary| terminal::tables(summary, kind)).collect();
        stdout().write_all(tables.join("\n").as_bytes())?;
    }
    match &args.html {
        Some(path) => say(global, &format!("report: {}; open it in a browser", path.display())),
        None if summaries.iter().any(|summary| summary.single_query.is_some()) => (),
        None => say(global, "next: prospect report DIR… --html FILE draws the curves"),
    }
    Ok(())
}

/// The summary in a directory, or in the file itself.
fn load(directory: &Path) -> Result<Summary, Failure> {
    let path = if directory.is_file() { directory.to_owned() } else { directory.join(SUMMARY) };
    let shown = path.display();
    let bytes = fs::read(&path).map_err(|error| {
        let what = match error.kind() {
            io::ErrorKind::NotFound if directory.join(REVISITS).exists() => {
                let shown = directory.display();
                format!(
                    "{shown}: a crawl with --changes has no curves; its figures are in {REVISITS}"
                )
            }
            io::ErrorKind::NotFound if directory.exists() => {
                format!("{}: there is no {SUMMARY} in it{}", directory.display(), beside(directory))
            }
            io::ErrorKind::NotFound => {
                format!("{}: there is no such directory", directory.display())
            }
            _ => format!("cannot read {shown}"),
        };
        let error = match error.kind() {
            io::ErrorKind::NotFound => anyhow::anyhow!(what),
            _ => anyhow::Error::new(error).context(what),
        };
        Failure::input(error, HOW_TO_MAKE)
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::input(
            anyhow::Error::new(error).context(format!("{shown} is no text")),
            HOW_TO_MAKE,
        )
    })?;
    read::read(&text).map_err(|error| {
        let hint = match error {
            read::ReadError::Schema { .. } => {
                "another version of Prospect wrote it: run prospect simulate again with this one"
            }
            _ => "run prospect simulate … --out DIR again",
        };
        Failure::input(anyhow::Error::new(error).context(format!("cannot use {shown}")), hint)
    })
}

/// What there is in a directory in the place of a summary, in words.
fn beside(directory: &Path) -> String {
    let below =
        |entry: fs::DirEntry| entry.path().join(SUMMARY).exists().then(|| entry.file_name());
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<_> = entries.filter_map(below).collect();
    found.sort();
    match found.first() {
        Some(first) => format!("; there is one in {}", directory.join(first).display()),
        None if directory.join(PROVENANCE).exists() => {
            "; its experiment is not finished: the same command again goes on with it".to_owned()
        }
        None => String::new(),
    }
}

fn check_kind(summaries: &[Summary], kind: Option<&str>) -> Result<(), Failure> {
    let Some(kind) = kind else { return Ok(()) };
    let mut names: Vec<&str> =
        summaries.iter().flat_map(|summary| &summary.kinds).map(String::as_str).collect();
    if summaries.iter().any(|summary| summary.single_query.is_some()) {
        names.push("all");
    }
    names.sort_unstable();
    names.dedup();
    if names.contains(&kind) {
        return Ok(());
    }
    let error = anyhow::anyhow!("there are no queries of the kind {kind:?}");
    Err(Failure::input(error, format!("the kinds are {}", names.join(", "))))
}
