//! `prospect ingest`: fetched pages into a store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prospect_index::fetch_time;
use prospect_index::ingest::{Committed, IngestCounts, IngestSession, PreparedPage, prepare};
use prospect_index::limits;
use prospect_index::store::{Store, StoreOptions};
use rayon::prelude::*;
use serde::Serialize;

use super::model::{StoreQuality, StoreQualityOptions};
use super::output::{self, Failure, Progress, say};
use super::words::WordArgs;
use super::{Global, doc_urls, hints, plan};
use crate::campaign::close::{self, Which};
use crate::campaign::identity::LastInputs;
use crate::campaign::open_plans::OpenBatch;
use crate::campaign::{CampaignError, OpenStore};
use crate::ingest::urls::{NamedUrl, UrlFiles, UrlItem};
use crate::ingest::{
    self, BadReason, Misnamed, MisnamedKeys, PageSource, SourceItem, SourceOptions,
};
use crate::planner::outcome::CycleOutcome;
use crate::report::number::{and_counted, counted, with_noun};

/// Files beside those of open plans from which on an ingest merges small ones.
const MANY_FILES: usize = 512;
/// Records that are read at once.
const BATCH: usize = 2_000;
/// URLs that are read at once.
const URLS: usize = 10_000;

/// Arguments of `prospect ingest`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store; made if it is missing.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// WARC files (WAT and WET too) or JSON lines (plain, .gz or .zst), Parquet, HTML files, or a directory of them;
    /// beside them files of their links (tables, what `nutch readlinkdb` dumps); `-` is standard input.
    #[arg(required_unless_present = "close", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Fail at the first bad record instead of skipping it.
    #[arg(long)]
    strict: bool,
    /// Close all open plans afterwards: what was not reported of them is not in flight any longer. Alone, without
    /// a file.
    ///
    /// Without it a plan is closed when each of its URLs was reported, or when it has had no record for as long as
    /// `prospect plan --in-flight-for` says.
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
    /// URLs of pages that have an id (`doc_id`, `docno`, `_id`) and no `url`: `id<TAB>url` a line, or JSON lines.
    #[arg(long, value_name = "FILE")]
    doc_urls: Option<PathBuf>,
    #[command(flatten)]
    words: WordArgs,
}

/// Skipped records: by reason, how many and the first.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Skipped(BTreeMap<String, SkippedFor>);

#[derive(Serialize)]
struct SkippedFor {
    count: u64,
    first: String,
}

impl Skipped {
    /// Counts one.
    pub(super) fn count(&mut self, reason: &str, example: impl FnOnce() -> String) {
        let new = || SkippedFor { count: 0, first: example() };
        self.0.entry(reason.to_owned()).or_insert_with(new).count += 1;
    }

    /// Where the first one stands, if there are some and all are skipped for the same reason.
    pub(super) fn only(&self, reason: &str) -> Option<&str> {
        let only = self.0.get(reason).filter(|_| self.0.len() == 1);
        only.map(|skipped| skipped.first.as_str())
    }

    /// Tells of them.
    pub(super) fn say(&self, global: &Global) {
        for (reason, SkippedFor { count, first }) in &self.0 {
            say(global, &format!("skipped {count} ({reason}), the first at {first}"));
        }
    }
}

/// Reads files that tell of URLs to their end, for the command of this name: `take` has each record, what is none is
/// skipped.
pub(super) fn each_url(
    files: &mut UrlFiles,
    command: &'static str,
    skipped: &mut Skipped,
    global: &Global,
    mut take: impl FnMut(NamedUrl, &mut Skipped) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut urls, mut progress) = (0_u64, Progress::new(global, command, files.progress().1));
    loop {
        let items = files.next_batch(URLS)?;
        if items.is_empty() {
            progress.done();
            return Ok(());
        }
        for item in items {
            match item {
                UrlItem::Bad { reason, origin, detail } => {
                    skipped.count(reason.name(), || format!("{origin}: {detail}"));
                }
                UrlItem::Url(url) => {
                    urls += 1;
                    take(url, skipped)?;
                }
            }
        }
        progress.at(files.progress().0, &format!("{urls} URLs"));
    }
}

