//! From what was given to a validated experiment.

use std::path::Path;

use prospect_index::limits::BOUNDS;
use prospect_index::url;
use serde_json::Value;

use super::attacks;
use super::clock;
use super::config::{Config, is_rule};
use crate::cli::options::in_range;
use crate::cli::output::Failure;
use crate::planner::options::{PlannerOption, nearest};
use crate::planner::settings::PlanSettings;
use crate::policy::amount::{Amount, BatchSize};
use crate::policy::{POLICIES, PolicyChoice, PolicyOptionError};
use crate::simulate::ablation::{Given, Pairing, pairings};
use crate::simulate::collection::Outside;
use crate::simulate::settings::{
    Runs, SimulationSettings, SketchSettings, TrialSettings, default_checkpoints,
};
use crate::simulate::start::{Seeds, StartPages};
use crate::simulate::stopping::StopRule;
use crate::workload::open_text;

/// What p-values are compared with where nothing else is said.
const SIGNIFICANCE: f64 = 0.01;

/// Files that say where crawls start, with their contents, for the hash of the experiment.
pub(super) type StartFiles = Vec<(&'static str, String)>;

/// The experiment.
pub(super) fn settings(config: &Config) -> Result<(SimulationSettings, StartFiles), Failure> {
    refuse_contradictions(config)?;
    let mut files = Vec::new();
    let mut policies = policies(config)?;
    let ablation = ablation(config, &mut policies)?;
    with_batches(config, &mut policies)?;
    let seeds = seeds(config, &mut files)?;
    let lists = if let Seeds::Lists(lists) = &seeds { lists.len() as u32 } else { 0 };
    let sets = config.seed_sets.unwrap_or(lists.max(1));
    if sets == 0 || (lists > 0 && sets > lists && config.crawled.is_none()) {
        let error = anyhow::anyhow!("{sets} seed sets, and {lists} files of seeds");
        return Err(Failure::input(error, "name one file of seeds for each set"));
    }
    if sets > BOUNDS.seed_sets {
        let error = anyhow::anyhow!("{sets} seed sets are too many");
        let hint = format!(
            "--seed-sets takes at most {}; each is a crawl by every policy",
            BOUNDS.seed_sets
        );
        return Err(Failure::input(error, hint));
    }
    let plan = plan(config)?;
    let batch = batch_size(config.batch.first().map_or("1%", |first| first.trim()))?;
    let settings = SimulationSettings {
        clock: clock::clock(config, batch, &policies, &mut files)?,
        baseline: baseline(config, &policies)?,
        sketches: sketches(config, &policies)?,
        counterfactual: trials(
            "counterfactual",
            config.counterfactual,
            config.counterfactual_at.as_deref(),
            ("nothing to draw", 100),
        )?,
        whatif: trials(
            "whatif",
            config.whatif,
            config.whatif_at.as_deref(),
            ("no scenario to carry out", 20),
        )?,
        attacks: attacks::settings(config)?,
        stop: stop(config)?,
        single_query: config.single_query,
        judge: None,
        quality_model: None,
        sufficiency: config.sufficiency,
        ablation,
        policies,
        seeds,
        sets,
        seed: config.seed.unwrap_or(1),
        crawled: crawled(config, &mut files)?,
        promote: config.promote.as_deref().map_or(Ok(0.0), |given| share("promote", given))?,
        batch,
        max_pages: config
            .max_pages
            .as_deref()
            .map(|given| amount("max-pages", given))
            .transpose()?,
        checkpoints: checkpoints(config)?,
        outside: outside(config)?,
        plan,
        significance: in_range(
            "significance",
            config.significance.unwrap_or(SIGNIFICANCE),
            (0.0, 1.0),
            SIGNIFICANCE,
        )?,
        runs: runs(config)?,
    };
    Ok((settings, files))
}

/// What is the same for all policies that plan.
pub(super) fn plan(config: &Config) -> Result<PlanSettings, Failure> {
    let mut plan = PlanSettings::new(1);
    let given = [
        ("top", config.top.map(Value::from)),
        ("visibility", config.visibility.map(|visibility| Value::from(visibility.to_string()))),
        ("k1", config.k1.map(Value::from)),
        ("b", config.b.map(Value::from)),
    ];
    for (name, value) in given.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        let set = PlannerOption::named(name).and_then(|option| option.set(&mut plan, &value));
        set.map_err(|error| Failure::input(error, "`prospect simulate --help` lists the keys"))?;
    }
    Ok(plan)
}

