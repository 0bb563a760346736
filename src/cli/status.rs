//! `prospect status`: what is in a store, the open plans, and what became of those before them.

use std::io::{self, Write};
use std::path::PathBuf;

use prospect_index::fetch_outcome::{FailureKind, FetchOutcome};
use prospect_index::page_store::Fetch;
use prospect_index::store::Store;
use prospect_index::words::WordOptions;
use serde::{Deserialize, Serialize};

use super::Global;
use super::output::{self, Failure};
use super::plain::stdout;
use crate::campaign::CampaignError;
use crate::campaign::history::{self, ClosedCycle};
use crate::campaign::left_out::LeftOut;
use crate::campaign::open_plans::OpenBatch;
use crate::campaign::plan_course;
use crate::campaign::sufficiency::PastSufficiency;
use crate::planner::outcome::OpenCounts;
use crate::planner::retries::WaitCounts;
use crate::planner::scope::Scope;
use crate::planner::settings::PlanSettings;
use crate::report::number::with_noun;
use crate::results::impact::{ExpectedImpact, LedTo, Quantity};
use crate::sketch::visibility::Places;
use crate::sufficiency::told::whole_line;
use crate::sufficiency::verdict::THETA;

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
    /// URLs whose fetch failed for good, or was denied.
    failed: usize,
    denied: usize,
    moved: usize,
    /// URLs that were never fetched, or whose failures may pass.
    frontier: usize,
    /// Those of them that the next plan may take, and those that it may not: what is in flight, out of the scope,
    /// another spelling of something, or waits after failed fetches.
    plannable: usize,
    in_flight: usize,
    out_of_scope: usize,
    other_spelling: usize,
    waits: WaitCounts,
    #[serde(skip)]
    left_out: LeftOut,
    cycles_closed: u32,
    /// In the order of their making.
    open_plans: Vec<OpenPlan>,
    /// Which URLs are planned, as the store has it; null for all.
    scope: serde_json::Value,
    cycles: Vec<ClosedCycle>,
    /// How well the pages answered the queries of each plan when it was made.
    sufficiency: Vec<PastSufficiency>,
    /// How words are made, if not as they are cut.
    #[serde(skip_serializing_if = "WordOptions::is_plain")]
    words: WordOptions,
}

/// An open plan, and what was reported of it so far.
#[derive(Serialize)]
struct OpenPlan {
    plan_id: String,
    #[serde(flatten)]
    counts: OpenCounts,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let status = Store::read_last(&args.store, Status::of)?;
    if global.json {
        return output::print_json(&serde_json::to_value(&status)?);
    }
    Ok(status.print(&mut stdout())?)
}

impl Status {
    fn of(store: &Store) -> Result<Self, Failure> {
        let (manifest, known) = (store.manifest(), store.known()?);
        let batches = OpenBatch::all(store, &known)?;
        // What another version wrote is told as it is, and nothing is counted by it.
        let scope = Scope::deserialize(&manifest.scope).unwrap_or_default();
        let left_out = LeftOut::of_next_plan(&known, manifest, &scope, &batches)
            .or_else(|_| LeftOut::of_next_plan(&known, manifest, &Scope::default(), &batches))
            .map_err(CampaignError::from)?;
        let mut status = Self {
            schema: "prospect.status/3",
            urls: known.urls.len(),
            pages: known.pages.len(),
            failed: 0,
            denied: 0,
            moved: 0,
            frontier: 0,
            plannable: left_out.plannable,
            in_flight: left_out.in_flight,
            out_of_scope: left_out.out_of_scope,
            other_spelling: left_out.other_spelling,
            waits: left_out.waits,
            left_out,
            cycles_closed: manifest.closed_cycles,
            open_plans: Vec::new(),
            scope: manifest.scope.clone(),
            cycles: history::closed_cycles(store, &known.pages, places(store))?,
            sufficiency: PastSufficiency::all(store)?,
            words: manifest.words.clone(),
        };
        for url in known.urls.ids() {
            match known.pages.fetch(url) {
                _ if known.pages.in_frontier(url) => status.frontier += 1,
                Fetch::Failed { status: code, .. } => match FetchOutcome::from(code) {
                    FetchOutcome::Failed(FailureKind::Denied) => status.denied += 1,
                    _ => status.failed += 1,
                },
                Fetch::Redirected { .. } => status.moved += 1,
                Fetch::Page { .. } | Fetch::Never => {}
            }
        }
        for batch in batches {
            let counts = batch.counts();
            status.open_plans.push(OpenPlan { plan_id: batch.plan.id, counts });
        }
        Ok(status)
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { urls, pages, failed, denied, moved, frontier, cycles_closed, .. } = self;
        writeln!(
            out,
            "{} known: {}, {failed} failed, {denied} denied, {moved} moved, {frontier} in the frontier; {}",
            with_noun(urls, "URL"),
            with_noun(pages, "page"),
            with_noun(cycles_closed, "closed cycle"),
        )?;
        if let Some(told) = self.left_out.held_back() {
            writeln!(out, "URLs that are not planned now: {told}")?;
        }
        if !self.scope.is_null() {
            // What another version wrote is told as it is.
            let scope = Scope::deserialize(&self.scope);
            let told = scope.map_or_else(|_| self.scope.to_string(), |scope| scope.to_string());
            writeln!(out, "{}", output::scope_line(&told))?;
        }
        if !self.words.is_plain() {
            writeln!(out, "words: {}", self.words)?;
        }
        if self.open_plans.is_empty() {
            writeln!(out, "no open plan")?;
        }
        for OpenPlan { plan_id, counts } in &self.open_plans {
            writeln!(out, "open plan {plan_id}: {counts}")?;
        }
        if let Some(last) = self.sufficiency.last() {
            let (line, plan) = (whole_line(&last.whole, THETA), &last.plan_id);
            writeln!(out, "when plan {plan} was made, with {} pages: {line}", last.pages)?;
        }
        if self.cycles.is_empty() { Ok(()) } else { self.print_cycles(out) }
    }

