//! How segments are written: a file once, with the places in the list, the first rows and the rows of its parts.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::SegmentEntry;

#[derive(Serialize, Deserialize)]
struct File<'a> {
    #[serde(flatten)]
    entry: Cow<'a, SegmentEntry>,
    /// Place in the list, first row, and rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<(usize, u64, u64)>,
}

pub(super) fn serialize<S: Serializer>(
    segments: &[SegmentEntry],
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut files: Vec<File<'_>> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for (place, segment) in segments.iter().enumerate() {
        let Some(first_row) = segment.first_row else {
            files.push(File { entry: Cow::Borrowed(segment), parts: Vec::new() });
            continue;
        };
        let at = *at.entry(&segment.file.file).or_insert_with(|| {
            let entry = Cow::Owned(SegmentEntry { rows: 0, ..segment.whole() });
            files.push(File { entry, parts: Vec::new() });
            files.len() - 1
        });
        files[at].entry.to_mut().rows += segment.rows;
        files[at].parts.push((place, first_row, segment.rows));
    }
    files.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<SegmentEntry>, D::Error> {
    let files = Vec::<File<'_>>::deserialize(from)?;
    let places = files.iter().map(|file| file.parts.len().max(1)).sum();
    let mut segments: Vec<Option<SegmentEntry>> = vec![None; places];
    let (parts, whole): (Vec<File<'_>>, Vec<File<'_>>) =
        files.into_iter().partition(|file| !file.parts.is_empty());
    for File { entry, parts } in parts {
        for (place, first_row, rows) in parts {
            let at = segments.get_mut(place).filter(|at| at.is_none());
            let at = at.ok_or_else(|| D::Error::custom(format!("no place {place}")))?;
            let first_row = Some(first_row);
            *at = Some(SegmentEntry { rows, first_row, ..SegmentEntry::clone(&entry) });
        }
    }
    let mut whole = whole.into_iter().map(|file| file.entry.into_owned());
    let all = segments.into_iter().map(|found| found.or_else(|| whole.next()));
    all.collect::<Option<_>>().ok_or_else(|| D::Error::custom("a place of the list is free"))
}