/// What is wrong with settings: whether it is so, what is wrong, and the way out.
type Contradiction = (bool, &'static str, &'static str);

/// Settings that exclude each other, or that do nothing without another one.
fn refuse_contradictions(config: &Config) -> Result<(), Failure> {
    let wrong =
        of_inputs(config).into_iter().chain(of_analyses(config)).chain(of_sufficiency(config));
    match wrong.into_iter().find(|(found, ..)| *found) {
        Some((_, what, hint)) => Err(Failure::input(anyhow::anyhow!(what), hint)),
        None => Ok(()),
    }
}

/// Those of what is crawled, from where, and for which queries.
fn of_inputs(config: &Config) -> [Contradiction; 7] {
    let queries = config.eval_workload.is_some() || config.workload.is_some();
    [
        (
            config.store.is_some() && !config.words().is_plain(),
            "a store has its own words, and stem, stop-words or fold-accents are given",
            "leave them out, or name the pages with --corpus FILE",
        ),
        (
            config.quality.is_some() && config.quality_model.is_some(),
            "quality and quality-model both say what pages are worth",
            "give one of them",
        ),
        (
            !config.corpus.is_empty() && config.store.is_some(),
            "corpus and store both name the collection",
            "give one of them",
        ),
        (
            config.corpus.is_empty() && config.store.is_none(),
            "there is nothing to crawl",
            "name pages with --corpus FILE, or --store DIR",
        ),
        (
            !config.seeds.is_empty() && config.crawled.is_some(),
            "seeds and crawled both say where crawls start",
            "give --seeds, or --crawled, after which every page is known and none is a seed",
        ),
        (
            config.promote.is_some() && config.crawled.is_none(),
            "promote needs crawled: it adds to the pages that are crawled before",
            "for example --crawled share:0.8 --promote 20%",
        ),
        (
            config.qrels.is_some() && !queries,
            "qrels judge results of queries, and there are none",
            "give them with --workload FILE or --eval-workload FILE",
        ),
    ]
}

/// Those of what is measured beside the crawls.
fn of_analyses(config: &Config) -> [Contradiction; 9] {
    [
        (
            config.rerank.is_some() && config.qrels.is_none(),
            "rerank changes what judgements measure, and there are none",
            "give them with --qrels FILE",
        ),
        (
            config.rerank_model.is_some() && config.qrels.is_none(),
            "rerank-model changes what judgements measure, and there are none",
            "give them with --qrels FILE",
        ),
        (
            config.rerank.is_some() && config.rerank_model.is_some(),
            "rerank and rerank-model both order the first results",
            "give one of them",
        ),
        (
            config.runs.as_deref().is_some_and(|runs| runs != "none") && config.qrels.is_none(),
            "runs are written for judged queries, and there are none",
            "give judgements with --qrels FILE",
        ),
        (
            config.sketches_at.is_some() && config.sketches.is_empty(),
            "sketches-at needs sketches",
            "for example --sketches 0.01,0.1,1",
        ),
        (
            config.counterfactual_at.is_some() && config.counterfactual.is_none(),
            "counterfactual-at needs counterfactual",
            "for example --counterfactual 100",
        ),
        (
            config.whatif_at.is_some() && config.whatif.is_none(),
            "whatif-at needs whatif",
            "for example --whatif 20",
        ),
        (
            !config.attack.is_empty() && config.workload.is_none(),
            "attack aims at queries, and there are none",
            "give them with --workload FILE",
        ),
        (
            config.attack_share.is_some() && config.attack.is_empty(),
            "attack-share needs attack",
            "for example --attack all --attack-share 5%",
        ),
    ]
}

