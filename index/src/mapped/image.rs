//! The files of columns: written as a derived structure, verified and mapped.

use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory};
use zerocopy::IntoBytes;

use super::{Cell, Column};
use crate::derived::Derived;
use crate::error::StoreError;
use crate::storage::FileEntry;

/// Name of the structure in errors.
const STRUCTURE: &str = "tables";

/// Writes columns into the folder of a derived structure.
pub(crate) struct ImageWriter<'a> {
    derived: &'a Derived<'a>,
    generation: u64,
    files: Vec<FileEntry>,
}

impl<'a> ImageWriter<'a> {
    /// Of files that the `generation` of a store names: names are used once, so that a file which somebody reads
    /// is never another one.
    pub(crate) fn new(derived: &'a Derived<'a>, generation: u64) -> Self {
        Self { derived, generation, files: Vec::new() }
    }

    /// Writes a column from its parts.
    ///
    /// # Errors
    /// The write failed.
    pub(crate) fn column<T: Cell>(&mut self, name: &str, parts: &[&[T]]) -> Result<(), StoreError> {
        let mut file = self.derived.start(&format!("{name}-{:06}.bin", self.generation))?;
        for part in parts {
            file.append(part.as_bytes())?;
        }
        self.files.push(file.finish_unsynced()?);
        Ok(())
    }

    /// What was written.
    pub(crate) fn finish(self) -> Vec<FileEntry> {
        self.files
    }
}

/// Maps columns that were written.
pub(crate) struct ImageReader<'a> {
    derived: &'a Derived<'a>,
    directory: MmapDirectory,
    files: &'a [FileEntry],
}

impl<'a> ImageReader<'a> {
    /// Of these files of a structure.
    ///
    /// # Errors
    /// They cannot be mapped.
    pub(crate) fn new(
        derived: &'a Derived<'a>,
        files: &'a [FileEntry],
    ) -> Result<Self, StoreError> {
        let folder = derived.storage().path(derived.directory());
        let directory = MmapDirectory::open(&folder).map_err(refused)?;
        Ok(Self { derived, directory, files })
    }

    /// A column, after its checksum was verified.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub(crate) fn column<T: Cell>(&self, name: &str) -> Result<Column<T>, StoreError> {
        let of_name = |entry: &&FileEntry| {
            let file = entry.file.rsplit('/').next().unwrap_or_default();
            file.rsplit_once('-').is_some_and(|(stem, _)| stem == name)
        };
        let entry = self.files.iter().find(of_name).ok_or_else(|| refused(name))?;
        self.derived.verify(std::slice::from_ref(entry))?;
        let path = self.derived.storage().path(&entry.file);
        let file = path.file_name().map_or(path.as_path(), Path::new);
        let handle = self.directory.get_file_handle(file).map_err(refused)?;
        let bytes = handle.read_bytes(0..entry.bytes as usize).map_err(refused)?;
        Column::of_file(bytes).ok_or_else(|| StoreError::damaged(&path, "it has no whole rows"))
    }
}

fn refused(error: impl std::fmt::Display) -> StoreError {
    StoreError::Derived { structure: STRUCTURE, what: error.to_string() }
}
