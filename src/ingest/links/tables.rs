//! How files of links say whose link leads where: one line, or one row, at a time. No I/O.

use serde::Deserialize;
use serde_json::Value;

use crate::ingest::BadReason;
use crate::ingest::record::{Bad, excerpt};

/// A link, as it is spelled.
pub(in crate::ingest) struct TableLink {
    /// URL of the page that shows it.
    pub(super) source: String,
    /// Where it leads.
    pub(super) target: String,
    pub(super) anchor: String,
}

/// A format that is read line by line.
pub(in crate::ingest) trait LinkLines: Send {
    /// Adds the links of a line that is not empty.
    ///
    /// # Errors
    /// It is none of the format.
    fn line(&mut self, line: &str, links: &mut Vec<TableLink>) -> Result<(), Bad>;
}

/// A reader for a file that starts so, if it is of its format.
type Open = fn(&str) -> Option<Box<dyn LinkLines>>;

/// Formats that are read line by line.
pub(super) const LINES: [Open; 3] = [Dump::of, Delimited::of, ClueWeb::of];

/// Columns of links, by place or by name.
#[derive(Clone)]
pub(in crate::ingest) struct Columns {
    source: (usize, String),
    target: (usize, String),
    anchor: Option<(usize, String)>,
}

impl Columns {
    /// Those of a header; none if it is not of links.
    pub(super) fn of(header: &[String]) -> Option<Self> {
        let named = |known: &[&str]| column_of(header, known);
        Some(Self {
            source: named(&["source", "src", "from", "sourceurl", "srcurl", "fromurl"])?,
            target: named(&[
                "target",
                "dst",
                "dest",
                "destination",
                "to",
                "targeturl",
                "dsturl",
                "desturl",
                "tourl",
            ])?,
            anchor: named(&["anchor", "anchortext"]),
        })
    }

    /// Whether a column of this name is one of them.
    pub(super) fn has(&self, name: &str) -> bool {
        [Some(&self.source), Some(&self.target), self.anchor.as_ref()]
            .into_iter()
            .flatten()
            .any(|(_, known)| known == name)
    }

    /// The link of a row of Parquet.
    pub(super) fn link(&self, row: &Value) -> Result<Option<TableLink>, Bad> {
        let text = |(_, name): &(usize, String)| row.get(name).and_then(Value::as_str);
        let (Some(source), Some(target)) = (text(&self.source), text(&self.target)) else {
            return Err((BadReason::MissingUrl, "no source or no target".to_owned()));
        };
        let anchor = self.anchor.as_ref().and_then(text).unwrap_or_default();
        Ok(Some(TableLink {
            source: source.to_owned(),
            target: target.to_owned(),
            anchor: anchor.to_owned(),
        }))
    }
}

/// The first column of a header that has one of these names, whatever its case and what joins its words.
fn column_of(header: &[String], known: &[&str]) -> Option<(usize, String)> {
    let plain = |name: &String| name.trim().to_ascii_lowercase().replace(['_', '-', ' '], "");
    let at = header.iter().position(|name| known.contains(&plain(name).as_str()))?;
    Some((at, header[at].clone()))
}

/// TSV and CSV.
struct Delimited {
    delimiter: u8,
    columns: Columns,
    is_header: bool,
}

impl Delimited {
    fn of(head: &str) -> Option<Box<dyn LinkLines>> {
        let header = head.lines().next()?;
        let delimiter = if header.contains('\t') { b'\t' } else { b',' };
        let columns = Columns::of(&cells(header, delimiter)?)?;
        Some(Box::new(Self { delimiter, columns, is_header: true }))
    }
}

