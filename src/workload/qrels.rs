//! Judgements in TREC form: `qid 0 url grade`.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::Path;

use prospect_index::url;
use serde_json::Value;

use super::doc_urls::text_of;
use super::fields::{DOCUMENT, GRADE, QID};
use super::{DocUrls, ListLines, WorkloadError, open_list, shown};
use crate::ingest::keys::plain;

/// One judged page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Query.
    pub qid: String,
    /// Canonical URL.
    pub url: String,
    /// Grade; relevant above 0.
    pub grade: i32,
}

/// One line of a judgement file as it stands there. Its document need not be a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawJudgement {
    /// Query.
    pub(crate) qid: String,
    /// Document id.
    pub(crate) docid: String,
    /// Grade; relevant above 0.
    pub(crate) grade: i32,
    /// Line, from 1.
    pub(crate) line: usize,
}

/// Reads judgements; their URLs pass through the same canonicalisation as pages.
///
/// ```
/// use prospect::workload::qrels::{Judgement, load};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("qrels");
/// std::fs::write(&path, "q1 0 HTTP://A.test:80/%7ebread 2\n")?;
/// let (qid, url) = ("q1".to_owned(), "http://a.test/~bread".to_owned());
/// assert_eq!(load(&path)?, [Judgement { qid, url, grade: 2 }]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The file cannot be read or a line is malformed.
pub fn load(path: &Path) -> Result<Vec<Judgement>, WorkloadError> {
    let file = shown(path);
    load_raw(path)?.into_iter().map(|raw| canonical(raw, &file)).collect()
}

/// Reads judgements of documents by URLs, or by ids of which a map knows the URLs, with these in the place of ids; how many
/// are of others comes with them.
///
/// # Errors
/// The file cannot be read, a line is malformed, an id leads to what is no URL, or no document has one.
pub(crate) fn load_by_id(
    path: &Path,
    urls: &DocUrls,
) -> Result<(Vec<RawJudgement>, usize), WorkloadError> {
    let (file, mut raw) = (shown(path), load_raw(path)?);
    let all = raw.len();
    let is_url = |raw: &RawJudgement| url::canonical(&raw.docid).is_ok();
    raw.retain(|raw| urls.url(&raw.docid).is_some() || is_url(raw));
    let others = all - raw.len();
    let known = by_url(raw, |raw| {
        let docid = urls.url(&raw.docid).unwrap_or(&raw.docid).to_owned();
        Ok(Some(canonical(RawJudgement { docid, ..raw.clone() }, &file)?.url))
    })?;
    if known.is_empty() && all > 0 {
        return Err(WorkloadError::Unmapped { file, judgements: all });
    }
    Ok((known, others))
}

/// Judgements with the URLs of their documents, where these have one. What is judged of two documents of one URL is the
/// higher grade; what is said twice of one document stays there twice.
///
/// # Errors
/// That of the first URL that is none.
pub(crate) fn by_url(
    raw: Vec<RawJudgement>,
    url_of: impl Fn(&RawJudgement) -> Result<Option<String>, WorkloadError>,
) -> Result<Vec<RawJudgement>, WorkloadError> {
    let mut judged: Vec<RawJudgement> = Vec::with_capacity(raw.len());
    // By query and URL: where it is judged.
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut said: HashSet<(String, String)> = HashSet::new();
    for mut judgement in raw {
        let is_new = said.insert((judgement.qid.clone(), judgement.docid.clone()));
        if let Some(url) = url_of(&judgement)? {
            judgement.docid.clone_from(&url);
            let at = *places.entry((judgement.qid.clone(), url)).or_insert(judged.len());
            if let Some(known) = judged.get_mut(at).filter(|_| is_new) {
                known.grade = known.grade.max(judgement.grade);
                continue;
            }
        }
        judged.push(judgement);
    }
    Ok(judged)
}

/// Reads judgements whose document ids are taken as they stand.
///
/// # Errors
/// The file cannot be read or a line is malformed.
pub(crate) fn load_raw(path: &Path) -> Result<Vec<RawJudgement>, WorkloadError> {
    read(open_list(path)?)
}

/// Parses judgements; `file` stands for the file in messages.
///
/// # Errors
/// A line is malformed.
pub(crate) fn parse(text: &str, file: &str) -> Result<Vec<Judgement>, WorkloadError> {
    let raw = read(ListLines::new(text.as_bytes(), file))?;
    raw.into_iter().map(|raw| canonical(raw, file)).collect()
}

fn canonical(raw: RawJudgement, file: &str) -> Result<Judgement, WorkloadError> {
    let RawJudgement { qid, docid, grade, line } = raw;
    let url = url::canonical(&docid).map_err(|e| {
        let what = format!("{docid:?} is {e}");
        WorkloadError::Judgement { file: file.to_owned(), line, what }
    })?;
    Ok(Judgement { qid, url, grade })
}

