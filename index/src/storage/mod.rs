//! The only door to the disk for what must survive a crash.
//!
//! A file comes to be in four steps: write under a temporary name, sync, rename, sync the
//! directory, once for all files that one commit names; one that is derived and verified before it
//! is used is not waited for. After one failed write the handle refuses to write again, since what
//! is on the disk is then unknown until the store is opened anew.
//!
//! What we assume about the disk: a rename within a directory is atomic, and what was synced
//! before the rename is there after it. We do not assume that unsynced data survives, nor that
//! bits stay as they were written: every live file has a length and a checksum.

mod checksum;
#[cfg(test)]
mod fault;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) use checksum::checksum_file;
pub use checksum::{Checksum, FileEntry};
#[cfg(test)]
pub(crate) use fault::FaultPlan;

use crate::error::StoreError;

type Result<T> = std::result::Result<T, StoreError>;

/// Marks names that no manifest names: what is left of them after a crash is removed.
pub(crate) const TEMPORARY_SUFFIX: &str = ".tmp";

/// A failed write.
#[derive(Debug)]
struct Failure {
    operation: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// The same error once more, with what the system said.
fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}

/// A directory in which files appear whole or not at all.
///
/// ```
/// use prospect_index::storage::{Checksum, Storage};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// let storage = Storage::create(root)?;
/// let entry = storage.write("notes/first.txt", b"old")?;
/// assert_eq!((entry.bytes, entry.checksum), (3, Checksum::of(b"old")));
///
/// storage.write("notes/first.txt", b"new")?; // in the place of the old one, at once
/// assert_eq!(storage.read("notes/first.txt")?, b"new");
/// assert_eq!(storage.list("notes")?, ["first.txt"]);
/// storage.remove("notes")?;
/// assert!(!storage.exists("notes/first.txt"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Storage {
    root: PathBuf,
    /// The first failed write: from then on nothing is written.
    failure: Arc<OnceLock<Failure>>,
    /// Folders with files of new names that a power cut may take back.
    unsynced: Arc<Mutex<BTreeSet<PathBuf>>>,
    #[cfg(test)]
    faults: Option<Arc<FaultPlan>>,
}

impl Storage {
    /// The storage below `root`, which is created if it is missing.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn create(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).map_err(StoreError::io("create", root))?;
        Ok(Self {
            root: root.to_owned(),
            failure: Arc::default(),
            unsynced: Arc::default(),
            #[cfg(test)]
            faults: None,
        })
    }

    /// The storage with faults to inject.
    #[cfg(test)]
    pub(crate) fn with_faults(self, faults: Option<Arc<FaultPlan>>) -> Self {
        Self { faults, ..self }
    }

    /// The directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Path of `name` below the root.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The whole of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.path(name);
        fs::read(&path).map_err(StoreError::io("read", &path))
    }

    /// Whether a file or directory of this name exists.
    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Starts a file that appears under `name` when it is finished.
    ///
    /// # Errors
    /// The file cannot be created, or the handle is poisoned.
    pub(crate) fn start(&self, name: &str) -> Result<PendingFile> {
        self.step("create", &self.path(name))?;
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
        }
        let temporary = self.path(&format!("{name}{TEMPORARY_SUFFIX}"));
        let file = self.guard(File::create(&temporary), "create", &temporary)?;
        Ok(PendingFile {
            storage: self.clone(),
            name: name.to_owned(),
            temporary,
            out: BufWriter::with_capacity(1 << 16, file),
            checksum: Checksum::default(),
            bytes: 0,
        })
    }

    /// Replaces or creates `name` with `bytes`, atomically. What was given a name before has it for good before this has.
    ///
    /// # Errors
    /// A step failed; the old file, if any, is untouched.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<FileEntry> {
        self.sync_names()?;
        let mut pending = self.start(name)?;
        pending.append(bytes)?;
        let entry = pending.finish()?;
        self.sync_names()?;
        Ok(entry)
    }

    /// Makes the names last that files were given since: a folder is synced once for all of them.
    ///
    /// # Errors
    /// A folder cannot be synced.
    fn sync_names(&self) -> Result<()> {
        let folders = std::mem::take(&mut *self.unsynced());
        folders.iter().try_for_each(|folder| self.sync_directory(folder))
    }

    fn unsynced(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a file or a directory tree; missing is fine.
    ///
    /// # Errors
    /// The system refused.
    pub fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        self.step("remove", &path)?;
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::Io { operation: "remove", path, source: error })
            }
            _ => Ok(()),
        }
    }

    /// Names in a directory below the root, sorted; empty if it is missing.
    ///
    /// # Errors
    /// The directory exists and cannot be read.
    pub fn list(&self, directory: &str) -> Result<Vec<String>> {
        let path = self.path(directory);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let entries = fs::read_dir(&path).map_err(StoreError::io("list", &path))?;
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Makes an empty directory below the root, removing what was there.
    ///
    /// # Errors
    /// The system refused.
    pub fn fresh_directory(&self, name: &str) -> Result<PathBuf> {
        self.remove(name)?;
        let path = self.path(name);
        self.step("create", &path)?;
        self.guard(fs::create_dir_all(&path), "create", &path)?;
        Ok(path)
    }

    /// Entries of the files directly in a directory, sorted by name: what a derived structure's
    /// state names.
    ///
    /// Nothing is synced. A derived file that a crash took back no longer has its checksum and is
    /// built anew; waiting for the disk would cost more than that for small updates.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn entries_of(&self, directory: &str) -> Result<Vec<FileEntry>> {
        let mut entries = Vec::new();
        for file in self.list(directory)? {
            let full = format!("{directory}/{file}");
            let path = self.path(&full);
            if path.is_file() {
                entries.push(checksum_file(&path, full)?);
            }
        }
        Ok(entries)
    }

    /// Whether the disk takes so many bytes more, which are not kept.
    ///
    /// # Errors
    /// What it says if not.
    pub(crate) fn try_room(&self, directory: &str, bytes: usize) -> Result<()> {
        let path = self.path(&format!("{directory}/room{TEMPORARY_SUFFIX}"));
        let written = fs::write(&path, vec![0; bytes]).and_then(|()| File::open(&path)?.sync_all());
        let _ = fs::remove_file(&path);
        written.map_err(StoreError::io("write", &path))
    }

    fn sync_directory(&self, path: &Path) -> Result<()> {
        self.step("sync", path)?;
        let directory = self.guard(File::open(path), "open", path)?;
        self.guard(directory.sync_all(), "sync", path)
    }

    /// One step towards the disk: the place where tests make it fail.
    fn step(&self, operation: &'static str, path: &Path) -> Result<()> {
        if let Some(first) = self.failure() {
            return Err(StoreError::Poisoned { first: Box::new(first) });
        }
        #[cfg(not(test))]
        let injected = Ok(());
        #[cfg(test)]
        let injected = self.faults.as_ref().map_or(Ok(()), |faults| faults.step());
        self.guard(injected, operation, path)
    }

    /// Passes a result on and closes the handle for writing if it is an error.
    fn guard<T>(&self, result: io::Result<T>, operation: &'static str, path: &Path) -> Result<T> {
        result.map_err(|source| {
            let (path, copy) = (path.to_owned(), copy_of(&source));
            let _ = self.failure.set(Failure { operation, path: path.clone(), source: copy });
            StoreError::Io { operation, path, source }
        })
    }

    /// The write that closed this handle, if one did: for callers whose errors pass through a
    /// library that keeps only their text.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        let Failure { operation, path, source } = self.failure.get()?;
        Some(StoreError::Io { operation, path: path.clone(), source: copy_of(source) })
    }
}

