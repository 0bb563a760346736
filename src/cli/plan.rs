//! `prospect plan`: the next batch, committed to the store.

mod carried_out;

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use prospect_index::limits;
use prospect_index::manifest::InFlightFor;

use super::bounds::{self, BoundOptions};
use super::budget;
use super::model::{self, EmbeddingOptions, StoreQualityOptions};
use super::options::{OfPlan, OptionFlags};
use super::output::{self, Failure, say};
use super::plain::stdout;
use super::{Global, hints};
use crate::campaign::close::{self, Released, Which};
use crate::campaign::left_out::LeftOut;
use crate::campaign::open_plans::OpenBatch;
use crate::campaign::plan::{self, Beside};
use crate::campaign::plan_course::{made_at, open_plan};
use crate::campaign::planned::Plan;
use crate::campaign::proposal::Proposal;
use crate::campaign::reasons::Reasons;
use crate::campaign::sufficiency::signals;
use crate::campaign::{CampaignError, OpenStore};
use crate::estimate::url_parts::SiteLevel;
use crate::neural::text_vectors::EmbeddingModel;
use crate::plan::Batch;
use crate::plan::caps::Cap;
use crate::plan::export::{FORMATS, PlanFormat, PlannedBatch, PlannedUrl};
use crate::plan::off_policy::calibration::{Calibration, CalibrationBin};
use crate::plan::polite_time::{Makespan, QueueBy};
use crate::planner::budget_share::BudgetShare;
use crate::planner::choose::Choice;
use crate::planner::options::PlannerOption;
use crate::planner::outcome::CycleOutcome;
use crate::planner::revisits::{RevisitOutcome, Revisited};
use crate::planner::settings::PlanSettings;
use crate::report::number::{counted, with_noun};
use crate::report::terminal::impact::expected;
use crate::results::impact::{Both, LedTo, Quantity};
use crate::sufficiency::assess::WorkloadSufficiency;
use crate::sufficiency::told::{verdict_line, whole_line};
use crate::sufficiency::verdict::{Signals, StopReason, THETA, Verdict};
use crate::workload::{Query, Workload};

/// Queries shown per URL.
const QUERIES_SHOWN: usize = 5;

/// Arguments of `prospect plan`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The queries: TSV, CSV, JSON or TREC topics; `-` is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "scenario")]
    workload: Option<PathBuf>,
    /// Carry out a scenario of this file, as `prospect whatif` tells of it: its plan takes the place of the newest
    /// open one, whose settings and queries it changes. Options of the planner are said in the scenario.
    #[arg(long, value_name = "FILE", conflicts_with_all = not_beside_scenario())]
    scenario: Option<PathBuf>,
    /// The name of the scenario, where the file has several.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    #[command(flatten)]
    options: OptionFlags<OfPlan>,
    #[command(flatten)]
    quality: StoreQualityOptions,
    #[command(flatten)]
    embedding: EmbeddingOptions,
    /// Release an open plan first, by its id, or `all`: what was reported of it is learned from, and what is in
    /// flight may be planned again. A plan that nothing was reported of is taken back. May be given more than
    /// once.
    #[arg(long, value_name = "PLAN")]
    release: Vec<String>,
    /// How long the URLs of this plan are in flight after the last record of it, and are not planned again: so
    /// many ingests without one (3 if nothing is said), or a time such as 90s, 30m, 2h or 1d by the `fetched_at` of
    /// records.
    #[arg(long, value_name = "N|TIME", value_parser = in_flight_for)]
    in_flight_for: Option<InFlightFor>,
    /// Plan another batch beside the open one even if nothing has changed since; without it the same command
    /// gives the same plan again.
    #[arg(long)]
    another: bool,
    #[command(flatten)]
    bounds: BoundOptions,
    /// jsonl (the default), tsv, urls, scrapy, nutch, stormcrawler, urlfrontier or heritrix: `prospect formats` says
    /// more.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Where to write the plan; `-` is standard output. With `--json` and `--format` the batch goes there, and the
    /// JSON to standard output.
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

