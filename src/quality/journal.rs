//! The scores of a run so far, in the order of its batches, so that a killed run goes on without
//! asking the model again.
//!
//! A run that goes on reads its input from the start and takes the scores of the first batches from
//! here. It writes its output anew: the bytes are those of a run that was never killed, in every
//! format, and only the model's time is saved, next to which reading and writing are nothing.
//!
//! A record is the number of rows, a hash of their texts, the scores and a checksum, synced before the
//! batch is written. What follows the last whole record is cut off. A batch whose texts have another
//! hash than noted shows that the input has changed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::QualityError;

const MAGIC: &[u8; 16] = b"prospect-scores1";
/// Bytes of a journal without a score: magic and identity.
pub(crate) const HEAD_BYTES: u64 = 32;
/// Rows and hash of a record.
const RECORD_HEAD_BYTES: usize = 12;
/// More rows than any batch has.
const ROWS: u32 = 1 << 24;

/// A journal of scores.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Whether all records have been taken.
    at_end: bool,
}

/// The scores of a batch.
struct Record {
    /// Of its texts.
    hash: u64,
    scores: Vec<Option<f64>>,
}

impl Journal {
    /// Opens the journal of the run that `identity` describes, at its start; an unfinished one counts
    /// if `resume` is set, else it is emptied.
    ///
    /// # Errors
    /// The file cannot be used, or is of another run.
    pub(crate) fn open(path: &Path, identity: &str, resume: bool) -> Result<Self, QualityError> {
        let failed = |operation| move |source| error(path, operation, source);
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(failed("written"))?;
        let mut head = MAGIC.to_vec();
        head.extend(xxh3_128(identity.as_bytes()).to_le_bytes());
        let mut found = Vec::new();
        Read::by_ref(&mut file).take(HEAD_BYTES).read_to_end(&mut found).map_err(failed("read"))?;
        // A head that was not written in full, or whose bytes a power cut took, is that of a run that had not begun.
        let begun = found.len() as u64 == HEAD_BYTES && found.starts_with(MAGIC);
        if resume && begun && found != head {
            let what = "had another model, other text columns or other batches".to_owned();
            return Err(QualityError::OtherRun { path: path.to_owned(), what });
        }
        if !resume || !begun {
            file.set_len(0).map_err(failed("written"))?;
            file.seek(SeekFrom::Start(0)).map_err(failed("written"))?;
            file.write_all(&head).map_err(failed("written"))?;
            file.sync_all().map_err(failed("written"))?;
        }
        Ok(Self { path: path.to_owned(), file, at_end: false })
    }

    /// The scores of the next batch, if they are noted.
    ///
    /// # Errors
    /// The file cannot be read, or another batch stands there.
    pub(crate) fn next(
        &mut self,
        rows: usize,
        hash: u64,
    ) -> Result<Option<Vec<Option<f64>>>, QualityError> {
        if self.at_end {
            return Ok(None);
        }
        let start = self.file.stream_position().map_err(|e| error(&self.path, "read", e))?;
        let Some(record) = self.record().map_err(|e| error(&self.path, "read", e))? else {
            self.at_end = true;
            self.file.set_len(start).map_err(|e| error(&self.path, "written", e))?;
            self.file.seek(SeekFrom::Start(start)).map_err(|e| error(&self.path, "read", e))?;
            return Ok(None);
        };
        if record.hash != hash || record.scores.len() != rows {
            let what = "had other documents: the input has changed since".to_owned();
            return Err(QualityError::OtherRun { path: self.path.clone(), what });
        }
        Ok(Some(record.scores))
    }

    /// A whole record; none where there is none.
    fn record(&mut self) -> io::Result<Option<Record>> {
        let mut head = [0; RECORD_HEAD_BYTES];
        if !fill(&mut self.file, &mut head)? {
            return Ok(None);
        }
        let (rows, hash) = head.split_at(4);
        let rows = u32::from_le_bytes(rows.try_into().unwrap_or_default());
        let hash = u64::from_le_bytes(hash.try_into().unwrap_or_default());
        if rows > ROWS {
            return Ok(None);
        }
        let mut body = vec![0; rows as usize * 8 + 8];
        if !fill(&mut self.file, &mut body)? {
            return Ok(None);
        }
        let (scores, checksum) = body.split_at(rows as usize * 8);
        let whole = [&head, scores].concat();
        if xxh3_64(&whole).to_le_bytes() != checksum {
            return Ok(None);
        }
        Ok(Some(Record { hash, scores: scores.chunks_exact(8).map(score).collect() }))
    }

