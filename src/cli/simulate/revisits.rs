//! `prospect simulate --changes`: which policy of re-visits keeps what is served current.

use std::io::Write;
use std::path::Path;

use prospect_index::storage::Storage;

use super::clock::is_timed;
use super::config::{self, Config};
use crate::cli::Global;
use crate::cli::output::{self, Failure, say};
use crate::cli::plain::stdout;
use crate::cli::queries;
use crate::planner::settings::PlanSettings;
use crate::policy::amount::Amount;
use crate::simulate::added::AddedPages;
use crate::simulate::collection::{Collection, Outside};
use crate::simulate::load::{self, Keep, PagePlace};
use crate::simulate::revisits::{
    self, PageChanges, REVISIT_POLICIES, RevisitFigures, RevisitPolicy, RevisitResult,
    RevisitSettings,
};
use crate::workload::open_text;

/// Where work in progress is kept, below the output.
const WORK: &str = "work";

pub(super) fn run(
    file: &Path,
    config: &Config,
    plan: &PlanSettings,
    out: &Path,
    global: &Global,
) -> Result<(), Failure> {
    if is_timed(config) {
        let error =
            anyhow::anyhow!("delays and seconds are of crawls, and this simulates re-visits");
        return Err(Failure::input(
            error,
            "days are its time: give --batch for how many pages a day",
        ));
    }
    let policies = policies(config)?;
    let given = config.batch.first().map_or("1%", |first| first.trim());
    let a_day = Amount::parse(given).ok_or_else(|| {
        let error =
            anyhow::anyhow!("batch is {given:?}; a number of pages or a share was expected");
        Failure::input(error, "with --changes it is how many pages are visited a day: --batch 1%")
    })?;
    let Some(file_of_queries) = &config.workload else {
        let error = anyhow::anyhow!("re-visits serve queries, and there are none");
        return Err(Failure::input(error, "give them with --workload FILE"));
    };
    let workload = queries::load(Path::new(file_of_queries), global)?;
    let text = open_text(file)?;
    let storage = Storage::create(out)?;
    let collection = collection(config, &storage)?;
    let workload = workload.into_words_of(collection.text.analyzer()).for_planning();
    let changes = PageChanges::parse(&text, &collection).map_err(|(line, what)| {
        let error = anyhow::anyhow!("{}:{line}: {what}", file.display());
        Failure::input(
            error,
            "a file of changes has a line for each page and day on which it changed",
        )
    })?;
    if changes.pages() == 0 {
        let error = anyhow::anyhow!("{}: no page of the collection is in it", file.display());
        return Err(Failure::input(error, "its URLs have to be those of --corpus"));
    }
    say(
        global,
        &format!(
            "{} of {} pages have a history; {} lines are of other URLs",
            changes.pages(),
            collection.pages,
            changes.elsewhere
        ),
    );
    let settings = RevisitSettings { a_day, bm25: plan.bm25, places: plan.places() };
    let told = |result: &RevisitResult| {
        say(global, &format!("{}: {:.4} current", result.policy, result.current));
    };
    let figures = revisits::run(&collection, &workload, &changes, &policies, &settings, told)?;
    storage.remove(WORK)?;
    storage.write("revisits.json", &serde_json::to_vec_pretty(&figures)?)?;
    storage.write("revisits.csv", csv(&figures).as_bytes())?;
    if global.json {
        return output::print_json(&serde_json::to_value(&figures)?);
    }
    Ok(stdout().write_all(table(&figures).as_bytes())?)
}

fn policies(config: &Config) -> Result<Vec<RevisitPolicy>, Failure> {
    if config.policy.is_empty() || config.policy.iter().any(|name| name == "all") {
        return Ok(REVISIT_POLICIES.to_vec());
    }
    config.policy.iter().map(|name| policy(name)).collect()
}

fn policy(name: &str) -> Result<RevisitPolicy, Failure> {
    let found = REVISIT_POLICIES.iter().find(|policy| policy.name == name.trim());
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = REVISIT_POLICIES.iter().map(|policy| policy.name).collect();
        let error = anyhow::anyhow!("there is no policy of re-visits {name:?}");
        Failure::input(error, format!("with --changes there are {}", names.join(", ")))
    })
}

fn collection(config: &Config, storage: &Storage) -> Result<Collection, Failure> {
    let place = PagePlace::below(&storage.path(WORK), Keep::default(), &config.words());
    let added = AddedPages::default();
    if let Some(store) = &config.store {
        let store = Path::new(store);
        return Ok(load::from_store(store, "prospect simulate", &place, Outside::Drop, &added)?);
    }
    if config.corpus.is_empty() {
        let error = anyhow::anyhow!("there is no page to visit");
        return Err(Failure::input(error, "name pages with --corpus FILE, or --store DIR"));
    }
    let options = config.source()?;
    let paths = config::paths(&config.corpus);
    Ok(load::from_corpus(&paths, &options, &place, Outside::Drop, &added, |_, _| {})?.0)
}

/// By day: the share of each policy.
fn csv(figures: &RevisitFigures) -> String {
    let names: Vec<&str> = figures.policies.iter().map(|result| result.policy.as_str()).collect();
    let mut csv = format!("day,{}\n", names.join(","));
    for (at, day) in (figures.days[0]..figures.days[1]).enumerate() {
        let shares = figures.policies.iter().map(|result| format!("{:.6}", result.by_day[at]));
        csv += &format!("{day},{}\n", shares.collect::<Vec<_>>().join(","));
    }
    csv
}

fn table(figures: &RevisitFigures) -> String {
    let RevisitFigures { days, pages, changes, .. } = figures;
    let mut text = format!(
        "{pages} pages that changed {changes} times in {} days; share of served places whose page is stored as it is\n\n",
        days[1] - days[0]
    );
    text += &format!(
        "{:<12} {:>8} {:>10} {:>9} {:>9}  behind prospect\n",
        "policy", "current", "of oracle", "visits", "changed"
    );
    for result in &figures.policies {
        let of_oracle = result.of_oracle.map_or(String::new(), |share| format!("{share:.4}"));
        let behind = result.behind_prospect.map_or(String::new(), |[mean, low, high]| {
            format!("{mean:+.4} ({low:+.4} to {high:+.4})")
        });
        let RevisitResult { policy, current, visits, changed, .. } = result;
        text += &format!(
            "{policy:<12} {current:>8.4} {of_oracle:>10} {visits:>9} {changed:>9}  {behind}\n"
        );
    }
    for result in &figures.policies {
        let found = REVISIT_POLICIES.iter().find(|policy| policy.name == result.policy);
        text += &format!("\n{}: {}", result.policy, found.map_or("", |found| found.description));
    }
    text + "\n"
}
