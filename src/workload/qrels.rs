//! Judgements in TREC form: `qid 0 url grade`.

use std::io::BufRead;
use std::path::Path;

use prospect_index::url;

use super::{ListLines, WorkloadError, open_list, shown};

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
        WorkloadError::Line { file: file.to_owned(), line, what }
    })?;
    Ok(Judgement { qid, url, grade })
}

fn read(mut lines: ListLines<impl BufRead>) -> Result<Vec<RawJudgement>, WorkloadError> {
    let mut judgements = Vec::new();
    while let Some(next) = lines.next() {
        let (line, content) = next?;
        let failed =
            |what: String| WorkloadError::Line { file: lines.file().to_owned(), line, what };
        let fields: Vec<&str> = content.split_whitespace().collect();
        let [qid, _, docid, grade] = fields[..] else {
            let what = format!("{} fields; `qid 0 url grade` was expected", fields.len());
            return Err(failed(what));
        };
        let grade = grade
            .parse()
            .map_err(|_| failed(format!("the grade is {grade:?}; a whole number was expected")))?;
        judgements.push(RawJudgement { qid: qid.to_owned(), docid: docid.to_owned(), grade, line });
    }
    Ok(judgements)
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
