//! An experiment as people write it: a TOML file, or the same by flags. One definition gives both:
//! a key of the file is a flag without its dashes.

use std::path::{Path, PathBuf};

use prospect_index::words::{Language, WordOptions};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::cli::doc_urls;
use crate::cli::model::BUNDLED;
use crate::cli::output::Failure;
use crate::ingest::SourceOptions;
use crate::neural::text_length;
use crate::sketch::visibility::Visibility;

/// Every setting, as given. A flag wins over the file.
#[expect(clippy::struct_excessive_bools, reason = "flags are what people give")]
#[derive(clap::Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Config {
    /// Title of the experiment.
    #[arg(long, value_name = "TEXT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    /// Files of the collection, in any format that `prospect ingest` reads.
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) corpus: Vec<String>,
    /// The pages of a store are the collection.
    #[arg(long, value_name = "DIR", conflicts_with = "corpus")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) store: Option<String>,
    /// URL that HTML files of the collection were served at.
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) base_url: Option<String>,
    /// Queries to plan for: TSV, CSV, JSON or TREC topics.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workload: Option<String>,
    /// Queries to evaluate with, if they are others.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) eval_workload: Option<String>,
    /// Judgements: `qid 0 url grade` a line. Without them only impact is measured.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) qrels: Option<String>,
    /// URLs of the documents that judgements, and pages without a `url`, name by ids: `id<TAB>url` a line, or JSON
    /// lines with both, such as the collection itself.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) doc_urls: Option<String>,
    /// Quality of pages: a file of `url<TAB>log-probability`, or `column`, the field
    /// `quality_score` of the corpus.
    #[arg(long, value_name = "FILE|column")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quality: Option<String>,
    /// A model that scores the pages: `bundled`, a directory, or `text-length`. Scores are of whole pages, and policies
    /// read those of fetched ones.
    #[arg(long, value_name = "MODEL", conflicts_with = "quality")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quality_model: Option<String>,
    /// Take words for the same that have the same stem in this language, such as english or german.
    #[arg(long, value_name = "LANGUAGE", conflicts_with = "store")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stem: Option<Language>,
    /// Leave out the stop words of these languages.
    #[arg(long, value_name = "LANGUAGES", value_delimiter = ',', value_parser = Language::with_stop_words, conflicts_with = "store")]
    #[serde(deserialize_with = "languages", skip_serializing_if = "Vec::is_empty")]
    pub(super) stop_words: Vec<Language>,
    /// Take the accents off letters, so that `école` is `ecole`.
    #[arg(long, conflicts_with = "store")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) fold_accents: bool,
    /// A TREC run whose scores order the first 100 results of each query anew.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rerank: Option<String>,
    /// A cross-encoder that orders the first 100 results of each query anew: a directory with a model
    /// of kind `sequence-pair`.
    #[arg(long, value_name = "DIR", conflicts_with = "rerank")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rerank_model: Option<String>,
    /// A model of kind `sentence-embedding`, whose vectors of URLs, anchors, titles and queries are evidence
    /// for policies that plan: a directory.
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) embedding_model: Option<String>,
    /// Policies, or `all`; with options such as `hybrid+needy=0.1`. See `prospect policies`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) policy: Vec<String>,
    /// Files of seed URLs, one a set; or `random:50`, or `per-host:1`.
    #[arg(long, value_name = "FILES|random:N|per-host:N", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) seeds: Vec<String>,
    /// Seed sets; as many as there are files of seeds, else 1.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed_sets: Option<u32>,
    /// Seed of everything random; 1.
    // TOML has no larger number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    /// Pages crawled before the first batch, without link discovery: a file of URLs, or `share:0.9`.
    #[arg(long, value_name = "FILE|share:P")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) crawled: Option<String>,
    /// Share of the uncrawled pages of most in-links that is crawled too, such as 20%.
    #[arg(long, value_name = "SHARE")]
    #[serde(deserialize_with = "scalar", skip_serializing_if = "Option::is_none")]
    pub(super) promote: Option<String>,
    /// Pages per batch: a number, a share such as 1% (the default), or what a polite crawler has time for in a
    /// time such as 60s. Of several, policies run with each: as they are with the first, and as POLICY+batch=N with
    /// the others.
    #[arg(long, value_name = "N|SHARE|TIME", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) batch: Vec<String>,
    /// Pages to fetch at most: a number or a share.
    #[arg(long, value_name = "N|SHARE")]
    #[serde(deserialize_with = "scalar", skip_serializing_if = "Option::is_none")]
    pub(super) max_pages: Option<String>,
    /// Seconds between two requests to a host, 1 where batches are times. With this or another setting of time
    /// everything is also told against seconds, of a crawler that asks for its batches one after the other, its
    /// hosts side by side.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delay: Option<f64>,
    /// Delays of hosts that have their own: a host and seconds on a line.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delays: Option<String>,
    /// Addresses of hosts, for queues by address: a host and its address on a line.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) addresses: Option<String>,
    /// What the crawler keeps a queue for: host, domain or ip.
    #[arg(long, value_name = "WHAT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) queue_by: Option<String>,
    /// Requests that a queue has under way at once; 1.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) connections: Option<usize>,
    /// Seconds after which crawls end.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_seconds: Option<f64>,
    /// Tell where rules would have stopped each crawl, and what that would have cost: sufficiency:0.7,
    /// settled:1%, saturated, no-gain, learned, compatible, knee, fixed:20%, never and oracle. Crawls run until their
    /// frontier is empty.
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) stop: Vec<String>,
    /// Crawl for each query of the workload alone, from the seeds, as progressive crawling does, with --max-pages for
    /// each; rules of --stop look after every batch.
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) single_query: bool,
    /// Tell how far the sufficiency of queries goes with the nDCG@10 that they have, at every checkpoint of the crawls.
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) sufficiency: bool,
    /// A model of kind `sentence-embedding` that judges, too, with --sufficiency or the stop rule `learned`: how near the titles
    /// that were fetched come to each query. Policies do not read it.
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sufficiency_model: Option<String>,
    /// Also crawl without each group of evidence, one at a time, and tell what each is worth. The
    /// groups are those of `prospect policies`.
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) ablate: bool,
    /// Where crawls are evaluated, such as 100,1%,10%; 1%, 2% and every 5 % by default.
    #[arg(long, value_name = "N|SHARE", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) checkpoints: Vec<String>,
    /// Links out of the collection: `drop` (the default), or `charge` them to the budget, `failed` those alone
    /// that the corpus has as failed fetches.
    #[arg(long, value_name = "HOW")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outside: Option<String>,
    /// Length of result lists; 10.
    #[arg(long, value_name = "K")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top: Option<usize>,
    /// How likely a rank is seen, of which impact is made: `top` (the default), `log` or
    /// `geometric:P`.
    #[arg(long, value_name = "V")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) visibility: Option<Visibility>,
    /// BM25's k1; 0.9.
    #[arg(long, value_name = "K1", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) k1: Option<f64>,
    /// BM25's b; 0.4.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) b: Option<f64>,
    /// The policy that others are compared with; `bfs`.
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline: Option<String>,
    /// Level of significance; 0.01.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) significance: Option<f64>,
    /// TREC runs to write: `none` (the default), `last` checkpoint, or `all`.
    #[arg(long, value_name = "WHICH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) runs: Option<String>,
    /// Shares of the sketches to keep, for the experiment of limited sketches; 1 is all.
    #[arg(long, value_name = "SHARES", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) sketches: Vec<String>,
    /// Share of the uncrawled pages fetched at which their impact is read; 20%.
    #[arg(long, value_name = "SHARE")]
    #[serde(deserialize_with = "scalar", skip_serializing_if = "Option::is_none")]
    pub(super) sketches_at: Option<String>,
    /// Draw one batch of each policy that explores so many times, and see whether counterfactual
    /// estimates of other batches hold.
    #[arg(long, value_name = "TRIALS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) counterfactual: Option<usize>,
    /// Share of the pages fetched when that batch is drawn; 10%.
    #[arg(long, value_name = "SHARE")]
    #[serde(deserialize_with = "scalar", skip_serializing_if = "Option::is_none")]
    pub(super) counterfactual_at: Option<String>,
    /// Answer so many random what-if questions in a crawl of each policy that plans, carry each
    /// scenario out, and compare the change that was predicted with the one that came.
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) whatif: Option<usize>,
    /// Share of the pages fetched before that; 10%.
    #[arg(long, value_name = "SHARE")]
    #[serde(deserialize_with = "scalar", skip_serializing_if = "Option::is_none")]
    pub(super) whatif_at: Option<String>,
    /// Attacks to crawl under as well, each by itself: `control`, `newcomers`, `anchor-stuffing`, `url-stuffing`,
    /// `link-farm:N` (10 to 1000 domains), `bait-and-switch`, `sybil`, `sybil-bait`, `hijack`, `mimic`, `fresh`,
    /// `query-log:N` (1 to 10 percent of the log), `quality`; or `all`, the smallest of each.
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub(super) attack: Vec<String>,
    /// Share of the attacked collection that is the attacker's; 1%.
    #[arg(long, value_name = "SHARE")]
    #[serde(deserialize_with = "scalar", skip_serializing_if = "Option::is_none")]
    pub(super) attack_share: Option<String>,
}

