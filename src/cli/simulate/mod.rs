//! `prospect simulate`: crawls of a collection under any policy, and what came of them.

mod attacks;
mod clock;
mod config;
mod identity;
mod inputs;
mod prepare;
mod progress;
mod revisits;
mod settings;
mod single_query;

use std::io;
use std::path::{Path, PathBuf};

use prospect_index::storage::Storage;

use self::attacks::Honest;
use self::config::Config;
use self::identity::{SCORES, SUMMARY, WORK};
use self::prepare::{LoadedModels, PreparedExperiment};
use super::Global;
use super::model::RuntimeOptions;
use super::output::{self, Failure, say};
use crate::cli::plain::stdout;
use crate::evaluate::rerank::PairScores;
use crate::policy::PolicyChoice;
use crate::policy::hidden_web::WebVectors;
use crate::report::number::with_noun;
use crate::report::terminal;
use crate::results::stopping::StoppingSummary;
use crate::results::whatif::WhatIfCheck;
use crate::results::{CollectionFigures, CounterfactualCheck, SCHEMA, Summary};
use crate::simulate::collection::Collection;
use crate::simulate::experiment::{self, Crawls, Inputs, Work};
use crate::simulate::judgements::JudgedCollection;
use crate::simulate::measure::{self, Measure, QueryKind};
use crate::simulate::stopping::{self, Stopping};
use crate::simulate::sufficiency::{self, Check};
use crate::simulate::summary::{Findings, SummaryMetric};
use crate::simulate::vectors::CollectionVectors;
use crate::simulate::{artefacts, rerank, truth};
use crate::simulate::{counterfactual, limited_sketches, whatif};
use crate::workload::{Workload, open_text};

/// Arguments of `prospect simulate`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The experiment as a TOML file; its keys are the flags below without their dashes.
    #[arg(long = "config", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Where results go. A killed run goes on here.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Simulate re-visits of the collection's pages instead of a crawl: a file that says on which days they
    /// changed, `url<TAB>day` a line. --batch is how many pages are visited a day; --policy one or some of
    /// none, uniform, lambdacrawl, myopic, prospect and oracle.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    changes: Option<PathBuf>,
    #[command(flatten)]
    config: Config,
    #[command(flatten)]
    runtime: RuntimeOptions,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if let Some(changes) = &args.changes {
        let plan = settings::plan(&args.config)?;
        return revisits::run(changes, &args.config, &plan, &args.out, global);
    }
    let experiments = match &args.file {
        Some(path) => config::read(path, &open_text(path)?)?,
        None => vec![(String::new(), Config::default())],
    };
    // All are checked before the first begins, which may take hours.
    let mut models = LoadedModels::new(&args.runtime, global);
    let mut prepare = |(name, file)| {
        PreparedExperiment::new(name, config::over(&args.config, &file)?, &mut models)
    };
    let prepared: Vec<PreparedExperiment> =
        experiments.into_iter().map(&mut prepare).collect::<Result<_, _>>()?;
    let mut summaries = Vec::new();
    for experiment in prepared {
        let name = &experiment.name;
        let out = if name.is_empty() { args.out.clone() } else { args.out.join(name) };
        if !name.is_empty() {
            say(global, &format!("experiment {name}"));
        }
        let summary = one(experiment, args, &out, global)?;
        let page = if summary.single_query.is_none() { " --html report.html" } else { "" };
        say(global, &format!("next: prospect report {}{page}", out.display()));
        summaries.push(summary);
    }
    if global.json {
        let values: Vec<serde_json::Value> =
            summaries.iter().map(serde_json::to_value).collect::<Result<_, _>>()?;
        return match <[serde_json::Value; 1]>::try_from(values) {
            Ok([only]) => output::print_json(&only),
            Err(values) => output::print_json(&serde_json::Value::Array(values)),
        };
    }
    for summary in &summaries {
        let tables = terminal::tables(summary, Some("all"));
        io::Write::write_all(&mut stdout(), tables.as_bytes())?;
    }
    Ok(())
}

