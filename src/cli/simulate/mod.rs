//! `prospect simulate`: crawls of a collection under any policy, and what came of them.

mod config;
mod identity;
mod progress;
mod settings;

use std::io;
use std::path::{Path, PathBuf};

use prospect_index::storage::Storage;

use self::config::Config;
use self::identity::{SUMMARY, WORK};
use super::Global;
use super::output::{self, Failure, Progress, say};
use crate::evaluate::run as runs;
use crate::ingest::SourceOptions;
use crate::policy::PolicyChoice;
use crate::report::terminal;
use crate::results::{CollectionFigures, Provenance, SCHEMA, Summary};
use crate::simulate::collection::Collection;
use crate::simulate::crawl::Start;
use crate::simulate::experiment::{self, Course, Crawls, Inputs, needs_strings};
use crate::simulate::judgements::Judged;
use crate::simulate::limited_sketches;
use crate::simulate::measure::{self, Kind, Measure};
use crate::simulate::settings::Settings;
use crate::simulate::summary::{Findings, SummaryMetric};
use crate::simulate::{artefacts, load, quality, truth};
use crate::workload::{self, Workload, open_text, qrels};

/// Arguments of `prospect simulate`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The experiment as a TOML file; its keys are the flags below without their dashes.
    #[arg(long = "config", value_name = "FILE")]
    file: Option<PathBuf>,
    /// Where results go. A killed run goes on here.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    config: Config,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let experiments = match &args.file {
        Some(path) => config::read(path, &open_text(path)?)?,
        None => vec![(String::new(), Config::default())],
    };
    // All are checked before the first begins, which may take hours.
    let prepared: Vec<Prepared> = experiments
        .into_iter()
        .map(|(name, file)| prepare(name, config::over(&args.config, &file)?))
        .collect::<Result<_, _>>()?;
    let mut summaries = Vec::new();
    for experiment in prepared {
        let name = &experiment.name;
        let out = if name.is_empty() { args.out.clone() } else { args.out.join(name) };
        if !name.is_empty() {
            say(global, &format!("experiment {name}"));
        }
        summaries.push(one(experiment, &out, global)?);
        say(global, &format!("next: prospect report {} --html report.html", out.display()));
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
        io::Write::write_all(&mut io::stdout().lock(), tables.as_bytes())?;
    }
    Ok(())
}

/// An experiment whose settings fit and whose files are there.
struct Prepared {
    name: String,
    config: Config,
    settings: Settings,
    provenance: Provenance,
}

fn prepare(name: String, config: Config) -> Result<Prepared, Failure> {
    let (settings, start_files) = settings::settings(&config)?;
    let inputs = identity::input_files(&config, &start_files)?;
    let provenance = identity::provenance(&config, &settings, inputs)?;
    Ok(Prepared { name, config, settings, provenance })
}

/// One experiment, from its settings to its files.
fn one(experiment: Prepared, out: &Path, global: &Global) -> Result<Summary, Failure> {
    let Prepared { config, settings, provenance, .. } = experiment;
    let storage = Storage::create(out, None)?;
    let hash = identity::hash(&provenance)?;
    if let Some(summary) = identity::claim(&storage, out, &provenance)? {
        say(global, &format!("{}: this experiment is complete", out.display()));
        return Ok(summary);
    }
    let summary =
        Experiment { config: &config, settings, provenance, storage, hash, global }.carry_out()?;
    Ok(summary)
}

/// An experiment that is not complete.
struct Experiment<'a> {
    config: &'a Config,
    settings: Settings,
    provenance: Provenance,
    storage: Storage,
    hash: u64,
    global: &'a Global,
}

/// Workloads and judgements.
struct Queries {
    planning: Workload,
    evaluation: Workload,
    judged: Judged,
}

