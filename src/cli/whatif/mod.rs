//! `prospect whatif`: plans under other queries, weights, budgets, caps and hosts, set beside the plan
//! of today, without touching it.

pub(super) mod flags;
pub(super) mod scenarios;

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::model::{EmbeddingOptions, LibraryOptions, embed_for};
use super::output::{self, Failure, say};
use super::{Global, bounds, open, queries};
use crate::campaign::questions::Questions;
use crate::campaign::whatif_base::open_plan;
use crate::campaign::{CampaignError, OpenStore};
use crate::cli::plain::stdout;
use crate::neural::Device;
use crate::neural::text_vectors::EmbeddingModel;
use crate::planner::settings::PlanSettings;
use crate::report::number::with_noun;
use crate::report::{html, terminal};
use crate::whatif::scenario::{Scenario, Scenarios};
use flags::ScenarioFlags;

/// URLs to plan where no plan and no scenario says how many.
const BUDGET: usize = 1000;

/// Which store is asked, and for which queries.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct StoreArgs {
    /// The store.
    #[arg(long, value_name = "DIR")]
    pub(super) store: PathBuf,
    /// The queries; those of the open plan if this is not given.
    #[arg(long, value_name = "FILE")]
    pub(super) workload: Option<PathBuf>,
    #[command(flatten)]
    pub(super) embedding: EmbeddingOptions,
    #[command(flatten)]
    pub(super) library: LibraryOptions,
}

impl StoreArgs {
    /// What carries out a scenario of a file on the same, as a shell takes it; `--scenario` is to come.
    pub(super) fn plan_command(&self) -> String {
        let paths = [
            ("--store", Some(&self.store)),
            ("--workload", self.workload.as_ref()),
            ("--embedding-model", self.embedding.embedding_model.as_ref()),
            ("--onnxruntime", self.library.onnxruntime.as_ref()),
        ];
        let given = paths.into_iter().filter_map(|(flag, path)| Some((flag, path?)));
        let words = given.map(|(flag, path)| format!(" {flag} {}", output::shell_word(path)));
        let mut command = format!("prospect plan{}", words.collect::<String>());
        if self.library.device != Device::Cpu {
            let _ = write!(command, " --device {}", self.library.device);
        }
        command
    }
}

/// Arguments of `prospect whatif`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    store: StoreArgs,
    /// Scenarios: a TOML file with a table `[[scenario]]` for each, and `[base]` for what they share.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    flags: ScenarioFlags,
    /// Write a report with charts to this file, which needs no other.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let own = args.flags.scenario()?;
    let wanted = args.flags.name.as_deref().filter(|_| own.is_none());
    let mut given = match &args.scenario {
        Some(path) if wanted.is_some() => {
            let (base, one) = scenarios::one(path, wanted)?;
            Scenarios { base, scenario: vec![one] }
        }
        Some(path) => scenarios::load(path)?,
        None => Scenarios::default(),
    };
    let from_file = given.scenario.len();
    if let Some(mut own) = own {
        scenarios::resolve(&mut own, Path::new(""))?;
        given.scenario.push(own);
    }
    if given.scenario.is_empty() {
        let error = anyhow::anyhow!("nothing is asked");
        return Err(Failure::input(
            error,
            "say what is different: --budget 500, --add \"new topic=50\", or --scenario FILE with \
             [[scenario]] tables",
        ));
    }
    scenarios::name(&mut given.scenario)?;
    let questions = questions(&args.store, given.base, (open::to_ask, "prospect whatif"), global)?;
    let count = given.scenario.len();
    if given.scenario.iter().any(|scenario| questions.is_slow(scenario)) {
        say(global, "other lists or another rule of matching: all pairs are estimated again");
    }
    let mut at = 0;
    let found = questions.whatif(&given.scenario, &mut |done| {
        at += 1;
        if done.slow {
            say(global, &format!("{at} of {count}: {}", done.name));
        }
    });
    let found = found.map_err(|error| match &args.scenario {
        Some(path) if at < from_file => {
            Failure::from(error).at(scenarios::place(path, &given.scenario[at]))
        }
        _ => error.into(),
    })?;
    if let Some(path) = &args.html {
        let page = html::whatif::page(&found)?;
        output::write_file(path, |out| out.write_all(page.as_bytes()))
            .map_err(|error| output::not_written(path, error))?;
        say(global, &format!("report: {}; open it in a browser", path.display()));
    }
    if global.json {
        return output::print_json(&serde_json::to_value(&found)?);
    }
    stdout().write_all(terminal::whatif::tables(&found).as_bytes())?;
    if let Some(path) = &args.scenario {
        let (command, path) = (args.store.plan_command(), output::shell_word(path));
        let name = match wanted {
            Some(name) => format!(" --name {}", output::shell_word(Path::new(name))),
            None if count > 1 => " --name NAME".to_owned(),
            None => String::new(),
        };
        say(global, &format!("to carry one out: {command} --scenario {path}{name}"));
    }
    Ok(())
}

