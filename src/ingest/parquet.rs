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
const URLS: [&str; 2] = ["url", "URL"];

/// The file is opened when its turn comes, so that many inputs do not exhaust the descriptors.
enum Waiting {
    Probe(Probe),
    Reading(ParquetPages),
}

struct ParquetPages {
    name: Arc<str>,
    rows: RowIter<'static>,
    read: u64,
    total: u64,
    bytes: u64,
    fingerprint: String,
}

impl ParquetPages {
    fn open(probe: &Probe) -> Result<Self, IngestError> {
        let path = probe.shown();
        let failed = |error| IngestError::io(&*path, 0, error);
        let open = || File::open(&probe.path).map_err(failed);
        let name = probe.path.file_name().unwrap_or(probe.path.as_os_str()).to_string_lossy();
        let tally = Tally::new(&name);
        let mut whole = Tallied { inner: open()?, tally: tally.clone() };
        let bytes = io::copy(&mut whole, &mut io::sink()).map_err(failed)?;
        let damaged = |error| damaged(path.clone(), (0, 0), error);
        let reader = SerializedFileReader::new(open()?).map_err(damaged)?;
        let metadata = reader.metadata().file_metadata();
        let total = metadata.num_rows().max(0) as u64;
        let schema = metadata.schema();
        let columns: Vec<&str> = schema.get_fields().iter().map(|field| field.name()).collect();
        if !columns.iter().any(|name| URLS.contains(name)) {
            let all = columns.join(", ");
            return Err(unfit(probe, format!("one with the columns {all}"), Unfit::Foreign));
        }
        let known = schema.get_fields().iter().filter(|field| NAMES.contains(&field.name()));
        let projection = Type::group_type_builder(schema.name())
            .with_fields(known.cloned().collect())
            .build()
            .map_err(damaged)?;
        let rows =
            RowIter::from_file_into(Box::new(reader)).project(Some(projection)).map_err(damaged)?;
        let fingerprint = tally.fingerprint();
        Ok(Self { name: path.into(), rows, read: 0, total, bytes, fingerprint })
    }

    /// Bytes of the file that the rows so far make, if all are alike.
    fn done(&self) -> u64 {
        (u128::from(self.bytes) * u128::from(self.read) / u128::from(self.total.max(1))) as u64
    }
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
    record(fields)
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

impl ParquetPages {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < max.max(1) && bytes < BATCH_BYTES {
            let Some(row) = self.rows.next() else { break };
            let place = (self.done(), self.read);
            let row = row.map_err(|error| damaged(self.name.to_string(), place, error))?;
            let row = row.to_json_value();
            bytes += size(&row);
            self.read += 1;
            rows.push((self.read, row));
        }
        let item = |(number, row)| {
            let origin = Origin::record(&self.name, number);
            match page(row) {
                Ok((record, cuts)) => SourceItem::Page { record, origin, cuts },
                Err((reason, detail)) => SourceItem::Bad { reason, origin, detail },
            }
        };
        Ok(rows.into_par_iter().map(item).collect())
    }
}

impl PageSource for Waiting {
    fn next_batch(&mut self, max: usize) -> Result<Vec<SourceItem>, IngestError> {
        if let Self::Probe(probe) = self {
            *self = Self::Reading(ParquetPages::open(probe)?);
        }
        match self {
            Self::Reading(pages) => pages.next_batch(max),
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
            Self::Reading(pages) => pages.fingerprint.clone(),
            Self::Probe(_) => String::new(),
        }
    }
}