/// What a command that brought records in ends with.
pub(super) struct Finish<'a> {
    /// Schema of what it prints as JSON.
    pub(super) schema: &'static str,
    /// The store.
    pub(super) store: &'a Path,
    /// Whether all open plans are closed.
    pub(super) close: bool,
    /// How pages are scored.
    pub(super) quality: Option<&'a StoreQuality>,
    /// What was taken in.
    pub(super) counts: &'a IngestCounts,
    /// Whether it was.
    pub(super) committed: Committed,
    /// What was not.
    pub(super) skipped: &'a Skipped,
    /// Keys that nothing read.
    pub(super) misnamed: MisnamedKeys,
}

/// What was read: what was skipped, how much of it should have been a page, and the first of that.
#[derive(Default)]
struct Read {
    skipped: Skipped,
    bad: u64,
    first_bad: Option<(BadReason, String)>,
    /// Records whose `fetched_at` is no time, and the first of these.
    undated: u64,
    first_undated: Option<String>,
}

impl Read {
    /// Counts a `fetched_at` that is no time.
    fn date(&mut self, page: &PreparedPage) {
        let given = page.record.fetched_at.as_deref().filter(|given| !given.trim().is_empty());
        let Some(given) = given.filter(|given| fetch_time::seconds(given).is_none()) else {
            return;
        };
        self.undated += 1;
        self.first_undated.get_or_insert_with(|| given.to_owned());
    }

    /// Tells how many there are.
    fn say_undated(&self, global: &Global) {
        if let Some(first) = &self.first_undated {
            let records = with_noun(self.undated, "record");
            say(
                global,
                &format!(
                    "the fetched_at of {records} is no time, and counts as none; the first: {first:?}"
                ),
            );
        }
    }
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    // What cannot score is told before anything is stored.
    let quality = args.quality.load(global)?;
    if args.files.is_empty() {
        let store =
            Store::open(&args.store, &StoreOptions { create: false, ..held("prospect ingest") })?;
        let (counts, skipped) = (IngestCounts::default(), Skipped::default());
        return finish(
            &args.finish(quality.as_ref(), &counts, Committed::Empty, &skipped),
            global,
            store,
        );
    }
    let options = SourceOptions {
        base_url: args.base_url.clone(),
        html_root: args.html_root.clone(),
        urls_of_ids: doc_urls::of_pages(args.doc_urls.as_deref())?,
        ..SourceOptions::default()
    };
    let mut source = ingest::open(&args.files, &options)?;
    let mut store = open_store(&args.store, "prospect ingest")?;
    args.words.keep_in(&mut store)?;
    let last = LastInputs::of(store.manifest());
    let mut session = session(store)?;
    let read = read(source.as_mut(), &mut session, args.strict, global)
        .and_then(|read| understood(read, &session, &source.misnamed()));
    let skipped = match read {
        Ok(skipped) => skipped,
        Err(failure) => {
            drop(session);
            // Opening a store removes what an ingest that was given up has left there.
            let _ = open_store(&args.store, "prospect ingest");
            return Err(failure);
        }
    };
    let inputs = last.next_counted(&source.fingerprint(), session.counts());
    let (store, counts, committed) = session.commit(&inputs)?;
    let finish_with = Finish {
        misnamed: source.misnamed(),
        ..args.finish(quality.as_ref(), &counts, committed, &skipped)
    };
    finish(&finish_with, global, store)
}

/// Refuses an ingest of records none of which is one: it would end as if all were well.
fn understood(
    Read { skipped, bad, first_bad, .. }: Read,
    session: &IngestSession,
    misnamed: &MisnamedKeys,
) -> Result<Skipped, Failure> {
    match first_bad {
        Some((reason, first)) if session.counts().records + session.counts().again == 0 => {
            let error = anyhow::anyhow!("none of the {bad} records is a page; the first: {first}");
            Err(Failure::input(error, hints::of_no_page(reason, misnamed)))
        }
        _ => Ok(skipped),
    }
}

