//! Names that files have for the parts of a query, and the query that the parts make. No I/O.
//!
//! Beside the names of Prospect stand those of `ir_datasets` (`query_id`, `text`, `title`), BEIR (`_id`, `text`) and of
//! exports of search logs.

use super::Query;
use crate::ingest::keys::{is_near, plain};

/// Names of a part, the first that a record has counts; without case and what joins words.
type Names = &'static [&'static str];

pub(super) const QID: Names = &["qid", "queryid", "id", "topicid", "number", "num", "topic"];
pub(super) const TEXT: Names =
    &["query", "text", "title", "question", "querytext", "searchquery", "searchterm", "topqueries"];
const FREQUENCY: Names =
    &["frequency", "freq", "count", "hits", "volume", "searches", "impressions", "clicks"];
/// What others may call it, and is read for nothing.
const LIKE_FREQUENCY: Names = &[
    "weight",
    "weights",
    "times",
    "asked",
    "askings",
    "popularity",
    "searchvolume",
    "numsearches",
];
/// Ids of documents: `ir_datasets`, BEIR, TREC, ClueWeb22.
pub(super) const DOCUMENT: Names =
    &["docid", "docno", "documentid", "corpusid", "clueweb22id", "id"];
pub(super) const URL: Names = &["url", "uri"];
/// Grades of judgements.
pub(super) const GRADE: Names = &["relevance", "grade", "label", "rel", "score"];
const KIND: Names = &["kind", "type", "category"];

/// How often a query may be asked: squares of sums over queries have to be numbers, and not 0.
const LEAST_FREQUENCY: f64 = 1e-12;
pub(crate) const MOST_FREQUENCY: f64 = 1e15;

/// Where the parts of a query stand among named values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) qid: Option<usize>,
    pub(super) text: Option<usize>,
    frequency: Option<usize>,
    kind: Option<usize>,
}

impl Places {
    /// The places among values of these names.
    pub(super) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let plain: Vec<String> = names.map(plain).collect();
        let place = |names: Names| {
            names.iter().find_map(|name| plain.iter().position(|plain| plain == name))
        };
        Self { qid: place(QID), text: place(TEXT), frequency: place(FREQUENCY), kind: place(KIND) }
    }

    /// How many parts have a place.
    pub(super) fn count(self) -> usize {
        [self.qid, self.text, self.frequency, self.kind].into_iter().flatten().count()
    }

    /// The query of values; the `number` of the record is its id where the file has none.
    ///
    /// # Errors
    /// What was found and expected.
    pub(super) fn query<'a>(
        self,
        number: usize,
        value: impl Fn(usize) -> Option<&'a str>,
    ) -> Result<Query, String> {
        let part = |place: Option<usize>| place.and_then(&value).unwrap_or_default().trim();
        let number = number.to_string();
        let qid = if self.qid.is_some() { part(self.qid) } else { &number };
        query(qid, part(self.text), part(self.frequency), part(self.kind))
    }
}

/// The query of its parts as they are written.
///
/// # Errors
/// The qid is empty, or the frequency is none.
pub(super) fn query(qid: &str, text: &str, frequency: &str, kind: &str) -> Result<Query, String> {
    if qid.is_empty() {
        return Err("the qid is empty".to_owned());
    }
    let frequency = match frequency {
        "" => 1.0,
        given => given
            .parse()
            .map_err(|_| format!("the frequency is {given:?}; a number was expected"))?,
    };
    if frequency != 0.0 && !(LEAST_FREQUENCY..=MOST_FREQUENCY).contains(&frequency) {
        return Err(format!(
            "the frequency is {frequency}; it must be 0, or a number from {LEAST_FREQUENCY} to {MOST_FREQUENCY:e}"
        ));
    }
    Ok(Query::new(qid, text, frequency, kind))
}

/// The first of these names of columns that may be meant for how often queries are asked, where none is read for that.
pub(super) fn unread_frequency<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.collect();
    if Places::of(names.iter().copied()).frequency.is_some() {
        return None;
    }
    names.into_iter().find(|name| {
        let name = plain(name);
        let is_like = LIKE_FREQUENCY.contains(&name.as_str());
        is_like || FREQUENCY.iter().any(|known| is_near(known, &name))
    })
}
