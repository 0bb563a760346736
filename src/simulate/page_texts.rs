//! Texts of a collection's pages, on disk: what a model reads once it is known which pages matter.
//!
//! A scratch file beside the text index, written while a collection is read and never read by
//! another process: one zstd frame with a checksum for each document, in reading order. In memory
//! are 12 bytes a page, where its frame lies.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use prospect_index::error::StoreError;
use prospect_index::limits;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

use crate::evaluate::rerank::PageTexts;
use crate::neural;
use crate::policy::Page;

/// Writing takes part of the time that reading a corpus takes; more effort saves little space.
const LEVEL: i32 = 1;
/// No text is longer: title, space and text.
const LONGEST: usize = limits::BOUNDS.title_bytes + 1 + limits::BOUNDS.text_bytes;

/// Where a frame lies.
#[derive(Clone, Copy)]
struct Frame {
    start: u64,
    bytes: u32,
}

/// The file while it is written.
pub(crate) struct TextWriter {
    path: PathBuf,
    out: BufWriter<File>,
    compressor: Compressor<'static>,
    /// By document.
    frames: Vec<Frame>,
    end: u64,
}

impl TextWriter {
    /// Begins a file in place of an earlier one.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn create(path: &Path) -> Result<Self, StoreError> {
        let failed =
            |error| StoreError::Io { operation: "create", path: path.to_owned(), source: error };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let out = BufWriter::new(File::create(path).map_err(failed)?);
        let mut compressor = Compressor::new(LEVEL).map_err(failed)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true)).map_err(failed)?;
        Ok(Self { path: path.to_owned(), out, compressor, frames: Vec::new(), end: 0 })
    }

    /// Adds the next document.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn add(&mut self, title: &str, text: &str) -> Result<(), StoreError> {
        let text = neural::document(&[title, text]);
        let written = self.compressor.compress(text.as_bytes()).and_then(|frame| {
            self.out.write_all(&frame)?;
            Ok(frame.len())
        });
        let bytes = written.map_err(|error| self.failed(error))?;
        self.frames.push(Frame { start: self.end, bytes: bytes as u32 });
        self.end += bytes as u64;
        Ok(())
    }

    /// The texts of pages; `page_of_document` says which page a document is, if it is one's latest.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn finish(
        mut self,
        pages: u32,
        page_of_document: &[Option<Page>],
    ) -> Result<TextFile, StoreError> {
        self.out.flush().map_err(|error| self.failed(error))?;
        let mut frames = vec![Frame { start: 0, bytes: 0 }; pages as usize];
        for (frame, page) in self.frames.iter().zip(page_of_document) {
            if let Some(page) = page {
                frames[*page as usize] = *frame;
            }
        }
        Ok(TextFile { path: self.path, frames })
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Io { operation: "write", path: self.path.clone(), source }
    }
}

/// The file when it is whole.
pub(crate) struct TextFile {
    path: PathBuf,
    /// By page.
    frames: Vec<Frame>,
}

impl PageTexts for TextFile {
    fn texts(&self, pages: &[Page]) -> Result<Vec<String>, StoreError> {
        self.read(pages).map_err(|source| StoreError::Io {
            operation: "read",
            path: self.path.clone(),
            source,
        })
    }
}

impl TextFile {
    fn read(&self, pages: &[Page]) -> io::Result<Vec<String>> {
        let mut file = File::open(&self.path)?;
        let mut decompressor = Decompressor::new()?;
        let mut whole = Vec::with_capacity(LONGEST);
        let mut texts = Vec::with_capacity(pages.len());
        for page in pages {
            let Frame { start, bytes } = self.frames[*page as usize];
            let mut frame = vec![0; bytes as usize];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut frame)?;
            decompressor.decompress_to_buffer(&frame, &mut whole)?;
            texts.push(std::str::from_utf8(&whole).map(str::to_owned).map_err(io::Error::other)?);
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_page_is_that_of_its_latest_document() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("texts");
        let mut writer = TextWriter::create(&path).unwrap();
        let long = "é".repeat(limits::BOUNDS.text_bytes / 2);
        for (title, text) in [("old", "one"), ("Two", &*long), ("", ""), ("New", "one"), ("", "x")]
        {
            writer.add(title, text).unwrap();
        }
        let texts = writer.finish(4, &[None, Some(1), Some(2), Some(0), Some(3)]).unwrap();
        let found = texts.texts(&[3, 0, 1, 2, 0]).unwrap();
        assert_eq!(found, ["x", "New one", &format!("Two {long}"), "", "New one"]);
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = texts.texts(&[3]).unwrap_err().to_string();
        assert_eq!(error, format!("cannot read {}", path.display()));
        assert!(texts.texts(&[0]).is_ok());
    }
}
