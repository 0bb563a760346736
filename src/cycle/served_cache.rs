//! Served lists as a derived structure of the store: kept per workload, K and statistics epoch.

use prospect_index::bm25::{Bm25, Scorer};
use prospect_index::derived::{Derived, Found};
use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;
use prospect_index::store::Store;
use prospect_index::text_index::Refresh;
use serde::{Deserialize, Serialize};

use crate::sketch::served::ServedLists;
use crate::workload::Workload;

const VERSION: u32 = 1;

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
pub fn load(
    store: &Store,
    known: &Known,
    scorer: &Scorer<'_>,
    workload: &Workload,
    k: usize,
    epoch_end: u32,
) -> Result<(ServedLists, Refresh), StoreError> {
    let derived = Derived::new(store.storage(), "served", VERSION);
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
    let old = find(&derived, &payload, store, &mut refresh);
    let mut served = match old {
        Some(served) if served.lists.len() == workload.queries.len() => served,
        _ => {
            refresh.added = refresh.total;
            ServedLists::build(scorer, &workload.queries, k, end_seq, &known.urls)?
        }
    };
    if served.end_seq < end_seq {
        let queries = &workload.queries;
        refresh.added = served.update(scorer, queries, end_seq, &known.pages, &known.urls)?;
    } else if refresh.added == 0 {
        return Ok((served, refresh));
    }
    let name = format!("{}/lists-{:06}.bin", derived.directory(), store.manifest().generation);
    let entry = store.storage().write(&name, &encode(&served))?;
    derived.publish(&payload, vec![entry])?;
    Ok((served, refresh))
}

/// The stored lists, if they fit in everything but how far they reach.
fn find(
    derived: &Derived,
    wanted: &Payload,
    store: &Store,
    refresh: &mut Refresh,
) -> Option<ServedLists> {
    let (found, files) = match derived.find::<Payload>() {
        Found::Whole(found, files) => (found, files),
        Found::Damaged(what) => {
            refresh.rebuilt = Some(what);
            return None;
        }
        Found::Missing => return None,
    };
    let same = Payload {
        end_seq: found.end_seq,
        lineage: store.manifest().lineage(found.end_seq),
        ..wanted.clone()
    };
    if found != same || found.end_seq > wanted.end_seq {
        refresh.rebuilt = Some("the workload, the epoch or the pages are others".to_owned());
        return None;
    }
    let bytes = store.storage().read_verified(files.first()?).ok()?;
    decode(&bytes, found.k, found.end_seq)
}

fn encode(served: &ServedLists) -> Vec<u8> {
    let mut bytes = Vec::new();
    for list in &served.lists {
        bytes.extend((list.len() as u32).to_le_bytes());
        for (url, score) in list {
            bytes.extend(url.0.to_le_bytes());
            bytes.extend(score.to_bits().to_le_bytes());
        }
    }
    bytes
}

fn decode(bytes: &[u8], k: usize, end_seq: u32) -> Option<ServedLists> {
    let mut rest = bytes;
    let mut take = |count: usize| -> Option<&[u8]> {
        let (head, tail) = rest.split_at_checked(count)?;
        rest = tail;
        Some(head)
    };
    let mut lists = Vec::new();
    while let Some(head) = take(4) {
        let length = u32::from_le_bytes(head.try_into().ok()?);
        let mut list = Vec::new();
        for _ in 0..length {
            let url = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let score = f64::from_bits(u64::from_le_bytes(take(8)?.try_into().ok()?));
            list.push((UrlId(url), score));
        }
        lists.push(list);
    }
    Some(ServedLists { k, end_seq, lists })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_bit_for_bit() {
        let lists =
            vec![vec![(UrlId(3), 0.1 + 0.2)], vec![], vec![(UrlId(0), 1.0), (UrlId(9), 0.5)]];
        let served = ServedLists { k: 2, end_seq: 7, lists };
        assert_eq!(decode(&encode(&served), 2, 7), Some(served.clone()));
        let bytes = encode(&served);
        assert_eq!(decode(&bytes[..bytes.len() - 3], 2, 7), None);
    }
}
