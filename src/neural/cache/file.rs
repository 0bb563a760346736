//! The file of scores: a header, then records of 32 bytes in the order in which they were computed.
//!
//! | | bytes |
//! |---|---|
//! | header | `PROSPECT`, `SCORES 1`, fingerprint of the model (16) |
//! | record | hash of the text, or of query and text (16), score (8, binary64), check (8) |
//!
//! All numbers are little-endian. The check is XXH3 of the record, seeded with the model's
//! fingerprint. A record whose check fails is passed over, and its place is used for the next score
//! that is written; a tail that is no whole record is cut off. A file whose header is foreign starts
//! over.
//!
//! Two processes may use one file: it is read under a shared lock and written under an exclusive one,
//! whole records at a time. Each sees what the other had written when it opened the file; what both
//! score stands there twice, with the same score.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::neural::NeuralError;

const MAGIC: &[u8; 16] = b"PROSPECTSCORES 1";
const RECORD_BYTES: usize = 32;

/// The hash of what was scored, with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ScoreRecord {
    pub(crate) key: u128,
    pub(crate) score: f64,
}

/// The file, which exists once there is something in it.
pub(crate) struct ScoreFile {
    path: PathBuf,
    header: [u8; RECORD_BYTES],
    seed: u64,
    /// Numbers of records that were damaged when the file was opened.
    damaged: Vec<u64>,
}

impl ScoreFile {
    /// The file of the model with `fingerprint` in `directory`, and what is in it.
    pub(crate) fn open(
        directory: &Path,
        fingerprint: &str,
    ) -> Result<(Self, Vec<ScoreRecord>), NeuralError> {
        let fail = |error| NeuralError::Cache { path: directory.to_owned(), error };
        std::fs::create_dir_all(directory).map_err(fail)?;
        let hash = xxh3_128(fingerprint.as_bytes());
        let mut header = [0; RECORD_BYTES];
        header[..16].copy_from_slice(MAGIC);
        header[16..].copy_from_slice(&hash.to_le_bytes());
        let path = directory.join(format!("scores-{}.bin", file_name(fingerprint)));
        let mut file = Self { path, header, seed: hash as u64, damaged: Vec::new() };
        let records = file.read().map_err(|error| file.fail(error))?;
        Ok((file, records))
    }

    /// Adds records.
    pub(crate) fn add(&mut self, records: &[ScoreRecord]) -> Result<(), NeuralError> {
        self.write(records).map_err(|error| self.fail(error))
    }

    fn read(&mut self) -> io::Result<Vec<ScoreRecord>> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        file.lock_shared()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let Some(body) = bytes.strip_prefix(&self.header) else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        for (number, bytes) in body.as_chunks::<RECORD_BYTES>().0.iter().enumerate() {
            match self.decode(bytes) {
                Some(record) => records.push(record),
                None => self.damaged.push(number as u64),
            }
        }
        Ok(records)
    }

    fn write(&mut self, records: &[ScoreRecord]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&self.path)?;
        file.lock()?;
        let mut found = [0; RECORD_BYTES];
        if file.read_exact(&mut found).is_err() || found != self.header {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&self.header)?;
        }
        let mut records = records.iter();
        self.repair(&mut file, &mut records)?;
        let end = file.metadata()?.len();
        let whole = end - end % RECORD_BYTES as u64;
        file.set_len(whole)?;
        file.seek(SeekFrom::Start(whole))?;
        let bytes: Vec<u8> = records.flat_map(|record| self.encode(*record)).collect();
        file.write_all(&bytes)
    }

    /// Writes records to the places of damaged ones, unless another process has.
    fn repair<'r>(
        &mut self,
        file: &mut File,
        records: &mut impl Iterator<Item = &'r ScoreRecord>,
    ) -> io::Result<()> {
        let mut bytes = [0; RECORD_BYTES];
        while let Some(number) = self.damaged.pop() {
            let place = SeekFrom::Start((number + 1) * RECORD_BYTES as u64);
            file.seek(place)?;
            let is_damaged = file.read_exact(&mut bytes).is_ok() && self.decode(&bytes).is_none();
            if is_damaged && let Some(record) = records.next() {
                file.seek(place)?;
                file.write_all(&self.encode(*record))?;
            }
        }
        Ok(())
    }

    fn encode(&self, record: ScoreRecord) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..16].copy_from_slice(&record.key.to_le_bytes());
        bytes[16..24].copy_from_slice(&record.score.to_le_bytes());
        let check = xxh3_64_with_seed(&bytes[..24], self.seed);
        bytes[24..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn decode(&self, bytes: &[u8; RECORD_BYTES]) -> Option<ScoreRecord> {
        let key = u128::from_le_bytes(*bytes.first_chunk()?);
        let score = f64::from_le_bytes(*bytes[16..].first_chunk()?);
        let record = ScoreRecord { key, score };
        (self.encode(record) == *bytes && !score.is_nan()).then_some(record)
    }

    fn fail(&self, error: io::Error) -> NeuralError {
        NeuralError::Cache { path: self.path.clone(), error }
    }
}

/// Letters and digits of a fingerprint; the header has a hash of all of it.
fn file_name(fingerprint: &str) -> String {
    fingerprint.chars().filter(char::is_ascii_alphanumeric).collect()
}
