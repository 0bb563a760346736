//! The two n-gram indexes of a store, kept up to date with its links.
//!
//! *Frontier*: URLs not crawled, with their anchors: what queries are matched with. *History*:
//! crawled pages, with the anchors known before the cycle of their fetch: what estimators are
//! trained on, emitted by the very matcher that will be used.
//!
//! Each update adds one segment with what is new; segments are kept in geometric sizes, so that an
//! entry is rewritten logarithmically often. Crawled URLs are masked by the reader and dropped
//! when segments are merged.
//!
//! A page that was fetched again may have lost a link. Where that was the only one with its anchor, the URL it led
//! to is written anew, whole, and older segments hide it: a page fetched again costs what a new one does.

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::derived::{Derived, Found};
use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::ngram::{
    BuildConfig, NgramError, NgramIndex, Segment, SegmentBuilder, SegmentStats, merge,
};
use crate::page::UrlId;
use crate::page_store::{Known, NONE};
use crate::storage::{FileEntry, Storage};
use crate::text_index::Refresh;
use crate::words::url_text;

const VERSION: u32 = 6;
/// A segment is merged with the one before it while it has at least this share of its URLs.
const MERGE_SHARE: f64 = 0.5;

/// Which of the two indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Uncrawled URLs.
    Frontier,
    /// Crawled pages as they were known before their cycle.
    History,
}

/// An open n-gram index of a store.
///
/// ```
/// use prospect_index::frontier::{NgramSegments, View};
/// use prospect_index::ngram::{NgramQuery, Scratch};
/// use prospect_index::words::words;
/// # use prospect_index::ingest::ingest_all;
/// # use prospect_index::page::{Outlink, PageRecord};
/// # use prospect_index::store::{Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let link = Outlink::from(("https://b.test/1", "Crawl budgets"));
/// # let page = PageRecord {
/// #     url: "https://a.test/".into(),
/// #     outlinks: vec![link],
/// #     ..PageRecord::default()
/// # };
/// # ingest_all(dir.path(), vec![page], "one page")?;
/// # let store = Store::open(dir.path(), &StoreOptions::default())?;
/// // `store` holds a page that links to `https://b.test/1` as "Crawl budgets".
/// let known = store.known()?;
/// let (storage, manifest) = (store.storage(), store.manifest());
/// let (segments, _) = NgramSegments::open(storage, manifest, &known, View::Frontier, 3)?;
/// let query = NgramQuery::new(&words("crawl budgets"), 3);
/// let crawled = |url| !known.pages.in_frontier(url);
/// let found = segments.index()?.match_query(&query, crawled, &mut Scratch::default())?;
/// assert_eq!(known.urls.url(found[0].url), "https://b.test/1");
/// # Ok(())
/// # }
/// ```
pub struct NgramSegments {
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Payload {
    max_words: usize,
    end_seq: u32,
    urls: u32,
    lineage: String,
    segments: Vec<SegmentName>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SegmentName {
    directory: String,
    urls: u64,
    /// URLs that a later segment has whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<u32>,
}

impl NgramSegments {
    /// The index over all segments.
    ///
    /// # Errors
    /// Never for segments that were opened together.
    pub fn index(&self) -> Result<NgramIndex<'_>, NgramError> {
        NgramIndex::new(self.segments.iter().collect())
    }

    /// Opens an index of a store, after bringing it up to date with the committed pages.
    /// `max_words` is g, the longest n-gram.
    ///
    /// # Errors
    /// The index cannot be written.
    pub fn open(
        storage: &Storage,
        manifest: &Manifest,
        known: &Known,
        view: View,
        max_words: usize,
    ) -> Result<(Self, Refresh), StoreError> {
        let name = if view == View::Frontier { "frontier" } else { "history" };
        let derived = Derived::new(storage, manifest, name, VERSION);
        let mut refresh = Refresh::default();
        let (mut state, mut files) = match derived.find::<Payload>() {
            Found::Whole(state, files) => match stale(&state, manifest, max_words) {
                None => (state, files),
                Some(why) => {
                    refresh.rebuilt = Some(why.to_owned());
                    (Payload::default(), Vec::new())
                }
            },
            Found::Damaged(what) => {
                refresh.rebuilt = Some(what);
                (Payload::default(), Vec::new())
            }
            Found::Missing => (Payload::default(), Vec::new()),
        };
        let mut update = Update { storage, manifest, known, view, derived: &derived, max_words };
        if state.end_seq < manifest.next_seq || state.urls < manifest.urls {
            refresh.added = update.extend(&mut state, &mut files)?;
            derived.publish(&state, files)?;
        }
        refresh.total = state.segments.iter().map(|segment| segment.urls).sum();
        let segments = state.segments.iter().map(|segment| open_segment(storage, segment));
        Ok((Self { segments: segments.collect::<Result<_, _>>()? }, refresh))
    }
}

fn stale(state: &Payload, manifest: &Manifest, max_words: usize) -> Option<&'static str> {
    if state.max_words != max_words {
        Some("it was built for another n-gram length")
    } else if state.end_seq > manifest.next_seq || state.lineage != manifest.lineage(state.end_seq)
    {
        Some("it was built from other pages")
    } else {
        None
    }
}

