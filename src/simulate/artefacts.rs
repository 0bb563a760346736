//! The files of a finished experiment. Each carries the version, the experiment's hash, the seed
//! and BM25's parameters, in itself or, where a format has no place for it, in `PROVENANCE.json`
//! beside it.

use prospect_index::columns::{Column, ColumnType, Schema, TableWriter};
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use prospect_index::storage::Storage;

use super::SimulateError;
use super::collection::Collection;
use super::csv_table::{self, cell};
use super::experiment::Crawls;
use super::measure::{Measure, RANKING_METRICS};
use super::settings::Runs;
use super::summary::Findings;
use super::values::Placed;
use crate::evaluate::metrics::DEPTH;
use crate::evaluate::run::write_query;
use crate::plan::export::without_blanks;
use crate::policy::PolicyChoice;
use crate::results::stopping::Stop;
use crate::results::time::{TimePoint, TimeSummary};
use crate::results::{Provenance, Summary};

use ColumnType::{F64, Text, U32};

const CURVES: Schema = Schema {
    name: "curves",
    version: 1,
    columns: &[
        ("policy", Text),
        ("set", U32),
        ("kind", Text),
        ("metric", Text),
        ("pages", U32),
        ("value", F64),
        ("version", Text),
        ("experiment", Text),
        ("seed", F64),
        ("k1", F64),
        ("b", F64),
    ],
    later: &[],
};

const PER_QUERY: Schema = Schema {
    name: "per_query",
    version: 1,
    columns: &[
        ("policy", Text),
        ("set", U32),
        ("pages", U32),
        ("qid", Text),
        ("kind", Text),
        ("relevant_fetched", U32),
        ("max_ndcg", F64),
        ("ndcg_10", F64),
        ("r_100", F64),
        ("mrr_10", F64),
        ("ap", F64),
        ("version", Text),
        ("experiment", Text),
        ("seed", F64),
        ("k1", F64),
        ("b", F64),
    ],
    later: &[],
};

/// Writes the orders below `folder`: one URL a line, in the spelling first seen.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn orders(
    storage: &Storage,
    folder: &str,
    collection: &Collection,
    policies: &[PolicyChoice],
    crawls: &Crawls,
) -> Result<(), SimulateError> {
    let urls = &collection.urls;
    for (choice, orders) in policies.iter().zip(&crawls.orders) {
        for (set, order) in orders.iter().enumerate() {
            let mut lines = String::new();
            for &page in &order.pages {
                lines.push_str(&without_blanks(urls.spelling(UrlId(page))));
                lines.push('\n');
            }
            let name = format!("{folder}/{}/{}.txt", choice.label(), set + 1);
            storage.write(&name, lines.as_bytes())?;
        }
    }
    Ok(())
}

/// `curves.csv`: one line a policy, kind, metric and checkpoint.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn curves_csv(
    storage: &Storage,
    summary: &Summary,
    experiment: &str,
) -> Result<(), SimulateError> {
    let columns = [
        "policy",
        "oracle",
        "kind",
        "metric",
        "pages",
        "mean",
        "sd",
        "min",
        "max",
        "difference",
        "p",
        "p_holm",
        "significant",
        "version",
        "experiment",
        "seed",
        "k1",
        "b",
        "seconds",
    ];
    let Provenance { version, seed, k1, b, .. } = &summary.provenance;
    let kinds = summary
        .policies
        .iter()
        .flat_map(|policy| policy.kinds.iter().map(move |kind| (policy, kind)));
    let points = kinds.flat_map(|(policy, kind)| {
        let curves = kind.curves.iter();
        curves.flat_map(move |curve| curve.points.iter().map(move |at| (policy, kind, curve, at)))
    });
    let rows = points.map(|(policy, kind, curve, point)| {
        let versus = point.versus_baseline;
        [
            policy.name.clone(),
            policy.oracle.to_string(),
            kind.kind.clone(),
            curve.metric.clone(),
            point.pages.to_string(),
            point.mean.to_string(),
            point.sd.to_string(),
            point.min.to_string(),
            point.max.to_string(),
            cell(versus.map(|versus| versus.difference)),
            cell(versus.map(|versus| versus.p)),
            cell(versus.map(|versus| versus.p_holm)),
            versus.map_or_else(String::new, |versus| versus.significant.to_string()),
            version.clone(),
            experiment.to_owned(),
            seed.to_string(),
            k1.to_string(),
            b.to_string(),
            cell(point.seconds),
        ]
    });
    csv_table::write(storage, "curves.csv", columns, rows)
}

