//! When pages were fetched, and whether they had changed since the time before.

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::Xxh3;

use crate::error::StoreError;
use crate::fetch_time;
use crate::manifest::{Manifest, SegmentKind};
use crate::page::UrlId;
use crate::page_store::{DIGESTS, Known, NONE, for_each_fetch, for_each_text};
use crate::storage::Storage;
use crate::store::Store;

/// What a page says, in two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    /// Of title and text.
    pub(crate) text: u64,
    /// Of its links.
    pub(crate) links: u64,
}

impl Digest {
    /// Title and text in one number.
    pub(crate) fn of_text(title: &str, text: &str) -> u64 {
        let mut digest = Xxh3::new();
        digest.update(title.as_bytes());
        digest.update(b"\n");
        digest.update(text.as_bytes());
        digest.digest()
    }
}

/// A fetch that brought a page, or said that it is what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The page.
    pub url: UrlId,
    /// The record.
    pub seq: u32,
    /// Seconds since 1970, where the record tells.
    pub time: Option<i64>,
    /// Whether its text was another than at the visit before; none at the first one, or where nothing is known of
    /// that.
    pub changed: Option<bool>,
}

/// All visits of pages, by record.
///
/// ```
/// use prospect_index::visits::visits;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::PageRecord;
/// # use prospect_index::store::{Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// for (day, text) in ["old", "old", "new"].into_iter().enumerate() {
///     let page = PageRecord {
///         url: "https://a.test/".into(),
///         text: text.into(),
///         fetched_at: Some(format!("2026-11-0{}T00:00:00Z", day + 1)),
///         ..PageRecord::default()
///     };
///     ingest_all(dir.path(), vec![page], &format!("day {day}"))?;
/// }
/// let store = Store::open(dir.path(), &StoreOptions::default())?;
/// let visits = visits(&store, &store.known()?)?;
/// let changed: Vec<_> = visits.iter().map(|visit| visit.changed).collect();
/// assert_eq!(changed, [None, Some(false), Some(true)]);
/// let day = |at: usize| visits[at].time.map(|time| time / 86_400);
/// assert_eq!(day(2).zip(day(0)).map(|(last, first)| last - first), Some(2));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A file is missing, damaged or cannot be read.
pub fn visits(store: &Store, known: &Known) -> Result<Vec<Visit>, StoreError> {
    store.verify_kinds(&[SegmentKind::Digests])?;
    let (storage, manifest) = (store.storage(), store.manifest());
    let mut times: Vec<Option<i64>> = vec![None; manifest.next_seq as usize];
    for_each_fetch(storage, manifest, |seq, _, time| {
        if let Some(place) = times.get_mut(seq as usize) {
            *place = fetch_time::seconds(time);
        }
    })?;
    let mut texts: HashMap<u32, u64> = HashMap::new();
    for_each_digest(storage, manifest, |seq, digest| {
        texts.insert(seq, digest.text);
    })?;
    // By page: the last version's text.
    let mut last: HashMap<UrlId, Option<u64>> = HashMap::new();
    let brought = known.pages.pages_by_record().map(|(seq, url)| {
        let text = texts.get(&seq).copied();
        let before = last.insert(url, text).flatten();
        (seq, url, before.zip(text).map(|(before, text)| before != text))
    });
    let unchanged = known.pages.unchanged().iter().map(|&(seq, url)| (seq, url, Some(false)));
    let mut visits: Vec<Visit> = brought
        .chain(unchanged)
        .map(|(seq, url, changed)| {
            let time = times.get(seq as usize).copied().flatten();
            Visit { url, seq, time, changed }
        })
        .collect();
    visits.sort_unstable_by_key(|visit| visit.seq);
    Ok(visits)
}

/// What the current pages say, title and text in one number, by record; those that say nothing are left out.
///
/// # Errors
/// A file is missing, damaged or cannot be read.
pub fn texts(store: &Store, known: &Known) -> Result<Vec<(u32, u64)>, StoreError> {
    store.verify_kinds(&[SegmentKind::Digests])?;
    let (storage, manifest, pages) = (store.storage(), store.manifest(), &known.pages);
    let is_current = |seq| pages.record(seq).is_some_and(|(_, replaced)| replaced == NONE);
    let nothing = Digest::of_text("", "");
    let mut texts = Vec::with_capacity(pages.len());
    for_each_digest(storage, manifest, |seq, digest| {
        if is_current(seq) {
            texts.push((seq, digest.text));
        }
    })?;
    if texts.len() < pages.len() {
        // Older versions of this program stored no digests.
        let stored: HashSet<u32> = texts.iter().map(|(seq, _)| *seq).collect();
        for_each_text(storage, manifest, 0, |read| {
            let new =
                read.iter().filter(|page| is_current(page.seq) && !stored.contains(&page.seq));
            texts.extend(new.map(|page| (page.seq, Digest::of_text(&page.title, &page.text))));
            Ok(())
        })?;
    }
    texts.retain(|(_, text)| *text != nothing);
    texts.sort_unstable();
    Ok(texts)
}

/// What pages said, by `fetch_seq`; older versions of this program did not store it.
pub(crate) fn for_each_digest(
    storage: &Storage,
    manifest: &Manifest,
    mut take: impl FnMut(u32, Digest),
) -> Result<(), StoreError> {
    for segment in manifest.segments_of(SegmentKind::Digests) {
        segment.read(storage, DIGESTS, &["fetch_seq", "text", "links"], |mut columns| {
            let (texts, links) = (columns[1].take_u64(), columns[2].take_u64());
            let digests = texts.into_iter().zip(links).map(|(text, links)| Digest { text, links });
            columns[0]
                .take_u32()
                .into_iter()
                .zip(digests)
                .for_each(|(seq, digest)| take(seq, digest));
            Ok(())
        })?;
    }
    Ok(())
}
