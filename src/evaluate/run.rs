//! TREC runs: reading, writing and reranking.
//!
//! A foreign run is ordered by `trec_eval`'s rule, whatever its rank column says: by score as a
//! 32-bit float, highest first, then by document id in byte order, last first. A run that we write
//! carries strictly decreasing 32-bit scores, so that the rule cannot change our order.
//!
//! Document ids are taken as they stand and need not be URLs. Not here: judgements and metrics.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

use super::EvaluateError;
use crate::workload::{ListLines, open_list};

/// Results of each query that a reranker orders anew.
pub(crate) const RERANK_DEPTH: usize = 100;

/// One result of one query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScoredResult {
    /// Document id.
    pub(crate) docid: String,
    /// Finite; never -0.
    pub(crate) score: f32,
}

/// Results of many queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// Name of the system: that of the first line.
    pub(crate) tag: String,
    /// By qid, best first. No document stands twice in a list, and no list is empty.
    pub(crate) queries: BTreeMap<String, Vec<ScoredResult>>,
}

/// Reads a run: `qid Q0 docid rank score tag` a line, lines in any order.
///
/// # Errors
/// The file cannot be read or is empty, a line is malformed, or a document stands twice for a
/// query.
pub(crate) fn load(path: &Path) -> Result<Run, EvaluateError> {
    read(open_list(path)?)
}

/// A result as it stands in a file.
struct Line {
    docid: String,
    score: f32,
    number: usize,
}

/// Parses a run; `file` stands for the file in messages.
#[cfg(test)]
pub(crate) fn parse(text: &str, file: &str) -> Result<Run, EvaluateError> {
    read(ListLines::new(text.as_bytes(), file))
}

fn read(mut given: ListLines<impl BufRead>) -> Result<Run, EvaluateError> {
    let file = given.file().to_owned();
    let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let mut run = Run::default();
    for next in given.by_ref() {
        let (number, content) = next?;
        let failed = |what| EvaluateError::Line { file: file.clone(), line: number, what };
        let fields: Vec<&str> = content.split_whitespace().collect();
        let [qid, _, docid, _, score, tag] = fields[..] else {
            let judgements =
                if fields.len() == 4 { ", and this may be one of judgements" } else { "" };
            let found = fields.len();
            let expected = "`qid Q0 docid rank score tag` was expected";
            return Err(failed(format!("the line has {found} fields{judgements}; {expected}")));
        };
        let score = parse_score(score).map_err(failed)?;
        let line = Line { docid: docid.to_owned(), score, number };
        match lines.get_mut(qid) {
            Some(of_query) => of_query.push(line),
            None => drop(lines.insert(qid.to_owned(), vec![line])),
        }
        if run.tag.is_empty() {
            tag.clone_into(&mut run.tag);
        }
    }
    if lines.is_empty() {
        return Err(EvaluateError::Empty { file });
    }
    for (qid, mut results) in lines {
        refuse_duplicates(&mut results, &qid, &file)?;
        results.sort_unstable_by(|a, b| trec_order((a.score, &a.docid), (b.score, &b.docid)));
        let owned = |line: Line| ScoredResult { docid: line.docid, score: line.score };
        run.queries.insert(qid, results.into_iter().map(owned).collect());
    }
    Ok(run)
}

/// As `trec_eval` reads it: a 64-bit number, rounded to 32 bits.
fn parse_score(given: &str) -> Result<f32, String> {
    let wrong = || format!("the score is {given:?}; a finite 32-bit number was expected");
    let score = given.parse::<f64>().map_err(|_| wrong())? as f32;
    // Adding 0 makes 0 of -0, which would come after it although they are equal.
    if score.is_finite() { Ok(score + 0.0) } else { Err(wrong()) }
}

/// Brings results in the order of `trec_eval`'s rule.
pub(crate) fn sort(results: &mut [ScoredResult]) {
    results.sort_by(|a, b| trec_order((a.score, &a.docid), (b.score, &b.docid)));
}