/// A file being written under a temporary name.
#[derive(Debug)]
pub(crate) struct PendingFile {
    storage: Storage,
    name: String,
    temporary: PathBuf,
    out: BufWriter<File>,
    checksum: Checksum,
    bytes: u64,
}

impl PendingFile {
    /// Appends bytes.
    ///
    /// # Errors
    /// The write failed (a full disk, say).
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.storage.step("write", &self.temporary)?;
        self.checksum.update(bytes);
        self.bytes += bytes.len() as u64;
        let written = self.out.write_all(bytes);
        self.storage.guard(written, "write", &self.temporary)
    }

    /// Syncs the file and gives it its name, which lasts once the next [`Storage::write`] is through.
    ///
    /// # Errors
    /// A step failed; nothing stands under the name that did not before.
    pub(crate) fn finish(mut self) -> Result<FileEntry> {
        let storage = self.storage.clone();
        storage.step("write", &self.temporary)?;
        storage.guard(self.out.flush(), "write", &self.temporary)?;
        storage.step("sync", &self.temporary)?;
        storage.guard(self.out.get_ref().sync_all(), "sync", &self.temporary)?;
        let path = storage.path(&self.name);
        let entry = self.rename()?;
        storage.unsynced().extend(path.parent().map(Path::to_owned));
        Ok(entry)
    }

    /// Gives the file its name and leaves it to the system when it reaches the disk: for what is verified before it is
    /// used, and can be made anew.
    ///
    /// # Errors
    /// A step failed; nothing stands under the name that did not before.
    pub(crate) fn finish_unsynced(mut self) -> Result<FileEntry> {
        let storage = self.storage.clone();
        storage.step("write", &self.temporary)?;
        storage.guard(self.out.flush(), "write", &self.temporary)?;
        self.rename()
    }

    fn rename(self) -> Result<FileEntry> {
        let path = self.storage.path(&self.name);
        self.storage.step("rename", &path)?;
        self.storage.guard(fs::rename(&self.temporary, &path), "rename", &path)?;
        Ok(FileEntry { file: self.name, bytes: self.bytes, checksum: self.checksum.finish() })
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.storage.guard(flushed, "write", &self.temporary).map_err(io::Error::other)
    }
}
