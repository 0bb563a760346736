//! `prospect formats`: what is read and written, and the limits.

use std::io::Write;

use prospect_index::limits;

use super::Global;
use super::output::{self, Failure};
use super::plain::stdout;
use crate::ingest;
use crate::ingest::links::LINK_FORMATS;
use crate::ingest::urls::URL_FORMATS;
use crate::plan::export;

/// Text files, compressed or not, with what a line of them holds.
const TEXTS: &[(&str, &str)] = &[
    (
        "queries",
        "qid<TAB>query[<TAB>frequency[<TAB>kind]]; CSV with a header; JSON, an object a line or an array of them, with \
         qid (query_id, _id, id), query (text, title, question), frequency (count), kind; TREC topics, SGML or XML",
    ),
    ("qrels", "TREC judgements: qid 0 url grade"),
    ("runs", "TREC runs: qid Q0 url rank score tag"),
    ("seeds", "one URL"),
    ("quality", "url<TAB>log-probability"),
];

/// Files of documents.
const DOCUMENTS: &[(&str, &str)] = &[
    ("parquet", "columns of any type, nested ones too; also snappy, gzip, lz4 and zstd inside"),
    ("csv", "a header and one document a record; plain, .gz or .zst"),
    ("json", "one array of objects; plain, .gz or .zst"),
    ("jsonl", "one object a line; plain, .gz or .zst"),
    (
        "warc",
        "read alone: fetched pages with a text, as url, requested_url, title, plain_text, outgoing_links, outlinks \
         (with anchors), status, warc_date",
    ),
];

pub(super) fn run(global: &Global) -> Result<(), Failure> {
    if global.json {
        let limits: Vec<_> = limits::TABLE
            .iter()
            .map(|(name, value, unit, beyond)| {
                serde_json::json!({ "name": name, "value": value, "unit": unit, "beyond": beyond })
            })
            .collect();
        let json = serde_json::json!({
            "schema": "prospect.formats/1",
            "pages": ingest::FORMATS.iter().map(|f| (f.name, f.description)).collect::<Vec<_>>(),
            "links": LINK_FORMATS,
            "urls": URL_FORMATS.iter().map(|f| (f.name, f.description)).collect::<Vec<_>>(),
            "plans": export::FORMATS.iter().map(|f| (f.name, f.description)).collect::<Vec<_>>(),
            "documents": DOCUMENTS,
            "texts": TEXTS,
            "limits": limits,
        });
        return output::print_json(&json);
    }
    let mut out = stdout();
    writeln!(out, "Pages (prospect ingest):")?;
    for format in ingest::FORMATS {
        writeln!(out, "  {:<12} {}", format.name, format.description)?;
    }
    writeln!(out, "Links, to be named beside the files of their pages (prospect ingest):")?;
    for (name, description) in LINK_FORMATS {
        writeln!(out, "  {name:<12} {description}")?;
    }
    writeln!(out, "URLs (prospect seeds; those with statuses: prospect crawl-log):")?;
    for format in URL_FORMATS {
        let statuses = if format.has_statuses { " [statuses]" } else { "" };
        writeln!(out, "  {:<12} {}{statuses}", format.name, format.description)?;
    }
    writeln!(out, "Plans (prospect plan --format):")?;
    for format in export::FORMATS {
        writeln!(out, "  {:<12} {}", format.name, format.description)?;
    }
    writeln!(out, "Documents (prospect quality), read and written:")?;
    for (name, description) in DOCUMENTS {
        writeln!(out, "  {name:<12} {description}")?;
    }
    writeln!(out, "Text files, by line (plain, .gz or .zst):")?;
    for (name, line) in TEXTS {
        writeln!(out, "  {name:<12} {line}")?;
    }
    writeln!(out, "Limits:")?;
    for (name, value, unit, beyond) in limits::TABLE {
        writeln!(out, "  {name:<12} {value} {unit}; beyond it {beyond}")?;
    }
    Ok(())
}
