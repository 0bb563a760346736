//! `prospect check`: verifies a store.

use std::collections::BTreeMap;
use std::path::PathBuf;

use prospect_index::check::{CheckReport, check};
use prospect_index::manifest::FORMAT;

use super::Global;
use super::output::{self, Failure, say};
use crate::campaign::tables::SCHEMAS;
use crate::report::number::{counted, with_noun};
use crate::workload::shown;

/// Arguments of `prospect check`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Read every file: checksums, rows, derived structures.
    #[arg(long)]
    full: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let report = check(&args.store, args.full, &SCHEMAS)?;
    if let Some(holder) = &report.in_use_by {
        let store = shown(&args.store);
        let line = format!(
            "the store {store} is in use by {holder}; this is of what was committed last, without \
             derived structures"
        );
        say(global, &line);
    }
    if global.json {
        let mut json = serde_json::to_value(&report)?;
        json["schema"] = "prospect.check/1".into();
        output::print_json(&json)?;
    }
    for what in &report.to_rebuild {
        say(global, &format!("will be rebuilt at the next use: {what}"));
    }
    if let Some(first) = report.older.first() {
        let count = report.older.len();
        let line = format!(
            "without all columns of today, for an older version wrote them: {} of plans, read as far as they \
             go; the first: {first}",
            with_noun(count, "file")
        );
        say(global, &line);
    }
    say(global, &format_line(&report));
    refuse(global, &report)?;
    let how = if args.full {
        "every file verified"
    } else {
        "manifest and lengths verified; --full reads every file"
    };
    say(
        global,
        &format!(
            "sound: generation {}, {}, {}; {how}",
            report.generation,
            with_noun(report.files, "file"),
            with_noun(report.urls, "URL")
        ),
    );
    Ok(())
}

/// Format of the store, and how many of its files have which schema version; JSON tells it by table.
fn format_line(report: &CheckReport) -> String {
    let mut line = format!("store format {}", report.format);
    if report.format < FORMAT {
        line += &format!(", which the next commit makes {FORMAT}");
    }
    let mut files: BTreeMap<u32, u64> = BTreeMap::new();
    for table in &report.tables {
        *files.entry(table.schema).or_default() += table.files;
    }
    for (schema, files) in files {
        line += &match schema {
            0 => format!("; {} as of format 1", with_noun(files, "file")),
            schema => format!("; {} of schema version {schema}", with_noun(files, "file")),
        };
    }
    line
}

/// Fails if a file is damaged, or not understood.
fn refuse(global: &Global, report: &CheckReport) -> Result<(), Failure> {
    for what in &report.damage {
        say(global, &format!("damaged: {what}"));
    }
    for what in &report.not_understood {
        say(global, &format!("not understood: {what}"));
    }
    if let Some(first) = report.damage.first() {
        let error = anyhow::anyhow!(
            "the store is damaged in {}; {first}",
            counted(report.damage.len() as u64, "place")
        );
        return Err(Failure::input(
            error,
            "restore the named files from a backup, or ingest the pages again into a new store",
        ));
    }
    let Some(first) = report.not_understood.first() else { return Ok(()) };
    let count = report.not_understood.len();
    let error = anyhow::anyhow!("{count} whole files are not understood; {first}");
    Err(Failure::input(
        error,
        "nothing is damaged: use the version of prospect that wrote them, or ingest the pages again into a \
         new store",
    ))
}
