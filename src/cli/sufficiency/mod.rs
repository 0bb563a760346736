//! `prospect sufficiency`: how well the pages of a store answer a workload, and whether they are enough.

mod html;
mod language_model;
mod print;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prospect_index::limits;
use serde_json::json;

use self::language_model::{Asked, LlmArgs, Opinion};
use self::print::Printed;
use crate::campaign::assessment::{Assessment, Decision};
use crate::campaign::knowledge::{self, Exported};
use crate::campaign::plan::{self, Beside, Plan};
use crate::campaign::sufficiency::{StoreSufficiency, compatible};
use crate::campaign::{CampaignError, OpenStore};
use crate::cli::Global;
use crate::cli::options::{OfScenario, OptionFlags, apply};
use crate::cli::output::{self, Failure, say};
use crate::planner::settings::PlanSettings;
use crate::report::number::counted;
use crate::sufficiency::validation::Variants;
use crate::sufficiency::verdict::{StopReason, THETA, Verdict};
use crate::workload::{self, Query, Workload};

/// URLs of the batch that is judged where no plan says how many.
const BUDGET: usize = 100;
/// Queries that are listed.
const SHOWN: usize = 10;

/// Arguments of `prospect sufficiency`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The queries: TSV, JSON lines or TREC topics; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    /// Sufficiency that is enough, of a query and of the workload.
    #[arg(long, value_name = "X", default_value_t = THETA)]
    theta: f64,
    /// How it is computed: as the source's `document` has it, or as its shipped code does (`compatible`), whose
    /// confidence knows no classes.
    #[arg(long, value_name = "NAME", default_value = "document", value_parser = ["document", "compatible"])]
    definition: String,
    /// Queries to list, those first that lack most.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    show: usize,
    /// Reasons that stop the crawl: exhausted, sufficient, settled, no-gain, saturated.
    #[arg(long, value_name = "REASONS", value_delimiter = ',', default_value = "exhausted,sufficient,settled",
        value_parser = reason)]
    stop_on: Vec<StopReason>,
    /// Compare with wordings of the queries that are not planned for: a file of `qid<TAB>wording`, or `words` for the
    /// queries without one of their words, or `llm` for those that a language model gives. A fifth of them is held out.
    #[arg(long, value_name = "FILE|words|llm")]
    variants: Option<PathBuf>,
    /// Write the workload with the variants that are not held out, to plan for.
    #[arg(long, value_name = "FILE", requires = "variants")]
    planned_out: Option<PathBuf>,
    /// Write the pages of the store, with their links, as JSON lines that `prospect ingest` takes in.
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Write a page with charts to this file, which needs no other: the verdict, the cycles, and the 1,000 queries that
    /// lack most.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write this file if the verdict is to stop, and remove it if it is to go on.
    #[arg(long, value_name = "FILE")]
    stop_file: Option<PathBuf>,
    #[command(flatten)]
    llm: LlmArgs,
    #[command(flatten)]
    options: OptionFlags<OfScenario>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if !(args.theta > 0.0 && args.theta <= 1.0) {
        let error = anyhow::anyhow!("theta is {}", args.theta);
        return Err(Failure::input(error, "it lies above 0 and is at most 1: --theta 0.7"));
    }
    let workload = workload::load(&args.workload)?;
    if workload.for_planning().queries.is_empty() {
        let (file, count) = (workload::shown(&args.workload), workload.queries.len());
        let error = anyhow::anyhow!("{file}: none of the {count} queries can be assessed");
        return Err(Failure::input(error, "a query needs a word and a frequency above 0"));
    }
    if args.html.is_some() && args.definition == "compatible" {
        let error = anyhow::anyhow!("there is no page of the definition compatible");
        return Err(Failure::input(error, "leave --html or --definition out"));
    }
    let open = OpenStore::open(&args.store, "prospect sufficiency", limits::NGRAM_WORDS)?;
    output::say_refreshes(global, &open.refreshes);
    if let Some(path) = &args.export {
        export(&open, path, global)?;
    }
    let mut model = args.llm.model()?;
    let (found, plan) = assess(&open, &workload, args, model.as_mut())?;
    let opinions = match &mut model {
        Some(model) => opinions(&open, &found, &plan, args.show, model)?,
        None => BTreeMap::new(),
    };
    if let Some(model) = &model {
        model.tell(global);
    }
    output::say_rebuilt(global, "sufficiency", found.sufficiency.rebuilt.as_deref());
    let decision = found.decide(args.theta, &args.stop_on);
    if let Some(path) = &args.stop_file {
        write_stop(path, &decision.verdict)?;
    }
    if args.definition == "compatible" {
        let (answers, drawn) = compatible(&open, &found.sufficiency.queries)?;
        return print::compatible(&found.sufficiency, &answers, drawn, global);
    }
    if let Some(path) = &args.html {
        html::write(path, &decision, global)?;
    }
    if global.json {
        return output::print_json(&as_json(&decision, &opinions)?);
    }
    Ok(Printed { decision, opinions, show: args.show }.print(&mut io::stdout().lock())?)
}

fn reason(given: &str) -> Result<StopReason, String> {
    let named = StopReason::ALL.into_iter().find(|reason| reason.name() == given);
    named.ok_or_else(|| {
        format!("the reasons are {}", StopReason::ALL.map(StopReason::name).join(", "))
    })
}

