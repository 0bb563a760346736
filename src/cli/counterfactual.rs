//! `prospect counterfactual`: what another batch would have earned, by the outcomes of one that was
//! fetched.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::store::Store;
use prospect_index::url;

use super::Global;
use super::open;
use super::options::{self, OfPastPlan, OptionFlags};
use super::output::{self, Failure, say};
use super::plain::stdout;
use crate::campaign::logged::{self, LoggedPlan};
use crate::campaign::records;
use crate::estimate::blend::Blend;
use crate::estimate::parts::Part;
use crate::plan::SelectionSettings;
use crate::plan::caps::SoFar;
use crate::plan::off_policy::counterfactual::{Counterfactual, Estimated, counterfactual};
use crate::plan::off_policy::targets::{ORDERS, Order};
use crate::planner::options::{GivenOptions, PlannerOption};
use crate::planner::settings::PlanSettings;
use crate::report::number::with_noun;
use crate::workload::{open_text, shown};

/// Arguments of `prospect counterfactual`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// A plan that explored and whose cycle is closed; the last one if none is named.
    #[arg(long, value_name = "ID")]
    plan: Option<String>,
    /// Weights of the parts that there were when they were written in one list; what pages lead to counts for nothing.
    #[arg(
        long,
        value_name = "W,W,W,W,W",
        value_delimiter = ',',
        allow_negative_numbers = true,
        hide = true
    )]
    weights: Vec<f64>,
    /// Value this batch: URLs, one a line.
    #[arg(long, value_name = "FILE", conflicts_with = "weights")]
    urls: Option<PathBuf>,
    #[command(flatten)]
    options: OptionFlags<OfPastPlan>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let store = open::store_to_ask(&args.store, "prospect counterfactual", global)?;
    let plan = logged_plan(args, &store)?;
    let known = store.known()?;
    let batches = batches(args, &plan, &known, global)?;
    let fetched: Vec<bool> = plan.logged.iter().map(|url| url.picked).collect();
    let all = [("fetched".to_owned(), fetched)].into_iter().chain(batches);
    let found: Vec<(String, Counterfactual)> =
        all.map(|(name, batch)| (name, counterfactual(&plan.logged, &batch))).collect();
    if global.json {
        let batches =
            found.iter().map(|(name, found)| serde_json::json!({ "batch": name, "found": found }));
        return output::print_json(&serde_json::json!({
            "schema": "prospect.counterfactual/1",
            "plan_id": plan.id,
            "frontier": plan.urls.len(),
            "batches": batches.collect::<Vec<_>>(),
        }));
    }
    let out = table(&found);
    say(
        global,
        &format!(
            "plan {}: {} new URLs picked from {}; impact that other batches would have had, 95 % \
             intervals",
            plan.id,
            plan.picks(),
            plan.urls.len()
        ),
    );
    if found.iter().any(|(_, found)| found.unsupported > 0) {
        let told = "unsupported URLs could not be drawn: inverse propensity counts nothing for them, doubly robust what was \
                    expected, and no interval says how far that is off";
        say(global, told);
    }
    stdout().write_all(out.as_bytes())?;
    Ok(())
}

/// What is said where nothing of a plan is known.
const REPORTED: &str = "it takes a plan whose records came before it was closed";

/// The plan that is named, or the last of which something was reported.
fn logged_plan(args: &Args, store: &Store) -> Result<LoggedPlan, Failure> {
    let plans = records::pooled_plans(store)?;
    let last = plans.last().ok_or_else(|| none_closed(args))?;
    if let Some(given) = args.plan.as_ref().filter(|given| !plans.contains(given)) {
        let mut reported = Vec::new();
        for id in &plans {
            reported.extend(logged::plan(store, id)?.is_reported().then_some(id.as_str()));
        }
        let error = anyhow::anyhow!("there is no plan {given:?} that explored and is closed");
        let hint = match &reported[..] {
            [] => REPORTED.to_owned(),
            ids => format!("there are {}", ids.join(", ")),
        };
        return Err(Failure::input(error, hint));
    }
    let wanted = args.plan.as_ref().map_or(&plans[..], std::slice::from_ref);
    for id in wanted.iter().rev() {
        let plan = logged::plan(store, id)?;
        if plan.is_reported() {
            return Ok(plan);
        }
    }
    let id = args.plan.as_ref().unwrap_or(last);
    let error =
        anyhow::anyhow!("nothing of plan {id} was reported, so that nothing is known of it");
    Err(Failure::input(error, REPORTED))
}