    /// Notes the scores of a batch and syncs them.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn append(&mut self, hash: u64, scores: &[Option<f64>]) -> Result<(), QualityError> {
        let mut record = (scores.len() as u32).to_le_bytes().to_vec();
        record.extend(hash.to_le_bytes());
        for score in scores {
            record.extend(score.unwrap_or(f64::NAN).to_le_bytes());
        }
        record.extend(xxh3_64(&record).to_le_bytes());
        let written = self.file.write_all(&record).and_then(|()| self.file.sync_data());
        written.map_err(|source| error(&self.path, "written", source))
    }
}

/// A score as it is written; NaN stands for none.
fn score(bytes: &[u8]) -> Option<f64> {
    let score = f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    (!score.is_nan()).then_some(score)
}

fn error(path: &Path, operation: &'static str, source: io::Error) -> QualityError {
    QualityError::Journal { path: path.to_owned(), operation, source }
}

/// Fills the buffer; false where the file ends before.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[Option<f64>] = &[Some(-1.5), None];

    fn begun() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scores");
        let mut journal = Journal::open(&path, "run", false).unwrap();
        assert_eq!(journal.next(2, 7).unwrap(), None);
        journal.append(7, FIRST).unwrap();
        journal.append(8, &[Some(0.0)]).unwrap();
        (directory, path)
    }

    #[test]
    fn a_journal_cut_anywhere_gives_its_whole_records() {
        let (_directory, path) = begun();
        let bytes = std::fs::read(&path).unwrap();
        let first = 32 + 12 + 16 + 8;
        for length in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let mut journal = Journal::open(&path, "run", true).unwrap();
            let mut whole = 0;
            if length >= first {
                assert_eq!(journal.next(2, 7).unwrap().as_deref(), Some(FIRST));
                whole = 1;
            }
            if length == bytes.len() {
                assert_eq!(journal.next(1, 8).unwrap(), Some(vec![Some(0.0)]));
                whole = 2;
            }
            assert_eq!(journal.next(1, 9).unwrap(), None, "{length} bytes, {whole} records");
            journal.append(9, &[Some(-9.0)]).unwrap();
            drop(journal);
            let mut again = Journal::open(&path, "run", true).unwrap();
            for (rows, hash) in [(2, 7), (1, 8)].into_iter().take(whole) {
                assert!(again.next(rows, hash).unwrap().is_some());
            }
            assert_eq!(again.next(1, 9).unwrap(), Some(vec![Some(-9.0)]), "{length} bytes");
        }
    }

    /// Story: a power cut left zeros in the place of the head, and the run was refused as that of another model.
    #[test]
    fn a_journal_whose_bytes_are_gone_begins_anew() {
        let (_directory, path) = begun();
        let length = std::fs::read(&path).unwrap().len();
        std::fs::write(&path, vec![0; length]).unwrap();
        let mut journal = Journal::open(&path, "run", true).unwrap();
        assert_eq!(journal.next(2, 7).unwrap(), None);
        journal.append(7, FIRST).unwrap();
        drop(journal);
        let mut again = Journal::open(&path, "run", true).unwrap();
        assert_eq!(again.next(2, 7).unwrap().as_deref(), Some(FIRST));
    }

    #[test]
    fn another_run_or_another_input_is_refused() {
        let (_directory, path) = begun();
        let other = Journal::open(&path, "other", true).unwrap_err().to_string();
        assert!(other.contains("the run to resume had another model"), "{other}");
        let mut journal = Journal::open(&path, "run", true).unwrap();
        let changed = journal.next(2, 6).unwrap_err().to_string();
        assert!(changed.contains("the input has changed"), "{changed}");
        drop(journal);
        let mut anew = Journal::open(&path, "other", false).unwrap();
        assert_eq!(anew.next(2, 7).unwrap(), None);
    }
}