impl Experiment<'_> {
    fn carry_out(&self) -> Result<Summary, Failure> {
        let collection = self.collection()?;
        let queries = self.queries(&collection)?;
        let quality = self.quality(&collection)?;
        let course = self.course(&collection)?;
        let fetchable = course.fetchable;
        let (bm25, k) = (self.settings.plan.bm25, self.settings.plan.k);
        let impact = truth::impact(&collection, &queries.planning, bm25, k)?;
        let planned = needs_strings(&self.settings.policies) || self.settings.sketches.is_some();
        let strings = if planned {
            let directory = self.storage.fresh_directory(&format!("{WORK}/strings"))?;
            Some(collection.strings(&directory)?)
        } else {
            None
        };
        let inputs = Inputs {
            collection: &collection,
            strings: strings.as_ref(),
            planning: &queries.planning,
            quality: quality.as_deref(),
            impact: &impact,
            relevant: &queries.judged.relevant,
        };
        let labels = self.settings.policies.iter().map(PolicyChoice::label).collect();
        let progress = progress::Policies::new(self.global, labels, self.settings.sets);
        let (settings, storage) = (&self.settings, &self.storage);
        let crawls = experiment::run(&inputs, settings, course, storage, self.hash, &progress)?;
        let kinds =
            measure::kinds(&collection, &queries.evaluation, &queries.judged.queries, settings)?;
        let summary = self.summary(&inputs, &queries, &crawls, &kinds, fetchable)?;
        let json = serde_json::to_vec_pretty(&summary)?;
        self.storage.write(SUMMARY, &json)?;
        self.storage.remove(WORK)?;
        Ok(summary)
    }

    fn summary(
        &self,
        inputs: &Inputs<'_>,
        queries: &Queries,
        crawls: &Crawls,
        kinds: &[Kind],
        fetchable: u32,
    ) -> Result<Summary, Failure> {
        let judged = &queries.judged.queries;
        let measure = Measure {
            collection: inputs.collection,
            judged,
            kinds,
            settings: &self.settings,
            storage: &self.storage,
            experiment: self.hash,
        };
        let measured = measure.all(crawls, &|done| {
            if done > 0 {
                say(self.global, &format!("evaluated {done} crawls"));
            }
        })?;
        let metrics = SummaryMetric::all(!judged.is_empty());
        let findings = Findings {
            inputs,
            settings: &self.settings,
            crawls,
            measured: &measured,
            judged,
            kinds,
            metrics: &metrics,
        };
        let mut analyses = findings.analyses();
        analyses.limited_sketches = self.limited_sketches(inputs, crawls)?;
        let baseline = findings.baseline().map(|_| self.settings.baseline.clone());
        let summary = Summary {
            schema: SCHEMA.to_owned(),
            title: self.title(),
            provenance: self.provenance.clone(),
            collection: figures(inputs, queries, kinds, fetchable),
            baseline,
            significance: self.settings.significance,
            checkpoints: crawls.checkpoints.clone(),
            kinds: kinds.iter().map(|kind| kind.name.clone()).collect(),
            metrics: metrics.iter().map(|metric| metric.name()).collect(),
            policies: findings.policies(),
            analyses,
        };
        let hash = format!("{:016x}", self.hash);
        artefacts::orders(&self.storage, &findings)?;
        let csv = artefacts::curves_csv(&summary, &hash);
        self.storage.write("curves.csv", csv.as_bytes())?;
        artefacts::curves_parquet(&self.storage, &findings, &self.provenance, &hash)?;
        artefacts::per_query(&self.storage, &findings, &self.provenance, &hash)?;
        artefacts::runs(&self.storage, &measure, crawls, &hash)?;
        Ok(summary)
    }

    fn title(&self) -> String {
        let corpus = self.config.corpus.first().or(self.config.store.as_ref());
        let named = corpus.map(|path| {
            let path = Path::new(path);
            let folder = path.parent().and_then(Path::file_name);
            folder
                .or(path.file_name())
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
        });
        self.config.title.clone().or(named).unwrap_or_default()
    }

    fn limited_sketches(
        &self,
        inputs: &Inputs<'_>,
        crawls: &Crawls,
    ) -> Result<Vec<crate::results::LimitedSketches>, Failure> {
        let Some(sketches) = &self.settings.sketches else { return Ok(Vec::new()) };
        let planned = self.settings.policies.iter().filter(|choice| choice.kind.is_planned());
        let mut found = Vec::new();
        for choice in planned {
            let progress = |fraction: f64| {
                say(self.global, &format!("{}: {fraction} of the sketches", choice.label()));
            };
            let start = &crawls.starts[0];
            let settings = &self.settings;
            found
                .push(limited_sketches::run(inputs, settings, sketches, choice, start, &progress)?);
        }
        Ok(found)
    }

    /// Reads the pages.
    fn collection(&self) -> Result<Collection, Failure> {
        let directory = self.storage.path(&format!("{WORK}/text"));
        let outside = self.settings.outside;
        if let Some(store) = &self.config.store {
            return Ok(load::from_store(Path::new(store), &directory, outside)?);
        }
        let options =
            SourceOptions { base_url: self.config.base_url.clone(), ..SourceOptions::default() };
        let paths = config::paths(&self.config.corpus);
        let mut bar = Progress::new(self.global, "reading", None);
        let (collection, skipped) =
            load::from_corpus(&paths, &options, &directory, outside, |read, _| {
                bar.at(read, &format!("{} MB", read >> 20));
            })?;
        bar.done();
        if let Some(first) = &skipped.first {
            say(self.global, &format!("{} records skipped; the first: {first}", skipped.bad));
        }
        let line = format!(
            "{} pages on {} hosts, {} links; {} records replaced, {} failed fetches left out",
            collection.pages,
            collection.hosts.len(),
            collection.link_count(),
            collection.repeated,
            skipped.failed
        );
        say(self.global, &line);
        Ok(collection)
    }

    fn queries(&self, collection: &Collection) -> Result<Queries, Failure> {
        let read = |path: &Option<String>| match path {
            Some(path) => workload::load(Path::new(path)).map_err(Failure::from),
            None => Ok(Workload::default()),
        };
        let given = read(&self.config.workload)?;
        let evaluation = match &self.config.eval_workload {
            Some(_) => read(&self.config.eval_workload)?,
            None => given.clone(),
        };
        let judgements = match &self.config.qrels {
            Some(path) => qrels::load(Path::new(path))?,
            None => Vec::new(),
        };
        let mut judged = Judged::new(collection, &evaluation, &judgements);
        if self.config.qrels.is_some() {
            let line = format!(
                "{} of {} queries have a relevant page; {} judgements outside the collection, {} of other queries",
                judged.queries.len(),
                evaluation.queries.len(),
                judged.outside,
                judged.other_queries
            );
            say(self.global, &line);
        }
        if let (Some(path), true) = (&self.config.qrels, judged.queries.is_empty()) {
            let error = anyhow::anyhow!("{path}: no query has a relevant page in the collection");
            let hint = "qids and URLs of judgements, queries and pages must be the same";
            return Err(Failure::input(error, hint));
        }
        if let Some(path) = &self.config.rerank {
            let (queries, results) = judged.rerank(collection, &runs::load(Path::new(path))?);
            say(self.global, &format!("{path}: orders {results} results of {queries} queries"));
        }
        Ok(Queries { planning: given.for_planning(), evaluation, judged })
    }

    fn quality(&self, collection: &Collection) -> Result<Option<Vec<f64>>, Failure> {
        let Some(path) = &self.config.quality else { return Ok(None) };
        let wrong = |error| {
            Failure::input(error, "write `url<TAB>score` a line, scores being log-probabilities")
        };
        let scores = if path == config::CARRIED {
            quality::carried(collection).map_err(wrong)?.ok_or_else(|| {
                let error = anyhow::anyhow!("no page of the corpus has a quality_score");
                Failure::input(error, "name a file of scores with --quality FILE")
            })?
        } else {
            let text = open_text(Path::new(path))?;
            quality::parse(&text, path, collection).map_err(wrong)?
        };
        if scores.missing + scores.unknown > 0 {
            let line = format!(
                "{path}: {} pages without a score, {} scores of other URLs",
                scores.missing, scores.unknown
            );
            say(self.global, &line);
        }
        Ok(Some(scores.by_page))
    }

    /// Where crawls start and how far they go, before the first begins.
    fn course(&self, collection: &Collection) -> Result<Course, Failure> {
        let course = Course::new(collection, &self.settings);
        if course.missing > 0 {
            let line = format!(
                "{} URLs of seeds or crawled pages are not in the collection",
                course.missing
            );
            say(self.global, &line);
        }
        let empty = |start: &Start| start.seeds.is_empty() && !start.all_known;
        if let Some(set) = course.starts.iter().position(empty) {
            let name = self.config.seeds.get(set).or(self.config.seeds.last());
            let name = name.map_or("seeds", String::as_str);
            let error =
                anyhow::anyhow!("{name}: no seed of set {} is a page of the collection", set + 1);
            return Err(Failure::input(error, "seeds are URLs of the collection, one a line"));
        }
        if course.fetchable == 0 {
            let error = anyhow::anyhow!("all {} pages are crawled before", collection.pages);
            return Err(Failure::input(
                error,
                "leave pages to fetch, for example --crawled share:0.9",
            ));
        }
        if course.checkpoints.is_empty() {
            let most = course.budget.pages;
            let error = anyhow::anyhow!("no checkpoint lies within the {most} pages to fetch");
            let hint = format!("fetch more, or name them, for example --checkpoints {most}");
            return Err(Failure::input(error, hint));
        }
        Ok(course)
    }
}

/// The collection in figures.
fn figures(
    inputs: &Inputs<'_>,
    queries: &Queries,
    kinds: &[Kind],
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