impl Args {
    fn finish<'a>(
        &'a self,
        quality: Option<&'a StoreQuality>,
        counts: &'a IngestCounts,
        committed: Committed,
        skipped: &'a Skipped,
    ) -> Finish<'a> {
        let (store, close) = (self.store.as_path(), self.close);
        let schema = "prospect.ingest/3";
        let misnamed = MisnamedKeys::default();
        Finish { schema, store, close, quality, counts, committed, skipped, misnamed }
    }
}

/// Closes plans, scores what has no quality and tells what came of it.
pub(super) fn finish(finish: &Finish<'_>, global: &Global, store: Store) -> Result<(), Failure> {
    let mut open = OpenStore::of(store, limits::BOUNDS.ngram_words)?;
    let closed =
        close::close_plans(&mut open, if finish.close { Which::All } else { Which::Over }, None)?;
    if let Some(quality) = finish.quality {
        quality.score(&mut open, global)?;
    }
    if let Err(error) = open.merge_small_files(MANY_FILES) {
        say(global, &format!("what came is stored; small files could not be merged: {error}"));
    }
    report(global, &open, finish, &closed)?;
    for outcome in &closed {
        plan::say_outcome(global, outcome);
    }
    // Not an error: the same command may have closed it before it was interrupted.
    if finish.close && closed.is_empty() {
        let directory = finish.store.display();
        say(
            global,
            &format!(
                "there is no open plan to close; `prospect log --store {directory}` lists all that were made"
            ),
        );
    }
    for batch in OpenBatch::all(&open.store, &open.known)? {
        say(global, &format!("plan {} is open: {}", batch.plan.id, batch.counts()));
    }
    // Where nothing came in and nothing was closed, a plan is not what is next.
    if finish.committed != Committed::Empty || !closed.is_empty() {
        let next = "prospect plan --store";
        let directory = finish.store.display();
        say(global, &format!("next: {next} {directory} --workload Q.tsv --budget 1000"));
    }
    Ok(())
}

pub(super) fn open_store(path: &Path, holder: &str) -> Result<Store, Failure> {
    Ok(Store::open(path, &held(holder))?)
}

/// Starts an ingest of records, some of which open plans wait for.
pub(super) fn session(store: Store) -> Result<IngestSession, Failure> {
    let mut session = IngestSession::start(store)?;
    session.wait_for(|store, known| {
        let open = OpenBatch::all(store, known)?;
        Ok::<_, CampaignError>(open.iter().flat_map(OpenBatch::in_flight).collect())
    })?;
    Ok(session)
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
) -> Result<Read, Failure> {
    let mut found = Read::default();
    let mut progress = Progress::new(global, "ingest", source.progress().1);
    loop {
        let items = source.next_batch(BATCH)?;
        if items.is_empty() {
            progress.done();
            found.say_undated(global);
            return Ok(found);
        }
        let prepared: Vec<Result<PreparedPage, SkippedItem>> =
            items.into_par_iter().map(prepared).collect();
        for page in prepared {
            match page {
                Ok(page) => {
                    found.date(&page);
                    session.add(page)?;
                }
                Err(SkippedItem { reason, example, bad: Some(_) }) if strict => {
                    let error = anyhow::anyhow!("{example}: {reason}");
                    return Err(Failure::input(
                        error,
                        "nothing was stored; without --strict bad records are skipped and counted",
                    ));
                }
                Err(skipped) => found.skip(skipped),
            }
        }
        let (bytes, total) = source.progress();
        let share = total.map_or(String::new(), |total| {
            format!(" ({:.0} %)", 100.0 * bytes as f64 / total.max(1) as f64)
        });
        progress.at(bytes, &format!("{} records{share}", session.counts().records));
    }
}

