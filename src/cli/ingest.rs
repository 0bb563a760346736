//! `prospect ingest`: fetched pages into a store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prospect_index::ingest::{Committed, IngestCounts, IngestSession, PreparedPage, prepare};
use prospect_index::limits;
use prospect_index::store::{Store, StoreOptions};
use rayon::prelude::*;

use super::model::StoreQualityOptions;
use super::output::{self, Failure, Progress, say};
use super::{Global, plan};
use crate::campaign::OpenStore;
use crate::campaign::close;
use crate::ingest::{self, PageSource, SourceItem, SourceOptions};
use crate::planner::outcome::CycleOutcome;

/// Records that are read at once.
const BATCH: usize = 2_000;

/// Arguments of `prospect ingest`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store; made if it is missing.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// WARC files or JSON lines (both plain, .gz or .zst), HTML files, or a directory of them; `-` is standard
    /// input.
    #[arg(required_unless_present = "close", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Fail at the first bad record instead of skipping it.
    #[arg(long)]
    strict: bool,
    /// Close the cycle of the open plan afterwards; alone, of what is in the store.
    #[arg(long)]
    close: bool,
    #[command(flatten)]
    quality: StoreQualityOptions,
    /// URL that the HTML files were served at.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Directory that --base-url stands for; by default the directory that is read.
    #[arg(long, value_name = "DIR")]
    html_root: Option<PathBuf>,
}

/// Skipped records: by reason, how many and the first.
#[derive(Default)]
struct Skipped(BTreeMap<String, (u64, String)>);

impl Skipped {
    fn count(&mut self, reason: &str, example: impl FnOnce() -> String) {
        self.0.entry(reason.to_owned()).or_insert_with(|| (0, example())).0 += 1;
    }
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    if args.files.is_empty() {
        let store =
            Store::open(&args.store, &StoreOptions { create: false, ..held("prospect ingest") })?;
        return finish(
            args,
            global,
            store,
            &IngestCounts::default(),
            Committed::Empty,
            &Skipped::default(),
        );
    }
    let options = SourceOptions {
        base_url: args.base_url.clone(),
        html_root: args.html_root.clone(),
        ..SourceOptions::default()
    };
    let mut source = ingest::open(&args.files, &options)?;
    let store = open_store(&args.store, "prospect ingest")?;
    let mut session = IngestSession::start(store)?;
    let skipped = match read(source.as_mut(), &mut session, args.strict, global) {
        Ok(skipped) => skipped,
        Err(failure) => {
            drop(session);
            // Opening a store removes what an ingest that was given up has left there.
            let _ = open_store(&args.store, "prospect ingest");
            return Err(failure);
        }
    };
    let (store, counts, committed) = session.commit(&source.fingerprint())?;
    finish(args, global, store, &counts, committed, &skipped)
}

/// Closes the cycle, scores what has no quality and tells what came of it.
fn finish(
    args: &Args,
    global: &Global,
    store: Store,
    counts: &IngestCounts,
    committed: Committed,
    skipped: &Skipped,
) -> Result<(), Failure> {
    let mut open = OpenStore::of(store, limits::NGRAM_WORDS)?;
    let closed = match open.store.manifest().plan {
        Some(_) if args.close => Some(close::close(&mut open)?),
        _ => None,
    };
    args.quality.score(&mut open, global)?;
    report(global, &open, counts, skipped, committed, closed.as_ref())?;
    match &closed {
        Some(outcome) => plan::say_outcome(global, outcome),
        // Not an error: the same command may have closed it before it was interrupted.
        None if args.close => say(global, "there is no open plan to close"),
        None => {}
    }
    let next = "prospect plan --store";
    let directory = args.store.display();
    say(global, &format!("next: {next} {directory} --workload Q.tsv --budget 1000"));
    Ok(())
}

pub(super) fn open_store(path: &Path, holder: &str) -> Result<Store, Failure> {
    Ok(Store::open(path, &held(holder))?)
}

/// How a store is opened that is made if it is missing.
fn held(holder: &str) -> StoreOptions {
    StoreOptions { create: true, holder: holder.to_owned() }
}

