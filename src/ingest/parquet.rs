//! Parquet: one page a row, in columns that have the names of JSON lines, or those of the Open Web Index.
//!
//! Other columns are not read. A row whose URL is missing or none is a bad record; a file without a column of URLs
//! is a wrong file.

use std::fs::File;
use std::io;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::input::{InputCompression, Tallied, Tally};
use super::page_fields::{NAMES, PageFields, Parsed, record};
use super::probe::{Content, Probe};
use super::record::Bad;
use super::{
    BATCH_BYTES, BadReason, IngestError, InputFormat, Origin, PageSource, SourceItem, Unfit, chain,
};
use crate::contained::caught;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "parquet",
    extensions: &["parquet", "pq"],
    description: "Parquet, one page a row: the columns of jsonl, or plain_text, outgoing_links, warc_date, \
                  quality_score (Open Web Index)",
    reads_compressed: false,
    recognises: |probe| matches!(&probe.content, Content::Bytes { head, .. } if head.starts_with(b"PAR1")),
    open: |probes, _| {
        probes.iter().try_for_each(check_fits)?;
        let open = |probe| Box::new(Waiting::Probe(probe)) as Box<dyn PageSource>;
        chain::one_after_another(probes.into_iter().map(open).collect())
    },
};

fn unfit(probe: &Probe, found: String, unfit: Unfit) -> IngestError {
    let (path, expected) = (probe.shown(), "a Parquet file with a column url");
    IngestError::WrongType { path, found, expected, unfit }
}

/// Refuses what cannot be read from its end.
fn check_fits(probe: &Probe) -> Result<(), IngestError> {
    match &probe.content {
        Content::Bytes { reader: Some(_), .. } => {
            Err(unfit(probe, "one on a stream".to_owned(), Unfit::Streamed))
        }
        Content::Bytes { compression, .. } if *compression != InputCompression::Plain => {
            Err(unfit(probe, format!("one in {} data", compression.name()), Unfit::Compressed))
        }
        _ => Ok(()),
    }
}

/// Columns of URLs.
pub(super) const URLS: [&str; 2] = ["url", "URL"];

/// The file is opened when its turn comes, so that many inputs do not exhaust the descriptors.
enum Waiting {
    Probe(Probe),
    Reading(Rows),
}

/// The rows of a file, some of its columns.
pub(super) struct Rows {
    name: Arc<str>,
    iter: RowIter<'static>,
    read: u64,
    total: u64,
    bytes: u64,
    tally: Tally,
}

/// The columns of a file; none if it cannot be read.
pub(super) fn columns(probe: &Probe) -> Vec<String> {
    let open = |file| caught(|| SerializedFileReader::new(file).ok()).ok().flatten();
    let reader = File::open(&probe.path).ok().and_then(open);
    let Some(reader) = reader else { return Vec::new() };
    let fields = reader.metadata().file_metadata().schema().get_fields();
    fields.iter().map(|field| field.name().to_owned()).collect()
}

impl Rows {
    /// Opens a file for the columns that `wants` takes; `tally` takes in its bytes.
    pub(super) fn open(
        probe: &Probe,
        tally: Tally,
        wants: impl Fn(&str) -> bool,
    ) -> Result<Self, IngestError> {
        let path = probe.shown();
        let failed = |error| IngestError::io(&*path, 0, error);
        let open = || File::open(&probe.path).map_err(failed);
        let mut whole = Tallied { inner: open()?, tally: tally.clone() };
        let bytes = io::copy(&mut whole, &mut io::sink()).map_err(failed)?;
        let file = open()?;
        let (iter, total) = caught(|| projected(file, wants))
            .unwrap_or_else(|said| Err(ParquetError::General(said)))
            .map_err(|error| damaged(path.clone(), (0, 0), error))?;
        Ok(Self { name: path.into(), iter, read: 0, total, bytes, tally })
    }

