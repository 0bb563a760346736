//! The files of columns: written as a derived structure, verified and mapped.

use zerocopy::IntoBytes;

use super::{Cell, Column, map};
use crate::derived::Derived;
use crate::error::StoreError;
use crate::storage::FileEntry;

/// Writes columns into the folder of a derived structure.
pub(crate) struct ImageWriter<'a> {
    derived: &'a Derived<'a>,
    generation: u64,
    files: Vec<FileEntry>,
}

impl<'a> ImageWriter<'a> {
    /// Of files that the `generation` of a store names, so that a file which somebody reads is no other one.
    pub(crate) fn new(derived: &'a Derived<'a>, generation: u64) -> Self {
        Self { derived, generation, files: Vec::new() }
    }

    /// Writes a column from its parts.
    ///
    /// # Errors
    /// The write failed.
    pub(crate) fn column<T: Cell>(&mut self, name: &str, parts: &[&[T]]) -> Result<(), StoreError> {
        let name = named_of::<T>(name);
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

/// Maps columns that were written. Whatever is missing or damaged is none: tables are read from segments then.
pub(crate) struct ImageReader<'a> {
    derived: &'a Derived<'a>,
    files: &'a [FileEntry],
}

impl<'a> ImageReader<'a> {
    /// Of these files of a structure.
    pub(crate) fn new(derived: &'a Derived<'a>, files: &'a [FileEntry]) -> Self {
        Self { derived, files }
    }

    /// A column, after its checksum was verified.
    pub(crate) fn column<T: Cell>(&self, name: &str) -> Option<Column<T>> {
        let name = named_of::<T>(name);
        let entry = self.files.iter().find(|entry| column_name(entry) == Some(&name))?;
        self.derived.verify(std::slice::from_ref(entry)).ok()?;
        Column::of_file(map(self.derived.storage(), entry).ok()?)
    }
}

/// Name of a column with the bytes of its cells: one of other cells is another column.
fn named_of<T: Cell>(name: &str) -> String {
    format!("{name}-{}", size_of::<T>())
}

/// The column that a file holds, by [`named_of`].
fn column_name(entry: &FileEntry) -> Option<&str> {
    let file = entry.file.rsplit('/').next().unwrap_or_default();
    file.rsplit_once('-').map(|(name, _)| name)
}
