//! Lists: the first word of each line is a URL; lines that start with `#` are notes.

use super::super::record::page_url;
use super::{Found, LineFormat, Lines, UrlFormat, UrlRecord};

pub(super) const FORMAT: UrlFormat = UrlFormat {
    name: "list",
    description: "one URL a line, first of its words; lines with # are notes",
    has_statuses: false,
    recognises: |head| !head.contains('\0'),
    read: |reader| Lines::boxed(reader, List),
};

struct List;

impl LineFormat for List {
    fn line(&mut self, number: u64, line: &str) -> Option<Found> {
        let first = line.split_whitespace().next().filter(|word| !word.starts_with('#'))?;
        Some((number, page_url(first).map(|(spelled, _)| UrlRecord::of(&spelled))))
    }
}