    /// The closed cycles, one a line, and what they add up to.
    fn print_cycles(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "\n{:>5}  {:<16}  {:>7}  {:>7}  {:>6}  {:>5}  {:>7}  {:>9}  {:>35}  {:>35}",
            "cycle",
            "plan",
            "planned",
            "fetched",
            "failed",
            "moved",
            "unknown",
            "unplanned",
            "impact in lists at the close",
            "of it after a quarter more",
        )?;
        for (at, cycle) in self.cycles.iter().enumerate() {
            writeln!(
                out,
                "{:>5}  {:<16}  {:>7}  {:>7}  {:>6}  {:>5}  {:>7}  {:>9}  {:>35}  {:>35}",
                at + 1,
                cycle.plan_id,
                cycle.counts.planned,
                cycle.counts.fetched,
                cycle.counts.failed,
                cycle.counts.moved,
                cycle.counts.unknown,
                cycle.unplanned,
                cell(&cycle.enters),
                cell(&cycle.stays),
            )?;
        }
        writeln!(
            out,
            "(of the picks that gave a page: expected, in brackets what holds 95 %, -> realised)"
        )?;
        // Cycles of which no new page came say nothing.
        let cycles = || self.cycles.iter().filter(|cycle| cycle.counts.new_pages() > 0);
        let enters = cycles().filter_map(|cycle| both(&cycle.enters));
        print_sums(out, "at the close", &enters.collect::<Vec<_>>())?;
        let stays = cycles().filter_map(|cycle| both(&cycle.stays));
        print_sums(out, "after a quarter more", &stays.collect::<Vec<_>>())?;
        let led_to = cycles().filter_map(|cycle| cycle.led_to);
        let led_to: Vec<_> =
            led_to.map(|LedTo { predicted, realised }| (predicted, realised)).collect();
        print_sums(out, "what their pages led to by then, above the mean page", &led_to)?;
        let again: usize = self.cycles.iter().map(|cycle| cycle.counts.again).sum();
        if again > 0 {
            let changed: usize = self.cycles.iter().map(|cycle| cycle.counts.changed).sum();
            writeln!(
                out,
                "pages that were fetched again: {again}, of which {changed} had changed"
            )?;
        }
        Ok(())
    }
}

/// What was expected and what came, in a cell.
fn cell(quantity: &Quantity) -> String {
    let expected = quantity.expected.map_or_else(
        || "not known".to_owned(),
        |ExpectedImpact { impact, low, high, .. }| format!("{impact:.1} ({low:.1} to {high:.1})"),
    );
    let realised = quantity.realised.map_or("?".to_owned(), |realised| format!("{realised:.1}"));
    format!("{expected} -> {realised}")
}

/// What was expected and what came, where both are known.
fn both(quantity: &Quantity) -> Option<(f64, f64)> {
    Some((quantity.expected?.impact, quantity.realised?))
}

/// Expected over realised of the last cycles of which both are known, as a ratio of sums.
fn print_sums(out: &mut dyn Write, when: &str, cycles: &[(f64, f64)]) -> io::Result<()> {
    let last = &cycles[cycles.len().saturating_sub(WINDOW)..];
    let expected: f64 = last.iter().map(|(expected, _)| expected).sum();
    let realised: f64 = last.iter().map(|(_, realised)| realised).sum();
    if realised > 0.0 {
        writeln!(
            out,
            "{when}, the last {}: {expected:.1} expected, {realised:.1} realised, ratio {:.2}",
            last.len(),
            expected / realised
        )?;
    }
    Ok(())
}

/// The places of lists: those of the newest open plan, or of plans where nothing else is said.
pub(super) fn places(store: &Store) -> Places {
    let open = store.manifest().plans.last();
    let settings = open.and_then(|open| plan_course::settings::<PlanSettings>(open).ok());
    settings.unwrap_or_else(|| PlanSettings::new(0)).places()
}