/// Arguments that a scenario takes from the plan that it changes, or says itself.
fn not_beside_scenario() -> Vec<&'static str> {
    let options = PlannerOption::all().iter().map(|option| option.name.as_str());
    options.chain(carried_out::NOT_BESIDE).collect()
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    match (&args.scenario, &args.workload) {
        (Some(file), _) => carried_out::run(file, args, global),
        // The parser leaves that to us: what a scenario excludes is here.
        (None, _) if args.name.is_some() => {
            let error = anyhow::anyhow!("--name names a scenario, and there is none");
            Err(Failure::input(error, "name the file that it is in with --scenario"))
        }
        (None, Some(workload)) => planned_for(workload, args, global),
        (None, None) => Err(Failure::ours(anyhow::anyhow!("there is no workload"))),
    }
}

/// Plans for the queries of a file.
fn planned_for(workload: &Path, args: &Args, global: &Global) -> Result<(), Failure> {
    let format = format_of(args)?;
    let (mut settings, share) = settings_of(args)?;
    let workload = bounds::workload(workload, global)?;
    args.bounds.add_queues(&mut settings)?;
    check_writable(&args.out)?;
    let quality = args.quality.load(global)?;
    let embedder = args.embedding.load(&args.quality.runtime.library, global)?;
    let mut open = OpenStore::open(&args.store, "prospect plan", limits::BOUNDS.ngram_words)?;
    bounds::asked(&open, &workload)?;
    output::say_refreshes(global, &open.refreshes);
    settings.scope = args.bounds.scope(&open, global)?;
    if !settings.scope.is_empty() {
        say(global, &output::scope_line(&settings.scope.to_string()));
    }
    let within = args.bounds.within(&mut settings, &open.known, global)?;
    let within = within.map_or_else(Vec::new, |list| list.within(&open.known));
    let closed = close_before(&mut open, args, global)?;
    if let Some(quality) = quality {
        quality.score(&mut open, global)?;
    }
    if let Some(model) = embedder {
        settings.embedding = Some(EmbeddingModel::of(model.as_ref()));
        let asked = open.asked(&workload);
        model::embed(&mut open, model, &asked, model::Others::Remove, global)?;
    }
    let beside = if args.another { Beside::All } else { Beside::Others };
    let plan = match share {
        Some(share) => {
            budget::plan(share, (&open, &workload, &within), &mut settings, beside, global)?
        }
        None => made(&open, &workload, &within, &mut settings, beside)?,
    };
    let proposal = Proposal::new(plan, &open, &workload, &settings)?;
    let Proposal { plan, sufficiency } = &proposal;
    output::say_refreshed(global, &plan.refreshed);
    output::say_rebuilt(global, "sufficiency", sufficiency.rebuilt.as_deref());
    let signals = signals(&open, &plan.as_next(), sufficiency, (THETA, &settings))?;
    let is_again = open_plan(open.store.manifest(), &plan.id).is_some();
    let is_empty = !proposal.commit(&mut open, &settings, args.in_flight_for)?;
    let left_out = LeftOut::new(&open.known, &settings.scope, &within, &plan.plannable)
        .map_err(CampaignError::from)?;
    let reasons = Reasons::of_plan(&open.known, plan, &settings);
    let (picks, in_flight) = (&plan.choice.batch.picks, &plan.plannable.in_flight);
    let (planned, makespan) = reasons.scheduled(picks, QUERIES_SHOWN, &settings, in_flight);
    say_plan(global, &open, plan, &settings, &workload, &left_out);
    let left_out = is_empty.then_some(left_out);
    let (whole, verdict) = (sufficiency.whole(THETA), signals.verdict(&StopReason::DEFAULT));
    let of_list = if settings.within.is_some() { " (of the list alone)" } else { "" };
    let line = format!("{}: {}", whole_line(&whole, THETA), verdict_line(&signals, &verdict));
    say(global, &format!("{line}{of_list}"));
    say_open(global, &open, &plan.id)?;
    say(global, &makespan_line(&makespan, &settings, (planned.len(), in_flight.len())));
    let json = global.json.then(|| {
        let mut json = as_json(plan, &settings, &planned, &makespan, &closed);
        json["sufficiency"] = sufficiency_json(&whole, &signals, &verdict);
        let revisits = &plan.promised.revisits;
        if !revisits.is_empty() {
            json["revisits_expected"] = serde_json::json!(Revisited::expected(revisits));
        }
        json["reason"] = serde_json::json!(left_out.as_ref().map(LeftOut::reason));
        json["left_out"] = serde_json::json!(left_out);
        json
    });
    let batch = PlannedBatch { plan_id: &plan.id, urls: &planned };
    write_plan(args, (format, &batch), json.as_ref(), global)?;
    match left_out {
        Some(left_out) => say_nothing_planned(&left_out, global),
        None => say_next(plan, planned.len(), is_again, args, global),
    }
    Ok(())
}