/// Those of what is told of sufficiency.
fn of_sufficiency(config: &Config) -> [Contradiction; 8] {
    [
        (
            config.sufficiency_model.is_some() && !config.sufficiency && !stops_by_vectors(config),
            "sufficiency-model needs sufficiency, or the stop rule learned",
            "for example --sufficiency --sufficiency-model DIR",
        ),
        (
            config.sufficiency_model.is_none() && stops_by_vectors(config),
            "the stop rule learned goes by vectors, and no model is named",
            "name one with --sufficiency-model DIR",
        ),
        (
            config.single_query && (config.workload.is_none() || config.qrels.is_none()),
            "each query is crawled for and judged alone, which needs queries and judgements",
            "give them with --workload FILE and --qrels FILE",
        ),
        (
            config.single_query && config.max_pages.is_none(),
            "a crawl for one query has a budget of pages, and there is none",
            "for example --max-pages 50 --batch 5",
        ),
        (
            config.single_query && more_than_crawls(config),
            "crawls for one query each are told by themselves",
            "leave out --sufficiency, --ablate, --attack, --whatif, --counterfactual, --sketches, --rerank, --rerank-model \
             and --runs, or --single-query",
        ),
        (
            config.sufficiency && (config.workload.is_none() || config.qrels.is_none()),
            "sufficiency is compared with what search returns, which needs queries and judgements",
            "give them with --workload FILE and --qrels FILE",
        ),
        (
            !config.stop.is_empty() && config.workload.is_none(),
            "stop rules see what a workload lacks, and there is none",
            "give it with --workload FILE",
        ),
        (
            !config.stop.is_empty()
                && !config.single_query
                && (config.max_pages.is_some() || config.max_seconds.is_some()),
            "stop rules are judged by the whole crawl, and it is cut short",
            "leave out --max-pages and --max-seconds",
        ),
    ]
}

fn stops_by_vectors(config: &Config) -> bool {
    config.stop.iter().any(|rule| StopRule::parse(rule.trim()) == Some(StopRule::Learned))
}

/// Whether anything is asked for that is of whole crawls for the workload.
fn more_than_crawls(config: &Config) -> bool {
    let looks = config.sufficiency || config.ablate || !config.attack.is_empty();
    let trials = config.whatif.is_some() || config.counterfactual.is_some();
    let reranks = config.rerank.is_some() || config.rerank_model.is_some();
    looks || trials || reranks || !config.sketches.is_empty() || config.runs.is_some()
}

/// The label of the baseline. One that is asked for must be there; `bfs` is it where it runs.
fn baseline(config: &Config, policies: &[PolicyChoice]) -> Result<String, Failure> {
    let Some(given) = &config.baseline else { return Ok("bfs".to_owned()) };
    let label = given.trim().parse::<PolicyChoice>().map_err(|error| wrong(&error))?.label();
    let labels: Vec<String> = policies.iter().map(PolicyChoice::label).collect();
    if labels.contains(&label) {
        return Ok(label);
    }
    let error =
        anyhow::anyhow!("the baseline {label} is none of the policies: {}", labels.join(", "));
    Err(Failure::input(error, "name it with --policy too, or another one with --baseline"))
}

/// The settings in full, as provenance. Files are named without folders: their contents are hashed.
pub(super) fn as_json(config: &Config, settings: &SimulationSettings) -> serde_json::Value {
    let bare = |given: &String| without_folder(given);
    let file = |given: &Option<String>| given.as_ref().map(bare);
    let labels: Vec<String> = settings.policies.iter().map(PolicyChoice::label).collect();
    let attacks = settings.attacks.as_ref();
    let mut json = serde_json::json!({
        "base-url": config.base_url,
        "corpus": config.corpus.iter().map(bare).collect::<Vec<_>>(),
        "store": file(&config.store),
        "workload": file(&config.workload),
        "eval-workload": file(&config.eval_workload),
        "qrels": file(&config.qrels),
        "quality": file(&config.quality),
        "rerank": file(&config.rerank),
        "rerank-model": file(&config.rerank_model),
        "embedding-model": file(&config.embedding_model),
        "policy": labels,
        "seeds": config.seeds.iter().map(bare).collect::<Vec<_>>(),
        "seed-sets": settings.sets,
        "seed": settings.seed,
        "crawled": file(&config.crawled),
        "promote": settings.promote,
        "batch": batch_json(settings.batch),
        "clock": settings.clock,
        "max-pages": settings.max_pages.map(amount_json),
        "checkpoints": settings.checkpoints.iter().map(|&at| amount_json(at)).collect::<Vec<_>>(),
        "outside": settings.outside,
        "top": settings.plan.k,
        "visibility": settings.plan.visibility,
        "k1": settings.plan.bm25.k1,
        "b": settings.plan.bm25.b,
        "baseline": settings.baseline,
        "significance": settings.significance,
        "runs": settings.runs,
        "sketches": settings.sketches,
        "counterfactual": settings.counterfactual,
        "whatif": settings.whatif,
        "stop": settings.stop.iter().map(|rule| rule.name()).collect::<Vec<_>>(),
        "single-query": settings.single_query,
        "sufficiency": settings.sufficiency,
        "sufficiency-model": settings.judge,
        "ablate": config.ablate,
        "attack": attacks.map(|attacks| attacks.kinds.iter().map(|k| k.label()).collect::<Vec<_>>()),
        "attack-share": attacks.map(|attacks| attacks.share),
        "plan": settings.plan.estimate,
    });
    if config.doc_urls.is_some() {
        json["doc-urls"] = serde_json::json!(file(&config.doc_urls));
    }
    if let Some(model) = &settings.quality_model {
        json["quality-model"] = serde_json::json!(model);
    }
    let words = config.words();
    if !words.is_plain() {
        json["words"] = serde_json::json!(words);
    }
    json
}

