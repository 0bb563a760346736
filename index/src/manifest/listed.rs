//! How segments are written: a file once, with the places in the list, the first rows and the rows of its parts.

use std::collections::HashMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SegmentEntry;

#[derive(Serialize, Deserialize)]
struct File {
    #[serde(flatten)]
    entry: SegmentEntry,
    /// Place in the list, first row, and rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<(usize, u64, u64)>,
}

pub(super) fn serialize<S: Serializer>(
    segments: &[SegmentEntry],
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut files: Vec<File> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for (place, segment) in segments.iter().enumerate() {
        let new = || File { entry: segment.whole(), parts: Vec::new() };
        let Some(first_row) = segment.first_row else {
            files.push(new());
            continue;
        };
        let at = *at.entry(&segment.file.file).or_insert_with(|| {
            files.push(File { entry: SegmentEntry { rows: 0, ..new().entry }, ..new() });
            files.len() - 1
        });
        files[at].entry.rows += segment.rows;
        files[at].parts.push((place, first_row, segment.rows));
    }
    files.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<SegmentEntry>, D::Error> {
    let files = Vec::<File>::deserialize(from)?;
    let places = files.iter().map(|file| file.parts.len().max(1)).sum();
    let mut segments: Vec<Option<SegmentEntry>> = vec![None; places];
    let (parts, whole): (Vec<File>, Vec<File>) =
        files.into_iter().partition(|file| !file.parts.is_empty());
    for File { entry, parts } in parts {
        for (place, first_row, rows) in parts {
            let at = segments.get_mut(place).filter(|at| at.is_none());
            let at = at.ok_or_else(|| D::Error::custom(format!("no place {place}")))?;
            *at = Some(SegmentEntry { rows, first_row: Some(first_row), ..entry.clone() });
        }
    }
    let mut whole = whole.into_iter().map(|file| file.entry);
    let all = segments.into_iter().map(|found| found.or_else(|| whole.next()));
    all.collect::<Option<_>>().ok_or_else(|| D::Error::custom("a place of the list is free"))
}
