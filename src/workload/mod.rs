//! Query workloads: queries with frequencies, from TSV, CSV, JSON or TREC topics.
//!
//! Every query keeps its qid for evaluation; for planning, queries with the same words are merged
//! and their frequencies added. Not here: what a query is worth, or whom it needs.

mod doc_urls;
mod fields;
mod formats;
mod json;
pub mod qrels;
mod tables;
mod text;
mod topics;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use prospect_index::limits;
use prospect_index::words::Analyzer;
use serde::{Deserialize, Serialize};

pub(crate) use doc_urls::DocUrls;
pub(crate) use fields::MOST_FREQUENCY;
pub use formats::load;
pub(crate) use formats::{Assumption, WorkloadError, load_told, parse, wordings};
pub(crate) use text::{ListLines, open_lines, open_list, open_text, shown};

/// A query of a workload, by its place in it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub(crate) struct QueryId(pub(crate) u32);

impl QueryId {
    /// The query at a place.
    pub(crate) fn new(place: usize) -> Self {
        Self(place as u32)
    }

    /// Its place.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Its id.
    pub qid: String,
    /// As typed.
    pub(crate) text: String,
    /// Its words in order, with multiplicity; at most [`limits::Bounds::query_words`].
    pub words: Vec<String>,
    /// How often it is asked, in the workload's unit.
    pub(crate) frequency: f64,
    /// Kind ("keyword", "question"…); empty where the workload does not tell.
    pub(crate) kind: String,
}

impl Query {
    /// A query from its parts.
    pub fn new(qid: &str, text: &str, frequency: f64, kind: &str) -> Self {
        let (qid, kind) = (qid.into(), kind.into());
        let words = words_of(text, &Analyzer::default());
        Self { qid, text: text.into(), words, frequency, kind }
    }

    /// The same query with words as `analyzer` makes them.
    pub(crate) fn into_words_of(mut self, analyzer: &Analyzer) -> Self {
        if !analyzer.options().is_plain() {
            self.words = words_of(&self.text, analyzer);
        }
        self
    }

    /// A hash of its words, in their order.
    pub(crate) fn word_hash(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.words.join(" ").as_bytes())
    }
}

fn words_of(text: &str, analyzer: &Analyzer) -> Vec<String> {
    // Pages have lost theirs, too: soft hyphens are not seen.
    let mut words = analyzer.words(&text.replace('\u{ad}', ""));
    words.truncate(limits::BOUNDS.query_words);
    words
}

/// A list of queries, ordered by qid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    /// The queries.
    pub queries: Vec<Query>,
}

impl Workload {
    /// The queries to plan for: those with the same words merged under the first qid, frequencies
    /// added; queries without a word or with frequency 0 left out.
    ///
    /// ```
    /// use prospect::workload::{Query, Workload};
    ///
    /// let queries = vec![
    ///     Query::new("1", "Crawl budget", 2.0, ""),
    ///     Query::new("2", "crawl-budget?", 3.0, ""), // the same words
    ///     Query::new("3", "budget crawl", 1.0, ""),  // another order is another query
    ///     Query::new("4", "?!", 9.0, ""),            // no word
    /// ];
    /// let planned = Workload { queries }.for_planning();
    /// let qids: Vec<&str> = planned.queries.iter().map(|query| query.qid.as_str()).collect();
    /// assert_eq!(qids, ["1", "3"]);
    /// ```
    #[must_use]
    pub fn for_planning(&self) -> Self {
        let mut at_words: HashMap<&[String], usize> = HashMap::new();
        let mut queries: Vec<Query> = Vec::new();
        for query in self.queries.iter().filter(|q| !q.words.is_empty() && q.frequency > 0.0) {
            if let Some(&at) = at_words.get(query.words.as_slice()) {
                queries[at].frequency += query.frequency;
            } else {
                at_words.insert(&query.words, queries.len());
                queries.push(query.clone());
            }
        }
        Self { queries }
    }

    /// The same queries with words as `analyzer` makes them: those of the index that they are asked of.
    pub(crate) fn into_words_of(self, analyzer: &Analyzer) -> Self {
        if analyzer.options().is_plain() {
            return self;
        }
        let queries = self.queries.into_iter().map(|query| query.into_words_of(analyzer));
        Self { queries: queries.collect() }
    }

    /// As [`Workload::into_words_of`]; nothing is copied where words stay as they are.
    pub(crate) fn in_words_of(&self, analyzer: &Analyzer) -> Cow<'_, Self> {
        if analyzer.options().is_plain() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.clone().into_words_of(analyzer))
    }

    /// All words of all queries, repeated as they come.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.queries.iter().flat_map(|query| query.words.iter().map(String::as_str))
    }

    /// A content hash: the same queries and frequencies give the same.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        for query in &self.queries {
            hash.update(query.qid.as_bytes());
            hash.update(&[0]);
            hash.update(query.text.as_bytes());
            hash.update(&[0]);
            hash.update(&query.frequency.to_bits().to_le_bytes());
        }
        format!("{:016x}", hash.digest())
    }

    /// Identifies the queries by their words, whatever their ids, spelling, order and frequencies are.
    pub(crate) fn words_hash(&self) -> String {
        identity("words", self.queries.iter().map(|query| query.words.join(" ")))
    }

    /// Identifies them by their texts, as plans before [`Self::words_hash`] did.
    pub(crate) fn texts_hash(&self) -> String {
        identity("texts", self.queries.iter().map(|query| query.text.as_str()))
    }
}

/// A hash of these strings, whatever their order and however often each comes.
fn identity<S: AsRef<str> + Ord>(kind: &str, strings: impl Iterator<Item = S>) -> String {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for string in strings.collect::<BTreeSet<S>>() {
        hash.update(string.as_ref().as_bytes());
        hash.update(&[0]);
    }
    format!("{kind}-{:016x}", hash.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_with_the_same_words_are_merged_for_planning_only() {
        let workload = Workload {
            queries: vec![
                Query::new("1", "Rust HashMap", 2.0, ""),
                Query::new("2", "rust-hashmap", 3.0, ""),
                Query::new("3", "hashmap rust", 1.0, ""),
                Query::new("4", "?!", 9.0, ""),
            ],
        };
        let planning = workload.for_planning();
        let found: Vec<_> =
            planning.queries.iter().map(|q| (q.qid.as_str(), q.frequency)).collect();
        assert_eq!(found, [("1", 5.0), ("3", 1.0)]);
        assert_eq!(workload.queries.len(), 4);
    }
}