/// `trec_eval`'s rule: score descending, then document id descending.
fn trec_order((score_a, docid_a): (f32, &str), (score_b, docid_b): (f32, &str)) -> Ordering {
    score_b.total_cmp(&score_a).then_with(|| docid_b.cmp(docid_a))
}

fn refuse_duplicates(results: &mut [Line], qid: &str, file: &str) -> Result<(), EvaluateError> {
    results.sort_unstable_by(|a, b| (&a.docid, a.number).cmp(&(&b.docid, b.number)));
    let repeated = results.windows(2).filter(|pair| pair[0].docid == pair[1].docid);
    match repeated.min_by_key(|pair| pair[1].number) {
        None => Ok(()),
        Some(pair) => Err(EvaluateError::Duplicate {
            file: file.to_owned(),
            line: pair[1].number,
            first: pair[0].number,
            qid: qid.to_owned(),
            docid: pair[1].docid.clone(),
        }),
    }
}

/// Writes the results of one query, best first, with strictly decreasing 32-bit scores.
///
/// # Errors
/// A score is not finite, a name is empty or has white space, or the writer fails.
pub(crate) fn write_query(
    out: &mut dyn Write,
    tag: &str,
    qid: &str,
    ranked: &[(&str, f64)],
) -> Result<(), EvaluateError> {
    let scores = falling_scores(ranked.iter().map(|&(_, score)| score));
    check_name(qid)?;
    check_name(tag)?;
    for (at, (&(docid, given), score)) in ranked.iter().zip(scores).enumerate() {
        check_name(docid)?;
        if !score.is_finite() {
            let (qid, docid) = (qid.to_owned(), docid.to_owned());
            return Err(EvaluateError::Score { qid, docid, score: given });
        }
        // In 64 bits, so that a reader who rounds twice gets the same 32 bits.
        writeln!(out, "{qid} Q0 {docid} {} {} {tag}", at + 1, f64::from(score))?;
    }
    Ok(())
}

/// Refuses a name that a line of a run cannot have.
///
/// # Errors
/// It is empty or has white space.
pub(crate) fn check_name(name: &str) -> Result<(), EvaluateError> {
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(EvaluateError::Name { name: name.to_owned() });
    }
    Ok(())
}

/// Scores in rank order as strictly decreasing 32-bit numbers: each is the given one, or the next
/// one below its predecessor where it is not less than that. What cannot be represented comes out
/// as it is: NaN, or an infinity.
pub(crate) fn falling_scores(scores: impl IntoIterator<Item = f64>) -> Vec<f32> {
    let mut last = f32::INFINITY;
    let mut falling = Vec::new();
    for score in scores {
        let score = score as f32;
        last = if score < last || !score.is_finite() { score } else { last.next_down() };
        falling.push(last);
    }
    falling
}

/// The first [`RERANK_DEPTH`] results in the order of another system's scores, highest first and
/// ties as they were; those without a score stay behind them in their old order, and so do all
/// further results. Gives the positions in `docids`, best first. Whoever writes the new
/// order gives those without a score the last one there is: [`write_query`] makes it fall.
pub(crate) fn rerank(docids: &[&str], external: &[ScoredResult]) -> Vec<usize> {
    let scores: std::collections::HashMap<&str, f64> =
        external.iter().map(|result| (result.docid.as_str(), f64::from(result.score))).collect();
    let scores: Vec<Option<f64>> = docids.iter().map(|docid| scores.get(docid).copied()).collect();
    order_by_scores(&scores)
}

/// The order of [`rerank`] over results that another system scores, by position.
pub(super) fn order_by_scores(scores: &[Option<f64>]) -> Vec<usize> {
    let depth = scores.len().min(RERANK_DEPTH);
    let (mut order, behind): (Vec<usize>, Vec<usize>) =
        (0..depth).partition(|&at| scores[at].is_some());
    order.sort_by(|&a, &b| {
        let (own, other) = (scores[a].unwrap_or(0.0), scores[b].unwrap_or(0.0));
        other.total_cmp(&own).then(a.cmp(&b))
    });
    order.extend(behind);
    order.extend(depth..scores.len());
    order
}

#[cfg(test)]
mod tests;