/// The name of a file; a rule stays as it is.
fn without_folder(given: &str) -> String {
    if is_rule(given) {
        return given.to_owned();
    }
    Path::new(given).file_name().map_or(given.to_owned(), |n| n.to_string_lossy().into_owned())
}

fn batch_json(batch: BatchSize) -> Value {
    match batch {
        BatchSize::Pages(amount) => amount_json(amount),
        BatchSize::Seconds(seconds) => serde_json::json!(format!("{seconds}s")),
    }
}

fn amount_json(amount: Amount) -> Value {
    match amount {
        Amount::Pages(pages) => serde_json::json!(pages),
        Amount::Share(share) => serde_json::json!(format!("{}%", (share * 1e6).round() / 1e4)),
    }
}

fn policies(config: &Config) -> Result<Vec<PolicyChoice>, Failure> {
    let mut choices: Vec<PolicyChoice> = Vec::new();
    let (planned, quality) = (config.workload.is_some(), config.has_quality());
    for given in &config.policy {
        if given == "all" {
            let fits = POLICIES.iter().filter(|kind| quality || !kind.needs_quality());
            for kind in fits.filter(|kind| planned || !kind.is_planned()) {
                choices.push(kind.name.parse::<PolicyChoice>().map_err(|error| wrong(&error))?);
            }
        } else {
            choices.push(given.trim().parse::<PolicyChoice>().map_err(|error| wrong(&error))?);
        }
    }
    if choices.is_empty() {
        let error = anyhow::anyhow!("no policy is named");
        return Err(Failure::input(
            error,
            "for example --policy bfs,qmin,prospect, or --policy all",
        ));
    }
    for choice in &choices {
        if choice.kind.needs_quality() && !quality {
            let error = anyhow::anyhow!("policy {} needs quality scores", choice.label());
            return Err(Failure::input(
                error,
                "give them with --quality FILE, or have pages scored with --quality-model bundled",
            ));
        }
        if choice.kind.is_planned() && !planned {
            let error = anyhow::anyhow!("policy {} plans for queries", choice.label());
            return Err(Failure::input(error, "give them with --workload FILE"));
        }
    }
    let mut labels: Vec<String> = choices.iter().map(PolicyChoice::label).collect();
    labels.sort_unstable();
    if let Some([name, _]) = labels.array_windows().find(|[a, b]| a == b) {
        let error = anyhow::anyhow!("policy {name} is named twice");
        return Err(Failure::input(error, "name each policy once; options make another of it"));
    }
    Ok(choices)
}

/// Policies with the other batches that are asked for, which join those with the first.
fn with_batches(config: &Config, policies: &mut Vec<PolicyChoice>) -> Result<(), Failure> {
    let is_time =
        |given: &String| BatchSize::parse(given.trim()).and_then(BatchSize::seconds).is_some();
    let any_time = config.batch.iter().any(is_time);
    let depends = |choice: &&PolicyChoice| {
        choice.batch().is_none() && (any_time || !choice.ignores_batches())
    };
    let of_first: Vec<PolicyChoice> = policies.iter().filter(depends).cloned().collect();
    for given in config.batch.iter().skip(1) {
        batch_size(given.trim())?;
        for choice in &of_first {
            policies.push(choice.with_batch(given.trim()).map_err(|error| wrong(&error))?);
        }
    }
    let mut labels: Vec<String> = policies.iter().map(PolicyChoice::label).collect();
    labels.sort_unstable();
    let twice = labels.chunk_by(|a, b| a == b).find(|same| same.len() > 1);
    if let Some([label, ..]) = twice {
        let error = anyhow::anyhow!("{label} is asked for twice");
        return Err(Failure::input(error, "name every policy and every batch once"));
    }
    Ok(())
}

