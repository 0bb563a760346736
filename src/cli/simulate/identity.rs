//! Which experiment it is, by its version, its settings and the contents of its inputs; and what a
//! folder holds of it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use prospect_index::storage::{Checksum, Storage};
use xxhash_rust::xxh3::xxh3_64;

use super::config::{CARRIED, Config};
use super::settings;
use crate::cli::output::Failure;
use crate::evaluate::run::RERANK_DEPTH;
use crate::results::{InputFile, ModelUsed, Provenance, Reranker, Summary};
use crate::simulate::load::PagePlace;
use crate::simulate::settings::SimulationSettings;

/// Where work in progress is kept, below the output.
pub(super) const WORK: &str = "work";
/// Scores of a cross-encoder there, where no other place is asked for.
pub(super) const SCORES: &str = "scores";
/// Name of the vectors of an embedding model among them, where they are kept nowhere else.
pub(super) const VECTORS: &str = "vectors";
/// Key of the model.
const EMBEDDING: &str = "embedding-model";
/// What of it is built anew whenever an experiment goes on.
const BUILT_ANEW: [&str; 4] = ["strings", VECTORS, PagePlace::NAMES[0], PagePlace::NAMES[1]];
/// What a run is for that orders results anew.
const RERANK: &str = "rerank";
/// The file that ends an experiment.
pub(super) const SUMMARY: &str = "summary.json";
/// The file that begins an experiment: from then on the folder is its own.
const PROVENANCE: &str = "PROVENANCE.json";

/// Names the experiment.
pub(super) fn hash(provenance: &Provenance) -> Result<u64, Failure> {
    Ok(xxh3_64(&serde_json::to_vec(provenance)?))
}

/// Takes the folder for the experiment: the summary if it is complete there, none if there is
/// work to do.
///
/// # Errors
/// The folder is of another experiment that has got as far as crawling, or has work of no
/// experiment in it: nothing of it is touched.
pub(super) fn claim(
    storage: &Storage,
    out: &Path,
    provenance: &Provenance,
) -> Result<Option<Summary>, Failure> {
    let bytes = serde_json::to_vec_pretty(provenance)?;
    if storage.exists(PROVENANCE) {
        let found = storage.read(PROVENANCE)?;
        if found == bytes {
            return complete(storage);
        }
        if storage.exists(SUMMARY) || has_crawls(storage)? {
            let what = serde_json::from_slice(&found).map_or_else(
                |_| "its PROVENANCE.json is damaged".to_owned(),
                |found| format!("other {}", differences(&found, provenance)),
            );
            let error = anyhow::anyhow!("{} holds another experiment: {what}", out.display());
            return Err(Failure::input(error, "give another --out, or remove the folder"));
        }
    } else if let Some(name) = [WORK, SUMMARY].into_iter().find(|name| storage.exists(name)) {
        let error = anyhow::anyhow!("{} is of no experiment", storage.path(name).display());
        return Err(Failure::input(error, "give another --out: a new or an empty folder"));
    }
    storage.write(PROVENANCE, &bytes)?;
    Ok(None)
}

/// The summary, if the experiment got that far. It may have been killed before its work was
/// removed.
fn complete(storage: &Storage) -> Result<Option<Summary>, Failure> {
    if !storage.exists(SUMMARY) {
        return Ok(None);
    }
    let summary: Option<Summary> = serde_json::from_slice(&storage.read(SUMMARY)?).ok();
    if summary.is_some() {
        storage.remove(WORK)?;
    }
    Ok(summary)
}

fn has_crawls(storage: &Storage) -> Result<bool, Failure> {
    Ok(storage.list(WORK)?.iter().any(|name| !BUILT_ANEW.contains(&name.as_str())))
}

/// Names of what two experiments do not share.
fn differences(a: &Provenance, b: &Provenance) -> String {
    let (own, other) = (&a.config, &b.config);
    let mut names = BTreeSet::new();
    if a.version != b.version {
        names.insert("version");
    }
    if a.reranker != b.reranker && own.get(RERANK) == other.get(RERANK) {
        names.insert("rerank-model");
    }
    if a.embedding != b.embedding && own.get(EMBEDDING) == other.get(EMBEDDING) {
        names.insert(EMBEDDING);
    }
    let keys = |of: &'_ serde_json::Value| {
        of.as_object().map(|table| table.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    let keys: Vec<String> = keys(own).into_iter().chain(keys(other)).collect();
    names.extend(keys.iter().map(String::as_str).filter(|key| own.get(key) != other.get(key)));
    let missing = |of: &'_ [InputFile], from: &[InputFile]| -> Vec<String> {
        of.iter().filter(|input| !from.contains(input)).map(|input| input.role.clone()).collect()
    };
    let mut roles = missing(&a.inputs, &b.inputs);
    roles.extend(missing(&b.inputs, &a.inputs));
    names.extend(roles.iter().map(String::as_str));
    names.into_iter().collect::<Vec<_>>().join(", ")
}

pub(super) fn provenance(
    config: &Config,
    settings: &SimulationSettings,
    inputs: Vec<InputFile>,
    model: Option<Reranker>,
    embedding: Option<ModelUsed>,
) -> Result<Provenance, Failure> {
    let json = settings::as_json(config, settings);
    let run = inputs.iter().find(|input| input.role == RERANK).map(|input| Reranker {
        name: input.name.clone(),
        fingerprint: input.xxh3.clone(),
        depth: RERANK_DEPTH,
    });
    Ok(Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config_hash: format!("{:016x}", xxh3_64(&serde_json::to_vec(&json)?)),
        config: json,
        inputs,
        seed: settings.seed,
        k1: settings.plan.bm25.k1,
        b: settings.plan.bm25.b,
        k: settings.plan.k,
        visibility: settings.plan.visibility.named(),
        reranker: model.or(run),
        embedding,
    })
}

/// The files that an experiment reads, with their contents' checksums.
pub(super) fn input_files(
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
        one("doc-urls", &config.doc_urls),
        one("quality", &config.quality).filter(|(_, path)| path != CARRIED),
        one(RERANK, &config.rerank),
    ];
    let store = config.store.iter().map(|store| ("store", format!("{store}/MANIFEST.json")));
    let all = corpus.chain(store).chain(others.into_iter().flatten());
    for (role, path) in all.chain(start_files.iter().cloned()) {
        if path == "-" {
            let error =
                anyhow::anyhow!("{role} is `-`, standard input, which is gone once it is read");
            return Err(Failure::input(error, "name a file: a killed experiment reads it again"));
        }
        let path = PathBuf::from(path);
        if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let error =
                anyhow::anyhow!("{role} {} is no file, and gone once it is read", path.display());
            return Err(Failure::input(error, "name a file: a killed experiment reads it again"));
        }
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
