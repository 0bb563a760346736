//! Derived structures: files that can be rebuilt from the truth, each set under one state file
//! that names them with length and checksum.
//!
//! The state file is replaced atomically and last, so that it never names a file that is not
//! whole. Whatever does not verify counts as missing and is rebuilt; neither `fst` nor Tantivy
//! would notice by themselves.

use std::collections::HashSet;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::storage::{Checksum, FileEntry, Storage};

/// Directory of all derived structures below the store's root.
pub const DERIVED: &str = "derived";

#[derive(Serialize, Deserialize)]
struct State<T> {
    version: u32,
    files: Vec<FileEntry>,
    payload: T,
}

/// What was found of a derived structure.
#[derive(Debug)]
pub enum Found<T> {
    /// Whole: its payload and its files.
    Whole(T, Vec<FileEntry>),
    /// Never built.
    Missing,
    /// Not usable, with the reason, for the report.
    Damaged(String),
}

/// One derived structure of a store: a directory with files and a state.
///
/// ```
/// use prospect_index::derived::{Derived, Found};
/// use prospect_index::storage::Storage;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let storage = Storage::create(dir.path())?;
/// let lengths = Derived::new(&storage, "lengths", 1);
/// assert!(matches!(lengths.find::<u32>(), Found::Missing));
///
/// let name = format!("{}/lengths.bin", lengths.directory());
/// let file = storage.write(&name, &[3, 1, 4])?;
/// lengths.publish(&3, vec![file])?; // with a payload: how many there are
/// assert!(matches!(lengths.find::<u32>(), Found::Whole(3, files) if files.len() == 1));
///
/// storage.write(&name, &[3, 1, 5])?;
/// assert!(matches!(lengths.find::<u32>(), Found::Damaged(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Derived {
    storage: Storage,
    /// Directory below the store's root.
    directory: String,
    /// Version of its format: a state of another version counts as missing.
    version: u32,
}

impl Derived {
    /// The structure `name`.
    pub fn new(storage: &Storage, name: &str, version: u32) -> Self {
        Self { storage: storage.clone(), directory: format!("{DERIVED}/{name}"), version }
    }

    /// The structure that is the directory `path` itself, outside of any store.
    ///
    /// # Errors
    /// The path names no directory, or the one it lies in cannot be made.
    pub fn at(path: &Path, version: u32) -> Result<Self, StoreError> {
        let name = path.file_name().and_then(|name| name.to_str());
        let (Some(parent), Some(name)) = (path.parent(), name) else {
            let what = format!("{} is no name for a directory", path.display());
            return Err(StoreError::Derived { structure: "text index", what });
        };
        let storage = Storage::create(parent)?;
        Ok(Self { storage, directory: name.to_owned(), version })
    }

    /// Directory of the structure below the store's root.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// The storage it lies in.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Reads the state and verifies every file it names.
    pub fn find<T: DeserializeOwned>(&self) -> Found<T> {
        let name = self.state_name();
        if !self.storage.exists(&name) {
            return Found::Missing;
        }
        match self.read_state::<T>() {
            Ok(state) if state.version != self.version => Found::Missing,
            Ok(state) => match self.verify(&state.files) {
                Ok(()) => Found::Whole(state.payload, state.files),
                Err(error) => Found::Damaged(error.to_string()),
            },
            Err(error) => Found::Damaged(error),
        }
    }

    /// Makes `payload` and `files` the state, then removes files that it no longer names.
    ///
    /// # Errors
    /// The write failed.
    pub fn publish<T: Serialize>(
        &self,
        payload: &T,
        files: Vec<FileEntry>,
    ) -> Result<(), StoreError> {
        let state = State { version: self.version, files, payload };
        let path = self.storage.path(&self.state_name());
        let body = serde_json::to_vec(&state)
            .map_err(|error| StoreError::damaged(&path, error.to_string()))?;
        // The state verifies itself: a line with its checksum stands before it.
        let mut bytes = Checksum::of(&body).into_bytes();
        bytes.push(b'\n');
        bytes.extend(body);
        self.storage.write(&self.state_name(), &bytes)?;
        self.remove_unnamed(&state.files)
    }

    fn state_name(&self) -> String {
        format!("{}/STATE.json", self.directory)
    }

    fn read_state<T: DeserializeOwned>(&self) -> Result<State<T>, String> {
        let bytes = self.storage.read(&self.state_name()).map_err(|error| error.to_string())?;
        let split = bytes.iter().position(|&b| b == b'\n').ok_or("its state has no checksum")?;
        let (checksum, body) = (&bytes[..split], &bytes[split + 1..]);
        if checksum != Checksum::of(body).as_bytes() {
            return Err("the checksum of its state differs".to_owned());
        }
        serde_json::from_slice(body).map_err(|error| error.to_string())
    }

    fn verify(&self, files: &[FileEntry]) -> Result<(), StoreError> {
        for entry in files {
            let path = self.storage.path(&entry.file);
            let found = crate::storage::checksum_file(&path, entry.file.clone())?;
            entry.verify(&path, found.bytes, &found.checksum)?;
        }
        Ok(())
    }

    /// Removes files and directories directly below the structure that no entry lies in.
    fn remove_unnamed(&self, files: &[FileEntry]) -> Result<(), StoreError> {
        let prefix = format!("{}/", self.directory);
        let named: HashSet<&str> = files
            .iter()
            .filter_map(|entry| entry.file.strip_prefix(&prefix)?.split('/').next())
            .collect();
        for name in self.storage.list(&self.directory)? {
            if name != "STATE.json" && !named.contains(name.as_str()) {
                self.storage.remove(&format!("{prefix}{name}"))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::create(dir.path()).unwrap();
        let derived = Derived::new(&storage, "thing", 1);
        assert!(matches!(derived.find::<u32>(), Found::Missing));
        let entry = storage.write("derived/thing/data.bin", b"some bytes").unwrap();
        storage.write("derived/thing/old.bin", b"x").unwrap();
        derived.publish(&7u32, vec![entry]).unwrap();
        assert!(matches!(derived.find::<u32>(), Found::Whole(7, _)));
        assert!(!storage.exists("derived/thing/old.bin"));
        for name in ["derived/thing/data.bin", "derived/thing/STATE.json"] {
            let whole = storage.read(name).unwrap();
            for at in 0..whole.len() {
                let mut bytes = whole.clone();
                bytes[at] ^= 4;
                std::fs::write(storage.path(name), &bytes).unwrap();
                assert!(matches!(derived.find::<u32>(), Found::Damaged(_)), "{name} {at}");
            }
            std::fs::write(storage.path(name), &whole).unwrap();
        }
        assert!(matches!(Derived::new(&storage, "thing", 2).find::<u32>(), Found::Missing));
    }
}
