//! Reading workloads. The format is told by the first line: `{` is JSON lines, `<top>` is TREC
//! topics, anything else is TSV (`qid<TAB>query[<TAB>frequency[<TAB>kind]]`). `.gz` and `.zst` are
//! decompressed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::{Query, Workload};

/// Why a workload or judgement file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// The file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{file}:{line}: {what}")]
    Line {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Found and expected.
        what: String,
    },
    /// No query at all.
    #[error("{file} has no query")]
    Empty {
        /// The file.
        file: String,
    },
}

/// Reads a workload.
///
/// ```
/// use prospect::workload::{Query, load};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("queries.tsv");
/// std::fs::write(&path, "q2\trust hash map\t12\tkeyword\nq1\twhat is a crawl budget\n")?;
/// let workload = load(&path)?;
/// assert_eq!(workload.queries[0], Query::new("q1", "what is a crawl budget", 1.0, ""));
/// assert_eq!(workload.queries[1], Query::new("q2", "rust hash map", 12.0, "keyword"));
///
/// std::fs::write(&path, "no tab here\n")?;
/// let error = load(&path).unwrap_err().to_string();
/// assert!(error.ends_with(":1: a line needs at least qid<TAB>query; it has no tab"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The file cannot be read, a line is malformed, a qid stands twice, a frequency is negative or
/// not a number, or there is no query.
pub fn load(path: &Path) -> Result<Workload, WorkloadError> {
    parse(&open_text(path)?, &shown(path))
}

/// A path in messages.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// The lines of a file that say something, trimmed, as [`open_text`] reads it.
///
/// # Errors
/// See [`open_text`].
pub(crate) fn open_lines(path: &Path) -> Result<Vec<String>, WorkloadError> {
    let text = open_text(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// Other wordings of queries, `qid<TAB>wording` a line, by place in `merged`, which is the workload for planning.
///
/// # Errors
/// The file cannot be read, a line has no tab, or its qid is that of no query.
pub(crate) fn wordings(
    path: &Path,
    workload: &Workload,
    merged: &Workload,
) -> Result<BTreeMap<usize, Vec<String>>, WorkloadError> {
    let places: HashMap<&[String], usize> =
        merged.queries.iter().enumerate().map(|(at, q)| (q.words.as_slice(), at)).collect();
    let place = |query: &Query| places.get(query.words.as_slice()).copied();
    let by_qid: HashMap<&str, Option<usize>> =
        workload.queries.iter().map(|query| (query.qid.as_str(), place(query))).collect();
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (number, line) in open_text(path)?.lines().enumerate() {
        let line_error =
            |what: String| WorkloadError::Line { file: shown(path), line: number + 1, what };
        if line.trim().is_empty() {
            continue;
        }
        let Some((qid, wording)) = line.split_once('\t') else {
            return Err(line_error("expected qid<TAB>wording".to_owned()));
        };
        let Some(place) = by_qid.get(qid.trim()) else {
            return Err(line_error(format!("no query of the workload has the qid {qid:?}")));
        };
        if let Some(place) = place {
            found.entry(*place).or_default().push(wording.trim().to_owned());
        }
    }
    Ok(found)
}

/// The text of a file, decompressed by its first bytes; `-` is standard input.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub(crate) fn open_text(path: &Path) -> Result<String, WorkloadError> {
    let file = shown(path);
    let failed = |source| WorkloadError::Read { file: file.clone(), source };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map_err(failed)?;
    } else {
        bytes = std::fs::read(path).map_err(failed)?;
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain).map_err(failed)?;
        bytes = plain;
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        bytes = zstd::decode_all(&bytes[..]).map_err(failed)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..valid]).count();
        WorkloadError::Line { file: file.clone(), line, what: "the line is not UTF-8".to_owned() }
    })
}

/// Parses a workload; `file` stands for it in messages.
///
/// # Errors
/// See [`load`].
pub(crate) fn parse(text: &str, file: &str) -> Result<Workload, WorkloadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.trim_start();
    let mut queries = if first.starts_with('{') {
        parse_lines(text, file, json_query)?
    } else if first.to_ascii_lowercase().starts_with("<top>") {
        parse_topics(text, file)?
    } else {
        parse_lines(text, file, tsv_query)?
    };
    if queries.is_empty() {
        return Err(WorkloadError::Empty { file: file.to_owned() });
    }
    let mut seen = HashSet::new();
    for (line, query) in &queries {
        if !seen.insert(query.qid.as_str()) {
            let what = format!("the qid {} stands here a second time", query.qid);
            return Err(WorkloadError::Line { file: file.to_owned(), line: *line, what });
        }
    }
    queries.sort_by(|a, b| a.1.qid.cmp(&b.1.qid));
    Ok(Workload { queries: queries.into_iter().map(|(_, query)| query).collect() })
}

type Numbered = Vec<(usize, Query)>;

fn parse_lines(
    text: &str,
    file: &str,
    query: impl Fn(&str) -> Result<Query, String>,
) -> Result<Numbered, WorkloadError> {
    let mut queries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line_error =
            |what| WorkloadError::Line { file: file.to_owned(), line: number + 1, what };
        queries.push((number + 1, query(line).map_err(line_error)?));
    }
    Ok(queries)
}

