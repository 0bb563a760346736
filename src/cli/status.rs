//! `prospect status`: what is in a store, the open plan, and what became of those before it.

use std::io::{self, Write};
use std::path::PathBuf;

use prospect_index::page_store::Fetch;
use prospect_index::store::{Store, StoreOptions};
use serde::Serialize;

use super::Global;
use super::output::{self, Failure};
use crate::campaign::history::{self, ClosedCycle};
use crate::campaign::{plan, records};
use crate::planner::cycle::PickState;
use crate::planner::entries::ExpectedEntries;
use crate::planner::outcome::PickCounts;
use crate::planner::settings::PlanSettings;
use crate::sketch::visibility::Places;

/// Cycles that sums are told of.
const WINDOW: usize = 5;

/// Arguments of `prospect status`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
}

/// What is in a store.
#[derive(Serialize)]
struct Status {
    schema: &'static str,
    urls: usize,
    pages: usize,
    failed: usize,
    frontier: usize,
    cycles_closed: u32,
    open_plan: Option<OpenPlan>,
    cycles: Vec<ClosedCycle>,
}

/// The open plan, and what was reported of it so far.
#[derive(Serialize)]
struct OpenPlan {
    plan_id: String,
    #[serde(flatten)]
    counts: PickCounts,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let options = StoreOptions { create: false, holder: "prospect status".to_owned() };
    let store = Store::open(&args.store, &options)?;
    let status = Status::of(&store)?;
    if global.json {
        return output::print_json(&serde_json::to_value(&status)?);
    }
    Ok(status.print(&mut std::io::stdout().lock())?)
}

impl Status {
    fn of(store: &Store) -> Result<Self, Failure> {
        let (manifest, known) = (store.manifest(), store.known()?);
        let mut status = Self {
            schema: "prospect.status/1",
            urls: known.urls.len(),
            pages: known.pages.len(),
            failed: 0,
            frontier: 0,
            cycles_closed: manifest.closed_cycles,
            open_plan: None,
            cycles: history::closed_cycles(store, places(store))?,
        };
        for url in known.urls.ids() {
            match known.pages.fetch(url) {
                Fetch::Never => status.frontier += 1,
                Fetch::Failed { .. } => status.failed += 1,
                Fetch::Page { .. } | Fetch::Redirected { .. } => {}
            }
        }
        if let Some(open) = &manifest.plan {
            let picks = records::picks(store, &open.id)?;
            let counts = picks.iter().map(|pick| PickState::of(&known.pages, pick.url)).collect();
            status.open_plan = Some(OpenPlan { plan_id: open.id.clone(), counts });
        }
        Ok(status)
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { urls, pages, failed, frontier, cycles_closed, .. } = self;
        writeln!(
            out,
            "{urls} URLs known: {pages} pages, {failed} failed, {frontier} in the frontier; {cycles_closed} \
             closed cycles"
        )?;
        match &self.open_plan {
            None => writeln!(out, "no open plan")?,
            Some(OpenPlan { plan_id, counts }) => writeln!(out, "open plan {plan_id}: {counts}")?,
        }
        if self.cycles.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "\n{:>5}  {:<16}  {:>7}  {:>7}  {:>6}  {:>5}  {:>7}  {:>9}  {:>24}  {:>9}",
            "cycle",
            "plan",
            "planned",
            "fetched",
            "failed",
            "moved",
            "unknown",
            "unplanned",
            "impact in lists expected",
            "realised",
        )?;
        for (at, cycle) in self.cycles.iter().enumerate() {
            let expected = cycle.expected_impact.map_or_else(
                || "not known".to_owned(),
                |expected| {
                    let ExpectedEntries { impact, low, high, .. } = expected;
                    format!("{impact:.1} ({low:.1} to {high:.1})")
                },
            );
            writeln!(
                out,
                "{:>5}  {:<16}  {:>7}  {:>7}  {:>6}  {:>5}  {:>7}  {:>9}  {expected:>24}  {:>9.1}",
                at + 1,
                cycle.plan_id,
                cycle.counts.planned,
                cycle.counts.fetched,
                cycle.counts.failed,
                cycle.counts.redirected,
                cycle.counts.unknown,
                cycle.unplanned,
                cycle.realised_impact,
            )?;
        }
        self.print_sums(out)
    }

    /// Expected over realised of the last cycles, as a ratio of sums.
    fn print_sums(&self, out: &mut dyn Write) -> io::Result<()> {
        let last = &self.cycles[self.cycles.len().saturating_sub(WINDOW)..];
        let known = last.iter().filter_map(|cycle| Some((cycle.expected_impact?, cycle)));
        let (mut expected, mut realised, mut count) = (0.0, 0.0, 0);
        for (of_cycle, cycle) in known {
            expected += of_cycle.impact;
            realised += cycle.realised_impact;
            count += 1;
        }
        if realised > 0.0 {
            let ratio = expected / realised;
            writeln!(
                out,
                "the last {count}: {expected:.1} expected, {realised:.1} realised, ratio {ratio:.2}"
            )?;
        }
        Ok(())
    }
}

/// The places of lists: those of the open plan, or of plans where nothing else is said.
fn places(store: &Store) -> Places {
    let open = store.manifest().plan.as_ref();
    let settings = open.and_then(|open| plan::settings::<PlanSettings>(open).ok());
    settings.unwrap_or_else(|| PlanSettings::new(0)).places()
}