/// The policies without a group of evidence, which join the others.
fn ablation(config: &Config, policies: &mut Vec<PolicyChoice>) -> Result<Vec<Pairing>, Failure> {
    if !config.ablate {
        return Ok(Vec::new());
    }
    let given =
        Given { quality: config.has_quality(), embeddings: config.embedding_model.is_some() };
    let pairings = pairings(policies, given);
    if pairings.is_empty() {
        let error = anyhow::anyhow!("ablate needs a policy with groups of evidence to leave out");
        return Err(Failure::input(error, "add one to --policy, for example prospect"));
    }
    Ok(pairings)
}

fn wrong(error: &PolicyOptionError) -> Failure {
    let hint = match error {
        PolicyOptionError::Policy { name } => {
            let near = nearest(name, POLICIES.iter().map(|kind| kind.name));
            format!("did you mean {near}? `prospect policies` lists them all")
        }
        _ => "`prospect policies` lists policies and their options".to_owned(),
    };
    Failure::input(anyhow::anyhow!("{error}"), hint)
}

/// URLs of a file, one a line, canonical.
fn url_list(
    role: &'static str,
    path: &str,
    files: &mut StartFiles,
) -> Result<Vec<String>, Failure> {
    let text = open_text(Path::new(path))?;
    let mut urls = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let url = url::canonical(line.trim()).map_err(|error| {
            let error = anyhow::anyhow!("{path}:{}: {line:?} is {error}", number + 1);
            Failure::input(error, "write one absolute http(s) URL a line")
        })?;
        urls.push(url);
    }
    files.push((role, path.to_owned()));
    Ok(urls)
}

fn seeds(config: &Config, files: &mut StartFiles) -> Result<Seeds, Failure> {
    let rules = config.seeds.iter().filter(|given| is_rule(given)).count();
    match config.seeds.as_slice() {
        [] if config.crawled.is_some() => Ok(Seeds::Lists(vec![Vec::new()])),
        [] => {
            let error = anyhow::anyhow!("nothing says where crawls start");
            Err(Failure::input(
                error,
                "give --seeds FILE, --seeds random:50 or --crawled share:0.9",
            ))
        }
        [rule] if rules == 1 => {
            let (kind, count) = rule.split_once(':').unwrap_or((rule, ""));
            let count = count.parse::<usize>().ok().filter(|&count| count > 0);
            match (kind, count) {
                ("random", Some(count)) => Ok(Seeds::Random(count)),
                ("per-host", Some(count)) => Ok(Seeds::PerHost(count)),
                _ => {
                    let error = anyhow::anyhow!("seeds are {rule:?}");
                    Err(Failure::input(error, "write random:50, per-host:1, or names of files"))
                }
            }
        }
        lists if rules == 0 => {
            if let Some(again) =
                lists.iter().enumerate().find(|(at, file)| lists[..*at].contains(file))
            {
                let error = anyhow::anyhow!("seeds: {} is named twice", again.1);
                return Err(Failure::input(
                    error,
                    "name each file of seeds once: each is a crawl of its own, and the same one tells nothing more",
                ));
            }
            let lists: Vec<Vec<String>> = lists
                .iter()
                .map(|path| url_list("seeds", path, files))
                .collect::<Result<_, _>>()?;
            Ok(Seeds::Lists(lists))
        }
        _ => {
            let error = anyhow::anyhow!("seeds are both files and a rule");
            Err(Failure::input(error, "give files of seeds, or one rule such as random:50"))
        }
    }
}

fn crawled(config: &Config, files: &mut StartFiles) -> Result<Option<StartPages>, Failure> {
    let Some(given) = &config.crawled else { return Ok(None) };
    match given.strip_prefix("share:") {
        Some(given) => Ok(Some(StartPages::Share(share("crawled", given)?))),
        None => Ok(Some(StartPages::List(url_list("crawled", given, files)?))),
    }
}

