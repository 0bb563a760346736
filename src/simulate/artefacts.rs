//! The files of a finished experiment. Each carries the version, the experiment's hash, the seed
//! and BM25's parameters, in itself or, where a format has no place for it, in `PROVENANCE.json`
//! beside it.

use prospect_index::columns::{Column, ColumnType, Schema, TableWriter};
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use prospect_index::storage::Storage;

use super::SimulateError;
use super::collection::Collection;
use super::experiment::Crawls;
use super::measure::{Measure, RANKING_METRICS};
use super::settings::Runs;
use super::summary::Findings;
use super::values::Placed;
use crate::evaluate::metrics::DEPTH;
use crate::evaluate::run::write_query;
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
                lines.push_str(urls.spelling(UrlId(page)));
                lines.push('\n');
            }
            let name = format!("{folder}/{}/{}.txt", choice.label(), set + 1);
            storage.write(&name, lines.as_bytes())?;
        }
    }
    Ok(())
}

/// `curves.csv`: one line a policy, kind, metric and checkpoint.
pub(crate) fn curves_csv(summary: &Summary, experiment: &str) -> String {
    let mut csv = String::from(
        "policy,oracle,kind,metric,pages,mean,sd,min,max,difference,p,p_holm,significant,version,experiment,seed,k1,b,seconds\n",
    );
    let Provenance { version, seed, k1, b, .. } = &summary.provenance;
    for policy in &summary.policies {
        for kind in &policy.kinds {
            for curve in &kind.curves {
                for point in &curve.points {
                    let versus = point.versus_baseline;
                    let number = |of: fn(&crate::results::Comparison) -> f64| {
                        versus.as_ref().map_or(String::new(), |versus| of(versus).to_string())
                    };
                    let seconds = point.seconds.map_or(String::new(), |at| at.to_string());
                    let significant = versus.map_or(String::new(), |v| v.significant.to_string());
                    csv.push_str(&format!(
                        "{},{},{},{},{},{},{},{},{},{},{},{},{significant},{version},{experiment},{seed},{k1},{b},{seconds}\n",
                        quoted(&policy.name),
                        policy.oracle,
                        quoted(&kind.kind),
                        quoted(&curve.metric),
                        point.pages,
                        point.mean,
                        point.sd,
                        point.min,
                        point.max,
                        number(|v| v.difference),
                        number(|v| v.p),
                        number(|v| v.p_holm),
                    ));
                }
            }
        }
    }
    csv
}

/// `seconds.csv`: one line a policy and number of seconds, where time is simulated.
pub(crate) fn seconds_csv(time: &TimeSummary, experiment: &str) -> String {
    let mut csv = String::from("policy,seconds,pages,relevant,impact,experiment\n");
    for policy in &time.policies {
        for (seconds, point) in time.seconds.iter().zip(&policy.points) {
            let TimePoint { pages, relevant, impact } = point;
            let name = quoted(&policy.name);
            csv.push_str(&format!("{name},{seconds},{pages},{relevant},{impact},{experiment}\n"));
        }
    }
    csv
}

/// `stops.csv`: one line a crawl and rule that stops crawls.
pub(crate) fn stops_csv(stops: &[Stop], experiment: &str) -> String {
    let mut csv = String::from(
        "policy,set,rule,stopped,pages,of,ndcg10,impact,oracle,false,qid,experiment\n",
    );
    for stop in stops {
        let Stop { set, rule, stopped, pages, of, impact, oracle, .. } = stop;
        let (name, qid, is_false) = (quoted(&stop.policy), quoted(&stop.qid), stop.is_false());
        let ndcg = stop.ndcg.map_or(String::new(), |ndcg| ndcg.to_string());
        csv.push_str(&format!(
            "{name},{set},{rule},{stopped},{pages},{of},{ndcg},{impact},{oracle},{is_false},{qid},{experiment}\n"
        ));
    }
    csv
}

/// A field of a CSV file (RFC 4180).
pub(super) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
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
                let url = |page: u32| collection.urls.spelling(UrlId(page));
                let list: Vec<(&str, f64)> =
                    lists[at].iter().map(|&(page, score)| (url(page), score)).collect();
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
