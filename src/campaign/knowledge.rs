//! What a store knows, as records that another store can take in: its current pages with their links, and the
//! fetches that gave none, in the order in which they came.

use std::collections::HashMap;
use std::io;

use prospect_index::fetch_outcome::{FetchOutcome, NO_ANSWER, ROBOTS};
use prospect_index::page::{Outlink, PageRecord, UrlId};
use prospect_index::page_store::{Fetch, Known, NONE, for_each_fetch, for_each_text};
use serde::Serialize;

use super::{CampaignError, OpenStore};

/// Status of a redirect of which the record does not tell, as it is that of the page that it led to.
const MOVED: u16 = 301;

/// A record as `ingest` reads it again.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ExportedRecord {
    /// What it says. Its status is 0 where no server answered.
    #[serde(flatten)]
    page: PageRecord,
    /// Why nobody was asked, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// What was handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Exported {
    /// Pages.
    pub(crate) pages: usize,
    /// Fetches that gave no page.
    pub(crate) failed: usize,
    /// URLs of the frontier that no record names, as they were given as a list.
    pub(crate) unnamed: usize,
}

/// Hands the records of a store to `take`, one after the other; where that fails, it is not called again.
///
/// # Errors
/// A segment is damaged. What `take` says comes as the inner result.
pub(crate) fn export(
    open: &OpenStore,
    take: impl FnMut(&ExportedRecord) -> io::Result<()>,
) -> Result<io::Result<Exported>, CampaignError> {
    let (known, store) = (&open.known, &open.store);
    let mut times: HashMap<u32, String> = HashMap::new();
    let mut redirects: HashMap<u32, u16> = HashMap::new();
    for_each_fetch(store.storage(), store.manifest(), |seq, status, time| {
        if !time.is_empty() {
            times.insert(seq, time.to_owned());
        }
        if FetchOutcome::from(status) == FetchOutcome::Moved {
            redirects.insert(seq, status);
        }
    })?;
    let requested: HashMap<u32, UrlId> = known.pages.redirects().iter().copied().collect();
    let mut failed: Vec<(u32, UrlId, u16)> = known
        .urls
        .ids()
        .filter_map(|url| match known.pages.fetch(url) {
            Fetch::Failed { seq, status } => Some((seq, url, status)),
            // One whose page came by another record since, or that nobody followed.
            Fetch::Redirected { seq }
                if known.pages.record(seq).is_none_or(|(_, at)| at != NONE) =>
            {
                Some((seq, url, redirects.get(&seq).copied().unwrap_or(MOVED)))
            }
            _ => None,
        })
        .collect();
    failed.sort_unstable();
    let mut failed = failed.into_iter().peekable();
    let (mut found, mut receiver) = (Exported::default(), Receiver { take, done: Ok(()) });
    for_each_text(store.storage(), store.manifest(), 0, |pages| {
        for page in pages {
            while let Some(before) = failed.next_if(|(seq, ..)| *seq < page.seq) {
                receiver.put(&failure(known, &times, before), &mut found.failed);
            }
            if known.pages.record(page.seq) != Some((page.url, NONE)) {
                continue;
            }
            let asked = requested.get(&page.seq).filter(|asked| **asked != page.url);
            let page = PageRecord {
                url: known.urls.spelling(page.url).to_owned(),
                title: page.title,
                text: page.text,
                outlinks: known.outlinks(page.seq).map(|(_, link)| link).collect(),
                requested_url: asked.map(|asked| known.urls.spelling(*asked).to_owned()),
                fetched_at: times.get(&page.seq).cloned(),
                quality_score: known.quality(page.url).map(f64::from),
                ..PageRecord::default()
            };
            receiver.put(&ExportedRecord { page, error: None }, &mut found.pages);
        }
        Ok(())
    })?;
    for last in failed {
        receiver.put(&failure(known, &times, last), &mut found.failed);
    }
    let is_unnamed = |url: &UrlId| {
        known.pages.fetch(*url) == Fetch::Never && known.links.inlinks(*url, u32::MAX) == 0
    };
    found.unnamed = known.urls.ids().filter(is_unnamed).count();
    Ok(receiver.done.map(|()| found))
}

/// Who takes records, until one cannot be taken.
struct Receiver<F> {
    take: F,
    done: io::Result<()>,
}

impl<F: FnMut(&ExportedRecord) -> io::Result<()>> Receiver<F> {
    /// Hands over a record, and counts it, unless an earlier one could not be taken.
    fn put(&mut self, record: &ExportedRecord, count: &mut usize) {
        if self.done.is_ok() {
            self.done = (self.take)(record);
            *count += 1;
        }
    }
}

/// The record of a fetch that gave no page.
fn failure(
    known: &Known,
    times: &HashMap<u32, String>,
    (seq, url, status): (u32, UrlId, u16),
) -> ExportedRecord {
    let page = PageRecord {
        url: known.urls.spelling(url).to_owned(),
        status: Some(if matches!(status, NO_ANSWER | ROBOTS) { 0 } else { status }),
        fetched_at: times.get(&seq).cloned(),
        outlinks: target(known, seq).into_iter().collect(),
        ..PageRecord::default()
    };
    ExportedRecord { page, error: (status == ROBOTS).then_some("robots.txt") }
}

/// Where a redirect leads whose page came by the same record.
fn target(known: &Known, seq: u32) -> Option<Outlink> {
    let (page, _) = known.pages.record(seq)?;
    Some(Outlink::from((known.urls.spelling(page), "")))
}