/// What the options ask for, and the budget where it is a share of the frontier.
fn settings_of(args: &Args) -> Result<(PlanSettings, Option<BudgetShare>), Failure> {
    let (settings, share) = (args.options.settings()?, args.options.budget_share()?);
    let selection = &settings.selection;
    if selection.budget == 0 && share.is_none() && selection.caps.time.seconds.is_none() {
        let error = anyhow::anyhow!("--seconds 0 lifts the limit, and there is no --budget");
        return Err(Failure::input(error, "give a --budget, or a number of seconds above 0"));
    }
    Ok((settings, share))
}

/// Closes the plans that are to be released, and those that are over.
fn close_before(
    open: &mut OpenStore,
    args: &Args,
    global: &Global,
) -> Result<Vec<CycleOutcome>, Failure> {
    let mut closed = release(open, &args.release, global)?;
    for outcome in close::close_plans(open, Which::Over, None)? {
        say_outcome(global, &outcome);
        closed.push(outcome);
    }
    Ok(closed)
}

fn say_nothing_planned(left_out: &LeftOut, global: &Global) {
    let way_out = hints::of_empty_plan(left_out.reason());
    say(global, &format!("there is nothing to plan: {}. {way_out}", left_out.told()));
}

/// What to do with a plan of so many URLs, which may be one that was made before.
fn say_next(plan: &Plan, planned: usize, is_again: bool, args: &Args, global: &Global) {
    let (id, directory) = (&plan.id, args.store.display());
    let drawn = match plan.choice.batch.drawn() {
        0 => String::new(),
        drawn => format!(", {drawn} of them drawn at random"),
    };
    if is_again {
        let again = "was made before, from the same: here it is again; --another plans the next";
        say(global, &format!("plan {id} {again}"));
    }
    say(
        global,
        &format!(
            "plan {id}: {}{drawn}. next: fetch them, then prospect ingest --store {directory} FILE…",
            counted(planned as u64, "URL")
        ),
    );
}

fn made(
    open: &OpenStore,
    workload: &Workload,
    within: &[bool],
    settings: &mut PlanSettings,
    beside: Beside,
) -> Result<Plan, Failure> {
    if settings.selection.budget == 0 {
        // What there is time for is the budget.
        settings.selection.budget = plan::largest_budget(open, workload, within, settings, beside)?;
    }
    Ok(plan::plan(open, workload, within, settings, beside)?)
}

fn sufficiency_json(
    whole: &WorkloadSufficiency,
    signals: &Signals,
    verdict: &Verdict,
) -> serde_json::Value {
    serde_json::json!({
        "theta": signals.theta,
        "workload": whole,
        "saturation": signals.saturation,
        "growth": signals.growth,
        "gain": signals.gain,
        "verdict": verdict,
    })
}

