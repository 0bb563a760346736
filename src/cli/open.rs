//! How commands open a store: to change it, or only to ask.

use std::io::ErrorKind;
use std::path::Path;

use prospect_index::error::StoreError;
use prospect_index::limits;
use prospect_index::store::{Store, StoreOptions};

use super::Global;
use super::output::{Failure, say};
use crate::campaign::OpenStore;

/// The campaign of a store for a command that asks: see [`store_to_ask`].
///
/// # Errors
/// As there; or a derived structure cannot be written.
pub(super) fn to_ask(root: &Path, holder: &str, global: &Global) -> Result<OpenStore, Failure> {
    Ok(OpenStore::of(store_to_ask(root, holder, global)?, limits::BOUNDS.ngram_words)?)
}

/// Opens a store for a command that asks. Beside a process that works on the store, or where nothing can be written, it
/// sees what was committed last, and whatever it brings up to date is gone with it.
///
/// # Errors
/// As [`Store::open`], but for a store in use.
pub(super) fn store_to_ask(root: &Path, holder: &str, global: &Global) -> Result<Store, Failure> {
    let options = StoreOptions { holder: holder.to_owned(), ..StoreOptions::default() };
    match Store::open(root, &options) {
        Err(error) if can_be_read(&error) => {
            say(global, &format!("{error}; this is of what was committed last"));
            Ok(Store::snapshot(root, holder)?)
        }
        opened => Ok(opened?),
    }
}

/// Opens what was committed last, for a command that asks for long: others can work on the store meanwhile.
///
/// # Errors
/// As [`Store::snapshot`]; or a derived structure cannot be written.
pub(super) fn to_ask_for_long(
    root: &Path,
    holder: &str,
    _global: &Global,
) -> Result<OpenStore, Failure> {
    Ok(OpenStore::of(Store::snapshot(root, holder)?, limits::BOUNDS.ngram_words)?)
}

/// Opens a store to change it.
///
/// # Errors
/// See [`OpenStore::open`].
pub(super) fn to_change(root: &Path, holder: &str, _global: &Global) -> Result<OpenStore, Failure> {
    Ok(OpenStore::open(root, holder, limits::BOUNDS.ngram_words)?)
}

/// Whether a store that cannot be opened can be read all the same.
fn can_be_read(error: &StoreError) -> bool {
    match error {
        StoreError::Locked { .. } | StoreError::ReadOnly { .. } => true,
        StoreError::Io { source, .. } => {
            matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
        }
        _ => false,
    }
}
