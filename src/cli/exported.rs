//! What a store knows, as a file that another store can take in.

use std::cell::Cell;
use std::path::Path;

use super::output::{self, Failure};
use crate::campaign::OpenStore;
use crate::campaign::knowledge::{self, Exported};

/// Writes the pages of a store with their links, as JSON lines that `prospect ingest` reads; whole or not at all.
pub(super) fn write(open: &OpenStore, path: &Path) -> Result<Exported, Failure> {
    let (told, failed) = (Cell::new(Exported::default()), Cell::new(None));
    let written = output::write_file(path, |out| {
        let exported = knowledge::export(open, |record| {
            serde_json::to_writer(&mut *out, record)?;
            out.write_all(b"\n")
        });
        match exported {
            Ok(done) => done.map(|exported| told.set(exported)),
            Err(error) => {
                failed.set(Some(error));
                Err(std::io::ErrorKind::Other.into())
            }
        }
    });
    match (written, failed.take()) {
        (_, Some(error)) => Err(error.into()),
        (Err(error), None) => Err(output::not_written(path, error)),
        (Ok(()), None) => Ok(told.get()),
    }
}
