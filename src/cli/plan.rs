//! `prospect plan`: the next batch, committed to the store.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use prospect_index::limits;
use prospect_index::page_store::Known;
use prospect_index::url;

use super::Global;
use super::options::PlanOptions;
use super::output::{self, Failure, say};
use crate::cycle::close::{self, CycleOutcome};
use crate::cycle::planner::{self, Plan, PlanSettings};
use crate::cycle::{OpenStore, reasons};
use crate::plan::export::{FORMATS, Format, PlannedUrl};
use crate::workload::{self, Workload, open_text};

/// Queries shown per URL.
const QUERIES_SHOWN: usize = 5;

/// Arguments of `prospect plan`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The queries: TSV, JSON lines or TREC topics; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    #[command(flatten)]
    options: PlanOptions,
    /// Plan only URLs of this list, one a line.
    #[arg(long, value_name = "FILE")]
    within: Option<PathBuf>,
    /// jsonl, tsv or urls.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: String,
    /// Where to write the plan; `-` is standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let format = format_named(&args.format)?;
    let mut settings = args.options.settings()?;
    let workload = workload::load(&args.workload)?;
    let mut open = OpenStore::open(&args.store, "prospect plan", limits::NGRAM_WORDS)?;
    output::say_refreshes(global, &open.refreshes);
    let within = match &args.within {
        Some(path) => within(path, &open.known, &mut settings)?,
        None => Vec::new(),
    };
    close_if_fetched(&mut open, global)?;
    let plan = planner::plan(&open, &workload, &within, &settings)?;
    output::say_refresh(global, "served lists", "queries scored anew", &plan.served_refresh);
    planner::commit(&mut open, &plan, &settings)?;
    let planned = reasons::planned(&open.known, &plan, &settings, QUERIES_SHOWN);
    say_plan(global, &open, &plan, &settings, &workload);
    if global.json {
        super::ingest::println_json(&as_json(&plan, &settings, &planned))?;
    } else {
        write_plan(&args.out, format, &planned)?;
    }
    let (id, directory) = (&plan.id, args.store.display());
    say(global, &format!("plan {id}: {} URLs. next: fetch them, then prospect ingest --store {directory} FILE…", planned.len()));
    Ok(())
}

fn format_named(name: &str) -> Result<&'static Format, Failure> {
    Format::named(name).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let error = anyhow::anyhow!("there is no plan format {name:?}");
        Failure::input(error, format!("the formats are {}", names.join(", ")))
    })
}

/// Which URLs may be planned; unknown ones are left out, since nothing leads to them.
fn within(path: &Path, known: &Known, settings: &mut PlanSettings) -> Result<Vec<bool>, Failure> {
    let text = open_text(path)?;
    let mut allowed = vec![false; known.urls.len()];
    for line in text.lines() {
        if let Some(id) = url::canonical(line.trim()).ok().and_then(|url| known.urls.get(&url)) {
            allowed[id.index()] = true;
        }
    }
    settings.within = Some(prospect_index::storage::Checksum::of(text.as_bytes()));
    Ok(allowed)
}

/// Closes the cycle of the open plan if anything was ingested for it.
fn close_if_fetched(open: &mut OpenStore, global: &Global) -> Result<(), Failure> {
    let manifest = open.store.manifest();
    let fetched = manifest.cycles.last().is_some_and(|cycle| cycle.first_seq < manifest.next_seq);
    if manifest.plan.is_some() && fetched {
        say_outcome(global, &close::close(open)?);
    }
    Ok(())
}

/// The outcome of a cycle, for people.
pub(super) fn say_outcome(global: &Global, outcome: &CycleOutcome) {
    let CycleOutcome { plan_id, planned, fetched, failed, unknown, unplanned, .. } = outcome;
    say(
        global,
        &format!(
            "closed plan {plan_id}: of {planned} planned {fetched} fetched, {failed} failed, \
             {unknown} not reported; {unplanned} pages not planned\n  impact of the fetched: \
             {:.1} realised, {:.1} predicted",
            outcome.realised_impact, outcome.predicted_impact
        ),
    );
    if !outcome.calibration.is_empty() {
        say(global, "  chance to enter the top K, ten bins: predicted -> realised (pairs)");
        for bin in &outcome.calibration {
            let line = format!("  {:.4} -> {:.4} ({})", bin.predicted, bin.realised, bin.pairs);
            say(global, &line);
        }
    }
}

fn say_plan(
    global: &Global,
    open: &OpenStore,
    plan: &Plan,
    settings: &PlanSettings,
    workload: &Workload,
) {
    let estimates = &plan.estimates;
    let frontier = plan.batch.ranking.len();
    say(
        global,
        &format!(
            "{} queries ({} after merging, {} needy); {} pages; {frontier} URLs in the frontier; \
             site = {}",
            workload.queries.len(),
            plan.workload.queries.len(),
            plan.needy.len(),
            open.known.pages.len(),
            estimates.site_level,
        ),
    );
    say(
        global,
        &format!(
            "{} candidate pairs; score tree: {} leaves from {} training pairs; BM25 k1 {} b {}, \
             statistics epoch {} of {} pages",
            estimates.pairs.len(),
            estimates.leaves,
            estimates.training_pairs,
            settings.bm25.k1,
            settings.bm25.b,
            plan.epoch.number,
            plan.statistics.documents,
        ),
    );
}

fn as_json(plan: &Plan, settings: &PlanSettings, planned: &[PlannedUrl]) -> serde_json::Value {
    serde_json::json!({
        "schema": "prospect.plan/1",
        "plan_id": plan.id,
        "settings": settings,
        "epoch": plan.epoch,
        "statistics": plan.statistics,
        "improvability": plan.improvability,
        "importance": plan.estimates.importance,
        "site": plan.estimates.site_level,
        "training_pairs": plan.estimates.training_pairs,
        "candidate_pairs": plan.estimates.pairs.len(),
        "frontier": plan.batch.ranking.len(),
        "held_back": plan.batch.held_back.len(),
        "urls": planned,
    })
}

fn write_plan(path: &Path, format: &Format, planned: &[PlannedUrl]) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        format.write(&mut out, planned)?;
        return Ok(out.flush()?);
    }
    let failed = |error: io::Error| {
        let context = anyhow::Error::new(error).context(format!("cannot write {}", path.display()));
        Failure::input(context, "the plan itself is in the store: run the command again with another --out")
    };
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    format.write(&mut out, planned).and_then(|()| out.flush()).map_err(failed)
}
