//! One line of JSON to one page record. No I/O.

use std::collections::BTreeSet;

use serde_ignored::Path;

use crate::ingest::BadReason;
use crate::ingest::keys::{self, Misnamed};
use crate::ingest::page_fields::{self, PageFields, Parsed, UrlsOfIds};
use crate::ingest::record::{Bad, bad_json, excerpt};

/// What a line is, and its keys that nothing reads and that look like a field.
pub(super) type Read = (Result<Parsed, Bad>, Vec<Misnamed>);

/// Parses a line that is not empty: a record, or the reason to skip it, and what was found.
pub(super) fn record(line: &[u8], urls: Option<&UrlsOfIds>) -> Read {
    let bad = |bad| (Err(bad), Vec::new());
    let line = match std::str::from_utf8(line) {
        Ok(line) => line,
        Err(error) => {
            let detail = format!("no UTF-8 at byte {} of the line", error.valid_up_to());
            return bad((BadReason::InvalidUtf8, detail));
        }
    };
    match parse_json(line) {
        Ok((fields, misnamed)) => (page_fields::record(fields, urls), misnamed),
        Err(error) => bad(error),
    }
}

fn parse_json(line: &str) -> Result<(PageFields, Vec<Misnamed>), Bad> {
    // serde would also take an array for a struct.
    if !line.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => (BadReason::NotAPage, format!("not an object: {}", excerpt(line))),
            Err(error) => {
                let (reason, what) = bad_json(&error);
                (reason, format!("{what}: {}", excerpt(line)))
            }
        });
    }
    with_misnamed(line).map_err(|error| bad_json(&error))
}

fn with_misnamed(line: &str) -> serde_json::Result<(PageFields, Vec<Misnamed>)> {
    let (mut of_record, mut of_links) = (Vec::new(), BTreeSet::new());
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let fields: PageFields =
        serde_ignored::deserialize(&mut deserializer, |path| match ignored(&path) {
            (key, 0) => of_record.push(key.to_owned()),
            (key, depth) if depth > 1 => of_links.extend(keys::of_link(key)),
            _ => {}
        })?;
    deserializer.end()?;
    let of_record =
        of_record.iter().filter_map(|key| keys::of_record(key, |name| fields.has(name)));
    let misnamed = of_record.chain(of_links).collect();
    Ok((fields, misnamed))
}

/// The key that a path ends in, and how many steps lead to its object.
fn ignored<'a>(path: &'a Path<'a>) -> (&'a str, usize) {
    let (mut key, mut depth, mut at) = ("", 0, path);
    loop {
        at = match at {
            Path::Root => return (key, depth.max(1) - 1),
            Path::Seq { parent, .. } => {
                depth += 1;
                parent
            }
            Path::Map { parent, key: name } => {
                if depth == 0 {
                    key = name;
                }
                depth += 1;
                parent
            }
            Path::Some { parent }
            | Path::NewtypeStruct { parent }
            | Path::NewtypeVariant { parent } => parent,
        };
    }
}
