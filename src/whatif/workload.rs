//! The queries of a scenario: those of the base with other frequencies, then those that are new.

use std::collections::{HashMap, HashSet};

use prospect_index::words::Analyzer;
use regex::{Regex, RegexBuilder};

use super::scenario::{AskedQuery, MOST, Scenario, ScenarioError, Which, number};
use crate::workload::{MOST_FREQUENCY, Query};

/// Bytes that a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;
/// Queries that a scenario may add.
pub(crate) const MOST_ADDED: usize = 100_000;

/// The queries of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// Those of the base in their order, with the frequencies of the scenario, then new ones.
    pub(crate) queries: Vec<Query>,
    /// Where the new ones start.
    pub(crate) known: usize,
}

/// The queries of a scenario on the queries of a base, of which no two have the same words.
///
/// # Errors
/// A query, a pattern or a factor cannot be read, or a choice of queries means none.
pub(crate) fn asked(
    base: &[Query],
    scenario: &Scenario,
    analyzer: &Analyzer,
) -> Result<Asked, ScenarioError> {
    for (key, file) in [("workload", &scenario.workload), ("fetched-file", &scenario.fetched_file)]
    {
        if file.is_some() {
            return Err(ScenarioError::new(key, "no file can be read here"));
        }
    }
    let qids = base.iter().map(|query| query.qid.clone()).collect();
    let at_words = HashMap::new();
    let mut made = Making { queries: base.to_vec(), at_words, qids, new: 0, analyzer };
    for (at, query) in base.iter().enumerate() {
        made.at_words.insert(query.words.clone(), at);
    }
    if let Some(queries) = &scenario.queries {
        for query in &mut made.queries {
            query.frequency = 0.0;
        }
        made.add("queries", queries)?;
    }
    for scaling in &scenario.scale {
        let by = number("scale.by", scaling.by, MOST)?;
        made.change("scale", &scaling.which(), by)?;
    }
    for which in &scenario.drop {
        if *which == Which::default() {
            return Err(ScenarioError::new("drop", "it says of no query that it goes"));
        }
        made.change("drop", which, 0.0)?;
    }
    made.add("add", &scenario.add)?;
    Ok(Asked { queries: made.queries, known: base.len() })
}

struct Making<'a> {
    queries: Vec<Query>,
    at_words: HashMap<Vec<String>, usize>,
    qids: HashSet<String>,
    new: usize,
    analyzer: &'a Analyzer,
}

impl Making<'_> {
    fn add(&mut self, key: &str, asked: &[AskedQuery]) -> Result<(), ScenarioError> {
        for AskedQuery { query, frequency, qid, kind } in asked {
            let frequency = number(&format!("{key}.frequency"), *frequency, MOST_FREQUENCY)?;
            let made = Query::new(qid, query, frequency, kind);
            let mut made = made.into_words_of(self.analyzer);
            if made.words.is_empty() {
                return Err(ScenarioError::new(key, format!("{query:?} holds no word")));
            }
            if let Some(&at) = self.at_words.get(&made.words) {
                let sum = self.queries[at].frequency + frequency;
                self.queries[at].frequency = number(key, sum, MOST_FREQUENCY)?;
                continue;
            }
            self.new += 1;
            if self.new > MOST_ADDED {
                let what = format!("more than {MOST_ADDED} queries are new");
                return Err(ScenarioError::new(key, what));
            }
            let mut number = self.new;
            while made.qid.is_empty() || self.qids.contains(&made.qid) {
                made.qid = format!("new-{number}");
                number += 1;
            }
            self.qids.insert(made.qid.clone());
            self.at_words.insert(made.words.clone(), self.queries.len());
            self.queries.push(made);
        }
        Ok(())
    }

    fn change(&mut self, key: &str, which: &Which, by: f64) -> Result<(), ScenarioError> {
        let meant = Meant::new(key, which, &self.queries)?;
        let mut found = false;
        for query in self.queries.iter_mut().filter(|query| meant.holds(query)) {
            query.frequency = number(key, query.frequency * by, MOST_FREQUENCY)?;
            found = true;
        }
        if found {
            return Ok(());
        }
        Err(ScenarioError::new(key, format!("no query of the workload is meant by {which}")))
    }
}