    /// The next row with its number, from 1; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value)>, IngestError> {
        let place = (self.done(), self.read);
        let next = caught(|| self.iter.next().map(|row| Ok(row?.to_json_value())));
        let next = next.unwrap_or_else(|said| Some(Err(ParquetError::General(said))));
        let Some(row) = next else { return Ok(None) };
        let row = row.map_err(|error| damaged(self.name.to_string(), place, error))?;
        self.read += 1;
        Ok(Some((self.read, row)))
    }

    /// Bytes of the file that the rows so far make, if all are alike.
    fn done(&self) -> u64 {
        (u128::from(self.bytes) * u128::from(self.read) / u128::from(self.total.max(1))) as u64
    }
}

/// The rows of a file, of the columns that `wants` takes, and how many there are said to be.
fn projected(
    file: File,
    wants: impl Fn(&str) -> bool,
) -> Result<(RowIter<'static>, u64), ParquetError> {
    let reader = SerializedFileReader::new(file)?;
    let metadata = reader.metadata().file_metadata();
    let total = metadata.num_rows().max(0) as u64;
    let schema = metadata.schema();
    let wanted = schema.get_fields().iter().filter(|field| wants(field.name()));
    let projection =
        Type::group_type_builder(schema.name()).with_fields(wanted.cloned().collect()).build()?;
    Ok((RowIter::from_file_into(Box::new(reader)).project(Some(projection))?, total))
}

/// Opens a file of pages.
fn open_pages(probe: &Probe) -> Result<Rows, IngestError> {
    let columns = columns(probe);
    // What cannot be read says so when it is opened.
    if !columns.is_empty() && !columns.iter().any(|name| URLS.contains(&name.as_str())) {
        let all = columns.join(", ");
        return Err(unfit(probe, format!("one with the columns {all}"), Unfit::Foreign));
    }
    let name = probe.path.file_name().unwrap_or(probe.path.as_os_str()).to_string_lossy();
    Rows::open(probe, Tally::new(&name), |name| NAMES.contains(&name))
}

/// What is wrong with a file, after so many bytes and rows.
fn damaged(path: String, (bytes, lines): (u64, u64), error: ParquetError) -> IngestError {
    let source = io::Error::new(io::ErrorKind::InvalidData, error);
    IngestError::Damaged { path, compression: "Parquet", truncated: false, bytes, lines, source }
}

/// The record of a row.
fn page(row: Value) -> Result<Parsed, Bad> {
    let fields = PageFields::deserialize(row)
        .map_err(|error| (BadReason::InvalidRecord, error.to_string()))?;
    record(fields, None)
}

/// Bytes of the texts of a row.
fn size(row: &Value) -> usize {
    match row {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 8,
    }
}

/// The next pages of a file.
fn next_pages(pages: &mut Rows, max: usize) -> Result<Vec<SourceItem>, IngestError> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while rows.len() < max.max(1) && bytes < BATCH_BYTES {
        let Some((number, row)) = pages.next()? else { break };
        bytes += size(&row);
        rows.push((number, row));
    }
    let name = &pages.name;
    Ok(rows.into_par_iter().map(|(number, row)| item(Origin::record(name, number), row)).collect())
}

fn item(origin: Origin, row: Value) -> SourceItem {
    match page(row) {
        Ok((record, cuts)) => SourceItem::Page { record, origin, cuts },
        Err((reason, detail)) => SourceItem::Bad { reason, origin, detail },
    }
}

impl PageSource for Waiting {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        if let Self::Probe(probe) = self {
            *self = Self::Reading(open_pages(probe)?);
        }
        match self {
            Self::Reading(pages) => next_pages(pages, max),
            Self::Probe(_) => Ok(Vec::new()),
        }
    }

    fn progress(&self) -> (u64, Option<u64>) {
        match self {
            Self::Reading(pages) => (pages.done(), Some(pages.bytes)),
            Self::Probe(probe) => match probe.content {
                Content::Bytes { size, .. } => (0, size),
                Content::Directory => (0, None),
            },
        }
    }

    fn fingerprint(&self) -> String {
        match self {
            Self::Reading(pages) => pages.tally.fingerprint(),
            Self::Probe(_) => String::new(),
        }
    }
}
