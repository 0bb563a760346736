//! `prospect crawl-log`: what became of fetches, from the log or the database of a crawler.

use std::path::PathBuf;

use prospect_index::ingest::{IngestSession, prepare};
use prospect_index::page::PageRecord;

use super::ingest::{self, Finish, Skipped, each_url, open_store};
use super::output::Failure;
use super::{Global, hints};
use crate::campaign::identity::LastInputs;
use crate::ingest::MisnamedKeys;
use crate::ingest::urls::{NamedUrl, UrlFiles, UrlRecord};

/// Name of what says nothing of a fetch.
const NO_STATUS: &str = "no-status";

/// Arguments of `prospect crawl-log`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Args {
    /// The store; made if it is missing.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// The log of wget (-o) or Heritrix (crawl.log), a dump of CrawlDb, CDXJ, or JSON lines with url and status
    /// (plain, .gz or .zst); `-` is standard input.
    ///
    /// Where the crawler wrote pages too, ingest those first: the log says nothing of their text.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Close all open plans afterwards: what was not reported of them is not in flight any longer.
    #[arg(long)]
    close: bool,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<(), Failure> {
    let mut files = UrlFiles::open(&args.files, true)?;
    let store = open_store(&args.store, "prospect crawl-log")?;
    let last = LastInputs::of(store.manifest());
    let mut session = ingest::session(store)?;
    let mut skipped = Skipped::default();
    let read = each_url(&mut files, "crawl-log", &mut skipped, global, |named, skipped| {
        take(&mut session, named, skipped)
    });
    if let Err(failure) = read {
        return Err(given_up(session, args, failure));
    }
    if let Some(first) = skipped.only(NO_STATUS).filter(|_| session.counts().records == 0) {
        let error = anyhow::anyhow!("none of the URLs has a status; the first is at {first}");
        return Err(given_up(session, args, Failure::input(error, hints::ABOUT_SEEDS)));
    }
    let inputs = last.next_counted(&files.fingerprint(), session.counts());
    let (store, counts, committed) = session.commit(&inputs)?;
    let finish = Finish {
        schema: "prospect.crawl-log/1",
        store: &args.store,
        close: args.close,
        quality: None,
        counts: &counts,
        committed,
        skipped: &skipped,
        misnamed: MisnamedKeys::default(),
    };
    ingest::finish(&finish, global, store)
}

/// Leaves the store as it was.
fn given_up(session: IngestSession, args: &Args, failure: Failure) -> Failure {
    drop(session);
    // Opening a store removes what was given up.
    let _ = open_store(&args.store, "prospect crawl-log");
    failure
}

/// Takes what the store does not know yet.
fn take(
    session: &mut IngestSession,
    named: NamedUrl,
    skipped: &mut Skipped,
) -> Result<(), Failure> {
    let NamedUrl { record: UrlRecord { url, status, fetched_at, .. }, origin, .. } = named;
    if status.is_none() {
        skipped.count(NO_STATUS, || format!("{origin}: {url}"));
        return Ok(());
    }
    match prepare(PageRecord { url, status, fetched_at, ..PageRecord::default() }) {
        // Of what was fetched the store has more than a log says.
        Ok(page) if session.is_known(&page)? => {
            skipped.count("known-before", || format!("{origin}: {}", page.url().0));
        }
        Ok(page) => session.add(page)?,
        Err(error) => skipped.count("invalid-url", || format!("{origin}: {error}")),
    }
    Ok(())
}
