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
//! | metadata of a response, as in WAT files | a page without text; with the text of the WET file beside it ([`wat`]) |
//! | request other than GET | its response tells of no page and is told apart ([`requests`]) |
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
mod requests;
#[cfg(test)]
mod tests;
mod wat;

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;

use prospect_index::page::PageRecord;
use rayon::prelude::*;

pub(super) use members::DICTIONARY_MAGIC;

use super::input::{Tallied, Tally, of_parts};
use super::probe::{Content, Probe};
use super::{BATCH_BYTES, BadReason, IngestError, InputFormat, Origin, PageSource, SourceItem};
use members::Members;
use page::{Found, PageTaste};
use records::{Item, Records};
use redirects::Redirects;
use requests::Exchange;
use wat::Texts;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "warc",
    extensions: &["warc", "wat", "wet"],
    description: "WARC 1.0 and 1.1: responses with redirects and times, revisits, resources; WAT and WET, joined \
                  where both are named; plain, .gz or .zst, by record or as a whole",
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
    /// WET files whose WAT file is among those that wait.
    beside: Vec<(Probe, Tally)>,
    reading: Option<WarcFile>,
    redirects: Redirects,
    /// Texts that no page asked for.
    texts: VecDeque<SourceItem>,
}

struct WarcFile {
    name: Arc<str>,
    tally: Tally,
    records: Records<PageTaste>,
    /// Of a WAT file: the WET file beside it, and what was read of that.
    texts: Option<(Box<WarcFile>, Texts)>,
    /// The last request, until its response comes.
    request: Option<Exchange>,
    /// The last response whose request may come next, and its place in the batch.
    response: Option<(usize, Exchange)>,
    /// An item that was read too early.
    ahead: Option<Item>,
}

/// The name of a file without its folder.
fn file_name(probe: &Probe) -> Option<String> {
    probe.path.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// A record, or that one is lost, to be read in parallel with others.
struct Taken {
    file: Arc<str>,
    item: Item,
    /// What its text is known by, where that is in another file.
    key: Option<String>,
    /// What it answers, if that is no GET.
    method: Option<String>,
}

impl WarcFiles {
    fn new(probes: Vec<Probe>) -> Self {
        let mut files = Self {
            tallies: Vec::with_capacity(probes.len()),
            waiting: VecDeque::with_capacity(probes.len()),
            beside: Vec::new(),
            reading: None,
            redirects: Redirects::default(),
            texts: VecDeque::new(),
        };
        let names: HashSet<String> = probes.iter().filter_map(file_name).collect();
        for probe in probes {
            let name = probe.path.file_name().unwrap_or(probe.path.as_os_str()).to_string_lossy();
            let tally = Tally::new(&name);
            let size = match probe.content {
                Content::Bytes { size, .. } => size,
                Content::Directory => None,
            };
            files.tallies.push((tally.clone(), size));
            let wat = file_name(&probe).filter(|name| name.contains(".wet"));
            if wat.is_some_and(|name| names.contains(&name.replacen(".wet", ".wat", 1))) {
                files.beside.push((probe, tally));
            } else {
                files.waiting.push_back((probe, tally));
            }
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
                    Some((probe, tally)) => {
                        let texts = self.beside(&probe)?;
                        self.reading.insert(WarcFile { texts, ..WarcFile::open(probe, tally)? })
                    }
                    None => break,
                },
            };
            match file.next()? {
                Some(item) => bytes += file.put(item, &mut taken),
                // What was taken is joined with the texts before they go.
                None if file.texts.is_some() && !taken.is_empty() => break,
                None => {
                    let texts = self.reading.take().and_then(|file| file.texts);
                    if let Some((file, texts)) = texts {
                        self.texts.extend(texts.rest());
                        self.reading = Some(*file);
                    }
                }
            }
        }
        if let Some(file) = &mut self.reading {
            file.look_ahead(&mut taken)?;
        }
        Ok(taken)
    }

    /// Opens the WET file beside a WAT file, if it is among those that wait.
    fn beside(&mut self, probe: &Probe) -> Result<Option<(Box<WarcFile>, Texts)>, IngestError> {
        let Some(wanted) = file_name(probe).filter(|name| name.contains(".wat")) else {
            return Ok(None);
        };
        let wanted = wanted.replacen(".wat", ".wet", 1);
        let at =
            self.beside.iter().position(|(other, _)| file_name(other).as_ref() == Some(&wanted));
        let Some((probe, tally)) = at.map(|at| self.beside.remove(at)) else {
            return Ok(None);
        };
        Ok(Some((Box::new(WarcFile::open(probe, tally)?), Texts::default())))
    }

    /// Gives a page its text, if that is in a file of its own.
    fn join(&mut self, key: &str, page: &mut PageRecord) -> Result<(), IngestError> {
        let Some((file, texts)) = self.reading.as_mut().and_then(|file| file.texts.as_mut()) else {
            return Ok(());
        };
        texts.join(key, page, || file.next_text())?;
        self.texts.extend(texts.passed());
        Ok(())
    }
}

