//! WARC files (ISO 28500, versions 1.0 and 1.1), as crawlers write them: what was fetched, with its status,
//! its redirects and its time.
//!
//! Plain, gzip and zstd, compressed by record or as a whole, with a dictionary or without. What the records
//! become:
//!
//! | Record | Becomes |
//! |---|---|
//! | response | a page, a failed fetch, or a redirect that waits for its target ([`redirects`]) |
//! | revisit | status 304: the stored page stays; unchanged from another URL: a redirect to it |
//! | resource | a page without status |
//! | conversion | a page that is all text, as in WET files |
//! | others, robots.txt, name lookups | nothing |
//!
//! HTML is read for title, text and links, other text for its text; what is no text (PDF, images) is a page
//! without text. Records that are cut or damaged are bad records, and reading goes on behind them
//! ([`records`], [`members`]).

mod fields;
mod http;
mod members;
mod page;
mod records;
mod redirects;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

pub(super) use members::DICTIONARY_MAGIC;

use super::input::{InputCompression, Tallied, Tally};
use super::probe::{Content, Probe};
use super::{BATCH_BYTES, BadReason, IngestError, InputFormat, Origin, PageSource, SourceItem};
use members::Members;
use page::{Found, PageTaste};
use records::{Item, Records};
use redirects::Redirects;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "warc",
    extensions: &["warc", "wet"],
    description: "WARC 1.0 and 1.1 (also WET): responses with redirects and times, revisits, resources, \
                  texts; plain, .gz or .zst, by record or as a whole",
    reads_compressed: true,
    recognises: |probe| match &probe.content {
        Content::Bytes { head, has_dictionary, .. } => {
            *has_dictionary || head.starts_with(b"WARC/")
        }
        Content::Directory => false,
    },
    open: |probes, _| Ok(Box::new(WarcFiles::new(probes))),
};

/// Files that are read as one crawl: redirects may be in one, their targets in the next.
struct WarcFiles {
    /// All files, and what was read of each.
    tallies: Vec<(Tally, Option<u64>)>,
    waiting: VecDeque<(Probe, Tally)>,
    reading: Option<WarcFile>,
    redirects: Redirects,
}

struct WarcFile {
    name: Arc<str>,
    tally: Tally,
    records: Records<PageTaste>,
}

/// A record, or that one is lost, to be read in parallel with others.
struct Taken {
    file: Arc<str>,
    item: Item,
}

impl WarcFiles {
    fn new(probes: Vec<Probe>) -> Self {
        let mut files = Self {
            tallies: Vec::with_capacity(probes.len()),
            waiting: VecDeque::with_capacity(probes.len()),
            reading: None,
            redirects: Redirects::default(),
        };
        for probe in probes {
            let name = probe.path.file_name().unwrap_or(probe.path.as_os_str()).to_string_lossy();
            let tally = Tally::new(&name);
            let size = match probe.content {
                Content::Bytes { size, .. } => size,
                Content::Directory => None,
            };
            files.tallies.push((tally.clone(), size));
            files.waiting.push_back((probe, tally));
        }
        files
    }

    /// Takes the next records; none at the end of all files.
    fn take(&mut self, max: usize) -> Result<Vec<Taken>, IngestError> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while taken.len() < max.max(1) && bytes < BATCH_BYTES {
            let file = match &mut self.reading {
                Some(file) => file,
                None => match self.waiting.pop_front() {
                    Some((probe, tally)) => self.reading.insert(WarcFile::open(probe, tally)?),
                    None => break,
                },
            };
            match file.records.next().map_err(|error| file.failed(error))? {
                Some(item) => {
                    if let Item::Record(record) = &item {
                        bytes += record.block.len();
                    }
                    taken.push(Taken { file: Arc::clone(&file.name), item });
                }
                None => self.reading = None,
            }
        }
        Ok(taken)
    }
}

impl WarcFile {
    fn open(probe: Probe, tally: Tally) -> Result<Self, IngestError> {
        let name: Arc<str> = probe.shown().into();
        let (compression, reader) = match probe.content {
            Content::Bytes { compression, reader, .. } => (compression, reader),
            Content::Directory => (InputCompression::Plain, None),
        };
        let inner: Box<dyn Read + Send> = match reader {
            Some(reader) => reader,
            None => Box::new(
                File::open(&probe.path).map_err(|error| IngestError::io(&*name, 0, error))?,
            ),
        };
        let raw = Tallied { inner, tally: tally.clone() };
        let records = Records::new(Members::new(Box::new(raw), compression), PageTaste);
        Ok(Self { name, tally, records })
    }

    fn failed(&self, error: io::Error) -> IngestError {
        IngestError::io(&*self.name, self.tally.bytes(), error)
    }
}

impl Taken {
    fn read(self) -> Option<Found> {
        match self.item {
            Item::Record(record) => page::read(&record, &self.file),
            Item::Lost(number, detail) => Some(Found::Item(SourceItem::Bad {
                reason: BadReason::DamagedRecord,
                origin: Origin::record(&self.file, number),
                detail,
            })),
        }
    }
}

impl PageSource for WarcFiles {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        loop {
            let taken = self.take(max)?;
            if taken.is_empty() {
                return Ok(self.redirects.rest(max));
            }
            let found: Vec<Option<Found>> = taken.into_par_iter().map(Taken::read).collect();
            let mut items = Vec::with_capacity(found.len());
            for found in found.into_iter().flatten() {
                match found {
                    Found::Moved(moved) => self.redirects.add(moved),
                    Found::Item(mut item) => {
                        if let SourceItem::Page { record, .. } = &mut item {
                            self.redirects.pair(record);
                        }
                        items.push(item);
                    }
                }
            }
            // Many records may tell of no page.
            if !items.is_empty() {
                return Ok(items);
            }
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        let done = self.tallies.iter().map(|(tally, _)| tally.bytes()).sum();
        (done, self.tallies.iter().map(|(_, size)| *size).sum())
    }

    fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        for (tally, _) in &self.tallies {
            hash.update(tally.fingerprint().as_bytes());
        }
        format!("{:032x}", hash.digest128())
    }
}
