//! The files a build writes: buffered, counted, flushed when finished; temporary ones are removed
//! when dropped, also when the build fails.
//!
//! Not here: renaming into place and the manifest. A build writes into a directory that its caller
//! made for it and commits.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::NgramError;
use super::error::io_error;

const BUFFER_BYTES: usize = 1 << 16;

/// A file being written, which knows its length.
pub(super) struct CountedFile {
    path: PathBuf,
    writer: BufWriter<File>,
    written: u64,
}

impl CountedFile {
    /// Creates or empties `dir/name`.
    pub(crate) fn create(dir: &Path, name: &str) -> Result<Self, NgramError> {
        let path = dir.join(name);
        let file = File::create(&path).map_err(io_error("create", &path))?;
        Ok(Self { writer: BufWriter::with_capacity(BUFFER_BYTES, file), path, written: 0 })
    }

    /// Appends `bytes`.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), NgramError> {
        self.writer.write_all(bytes).map_err(io_error("write", &self.path))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Bytes appended so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Writes `bytes` over the start of the file; they must not be more than were written.
    pub(crate) fn overwrite_start(&mut self, bytes: &[u8]) -> Result<(), NgramError> {
        let error = io_error("write", &self.path);
        self.write_at_start(bytes).map_err(error)
    }

    fn write_at_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.seek(SeekFrom::Start(0))?;
        self.writer.write_all(bytes)?;
        self.writer.seek(SeekFrom::End(0)).map(|_| ())
    }

    /// Flushes; returns the length in bytes. Not synced: a segment is verified when it is opened.
    pub(crate) fn finish(mut self) -> Result<u64, NgramError> {
        self.writer.flush().map_err(io_error("write", &self.path))?;
        Ok(self.written)
    }
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.writer.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// A temporary file, removed on drop: written first, then read once.
pub(super) struct Temporary {
    output: Option<CountedFile>,
    path: PathBuf,
}

impl Temporary {
    /// Creates or empties `dir/name`.
    pub(crate) fn create(dir: &Path, name: &str) -> Result<Self, NgramError> {
        let output = CountedFile::create(dir, name)?;
        Ok(Self { path: output.path.clone(), output: Some(output) })
    }

    /// Appends `bytes`; nothing may be appended once the file is being read.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), NgramError> {
        match &mut self.output {
            Some(output) => output.put(bytes),
            None => Ok(()),
        }
    }

    /// Ends writing and opens the file for reading.
    pub(crate) fn read(&mut self) -> Result<BufReader<File>, NgramError> {
        if let Some(mut output) = self.output.take() {
            output.flush().map_err(io_error("write", &self.path))?;
        }
        let file = File::open(&self.path).map_err(io_error("open", &self.path))?;
        Ok(BufReader::with_capacity(BUFFER_BYTES, file))
    }

    /// Where the file is, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // A leftover temporary file does no harm; the directory is the caller's.
        let _ = std::fs::remove_file(&self.path);
    }
}
