//! `prospect compact`: merges the small files of a store.

use std::path::PathBuf;

use prospect_index::compaction::Extent;
use prospect_index::store::{Store, StoreOptions};

use super::Global;
use super::output::{self, Failure, say};
use crate::campaign::tables::SCHEMAS;
use crate::report::number::with_noun;

/// Arguments of `prospect compact`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let holder = "prospect compact".to_owned();
    let mut store = Store::open(&args.store, &StoreOptions { holder, ..StoreOptions::default() })?;
    let [(files, bytes), (left, left_bytes)] = store.compact(&SCHEMAS, Extent::All)?;
    if global.json {
        let json = serde_json::json!({
            "schema": "prospect.compact/1",
            "files_before": files,
            "files": left,
            "bytes_before": bytes,
            "bytes": left_bytes,
        });
        output::print_json(&json)?;
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let were = with_noun(files, "file");
    let line = if files == left {
        format!("{were}, none of which can be merged with another")
    } else {
        format!(
            "{were} of {:.1} MiB are {left} of {:.1} MiB now; nothing else has changed",
            mib(bytes),
            mib(left_bytes)
        )
    };
    say(global, &line);
    Ok(())
}
