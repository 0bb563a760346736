//! The one error type of the on-disk side. Errors of tantivy, fst and parquet end here as text:
//! they do not leak, so that replacing one of these crates touches one module.

use std::path::{Path, PathBuf};

/// What can go wrong with a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused an operation on a file.
    #[error("cannot {operation} {path}")]
    Io {
        /// What was tried: "read", "write", "sync", "rename"…
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the truth is not what the manifest says.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Found against expected.
        what: String,
    },
    /// The store was written by a later version.
    #[error("{path} has store format {found}; this version reads up to {supported}")]
    NewerFormat {
        /// The manifest.
        path: PathBuf,
        /// Format number found.
        found: u32,
        /// Highest format number that can be read.
        supported: u32,
    },
    /// Another process holds the writer lock.
    #[error("the store {path} is in use by {holder}")]
    Locked {
        /// The store.
        path: PathBuf,
        /// What the lock file says of the process that holds it.
        holder: String,
    },
    /// The directory exists, holds something, and is no store.
    #[error("{path} is not a Prospect store: it has no MANIFEST.json, but is not empty")]
    NotAStore {
        /// The directory.
        path: PathBuf,
    },
    /// There is no store at this place.
    #[error("there is no store at {path}")]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// A derived structure could not be built or read; it can be rebuilt.
    #[error("{structure}: {what}")]
    Derived {
        /// "text index" or "n-gram index".
        structure: &'static str,
        /// What was found.
        what: String,
    },
    /// An earlier write on this handle failed; nothing more is written through it.
    #[error("the store was closed after an earlier write error")]
    Poisoned,
}

impl StoreError {
    /// The next step for the person who reads the message, if there is one.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "the disk is full; nothing stored is lost: free some space and run the command again"
            }
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                "check who owns the store's directory and its permissions"
            }
            Self::Damaged { .. } => {
                "run `prospect check --full --store DIR` for the whole list; restore the file from a \
                 backup or ingest the pages again into a new store"
            }
            Self::NewerFormat { .. } => "update prospect, or use a new directory",
            Self::Locked { .. } => {
                "wait for it to end; the lock is released when that process exits"
            }
            Self::NotAStore { .. } => "name a new or empty directory, or an existing store",
            Self::Missing { .. } => "create one with `prospect ingest --store DIR FILE…`",
            Self::Derived { .. } => {
                "delete the store's `derived` directory; it is rebuilt from the pages"
            }
            Self::Io { .. } | Self::Poisoned => return None,
        };
        Some(text.to_owned())
    }

    pub(crate) fn io(
        operation: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { operation, path, source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}
