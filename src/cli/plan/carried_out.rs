//! `prospect plan --scenario`: what `prospect whatif` tells of a scenario is carried out. Its plan takes the place of
//! the newest open one, on whose settings and queries it stands.

use std::path::Path;

use serde_json::json;

use super::{
    Args, PlannedBatch, QUERIES_SHOWN, check_writable, format_of, makespan_line, write_plan,
};
use crate::cli::Global;
use crate::cli::open;
use crate::cli::output::{Failure, say};
use crate::cli::whatif::{StoreArgs, questions, scenarios};
use crate::report::number::with_noun;
use crate::report::terminal::impact::expected;
use crate::results::whatif::ScenarioFigures;

/// What it prints as JSON.
const SCHEMA: &str = "prospect.plan-of-scenario/1";

/// Arguments that belong to the plan that a scenario changes.
pub(super) const NOT_BESIDE: [&str; 14] = [
    "release",
    "in_flight_for",
    "another",
    "within",
    "include",
    "exclude",
    "types",
    "hosts",
    "domains",
    "delays",
    "addresses",
    "robots",
    "agent",
    "quality_model",
];

pub(super) fn run(file: &Path, args: &Args, global: &Global) -> Result<(), Failure> {
    let format = format_of(args)?;
    let (shared, scenario) = scenarios::one(file, args.name.as_deref())?;
    check_writable(&args.out)?;
    let store = StoreArgs {
        store: args.store.clone(),
        workload: args.workload.clone(),
        embedding: args.embedding.clone(),
        library: args.quality.runtime.library.clone(),
    };
    let mut questions = questions(&store, shared, (open::to_change, "prospect plan"), global)?;
    let old = questions.open.store.manifest().plans.last().map(|plan| plan.id.clone());
    let answered = questions
        .answer(&scenario)
        .map_err(|error| Failure::from(error).at(scenarios::place(file, &scenario)))?;
    let figures = questions.figures_of(&scenario, &answered);
    let (planned, makespan) = questions.planned(&answered.answer, QUERIES_SHOWN);
    let id = questions.id_of(&answered)?;
    if !planned.is_empty() {
        questions.commit(&answered)?;
    }
    say_figures(&figures, global);
    let counts = (planned.len(), answered.answer.in_flight.len());
    say(global, &makespan_line(&makespan, &answered.answer.settings, counts));
    let json = global.json.then(|| {
        json!({
            "schema": SCHEMA,
            "plan_id": (!planned.is_empty()).then_some(&id),
            "scenario": figures,
            "makespan": makespan,
            "urls": planned,
        })
    });
    let batch = PlannedBatch { plan_id: &id, urls: &planned };
    write_plan(args, (format, &batch), json.as_ref(), global)?;
    let (count, directory) = (planned.len(), args.store.display());
    let instead = match old.filter(|old| *old != id) {
        Some(old) => format!(", in the place of plan {old}"),
        None => String::new(),
    };
    let told = if planned.is_empty() {
        "there is nothing to plan under this scenario; the store stays as it was".to_owned()
    } else {
        format!(
            "plan {id}: {}{instead}. next: fetch them, then prospect ingest --store {directory} FILE…",
            with_noun(count, "URL")
        )
    };
    say(global, &told);
    Ok(())
}

/// What the scenario is expected to bring, and what it changes.
fn say_figures(figures: &ScenarioFigures, global: &Global) {
    let ScenarioFigures { name, plan, difference, .. } = figures;
    let impact = expected(&plan.expected_impact.enters);
    say(global, &format!("{name}: impact of the batch in the lists, if all is fetched: {impact}"));
    let (stay, enter, leave) =
        (difference.kept, difference.entering_count, difference.leaving_count);
    say(
        global,
        &format!("  against the plan without it {stay} stay, {enter} enter, {leave} leave"),
    );
}
