//! WARC files as documents: a row for every fetched page with a text, in the columns of
//! [`page_row`]. What else an archive tells is counted, and has no row.

use std::path::PathBuf;
use std::sync::Arc;

use super::batch::{BadRow, ColumnPlaces, DocumentBatch, Rows};
use super::shape::{Shape, ShapeKind};
use super::{DocumentError, DocumentSource, Input, OpenOptions};
use crate::ingest::{PageSource, SourceItem, SourceOptions, open, page_row};

/// Pages of an archive.
pub(super) struct WarcFile {
    name: Arc<str>,
    pages: Box<dyn PageSource>,
    batch_rows: usize,
    columns: Vec<String>,
    shape: Shape,
    others: Vec<BadRow>,
}

impl WarcFile {
    pub(super) fn open(input: &Input, options: &OpenOptions) -> Result<Self, DocumentError> {
        let pages = open(&[PathBuf::from(&input.path)], &SourceOptions::default())?;
        let shape = shape();
        Ok(Self {
            name: input.name.as_str().into(),
            pages,
            batch_rows: options.batch_rows,
            columns: shape.columns.iter().map(|(name, _)| name.clone()).collect(),
            shape,
            others: Vec::new(),
        })
    }
}

/// Columns and types of a page's row.
fn shape() -> Shape {
    let text = || ShapeKind::Text;
    let link = [("url", text()), ("anchor", text())].map(|(name, kind)| (name.to_owned(), kind));
    let list = |kind| ShapeKind::List(Box::new(kind));
    let columns = [
        ("url", text()),
        ("requested_url", text()),
        ("title", text()),
        ("plain_text", text()),
        ("outgoing_links", list(text())),
        ("outlinks", list(ShapeKind::Object(link.to_vec()))),
        ("status", ShapeKind::Whole),
        ("warc_date", text()),
    ];
    Shape { columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec() }
}

impl DocumentSource for WarcFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn next_batch(&mut self) -> Result<Option<DocumentBatch>, DocumentError> {
        let items = self.pages.next_batch(self.batch_rows)?;
        if items.is_empty() {
            return Ok(None);
        }
        let (mut rows, mut origins, mut bad) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            match item {
                SourceItem::Page { record, origin, .. } => match page_row::row(&record) {
                    Ok(row) => {
                        rows.push(row.into_boxed_str());
                        origins.push(origin);
                    }
                    Err((reason, detail)) => {
                        self.others.push(BadRow { reason, place: origin.to_string(), detail });
                    }
                },
                SourceItem::Other { reason, origin, detail } => {
                    self.others.push(BadRow { reason, place: origin.to_string(), detail });
                }
                SourceItem::Bad { reason, origin, detail } => {
                    bad.push(BadRow { reason: reason.name(), place: origin.to_string(), detail });
                }
            }
        }
        let places = ColumnPlaces::Records(Arc::clone(&self.name), origins);
        Ok(Some(DocumentBatch { rows: Rows::Objects(rows), places, bad }))
    }

    fn progress(&self) -> (u64, Option<u64>) {
        self.pages.progress()
    }

    fn shape(&self) -> Option<&Shape> {
        Some(&self.shape)
    }

    fn others(&mut self) -> Vec<BadRow> {
        std::mem::take(&mut self.others)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use prospect_index::page::PageRecord;

    use super::*;
    use crate::documents::{Compression, DocumentFormat, Layout, create};

    fn record(kind: &str, uri: &str, content_type: &str, block: &str) -> String {
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2026-11-23T10:00:00Z\r\n\
             Content-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    fn response(uri: &str, status: u16, fields: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 {status} Said\r\n{fields}\r\n\r\n{body}");
        record("response", uri, "application/http; msgtype=response", &block)
    }

    fn archive() -> String {
        let html = "Content-Type: text/html";
        [
            response("https://e.org/old", 301, "Location: /a", ""),
            response(
                "https://e.org/a",
                200,
                html,
                "<title>A</title><p>Words on foxes <a href='/b'>brown foxes</a> <a href='/b'>more</a> \
                 <a href='http://E.org/c#x'>there</a>",
            ),
            response(
                "https://e.org/b?s=1",
                200,
                html,
                "<link rel=canonical href='/b'><p>No title \u{e9}",
            ),
            response("https://e.org/gone", 404, html, "<p>Not here"),
            response("https://e.org/left", 302, "Location: https://other.org/", ""),
            response("https://e.org/f.pdf", 200, "Content-Type: application/pdf", "%PDF-1.7"),
            record("conversion", "https://e.org/t", "text/plain", "Just text."),
        ]
        .concat()
    }

    fn pages(path: &Path) -> Vec<SourceItem> {
        let mut source = open(&[path.to_owned()], &SourceOptions::default()).unwrap();
        let (mut all, mut batch) = (Vec::new(), source.next_batch(3).unwrap());
        while !batch.is_empty() {
            all.append(&mut batch);
            batch = source.next_batch(3).unwrap();
        }
        all
    }

    /// The record of a page that has a text. That an archive had a part of the page alone is not written.
    fn with_text(item: &SourceItem) -> Option<PageRecord> {
        match item {
            SourceItem::Page { record, .. } => {
                (!record.text.is_empty()).then(|| PageRecord { part: false, ..record.clone() })
            }
            SourceItem::Bad { detail, .. } | SourceItem::Other { detail, .. } => panic!("{detail}"),
        }
    }

    #[test]
    fn what_is_written_is_read_again_as_the_pages_that_were_archived() {
        let directory = tempfile::tempdir().unwrap();
        let archived = directory.path().join("crawl.warc");
        std::fs::write(&archived, archive()).unwrap();
        let expected: Vec<_> = pages(&archived).iter().filter_map(with_text).collect();
        assert_eq!(expected.len(), 3);
        for format in [DocumentFormat::Parquet, DocumentFormat::JsonLines] {
            let input = Input::of(&archived, None);
            let options = OpenOptions { batch_rows: 2, columns: None };
            let mut source = crate::documents::open(&input, &options).unwrap();
            let written = directory.path().join(format!("pages.{}", format.name()));
            let out = Box::new(File::create(&written).unwrap());
            let layout = Layout {
                format,
                compression: Compression::Plain,
                shape: None,
                added: None,
                replace: false,
            };
            let mut sink = create(out, source.as_ref(), &layout).unwrap();
            let mut others = Vec::new();
            while let Some(batch) = source.next_batch().unwrap() {
                sink.write(&batch, None).unwrap();
                others.extend(source.others().into_iter().map(|other| other.reason));
            }
            sink.finish().unwrap();
            assert_eq!(others, ["failed", "no-text", "moved"]);
            let found: Vec<_> = pages(&written).iter().filter_map(with_text).collect();
            assert_eq!(found, expected, "{format:?}");
        }
    }
}