/// `seconds.csv`: one line a policy and number of seconds, where time is simulated.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn seconds_csv(
    storage: &Storage,
    time: &TimeSummary,
    experiment: &str,
) -> Result<(), SimulateError> {
    let points = time.policies.iter().flat_map(|policy| {
        let points = time.seconds.iter().zip(&policy.points);
        points.map(move |(seconds, point)| (&policy.name, seconds, point))
    });
    let rows = points.map(|(name, seconds, TimePoint { pages, relevant, impact })| {
        [
            name.clone(),
            seconds.to_string(),
            pages.to_string(),
            relevant.to_string(),
            impact.to_string(),
            experiment.to_owned(),
        ]
    });
    let columns = ["policy", "seconds", "pages", "relevant", "impact", "experiment"];
    csv_table::write(storage, "seconds.csv", columns, rows)
}

/// `stops.csv`: one line a crawl and rule that stops crawls.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn stops_csv(
    storage: &Storage,
    stops: &[Stop],
    experiment: &str,
) -> Result<(), SimulateError> {
    let columns = [
        "policy",
        "set",
        "rule",
        "stopped",
        "pages",
        "of",
        "ndcg10",
        "impact",
        "oracle",
        "false",
        "qid",
        "experiment",
    ];
    let rows = stops.iter().map(|stop| {
        [
            stop.policy.clone(),
            stop.set.to_string(),
            stop.rule.clone(),
            stop.stopped.to_string(),
            stop.pages.to_string(),
            stop.of.to_string(),
            cell(stop.ndcg.filter(|_| stop.finds)),
            stop.impact.to_string(),
            stop.oracle.to_string(),
            stop.is_false().to_string(),
            stop.qid.clone(),
            experiment.to_owned(),
        ]
    });
    csv_table::write(storage, "stops.csv", columns, rows)
}

/// One text in every row.
fn same(value: &str, rows: usize) -> Column {
    Column::Text(vec![value.to_owned(); rows])
}

/// The last columns of every table: what its rows were made from.
fn made_from(provenance: &Provenance, experiment: &str, rows: usize) -> [Column; 5] {
    let number = |value: f64| Column::F64(vec![value; rows]);
    [
        same(&provenance.version, rows),
        same(experiment, rows),
        number(provenance.seed as f64),
        number(provenance.k1),
        number(provenance.b),
    ]
}

/// `curves.parquet`: the curves of every seed set.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn curves_parquet(
    storage: &Storage,
    findings: &Findings<'_>,
    provenance: &Provenance,
    experiment: &str,
) -> Result<(), SimulateError> {
    let mut writer = TableWriter::create(storage, "curves.parquet", CURVES)?;
    for (policy, choice) in findings.settings.policies.iter().enumerate() {
        let rows = findings.rows(policy);
        let count = rows.len();
        let text = |of: fn(&super::summary::SummaryRow) -> &str| {
            Column::Text(rows.iter().map(|row| of(row).to_owned()).collect())
        };
        let mut columns = vec![
            same(&choice.label(), count),
            Column::U32(rows.iter().map(|row| row.set).collect()),
            text(|row| &row.kind),
            text(|row| &row.metric),
            Column::U32(rows.iter().map(|row| row.pages).collect()),
            Column::F64(rows.iter().map(|row| row.value).collect()),
        ];
        columns.extend(made_from(provenance, experiment, count));
        writer.write(&columns)?;
    }
    writer.finish()?;
    Ok(())
}

