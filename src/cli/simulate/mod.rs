//! `prospect simulate`: crawls of a collection under any policy, and what came of them.

mod config;
mod progress;
mod settings;

use std::io;
use std::path::{Path, PathBuf};

use prospect_index::storage::{Checksum, Storage};
use xxhash_rust::xxh3::xxh3_64;

use self::config::Config;
use super::Global;
use super::output::{self, Failure, Progress, say};
use crate::evaluate::run as runs;
use crate::ingest::SourceOptions;
use crate::policy::PolicyChoice;
use crate::report::terminal;
use crate::results::{CollectionFigures, InputFile, Provenance, SCHEMA, Summary};
use crate::simulate::collection::Collection;
use crate::simulate::experiment::{self, Crawls, Inputs, needs_strings};
use crate::simulate::judgements::Judged;
use crate::simulate::limited_sketches;
use crate::simulate::measure::{self, Kind, Measure};
use crate::simulate::settings::Settings;
use crate::simulate::summary::{Findings, SummaryMetric};
use crate::simulate::{artefacts, load, quality, truth};
use crate::workload::{self, Workload, open_text, qrels};

/// Where work in progress is kept, below the output.
const WORK: &str = "work";
/// The file that ends an experiment.
const SUMMARY: &str = "summary.json";

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
    let several = experiments.len() > 1;
    let mut summaries = Vec::new();
    for (name, file) in experiments {
        let config = config::over(&args.config, &file)?;
        let out = if name.is_empty() { args.out.clone() } else { args.out.join(&name) };
        if several {
            say(global, &format!("experiment {name}"));
        }
        summaries.push(one(&config, &out, global)?);
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

/// One experiment, from its settings to its files.
fn one(config: &Config, out: &Path, global: &Global) -> Result<Summary, Failure> {
    let (settings, start_files) = settings::settings(config, config.quality.is_some())?;
    let inputs = input_files(config, &start_files)?;
    let provenance = provenance(config, &settings, inputs)?;
    let storage = Storage::create(out, None)?;
    let hash = experiment_hash(&provenance)?;
    if let Some(summary) = finished(&storage, out, hash)? {
        say(global, &format!("{}: this experiment is complete", out.display()));
        return Ok(summary);
    }
    let summary = Experiment { config, settings, provenance, storage, hash, global }.carry_out()?;
    Ok(summary)
}

/// The summary of an experiment that is complete; an error if it is another one.
fn finished(storage: &Storage, out: &Path, hash: u64) -> Result<Option<Summary>, Failure> {
    if !storage.exists(SUMMARY) {
        return Ok(None);
    }
    let bytes = storage.read(SUMMARY)?;
    let found: Option<Summary> = serde_json::from_slice(&bytes).ok();
    match found {
        Some(summary) if experiment_hash(&summary.provenance)? == hash => Ok(Some(summary)),
        _ => {
            let error =
                anyhow::anyhow!("{} holds the results of another experiment", out.display());
            Err(Failure::input(error, "give another --out, or remove the folder"))
        }
    }
}

/// Names the experiment: version, settings, and contents of all inputs.
fn experiment_hash(provenance: &Provenance) -> Result<u64, Failure> {
    Ok(xxh3_64(&serde_json::to_vec(provenance)?))
}

fn provenance(
    config: &Config,
    settings: &Settings,
    inputs: Vec<InputFile>,
) -> Result<Provenance, Failure> {
    let json = settings::as_json(config, settings);
    Ok(Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config_hash: format!("{:016x}", xxh3_64(&serde_json::to_vec(&json)?)),
        config: json,
        inputs,
        seed: settings.seed,
        k1: settings.plan.bm25.k1,
        b: settings.plan.bm25.b,
        k: settings.plan.k,
    })
}

