//! `prospect evaluation-set`: queries with judgements and other wordings, made of the pages of a store.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::output::{self, Failure, say};
use super::sufficiency::language_model::{self, LlmArgs};
use super::{Global, export, open};
use crate::campaign::OpenStore;
use crate::report::number::counted;
use crate::sufficiency::evaluation_set::{MadeQuery, Origin, Phrases};
use crate::sufficiency::strategy::language_model::AskedModel;

/// Queries of each origin.
const QUERIES: usize = 200;

/// Arguments of `prospect evaluation-set`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Folder for `pages.jsonl`, `queries.tsv`, `variants.tsv` and `qrels.txt`; made if it is missing.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What queries are made of: title, anchor, heading (of texts that have lines), and with --llm-url llm, what a
    /// language model says that pages answer.
    #[arg(long, value_name = "ORIGINS", value_delimiter = ',', default_value = "title,anchor,heading",
        value_parser = origin)]
    from: Vec<Origin>,
    /// Queries of each kind at most.
    #[arg(long, value_name = "N", default_value_t = QUERIES)]
    queries: usize,
    /// Seed of the draw.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    llm: LlmArgs,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let mut model = args.llm.model()?;
    if args.from.contains(&Origin::Model) && model.is_none() {
        let error = anyhow::anyhow!("no language model is named");
        return Err(Failure::input(error, "--from llm goes with --llm-url and --llm-model"));
    }
    let open = open::to_ask(&args.store, "prospect evaluation-set", global)?;
    let mut phrases = open.phrases()?;
    if let Some(model) = model.as_mut().filter(|_| args.from.contains(&Origin::Model)) {
        ask(&open, &mut phrases, args, model)?;
        language_model::tell(model, global);
    }
    let mut origins = args.from.clone();
    origins.sort_unstable();
    origins.dedup();
    let made = phrases.queries(&origins, args.queries, args.seed);
    if made.is_empty() {
        let store = args.store.display();
        let error = anyhow::anyhow!("{store}: no title, anchor or heading makes a query");
        let hint = "a query has two to eight words and leads to at most three pages; an anchor has two pages that use it";
        return Err(Failure::input(error, hint));
    }
    let files = write(&open, &made, &args.out)?;
    if global.json {
        return output::print_json(&json!({
            "schema": "prospect.evaluation-set/1",
            "queries": Origin::ALL.map(|origin| (origin.name(), count(&made, origin)))
                .into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "judgements": made.iter().map(|own| own.relevant.len()).sum::<usize>(),
            "wordings": made.iter().map(|own| own.wordings.len()).sum::<usize>(),
            "files": files,
        }));
    }
    tell(&made, &args.out, global);
    let words = open.known.analyzer.options();
    if !words.is_plain() {
        say(
            global,
            &format!("words of the store: {words}; simulate has the same options of words"),
        );
    }
    Ok(())
}

fn origin(given: &str) -> Result<Origin, String> {
    let named = Origin::ALL.into_iter().find(|origin| origin.name() == given);
    named.ok_or_else(|| format!("the origins are {}", Origin::ALL.map(Origin::name).join(", ")))
}

/// Shows pages to a model, as long as it answers, and takes in the queries that it gives.
fn ask(
    open: &OpenStore,
    phrases: &mut Phrases,
    args: &Args,
    model: &mut AskedModel,
) -> Result<(), Failure> {
    let drawn = phrases.drawn_pages(args.queries, args.seed);
    let texts = open.texts_of(&drawn)?;
    for url in drawn {
        if !model.is_asked() {
            break;
        }
        if let Some((title, text)) = texts.get(&url) {
            for query in model.queries_of(title, text) {
                phrases.add_of_model(url, &query);
            }
        }
    }
    Ok(())
}

/// Writes the set; the names of its files.
fn write(open: &OpenStore, made: &[MadeQuery], folder: &Path) -> Result<Vec<String>, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| output::not_written(folder, error))?;
    let qid = |at: usize| format!("q{}", at + 1);
    let (mut queries, mut variants, mut qrels) = (String::new(), String::new(), String::new());
    for (at, MadeQuery { text, origin, relevant, wordings }) in made.iter().enumerate() {
        queries += &format!("{}\t{text}\t1\t{}\n", qid(at), origin.name());
        for wording in wordings {
            variants += &format!("{}\t{wording}\n", qid(at));
        }
        for url in relevant {
            qrels += &format!("{} 0 {} 1\n", qid(at), open.known.urls.url(*url));
        }
    }
    let named = [("queries.tsv", queries), ("variants.tsv", variants), ("qrels.txt", qrels)];
    let mut files = Vec::new();
    for (name, text) in named {
        let path = folder.join(name);
        output::write_file(&path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| output::not_written(&path, error))?;
        files.push(path.display().to_string());
    }
    let path = folder.join("pages.jsonl");
    export::pages(open, &path)?;
    files.push(path.display().to_string());
    Ok(files)
}

fn count(made: &[MadeQuery], origin: Origin) -> usize {
    made.iter().filter(|own| own.origin == origin).count()
}

fn tell(made: &[MadeQuery], folder: &Path, global: &Global) {
    for origin in Origin::ALL {
        let own = count(made, origin) as u64;
        if own > 0 {
            let judged = made.iter().filter(|own| own.origin == origin);
            let judged: usize = judged.map(|own| own.relevant.len()).sum();
            let line = format!("{} queries of kind {}, {judged} judgements", own, origin.name());
            say(global, &line);
        }
    }
    let wordings: usize = made.iter().map(|own| own.wordings.len()).sum();
    say(global, &format!("{} that say the same", counted(wordings as u64, "wording")));
    let folder = folder.display();
    say(
        global,
        &format!(
            "next: prospect simulate --corpus {folder}/pages.jsonl --workload {folder}/queries.tsv --qrels {folder}/qrels.txt \
             --policy bfs,prospect --seeds random:50 --sufficiency --out {folder}/crawls"
        ),
    );
}
