//! What `prospect evaluate` prints: tables for people, JSON for programs.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::Measured;
use crate::cli::output::shown;
use crate::evaluate::judgements::Judgements;
use crate::evaluate::metrics::{DEPTH, Metric};

/// Characters of a name in a table.
const NAME_WIDTH: usize = 200;

/// All of it as JSON.
pub(super) fn as_json(
    runs: &[Measured],
    judgements: &Judgements,
    metrics: &[Metric],
    per_query: bool,
) -> Value {
    let mut listed = Vec::new();
    for run in runs {
        let scores = &run.scores;
        let mut entry = json!({
            "run": run.file,
            "tag": run.tag,
            "means": by_metric(metrics, scores.means().into_iter().map(Some)),
            "queries_without_results": scores.without_results,
            "queries_not_judged": scores.not_judged,
            "queries_too_deep": scores.too_deep,
            "judged_results": scores.judged_results,
        });
        if !run.p.is_empty() {
            entry["p"] = by_metric(metrics, run.p.iter().copied()).into();
            entry["p_holm"] = by_metric(metrics, run.p_holm.iter().copied()).into();
        }
        if per_query {
            let of = |at: usize| by_metric(metrics, scores.values.iter().map(|of| Some(of[at])));
            let queries = judgements.queries.keys().enumerate();
            entry["per_query"] =
                queries.map(|(at, qid)| (qid.clone(), of(at).into())).collect::<Map<_, _>>().into();
        }
        listed.push(entry);
    }
    json!({
        "schema": "prospect.evaluate/1",
        "qrels": judgements.file,
        "queries": judgements.queries.len(),
        "queries_without_relevant": judgements.without_relevant,
        "depth": DEPTH,
        "metrics": metrics.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "runs": listed,
    })
}

/// Values by the names of their metrics.
fn by_metric(metrics: &[Metric], values: impl Iterator<Item = Option<f64>>) -> Map<String, Value> {
    let named = metrics.iter().zip(values);
    named.map(|(metric, value)| (metric.to_string(), json!(value))).collect()
}

/// The tables for people.
pub(super) fn print(
    out: &mut dyn Write,
    runs: &[Measured],
    judgements: &Judgements,
    metrics: &[Metric],
    per_query: bool,
) -> io::Result<()> {
    let mut rows = Vec::new();
    if per_query {
        for run in runs {
            for (at, qid) in judgements.queries.keys().enumerate() {
                let values = run.scores.values.iter().map(|of| format!("{:.4}", of[at]));
                rows.push((vec![run.file.clone(), qid.clone()], values.collect()));
            }
        }
    }
    for run in runs {
        let mut names = vec![run.file.clone()];
        names.extend(per_query.then(|| "all".to_owned()));
        rows.push((names, run.scores.means().iter().map(|mean| format!("{mean:.4}")).collect()));
    }
    let titles: &[&str] = if per_query { &["run", "query"] } else { &["run"] };
    write_table(out, titles, metrics, rows)?;
    let Some((first, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(());
    };
    writeln!(out, "\np of a paired two-sided t-test against {}", first.file)?;
    let row =
        |run: &Measured| (vec![run.file.clone()], run.p.iter().map(|p| shown_p(*p)).collect());
    write_table(out, &["run"], metrics, others.iter().map(row).collect())
}

fn shown_p(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}

/// Names on the left and a value for each metric, in columns.
type Row = (Vec<String>, Vec<String>);

fn write_table(
    out: &mut dyn Write,
    titles: &[&str],
    metrics: &[Metric],
    mut rows: Vec<Row>,
) -> io::Result<()> {
    for name in rows.iter_mut().flat_map(|(names, _)| names) {
        *name = shown(name, NAME_WIDTH);
    }
    let titles = titles.iter().map(ToString::to_string).collect();
    rows.insert(0, (titles, metrics.iter().map(ToString::to_string).collect()));
    let widest = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let names: Vec<usize> =
        (0..rows[0].0.len()).map(|at| widest(&|row| row.0[at].chars().count())).collect();
    let values = widest(&|row| row.1.iter().map(String::len).max().unwrap_or(0));
    for (left, right) in &rows {
        let mut line = String::new();
        for (name, width) in left.iter().zip(&names) {
            line.push_str(&format!("{name:<width$}  "));
        }
        for value in right {
            line.push_str(&format!("{value:>values$}  "));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