fn read(
    source: &mut dyn PageSource,
    session: &mut IngestSession,
    strict: bool,
    global: &Global,
) -> Result<Skipped, Failure> {
    let mut skipped = Skipped::default();
    let mut progress = Progress::new(global, "ingest", source.progress().1);
    loop {
        let items = source.next_batch(BATCH)?;
        if items.is_empty() {
            progress.done();
            return Ok(skipped);
        }
        let prepared: Vec<Result<PreparedPage, (String, String)>> =
            items.into_par_iter().map(prepared).collect();
        for page in prepared {
            match page {
                Ok(page) => session.add(page)?,
                Err((reason, example)) if strict => {
                    let error = anyhow::anyhow!("{example}: {reason}");
                    return Err(Failure::input(
                        error,
                        "nothing was stored; without --strict bad records are skipped and counted",
                    ));
                }
                Err((reason, example)) => skipped.count(&reason, || example),
            }
        }
        let (bytes, total) = source.progress();
        let share = total.map_or(String::new(), |total| {
            format!(" ({:.0} %)", 100.0 * bytes as f64 / total.max(1) as f64)
        });
        progress.at(bytes, &format!("{} records{share}", session.counts().records));
    }
}

fn prepared(item: SourceItem) -> Result<PreparedPage, (String, String)> {
    match item {
        SourceItem::Page { record, origin, cuts } => {
            let mut page = prepare(record)
                .map_err(|error| ("invalid-url".to_owned(), format!("{origin}: {error}")))?;
            page.note_cuts(&cuts);
            Ok(page)
        }
        SourceItem::Bad { reason, origin, detail } => {
            Err((reason.name().to_owned(), format!("{origin}: {detail}")))
        }
    }
}

/// Records that are neither pages nor failures, where there are any.
fn others(counts: &IngestCounts) -> String {
    let of = |count: u64, what: &str| match count {
        0 => String::new(),
        count => format!(", {count} {what}"),
    };
    of(counts.moved, "moved") + &of(counts.unchanged, "unchanged")
}

fn report(
    global: &Global,
    open: &OpenStore,
    counts: &IngestCounts,
    skipped: &Skipped,
    committed: Committed,
    closed: Option<&CycleOutcome>,
) -> Result<(), Failure> {
    if global.json {
        let skipped: BTreeMap<&str, serde_json::Value> = skipped
            .0
            .iter()
            .map(|(reason, (count, first))| {
                (reason.as_str(), serde_json::json!({ "count": count, "first": first }))
            })
            .collect();
        let result = serde_json::json!({
            "schema": "prospect.ingest/2",
            "stored": committed == Committed::Stored,
            "counts": counts,
            "skipped": skipped,
            "closed": closed,
            "pages": open.known.pages.len(),
            "urls": open.known.urls.len(),
            "refreshed": open.refreshes,
        });
        output::print_json(&result)?;
        return Ok(());
    }
    match committed {
        Committed::Stored => {}
        Committed::Unchanged => {
            say(global, "these inputs are the last ingest of this store: nothing to store");
        }
        Committed::Empty if closed.is_some() => {}
        Committed::Empty => say(global, "there was no page to store"),
    }
    if committed == Committed::Stored {
        say(
            global,
            &format!(
                "{} pages and {} failed fetches stored{}; {} replaced, {} repeated; {} links; {} new URLs",
                counts.pages,
                counts.failed,
                others(counts),
                counts.replaced,
                counts.repeated,
                counts.links,
                counts.new_urls
            ),
        );
    }
    for (reason, (count, first)) in &skipped.0 {
        say(global, &format!("skipped {count} ({reason}), the first at {first}"));
    }
    output::say_cuts(global, counts.cuts.iter().map(|(limit, &count)| (limit.as_str(), count)));
    output::say_refreshes(global, &open.refreshes);
    let (pages, urls) = (open.known.pages.len(), open.known.urls.len());
    say(global, &format!("the store knows {urls} URLs and holds {pages} pages"));
    Ok(())
}
