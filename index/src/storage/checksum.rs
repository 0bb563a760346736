//! Lengths and checksums of files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::StoreError;

/// A running 64-bit XXH3 checksum.
///
/// ```
/// use prospect_index::storage::Checksum;
///
/// let mut running = Checksum::default();
/// assert_eq!(running.finish(), "2d06800538d394c2"); // of no bytes
/// running.update(b"crawl ");
/// running.update(b"budget");
/// assert_eq!(running.finish(), Checksum::of(b"crawl budget"));
/// ```
#[derive(Clone, Default)]
pub struct Checksum(Xxh3);

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Checksum").field(&self.0.digest()).finish()
    }
}

impl Checksum {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes so far, 16 hex digits.
    pub fn finish(&self) -> String {
        format!("{:016x}", self.0.digest())
    }

    /// The checksum of `bytes`, 16 hex digits.
    pub fn of(bytes: &[u8]) -> String {
        format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
    }
}

/// A live file as the manifest or a derived structure's state names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path below the store's root, with `/` between parts.
    pub file: String,
    /// Length.
    pub bytes: u64,
    /// XXH3-64 of the content, 16 hex digits.
    pub checksum: String,
}

impl FileEntry {
    /// Compares with what was found.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with found and expected.
    pub(crate) fn verify(&self, path: &Path, bytes: u64, checksum: &str) -> Result<(), StoreError> {
        self.verify_length(path, bytes)?;
        if checksum == self.checksum {
            return Ok(());
        }
        let what = format!("its checksum is {checksum}, the record says {}", self.checksum);
        Err(StoreError::damaged(path, what))
    }

    /// Compares the length alone, which costs no reading.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with found and expected.
    pub(crate) fn verify_length(&self, path: &Path, bytes: u64) -> Result<(), StoreError> {
        if bytes == self.bytes {
            return Ok(());
        }
        let what = format!("it has {bytes} bytes, the record says {}", self.bytes);
        Err(StoreError::damaged(path, what))
    }
}

/// Reads a file once, in constant memory, for its entry under the name `file`.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn checksum_file(path: &Path, file: String) -> Result<FileEntry, StoreError> {
    let mut input = File::open(path).map_err(StoreError::io("open", path))?;
    let mut checksum = Checksum::default();
    let mut buffer = vec![0; 1 << 18];
    let mut bytes = 0;
    loop {
        let read = input.read(&mut buffer).map_err(StoreError::io("read", path))?;
        if read == 0 {
            return Ok(FileEntry { file, bytes, checksum: checksum.finish() });
        }
        checksum.update(&buffer[..read]);
        bytes += read as u64;
    }
}
