//! Records that come one by one as JSON lines, from a stream that does not end by itself. Reading a line waits for it;
//! parsing is for groups of lines, in parallel.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use prospect_index::limits;
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::lines::{Line, read_line};
use super::{BadReason, Origin, Place, SourceItem, jsonl};

/// A line that is not empty.
pub(crate) struct StreamLine {
    /// Its number, from 1.
    number: u64,
    /// Its bytes, or how many there are of one that is too long.
    content: Result<Vec<u8>, u64>,
}

impl StreamLine {
    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.content.as_ref().map_or(0, Vec::len)
    }

    /// The URL that was asked for, of a line that says it and may be none otherwise.
    pub(crate) fn asked(&self) -> Option<String> {
        let line: serde_json::Value = serde_json::from_slice(self.content.as_deref().ok()?).ok()?;
        let said = |key: &str| line.get(key)?.as_str().map(str::to_owned);
        said("requested_url").or_else(|| said("url"))
    }

    fn item(&self, name: &Arc<str>) -> SourceItem {
        let origin = Origin { file: Arc::clone(name), place: Place::Line(self.number) };
        match &self.content {
            Ok(bytes) => jsonl::item(bytes, origin),
            Err(bytes) => {
                let cap = limits::BOUNDS.line_bytes;
                let detail = format!("the line has {bytes} bytes, at most {cap} are read");
                SourceItem::Bad { reason: BadReason::LineTooLong, origin, detail }
            }
        }
    }
}

/// The lines of a stream, empty ones left out.
pub(crate) struct StreamLines<R> {
    reader: BufReader<R>,
    number: u64,
}

impl<R: Read> StreamLines<R> {
    /// From the start of a stream.
    pub(crate) fn new(stream: R) -> Self {
        Self { reader: BufReader::new(stream), number: 0 }
    }

    fn read(&mut self) -> io::Result<Option<StreamLine>> {
        loop {
            let mut bytes = Vec::new();
            let content = match read_line(&mut self.reader, limits::BOUNDS.line_bytes, &mut bytes)?
            {
                Line::End => return Ok(None),
                Line::TooLong(bytes) => Err(bytes),
                Line::Whole => Ok(bytes),
            };
            self.number += 1;
            if !content.as_ref().is_ok_and(|bytes| bytes.trim_ascii().is_empty()) {
                return Ok(Some(StreamLine { number: self.number, content }));
            }
        }
    }
}

impl<R: Read> Iterator for StreamLines<R> {
    type Item = io::Result<StreamLine>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// What lines of a stream of this name are.
pub(crate) fn items(lines: &[StreamLine], name: &Arc<str>) -> Vec<SourceItem> {
    lines.par_iter().map(|line| line.item(name)).collect()
}

/// Identifies lines by what they hold.
pub(crate) fn fingerprint(lines: &[StreamLine]) -> String {
    let mut hash = Xxh3::new();
    for line in lines {
        hash.update(line.content.as_deref().unwrap_or_default());
        hash.update(b"\n");
    }
    format!("{:032x}", hash.digest128())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_and_bad_ones_are_items() {
        let text =
            "{\"url\": \"https://a.test/\"}\r\n\n  \nno JSON\n{\"url\": \"https://b.test/\"}";
        let lines: Vec<StreamLine> =
            StreamLines::new(text.as_bytes()).map(Result::unwrap).collect();
        let shown = items(&lines, &"stdin".into()).into_iter().map(|item| match item {
            SourceItem::Page { record, origin, .. } => format!("{origin} {}", record.url),
            SourceItem::Bad { origin, reason, .. } => format!("{origin} {reason}"),
            SourceItem::Other { .. } => "?".to_owned(),
        });
        let expected =
            ["stdin:1 https://a.test/", "stdin:4 invalid-json", "stdin:5 https://b.test/"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_ne!(fingerprint(&lines), fingerprint(&lines[..2]));
        let asked = ["https://a.test/", "", "https://b.test/"]
            .map(|url| (!url.is_empty()).then(|| url.to_owned()));
        assert_eq!(lines.iter().map(StreamLine::asked).collect::<Vec<_>>(), asked);
    }
}