/// How a store is opened for a command of this name.
pub(super) type Opening = fn(&Path, &str, &Global) -> Result<OpenStore, Failure>;

/// Opens a store and makes its pairs: the settings and the queries are those of the open plan, or the
/// defaults and the workload that is named.
pub(super) fn questions(
    args: &StoreArgs,
    shared: Scenario,
    (open, holder): (Opening, &str),
    global: &Global,
) -> Result<Questions, Failure> {
    let named = args.workload.as_deref().map(|path| queries::load(path, global)).transpose()?;
    let embedder = args.embedding.load(&args.library, global)?;
    let mut open = open(&args.store, holder, global)?;
    output::say_refreshes(global, &open.refreshes);
    let newest = open.store.manifest().plans.last().map(|plan| plan.id.clone());
    let has_plan = newest.is_some();
    let is_own = named.is_none() && shared == Scenario::default();
    let (settings, workload, within) = match named {
        Some(workload) if !has_plan => {
            let mut settings = PlanSettings { scope: open.scope()?, ..PlanSettings::new(BUDGET) };
            settings.embedding = embedder.as_deref().map(EmbeddingModel::of);
            (settings, workload, Vec::new())
        }
        Some(workload) => {
            let (settings, _, within) = open_plan(&open)?;
            (settings, workload, within)
        }
        None => open_plan(&open).map_err(|error| match error {
            CampaignError::NoPlan => Failure::input(
                error,
                "make one with `prospect plan --store DIR --workload Q.tsv --budget N`, or name the \
                 queries with --workload Q.tsv",
            ),
            error => error.into(),
        })?,
    };
    bounds::say_lost_list(&settings, &within, global);
    let asked = open.asked(&workload);
    if asked.queries.is_empty() {
        let error =
            anyhow::anyhow!("none of the {} queries can be planned for", workload.queries.len());
        return Err(Failure::input(error, "a query needs a word and a frequency above 0"));
    }
    embed_for(&mut open, embedder, &settings, &asked, global)?;
    let questions = Questions::new(open, &workload, within, &settings, shared)?;
    let (state, whatif_base) = (questions.state(), &questions.whatif_base);
    if let Some(newest) = newest.filter(|newest| is_own && *newest != state.plan_id) {
        let line = format!(
            "the open plan {newest} is not what a plan is now: it was made under a scenario, or of what was stored \
             then; scenarios are set beside plan {}",
            state.plan_id
        );
        say(global, &line);
    }
    output::say_refreshed(global, &whatif_base.refreshed);
    say(
        global,
        &format!(
            "{}, {}, {}; {}",
            with_noun(state.pages, "page"),
            with_noun(state.queries, "query"),
            with_noun(questions.base_figures.frontier, "URL"),
            output::pairs_line(&whatif_base.base.scored, whatif_base.refreshed.recomputed),
        ),
    );
    Ok(questions)
}