/// The cells of a line. In TSV quotation marks are text.
fn cells(line: &str, delimiter: u8) -> Option<Vec<String>> {
    if delimiter == b'\t' {
        return Some(line.split('\t').map(str::to_owned).collect());
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .buffer_capacity(line.len())
        .from_reader(line.as_bytes());
    let row = reader.records().next()?.ok()?;
    Some(row.iter().map(str::to_owned).collect())
}

impl LinkLines for Delimited {
    fn line(&mut self, line: &str, links: &mut Vec<TableLink>) -> Result<(), Bad> {
        if std::mem::take(&mut self.is_header) {
            return Ok(());
        }
        let mut cells = cells(line, self.delimiter).unwrap_or_default();
        let mut cell = |(at, _): &(usize, String)| cells.get_mut(*at).map(std::mem::take);
        let (Some(source), Some(target)) = (cell(&self.columns.source), cell(&self.columns.target))
        else {
            let what = format!("no source and target: {}", excerpt(line));
            return Err((BadReason::InvalidRecord, what));
        };
        let anchor = self.columns.anchor.as_ref().and_then(cell).unwrap_or_default();
        links.push(TableLink { source, target, anchor });
        Ok(())
    }
}

/// What `nutch readlinkdb DIR -dump` writes: a target, and the links to it.
struct Dump {
    target: Option<String>,
}

impl Dump {
    fn of(head: &str) -> Option<Box<dyn LinkLines>> {
        target(head.lines().next()?).map(|_| Box::new(Self { target: None }) as Box<dyn LinkLines>)
    }
}

/// The URL of a line that starts an entry.
fn target(line: &str) -> Option<&str> {
    line.trim_end().strip_suffix("\tInlinks:").filter(|url| url.contains(':'))
}

impl LinkLines for Dump {
    fn line(&mut self, line: &str, links: &mut Vec<TableLink>) -> Result<(), Bad> {
        if let Some(url) = target(line) {
            self.target = Some(url.to_owned());
            return Ok(());
        }
        let link = line.trim_start().strip_prefix("fromUrl: ").zip(self.target.as_ref());
        let Some((link, target)) = link else {
            let what = format!("no entry of a LinkDb: {}", excerpt(line));
            return Err((BadReason::InvalidRecord, what));
        };
        let (source, anchor) = link.split_once(" anchor:").unwrap_or((link, ""));
        let (source, anchor) = (source.to_owned(), anchor.trim().to_owned());
        links.push(TableLink { source, target: target.clone(), anchor });
        Ok(())
    }
}

/// Files `outlink` and `inlink` of ClueWeb22.
struct ClueWeb;

#[derive(Deserialize)]
struct ClueWebLinks {
    url: String,
    /// Links of this page: URL, its hash, anchor, and more.
    #[serde(default)]
    outlinks: Vec<Vec<Value>>,
    /// Links to this page, in the same order.
    #[serde(default)]
    anchors: Vec<Vec<Value>>,
}

impl ClueWeb {
    fn of(head: &str) -> Option<Box<dyn LinkLines>> {
        let first = head.lines().next()?;
        let has = |name: &str| first.contains(&format!("\"{name}\":"));
        let has_text = ["Clean-Text", "text", "plain_text"].into_iter().any(has);
        let is_one = first.starts_with('{') && has("ClueWeb22-ID") && !has_text;
        (is_one && (has("outlinks") || has("anchors")))
            .then(|| Box::new(Self) as Box<dyn LinkLines>)
    }
}

impl LinkLines for ClueWeb {
    fn line(&mut self, line: &str, links: &mut Vec<TableLink>) -> Result<(), Bad> {
        let ClueWebLinks { url, outlinks, anchors } = serde_json::from_str(line)
            .map_err(|error| (BadReason::InvalidJson, format!("{error}: {}", excerpt(line))))?;
        let page = url.trim();
        links.extend(outlinks.iter().map(|link| clueweb_link(page, link, true)));
        links.extend(anchors.iter().map(|link| clueweb_link(page, link, false)));
        Ok(())
    }
}

/// A link of a page, or one to it.
fn clueweb_link(page: &str, link: &[Value], is_out: bool) -> TableLink {
    let text = |at: usize| link.get(at).and_then(Value::as_str).unwrap_or_default().trim();
    let (other, anchor) = (text(0), text(2).to_owned());
    let (source, target) = if is_out { (page, other) } else { (other, page) };
    TableLink { source: source.to_owned(), target: target.to_owned(), anchor }
}
