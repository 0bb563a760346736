//! `prospect quality analyze`: what the scores of collections tell, as tables, JSON and HTML.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use super::files::{FormatArg, cannot};
use crate::cli::Global;
use crate::cli::output::{self, Failure, say};
use crate::cli::plain::stdout;
use crate::documents::{self, DocumentError, DocumentSource, Input, OpenOptions};
use crate::quality::analysis::{self, AnalysisSettings};
use crate::report::{html, quality};
use crate::workload::qrels;

/// Arguments of `prospect quality analyze`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// Scored files: Parquet, CSV, JSON or JSON lines; several are compared.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Column of the scores.
    #[arg(long, value_name = "COLUMN", default_value = "quality_score")]
    column: String,
    /// Column of the links; by default `outgoing_links`, `outlinks` or `links`.
    #[arg(long, value_name = "COLUMN")]
    links_column: Option<String>,
    /// TREC judgements, `qid 0 url grade` a line: sets relevant pages beside the others.
    #[arg(long, value_name = "FILE")]
    qrels: Option<PathBuf>,
    /// Write a page with charts to this file, which needs no other; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Format of the inputs; by default told by their names.
    #[arg(long, value_enum, value_name = "FORMAT")]
    input_format: Option<FormatArg>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let settings = AnalysisSettings {
        column: args.column.clone(),
        links: args.links_column.clone(),
        relevant: relevant(args)?,
    };
    let mut gathered = Vec::new();
    for path in &args.files {
        let input = Input::of(path, args.input_format.map(Into::into));
        if input.is_stream() {
            let error = anyhow::anyhow!("standard input cannot be read twice");
            return Err(Failure::input(error, "name a file"));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        say(global, &format!("reading {}", input.name));
        let mut open = |columns: Option<&[String]>| open(&input, columns);
        gathered.push(analysis::gather(&name, &settings, &mut open)?);
    }
    let found = analysis::compare(&args.column, env!("CARGO_PKG_VERSION"), &gathered);
    if let Some(path) = &args.html {
        let page = html::quality::page(&found)?;
        if path.as_os_str() == "-" {
            return Ok(stdout().write_all(page.as_bytes())?);
        }
        output::write_file(path, |out| out.write_all(page.as_bytes()))
            .map_err(|error| cannot("write", path, error))?;
    }
    if global.json {
        output::print_json(&serde_json::to_value(&found)?)?;
    } else {
        stdout().write_all(quality::tables(&found).as_bytes())?;
    }
    match &args.html {
        Some(path) => say(global, &format!("charts: {}; open it in a browser", path.display())),
        None => say(global, "next: --html FILE draws the charts; prospect quality prune cuts"),
    }
    Ok(())
}

/// Opens a file with these columns, or with all of them.
fn open(
    input: &Input,
    columns: Option<&[String]>,
) -> Result<Box<dyn DocumentSource>, DocumentError> {
    let columns = columns.map(<[String]>::to_vec);
    documents::open(input, &OpenOptions { columns, ..OpenOptions::default() })
}

fn relevant(args: &Args) -> Result<Option<HashSet<String>>, Failure> {
    let Some(path) = &args.qrels else { return Ok(None) };
    let judged = qrels::load(path)?;
    Ok(Some(judged.into_iter().filter(|one| one.grade > 0).map(|one| one.url).collect()))
}
