//! One line of JSON to one page record. No I/O.

use serde_json::error::Category;

use crate::ingest::BadReason;
use crate::ingest::page_fields::{self, PageFields, Parsed};
use crate::ingest::record::{Bad, excerpt};

/// Parses a line that is not empty.
///
/// # Errors
/// The reason to skip it, and what was found.
pub(super) fn record(line: &[u8]) -> Result<Parsed, Bad> {
    let line = std::str::from_utf8(line).map_err(|error| {
        (BadReason::InvalidUtf8, format!("no UTF-8 at byte {} of the line", error.valid_up_to()))
    })?;
    page_fields::record(parse_json(line)?)
}

fn parse_json(line: &str) -> Result<PageFields, Bad> {
    // serde would also take an array for a struct.
    if !line.trim_start().starts_with('{') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(line) {
            Ok(_) => (BadReason::NotAPage, format!("not an object: {}", excerpt(line))),
            Err(error) => {
                let detail = format!("{}: {}", without_line_number(&error), excerpt(line));
                (BadReason::InvalidJson, detail)
            }
        });
    }
    serde_json::from_str(line).map_err(|error| {
        let reason = match error.classify() {
            Category::Data => BadReason::InvalidRecord,
            Category::Io | Category::Syntax | Category::Eof => BadReason::InvalidJson,
        };
        (reason, without_line_number(&error))
    })
}

/// serde's message; its "line 1" would be taken for the line of the file.
fn without_line_number(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}
