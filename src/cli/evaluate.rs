//! `prospect evaluate`: what search runs are worth against judgements, and whether one is better.

mod search;
mod show;

use std::path::{Path, PathBuf};

use prospect_index::bm25::Bm25;

use super::Global;
use super::doc_urls::{self, Fragments};
use super::model::RuntimeOptions;
use super::options::in_range;
use super::output::{self, Failure, say};
use super::plain::stdout;
use super::words::WordArgs;
use crate::evaluate::judgements::{Judgements, RunScores};
use crate::evaluate::metrics::{DEPTH, Metric};
use crate::evaluate::run::{self, Run};
use crate::evaluate::{names, statistics};
use crate::report::number::with_noun;
use crate::workload::{DocUrls, shown};

/// Arguments of `prospect evaluate`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// A TREC run, `qid Q0 docid rank score tag` a line; several are compared with the first.
    #[arg(long = "run", value_name = "FILE", required_unless_present_any = ["corpus", "store"])]
    runs: Vec<PathBuf>,
    /// Search these pages with BM25 and measure what comes; any format of `prospect ingest`.
    #[arg(long, value_name = "FILE", value_delimiter = ',', requires = "workload")]
    corpus: Vec<PathBuf>,
    /// Search the pages of a store.
    #[arg(long, value_name = "DIR", requires = "workload", conflicts_with = "corpus")]
    store: Option<PathBuf>,
    /// The queries to search for.
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
    /// A TREC run whose scores order the first 100 results of each query anew.
    #[arg(long, value_name = "FILE", requires = "workload")]
    rerank: Option<PathBuf>,
    /// A cross-encoder that orders the first 100 results of each query anew: a directory with a model
    /// of kind `sequence-pair`.
    #[arg(long, value_name = "DIR", requires = "workload", conflicts_with = "rerank")]
    rerank_model: Option<PathBuf>,
    #[command(flatten)]
    runtime: RuntimeOptions,
    /// Write the results of the search as a TREC run.
    #[arg(long, value_name = "FILE", requires = "workload")]
    write_run: Option<PathBuf>,
    #[command(flatten)]
    words: WordArgs,
    /// BM25's k1.
    #[arg(long, value_name = "K1", default_value_t = Bm25::default().k1)]
    k1: f64,
    /// BM25's b.
    #[arg(long, value_name = "B", default_value_t = Bm25::default().b)]
    b: f64,
    /// TREC judgements, `qid 0 docid grade` a line; documents that are URLs are compared as those of pages are.
    #[arg(long, value_name = "FILE")]
    qrels: PathBuf,
    /// URLs of the documents that judgements and runs name by ids, and so do pages without a `url`: `id<TAB>url` a line,
    /// or JSON lines with both.
    #[arg(long, value_name = "FILE")]
    doc_urls: Option<PathBuf>,
    /// Metrics, separated by commas; any cut-off up to 1000.
    #[arg(
        long,
        value_name = "METRICS",
        value_delimiter = ',',
        default_value = "nDCG@10,R@100,MRR@10,AP"
    )]
    metrics: Vec<String>,
    /// Print every query, too.
    #[arg(long)]
    per_query: bool,
}

/// Largest k1 of BM25: beyond it nothing changes.
const MOST_K1: f64 = 1e9;

/// A run that was measured.
struct Measured {
    file: String,
    tag: String,
    scores: RunScores,
    /// Against the first run, by metric; empty for the first itself.
    p: Vec<Option<f64>>,
    p_holm: Vec<Option<f64>>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let metrics = metrics(&args.metrics)?;
    check_standard_input(args)?;
    check_bm25(args)?;
    if args.workload.is_some() && args.store.is_none() && args.corpus.is_empty() {
        let error = anyhow::anyhow!("there are queries to search for, and no pages");
        return Err(Failure::input(
            error,
            "name pages with --store or --corpus, or leave --workload out to measure runs alone",
        ));
    }
    if args.store.is_some() && !args.words.options().is_plain() {
        let error = anyhow::anyhow!("a store has its own words, and options of words are given");
        return Err(Failure::input(error, "leave --stem, --stop-words and --fold-accents out"));
    }
    let map = args.doc_urls.as_deref().map(DocUrls::load).transpose()?;
    let judgements = match (&map, &args.workload) {
        (None, None) => {
            let lines = doc_urls::judgements_as_they_are(&args.qrels, Fragments::Parts)?;
            Judgements::new(lines, &shown(&args.qrels))?
        }
        (map, _) => search::judgements(&args.qrels, map.as_ref(), global)?,
    };
    let mut runs = Vec::new();
    if let Some(searched) = search::run(args, map.as_ref(), &judgements, global)? {
        runs.push(measure(searched, "search".to_owned(), &judgements, &metrics, global)?);
    }
    for path in &args.runs {
        // Beside a search, and where ids are of pages, documents are pages.
        let is_of_pages = args.workload.is_some() || map.is_some();
        let fragments = if is_of_pages { Fragments::Pages } else { Fragments::Parts };
        let run = load_run(path, map.as_ref(), fragments, global)?;
        runs.push(measure(run, shown(path), &judgements, &metrics, global)?);
    }
    compare(&mut runs, metrics.len());
    if global.json {
        return output::print_json(&show::as_json(&runs, &judgements, &metrics, args.per_query));
    }
    let (queries, without) = (judgements.queries.len(), judgements.without_relevant);
    let file = &judgements.file;
    say(global, &format!("averages over the {queries} queries of {file} with a relevant document"));
    if without > 0 {
        say(global, &format!("  left out: {} without one", with_noun(without, "judged query")));
    }
    show::print(&mut stdout(), &runs, &judgements, &metrics, args.per_query)?;
    if runs.len() == 1 {
        say(global, "next: a second --run is compared with the first; --per-query lists queries");
    }
    Ok(())
}

