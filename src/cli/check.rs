//! `prospect check`: verifies a store.

use std::path::PathBuf;

use prospect_index::check::check;

use super::Global;
use super::output::{self, Failure, say};

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
    let report = check(&args.store, args.full)?;
    if global.json {
        let mut json = serde_json::to_value(&report)?;
        json["schema"] = "prospect.check/1".into();
        output::print_json(&json)?;
    }
    for what in &report.to_rebuild {
        say(global, &format!("will be rebuilt at the next use: {what}"));
    }
    if let Some(first) = report.damage.first() {
        for what in &report.damage {
            say(global, &format!("damaged: {what}"));
        }
        let error =
            anyhow::anyhow!("the store is damaged in {} places; {first}", report.damage.len());
        return Err(Failure::input(
            error,
            "restore the named files from a backup, or ingest the pages again into a new store",
        ));
    }
    let how = if args.full {
        "every file verified"
    } else {
        "manifest and lengths verified; --full reads every file"
    };
    say(
        global,
        &format!(
            "sound: generation {}, {} files, {} URLs; {how}",
            report.generation, report.files, report.urls
        ),
    );
    Ok(())
}