impl Config {
    /// How the collection is read.
    pub(super) fn source(&self) -> Result<SourceOptions, Failure> {
        let urls_of_ids = doc_urls::of_pages(self.doc_urls.as_deref().map(Path::new))?;
        let base_url = self.base_url.clone();
        Ok(SourceOptions { base_url, urls_of_ids, ..SourceOptions::default() })
    }

    /// Whether pages have a quality.
    pub(super) fn has_quality(&self) -> bool {
        self.quality.is_some() || self.quality_model.is_some()
    }

    /// How words are made.
    pub(super) fn words(&self) -> WordOptions {
        WordOptions::new(self.stem, self.stop_words.clone(), self.fold_accents)
    }
}

/// Languages with stop words, one or a list of them.
fn languages<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Language>, D::Error> {
    let names = list(input)?;
    names.iter().map(|name| Language::with_stop_words(name).map_err(D::Error::custom)).collect()
}

/// One value or a list of them, numbers as they are written.
fn list<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        One(Scalar),
        Many(Vec<Scalar>),
    }
    Ok(match Given::deserialize(input)? {
        Given::One(one) => one.text().split(',').map(|part| part.trim().to_owned()).collect(),
        Given::Many(many) => many.iter().map(Scalar::text).collect(),
    })
}

fn scalar<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Scalar::deserialize(input).map(|value| Some(value.text()))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Whole(i64),
    Number(f64),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// Quality that the corpus itself carries.
