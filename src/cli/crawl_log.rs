//! `prospect crawl-log`: what became of fetches, from the log or the database of a crawler.

use std::path::PathBuf;

use prospect_index::ingest::{IngestSession, prepare};
use prospect_index::page::PageRecord;

use super::Global;
use super::ingest::{self, Finish, Skipped, open_store};
use super::output::{Failure, Progress};
use crate::ingest::urls::{UrlFiles, UrlItem, UrlRecord};

/// URLs that are read at once.
const BATCH: usize = 10_000;

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
    let mut session = IngestSession::start(open_store(&args.store, "prospect crawl-log")?)?;
    let mut skipped = Skipped::default();
    if let Err(failure) = read(&mut files, &mut session, &mut skipped, global) {
        drop(session);
        // Opening a store removes what was given up.
        let _ = open_store(&args.store, "prospect crawl-log");
        return Err(failure);
    }
    let (store, counts, committed) = session.commit(&files.fingerprint())?;
    let finish = Finish {
        schema: "prospect.crawl-log/1",
        store: &args.store,
        close: args.close,
        quality: None,
        counts: &counts,
        committed,
        skipped: &skipped,
    };
    ingest::finish(&finish, global, store)
}

fn read(
    files: &mut UrlFiles,
    session: &mut IngestSession,
    skipped: &mut Skipped,
    global: &Global,
) -> Result<(), Failure> {
    let mut progress = Progress::new(global, "crawl-log", files.progress().1);
    loop {
        let items = files.next_batch(BATCH)?;
        if items.is_empty() {
            progress.done();
            return Ok(());
        }
        for item in items {
            match item {
                UrlItem::Url { record, origin, .. } => {
                    let UrlRecord { url, status, fetched_at, .. } = record;
                    let Some(status) = status else {
                        skipped.count("no-status", || format!("{origin}: {url}"));
                        continue;
                    };
                    let record = PageRecord {
                        url,
                        status: Some(status),
                        fetched_at,
                        ..PageRecord::default()
                    };
                    match prepare(record) {
                        // Of what was fetched the store has more than a log says.
                        Ok(page) if session.is_known(&page) => {
                            skipped.count("known-before", || format!("{origin}: {}", page.url().0));
                        }
                        Ok(page) => session.add(page)?,
                        Err(error) => {
                            skipped.count("invalid-url", || format!("{origin}: {error}"));
                        }
                    }
                }
                UrlItem::Sitemap { .. } => {}
                UrlItem::Bad { reason, origin, detail } => {
                    skipped.count(reason.name(), || format!("{origin}: {detail}"));
                }
            }
        }
        progress.at(files.progress().0, &format!("{} records", session.counts().records));
    }
}