/// A share in (0, 1), as a number or in percent.
pub(super) fn share(key: &str, given: &str) -> Result<f64, Failure> {
    let value = match given.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => given.parse::<f64>(),
    };
    match value {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => {
            let error = anyhow::anyhow!("{key} is {given:?}; a share between 0 and 1 was expected");
            Err(Failure::input(error, "for example 0.9, or 90%"))
        }
    }
}

fn amount(key: &str, given: &str) -> Result<Amount, Failure> {
    Amount::parse(given).ok_or_else(|| {
        let error =
            anyhow::anyhow!("{key} is {given:?}; a number of pages or a share was expected");
        Failure::input(error, format!("for example --{key} 100, or --{key} 1%"))
    })
}

fn batch_size(given: &str) -> Result<BatchSize, Failure> {
    BatchSize::parse(given).ok_or_else(|| {
        let error = anyhow::anyhow!(
            "batch is {given:?}; a number of pages, a share or a time was expected"
        );
        Failure::input(error, "for example --batch 100, --batch 1%, or --batch 60s")
    })
}

fn checkpoints(config: &Config) -> Result<Vec<Amount>, Failure> {
    if config.checkpoints.is_empty() {
        return Ok(default_checkpoints());
    }
    config.checkpoints.iter().map(|given| amount("checkpoints", given)).collect()
}

fn outside(config: &Config) -> Result<Outside, Failure> {
    match config.outside.as_deref() {
        None | Some("drop") => Ok(Outside::Drop),
        Some("charge") => Ok(Outside::Charge),
        Some("failed") => Ok(Outside::Failed),
        Some(other) => {
            let error = anyhow::anyhow!("outside is {other:?}");
            Err(Failure::input(
                error,
                "links out of the collection are `drop`ped or `charge`d, all of them or those to `failed` pages",
            ))
        }
    }
}

fn runs(config: &Config) -> Result<Runs, Failure> {
    match config.runs.as_deref() {
        None | Some("none") => Ok(Runs::None),
        Some("last") => Ok(Runs::Last),
        Some("all") => Ok(Runs::All),
        Some(other) => {
            let error = anyhow::anyhow!("runs is {other:?}");
            Err(Failure::input(
                error,
                "runs are written for `none`, the `last` or `all` checkpoints",
            ))
        }
    }
}

fn stop(config: &Config) -> Result<Vec<StopRule>, Failure> {
    let rules = config.stop.iter().map(|given| {
        StopRule::parse(given.trim()).ok_or_else(|| {
            let error = anyhow::anyhow!("there is no stop rule {given:?}");
            Failure::input(error, format!("the rules are {}", StopRule::NAMES))
        })
    });
    rules.collect()
}

fn sketches(config: &Config, policies: &[PolicyChoice]) -> Result<Option<SketchSettings>, Failure> {
    if config.sketches.is_empty() {
        return Ok(None);
    }
    if !policies.iter().any(|choice| choice.kind.is_planned()) {
        let error = anyhow::anyhow!("sketches are of policies that plan, and there is none");
        return Err(Failure::input(error, "add one to --policy, for example query-driven"));
    }
    let fractions =
        config.sketches.iter().map(|given| fraction(given)).collect::<Result<_, _>>()?;
    let at = share("sketches-at", config.sketches_at.as_deref().unwrap_or("20%"))?;
    Ok(Some(SketchSettings { fractions, at }))
}

/// A share, or 1 for all.
fn fraction(given: &str) -> Result<f64, Failure> {
    match given.parse::<f64>() {
        Ok(one) if one == 1.0 => Ok(one),
        _ => share("sketches", given),
    }
}

/// The trials of a flag, whose point of the crawl is the flag of its name with `-at`.
fn trials(
    key: &str,
    trials: Option<usize>,
    at: Option<&str>,
    (nothing, example): (&str, usize),
) -> Result<Option<TrialSettings>, Failure> {
    let Some(trials) = trials else { return Ok(None) };
    if trials == 0 {
        let error = anyhow::anyhow!("{key} is 0: there is {nothing}");
        return Err(Failure::input(error, format!("for example --{key} {example}")));
    }
    if trials > BOUNDS.trials {
        let error = anyhow::anyhow!("{key} is {trials}, at most {}", BOUNDS.trials);
        return Err(Failure::input(error, format!("for example --{key} {example}")));
    }
    let at = share(&format!("{key}-at"), at.unwrap_or("10%"))?;
    Ok(Some(TrialSettings { trials, at }))
}
