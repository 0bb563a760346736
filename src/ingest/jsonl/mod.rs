//! JSON lines: one page record a line, plain, gzip or zstd.
//!
//! `{"url", "title", "text", "outlinks": [{"url", "anchor", "around"}]}` and, where known, `status`,
//! `requested_url`, `fetched_at`, `plan_id`. Only `url` is required; unknown keys are left unread, and those that look
//! like a field are told.
//! A byte order mark at the start, empty lines and CRLF line ends are fine.

mod parse;

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::input::{InputCompression, Tallied, Tally};
use super::keys::{Misnamed, MisnamedKeys};
use super::lines::{Line, read_line};
use super::page_fields::UrlsOfIds;
use super::probe::{Content, Probe, skip_blank};
use super::{
    BATCH_BYTES, BadReason, IngestError, InputFormat, Origin, PageSource, Place, SourceItem,
    SourceOptions, chain,
};

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "jsonl",
    extensions: &["jsonl", "ndjson", "json"],
    description: "JSON lines, one page a line: url, title, text, outlinks [{url, anchor, around}], status, \
                  error; plain, .gz or .zst",
    reads_compressed: true,
    recognises: |probe| matches!(&probe.content, Content::Bytes { head, .. } if skip_blank(head).starts_with(b"{")),
    open: |probes, options| {
        let open = |probe| Box::new(JsonLines::new(probe, options)) as Box<dyn PageSource>;
        chain::one_after_another(probes.into_iter().map(open).collect())
    },
};

/// A file none of whose first so many lines is a record is a wrong file.
const TRIED_LINES: u64 = 1_000;

struct JsonLines {
    name: Arc<str>,
    line_bytes: usize,
    urls_of_ids: Option<Arc<UrlsOfIds>>,
    compression: InputCompression,
    size: Option<u64>,
    tally: Tally,
    state: State,
    /// Lines read, empty ones included.
    lines: u64,
    /// Records seen, up to [`TRIED_LINES`], until the first good one.
    tried: u64,
    first_bad: Option<(BadReason, Origin, String)>,
    any_good: bool,
    misnamed: MisnamedKeys,
}

/// The file is opened when its turn comes, so that many inputs do not exhaust the descriptors.
enum State {
    Waiting(Box<Probe>),
    Reading(BufReader<Box<dyn Read + Send>>),
    Done,
}

/// Lines that are parsed together: their bytes, one behind the other.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: Vec<(u64, Result<Range<usize>, u64>)>,
}

impl JsonLines {
    fn new(probe: Probe, options: &SourceOptions) -> Self {
        let name = probe.path.file_name().unwrap_or(probe.path.as_os_str()).to_string_lossy();
        let (compression, size) = match &probe.content {
            Content::Bytes { compression, size, .. } => (*compression, *size),
            Content::Directory => (InputCompression::Plain, None),
        };
        Self {
            name: probe.shown().into(),
            line_bytes: options.line_bytes,
            urls_of_ids: options.urls_of_ids.clone(),
            compression,
            size,
            tally: Tally::new(&name),
            state: State::Waiting(Box::new(probe)),
            lines: 0,
            tried: 0,
            first_bad: None,
            any_good: false,
            misnamed: MisnamedKeys::default(),
        }
    }

    /// Reads the next lines into a batch; an empty one is the end.
    fn read_batch(&mut self, max: usize) -> io::Result<Batch> {
        self.open()?;
        let mut batch = Batch::default();
        let State::Reading(reader) = &mut self.state else { return Ok(batch) };
        while batch.lines.len() < max.max(1) && batch.bytes.len() < BATCH_BYTES {
            let start = batch.bytes.len();
            let read = match read_line(reader, self.line_bytes, &mut batch.bytes)? {
                Line::End => {
                    self.state = State::Done;
                    break;
                }
                Line::TooLong(bytes) => Err(bytes),
                Line::Whole => Ok(start..batch.bytes.len()),
            };
            self.lines += 1;
            if !matches!(&read, Ok(range) if batch.bytes[range.clone()].trim_ascii().is_empty()) {
                batch.lines.push((self.lines, read));
            }
        }
        Ok(batch)
    }

