//! JSON: one page record a line, or one array of them; plain, gzip or zstd.
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
use super::json_array::{ArrayError, Element, JsonArray};
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
    description: "JSON lines, one page a line, or one JSON array of pages: url, title, text, \
                  outlinks [{url, anchor, around}], status, error; plain, .gz or .zst",
    reads_compressed: true,
    recognises: |probe| matches!(&probe.content, Content::Bytes { head, .. } if is_json(skip_blank(head))),
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
    /// With the place in the array, if it is one.
    Reading(BufReader<Box<dyn Read + Send>>, Option<JsonArray>),
    Done,
}

/// Why a line, or an element of an array, was not taken.
enum Untaken {
    /// It has so many bytes.
    TooLong(u64),
    /// The array is none from here on.
    Fault(&'static str),
}

/// Lines that are parsed together: their bytes, one behind the other.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: Vec<(u64, Result<Range<usize>, Untaken>)>,
}

/// Whether a text starts as an object does, or an array of them.
fn is_json(head: &[u8]) -> bool {
    match head {
        [b'{', ..] => true,
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start(), [b'{' | b']', ..]),
        _ => false,
    }
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
        let State::Reading(reader, array) = &mut self.state else { return Ok(batch) };
        while batch.lines.len() < max.max(1) && batch.bytes.len() < BATCH_BYTES {
            let start = batch.bytes.len();
            let read = match array {
                Some(array) => batch.next_element(array, reader, self.line_bytes)?,
                None => batch.next_line(self.lines, reader, self.line_bytes)?,
            };
            let Some((line, read)) = read else {
                self.state = State::Done;
                break;
            };
            self.lines = line;
            let read = read.map(|()| start..batch.bytes.len());
            if !matches!(&read, Ok(range) if batch.bytes[range.clone()].trim_ascii().is_empty()) {
                batch.lines.push((line, read));
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
        // What only looks like an array is told line by line.
        let head = skip_blank(reader.fill_buf()?);
        let is_array = head.starts_with(b"[") && is_json(head);
        let array = if is_array { JsonArray::open(&mut reader)? } else { None };
        self.state = State::Reading(reader, array);
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

/// A line and whether its bytes were appended; none at the end.
type Next = Option<(u64, Result<(), Untaken>)>;

impl Batch {
    fn next_line(
        &mut self,
        before: u64,
        reader: &mut impl BufRead,
        cap: usize,
    ) -> io::Result<Next> {
        Ok(match read_line(reader, cap, &mut self.bytes)? {
            Line::End => None,
            Line::TooLong(bytes) => Some((before + 1, Err(Untaken::TooLong(bytes)))),
            Line::Whole => Some((before + 1, Ok(()))),
        })
    }

    fn next_element(
        &mut self,
        array: &mut JsonArray,
        reader: &mut impl BufRead,
        cap: usize,
    ) -> io::Result<Next> {
        match array.next(reader, cap, &mut self.bytes) {
            Ok(Element::End) => Ok(None),
            Ok(Element::TooLong(line, bytes)) => Ok(Some((line, Err(Untaken::TooLong(bytes))))),
            Ok(Element::Whole(line)) => Ok(Some((line, Ok(())))),
            Err(ArrayError::Fault(what)) => Ok(Some((array.line, Err(Untaken::Fault(what))))),
            Err(ArrayError::Io(error)) => Err(error),
        }
    }

    /// What a line is (where it is, or why it was not taken, as for more bytes than the `cap`), and its keys that
    /// nothing reads.
    fn item(
        &self,
        (line, bytes): &(u64, Result<Range<usize>, Untaken>),
        name: &Arc<str>,
        (cap, urls): (usize, Option<&UrlsOfIds>),
    ) -> (SourceItem, Vec<Misnamed>) {
        let origin = Origin { file: Arc::clone(name), place: Place::Line(*line) };
        let (parsed, misnamed) = match bytes {
            Ok(range) => parse::record(&self.bytes[range.clone()], urls),
            Err(Untaken::TooLong(long)) => {
                let detail = format!("the line has {long} bytes, at most {cap} are read");
                (Err((BadReason::LineTooLong, detail)), Vec::new())
            }
            Err(Untaken::Fault(what)) => {
                (Err((BadReason::InvalidJson, (*what).to_owned())), Vec::new())
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
