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
    /// The store, or a file of it, was written by a later version.
    #[error("{path} has {what} {found}; this version reads up to {supported}")]
    NewerFormat {
        /// The manifest, or a segment.
        path: PathBuf,
        /// "store format" or "schema version".
        what: &'static str,
        /// Number found.
        found: u32,
        /// Highest number that can be read.
        supported: u32,
    },
    /// A file is whole and lacks a column: an older version wrote it.
    #[error("{path} lacks the column {column} of {table}; it has {found}")]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// Name of its schema.
        table: &'static str,
        /// The column.
        column: String,
        /// The columns that it has.
        found: String,
    },
    /// A file is whole, and a column has another type than this version writes.
    #[error("{path}: the column {column} is {found}, not {expected}")]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// The type it should have.
        expected: &'static str,
    },
    /// A file is whole, and a column holds a value that this version gives no meaning.
    #[error("{path}: the column {column} holds {found:?}, which is none of {expected}")]
    UnknownValue {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// The value.
        found: String,
        /// The values that have a meaning.
        expected: String,
    },
    /// The manifest is whole, and does not say what this version needs to know.
    #[error("{path} is whole, but cannot be understood: {what}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Found against expected.
        what: String,
    },
    /// Another process holds the writer lock.
    #[error("the store {path} is in use by {holder}")]
    Locked {
        /// The store.
        path: PathBuf,
        /// What the lock file says of the process that holds it.
        holder: String,
    },
    /// The store may be read and not written: its permissions say so, or how it is mounted.
    #[error("the store {path} can only be read here")]
    ReadOnly {
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The directory exists, holds something, and is no store.
    #[error("{path} is not a Prospect store: {}", if path.is_dir() {
        "it has no MANIFEST.json, but is not empty"
    } else {
        "it is no folder"
    })]
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
    Poisoned {
        /// That error.
        #[source]
        first: Box<StoreError>,
    },
}

impl StoreError {
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