/// Which caps keep a batch from what was asked for, where they do; one that only lacks time is as large as it can be.
fn capped_line(batch: &Batch, settings: &PlanSettings) -> Option<String> {
    let (planned, budget) = (batch.picks.len(), settings.selection.budget);
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, cap) in batch.held_back.iter().filter(|(_, cap)| *cap != Cap::Time) {
        *by.entry(cap.name()).or_default() += 1;
    }
    let by: Vec<String> = by.iter().map(|(name, count)| format!("{count} by {name}")).collect();
    let told =
        || format!("{planned} of the {budget} URLs asked for: held back are {}", by.join(", "));
    (planned < budget && !by.is_empty()).then(told)
}

/// How many of the places that exploration has are as good as certain, where that is most of them: the best URLs take the
/// time of each host first.
fn undrawn_line(batch: &Batch, settings: &PlanSettings) -> Option<String> {
    let (selection, drawn) = (&settings.selection, batch.drawn());
    let wanted = (selection.explore * selection.budget.min(batch.picks.len()) as f64) as usize;
    let has_rest = batch.picks.len() < batch.frontier;
    let is_told = selection.caps.time.seconds.is_some() && has_rest && 2 * drawn < wanted;
    is_told.then(|| {
        format!(
            "of {wanted} places to be drawn {drawn} are: the time of each host goes to its best URLs first"
        )
    })
}

/// What the batch is written as.
fn format_of(args: &Args) -> Result<&'static PlanFormat, Failure> {
    args.format.as_deref().map_or(Ok(&FORMATS[0]), format_named)
}

fn format_named(name: &str) -> Result<&'static PlanFormat, Failure> {
    PlanFormat::named(name).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let error = anyhow::anyhow!("there is no plan format {name:?}");
        Failure::input(error, format!("the formats are {}", names.join(", ")))
    })
}