pub(super) const CARRIED: &str = "column";

/// Key under which a file holds experiments of its own, each over the settings beside it.
const EXPERIMENTS: &str = "experiment";
const BELOW: &str = "write each experiment below [[experiment]]";
/// Key that names an experiment: its folder below the output.
const NAME: &str = "name";

/// The experiments of a file with their names; one without a name if it holds no list.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<(String, Config)>, Failure> {
    let mut base: toml::Table = text.parse().map_err(|error| broken(path, &error))?;
    let experiments = match base.remove(EXPERIMENTS) {
        None => {
            // From the text, so that an error names its line.
            let config = toml::from_str(text).map_err(|error| broken(path, &error))?;
            return Ok(vec![(String::new(), rooted(config, path))]);
        }
        Some(toml::Value::Array(experiments)) => experiments,
        Some(_) => {
            let error = anyhow::anyhow!("{}: `experiment` is no list", path.display());
            return Err(Failure::input(error, BELOW));
        }
    };
    let mut configs = Vec::new();
    for (number, own) in experiments.into_iter().enumerate() {
        let toml::Value::Table(mut own) = own else {
            let error = anyhow::anyhow!("{}: `experiment` holds no tables", path.display());
            return Err(Failure::input(error, BELOW));
        };
        let name =
            own.remove(NAME).map_or(Ok((number + 1).to_string()), |name| folder(path, &name))?;
        if configs.iter().any(|(other, _)| *other == name) {
            let error = anyhow::anyhow!("{}: two experiments have the name {name}", path.display());
            return Err(Failure::input(error, "a name is a folder below --out; give another one"));
        }
        let mut table = base.clone();
        table.extend(own);
        let config = table.try_into().map_err(|error| broken_below(path, text, &name, &error))?;
        configs.push((name, rooted(config, path)));
    }
    Ok(configs)
}

/// The name of an experiment, which is that of a folder.
fn folder(path: &Path, name: &toml::Value) -> Result<String, Failure> {
    match name {
        toml::Value::String(name) if is_folder(name) => Ok(name.clone()),
        other => {
            let given = other
                .as_str()
                .map_or_else(|| format!("a {}", other.type_str()), |name| format!("{name:?}"));
            let error = anyhow::anyhow!("{}: {given} cannot name an experiment", path.display());
            Err(Failure::input(error, "names are of letters, digits, and - _ . within"))
        }
    }
}

fn is_folder(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(plain)
}

/// Paths of a file are relative to its folder.
fn rooted(mut config: Config, file: &Path) -> Config {
    let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return config;
    };
    let join = |path: &mut String| *path = folder.join(&*path).to_string_lossy().into_owned();
    config.corpus.iter_mut().for_each(join);
    for seeds in &mut config.seeds {
        if !is_rule(seeds) {
            join(seeds);
        }
    }
    if let Some(crawled) = config.crawled.as_mut().filter(|crawled| !is_rule(crawled)) {
        join(crawled);
    }
    let Config {
        store,
        workload,
        eval_workload,
        qrels,
        doc_urls,
        quality,
        quality_model,
        rerank,
        rerank_model,
        embedding_model,
        sufficiency_model,
        delays,
        addresses,
        ..
    } = &mut config;
    let models = [rerank, rerank_model, embedding_model, sufficiency_model];
    let files = [store, workload, eval_workload, qrels, doc_urls, delays, addresses];
    for path in files.into_iter().chain(models) {
        path.iter_mut().for_each(join);
    }
    quality.iter_mut().filter(|given| *given != CARRIED).for_each(join);
    let is_directory = |name: &&mut String| ![BUNDLED, text_length::NAME].contains(&name.as_str());
    quality_model.iter_mut().filter(is_directory).for_each(join);
    config
}

