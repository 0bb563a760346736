//! Reading workloads. The format is told by the first characters: `{` is JSON lines, `[` a JSON array, `<` TREC topics;
//! a line of commas that names a column of queries is the header of a CSV file; anything else is TSV
//! (`qid<TAB>query[<TAB>frequency[<TAB>kind]]`). `.gz` and `.zst` are decompressed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use super::text::{open_text, shown};
use super::{Query, Workload, fields, json, tables, topics};

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
    /// A line of judgements is not what it should be.
    #[error("{file}:{line}: {what}")]
    Judgement {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Found and expected.
        what: String,
    },
    /// A line of other wordings is not what it should be.
    #[error("{file}:{line}: {what}")]
    Wording {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Found and expected.
        what: String,
    },
    /// A line of a map from ids to URLs is not what it should be.
    #[error("{file}:{line}: {what}")]
    DocUrl {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Found and expected.
        what: String,
    },
    /// A map from ids to URLs knows no document that was judged.
    #[error("{file}: none of the {judgements} judgements is of a document that the map knows")]
    Unmapped {
        /// The judgements.
        file: String,
        /// How many there are.
        judgements: usize,
    },
    /// The text has two bytes a character.
    #[error("{file} is UTF-16 text; UTF-8 was expected")]
    Utf16 {
        /// The file.
        file: String,
    },
    /// The text is longer than what is read whole.
    #[error("{file} has more than {most} bytes of text")]
    TooLong {
        /// The file.
        file: String,
        /// What is read.
        most: usize,
    },
    /// A line is in another encoding.
    #[error("{file}:{line}: the line is not UTF-8")]
    NotUtf8 {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
    },
    /// The file holds something else.
    #[error("{file} is {found}; a text file was expected")]
    Foreign {
        /// The file.
        file: String,
        /// What it is.
        found: &'static str,
    },
    /// No query at all.
    #[error("{file} has no query")]
    Empty {
        /// The file.
        file: String,
    },
}

/// What was assumed of a file that could be meant otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Assumption {
    /// The first line names columns.
    Header {
        /// Its number.
        line: usize,
        /// Their names.
        columns: Vec<String>,
    },
    /// No column says how often queries are asked, and one looks as if it were meant to.
    NoFrequency {
        /// The line that names it.
        line: usize,
        /// The column.
        column: String,
    },
    /// All queries are numbers, as if the second column counted how often the first is asked.
    Counts {
        /// The first line.
        line: usize,
        /// Its id.
        qid: String,
        /// Its query.
        text: String,
    },
}

impl Assumption {
    /// Of columns, or keys of objects, that have these names, told in this line.
    pub(super) fn no_frequency<'a>(
        line: usize,
        names: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let column = fields::unread_frequency(names)?.to_owned();
        Some(Self::NoFrequency { line, column })
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header { line, columns } => {
                write!(f, "{line}: this line is read as a header ({})", columns.join(", "))
            }
            Self::NoFrequency { line, column } => {
                write!(
                    f,
                    "{line}: nothing reads {column:?}, and every query is taken to be asked once"
                )
            }
            Self::Counts { line, qid, text } => {
                write!(f, "{line}: {text:?} is read as the query and {qid:?} as its id")
            }
        }
    }
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
    Ok(load_told(path)?.0)
}

/// Reads a workload; what was assumed of the file is told.
///
/// # Errors
/// See [`load`].
pub(crate) fn load_told(path: &Path) -> Result<(Workload, Vec<Assumption>), WorkloadError> {
    parse_told(&open_text(path)?, &shown(path))
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
            |what: String| WorkloadError::Wording { file: shown(path), line: number + 1, what };
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

/// Parses a workload; `file` stands for it in messages.
///
/// # Errors
/// See [`load`].
pub(crate) fn parse(text: &str, file: &str) -> Result<Workload, WorkloadError> {
    Ok(parse_told(text, file)?.0)
}

fn parse_told(text: &str, file: &str) -> Result<(Workload, Vec<Assumption>), WorkloadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line_error = |(line, what)| WorkloadError::Line { file: file.to_owned(), line, what };
    let (mut queries, assumed) = read(text).map_err(line_error)?;
    if queries.is_empty() {
        return Err(WorkloadError::Empty { file: file.to_owned() });
    }
    let mut seen = HashSet::new();
    for (line, query) in &queries {
        if !seen.insert(query.qid.as_str()) {
            let what = format!("the qid {} stands here a second time", query.qid);
            return Err(line_error((*line, what)));
        }
    }
    queries.sort_by(|a, b| a.1.qid.cmp(&b.1.qid));
    let queries = queries.into_iter().map(|(_, query)| query).collect();
    Ok((Workload { queries }, assumed))
}

