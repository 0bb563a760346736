//! Records that are stored already: who names all archives of a crawl again, the old ones beside the new, has fetched nothing
//! a second time. Such a record would count as another try of a URL that failed, as another visit of a page, or put an old
//! version in the place of a newer one.
//!
//! It is known by its URL, the URL that was asked for, the second of its fetch, and what it gave.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::StoreError;
use crate::fetch_outcome::{FetchOutcome, UNCHANGED};
use crate::fetch_time;
use crate::page::UrlId;
use crate::page_store::{Known, for_each_fetch};
use crate::store::Store;
use crate::visits::{Digest, for_each_digest};

/// What a record gave, as far as two of a URL and a second are told apart.
#[derive(Clone, Copy)]
pub(super) enum Given {
    /// A page that says this.
    Page(Digest),
    /// That the page is what it was.
    Unchanged,
    /// Another URL.
    Moved,
    /// No page.
    Failed(u16),
}

/// What an ingest needs to know records by that are stored already.
#[derive(Default)]
pub(super) struct Repetitions {
    /// The records of the store, once one is asked for.
    stored: Option<StoredRecords>,
    /// URLs of which this ingest has a record without a time.
    pub(super) untimed: HashSet<UrlId>,
    /// URLs that somebody waits for.
    pub(super) awaited: HashSet<UrlId>,
}

/// All records of a store that tell the second of their fetch. Costs 8 bytes each, 16 a URL that failed, and a pass over them.
pub(super) struct StoredRecords {
    keys: HashSet<u64>,
    /// The latest second.
    newest: i64,
    /// By URL: the latest second of a fetch that failed.
    failed: HashMap<UrlId, i64>,
}

impl Repetitions {
    /// Whether somebody waits for any of these.
    pub(super) fn await_any(&self, urls: [UrlId; 2]) -> bool {
        urls.iter().any(|url| self.awaited.contains(url))
    }

    /// The records of a store with these tables.
    pub(super) fn records(
        &mut self,
        store: &Store,
        known: &Known,
    ) -> Result<&StoredRecords, StoreError> {
        Ok(match &mut self.stored {
            Some(stored) => stored,
            none => none.insert(StoredRecords::read(store, known)?),
        })
    }
}

impl StoredRecords {
    /// Of a store with these tables.
    pub(super) fn read(store: &Store, known: &Known) -> Result<Self, StoreError> {
        let (storage, manifest, pages) = (store.storage(), store.manifest(), &known.pages);
        let mut given: HashMap<u32, (UrlId, Given)> = HashMap::new();
        let mut asked: HashMap<u32, UrlId> = HashMap::new();
        for &(seq, url) in pages.redirects() {
            given.insert(seq, (url, Given::Moved));
            asked.insert(seq, url);
        }
        for &(seq, url) in pages.unchanged() {
            given.insert(seq, (url, Given::Unchanged));
        }
        for failed in pages.failures() {
            given.insert(failed.seq, (failed.url, Given::Failed(failed.status)));
        }
        // A page that another URL led to is a page; what an older version of this program stored of one is not known.
        let mut urls: HashMap<u32, UrlId> = pages.pages_by_record().collect();
        given.retain(|seq, _| !urls.contains_key(seq));
        for_each_digest(storage, manifest, |seq, digest| {
            if let Some(url) = urls.remove(&seq) {
                given.insert(seq, (url, Given::Page(digest)));
            }
        })?;
        let mut records = Self { keys: HashSet::new(), newest: i64::MIN, failed: HashMap::new() };
        for_each_fetch(storage, manifest, |seq, _, time| {
            let Some(&(url, given)) = given.get(&seq) else { return };
            let Some(second) = fetch_time::seconds(time) else { return };
            let asked = asked.get(&seq).copied().unwrap_or(url);
            records.keys.insert(key([url, asked], second, given));
            if matches!(given, Given::Failed(_)) {
                let last = records.failed.entry(url).or_insert(second);
                *last = second.max(*last);
            }
            records.newest = records.newest.max(second);
        })?;
        Ok(records)
    }

    /// The latest second of a fetch of this URL that failed.
    pub(super) fn failed_at(&self, url: UrlId) -> Option<i64> {
        self.failed.get(&url).copied()
    }

    /// Whether some record is of a later second than this one.
    pub(super) fn go_beyond(&self, second: i64) -> bool {
        self.newest > second
    }

    /// Whether there is a record of this URL, of the one that was asked for, and of this second, that gave this. A page that
    /// was stored as unchanged is taken to be any of its URL at that second.
    pub(super) fn have(&self, urls: [UrlId; 2], second: i64, given: Given) -> bool {
        let has = |given| self.keys.contains(&key(urls, second, given));
        has(given)
            || match given {
                Given::Page(_) => has(Given::Unchanged),
                // Nobody had brought the page then.
                Given::Unchanged => has(Given::Failed(UNCHANGED)),
                Given::Moved | Given::Failed(_) => false,
            }
    }
}

impl Given {
    /// Of a record with this answer and status, of a page with what it says.
    pub(super) fn of(answer: FetchOutcome, status: u16, page: impl FnOnce() -> Digest) -> Self {
        match answer {
            FetchOutcome::Page => Self::Page(page()),
            FetchOutcome::Unchanged => Self::Unchanged,
            FetchOutcome::Moved => Self::Moved,
            FetchOutcome::Failed(_) => Self::Failed(status),
        }
    }
}

fn key([url, asked]: [UrlId; 2], second: i64, given: Given) -> u64 {
    let (kind, parts) = match given {
        Given::Page(digest) => (0, [digest.text, digest.links]),
        Given::Unchanged => (1, [0, 0]),
        Given::Moved => (2, [0, 0]),
        Given::Failed(status) => (3, [u64::from(status), 0]),
    };
    let both = u64::from(url.0) << 32 | u64::from(asked.0);
    xxh3_64(&[both, second as u64, kind, parts[0], parts[1]].map(u64::to_le_bytes).concat())
}