/// What is found of a store and a workload, with the batch that would be next.
fn assess(
    open: &OpenStore,
    workload: &Workload,
    args: &Args,
    model: Option<&mut Asked>,
) -> Result<(Assessment, Plan), Failure> {
    let manifest = open.store.manifest();
    let newest = manifest.newest_plan();
    let mut settings = newest
        .and_then(|newest| plan::settings::<PlanSettings>(newest).ok())
        .unwrap_or_else(|| PlanSettings::new(BUDGET));
    (settings.within, settings.embedding) = (None, None);
    settings.scope = open.scope()?;
    apply(&args.options.given, &mut settings)?;
    let mut sufficiency = StoreSufficiency::new(open, workload, settings.bm25)?;
    let validation = match &args.variants {
        Some(path) => {
            let merged = workload.for_planning();
            let drawn = variants(path, workload, &merged, model)?;
            if let Some(path) = &args.planned_out {
                write_workload(path, &Variants::planned(&drawn, &merged))?;
            }
            sufficiency.validate(open, &merged, &drawn, settings.bm25)?
        }
        None => None,
    };
    let plan = plan::plan(open, workload, &[], &settings, Beside::All)?;
    let found = Assessment::new(open, sufficiency, validation, &plan.as_next(), &settings)?;
    Ok((found, plan))
}

/// What a model says of the queries that lack most, by place.
fn opinions(
    open: &OpenStore,
    found: &Assessment,
    plan: &Plan,
    most: usize,
    model: &mut Asked,
) -> Result<BTreeMap<usize, Opinion>, Failure> {
    let planned = found.sufficiency.queries.places_of(&plan.workload.queries);
    let mut place_in_plan: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, place) in planned.into_iter().enumerate() {
        if let Some(place) = place {
            place_in_plan.entry(place).or_insert(at);
        }
    }
    let mut places = found.by_lack();
    places.truncate(most);
    places.retain(|place| place_in_plan.contains_key(place));
    let asked: Vec<usize> = places.iter().map(|place| place_in_plan[place]).collect();
    let opinions = model.opinions(open, plan, &asked)?;
    let given = places.into_iter().zip(opinions);
    Ok(given.filter_map(|(at, opinion)| Some((at, opinion?))).collect())
}

/// All of it, with what a model says.
fn as_json(
    decision: &Decision<'_>,
    opinions: &BTreeMap<usize, Opinion>,
) -> Result<serde_json::Value, Failure> {
    let view = decision.view(0..decision.of.queries().len());
    let mut json = serde_json::to_value(view).map_err(CampaignError::Settings)?;
    let queries = json["queries"].as_array_mut().into_iter().flatten();
    for (at, query) in queries.enumerate() {
        query["language_model"] = json!(opinions.get(&at));
    }
    Ok(json)
}

/// Wordings of the queries of a workload by a file, or by leaving out words, a fifth of them held out.
fn variants(
    given: &Path,
    workload: &Workload,
    merged: &Workload,
    model: Option<&mut Asked>,
) -> Result<Vec<Variants>, Failure> {
    let wordings = if given == Path::new("words") {
        Variants::without_a_word(merged)
    } else if given == Path::new("llm") {
        let Some(model) = model else {
            let error = anyhow::anyhow!("no language model is named");
            return Err(Failure::input(
                error,
                "--variants llm goes with --llm-url and --llm-model",
            ));
        };
        let mut places: Vec<usize> = (0..merged.queries.len()).collect();
        let asked = |at: &usize| merged.queries[*at].frequency;
        places.sort_by(|a, b| asked(b).total_cmp(&asked(a)).then(a.cmp(b)));
        model.wordings(merged, &places)
    } else {
        workload::wordings(given, workload, merged)?
    };
    let drawn = Variants::draw(merged, &wordings);
    if drawn.is_empty() {
        let error = anyhow::anyhow!("{}: no query has two variants", given.display());
        let hint = "a variant is a line `qid<TAB>wording` with other words than the query; of `words`, a query has as many \
                    as it has words, if those are three or more";
        return Err(Failure::input(error, hint));
    }
    Ok(drawn)
}

fn write_workload(path: &Path, workload: &Workload) -> Result<(), Failure> {
    let mut text = String::new();
    for Query { qid, text: query, frequency, kind, .. } in &workload.queries {
        let line = json!({ "qid": qid, "query": query, "frequency": frequency, "kind": kind });
        text += &format!("{line}\n");
    }
    output::write_file(path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| output::not_written(path, error))
}

/// Writes what the store knows.
fn export(open: &OpenStore, path: &Path, global: &Global) -> Result<(), Failure> {
    let failed = |error| output::not_written(path, error);
    let mut out = io::BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    let exported = knowledge::export(open, |record| {
        serde_json::to_writer(&mut out, record)?;
        out.write_all(b"\n")
    })?;
    let Exported { pages, failed: failures, unnamed } = exported.map_err(failed)?;
    out.flush().map_err(failed)?;
    let mut line = format!(
        "{}: {} and {} that gave none",
        path.display(),
        counted(pages as u64, "page"),
        counted(failures as u64, "URL")
    );
    if unnamed > 0 {
        line +=
            &format!("; {} that no page links to are not in it", counted(unnamed as u64, "URL"));
    }
    say(global, &line);
    Ok(())
}

/// Leaves a file where the verdict is to stop, and none where it is not.
fn write_stop(path: &Path, verdict: &Verdict) -> Result<(), Failure> {
    let done = if verdict.stop {
        output::write_file(path, |out| {
            serde_json::to_writer(&mut *out, verdict)?;
            out.write_all(b"\n")
        })
    } else {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    };
    done.map_err(|error| output::not_written(path, error))
}