impl std::fmt::Display for Which {
    /// As a file says it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pattern = self.pattern.iter().map(|pattern| format!("pattern = {pattern:?}"));
        let kind = self.kind.iter().map(|kind| format!("kind = {kind:?}"));
        let more = if self.list.len() > 1 { ", …" } else { "" };
        let list = self.list.first().map(|first| format!("list = [{first:?}{more}]"));
        let said: Vec<String> = pattern.chain(kind).chain(list).collect();
        write!(formatter, "{{ {} }}", said.join(", "))
    }
}

struct Meant<'a> {
    pattern: Option<Regex>,
    kind: Option<&'a str>,
    texts: HashSet<String>,
    qids: HashSet<&'a str>,
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

fn compiled(key: &str, pattern: &str) -> Result<Regex, ScenarioError> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| ScenarioError::new(&format!("{key}.pattern"), error.to_string()))
}

impl<'a> Meant<'a> {
    fn new(key: &str, which: &'a Which, queries: &[Query]) -> Result<Self, ScenarioError> {
        if which.file.is_some() {
            let key = format!("{key}.file");
            return Err(ScenarioError::new(&key, "no file can be read here"));
        }
        let list: HashSet<String> = which.list.iter().map(|entry| folded(entry)).collect();
        let is_listed = |query: &&Query| !list.is_empty() && list.contains(&folded(&query.text));
        // What is a query's text is no other one's id.
        let texts: HashSet<String> =
            queries.iter().filter(is_listed).map(|query| folded(&query.text)).collect();
        let others = which.list.iter().filter(|entry| !texts.contains(&folded(entry)));
        let qids: HashSet<&str> = others.map(|entry| entry.trim()).collect();
        let known: HashSet<&str> = if qids.is_empty() {
            HashSet::new()
        } else {
            queries.iter().map(|query| &query.qid[..]).collect()
        };
        let is_unknown =
            |entry: &&String| qids.contains(entry.trim()) && !known.contains(entry.trim());
        if let Some(first) = which.list.iter().find(is_unknown) {
            let what = format!(
                "{first:?} is neither a query of the workload nor the id of one; queries with the same words go by the \
                 first id"
            );
            return Err(ScenarioError::new(&format!("{key}.list"), what));
        }
        let compiled = |pattern: &String| compiled(key, pattern);
        Ok(Self {
            pattern: which.pattern.as_ref().map(compiled).transpose()?,
            kind: which.kind.as_deref(),
            qids,
            texts: list,
        })
    }

