//! Rows of JSON as batches of objects, whichever way they are strung together, and what is no object.

use std::collections::HashSet;

use prospect_index::limits;

use super::batch::{BadRow, ColumnPlaces, DocumentBatch, Rows};
use super::text_stream::TextStream;
use super::{DocumentError, DocumentSource, object};
use crate::ingest::BATCH_BYTES;

/// A file none of whose first so many rows is a document is a wrong file.
const TRIED_ROWS: u64 = 1_000;

/// What a reader of JSON finds next.
pub(super) enum JsonToken {
    /// The text of something, and the line it starts in.
    Text(Vec<u8>, u64),
    /// Something longer than a row may be.
    TooLong(u64),
    End,
}

/// A reader of JSON texts, one a row.
pub(super) trait Texts: Send {
    fn next(&mut self) -> Result<JsonToken, DocumentError>;
    fn stream(&self) -> &TextStream;
    /// Whether a file without any row is a mistake.
    const MAY_BE_EMPTY: bool;
}

/// Objects of a reader in batches, the first of which was read in advance for its keys.
pub(super) struct Objects<T> {
    texts: T,
    name: String,
    batch_rows: usize,
    columns: Vec<String>,
    first: Option<DocumentBatch>,
    wrong: WrongFile,
}

impl<T: Texts> Objects<T> {
    pub(super) fn new(texts: T, batch_rows: usize) -> Result<Self, DocumentError> {
        let name = texts.stream().name.to_string();
        let wrong = WrongFile::default();
        let mut own = Self { texts, name, batch_rows, columns: Vec::new(), first: None, wrong };
        own.first = own.first_rows()?;
        match &own.first {
            Some(batch) => own.columns = keys(batch),
            None if T::MAY_BE_EMPTY => {}
            None => return Err(DocumentError::Empty { path: own.name }),
        }
        Ok(own)
    }

    /// The first batch with a row; what stands before it is in its list of bad ones.
    fn first_rows(&mut self) -> Result<Option<DocumentBatch>, DocumentError> {
        let mut before: Vec<BadRow> = Vec::new();
        while let Some(mut batch) = self.read()? {
            before.append(&mut batch.bad);
            if !batch.is_empty() {
                batch.bad = before;
                return Ok(Some(batch));
            }
        }
        let (path, rows) = (self.name.clone(), before.len() as u64);
        match before.into_iter().next() {
            Some(first) => {
                let first = Box::new(first);
                Err(DocumentError::NoDocuments { path, rows, first })
            }
            None => Ok(None),
        }
    }

    fn read(&mut self) -> Result<Option<DocumentBatch>, DocumentError> {
        let (mut rows, mut lines, mut bad, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        while rows.len() + bad.len() < self.batch_rows.max(1) && bytes < BATCH_BYTES {
            let name = &self.name;
            match self.texts.next()? {
                JsonToken::End => break,
                JsonToken::TooLong(line) => bad.push(BadRow {
                    reason: "line-too-long",
                    place: format!("{name}:{line}"),
                    detail: format!("more than {} MiB", limits::BOUNDS.line_bytes >> 20),
                }),
                JsonToken::Text(text, line) => {
                    bytes += text.len();
                    match object_of(text) {
                        Ok(row) => {
                            rows.push(row);
                            lines.push(line);
                        }
                        Err((reason, detail)) => {
                            bad.push(BadRow { reason, place: format!("{name}:{line}"), detail });
                        }
                    }
                }
            }
        }
        if rows.is_empty() && bad.is_empty() {
            return Ok(None);
        }
        self.wrong.check(&self.name, rows.len(), &bad)?;
        let places = ColumnPlaces::Lines(self.name.as_str().into(), lines);
        Ok(Some(DocumentBatch { rows: Rows::Objects(rows), places, bad }))
    }
}

impl<T: Texts> DocumentSource for Objects<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<DocumentBatch>, DocumentError> {
        match self.first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.read(),
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.texts.stream().progress()
    }
}

/// Notices that a file is a wrong one: its first rows are all bad.
#[derive(Default)]
pub(super) struct WrongFile {
    good: bool,
    tried: u64,
    first: Option<BadRow>,
}

impl WrongFile {
    pub(super) fn check(
        &mut self,
        path: &str,
        good: usize,
        bad: &[BadRow],
    ) -> Result<(), DocumentError> {
        self.good |= good > 0;
        if self.good {
            return Ok(());
        }
        self.tried += bad.len() as u64;
        self.first = self.first.take().or_else(|| bad.first().cloned());
        match &self.first {
            Some(first) if self.tried >= TRIED_ROWS => Err(DocumentError::NoDocuments {
                path: path.to_owned(),
                rows: self.tried,
                first: Box::new(first.clone()),
            }),
            _ => Ok(()),
        }
    }
}

/// The text of an object, or why it is none.
fn object_of(text: Vec<u8>) -> Result<Box<str>, (&'static str, String)> {
    let text = String::from_utf8(text).map_err(|error| {
        ("invalid-utf8", format!("no UTF-8 at byte {}", error.utf8_error().valid_up_to()))
    })?;
    if text.trim_start().starts_with('{') {
        return match object::members(&text) {
            Ok(_) => Ok(text.into_boxed_str()),
            Err(error) => Err(("invalid-json", told(&error))),
        };
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Err(("not-an-object", format!("expected {{…}}, found {}", excerpt(&text)))),
        Err(error) => Err(("invalid-json", format!("{}: {}", told(&error), excerpt(&text)))),
    }
}

/// serde's message without its line, which counts within the row.
fn told(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    format!("{} at column {} of its line {}", &message[..end], error.column(), error.line())
}

fn excerpt(text: &str) -> String {
    let start: String = text.trim().chars().take(40).collect();
    format!("{start:?}")
}

/// The keys of all rows of a batch, in the order of their first row.
fn keys(batch: &DocumentBatch) -> Vec<String> {
    let Rows::Objects(rows) = &batch.rows else { return Vec::new() };
    let (mut keys, mut seen): (Vec<String>, HashSet<String>) = (Vec::new(), HashSet::new());
    for row in rows {
        for (key, _) in object::members(row).map_or_else(|_| Vec::new(), |members| members.0) {
            if !seen.contains(key.as_ref()) {
                seen.insert(key.clone().into_owned());
                keys.push(key.into_owned());
            }
        }
    }
    keys
}