/// A run of a file, whose documents go by ids or URLs.
fn load_run(
    path: &Path,
    map: Option<&DocUrls>,
    fragments: Fragments,
    global: &Global,
) -> Result<Run, Failure> {
    Ok(doc_urls::run(run::load(path)?, (&shown(path), map), fragments, global))
}

/// Refuses parameters that BM25 cannot have.
fn check_bm25(args: &Args) -> Result<(), Failure> {
    let Bm25 { k1, b } = Bm25::default();
    in_range("--k1", args.k1, (0.0, MOST_K1), k1)?;
    in_range("--b", args.b, (0.0, 1.0), b).map(drop)
}

/// The metrics asked for, each once.
fn metrics(names: &[String]) -> Result<Vec<Metric>, Failure> {
    let mut metrics = Vec::new();
    for name in names {
        let metric = names::parse(name)?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn check_standard_input(args: &Args) -> Result<(), Failure> {
    let others = [&args.workload, &args.rerank, &args.doc_urls].into_iter().flatten();
    let inputs = args.runs.iter().chain([&args.qrels]).chain(&args.corpus).chain(others);
    if inputs.filter(|path| path.as_path() == Path::new("-")).count() > 1 {
        let error = anyhow::anyhow!("standard input is named more than once");
        return Err(Failure::input(error, "only one of the files can be `-`"));
    }
    Ok(())
}

fn measure(
    run: Run,
    file: String,
    judgements: &Judgements,
    metrics: &[Metric],
    global: &Global,
) -> Result<Measured, Failure> {
    let scores = judgements.measure(&run, &file, metrics)?;
    let queries = judgements.queries.len();
    let RunScores { without_results, not_judged, too_deep, .. } = scores;
    for (count, what) in [
        (
            without_results,
            format!("no results for {without_results} of {queries} queries; they count 0"),
        ),
        (
            not_judged,
            format!(
                "left out: {} to which nothing is judged relevant",
                with_noun(not_judged, "query")
            ),
        ),
        (
            too_deep,
            format!("results beyond {DEPTH} of {} do not count", with_noun(too_deep, "query")),
        ),
    ] {
        if count > 0 {
            say(global, &format!("{file}: {what}"));
        }
    }
    if scores.judged_results == 0 {
        let line = format!("warning: {file}: no result is judged; {}", examples(&run, judgements));
        say(global, &line);
    }
    Ok(Measured { file, tag: run.tag, scores, p: Vec::new(), p_holm: Vec::new() })
}

/// Document ids of both sides, for one query that both have.
fn examples(run: &Run, judgements: &Judgements) -> String {
    let both = |(qid, judged)| Some((run.queries.get(qid)?.first()?, judged));
    let pair = judgements.queries.iter().find_map(both);
    let judged = pair.and_then(|(_, judged)| judged.docids().min());
    let found = output::shown(pair.map_or("", |(found, _)| &found.docid), 200);
    let judged = output::shown(judged.unwrap_or(""), 200);
    format!("do document ids agree? the run has for example {found}, the judgements {judged}")
}

/// Tests every run but the first against it.
fn compare(runs: &mut [Measured], metrics: usize) {
    let Some((first, others)) = runs.split_first_mut() else { return };
    for metric in 0..metrics {
        let baseline = &first.scores.values[metric];
        let tests: Vec<Option<f64>> = others
            .iter()
            .map(|other| statistics::paired_t_test(&other.scores.values[metric], baseline))
            .collect();
        // Runs have the same queries: either all tests are possible or none.
        let holm = statistics::holm(&tests.iter().copied().flatten().collect::<Vec<f64>>());
        for (at, other) in others.iter_mut().enumerate() {
            other.p.push(tests[at]);
            other.p_holm.push(holm.get(at).copied());
        }
    }
}
