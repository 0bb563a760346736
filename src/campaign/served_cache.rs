//! Served lists as a derived structure of the store: kept per workload, K and statistics epoch.

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::store::Store;
use prospect_index::text_index::Refresh;
use serde::{Deserialize, Serialize};

use crate::campaign::derived_cache::{DerivedCache, Lookup};
use crate::sketch::served::ServedLists;
use crate::sketch::visibility::Places;
use crate::workload::Workload;

const VERSION: u32 = 4;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Payload {
    workload: String,
    bm25: Bm25,
    k: usize,
    epoch_end: u32,
    end_seq: u32,
    lineage: String,
    /// N and words of the epoch, which change if a page they count is replaced.
    statistics: (u64, u64),
}

/// The served lists of a workload now: those of the last command brought up to date if they are
/// of the same workload and epoch, else built.
///
/// # Errors
/// The index cannot be read or the lists cannot be written.
pub(crate) fn load(
    store: &Store,
    known: &Known,
    scorer: &Scorer<'_>,
    workload: &Workload,
    places: Places,
    epoch_end: u32,
) -> Result<(ServedLists, Refresh), StoreError> {
    let Places { k, visibility } = places;
    let kept = DerivedCache::new(store, "served", VERSION);
    let end_seq = store.manifest().next_seq;
    let statistics = scorer.statistics();
    let payload = Payload {
        workload: workload.fingerprint(),
        bm25: scorer.bm25(),
        k,
        epoch_end,
        end_seq,
        lineage: store.manifest().lineage(end_seq),
        statistics: (statistics.documents, statistics.words),
    };
    let mut refresh = Refresh { total: workload.queries.len() as u64, ..Refresh::default() };
    let mut served = match of_earlier(&kept, &payload, store) {
        Lookup::Whole(found, lists) if lists.len() == workload.queries.len() => {
            ServedLists { k, visibility, end_seq: found.end_seq, lists }
        }
        other => {
            refresh.rebuilt = other.rebuilt();
            refresh.added = refresh.total;
            ServedLists::build(scorer, &workload.queries, places, end_seq, &known.urls)?
        }
    };
    if served.end_seq < end_seq {
        let queries = &workload.queries;
        refresh.added = served.update(scorer, queries, end_seq, &known.pages, &known.urls)?;
    } else if refresh.added == 0 {
        return Ok((served, refresh));
    }
    kept.put(&payload, &served.lists)?;
    Ok((served, refresh))
}

/// The stored lists, if they fit in everything but how far they reach.
fn of_earlier(
    kept: &DerivedCache<'_>,
    wanted: &Payload,
    store: &Store,
) -> Lookup<Payload, Vec<Vec<(UrlId, f64)>>> {
    kept.take(|found: &Payload| fits(found, wanted, store))
}

/// Whether lists were built as `wanted`, and from the pages that the store still starts with.
fn fits(found: &Payload, wanted: &Payload, store: &Store) -> bool {
    let same = Payload {
        end_seq: found.end_seq,
        lineage: store.manifest().lineage(found.end_seq),
        ..wanted.clone()
    };
    *found == same && found.end_seq <= wanted.end_seq
}