fn read(mut lines: ListLines<impl BufRead>) -> Result<Vec<RawJudgement>, WorkloadError> {
    let (mut judgements, mut is_first) = (Vec::new(), true);
    while let Some(next) = lines.next() {
        let (line, content) = next?;
        let failed =
            |what: String| WorkloadError::Judgement { file: lines.file().to_owned(), line, what };
        let [qid, docid, grade] = match fields_of(&content).map_err(failed)? {
            // BEIR begins with headings.
            Some([_, _, grade]) if is_first && GRADE.contains(&plain(&grade).as_str()) => {
                is_first = false;
                continue;
            }
            Some(fields) => fields,
            None => {
                let fields = content.split_whitespace().count();
                return Err(failed(format!("{fields} fields; `qid 0 url grade` was expected")));
            }
        };
        is_first = false;
        // Tables that went through a program of their own have 1.0 for 1.
        let whole = grade.strip_suffix(".0").unwrap_or(&grade);
        let grade = whole
            .parse()
            .map_err(|_| failed(format!("the grade is {grade:?}; a whole number was expected")))?;
        judgements.push(RawJudgement { qid, docid, grade, line });
    }
    Ok(judgements)
}

/// Query, document and grade of a line: of TREC, of BEIR (three fields with tabs between), or an object as `ir_datasets`
/// exports it.
fn fields_of(line: &str) -> Result<Option<[String; 3]>, String> {
    if line.starts_with('{') {
        let record: serde_json::Map<String, Value> =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        let part = |names: &[&str], what: &str| {
            text_of(&record, names).ok_or_else(|| format!("the record has no {what}"))
        };
        let (qid, docid) = (part(QID, "query_id")?, part(DOCUMENT, "doc_id")?);
        return Ok(Some([qid, docid, part(GRADE, "relevance")?]));
    }
    let owned = |fields: [&str; 3]| fields.map(|field| field.trim().to_owned());
    if let [qid, docid, grade] = line.split('\t').collect::<Vec<_>>()[..] {
        return Ok(Some(owned([qid, docid, grade])));
    }
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [qid, _, docid, grade] = fields[..] else { return Ok(None) };
    Ok(Some(owned([qid, docid, grade])))
}

/// Parses judgements whose document ids are taken as they stand; `file` stands for the file in messages.
#[cfg(test)]
pub(crate) fn parse_raw(text: &str, file: &str) -> Result<Vec<RawJudgement>, WorkloadError> {
    read(ListLines::new(text.as_bytes(), file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_made_canonical() {
        let found = parse("q1 0 HTTP://x.test:80/%7ea 2\n", "r").unwrap();
        assert_eq!(found[0].url, "http://x.test/~a");
        assert!(parse("q1 0 u\n", "r").unwrap_err().to_string().starts_with("r:1: 3 fields"));
    }

    #[track_caller]
    fn fails(text: &str, what: &str) {
        let error = parse_raw(text, "r").unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }

    #[test]
    fn judgements_come_as_other_collections_have_them() {
        let beir = "query-id\tcorpus-id\tscore\nq1\tD 7\t1\n";
        let object = r#"{"query_id":"q2","doc_id":"D8","relevance":2,"iteration":"0"}"#;
        let found = parse_raw(&format!("{beir}{object}\nq3 0 D9 0\n"), "r").unwrap();
        let found: Vec<_> =
            found.iter().map(|j| (j.qid.as_str(), j.docid.as_str(), j.grade)).collect();
        assert_eq!(found, [("q1", "D 7", 1), ("q2", "D8", 2), ("q3", "D9", 0)]);
        let twice = parse_raw("q 0 a 1\nq 0 b 3\nq 0 b 3\nr 0 a 2\n", "r").unwrap();
        let found = by_url(twice, |_| Ok(Some("u".to_owned()))).unwrap();
        let grades: Vec<(&str, i32)> = found.iter().map(|j| (j.qid.as_str(), j.grade)).collect();
        assert_eq!(grades, [("q", 3), ("q", 3), ("r", 2)], "what is said twice stays an error");
        fails("{\"query_id\":\"q2\",\"relevance\":2}", "r:1: the record has no doc_id");
        fails("q1\tD7\tscore\nq1\tD7\tgood\n", "r:2: the grade is \"good\"");
    }

    #[test]
    fn raw_document_ids_stay_as_they_are() {
        let found =
            parse_raw("\u{feff}q1 0 HTTP://x.test:80/%7ea 2\r\n\nq1 0 D7 -1\n", "r").unwrap();
        let expected = [("HTTP://x.test:80/%7ea", 2, 1), ("D7", -1, 3)];
        let found: Vec<_> = found.iter().map(|j| (j.docid.as_str(), j.grade, j.line)).collect();
        assert_eq!(found, expected);
        assert!(parse("q1 0 D7 1\n", "r").unwrap_err().to_string().starts_with("r:1: \"D7\" is "));
    }
}
