//! Judgements by query, and what a run is worth against them.
//!
//! Averages are over the judged queries with at least one relevant page; one without results counts
//! 0. `ir_measures` averages over all judged queries, so that the two agree where each has a
//! relevant page. Not here: the metrics themselves, and judgements of pages in a store.

use std::collections::{BTreeMap, HashMap};

use super::EvaluateError;
use super::metrics::{DEPTH, Judged, Metric};
use super::run::{Run, ScoredResult};
use crate::workload::qrels::RawJudgement;

/// What is judged of one query.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryJudgements {
    /// What is relevant.
    pub(crate) judged: Judged,
    grades: HashMap<String, i32>,
}

impl QueryJudgements {
    /// The judged documents, in no order.
    pub(crate) fn docids(&self) -> impl Iterator<Item = &str> {
        self.grades.keys().map(String::as_str)
    }

    /// The judged documents with their grades, in no order.
    pub(crate) fn grades(&self) -> impl Iterator<Item = (&str, i32)> {
        self.grades.iter().map(|(docid, grade)| (docid.as_str(), *grade))
    }

    /// Rank from 1 and grade of the judged documents of a list, best first.
    pub(crate) fn ranks(&self, results: &[ScoredResult]) -> Vec<(u32, i32)> {
        let of =
            |(rank, result): (u32, &ScoredResult)| Some((rank, *self.grades.get(&result.docid)?));
        (1..=DEPTH).zip(results).filter_map(of).collect()
    }
}

/// Judgements of many queries.
#[derive(Clone, Debug)]
pub(crate) struct Judgements {
    /// The file they came from, for messages.
    pub(crate) file: String,
    /// Queries with at least one relevant document, by qid; not empty.
    pub(crate) queries: BTreeMap<String, QueryJudgements>,
    /// Judged queries without a relevant document.
    pub(crate) without_relevant: usize,
}

impl Judgements {
    /// From the lines of a file.
    ///
    /// # Errors
    /// A document is judged twice for a query, or no query has a relevant document.
    pub(crate) fn new(lines: Vec<RawJudgement>, file: &str) -> Result<Self, EvaluateError> {
        let mut judged: BTreeMap<String, HashMap<String, (i32, usize)>> = BTreeMap::new();
        for RawJudgement { qid, docid, grade, line } in lines {
            let query = judged.entry(qid.clone()).or_default();
            if let Some((_, first)) = query.insert(docid.clone(), (grade, line)) {
                let file = file.to_owned();
                return Err(EvaluateError::Duplicate { file, line, first, qid, docid });
            }
        }
        if judged.is_empty() {
            return Err(EvaluateError::Empty { file: file.to_owned() });
        }
        let all = judged.len();
        let mut queries = BTreeMap::new();
        for (qid, grades) in judged {
            let grades: HashMap<String, i32> =
                grades.into_iter().map(|(docid, (grade, _))| (docid, grade)).collect();
            let judged = Judged::new(grades.values().copied());
            if judged.relevant() > 0 {
                queries.insert(qid, QueryJudgements { judged, grades });
            }
        }
        if queries.is_empty() {
            return Err(EvaluateError::NothingRelevant { file: file.to_owned(), queries: all });
        }
        Ok(Self { file: file.to_owned(), without_relevant: all - queries.len(), queries })
    }

    /// Measures a run; `file` stands for it in messages.
    ///
    /// # Errors
    /// The run has no result for any query of [`Judgements::queries`].
    pub(crate) fn measure(
        &self,
        run: &Run,
        file: &str,
        metrics: &[Metric],
    ) -> Result<RunScores, EvaluateError> {
        let mut scores = RunScores {
            values: vec![Vec::with_capacity(self.queries.len()); metrics.len()],
            ..RunScores::default()
        };
        for (qid, query) in &self.queries {
            let results = run.queries.get(qid).map_or(&[][..], Vec::as_slice);
            let ranks = query.ranks(results);
            scores.without_results += usize::from(results.is_empty());
            scores.too_deep += usize::from(results.len() > DEPTH as usize);
            scores.judged_results += ranks.len();
            for (metric, values) in metrics.iter().zip(&mut scores.values) {
                values.push(query.judged.value(*metric, &ranks, results.len()));
            }
        }
        let common = self.queries.len() - scores.without_results;
        scores.not_judged = run.queries.len() - common;
        if common > 0 {
            return Ok(scores);
        }
        let first = |qid: Option<&String>| qid.cloned().unwrap_or_default();
        Err(EvaluateError::NoCommonQuery {
            run: file.to_owned(),
            judgements: self.file.clone(),
            run_qid: first(run.queries.keys().next()),
            judged_qid: first(self.queries.keys().next()),
        })
    }
}

/// What a run is worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunScores {
    /// By metric, then by query in the order of [`Judgements::queries`].
    pub(crate) values: Vec<Vec<f64>>,
    /// Queries of the judgements for which the run has no result: they count 0.
    pub(crate) without_results: usize,
    /// Queries of the run that do not count, as nothing is judged relevant to them.
    pub(crate) not_judged: usize,
    /// Queries with more than [`DEPTH`] results.
    pub(crate) too_deep: usize,
    /// Results within the depth that are judged, over all queries that count.
    pub(crate) judged_results: usize,
}

impl RunScores {
    /// Averages over queries, by metric.
    pub(crate) fn means(&self) -> Vec<f64> {
        self.values.iter().map(|of| of.iter().sum::<f64>() / of.len().max(1) as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::run;
    use crate::workload::qrels;

    fn judgements(text: &str) -> Result<Judgements, EvaluateError> {
        Judgements::new(qrels::parse_raw(text, "j").unwrap(), "j")
    }

    #[test]
    fn an_average_is_over_queries_with_a_relevant_document() {
        let judged = judgements("1 0 a 1\n1 0 b 0\n2 0 a 2\n3 0 a 0\n").unwrap();
        assert_eq!((judged.queries.len(), judged.without_relevant), (2, 1));
        let run = run::parse("1 Q0 b 1 2 t\n1 Q0 a 1 1 t\n3 Q0 a 1 1 t\n9 Q0 a 1 1 t\n", "r");
        let scores = judged.measure(&run.unwrap(), "r", &[Metric::ReciprocalRank(10)]).unwrap();
        assert_eq!(scores.values, [[0.5, 0.0]]);
        assert_eq!(scores.means(), [0.25]);
        assert_eq!((scores.without_results, scores.not_judged), (1, 2));
        assert_eq!((scores.judged_results, scores.too_deep), (2, 0));
    }

    #[test]
    fn judgements_that_measure_nothing_are_refused() {
        let cases = [
            ("1 0 a 1\n2 0 a 1\n1 0 a 0\n", "j:3: query 1 has the document a already in line 1"),
            ("1 0 a 0\n2 0 a -1\n", "j: none of the 2 judged queries has a relevant document"),
            ("", "j has no line"),
        ];
        for (text, expected) in cases {
            assert_eq!(judgements(text).unwrap_err().to_string(), expected);
        }
        let run = run::parse("q1 Q0 a 1 1 t\n", "r").unwrap();
        let error = judgements("1 0 a 1\n").unwrap().measure(&run, "r", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "r: no query has both results and a relevant document in j; the run has for example \
             query q1, the judgements 1"
        );
    }
}