impl WarcFile {
    fn open(probe: Probe, tally: Tally) -> Result<Self, IngestError> {
        let name: Arc<str> = probe.shown().into();
        let compression = probe.compression();
        let inner = probe.into_stream().map_err(|error| IngestError::io(&*name, 0, error))?;
        let raw = Tallied { inner, tally: tally.clone() };
        let records = Records::new(Members::new(Box::new(raw), compression), PageTaste);
        let (texts, request, response, ahead) = (None, None, None, None);
        Ok(Self { name, tally, records, texts, request, response, ahead })
    }

    fn next(&mut self) -> Result<Option<Item>, IngestError> {
        match self.ahead.take() {
            Some(item) => Ok(Some(item)),
            None => self.records.next().map_err(|error| self.failed(error)),
        }
    }

    /// Puts an item behind those of the batch, unless it is a request: that says what the response beside it
    /// answers. Gives the bytes that it adds.
    fn put(&mut self, item: Item, taken: &mut Vec<Taken>) -> usize {
        let mut method = None;
        match Exchange::of(&item) {
            Some(request) if request.is_request => {
                match self.response.take_if(|(_, response)| response.is_of(&request)) {
                    Some((at, _)) => taken[at].method = request.method,
                    None => self.request = Some(request),
                }
                return 0;
            }
            Some(response) => match self.request.take_if(|request| request.is_of(&response)) {
                Some(request) => method = request.method,
                None => self.response = Some((taken.len(), response)),
            },
            None => {}
        }
        let (mut key, mut bytes) = (None, 0);
        if let Item::Record(record) = &item {
            bytes = record.block.len();
            key = self.texts.as_ref().map(|_| wat::key(&record.fields));
        }
        taken.push(Taken { file: Arc::clone(&self.name), item, key, method });
        bytes
    }

    /// The request of the last response may be the first item behind the batch.
    fn look_ahead(&mut self, taken: &mut Vec<Taken>) -> Result<(), IngestError> {
        if self.response.is_some() {
            match self.next()? {
                Some(item) if Exchange::of(&item).is_some_and(|next| next.is_request) => {
                    self.put(item, taken);
                }
                next => self.ahead = next,
            }
        }
        self.response = None;
        Ok(())
    }

    /// The next page of a WET file, with what it is known by.
    fn next_text(&mut self) -> Result<Option<(String, SourceItem)>, IngestError> {
        loop {
            let item = self.records.next().map_err(|error| self.failed(error))?;
            let Some(item) = item else { return Ok(None) };
            let key = match &item {
                Item::Record(record) => wat::key(&record.fields),
                Item::Lost(..) => String::new(),
            };
            let taken = Taken { file: Arc::clone(&self.name), item, key: None, method: None };
            if let Some((_, Found::Item(item))) = taken.read() {
                return Ok(Some((key, item)));
            }
        }
    }

    fn failed(&self, error: io::Error) -> IngestError {
        IngestError::io(&*self.name, self.tally.bytes(), error)
    }
}

impl Taken {
    /// What it tells of a page, and what the text of that is known by.
    fn read(self) -> Option<(Option<String>, Found)> {
        let found = match self.item {
            Item::Record(record) if self.method.is_some() => Found::Item(SourceItem::Other {
                reason: BadReason::NotGet.name(),
                origin: Origin::record(&self.file, record.number),
                detail: format!("{} {}", self.method?, page::target(&record.fields)?),
            }),
            Item::Record(record) => page::read(&record, &self.file)?,
            Item::Lost(number, detail) => Found::Item(SourceItem::Bad {
                reason: BadReason::DamagedRecord,
                origin: Origin::record(&self.file, number),
                detail,
            }),
        };
        Some((self.key, found))
    }
}

impl PageSource for WarcFiles {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        loop {
            if !self.texts.is_empty() {
                let count = self.texts.len().min(max.max(1));
                return Ok(self.texts.drain(..count).collect());
            }
            let taken = self.take(max)?;
            if taken.is_empty() && self.texts.is_empty() {
                return Ok(self.redirects.rest(max));
            }
            let found: Vec<_> = taken.into_par_iter().map(Taken::read).collect();
            let mut items = Vec::with_capacity(found.len());
            for (key, found) in found.into_iter().flatten() {
                match found {
                    Found::Moved(moved) => self.redirects.add(moved),
                    Found::Item(mut item) => {
                        if let SourceItem::Page { record, cuts, .. } = &mut item {
                            // What asks not to be indexed has no text.
                            let is_hidden = cuts.iter().any(|(cut, _)| *cut == "noindex");
                            if let Some(key) = key.filter(|_| !is_hidden) {
                                self.join(&key, record)?;
                            }
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
        of_parts(self.tallies.iter().map(|(tally, _)| tally.fingerprint()))
    }
}