/// One experiment, from its settings to its files.
fn one(
    of: PreparedExperiment,
    args: &Args,
    out: &Path,
    global: &Global,
) -> Result<Summary, Failure> {
    let cache = args.runtime.cache();
    let storage = Storage::create(out)?;
    let hash = identity::hash(&of.provenance)?;
    if let Some(summary) = identity::claim(&storage, out, &of.provenance)? {
        say(global, &format!("{}: this experiment is complete", out.display()));
        return Ok(summary);
    }
    Experiment { of, cache, storage, hash, global }.carry_out()
}

/// An experiment that is not complete.
struct Experiment<'a> {
    /// What it is made of.
    of: PreparedExperiment,
    /// Where what models said is remembered.
    cache: Option<&'a Path>,
    storage: Storage,
    hash: u64,
    global: &'a Global,
}

/// Workloads and judgements.
struct Queries {
    planning: Workload,
    evaluation: Workload,
    judged: JudgedCollection,
    /// What another system says of results.
    external: PairScores,
}

impl Experiment<'_> {
    fn carry_out(&self) -> Result<Summary, Failure> {
        let collection = self.collection()?;
        let queries = self.queries(&collection)?;
        let quality = self.quality(&collection)?;
        let course = self.course(&collection)?;
        self.say_unused(&collection);
        let (bm25, places) = (self.of.settings.plan.bm25, self.of.settings.plan.places());
        let impact = truth::impact(&collection, &queries.planning, bm25, places)?;
        let strings = self.strings(&collection, WORK)?;
        let vectors = self.vectors(&collection, &queries.planning)?;
        let inputs = Inputs {
            collection: &collection,
            strings: strings.as_ref(),
            vectors: vectors.as_ref().map(CollectionVectors::web),
            planning: &queries.planning,
            quality: quality.as_deref(),
            impact: &impact,
            relevant: &queries.judged.relevant,
        };
        if self.of.settings.single_query {
            return self.finish(self.single(&inputs, &queries, &course)?);
        }
        let attacks = self.attacks(&inputs, &queries)?;
        let labels = self.of.settings.policies.iter().map(PolicyChoice::label).collect();
        let progress = progress::Policies::new(self.global, labels, self.of.settings.sets);
        let (settings, storage) = (&self.of.settings, &self.storage);
        let work = Work { storage, folder: WORK, experiment: self.hash };
        let crawls = experiment::run(&inputs, settings, course.clone(), work, &progress)?;
        let kinds =
            measure::kinds(&collection, &queries.evaluation, &queries.judged.queries, settings)?;
        let mut summary = self.summary(&inputs, &queries, &crawls, &kinds, course.fetchable)?;
        // The first kind is all queries.
        let impact = &kinds[0].impact;
        let honest = Honest { inputs: &inputs, course: &course, crawls: &crawls, impact };
        summary.manipulation = self.manipulation(&attacks, &honest)?;
        self.finish(summary)
    }

    /// Writes the summary, which says that the experiment is complete, and by whom.
    fn finish(&self, summary: Summary) -> Result<Summary, Failure> {
        let commit = Some(env!("PROSPECT_BUILT_FROM")).filter(|commit| !commit.is_empty());
        let (experiment, commit) = (self.name(), commit.map(str::to_owned));
        let summary = Summary { experiment, commit, ..summary };
        let json = serde_json::to_vec_pretty(&summary)?;
        self.storage.write(SUMMARY, &json)?;
        self.storage.remove(WORK)?;
        Ok(summary)
    }

    /// The experiment as tables name it.
    fn name(&self) -> String {
        format!("{:016x}", self.hash)
    }

    /// Tells of settings of time that leave something out, or that nothing heeds.
    fn say_unused(&self, collection: &Collection) {
        let Some(clock) = &self.of.settings.clock else { return };
        let (never, unknown) = clock.unused(collection, self.of.settings.batch.seconds());
        if never > 0 {
            let what =
                "hosts or domains have a longer delay than a batch takes, and are never asked";
            say(self.global, &format!("{never} {what}"));
        }
        if unknown > 0 {
            let what = "of the delays are of no host or domain of the collection";
            say(self.global, &format!("{unknown} {what}"));
        }
    }

    fn summary(
        &self,
        inputs: &Inputs<'_>,
        queries: &Queries,
        crawls: &Crawls,
        kinds: &[QueryKind],
        fetchable: u32,
    ) -> Result<Summary, Failure> {
        let judged = &queries.judged.queries;
        let scored;
        let mut measure = Measure {
            collection: inputs.collection,
            judged,
            reranker: &queries.external,
            kinds,
            settings: &self.of.settings,
            storage: &self.storage,
            experiment: self.hash,
        };
        if let (Some(reranker), Some(texts)) = (&self.of.reranker, &inputs.collection.texts) {
            let cache = self.storage.path(&format!("{WORK}/{SCORES}"));
            scored = reranker.score(Some(cache), self.global, |model, progress| {
                rerank::scores(&measure, crawls, model, texts, progress)
            })?;
            measure.reranker = &scored;
        }
        let measured = measure.all(crawls, &|done| {
            if done > 0 {
                say(self.global, &format!("evaluated {}", with_noun(done, "crawl")));
            }
        })?;
        let metrics = SummaryMetric::all(!judged.is_empty());
        let findings = Findings {
            inputs,
            settings: &self.of.settings,
            crawls,
            measured: &measured,
            judged,
            kinds,
            metrics: &metrics,
        };
        let mut analyses = findings.analyses();
        analyses.limited_sketches = self.limited_sketches(inputs, crawls)?;
        analyses.counterfactual = self.counterfactual(inputs, crawls)?;
        analyses.whatif = self.whatif(inputs, crawls)?;
        let baseline = findings.baseline().map(|_| self.of.settings.baseline.clone());
        let mut summary = Summary {
            schema: SCHEMA.to_owned(),
            title: self.title(),
            provenance: self.of.provenance.clone(),
            experiment: String::new(),
            commit: None,
            collection: figures(inputs, queries, kinds, fetchable),
            baseline,
            significance: self.of.settings.significance,
            checkpoints: crawls.checkpoints.clone(),
            kinds: kinds.iter().map(|kind| kind.name.clone()).collect(),
            metrics: metrics.iter().map(|metric| metric.name()).collect(),
            policies: findings.policies(),
            analyses,
            ablation: findings.ablation(fetchable),
            time: findings.time(),
            stopping: None,
            single_query: None,
            sufficiency: None,
            manipulation: None,
        };
        let planning = &queries.planning;
        let vectors = self.judge_vectors(inputs.collection, planning)?;
        let vectors = vectors.as_ref().map(CollectionVectors::web);
        summary.stopping = self.stopping(&measure, (planning, vectors), crawls, fetchable)?;
        if self.of.settings.sufficiency {
            let check = Check { measure: &measure, planning, vectors };
            summary.sufficiency = check.run(crawls, &measured, &|done| {
                say(self.global, &format!("sufficiency over {}", with_noun(done, "crawl")));
            })?;
        }
        self.write_tables(&summary, &findings, &measure)?;
        Ok(summary)
    }

    /// Writes the orders of the crawls, and what was measured of them, as files beside the summary.
    fn write_tables(
        &self,
        summary: &Summary,
        findings: &Findings<'_>,
        measure: &Measure<'_>,
    ) -> Result<(), Failure> {
        let (storage, hash, crawls) = (&self.storage, self.name(), findings.crawls);
        let policies = &self.of.settings.policies;
        artefacts::orders(storage, "order", findings.inputs.collection, policies, crawls)?;
        artefacts::curves_csv(storage, summary, &hash)?;
        if let Some(check) = &summary.sufficiency {
            sufficiency::csv(storage, check, &hash)?;
        }
        if let Some(time) = &summary.time {
            artefacts::seconds_csv(storage, time, &hash)?;
        }
        artefacts::curves_parquet(storage, findings, &self.of.provenance, &hash)?;
        artefacts::per_query(storage, findings, &self.of.provenance, &hash)?;
        artefacts::runs(storage, measure, crawls, &hash)?;
        Ok(())
    }

    fn title(&self) -> String {
        let corpus = self.of.config.corpus.first().or(self.of.config.store.as_ref());
        let named = corpus.map(|path| {
            let path = Path::new(path);
            let folder = path.parent().and_then(Path::file_name);
            folder
                .or(path.file_name())
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
        });
        self.of.config.title.clone().or(named).unwrap_or_default()
    }

    /// Where rules would have stopped the crawls.
    fn stopping(
        &self,
        measure: &Measure<'_>,
        (planning, vectors): (&Workload, Option<WebVectors<'_>>),
        crawls: &Crawls,
        fetchable: u32,
    ) -> Result<Option<StoppingSummary>, Failure> {
        let rules = &self.of.settings.stop;
        if rules.is_empty() {
            return Ok(None);
        }
        let (qid, by_batch) = ("", false);
        let stopping = Stopping { measure, planning, rules, fetchable, qid, by_batch, vectors };
        let stops = stopping.stops(crawls, &|done| {
            say(self.global, &format!("stop rules over {}", with_noun(done, "crawl")));
        })?;
        artefacts::stops_csv(&self.storage, &stops, &self.name())?;
        Ok(Some(stopping::summary(&self.of.settings.policies, rules, &stops)))
    }

    fn counterfactual(
        &self,
        inputs: &Inputs<'_>,
        crawls: &Crawls,
    ) -> Result<Vec<CounterfactualCheck>, Failure> {
        let Some(check) = &self.of.settings.counterfactual else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for choice in &self.of.settings.policies {
            let label = choice.label();
            let progress = |set: usize| {
                say(self.global, &format!("{label}: counterfactual estimates from seed set {set}"));
            };
            let (settings, starts) = (&self.of.settings, &crawls.starts);
            found.extend(counterfactual::run(inputs, settings, check, choice, starts, &progress)?);
        }
        Ok(found)
    }

    fn whatif(&self, inputs: &Inputs<'_>, crawls: &Crawls) -> Result<Vec<WhatIfCheck>, Failure> {
        let Some(check) = &self.of.settings.whatif else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for choice in &self.of.settings.policies {
            let label = choice.label();
            let progress =
                |set: usize| say(self.global, &format!("{label}: scenarios from seed set {set}"));
            let (settings, starts) = (&self.of.settings, &crawls.starts);
            found.extend(whatif::run(inputs, settings, check, choice, starts, &progress)?);
        }
        Ok(found)
    }

    fn limited_sketches(
        &self,
        inputs: &Inputs<'_>,
        crawls: &Crawls,
    ) -> Result<Vec<crate::results::LimitedSketches>, Failure> {
        let Some(sketches) = &self.of.settings.sketches else { return Ok(Vec::new()) };
        let planned = self.of.settings.policies.iter().filter(|choice| choice.kind.is_planned());
        let mut found = Vec::new();
        for choice in planned {
            let progress = |fraction: f64| {
                say(self.global, &format!("{}: {fraction} of the sketches", choice.label()));
            };
            let start = &crawls.starts[0];
            let settings = &self.of.settings;
            found
                .push(limited_sketches::run(inputs, settings, sketches, choice, start, &progress)?);
        }
        Ok(found)
    }
}

/// The collection in figures.
fn figures(
    inputs: &Inputs<'_>,
    queries: &Queries,
    kinds: &[QueryKind],
    fetchable: u32,
) -> CollectionFigures {
    let collection = inputs.collection;
    CollectionFigures {
        pages: collection.pages,
        links: collection.link_count(),
        hosts: collection.hosts.len() as u32,
        crawled_before: collection.pages - fetchable,
        planning_queries: queries.planning.queries.len() as u32,
        evaluation_queries: queries.evaluation.queries.len() as u32,
        relevant_pages: kinds[0].relevant.iter().filter(|relevant| **relevant).count() as u32,
        total_impact: kinds[0].impact.iter().fold(0.0, |sum, own| sum + own),
    }
}
