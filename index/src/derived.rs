//! Derived structures: files that can be rebuilt from the truth, each set under one state file
//! that names them with length and checksum.
//!
//! The state file is replaced atomically and last, so that it never names a file that is not
//! whole. Whatever does not verify counts as missing and is rebuilt; neither `fst` nor Tantivy
//! would notice by themselves.
//!
//! A state says what it is, and which state of which store it was made from: a folder that was copied from another
//! one, from another store or from a later backup is no less whole than its own, and would answer wrongly.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::ops::Deref;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::mapped::map;
use crate::storage::{Checksum, FileEntry, PendingFile, Storage};

/// Directory of all derived structures below the store's root.
pub const DERIVED: &str = "derived";

const STATE: &str = "STATE.json";
/// Bytes that are written at once.
const PIECE_BYTES: usize = 1 << 20;
/// Files of this many bytes are verified as fast as their lengths.
const SHORT_BYTES: u64 = 1 << 16;
/// Locks of libraries come and go.
const LOCK_SUFFIX: &str = ".lock";

#[derive(Serialize, Deserialize)]
struct State<T> {
    version: u32,
    /// States of earlier programs do not say.
    #[serde(default)]
    made: Made,
    files: Vec<FileEntry>,
    payload: T,
}

/// What a structure is, and what it was made from.
#[derive(Default, Serialize, Deserialize)]
struct Made {
    /// Its name; programs whose hash was another told it otherwise.
    #[serde(default)]
    name: String,
    /// Generation of the store.
    generation: u64,
    /// Files and records that the store had, and their hash: see [`Manifest::basis`].
    segments: usize,
    end_seq: u32,
    basis: String,
}

/// How far the store was, in lasting files and in records, when each derived structure of it was made: those are
/// what it is known by, so that files from before and after are not merged.
pub(crate) fn marks(
    storage: &Storage,
    manifest: &Manifest,
) -> Result<Vec<(usize, u32)>, StoreError> {
    let mut marks = Vec::new();
    for name in storage.list(DERIVED)? {
        let derived = Derived::new(storage, manifest, &name, 0);
        // One that cannot be used is made anew anyway.
        if let Ok(Some(state)) = derived.read_state::<serde::de::IgnoredAny>() {
            marks.push((state.made.segments, state.made.end_seq));
        }
    }
    Ok(marks)
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
/// # use prospect_index::manifest::Manifest;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let storage = Storage::create(dir.path())?;
/// # let manifest = Manifest::default();
/// let lengths = Derived::new(&storage, &manifest, "lengths", 1);
/// assert!(matches!(lengths.find::<u32>(), Found::Missing));
///
/// let file = lengths.write("lengths.bin", |out| out.write_all(&[3, 1, 4]))?;
/// assert_eq!(*lengths.map(&file)?, [3, 1, 4]);
/// lengths.publish(&3, vec![file])?; // with a payload: how many there are
/// assert!(matches!(lengths.find::<u32>(), Found::Whole(3, files) if files.len() == 1));
///
/// lengths.write("lengths.bin", |out| out.write_all(&[3, 1, 5]))?;
/// assert!(matches!(lengths.find::<u32>(), Found::Damaged(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Derived<'a> {
    storage: Storage,
    name: String,
    /// Directory below the storage's root.
    directory: String,
    /// Version of its format: a state of another version counts as missing.
    version: u32,
    /// The store it is made from, if it is of one.
    manifest: Option<&'a Manifest>,
}

impl<'a> Derived<'a> {
    /// The structure `name` of a store.
    pub fn new(storage: &Storage, manifest: &'a Manifest, name: &str, version: u32) -> Self {
        Self {
            storage: storage.clone(),
            name: name.to_owned(),
            directory: format!("{DERIVED}/{name}"),
            version,
            manifest: Some(manifest),
        }
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
        let (name, directory) = (name.to_owned(), name.to_owned());
        Ok(Self { storage, name, directory, version, manifest: None })
    }

