//! Judgements in TREC form: `qid 0 url grade`.

use std::path::Path;

use prospect_index::url;

use super::{WorkloadError, open_text, shown};

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

/// Reads judgements; their URLs pass through the same canonicalisation as pages.
///
/// # Errors
/// The file cannot be read or a line is malformed.
pub fn load(path: &Path) -> Result<Vec<Judgement>, WorkloadError> {
    parse(&open_text(path)?, &shown(path))
}

/// Parses judgements; `file` stands for the file in messages.
///
/// # Errors
/// A line is malformed.
pub fn parse(text: &str, file: &str) -> Result<Vec<Judgement>, WorkloadError> {
    let mut judgements = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let failed =
            |what: String| WorkloadError::Line { file: file.to_owned(), line: number + 1, what };
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [qid, _, given, grade] = fields[..] else {
            let what = format!("{} fields; `qid 0 url grade` was expected", fields.len());
            return Err(failed(what));
        };
        let grade = grade
            .parse()
            .map_err(|_| failed(format!("the grade is {grade:?}; a whole number was expected")))?;
        let url = url::canonical(given).map_err(|e| failed(format!("{given:?} is {e}")))?;
        judgements.push(Judgement { qid: qid.to_owned(), url, grade });
    }
    Ok(judgements)
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
}
