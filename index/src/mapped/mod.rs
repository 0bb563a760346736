//! Columns that lie in files which are mapped and not read: what a store has millions of is there at once, and takes
//! memory only where it is touched.
//!
//! A [`Column`] is such a file, and what was added since in memory behind it. The files are a derived structure: written
//! under names of their generation, renamed into their place, verified before they are mapped, and made anew from the truth where
//! they are missing or damaged.

pub(crate) mod image;
pub(crate) mod lists;
pub(crate) mod texts;

use std::io;
use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory, OwnedBytes};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::error::StoreError;
use crate::storage::{FileEntry, Storage};

/// What a column can hold: plain numbers, or rows of them.
pub(crate) trait Cell: FromBytes + IntoBytes + Immutable + KnownLayout + Copy {}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Copy> Cell for T {}

/// The bytes of a file that is mapped, or of memory.
pub(crate) type Bytes = OwnedBytes;

/// The bytes of a file, mapped.
pub(crate) fn map(storage: &Storage, file: &FileEntry) -> Result<Bytes, StoreError> {
    let path = storage.path(&file.file);
    let bytes = map_path(&path);
    let bytes =
        bytes.map_err(|source| StoreError::Io { operation: "map", path: path.clone(), source })?;
    file.verify_length(&path, bytes.len() as u64)?;
    Ok(bytes)
}

/// The same of whatever is at a path.
pub(crate) fn map_path(path: &Path) -> io::Result<Bytes> {
    let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
    let directory = MmapDirectory::open(folder).map_err(io::Error::other)?;
    let handle = directory.get_file_handle(Path::new(name)).map_err(io::Error::other)?;
    handle.read_bytes(0..handle.len())
}

/// Cells by place: those of a file, which never change, then those in memory.
///
/// Costs the bytes of the cells in memory; those of the file, where they are touched, as long as the system has room.
#[derive(Clone, Debug)]
pub(crate) struct Column<T> {
    mapped: Option<OwnedBytes>,
    /// How many cells are in the file.
    rows: usize,
    tail: Vec<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { mapped: None, rows: 0, tail: Vec::new() }
    }
}

impl<T: Cell> Column<T> {
    /// The cells of a file; none if its bytes are no whole cells.
    pub(crate) fn of_file(bytes: OwnedBytes) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let rows = <[T]>::ref_from_bytes(&bytes).ok()?.len();
        Some(Self { mapped: Some(bytes), rows, tail: Vec::new() })
    }

    pub(crate) fn len(&self) -> usize {
        self.rows + self.tail.len()
    }

    /// The cells of the file.
    pub(crate) fn mapped(&self) -> &[T] {
        let bytes = self.mapped.as_ref().map_or(&[][..], OwnedBytes::as_slice);
        <[T]>::ref_from_bytes(bytes).unwrap_or_default()
    }

    /// The cells behind those of the file.
    pub(crate) fn tail(&self) -> &[T] {
        &self.tail
    }

    /// The cell at a place.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn at(&self, place: usize) -> T {
        match place.checked_sub(self.rows) {
            Some(behind) => self.tail[behind],
            None => self.mapped()[place],
        }
    }

    pub(crate) fn get(&self, place: usize) -> Option<T> {
        (place < self.len()).then(|| self.at(place))
    }

    pub(crate) fn push(&mut self, cell: T) {
        self.tail.push(cell);
    }

    /// Adds cells, which stand beside each other.
    pub(crate) fn extend(&mut self, cells: &[T]) {
        self.tail.extend_from_slice(cells);
    }

    /// Cells that stand beside each other, all in the file or all behind it.
    pub(crate) fn run(&self, from: usize, to: usize) -> &[T] {
        match from.checked_sub(self.rows) {
            Some(behind) => &self.tail[behind..to - self.rows],
            None => &self.mapped()[from..to],
        }
    }

    /// All cells in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + Clone + '_ {
        self.mapped().iter().chain(&self.tail).copied()
    }
}

impl Column<u32> {
    /// The place of a number among numbers that ascend.
    pub(crate) fn find(&self, number: u32) -> Option<usize> {
        let behind = |place: usize| self.rows + place;
        let found = self.mapped().binary_search(&number);
        found.or_else(|_| self.tail.binary_search(&number).map(behind)).ok()
    }
}