/// What is not stored.
pub(super) struct SkippedItem {
    /// Why.
    pub(super) reason: &'static str,
    /// Where it stands, and what it is.
    pub(super) example: String,
    /// What is wrong with it, if it should have been a page.
    bad: Option<BadReason>,
}

impl Read {
    fn skip(&mut self, SkippedItem { reason, example, bad }: SkippedItem) {
        if let Some(bad) = bad {
            self.bad += 1;
            self.first_bad.get_or_insert_with(|| (bad, format!("{example} ({reason})")));
        }
        self.skipped.count(reason, || example);
    }
}

/// The form that a store takes, if an item has one.
pub(super) fn prepared(item: SourceItem) -> Result<PreparedPage, SkippedItem> {
    let skipped = |reason, example, bad| SkippedItem { reason, example, bad };
    match item {
        SourceItem::Page { record, origin, cuts } => {
            let mut page = prepare(record).map_err(|error| {
                let bad = BadReason::InvalidUrl;
                skipped(bad.name(), format!("{origin}: {error}"), Some(bad))
            })?;
            page.note_cuts(&cuts);
            Ok(page)
        }
        SourceItem::Bad { reason, origin, detail } => {
            Err(skipped(reason.name(), format!("{origin}: {detail}"), Some(reason)))
        }
        SourceItem::Other { reason, origin, detail } => {
            Err(skipped(reason, format!("{origin}: {detail}"), None))
        }
    }
}

fn as_json(misnamed: &MisnamedKeys) -> Vec<serde_json::Value> {
    let keys = misnamed.0.iter().map(|(Misnamed { key, meant }, (count, first))| {
        let first = first.to_string();
        serde_json::json!({ "key": key, "meant": meant, "count": count, "first": first })
    });
    keys.collect()
}

/// Records that are neither pages nor failures, where there are any.
fn others(counts: &IngestCounts) -> String {
    and_counted(counts.moved, "moved") + &and_counted(counts.unchanged, "unchanged")
}

fn report(
    global: &Global,
    open: &OpenStore,
    finish: &Finish<'_>,
    closed: &[CycleOutcome],
) -> Result<(), Failure> {
    let Finish { schema, counts, committed, skipped, misnamed, .. } = finish;
    let committed = *committed;
    if global.json {
        let result = serde_json::json!({
            "schema": schema,
            "stored": committed == Committed::Stored,
            "counts": counts,
            "skipped": skipped,
            "misnamed": as_json(misnamed),
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
        Committed::Empty if !closed.is_empty() || counts.parts + counts.again > 0 => {}
        Committed::Empty => say(global, "there was no page to store"),
    }
    if committed == Committed::Stored {
        say(
            global,
            &format!(
                "{} and {} stored{}; {} replaced, {} repeated; {}; {}",
                with_noun(counts.pages, "page"),
                with_noun(counts.failed, "failed fetch"),
                others(counts),
                counts.replaced,
                counts.repeated,
                with_noun(counts.links, "link"),
                with_noun(counts.new_urls, "new URL")
            ),
        );
    }
    if counts.again > 0 {
        let line = "stored before, with the same URL and time";
        say(global, &format!("passed over: {}, {line}", counted(counts.again, "record")));
    }
    if counts.parts > 0 {
        let line = "pages of WAT or WET files are stored with the text or the links that these lack, and stay as they are: \
                    name a WAT file and its WET file in one command";
        say(global, &format!("{} {line}", counts.parts));
    }
    skipped.say(global);
    for line in hints::of_misnamed(misnamed) {
        say(global, &line);
    }
    output::say_cuts(global, counts.cuts.iter().map(|(limit, &count)| (limit.as_str(), count)));
    output::say_refreshes(global, &open.refreshes);
    let (pages, urls) = (open.known.pages.len(), open.known.urls.len());
    let (urls, pages) = (with_noun(urls, "URL"), with_noun(pages, "page"));
    say(global, &format!("the store knows {urls} and holds {pages}"));
    Ok(())
}