/// Queries with their lines, from 1.
pub(super) type Numbered = Vec<(usize, Query)>;
/// A line, from 1, and what is wrong with it.
pub(super) type At = (usize, String);

/// Reads the format that the first characters tell.
fn read(text: &str) -> Result<(Numbered, Vec<Assumption>), At> {
    let first = text.trim_start();
    let objects = if first.starts_with('{') {
        json::lines(text)?
    } else if first.starts_with('[') {
        json::array(text)?
    } else if first.starts_with('<') {
        return Ok((topics::parse(text)?, Vec::new()));
    } else if let Some(delimiter) = tables::csv_delimiter(text) {
        return tables::csv(text, delimiter);
    } else {
        return tables::tsv(text);
    };
    let line = 1 + text.lines().take_while(|line| line.trim().is_empty()).count();
    let keys = json::first_keys(text);
    let assumed = Assumption::no_frequency(line, keys.iter().map(String::as_str));
    Ok((objects, assumed.into_iter().collect()))
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
    fn the_files_of_others_give_the_same_queries() {
        let expected = parse("1\ta\n2\tb, c\t3\n", "t").unwrap();
        for text in [
            "id,query,count\n1,a,\n2,\"b, c\",3\n",
            "Query;Frequency;Kind\r\na;;\r\n\r\nb, c;3;\r\n",
            "query_id\ttext\tfreq\n1\ta\n2\tb, c\t3\n",
            "query\tclicks\na\t1\nb, c\t3\n",
            "[{\"query_id\":\"1\",\"text\":\"a\"},{\"query_id\":2,\"text\":\"b, c\",\"frequency\":\"3\"}]",
            "{\"_id\":\"1\",\"text\":\"a\",\"metadata\":{}}\n{\"_id\":\"2\",\"text\":\"b, c\",\"count\":3}\n",
            "{\"id\":\"1\",\"title\":\"a\",\"tags\":[]}\n{\"qid\":\"2\",\"question\":\"b, c\",\"freq\":3.0}\n",
        ] {
            assert_eq!(parse(text, "x").unwrap(), expected, "{text}");
        }
    }

    fn told(text: &str) -> Vec<String> {
        let (_, assumed) = parse_told(text, "t").unwrap();
        assumed.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_assumed_is_told() {
        let header = "1: this line is read as a header (query_id, text)";
        assert_eq!(told("query_id\ttext\n1\ta\n"), [header]);
        let counts = "1: \"12\" is read as the query and \"rye bread\" as its id";
        assert_eq!(told("rye bread\t12\noats\t3\n"), [counts]);
        assert_eq!(told("sourdough\t40\nrye\t5\n").len(), 1);
        for text in [
            "id,query,freqency\n1,a,7\n",
            "id;query;Weight\n1;a;7\n",
            "id\tquery\tcuont\n1\ta\t7\n",
            "{\"id\":1,\"query\":\"a\",\"search volume\":7}\n",
            "[{\"id\":1,\"query\":\"a\",\"hit\":7}]",
        ] {
            let told = told(text);
            assert!(told.iter().any(|line| line.contains("1: nothing reads")), "{text}: {told:?}");
        }
        for text in ["id,query,weight,count\n1,a,2,7\n", "id,query,language\n1,a,en\n"] {
            assert!(told(text).is_empty(), "{text}");
        }
        for text in ["1\t12\n2\t13\n", "q1\trye\nq2\t4\n", "q1\t12\nq2\t13\n", "id,query\n1,a\n"] {
            assert!(told(text).is_empty(), "{text}");
        }
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
            ("[]", "t has no query"),
            ("qid,query\n", "t has no query"),
            ("<html><p>a</html>", "t has no query"),
            (
                "q1,a,3\n",
                "t:1: a line needs at least qid<TAB>query; it has no tab, but commas: a CSV file starts with a header \
                 that names its columns",
            ),
            (
                "{\"url\":\"x\",\"id\":1}",
                "t:1: the object has no query (query, text, title or question); its keys are id, url",
            ),
            (
                "[{\"_id\":\"1\",\"text\":\"a\"},\n{\"text\":\"b\"}]",
                "t:2: the object has no id (qid, query_id, _id or id); its keys are text",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text, "t").unwrap_err().to_string(), expected);
        }
    }
}