fn tsv_query(line: &str) -> Result<Query, String> {
    let mut fields = line.split('\t');
    let qid = fields.next().unwrap_or("").trim();
    let Some(text) = fields.next() else {
        return Err("a line needs at least qid<TAB>query; it has no tab".to_owned());
    };
    if qid.is_empty() {
        return Err("the qid is empty".to_owned());
    }
    let frequency = match fields.next().map(str::trim) {
        None | Some("") => 1.0,
        Some(given) => given
            .parse()
            .map_err(|_| format!("the frequency is {given:?}; a number was expected"))?,
    };
    check_frequency(frequency)?;
    Ok(Query::new(qid, text.trim(), frequency, fields.next().unwrap_or("").trim()))
}

fn json_query(line: &str) -> Result<Query, String> {
    #[derive(Deserialize)]
    struct Record {
        qid: serde_json::Value,
        #[serde(alias = "text")]
        query: String,
        #[serde(default = "one")]
        frequency: f64,
        #[serde(default)]
        kind: String,
    }
    fn one() -> f64 {
        1.0
    }
    let record: Record = serde_json::from_str(line).map_err(|error| error.to_string())?;
    check_frequency(record.frequency)?;
    let qid = match record.qid {
        serde_json::Value::String(qid) => qid,
        other => other.to_string(),
    };
    Ok(Query::new(&qid, &record.query, record.frequency, &record.kind))
}

/// How often a query may be asked: squares of sums over queries have to be numbers, and not 0.
const LEAST_FREQUENCY: f64 = 1e-12;
const MOST_FREQUENCY: f64 = 1e15;

fn check_frequency(frequency: f64) -> Result<(), String> {
    if frequency == 0.0 || (LEAST_FREQUENCY..=MOST_FREQUENCY).contains(&frequency) {
        return Ok(());
    }
    Err(format!(
        "the frequency is {frequency}; it must be 0, or a number from {LEAST_FREQUENCY} to {MOST_FREQUENCY:e}"
    ))
}

/// TREC topics: `<num> Number: 301`, `<title> …` up to the next tag.
fn parse_topics(text: &str, file: &str) -> Result<Numbered, WorkloadError> {
    let mut queries = Vec::new();
    let (mut qid, mut title, mut in_title) = (None, None, false);
    for (number, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), number + 1);
        if let Some(rest) = after_tag(line, "<num>", "Number:") {
            (qid, in_title) = (Some(rest), false);
        } else if let Some(rest) = after_tag(line, "<title>", "Topic:") {
            (title, in_title) = (Some((number, rest)), true);
        } else if line.eq_ignore_ascii_case("</top>") {
            let (Some(qid), Some((at, title))) = (qid.take(), title.take()) else {
                let what = "this topic has no <num> or no <title>".to_owned();
                return Err(WorkloadError::Line { file: file.to_owned(), line: number, what });
            };
            queries.push((at, Query::new(&qid, title.trim(), 1.0, "")));
        } else if line.starts_with('<') {
            in_title = false;
        } else if let (true, Some((_, title))) = (in_title, &mut title) {
            title.push(' ');
            title.push_str(line);
        }
    }
    Ok(queries)
}

/// What follows an opening tag and its label in a line, without the closing tag.
fn after_tag(line: &str, tag: &str, label: &str) -> Option<String> {
    let start = line.get(..tag.len())?;
    if !start.eq_ignore_ascii_case(tag) {
        return None;
    }
    let rest = line[tag.len()..].trim().trim_start_matches(label);
    Some(rest.split("</").next().unwrap_or(rest).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_formats_give_the_same_queries() {
        let tsv = "2\tb c\n1\ta\t1\t\n";
        let json =
            "{\"qid\":2,\"query\":\"b c\"}\n{\"qid\":\"1\",\"query\":\"a\",\"frequency\":1}\n";
        let trec = "<top>\n<num> Number: 2\n<title> b c\n</top>\n<top>\n<num>1\n<title>a</title>\n</top>\n";
        let expected = parse(tsv, "t").unwrap();
        assert_eq!(expected.queries[0].qid, "1");
        assert_eq!(parse(json, "j").unwrap(), expected);
        assert_eq!(parse(trec, "x").unwrap(), expected);
    }

    #[test]
    fn a_bad_line_is_named() {
        let cases = [
            (
                "1\ta\n2\tb\t-1\n",
                "t:2: the frequency is -1; it must be 0, or a number from 0.000000000001 to 1e15",
            ),
            (
                "1\ta\tNaN\n",
                "t:1: the frequency is NaN; it must be 0, or a number from 0.000000000001 to 1e15",
            ),
            ("1\ta\tmany\n", "t:1: the frequency is \"many\"; a number was expected"),
            ("no tab here\n", "t:1: a line needs at least qid<TAB>query; it has no tab"),
            ("1\ta\n1\tb\n", "t:2: the qid 1 stands here a second time"),
            ("\n\n", "t has no query"),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text, "t").unwrap_err().to_string(), expected);
        }
    }
}
