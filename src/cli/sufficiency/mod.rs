//! `prospect sufficiency`: how well the pages of a store answer a workload, and whether they are enough.

mod html;
mod judges;
pub(super) mod language_model;
mod print;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use prospect_index::words::Analyzer;
use serde_json::json;

use self::judges::Means;
use self::language_model::{LlmArgs, Opinion};
use self::print::Printed;
use super::export;
use crate::campaign::assessment::{Assessment, Decision};
use crate::campaign::knowledge::Exported;
use crate::campaign::plan::{self, Beside};
use crate::campaign::plan_course;
use crate::campaign::planned::Plan;
use crate::campaign::sufficiency::{StoreSufficiency, compatible};
use crate::campaign::{CampaignError, OpenStore};
use crate::cli::Global;
use crate::cli::bounds;
use crate::cli::model::{EmbeddingOptions, LibraryOptions};
use crate::cli::open;
use crate::cli::options::{OfScenario, OptionFlags, apply};
use crate::cli::output::{self, Failure, say};
use crate::cli::plain::stdout;
use crate::cli::queries;
use crate::planner::settings::PlanSettings;
use crate::report::number::counted;
use crate::sufficiency::strategy::language_model::AskedModel;
use crate::sufficiency::strategy::{Needs, STRATEGIES, StrategyKind};
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
    /// The queries: TSV, CSV, JSON or TREC topics; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    workload: PathBuf,
    /// Sufficiency that is enough, of a query and of the workload.
    #[arg(long, value_name = "X", default_value_t = THETA)]
    theta: f64,
    /// How it is computed: as the source's `document` has it, or as its shipped code does (`compatible`), whose
    /// confidence knows no classes.
    #[arg(long, value_name = "NAME", default_value = "document", value_parser = ["document", "compatible"])]
    definition: String,
    /// Who judges how well queries are answered: `statistical`, by words and scores; `best-page`, by the score of
    /// the best page; `embedding`, by nearness in meaning; `llm`, a language model's opinion.
    #[arg(long, value_name = "NAME", default_value = STRATEGIES[0].name, value_parser = strategy)]
    strategy: &'static StrategyKind,
    #[command(flatten)]
    embedding: EmbeddingOptions,
    #[command(flatten)]
    library: LibraryOptions,
    /// Queries to list, those first that lack most.
    #[arg(long, value_name = "N", default_value_t = SHOWN)]
    show: usize,
    /// Reasons that stop the crawl: exhausted, sufficient, settled, learned, no-gain, saturated.
    #[arg(long, value_name = "REASONS", value_delimiter = ',', default_value = "exhausted,sufficient,settled",
        value_parser = reason)]
    stop_on: Vec<StopReason>,
    /// Compare with wordings of the queries that are not planned for: a file of `qid<TAB>wording`, or `words` for the
    /// queries without one of their words, or `llm` for those that a language model gives. A fifth of those of each query, one at least, is held out.
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
    let workload = queries::load(&args.workload, global)?;
    if workload.for_planning().queries.is_empty() {
        let (file, count) = (workload::shown(&args.workload), workload.queries.len());
        let error = anyhow::anyhow!("{file}: none of the {count} queries can be assessed");
        return Err(Failure::input(error, "a query needs a word and a frequency above 0"));
    }
    if args.definition == "compatible" {
        refuse_beside_compatible(args)?;
    }
    let mut open = open::to_ask(&args.store, "prospect sufficiency", global)?;
    bounds::asked(&open, &workload)?;
    output::say_refreshes(global, &open.refreshes);
    if let Some(path) = &args.export {
        write_export(&open, path, global)?;
    }
    let mut model = args.llm.model()?;
    let embedder = args.embedding.load(&args.library, global)?;
    judges::check(args.strategy, args, model.is_some())?;
    let (mut found, plan, drawn) = assess(&open, &workload, args, model.as_mut(), global)?;
    let means = Means { model: model.as_mut(), embedder };
    let judged = (&mut found, &plan);
    judges::judge(args.strategy, &mut open, judged, means, (&drawn, args.show), global)?;
    let opinions = match &mut model {
        Some(model) if args.strategy.needs != Needs::LanguageModel => {
            judges::opinions(&open, (&found, &plan), args.show, model)?
        }
        _ => BTreeMap::new(),
    };
    if let Some(model) = &model {
        language_model::tell(model, global);
    }
    output::say_rebuilt(global, "sufficiency", found.sufficiency.rebuilt.as_deref());
    let decision = found.decide(args.theta, &args.stop_on);
    if let Some(path) = &args.stop_file {
        write_stop(path, &decision.verdict)?;
    }
    if args.definition == "compatible" {
        let (answers, drawn) = compatible(&open, &found.sufficiency.queries)?;
        return print::compatible(&found.sufficiency, &answers, (drawn, args.show), global);
    }
    if let Some(path) = &args.html {
        html::write(path, &decision, global)?;
    }
    if global.json {
        return output::print_json(&as_json(&decision, &opinions)?);
    }
    Ok(Printed { decision, opinions, show: args.show }.print(&mut stdout())?)
}