    fn parse(&mut self, batch: &Batch) -> Vec<SourceItem> {
        let (name, how) = (&self.name, (self.line_bytes, self.urls_of_ids.as_deref()));
        let read: Vec<_> = batch.lines.par_iter().map(|line| batch.item(line, name, how)).collect();
        let mut items = Vec::with_capacity(read.len());
        for (item, misnamed) in read {
            if !misnamed.is_empty() {
                self.misnamed.count(misnamed, item.origin());
            }
            items.push(item);
        }
        items
    }

    fn open(&mut self) -> io::Result<()> {
        if !matches!(self.state, State::Waiting(_)) {
            return Ok(());
        }
        let State::Waiting(probe) = std::mem::replace(&mut self.state, State::Done) else {
            return Ok(());
        };
        let raw = Tallied { inner: probe.into_stream()?, tally: self.tally.clone() };
        let mut reader = BufReader::with_capacity(256 << 10, self.compression.decoder(raw)?);
        if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            reader.consume(3);
        }
        self.state = State::Reading(reader);
        Ok(())
    }

    fn read_error(&self, source: io::Error) -> IngestError {
        let path = self.name.to_string();
        let bytes = self.tally.bytes();
        let damaged = matches!(
            source.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::Other
                | io::ErrorKind::Unsupported
        );
        if self.compression == InputCompression::Plain || !damaged {
            return IngestError::io(path, bytes, source);
        }
        IngestError::Damaged {
            path,
            compression: self.compression.name(),
            truncated: source.kind() == io::ErrorKind::UnexpectedEof,
            bytes,
            lines: self.lines,
            source,
        }
    }

    /// Stops at a file none of whose first lines is a record.
    fn look_for_wrong_file(&mut self, items: &[SourceItem]) -> Result<(), IngestError> {
        for item in items {
            if self.any_good {
                return Ok(());
            }
            self.tried += 1;
            match item {
                SourceItem::Page { .. } | SourceItem::Other { .. } => self.any_good = true,
                SourceItem::Bad { reason, origin, detail } if self.first_bad.is_none() => {
                    self.first_bad = Some((*reason, origin.clone(), detail.clone()));
                }
                SourceItem::Bad { .. } => {}
            }
            if self.tried == TRIED_LINES
                && !self.any_good
                && let Some((reason, origin, detail)) = self.first_bad.take()
            {
                let misnamed = std::mem::take(&mut self.misnamed);
                let lines = self.tried;
                return Err(IngestError::NoPages { lines, origin, reason, detail, misnamed });
            }
        }
        Ok(())
    }
}

/// What a line of a stream is.
pub(super) fn item(line: &[u8], origin: Origin) -> SourceItem {
    match parse::record(line, None).0 {
        Ok((record, cuts)) => SourceItem::Page { record, origin, cuts },
        Err((reason, detail)) => SourceItem::Bad { reason, origin, detail },
    }
}

impl Batch {
    /// What a line is (where it is, or that it has more bytes than the `cap`), and its keys that nothing reads.
    fn item(
        &self,
        (line, bytes): &(u64, Result<Range<usize>, u64>),
        name: &Arc<str>,
        (cap, urls): (usize, Option<&UrlsOfIds>),
    ) -> (SourceItem, Vec<Misnamed>) {
        let origin = Origin { file: Arc::clone(name), place: Place::Line(*line) };
        let (parsed, misnamed) = match bytes {
            Ok(range) => parse::record(&self.bytes[range.clone()], urls),
            Err(long) => {
                let detail = format!("the line has {long} bytes, at most {cap} are read");
                (Err((BadReason::LineTooLong, detail)), Vec::new())
            }
        };
        let item = match parsed {
            Ok((record, cuts)) => SourceItem::Page { record, origin, cuts },
            Err((reason, detail)) => SourceItem::Bad { reason, origin, detail },
        };
        (item, misnamed)
    }
}

impl PageSource for JsonLines {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        // Only empty lines may make a batch empty before the end.
        loop {
            let batch = self.read_batch(max).map_err(|source| self.read_error(source))?;
            if batch.lines.is_empty() && !matches!(self.state, State::Done) {
                continue;
            }
            let items = self.parse(&batch);
            self.look_for_wrong_file(&items)?;
            if items.is_empty() && !self.any_good && self.first_bad.is_none() {
                return Err(IngestError::Empty { path: self.name.to_string() });
            }
            return Ok(items);
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        (self.tally.bytes(), self.size)
    }

    fn fingerprint(&self) -> String {
        self.tally.fingerprint()
    }

    fn misnamed(&self) -> MisnamedKeys {
        self.misnamed.clone()
    }
}