/// Whether seeds or crawled pages are given by a rule, and not by a file.
pub(super) fn is_rule(given: &str) -> bool {
    ["random:", "per-host:", "share:"].iter().any(|rule| given.starts_with(rule))
}

/// Settings of which one takes the place of another.
const INSTEAD: [(&str, &str); 9] = [
    ("corpus", "store"),
    ("store", "corpus"),
    ("seeds", "crawled"),
    ("seeds", "promote"),
    ("crawled", "seeds"),
    ("rerank", "rerank-model"),
    ("rerank-model", "rerank"),
    ("quality", "quality-model"),
    ("quality-model", "quality"),
];

/// Settings of `flags` where they are given, else of the file.
pub(super) fn over(flags: &Config, file: &Config) -> Result<Config, Failure> {
    let table = |config: &Config| toml::Table::try_from(config).map_err(Failure::ours);
    let mut merged = table(file)?;
    let flags = table(flags)?;
    for (given, other) in INSTEAD {
        if flags.contains_key(given) {
            merged.remove(other);
        }
    }
    merged.extend(flags);
    merged.try_into().map_err(Failure::ours)
}

/// A file that is no experiment: what is wrong, where, and which key was meant.
fn broken(path: &Path, error: &toml::de::Error) -> Failure {
    let error_text = anyhow::anyhow!("{}: {}", path.display(), error.to_string().trim_end());
    Failure::input(error_text, hint(error))
}

/// The same for an experiment below `[[experiment]]`, which is no longer text when it is read.
fn broken_below(path: &Path, text: &str, name: &str, error: &toml::de::Error) -> Failure {
    let key = unknown_key(error.message()).map(|(given, _)| given);
    let is_key = |line: &str| {
        line.split_once('=').is_some_and(|(left, _)| Some(left.trim()) == key.as_deref())
    };
    let place = match text.lines().position(is_key) {
        Some(line) => format!("{}:{}", path.display(), line + 1),
        None => path.display().to_string(),
    };
    let message = anyhow::anyhow!("{place}: experiment {name}: {}", error.message());
    Failure::input(message, hint(error))
}

fn hint(error: &toml::de::Error) -> String {
    match unknown_key(error.message()) {
        Some((given, near)) => format!("there is no key {given}; did you mean {near}?"),
        None => "`prospect simulate --help` lists the keys: a flag without its dashes".to_owned(),
    }
}

/// The key that was given and the nearest there is, out of serde's message.
fn unknown_key(message: &str) -> Option<(String, String)> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let given = names.next()?;
    let distance = |name: &&str| (strsim::osa_distance(given, name), (*name).to_owned());
    Some((given.to_owned(), names.min_by_key(distance)?.to_owned()))
}

/// The paths of a list.
pub(super) fn paths(given: &[String]) -> Vec<PathBuf> {
    given.iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_flags_say() {
        let text =
            "corpus = 'pages.jsonl'\npolicy = 'bfs, qmin'\nbatch = 1\ncheckpoints = ['1%', 100]\n";
        let configs = read(Path::new("dir/run.toml"), text).unwrap();
        let config = &configs[0].1;
        assert_eq!(config.corpus, ["dir/pages.jsonl"]);
        assert_eq!(config.policy, ["bfs", "qmin"]);
        assert_eq!(config.batch, ["1"]);
        assert_eq!(config.checkpoints, ["1%", "100"]);
        let flags = Config { batch: vec!["2%".to_owned()], ..Config::default() };
        let merged = over(&flags, config).unwrap();
        assert_eq!((merged.batch[0].as_str(), merged.policy.len()), ("2%", 2));
    }

    #[test]
    fn experiments_share_what_stands_beside_them() {
        let text = "policy = ['bfs']\n[[experiment]]\nname = 'a'\nbatch = 1\n[[experiment]]\npolicy = 'dfs'\n";
        let configs = read(Path::new("run.toml"), text).unwrap();
        let found: Vec<_> = configs
            .iter()
            .map(|(name, config)| (name.as_str(), config.policy[0].as_str()))
            .collect();
        assert_eq!(found, [("a", "bfs"), ("2", "dfs")]);
    }
}