/// `per_query.parquet`: metrics of every query at every checkpoint of every crawl.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn per_query(
    storage: &Storage,
    findings: &Findings<'_>,
    provenance: &Provenance,
    experiment: &str,
) -> Result<(), SimulateError> {
    let mut writer = TableWriter::create(storage, "per_query.parquet", PER_QUERY)?;
    let queries = findings.judged;
    for (choice, sets) in findings.settings.policies.iter().zip(findings.measured) {
        for (set, crawl) in sets.iter().enumerate() {
            let pages = findings.crawls.checkpoints.iter();
            for (at, &pages) in pages.take(crawl.reached).enumerate() {
                let count = queries.len();
                let text = |of: fn(&crate::workload::Query) -> &str| {
                    Column::Text(queries.iter().map(|q| of(&q.query).to_owned()).collect())
                };
                let metric = |number| metric(&crawl.values[at], number);
                let mut columns = vec![
                    same(&choice.label(), count),
                    Column::U32(vec![set as u32 + 1; count]),
                    Column::U32(vec![pages; count]),
                    text(|query| &query.qid),
                    text(|query| &query.kind),
                    Column::U32(crawl.found[at].clone()),
                    Column::F64(crawl.max_ndcg(at).collect()),
                    metric(0),
                    metric(1),
                    metric(2),
                    metric(3),
                ];
                columns.extend(made_from(provenance, experiment, count));
                writer.write(&columns)?;
            }
        }
    }
    writer.finish()?;
    Ok(())
}

/// A metric of every query at a checkpoint, of which `values` are all metrics, query by query.
fn metric(values: &[f64], number: usize) -> Column {
    let by_query = values.chunks(RANKING_METRICS.len());
    Column::F64(by_query.map(|values| values[number]).collect())
}

/// TREC runs of every crawl at the checkpoints asked for: `runs/<policy>/<set>/<pages>.run`.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn runs(
    storage: &Storage,
    measure: &Measure<'_>,
    crawls: &Crawls,
    experiment: &str,
) -> Result<(), SimulateError> {
    let wanted = measure.settings.runs;
    if wanted == Runs::None {
        return Ok(());
    }
    let collection = measure.collection;
    let url_order = collection.by_document(&collection.url_order, NONE);
    let evaluation = measure.evaluation(&url_order);
    let sets = crawls.starts.len();
    for at in 0..crawls.count() {
        let (label, set) = (measure.settings.policies[at / sets].label(), at % sets + 1);
        let tag = format!("prospect-{label}-{experiment}");
        let pages = run_checkpoints(wanted, crawls.reached(at));
        let placed = Placed::new(collection, crawls.one(at), pages);
        let rankings = evaluation.rankings(placed.crawl(), DEPTH as usize)?;
        for (at, pages) in pages.iter().enumerate() {
            let mut out = Vec::new();
            for (judged, lists) in measure.judged.iter().zip(&rankings) {
                let url = |page: u32| without_blanks(collection.urls.spelling(UrlId(page)));
                let list: Vec<(String, f64)> =
                    lists[at].iter().map(|&(page, score)| (url(page), score)).collect();
                let list: Vec<(&str, f64)> =
                    list.iter().map(|(url, score)| (url.as_str(), *score)).collect();
                write_query(&mut out, &tag, &judged.query.qid, &list)?;
            }
            storage.write(&format!("runs/{label}/{set}/{pages}.run"), &out)?;
        }
    }
    Ok(())
}

/// The checkpoints at which runs are written, of those that a crawl reached.
pub(super) fn run_checkpoints(wanted: Runs, reached: &[u32]) -> &[u32] {
    match wanted {
        Runs::None => &[],
        Runs::Last => &reached[reached.len().saturating_sub(1)..],
        Runs::All => reached,
    }
}