fn input_files(
    config: &Config,
    start_files: &[(&'static str, String)],
) -> Result<Vec<InputFile>, Failure> {
    let mut inputs = Vec::new();
    let one = |role: &'static str, path: &Option<String>| path.clone().map(|path| (role, path));
    let corpus = config.corpus.iter().map(|path| ("corpus", path.clone()));
    let others = [
        one("workload", &config.workload),
        one("eval-workload", &config.eval_workload),
        one("qrels", &config.qrels),
        one("quality", &config.quality).filter(|(_, path)| path != config::CARRIED),
        one("rerank", &config.rerank),
    ];
    let store = config.store.iter().map(|store| ("store", format!("{store}/MANIFEST.json")));
    let all = corpus.chain(store).chain(others.into_iter().flatten());
    for (role, path) in all.chain(start_files.iter().cloned()) {
        let path = PathBuf::from(path);
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let (bytes, xxh3) = hash_of(&path)?;
        inputs.push(InputFile { role: role.to_owned(), name, bytes, xxh3 });
    }
    Ok(inputs)
}

/// Length and hash of a file; of a folder, those of all its files by name.
fn hash_of(path: &Path) -> Result<(u64, String), Failure> {
    let mut checksum = Checksum::default();
    let bytes = add_to_hash(path, &mut checksum).map_err(|error| {
        let error = anyhow::Error::new(error).context(format!("cannot read {}", path.display()));
        Failure::input(error, "check the path; paths in an experiment's file are relative to it")
    })?;
    Ok((bytes, checksum.finish()))
}

fn add_to_hash(path: &Path, checksum: &mut Checksum) -> io::Result<u64> {
    let mut bytes = 0;
    if path.is_dir() {
        let entries = std::fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
        let mut paths: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
        paths.sort_unstable();
        for path in paths {
            checksum.update(path.file_name().unwrap_or_default().as_encoded_bytes());
            bytes += add_to_hash(&path, checksum)?;
        }
        return Ok(bytes);
    }
    let mut file = std::fs::File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = io::Read::read(&mut file, &mut buffer)?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes += count as u64;
        checksum.update(&buffer[..count]);
    }
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
        let crawls = experiment::run(&inputs, &self.settings, &self.storage, self.hash, &progress)?;
        self.check(&crawls)?;
        let kinds = measure::kinds(
            &collection,
            &queries.evaluation,
            &queries.judged.queries,
            &crawls.starts[0],
            &self.settings,
        )?;
        let summary = self.summary(&inputs, &queries, &crawls, &kinds)?;
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
            say(self.global, &format!("evaluated {done} crawls"));
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
            collection: figures(inputs, queries, crawls, kinds),
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
        let provenance = serde_json::to_vec_pretty(&self.provenance)?;
        self.storage.write("PROVENANCE.json", &provenance)?;
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
        if self.config.corpus.is_empty() {
            let error = anyhow::anyhow!("there is nothing to crawl");
            return Err(Failure::input(error, "name pages with --corpus FILE, or --store DIR"));
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

    fn check(&self, crawls: &Crawls) -> Result<(), Failure> {
        if crawls.missing > 0 {
            let line = format!("{} URLs of the lists are not in the collection", crawls.missing);
            say(self.global, &line);
        }
        let empty =
            |start: &crate::simulate::crawl::Start| start.seeds.is_empty() && !start.all_known;
        if crawls.starts.iter().any(empty) {
            let error = anyhow::anyhow!("a seed set has no page of the collection");
            return Err(Failure::input(error, "seeds are URLs of the collection, one a line"));
        }
        Ok(())
    }
}

/// The collection in figures.
fn figures(
    inputs: &Inputs<'_>,
    queries: &Queries,
    crawls: &Crawls,
    kinds: &[Kind],
) -> CollectionFigures {
    let collection = inputs.collection;
    CollectionFigures {
        pages: collection.pages,
        links: collection.link_count(),
        hosts: collection.hosts.len() as u32,
        crawled_before: collection.pages - crawls.fetchable,
        planning_queries: queries.planning.queries.len() as u32,
        evaluation_queries: queries.evaluation.queries.len() as u32,
        relevant_pages: kinds[0].relevant.iter().filter(|relevant| **relevant).count() as u32,
        total_impact: kinds[0].total_impact,
    }
}