    /// Directory of the structure below the store's root.
    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    /// Starts a file of it. When it reaches the disk is left to the system: what a power cut takes back no longer has
    /// its checksum, and is made anew.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn start(&self, name: &str) -> Result<PendingFile, StoreError> {
        self.storage.start(&format!("{}/{name}", self.directory))
    }

    /// Writes a file of it, for the state to name.
    ///
    /// # Errors
    /// A write failed.
    pub fn write(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<FileEntry, StoreError> {
        let mut out = BufWriter::with_capacity(PIECE_BYTES, self.start(name)?);
        let written = write(&mut out).and_then(|()| out.into_inner().map_err(io::Error::from));
        written.map_err(|source| self.write_error(name, source))?.finish_unsynced()
    }

    /// Why a file of it could not be written: the failure of the storage, if that has one.
    fn write_error(&self, name: &str, source: io::Error) -> StoreError {
        let path = self.storage.path(&format!("{}/{name}", self.directory));
        self.storage.failure().unwrap_or(StoreError::Io { operation: "write", path, source })
    }

    /// The bytes of a file that was found whole, or just written. They are mapped: they take memory only while the system
    /// has room, and stay what they are when another file takes its name.
    ///
    /// # Errors
    /// It cannot be mapped.
    pub fn map(
        &self,
        file: &FileEntry,
    ) -> Result<impl Deref<Target = [u8]> + Send + Sync + use<>, StoreError> {
        map(&self.storage, file)
    }

    /// The storage it lies in.
    pub(crate) fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Reads the state and verifies every file it names. What else lies in the folder of a store's structure is
    /// removed: the leavings of a command that was killed.
    pub fn find<T: DeserializeOwned>(&self) -> Found<T> {
        let state = match self.read_state::<T>() {
            Ok(Some(state)) => state,
            Ok(None) => return Found::Missing,
            Err(what) => return Found::Damaged(what),
        };
        if !self.is_current(&state) {
            return Found::Missing;
        }
        let own =
            || if self.manifest.is_some() { self.remove_unnamed(&state.files) } else { Ok(()) };
        match self.verify(&state.files).and_then(|()| own()) {
            Ok(()) => Found::Whole(state.payload, state.files),
            Err(error) => Found::Damaged(told(&error)),
        }
    }

    /// Its payload and the files that it names, which nobody has verified.
    pub(crate) fn named<T: DeserializeOwned>(&self) -> Option<(T, Vec<FileEntry>)> {
        let state = self.read_state::<T>().ok().flatten()?;
        self.is_current(&state).then_some((state.payload, state.files))
    }

    /// Whether this version wrote a state.
    fn is_current<T>(&self, state: &State<T>) -> bool {
        state.version == self.version && !state.made.name.is_empty()
    }

    /// Whether its files look like those that its state names, as they do unless it is being replaced: the lengths of all,
    /// and the checksums of those that keep their name from one state to the next and are short. A state that cannot be used
    /// names none.
    pub(crate) fn is_settled(&self) -> bool {
        let Ok(Some(state)) = self.read_state::<serde::de::IgnoredAny>() else { return true };
        let (short, long): (Vec<FileEntry>, Vec<FileEntry>) =
            state.files.into_iter().partition(|entry| entry.bytes <= SHORT_BYTES);
        let length =
            |entry: &FileEntry| Some(self.storage.path(&entry.file).metadata().ok()?.len());
        long.iter().all(|entry| length(entry) == Some(entry.bytes)) && self.verify(&short).is_ok()
    }

    /// What is wrong with it, whatever its version, and changes nothing.
    pub(crate) fn inspect(&self) -> Option<String> {
        let state = match self.read_state::<serde_json::Value>() {
            Ok(Some(state)) => state,
            Ok(None) => return Some(format!("it has no {STATE}")),
            Err(what) => return Some(what),
        };
        if state.made.name.is_empty() {
            return Some("an earlier version wrote it".to_owned());
        }
        if let Err(error) = self.verify(&state.files) {
            return Some(told(&error));
        }
        let unnamed = self.unnamed(&state.files).ok()?;
        Some(format!("{} is none of its files", unnamed.first()?))
    }

    /// Why a state is not that of this structure and store, if it is not.
    fn is_foreign(&self, made: &Made) -> Option<String> {
        if made.name.is_empty() {
            return None;
        }
        if made.name != self.name {
            return Some(format!("it holds {}, not {}", made.name, self.name));
        }
        let manifest = self.manifest?;
        if made.generation > manifest.generation {
            let (found, now) = (made.generation, manifest.generation);
            return Some(format!("it was made in generation {found}, the store is in {now}"));
        }
        (manifest.basis(made.segments, made.end_seq).as_ref() != Some(&made.basis))
            .then(|| "it was built from other pages".to_owned())
    }

    fn made(&self) -> Made {
        let name = self.name.clone();
        let Some(manifest) = self.manifest else { return Made { name, ..Made::default() } };
        let (segments, end_seq) = (manifest.lasting(), manifest.next_seq);
        let basis = manifest.basis(segments, end_seq).unwrap_or_default();
        Made { name, generation: manifest.generation, segments, end_seq, basis }
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
        self.set(payload, files, false)
    }

    /// The same of what is dear to make again: no power cut takes it back.
    pub(crate) fn publish_for_good<T: Serialize>(
        &self,
        payload: &T,
        files: Vec<FileEntry>,
    ) -> Result<(), StoreError> {
        self.set(payload, files, true)
    }

    fn set<T: Serialize>(
        &self,
        payload: &T,
        files: Vec<FileEntry>,
        lasts: bool,
    ) -> Result<(), StoreError> {
        let state = State { version: self.version, made: self.made(), files, payload };
        let path = self.storage.path(&self.state_name());
        let body = serde_json::to_vec(&state)
            .map_err(|error| StoreError::damaged(&path, error.to_string()))?;
        // The state verifies itself: a line with its checksum stands before it.
        let mut bytes = Checksum::of(&body).into_bytes();
        bytes.push(b'\n');
        bytes.extend(body);
        if lasts {
            self.storage.write(&self.state_name(), &bytes)?;
        } else {
            let mut file = self.storage.start(&self.state_name())?;
            file.append(&bytes)?;
            file.finish_unsynced()?;
        }
        self.remove_unnamed(&state.files)
    }

    fn state_name(&self) -> String {
        format!("{}/{STATE}", self.directory)
    }

    /// The state, if there is one and it is whole.
    fn read_state<T: DeserializeOwned>(&self) -> Result<Option<State<T>>, String> {
        if !self.storage.exists(&self.state_name()) {
            return Ok(None);
        }
        let bytes = self.storage.read(&self.state_name()).map_err(|error| told(&error))?;
        let split = bytes.iter().position(|&b| b == b'\n').ok_or("its state has no checksum")?;
        let (checksum, body) = (&bytes[..split], &bytes[split + 1..]);
        if checksum != Checksum::of(body).as_bytes() {
            return Err("the checksum of its state differs".to_owned());
        }
        // What another structure keeps beside its files is read by nobody here.
        let made: State<serde::de::IgnoredAny> =
            serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if let Some(what) = self.is_foreign(&made.made) {
            return Err(what);
        }
        serde_json::from_slice(body).map(Some).map_err(|error| error.to_string())
    }

    /// Verifies length and checksum of files of the structure.
    ///
    /// # Errors
    /// One is missing or damaged, or none of its own.
    pub(crate) fn verify(&self, files: &[FileEntry]) -> Result<(), StoreError> {
        let own = format!("{}/", self.directory);
        for entry in files {
            let path = self.storage.path(&entry.file);
            if !entry.file.starts_with(&own) {
                let what = format!("it is none of the files of {}", self.directory);
                return Err(StoreError::damaged(&path, what));
            }
            let found = crate::storage::checksum_file(&path, entry.file.clone())?;
            entry.verify(&path, found.bytes, &found.checksum)?;
        }
        Ok(())
    }

    /// Removes what an attempt to write it has left beside the files of its state, as far as that is possible.
    pub(crate) fn give_up(&self) {
        let files = self.read_state::<serde::de::IgnoredAny>().ok().flatten();
        let _ = self.remove_unnamed(&files.map_or_else(Vec::new, |state| state.files));
    }

    /// Removes files and directories directly below the structure that no entry lies in.
    fn remove_unnamed(&self, files: &[FileEntry]) -> Result<(), StoreError> {
        let unnamed = self.unnamed(files)?;
        unnamed
            .iter()
            .try_for_each(|name| self.storage.remove(&format!("{}/{name}", self.directory)))
    }

    /// Names of files and directories directly below the structure that no entry lies in.
    fn unnamed(&self, files: &[FileEntry]) -> Result<Vec<String>, StoreError> {
        let prefix = format!("{}/", self.directory);
        let named: HashSet<&str> = files
            .iter()
            .filter_map(|entry| entry.file.strip_prefix(&prefix)?.split('/').next())
            .collect();
        let mut names = self.storage.list(&self.directory)?;
        names.retain(|name| {
            name != STATE && !name.ends_with(LOCK_SUFFIX) && !named.contains(name.as_str())
        });
        Ok(names)
    }
}

/// An error with what the system said.
fn told(error: &StoreError) -> String {
    match error {
        StoreError::Io { source, .. } => format!("{error} ({source})"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::create(dir.path()).unwrap();
        let manifest = Manifest::default();
        let derived = Derived::new(&storage, &manifest, "thing", 1);
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
        assert!(matches!(
            Derived::new(&storage, &manifest, "thing", 2).find::<u32>(),
            Found::Missing
        ));
    }
}