/// How long a plan is in flight: ingests, or a number and a unit of time.
pub(super) fn in_flight_for(given: &str) -> Result<InFlightFor, String> {
    let (number, unit) =
        given.split_at(given.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let expected =
        "expected a number of ingests, or of seconds, minutes, hours or days: 3, 90s, 30m, 2h, 1d";
    let number: u32 = number.parse().map_err(|_| expected.to_owned())?;
    let seconds = match unit {
        "" if number > 0 => return Ok(InFlightFor::Ingests(number)),
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(expected.to_owned()),
    };
    Ok(InFlightFor::Seconds(u64::from(number) * seconds))
}

/// How long it takes to fetch the batch after so many URLs that are in flight, and what would halve that.
fn makespan_line(
    makespan: &Makespan,
    settings: &PlanSettings,
    (planned, in_flight): (usize, usize),
) -> String {
    let Makespan { seconds, queue, urls, queues } = makespan;
    let time = settings.selection.caps.time;
    let delay = time.delay;
    let (what, queues) = match (time.queue_by, *queues) {
        (QueueBy::Host, count) => ("a host", counted(count as u64, "host")),
        (QueueBy::Domain, count) => ("a domain", counted(count as u64, "domain")),
        (QueueBy::Ip, 1) => ("an IP address", "1 IP address".to_owned()),
        (QueueBy::Ip, count) => ("an IP address", format!("{count} IP addresses")),
    };
    let before = match in_flight {
        0 => String::new(),
        in_flight => format!(", what is in flight first ({})", counted(in_flight as u64, "URL")),
    };
    let line = format!(
        "a crawler that waits {delay} s between two requests to {what} is through with them after {seconds} s, on {queues}{before}"
    );
    let own = time.delay_of(queue, &settings.queues);
    let own = if own == delay { String::new() } else { format!(", which has {own} s,") };
    match time.seconds {
        None if *urls > 1 && in_flight == 0 => format!(
            "{line}: {queue}{own} has {urls} of the {planned} URLs; --seconds {} halves it",
            seconds / 2.0
        ),
        _ if own.is_empty() => line,
        _ => format!("{line}; {queue}{own} is the last"),
    }
}

/// Releases the open plans that are named.
fn release(
    open: &mut OpenStore,
    plans: &[String],
    global: &Global,
) -> Result<Vec<CycleOutcome>, Failure> {
    let mut closed = Vec::new();
    if plans.is_empty() {
        return Ok(closed);
    }
    let batches = OpenBatch::all(&open.store, &open.known)?;
    let all: Vec<&str> = batches.iter().map(|batch| batch.plan.id.as_str()).collect();
    if let Some(plan) = plans.iter().find(|plan| *plan != "all" && !all.contains(&plan.as_str())) {
        let error = anyhow::anyhow!("{plan:?} is no open plan");
        let hint = match all.as_slice() {
            _ if made_at(open.store.manifest(), plan).is_some() => {
                "it is closed already: leave --release out".to_owned()
            }
            [] => "the store has no open plan: leave --release out".to_owned(),
            [one] => format!("the open plan is {one}"),
            more => format!("open plans are {}", more.join(", ")),
        };
        return Err(Failure::input(error, hint));
    }
    let is_named =
        |batch: &&OpenBatch| plans.iter().any(|plan| plan == "all" || *plan == batch.plan.id);
    for batch in batches.iter().filter(is_named) {
        let plan = &batch.plan.id;
        let told = match close::release(open, batch)? {
            Released::Closed(outcome) => {
                say_outcome(global, &outcome);
                closed.push(*outcome);
                continue;
            }
            Released::TakenBack => "is taken back: nothing was reported of it",
            Released::GivenUp => "is given up; what is stored of it stays in the store",
        };
        say(global, &format!("plan {plan} {told}"));
    }
    Ok(closed)
}

/// What is in flight of the plans that were open before, and what to do about it.
fn say_open(global: &Global, open: &OpenStore, plan: &str) -> Result<(), Failure> {
    for batch in OpenBatch::all(&open.store, &open.known)?.iter().rev() {
        let (id, counts) = (&batch.plan.id, batch.counts());
        if id == plan || counts.in_flight == 0 {
            continue;
        }
        let what = if counts.are_none() {
            "nothing was reported of it yet; `prospect ingest` what came, or plan with --release to take it back"
        } else {
            "if its crawler is through, `prospect ingest --close` ends it"
        };
        say(global, &format!("left to plan {id}, which is open: {counts}; {what}"));
    }
    Ok(())
}

/// The outcome of a cycle, for people.
pub(super) fn say_outcome(global: &Global, outcome: &CycleOutcome) {
    let CycleOutcome { plan_id, counts, unplanned, .. } = outcome;
    say(
        global,
        &format!(
            "closed plan {plan_id}: {counts}; {} not planned\n  impact of its pages \
             in the lists: {}",
            with_noun(unplanned, "page"),
            quantity_line(&outcome.enters),
        ),
    );
    if counts.unknown > 0 {
        say(
            global,
            "  what was not reported may be planned again; records of it that come late are stored, and not counted here",
        );
    }
    if let Some(revisits) = &outcome.revisits {
        let RevisitOutcome { planned, fetched, changed, expected_changed, expected, realised } =
            revisits;
        let line = format!(
            "  of {} to fetch again {fetched} came: {changed} had changed, {expected_changed:.1} \
             expected; impact of what changed {realised:.1}, {expected:.1} expected",
            with_noun(planned, "page")
        );
        say(global, &line);
    }
    for cycle in &outcome.settled {
        let stays = quantity_line(&cycle.stays);
        let line = format!(
            "  the crawl has grown by a quarter since plan {} was closed; of its impact stayed: {stays}",
            cycle.plan_id
        );
        say(global, &line);
        if let Some(LedTo { predicted, realised }) = cycle.led_to {
            let line = format!(
                "  what its pages were the first to link to is worth {realised:.1} above the mean page, {predicted:.1} \
                 expected"
            );
            say(global, &line);
        }
    }
    output::say_unread(global, &outcome.unread);
    let pools =
        [("best", &outcome.greedy_calibration), ("explored", &outcome.explored_calibration)];
    for (name, found) in pools.into_iter().filter(|(_, found)| found.pairs > 0) {
        let Calibration { pairs, error, log_loss, base_log_loss, bins } = found;
        let line = format!(
            "  chance to enter the top K, {pairs} pairs of the {name}: error {error:.4}, log-loss \
             {log_loss:.4} (base rate's {base_log_loss:.4}); predicted -> realised:"
        );
        say(global, &line);
        let bin = |bin: &CalibrationBin| format!("{:.4} -> {:.4}", bin.predicted, bin.realised);
        say(global, &format!("    {}", bins.iter().map(bin).collect::<Vec<_>>().join(", ")));
    }
}

fn say_plan(
    global: &Global,
    open: &OpenStore,
    plan: &Plan,
    settings: &PlanSettings,
    workload: &Workload,
    left_out: &LeftOut,
) {
    let scored = &plan.scored;
    let frontier = plan.choice.batch.ranking.len();
    say(
        global,
        &format!(
            "{} ({} to plan for, {} needy); {}; {} to choose from; site = {}",
            with_noun(workload.queries.len(), "query"),
            plan.workload.queries.len(),
            plan.choice.needy.len(),
            with_noun(open.known.pages.len(), "page"),
            with_noun(frontier, "URL"),
            scored.site_level().map_or("", SiteLevel::name),
        ),
    );
    let asked = workload.in_words_of(&open.known.analyzer);
    let mut wordless = asked.queries.iter().filter(|query| query.words.is_empty());
    if let Some(Query { qid, .. }) = wordless.next() {
        let count = 1 + wordless.count();
        let told = format!("queries without a word to search for: {count}, the first is {qid:?}");
        say(global, &format!("{told}; nothing is planned for them"));
    }
    say(
        global,
        &format!(
            "{}; BM25 k1 {} b {}, statistics epoch {} of {}",
            output::pairs_line(scored, plan.refreshed.recomputed),
            settings.bm25.k1,
            settings.bm25.b,
            plan.epoch.number,
            with_noun(plan.statistics.documents, "page"),
        ),
    );
    if let Some(told) = left_out.held_back() {
        say(global, &format!("URLs that are left out: {told}"));
    }
    say(global, &blend_line(&plan.choice, open));
    let (planned, pages) = (plan.choice.batch.picks.len(), plan.choice.batch.expected_pages());
    if pages < planned as f64 {
        let impact = plan.expected_to_come.map_or_else(String::new, |impact| {
            format!(", which bring {impact:.1} of the impact below")
        });
        let places = usize::from(pages < 10.0);
        let told = format!("{pages:.places$} are expected to give a page{impact}");
        say(global, &format!("of {planned} URLs {told}"));
    }
    let batch = &plan.choice.batch;
    for told in capped_line(batch, settings).into_iter().chain(undrawn_line(batch, settings)) {
        say(global, &told);
    }
    let revisits = &plan.promised.revisits;
    if !revisits.is_empty() {
        let Revisited { changed, impact } = Revisited::expected(revisits);
        let again = revisits.len();
        say(
            global,
            &format!(
                "of {planned} URLs {again} are fetched again: {changed:.1} are expected to have changed, which have an \
                 impact of {impact:.1} in the lists"
            ),
        );
    }
    let told = match &plan.expected {
        Some(Both { enters, stays }) => format!(
            "impact of the batch in the lists, if all is fetched: {}\n  of it when the crawl has grown by a \
             quarter: {}",
            expected(enters),
            expected(stays)
        ),
        None => "what the batch brings is not foreseen before the first page is there".to_owned(),
    };
    say(global, &told);
}

/// What came, and what was expected.
fn quantity_line(quantity: &Quantity) -> String {
    let realised = quantity.realised.map(|realised| format!("{realised:.1} realised"));
    let expected = quantity.expected.as_ref().map(expected);
    realised.into_iter().chain(expected).collect::<Vec<_>>().join(", ")
}

/// Weights of the estimate's parts.
fn blend_line(choice: &Choice, open: &OpenStore) -> String {
    let scored = open.known.quality.iter().filter(|quality| !quality.is_nan()).count();
    let quality = match scored {
        0 => String::new(),
        1 => "; 1 page has a quality".to_owned(),
        pages => format!("; {pages} pages have a quality"),
    };
    let formula = choice.formula();
    let formula = if formula.is_empty() { "nothing" } else { formula.as_str() };
    format!("estimate = {formula}{quality}")
}

fn as_json(
    plan: &Plan,
    settings: &PlanSettings,
    planned: &[PlannedUrl],
    makespan: &Makespan,
    closed: &[CycleOutcome],
) -> serde_json::Value {
    serde_json::json!({
        "schema": "prospect.plan/3",
        "plan_id": plan.id,
        "closed": closed,
        "expected_impact": plan.expected,
        "expected_pages": plan.choice.batch.expected_pages(),
        "expected_to_come": plan.expected_to_come,
        "settings": settings,
        "epoch": plan.epoch,
        "statistics": plan.statistics,
        "improvability": plan.improvability,
        "importance": plan.choice.blended.importance,
        "quality": plan.choice.blended.quality,
        "blend": plan.choice.blended.blend,
        "site": plan.scored.site_level().map_or("", SiteLevel::name),
        "training_pairs": plan.scored.training_pairs(),
        "candidate_pairs": plan.scored.pair_count(),
        "frontier": plan.choice.batch.ranking.len(),
        "held_back": plan.choice.batch.held_back.len(),
        "in_flight": plan.plannable.in_flight.len(),
        "drawn": plan.choice.batch.drawn(),
        "revisits": plan.choice.batch.revisits(),
        "makespan": makespan,
        "urls": planned,
    })
}

/// Refuses a place that cannot be written before anything is computed. Pipes and devices are left
/// alone: opening them has effects.
fn check_writable(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(());
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let found = match path.metadata() {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => OpenOptions::new().write(true).open(path).map(drop),
        Ok(_) => Ok(()),
        Err(_) => std::fs::read_dir(directory.unwrap_or(Path::new("."))).map(drop),
    };
    found.map_err(|error| {
        let hint = "nothing was planned yet; name a file in a directory that exists and that you may write to";
        Failure::input(output::cannot_write(path, error), hint)
    })
}

/// What went wrong after the plan was made.
fn not_written(path: &Path, error: io::Error) -> Failure {
    let hint = "the plan itself is in the store: run the command again with another --out, without --another and \
                --release";
    Failure::input(output::cannot_write(path, error), hint)
}

/// Writes a batch in a format, or as JSON, or both where there is a place for each.
fn write_plan(
    args: &Args,
    (format, batch): (&PlanFormat, &PlannedBatch<'_>),
    json: Option<&serde_json::Value>,
    global: &Global,
) -> Result<(), Failure> {
    let Some(json) = json else {
        return write_out(&args.out, |out| format.write(out, batch));
    };
    match &args.format {
        Some(_) if args.out != Path::new("-") => {
            write_out(&args.out, |out| format.write(out, batch))?;
            output::print_json(json)
        }
        Some(_) => {
            let told =
                "standard output has the JSON; name a file with --out for the batch in its format";
            say(global, told);
            output::print_json(json)
        }
        None => write_out(&args.out, |out| output::write_json(out, json)),
    }
}

fn write_out(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(stdout());
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    output::write_file(path, write).map_err(|error| not_written(path, error))
}