fn open_segment(storage: &Storage, segment: &SegmentName) -> Result<Segment, StoreError> {
    let mut opened = Segment::read(&storage.path(&segment.directory))?;
    opened.hide(&segment.hidden);
    Ok(opened)
}

impl From<NgramError> for StoreError {
    fn from(error: NgramError) -> Self {
        match error {
            NgramError::Io { doing, path, source } => Self::Io { operation: doing, path, source },
            other => Self::Derived { structure: "n-gram index", what: other.to_string() },
        }
    }
}

struct Update<'a> {
    storage: &'a Storage,
    manifest: &'a Manifest,
    known: &'a Known,
    view: View,
    derived: &'a Derived<'a>,
    max_words: usize,
}

impl Update<'_> {
    fn extend(
        &mut self,
        state: &mut Payload,
        files: &mut Vec<FileEntry>,
    ) -> Result<u64, StoreError> {
        let lost = self.lost(state)?;
        let mut urls = match self.view {
            View::Frontier => self.discovered(state),
            View::History => self.fetched(state),
        };
        urls.extend(lost.iter().filter(|url| self.is_of_view(**url)));
        urls.sort_unstable();
        urls.dedup();
        for segment in &mut state.segments {
            segment.hidden.extend(lost.iter().map(|url| url.0));
            segment.hidden.sort_unstable();
            segment.hidden.dedup();
        }
        let added = urls.len() as u64;
        if added > 0 {
            let number = self.manifest.generation;
            let (old_urls, old_end) = (state.urls, state.end_seq);
            self.add_segment(state, files, &format!("{number:06}-new"), |dir, config| {
                let builder = SegmentBuilder::new(config, dir)?;
                let mut builder = builder.with_analyzer(&self.known.analyzer);
                for &url in &urls {
                    // An anchor is new evidence; the URL itself only where it is new to the index.
                    let is_new = url.0 >= old_urls || lost.binary_search(&url).is_ok();
                    let whole = self.view == View::History || is_new;
                    let from_seq = if whole { 0 } else { old_end };
                    self.add_strings(&mut builder, url, whole, from_seq)?;
                }
                builder.finish()
            })?;
        }
        self.merge_tail(state, files)?;
        *state = Payload {
            max_words: self.max_words,
            end_seq: self.manifest.next_seq,
            urls: self.known.urls.len() as u32,
            lineage: self.manifest.lineage(self.manifest.next_seq),
            segments: std::mem::take(&mut state.segments),
        };
        Ok(added)
    }

    /// Uncrawled URLs that are new or have new links, ascending.
    fn discovered(&self, state: &Payload) -> Vec<UrlId> {
        let links = self.known.links.links_since(state.end_seq);
        let mut urls: Vec<UrlId> = links.map(|link| link.to).collect();
        urls.extend((state.urls..self.known.urls.len() as u32).map(UrlId));
        urls.retain(|&url| self.known.pages.in_frontier(url));
        urls.sort_unstable();
        urls.dedup();
        urls
    }

    /// URLs of which the index has what is not known any longer: an anchor that no link has, or a page that is
    /// gone. Ascending.
    fn lost(&self, state: &Payload) -> Result<Vec<UrlId>, StoreError> {
        let mut urls = Vec::new();
        let (storage, manifest) = (self.storage, self.manifest);
        // Pages of a site share their menus.
        let mut seen: HashSet<(UrlId, u64)> = HashSet::new();
        self.known.for_each_lost_link(storage, manifest, state.end_seq, |to, anchor| {
            if !seen.insert((to, xxh3_64(anchor.as_bytes()))) {
                return;
            }
            let Some(before) = self.horizon(to) else { return };
            let links = &self.known.links;
            let mut anchors = links.incoming(to, before).map(|link| links.anchor(link.anchor));
            if !anchors.any(|known| known == anchor) {
                urls.push(to);
            }
        })?;
        if self.view == View::History {
            // Pages that are gone, or were for a while.
            let pages = &self.known.pages;
            let before = (0..state.end_seq).filter_map(|seq| pages.record(seq));
            let replaced = before.filter(|(_, at)| *at != NONE && *at >= state.end_seq);
            let is_gone =
                |url: &UrlId| pages.first_seq(*url).is_none_or(|first| first >= state.end_seq);
            urls.extend(replaced.map(|(url, _)| url).filter(is_gone));
        }
        urls.sort_unstable();
        urls.dedup();
        Ok(urls)
    }

    /// Whether the view has a URL: a seed that nothing led to is no evidence of the past.
    fn is_of_view(&self, url: UrlId) -> bool {
        let is_linked = |before| self.known.links.incoming(url, before).next().is_some();
        self.horizon(url).is_some_and(|before| self.view == View::Frontier || is_linked(before))
    }

    /// Before which record anchors of a URL are of the view; none if the URL cannot be.
    fn horizon(&self, url: UrlId) -> Option<u32> {
        match self.view {
            View::Frontier => self.known.pages.in_frontier(url).then_some(u32::MAX),
            View::History => self.known.pages.first_seq(url).map(|seq| self.cycle_start(seq)),
        }
    }

    /// Pages fetched since that were known before their cycle, ascending.
    fn fetched(&self, state: &Payload) -> Vec<UrlId> {
        let crawled = self.known.pages.discovered().filter(|(seq, _)| *seq >= state.end_seq);
        let mut urls: Vec<UrlId> =
            crawled.map(|(_, url)| url).filter(|&url| self.is_of_view(url)).collect();
        urls.sort_unstable();
        urls
    }

    fn cycle_start(&self, seq: u32) -> u32 {
        self.manifest.cycle_start(self.manifest.cycle_of(seq))
    }

    fn add_strings(
        &self,
        builder: &mut SegmentBuilder,
        url: UrlId,
        with_url: bool,
        from_seq: u32,
    ) -> Result<(), NgramError> {
        if with_url {
            builder.add(url, &url_text(self.known.urls.url(url)))?;
        }
        let before = self.horizon(url).unwrap_or(0);
        let mut anchors: Vec<u32> = self
            .known
            .links
            .incoming(url, before)
            .filter(|link| link.since >= from_seq)
            .map(|link| link.anchor)
            .collect();
        anchors.sort_unstable();
        anchors.dedup();
        for anchor in anchors {
            builder.add(url, self.known.links.anchor(anchor))?;
        }
        Ok(())
    }

    fn add_segment(
        &self,
        state: &mut Payload,
        files: &mut Vec<FileEntry>,
        name: &str,
        build: impl FnOnce(&std::path::Path, BuildConfig) -> Result<SegmentStats, NgramError>,
    ) -> Result<(), StoreError> {
        let directory = format!("{}/{name}", self.derived.directory());
        let path = self.storage.fresh_directory(&directory)?;
        let config = BuildConfig { max_words: self.max_words, ..BuildConfig::default() };
        let stats = build(&path, config)?;
        files.extend(self.storage.entries_of(&directory)?);
        state.segments.push(SegmentName { directory, urls: stats.urls, hidden: Vec::new() });
        Ok(())
    }

    /// Merges the smallest segments while they are not much smaller than the next.
    fn merge_tail(
        &self,
        state: &mut Payload,
        files: &mut Vec<FileEntry>,
    ) -> Result<(), StoreError> {
        let sizes: Vec<u64> = state.segments.iter().map(|segment| segment.urls).collect();
        let mut first = sizes.len().saturating_sub(1);
        let mut size = sizes.last().copied().unwrap_or(0) as f64;
        while first > 0 && size >= MERGE_SHARE * sizes[first - 1] as f64 {
            first -= 1;
            size += sizes[first] as f64;
        }
        if sizes.len() - first < 2 {
            return Ok(());
        }
        let old = state.segments.split_off(first);
        let opened: Vec<Segment> =
            old.iter().map(|name| open_segment(self.storage, name)).collect::<Result<_, _>>()?;
        let keep = |url| self.view == View::History || self.known.pages.in_frontier(url);
        let name = format!("{:06}-merged", self.manifest.generation);
        self.add_segment(state, files, &name, |dir, config| {
            merge(&opened.iter().collect::<Vec<_>>(), keep, config, dir)
        })?;
        files.retain(|entry| {
            !old.iter().any(|name| entry.file.starts_with(&format!("{}/", name.directory)))
        });
        Ok(())
    }
}
