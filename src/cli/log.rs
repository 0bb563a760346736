//! `prospect log`: the plans of a store, one a line, the oldest first.

use std::io::{self, Write};
use std::path::PathBuf;

use prospect_index::store::Store;
use serde::Serialize;

use super::output::{self, Failure, say};
use super::plain::stdout;
use super::{Global, status};
use crate::campaign::history::{self, ClosedCycle};
use crate::campaign::open_plans::OpenBatch;
use crate::campaign::plan_course;
use crate::planner::outcome::PickCounts;
use crate::planner::settings::PlanSettings;
use crate::results::impact::Quantity;

/// Arguments of `prospect log`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
}

/// A plan, and what became of it.
#[derive(Serialize)]
struct Logged {
    /// Counted from 1; none of a plan that is open.
    cycle: Option<usize>,
    #[serde(flatten)]
    plan: ClosedCycle,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let plans = Store::read_last(&args.store, plans)?;
    if global.json {
        let json = serde_json::json!({ "schema": "prospect.log/1", "plans": plans });
        return output::print_json(&json);
    }
    if plans.is_empty() {
        let next = "next: prospect plan --store";
        let line = format!(
            "no plan was made yet; {next} {} --workload Q.tsv --budget 1000",
            args.store.display()
        );
        say(global, &line);
        return Ok(());
    }
    Ok(print(&plans, &mut stdout())?)
}

/// Closed cycles, then open plans, each in the order of their making.
fn plans(store: &Store) -> Result<Vec<Logged>, Failure> {
    let known = store.known()?;
    let closed = history::closed_cycles(store, &known.pages, status::places(store))?;
    let closed = closed.into_iter().zip(1..);
    let mut plans: Vec<Logged> =
        closed.map(|(plan, cycle)| Logged { cycle: Some(cycle), plan }).collect();
    for batch in OpenBatch::all(store, &known)? {
        let counts: PickCounts = batch.states.iter().copied().collect();
        let mut logged = ClosedCycle::default();
        let settings = plan_course::settings::<PlanSettings>(&batch.plan).ok();
        if let Some(settings) = settings {
            let places = settings.places();
            let expected = history::expected_of_open(store, &known.pages, &batch, places)?;
            logged.enters.expected = expected.map(|both| both.enters);
            logged.stays.expected = expected.map(|both| both.stays);
        }
        (logged.plan_id, logged.counts) = (batch.plan.id, counts);
        plans.push(Logged { cycle: None, plan: logged });
    }
    Ok(plans)
}

fn print(plans: &[Logged], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:>5}  {:<16}  {:>7}  {:>7}  {:>6}  {:>5}  {:>7}  {:>9}  {:>8}",
        "cycle",
        "plan",
        "planned",
        "fetched",
        "failed",
        "moved",
        "unknown",
        "predicted",
        "realised",
    )?;
    for Logged { cycle, plan: ClosedCycle { plan_id, counts, enters, .. } } in plans {
        let PickCounts { planned, fetched, failed, moved, unknown, .. } = counts;
        let cycle = cycle.map_or("open".to_owned(), |cycle| cycle.to_string());
        let Quantity { expected, realised } = enters;
        let impact = |impact: Option<f64>| impact.map_or("?".to_owned(), |it| format!("{it:.1}"));
        let predicted = impact(expected.as_ref().map(|expected| expected.impact));
        let realised = impact(*realised);
        writeln!(
            out,
            "{cycle:>5}  {plan_id:<16}  {planned:>7}  {fetched:>7}  {failed:>6}  {moved:>5}  {unknown:>7}  \
             {predicted:>9}  {realised:>8}"
        )?;
    }
    writeln!(
        out,
        "(impact in lists at the close; predicted of the picks that gave a page, for an open plan of all of its picks)"
    )
}