/// The source's code has a confidence, and neither classes nor our verdict.
fn refuse_beside_compatible(args: &Args) -> Result<(), Failure> {
    let (what, option) = match (&args.html, &args.stop_file) {
        (Some(_), _) => ("page", "--html"),
        (None, Some(_)) => ("verdict", "--stop-file"),
        (None, None) => return Ok(()),
    };
    let error = anyhow::anyhow!("there is no {what} of the definition compatible");
    Err(Failure::input(error, format!("leave {option} or --definition out")))
}

fn strategy(given: &str) -> Result<&'static StrategyKind, String> {
    let names = STRATEGIES.map(|kind| format!("{}, {}", kind.name, kind.about));
    StrategyKind::named(given).ok_or_else(|| format!("the strategies are {}", names.join("; ")))
}

fn reason(given: &str) -> Result<StopReason, String> {
    let named = StopReason::ALL.into_iter().find(|reason| reason.name() == given);
    named.ok_or_else(|| {
        format!("the reasons are {}", StopReason::ALL.map(StopReason::name).join(", "))
    })
}

/// The queries of a workload, merged, and their other wordings.
struct Drawn {
    workload: Workload,
    variants: Vec<Variants>,
}

/// What is found of a store and a workload, with the batch that would be next, and the wordings that were drawn.
fn assess(
    open: &OpenStore,
    workload: &Workload,
    args: &Args,
    model: Option<&mut AskedModel>,
    global: &Global,
) -> Result<(Assessment, Plan, Drawn), Failure> {
    let manifest = open.store.manifest();
    let newest = manifest.plans.last();
    let mut settings = newest
        .and_then(|newest| plan_course::settings::<PlanSettings>(newest).ok())
        .unwrap_or_else(|| PlanSettings::new(BUDGET));
    (settings.within, settings.embedding) = (None, None);
    settings.scope = open.scope()?;
    apply(&args.options.given, &mut settings)?;
    if !settings.has_queues() {
        return Err(bounds::no_address());
    }
    let mut sufficiency = StoreSufficiency::new(open, workload, settings.bm25)?;
    let mut drawn = Drawn { workload: open.asked(workload), variants: Vec::new() };
    let mut validation = None;
    if let Some(path) = &args.variants {
        let analyzer = &open.known.analyzer;
        let given = workload.in_words_of(analyzer);
        drawn.variants = variants(path, (&given, analyzer), &drawn.workload, model, global)?;
        let Drawn { workload, variants } = &drawn;
        if let Some(path) = &args.planned_out {
            write_workload(path, &Variants::planned(variants, workload))?;
        }
        validation = sufficiency.validate(open, workload, variants, settings.bm25)?;
    }
    let plan = plan::plan(open, workload, &[], &settings, Beside::All)?;
    let found = Assessment::new(open, sufficiency, validation, &plan.as_next(), &settings)?;
    Ok((found, plan, drawn))
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
    (workload, analyzer): (&Workload, &Analyzer),
    merged: &Workload,
    model: Option<&mut AskedModel>,
    global: &Global,
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
    let drawn = Variants::draw(merged, &wordings, analyzer);
    if drawn.is_empty() {
        let error = anyhow::anyhow!("{}: no query has two variants", given.display());
        let hint = "a variant is a line `qid<TAB>wording` with other words than the query; of `words`, a query has as many \
                    as it has words, if those are three or more";
        return Err(Failure::input(error, hint));
    }
    let some = wordings.values().filter(|of_query| !of_query.is_empty()).count();
    if some > drawn.len() {
        let queries = counted((some - drawn.len()) as u64, "query");
        let what = "with fewer than two variants of other words, of which none is held out";
        say(global, &format!("{queries} {what}"));
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
fn write_export(open: &OpenStore, path: &Path, global: &Global) -> Result<(), Failure> {
    let Exported { pages, failed: failures, unnamed } = export::pages(open, path)?;
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