fn none_closed(args: &Args) -> Failure {
    let error = anyhow::anyhow!("{}: no plan with exploration is closed", args.store.display());
    Failure::input(
        error,
        "plan with --explore above 0 by `prospect plan` (rounds of `stream` draw too few), fetch, \
         ingest, and close with the next plan or `ingest --close`",
    )
}

/// The batches that are asked for, or those that everyone may want to know of.
fn batches(
    args: &Args,
    plan: &LoggedPlan,
    known: &Known,
    global: &Global,
) -> Result<Vec<(String, Vec<bool>)>, Failure> {
    let given = weights(args)?.on(&args.options.given);
    if let Some(path) = &args.urls {
        if given.any(PlannerOption::is_weight) {
            let error = anyhow::anyhow!("--urls names a batch, and so do weights");
            return Err(Failure::input(error, "give one of them"));
        }
        let (wanted, lines) = listed(path, known)?;
        let batch: Vec<bool> = plan.urls.iter().map(|url| wanted.contains(&url.url)).collect();
        let found = batch.iter().filter(|wanted| **wanted).count();
        if found == 0 {
            let error = anyhow::anyhow!("{}: none of its URLs was in the frontier", shown(path));
            return Err(Failure::input(error, "it takes one absolute URL a line"));
        }
        let told = format!("{}: of {}", shown(path), with_noun(lines, "URL"));
        say(global, &format!("{told} {found} were in the frontier, and are valued"));
        return Ok(vec![(shown(path), batch)]);
    }
    let mut settings = PlanSettings::new(plan.picks());
    options::apply(&given, &mut settings)?;
    let selection = SelectionSettings { explore: 0.0, seed: 0, ..settings.selection };
    let fetched = plan.fetched(known);
    let so_far = SoFar { fetched: &fetched, ..SoFar::start(&known.urls) };
    if !given.any(PlannerOption::is_weight) {
        let batch = |(name, order): &(&str, Order)| {
            ((*name).to_owned(), plan.batch(order, &selection, so_far))
        };
        return Ok(ORDERS.iter().map(batch).collect());
    }
    let blend = Blend::new(settings.estimate.weights);
    let batch = plan.batch(|parts, _| blend.of(parts), &selection, so_far);
    Ok(vec![(blend.to_string(), batch)])
}

/// What `--weights` says.
fn weights(args: &Args) -> Result<GivenOptions, Failure> {
    if args.weights.is_empty() {
        return Ok(GivenOptions::default());
    }
    let parts = Part::OF_THE_PAGE;
    if args.weights.len() != parts.len() {
        let error = anyhow::anyhow!("--weights has {} numbers", args.weights.len());
        let names = parts.map(Part::name).join(", ");
        return Err(Failure::input(error, format!("give {}: of {names}", parts.len())));
    }
    let weights = parts.into_iter().zip(args.weights.iter().copied());
    let weights = weights.chain([(Part::Discovery, 0.0)]);
    Ok(GivenOptions::default().with_weights(weights))
}

fn listed(path: &std::path::Path, known: &Known) -> Result<(HashSet<UrlId>, usize), Failure> {
    let text = open_text(path)?;
    let lines: HashSet<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let id = |line: &&str| known.urls.get(&url::canonical(line).ok()?);
    Ok((lines.iter().filter_map(id).collect(), lines.len()))
}

fn table(found: &[(String, Counterfactual)]) -> String {
    let width = found.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut out = format!(
        "{:width$}  {:>7}  {:>7}  {:>10}  {:>11}  {:>10}  {:>22}  {:>22}\n",
        "batch",
        "URLs",
        "shared",
        "realised",
        "unsupported",
        "expected",
        "inverse propensity",
        "doubly robust"
    );
    for (name, found) in found {
        let value =
            |Estimated { value, half_width }: Estimated| format!("{value:.1} ± {half_width:.1}");
        out += &format!(
            "{name:width$}  {:>7}  {:>7}  {:>10.1}  {:>11}  {:>10.1}  {:>22}  {:>22}\n",
            found.urls,
            found.shared,
            found.known,
            found.unsupported,
            found.expected,
            value(found.inverse_propensity),
            value(found.doubly_robust),
        );
    }
    out
}