    fn holds(&self, query: &Query) -> bool {
        let listed =
            || self.texts.contains(&folded(&query.text)) || self.qids.contains(&query.qid[..]);
        self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&query.text))
            && self.kind.is_none_or(|kind| query.kind == kind)
            && (self.texts.is_empty() || listed())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenario::Scaling;
    use super::*;

    fn base() -> Vec<Query> {
        vec![
            Query::new("1", "async await", 10.0, "keyword"),
            Query::new("2", "what is a trait", 5.0, "question"),
            Query::new("3", "Async traits", 2.0, "keyword"),
        ]
    }

    fn frequencies(scenario: &Scenario) -> Vec<f64> {
        let asked = asked(&base(), scenario, &Analyzer::default()).unwrap();
        asked.queries.iter().map(|query| query.frequency).collect()
    }

    fn which(pattern: &str) -> Which {
        Which { pattern: Some(pattern.into()), ..Which::default() }
    }

    #[test]
    fn frequencies_are_scaled_dropped_and_added() {
        let scenario = Scenario {
            scale: vec![
                Scaling { by: 3.0, pattern: Some("^async".into()), ..Scaling::default() },
                Scaling { by: 2.0, ..Scaling::default() },
            ],
            drop: vec![Which { kind: Some("question".into()), ..Which::default() }],
            add: vec![
                AskedQuery {
                    query: "AWAIT".into(),
                    frequency: 7.0,
                    qid: String::new(),
                    kind: String::new(),
                },
                AskedQuery {
                    query: "async-await".into(),
                    frequency: 1.0,
                    qid: String::new(),
                    kind: String::new(),
                },
            ],
            ..Scenario::default()
        };
        assert_eq!(frequencies(&scenario), [61.0, 0.0, 12.0, 7.0]);
        assert_eq!(
            asked(&base(), &scenario, &Analyzer::default()).unwrap().queries[3].qid,
            "new-1"
        );
    }

    #[test]
    fn other_queries_take_the_place_of_the_workload() {
        let queries = serde_json::from_str(
            r#"[{"query": "what is a trait"}, {"query": "lifetimes", "frequency": 4}]"#,
        );
        let scenario = Scenario { queries: queries.unwrap(), ..Scenario::default() };
        assert_eq!(frequencies(&scenario), [0.0, 1.0, 0.0, 4.0]);
    }

    #[test]
    fn queries_are_meant_by_list_and_all_that_is_said() {
        let list = vec!["2".into(), "ASYNC await".into()];
        let scale = vec![Scaling { by: 0.5, list: list.clone(), ..Scaling::default() }];
        assert_eq!(frequencies(&Scenario { scale, ..Scenario::default() }), [5.0, 2.5, 2.0]);
        let both = Which { kind: Some("question".into()), list: list.clone(), ..Which::default() };
        let drop = vec![both];
        assert_eq!(frequencies(&Scenario { drop, ..Scenario::default() }), [10.0, 0.0, 2.0]);
        let mut cased = base();
        cased.push(Query::new("A", "rye", 1.0, ""));
        cased.push(Query::new("a", "oats", 1.0, ""));
        let drop = vec![Which { list: vec!["A".into()], ..Which::default() }];
        let scenario = Scenario { drop, ..Scenario::default() };
        let left = asked(&cased, &scenario, &Analyzer::default()).unwrap().queries;
        assert_eq!((left[3].frequency, left[4].frequency), (0.0, 1.0), "ids have their case");
        let list = [list, vec!["4".into()]].concat();
        let drop = vec![Which { list, ..Which::default() }];
        let refused =
            asked(&base(), &Scenario { drop, ..Scenario::default() }, &Analyzer::default());
        let told = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            told.contains("\"4\" is neither a query of the workload nor the id of one"),
            "{told}"
        );
    }

    #[test]
    fn ids_are_given_once_and_a_text_is_no_id() {
        let mut base = base();
        base.push(Query::new("new-1", "2", 7.0, ""));
        let added = r#"{"add": [{"query": "a"}, {"query": "b", "qid": "1"}],
            "drop": [{"list": ["2"]}]}"#;
        let found =
            asked(&base, &serde_json::from_str(added).unwrap(), &Analyzer::default()).unwrap();
        let ids: Vec<&str> = found.queries.iter().map(|query| query.qid.as_str()).collect();
        assert_eq!(ids, ["1", "2", "3", "new-1", "new-2", "new-3"]);
        let frequencies: Vec<f64> = found.queries.iter().map(|query| query.frequency).collect();
        assert_eq!(frequencies, [10.0, 5.0, 2.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn what_means_nothing_is_an_error() {
        let fails = |scenario: &Scenario| {
            asked(&base(), scenario, &Analyzer::default()).unwrap_err().to_string()
        };
        let drop = |which| Scenario { drop: vec![which], ..Scenario::default() };
        assert!(fails(&drop(which("python"))).contains("no query of the workload is meant"));
        assert!(fails(&drop(which("("))).starts_with("drop.pattern: "));
        assert!(fails(&drop(Which::default())).contains("no query"));
        let file = Scenario { workload: Some("q.tsv".into()), ..Scenario::default() };
        assert_eq!(fails(&file), "workload: no file can be read here");
        let add = serde_json::from_str(r#"{"add": [{"query": "?!"}]}"#).unwrap();
        assert_eq!(fails(&add), "add: \"?!\" holds no word");
    }
}
