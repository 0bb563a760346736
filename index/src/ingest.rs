//! Turning records into segments: canonical URLs, ids, caps, and one commit for a whole ingest.
//!
//! [`prepare`] is pure and may run in parallel; [`IngestSession::add`] gives ids in input order.

mod stored_before;

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::Xxh3;

use self::stored_before::{Given, Repetitions};
use crate::columns::{Column, TableWriter};
use crate::error::StoreError;
use crate::fetch_outcome::{FetchOutcome, MOVED_HERE, UNCHANGED};
use crate::fetch_time;
use crate::limits;
use crate::link_context;
use crate::manifest::{IngestEntry, SegmentEntry, SegmentKind};
use crate::page::{Outlink, PageRecord, UrlId};
use crate::page_store::{AROUND, DIGESTS, Fetch, Known, LINKS, NONE, PAGES, QUALITY, URLS};
use crate::store::Store;
use crate::url::{self, UrlError};
use crate::visits::{Digest, for_each_digest};

const SOFT_HYPHEN: char = '\u{ad}';
/// Bytes of page text that are collected before a row group is written.
pub(crate) const ROW_GROUP_BYTES: usize = 16 << 20;

/// A URL in canonical and in given spelling (without fragment).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spelled {
    canonical: String,
    given: String,
}

/// A link of a page, within the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedLink {
    /// Canonical URL of the target.
    pub canonical: String,
    /// The link as the page has it; its URL is the spelling of the target, without fragment.
    pub shown: Outlink,
}

/// A record with canonical URLs, within the limits.
#[derive(Clone, Debug)]
pub struct PreparedPage {
    /// What the input gave, its texts cut, and without its links.
    pub record: PageRecord,
    url: Spelled,
    requested: Option<Spelled>,
    /// Links in document order.
    pub links: Vec<PreparedLink>,
    /// How often something of it was cut or left out, by name.
    pub cuts: BTreeMap<&'static str, u64>,
}

impl PreparedPage {
    /// Whether the fetch gave a page.
    pub fn is_success(&self) -> bool {
        self.record.is_success()
    }

    /// Canonical URL, and its spelling.
    pub fn url(&self) -> (&str, &str) {
        (&self.url.canonical, &self.url.given)
    }

    /// The canonical URL that was asked for.
    pub fn asked(&self) -> &str {
        &self.requested.as_ref().unwrap_or(&self.url).canonical
    }

    /// Title and text, and links, each in one number.
    fn digest(&self) -> Digest {
        let mut links = Xxh3::new();
        for PreparedLink { canonical, shown } in &self.links {
            for part in [canonical, &shown.anchor, &shown.around] {
                links.update(part.as_bytes());
                links.update(b"\n");
            }
        }
        let text = Digest::of_text(&self.record.title, &self.record.text);
        Digest { text, links: links.digest() }
    }

    /// Counts what the reader of the input cut, by name.
    pub fn note_cuts(&mut self, cuts: &[(&'static str, u32)]) {
        for &(name, times) in cuts {
            *self.cuts.entry(name).or_insert(0) += u64::from(times);
        }
    }
}

/// Brings a record into the form that a store takes.
///
/// ```
/// use prospect_index::ingest::prepare;
/// use prospect_index::page::{Outlink, PageRecord};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let link = |url: &str| Outlink::from((url, " crawl\tpolicies "));
/// let page = prepare(PageRecord {
///     url: "HTTPS://a.test:443/#top".into(),
///     text: "On crawl policies and bud\u{ad}gets".into(), // a soft hyphen
///     outlinks: vec![link("https://a.test/"), link("https://b.test"), link("mailto:x@b.test")],
///     ..PageRecord::default()
/// })?;
/// assert_eq!(page.url(), ("https://a.test/", "HTTPS://a.test:443/"));
/// let [link] = &page.links[..] else { panic!("one link leads elsewhere") };
/// assert_eq!((&*link.canonical, &*link.shown.url), ("https://b.test/", "https://b.test"));
/// assert_eq!((&*link.shown.anchor, &*link.shown.around), ("crawl policies", "on and budgets"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Its URL cannot be fetched.
pub fn prepare(mut record: PageRecord) -> Result<PreparedPage, UrlError> {
    let url = spelled(&record.url)?;
    let mut cuts = BTreeMap::new();
    let requested = record.requested_url.as_deref().and_then(|given| spelled(given).ok());
    unhyphenate(&mut record.title);
    unhyphenate(&mut record.text);
    if limits::cut_bytes(&mut record.title, limits::BOUNDS.title_bytes) {
        count(&mut cuts, "title");
    }
    if limits::cut_bytes(&mut record.text, limits::BOUNDS.text_bytes) {
        count(&mut cuts, "text");
    }
    let outlinks = std::mem::take(&mut record.outlinks);
    let mut links =
        if record.has_links() { links_of(&url, outlinks, &mut cuts) } else { Vec::new() };
    // Where the input tells of some links, it does of all.
    if links.iter().all(|link| link.shown.around.is_empty()) {
        let anchors = links.iter().map(|link| link.shown.anchor.as_str());
        let found = link_context::locate(&record.text, anchors);
        for (link, found) in links.iter_mut().zip(found) {
            link.shown.around = found;
            limits::cut_chars(&mut link.shown.around, limits::BOUNDS.around_chars);
        }
    }
    Ok(PreparedPage { record, url, requested, links, cuts })
}

fn spelled(given: &str) -> Result<Spelled, UrlError> {
    let canonical = url::canonical(given)?;
    let given = given.trim().split('#').next().unwrap_or(given).to_owned();
    Ok(Spelled { canonical, given })
}

fn count(cuts: &mut BTreeMap<&'static str, u64>, limit: &'static str) {
    *cuts.entry(limit).or_insert(0) += 1;
}

/// Self-links and repeated (target, anchor) pairs are dropped, order is kept; the anchors of a
/// repeated target are kept as evidence, within their caps.
fn links_of(
    page: &Spelled,
    outlinks: Vec<Outlink>,
    cuts: &mut BTreeMap<&'static str, u64>,
) -> Vec<PreparedLink> {
    let mut links: Vec<PreparedLink> = Vec::with_capacity(outlinks.len().min(MOST_LINKS));
    let mut anchors: HashMap<String, usize> = HashMap::new();
    let mut seen: HashSet<(String, String)> = HashSet::new();
    for mut shown in outlinks {
        let Ok(Spelled { canonical, given }) = spelled(&shown.url) else {
            count(cuts, "link");
            continue;
        };
        if canonical == page.canonical {
            continue;
        }
        (shown.url, shown.anchor) = (given, collapse(&shown.anchor));
        if limits::cut_chars(&mut shown.anchor, limits::BOUNDS.anchor_chars) {
            count(cuts, "anchor");
        }
        let pair = (canonical.clone(), shown.anchor.clone());
        if seen.contains(&pair) {
            continue;
        }
        if let Some(cap) = beyond(anchors.get(&canonical), anchors.len(), links.len()) {
            count(cuts, cap);
            continue;
        }
        *anchors.entry(canonical.clone()).or_insert(0) += 1;
        seen.insert(pair);
        shown.around = collapse(&shown.around);
        if limits::cut_chars(&mut shown.around, limits::BOUNDS.around_chars) {
            count(cuts, "around");
        }
        links.push(PreparedLink { canonical, shown });
    }
    links
}

/// Most links of a page that are stored.
const MOST_LINKS: usize = limits::BOUNDS.outlinks_per_page + limits::BOUNDS.repeated_links;

/// The cap that keeps a link out: its target has so many anchors already, if it has any, among so many targets and
/// links.
fn beyond(anchors: Option<&usize>, targets: usize, links: usize) -> Option<&'static str> {
    match anchors {
        None => (targets >= limits::BOUNDS.outlinks_per_page).then_some("outlinks"),
        Some(&anchors) if anchors >= limits::BOUNDS.anchors_per_target => Some("anchors"),
        Some(_) => (links - targets >= limits::BOUNDS.repeated_links).then_some("repeated"),
    }
}

/// Takes out soft hyphens, which tell where a word may be broken and are not seen where it is not.
fn unhyphenate(text: &mut String) {
    if text.contains(SOFT_HYPHEN) {
        text.retain(|letter| letter != SOFT_HYPHEN);
    }
}

/// Text without soft hyphens, and with every run of white space as one space.
fn collapse(text: &str) -> String {
    if text.contains(SOFT_HYPHEN) {
        return collapse(&text.replace(SOFT_HYPHEN, ""));
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// What an ingest did.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct IngestCounts {
    /// Records taken.
    pub records: u64,
    /// Pages among them.
    pub pages: u64,
    /// Failed fetches among them.
    pub failed: u64,
    /// Redirects among them whose target is another record or none.
    pub moved: u64,
    /// Records among them that say that a page is what it was, or bring it as it was.
    pub unchanged: u64,
    /// Stored pages that others took the place of, of their URL or of one that theirs has moved to.
    pub replaced: u64,
    /// Records of one URL within this ingest: the last wins.
    pub repeated: u64,
    /// Parts of pages that are stored with what the part lacks, and stay.
    pub parts: u64,
    /// Records that an earlier ingest stored, of the same URL and second, which are passed over.
    pub again: u64,
    /// Records without a time of URLs that [somebody waits for](IngestSession::wait_for).
    #[serde(skip)]
    pub awaited: u64,
    /// Links stored.
    pub links: u64,
    /// URLs seen for the first time.
    pub new_urls: u64,
    /// Cuts by limit.
    pub cuts: BTreeMap<String, u64>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Committed {
    /// The records are stored.
    Stored,
    /// The last ingest had the very same inputs: nothing was changed.
    Unchanged,
    /// There was no record.
    Empty,
}

#[derive(Default)]
struct Rows {
    pages: [Vec<u32>; 4],
    texts: [Vec<String>; 4],
    links: [Vec<u32>; 3],
    anchors: Vec<String>,
    around: [Vec<u32>; 3],
    around_texts: Vec<String>,
    bytes: usize,
}

/// Seconds by which two records of one fetch may differ: some logs tell the time of a place, which is up to 14 hours from that
/// of an archive, and a fetch takes minutes.
const APART: i64 = 15 * 3_600;

/// When a page was fetched, if its record tells that.
fn second_of(page: &PreparedPage) -> Option<i64> {
    page.record.fetched_at.as_deref().and_then(fetch_time::seconds)
}

/// What a page has that others may lack.
#[derive(Clone, Copy)]
struct Has {
    text: bool,
    links: bool,
}

/// What a session leaves.
type Ended = (Store, Known, IngestCounts, Committed);

/// One ingest: nothing is visible before [`IngestSession::commit`].
///
/// ```
/// use prospect_index::ingest::{Committed, IngestSession, prepare};
/// use prospect_index::page::PageRecord;
/// use prospect_index::store::{Store, StoreOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let root = dir.path();
/// let page = PageRecord { url: "https://a.test/".into(), ..PageRecord::default() };
/// let mut store = Store::open(root, &StoreOptions { create: true, ..StoreOptions::default() })?;
/// for expected in [Committed::Stored, Committed::Unchanged] {
///     let mut session = IngestSession::start(store)?;
///     session.add(prepare(page.clone())?)?;
///     let (after, counts, how) = session.commit("the same inputs")?;
///     assert_eq!((counts.records, how), (1, expected));
///     store = after;
/// }
/// assert_eq!(store.manifest().next_seq, 1);
/// # Ok(())
/// # }
/// ```
pub struct IngestSession {
    store: Store,
    known: Known,
    first_url: usize,
    first_seq: u32,
    next_seq: u32,
    rows: Rows,
    /// Scores that came with the pages: `fetch_seq`, quality.
    quality: (Vec<u32>, Vec<f64>),
    /// Scores of pages that were stored before, if it was started with them.
    scores: Vec<f32>,
    /// What the pages said that were stored before; read when the first of them comes again.
    stored: Option<HashMap<UrlId, Digest>>,
    /// What the pages of this ingest say, by `fetch_seq`.
    digests: (Vec<u32>, Vec<Digest>),
    pages: TableWriter,
    links: TableWriter,
    around: TableWriter,
    /// By URL: how many pages of this ingest have a text around a link to it, and the last of them.
    around_pages: HashMap<UrlId, (usize, u32)>,
    /// Plans that records name.
    named_plans: HashSet<String>,
    /// Pages of this ingest, for parts of them that follow.
    added: HashMap<UrlId, Has>,
    /// The second of the last record of this ingest that says of a URL that its fetch failed.
    failed_at: HashMap<UrlId, i64>,
    /// What records are passed over by that are stored already; none where nothing is.
    repetitions: Option<Repetitions>,
    counts: IngestCounts,
}

impl IngestSession {
    /// Starts an ingest. The session owns the store until it ends.
    ///
    /// # Errors
    /// The tables are damaged or cannot be read, or a file cannot be created.
    pub fn start(store: Store) -> Result<Self, StoreError> {
        let known = store.known_without_links()?;
        let session = Self::start_with(store, known)?;
        let repetitions = (session.first_seq > 0).then(Repetitions::default);
        Ok(Self { repetitions, ..session })
    }

    /// Starts an ingest with the tables of the store, for who has them and brings nothing twice.
    ///
    /// # Errors
    /// A table is damaged or cannot be read, or a file cannot be created.
    fn start_with(store: Store, mut known: Known) -> Result<Self, StoreError> {
        store.verify_kinds(&[SegmentKind::Digests])?;
        // Whether a page is stored anew must not depend on who has its score at hand.
        let scores = std::mem::take(&mut known.quality);
        let pages = TableWriter::create(store.storage(), &store.segment_name(PAGES), PAGES)?;
        let links = TableWriter::create(store.storage(), &store.segment_name(LINKS), LINKS)?;
        let around = TableWriter::create(store.storage(), &store.segment_name(AROUND), AROUND)?;
        let first_seq = store.manifest().next_seq;
        Ok(Self {
            first_url: known.urls.len(),
            known,
            store,
            first_seq,
            next_seq: first_seq,
            rows: Rows::default(),
            quality: (Vec::new(), Vec::new()),
            scores,
            stored: None,
            digests: (Vec::new(), Vec::new()),
            pages,
            links,
            around,
            around_pages: HashMap::new(),
            named_plans: HashSet::new(),
            added: HashMap::new(),
            failed_at: HashMap::new(),
            repetitions: None,
            counts: IngestCounts::default(),
        })
    }

    /// Names URLs that somebody waits for. Time is told in seconds, and a crawler may ask twice in one: of these a record of
    /// the last second that the store knows, or a later one, is never passed over.
    ///
    /// # Errors
    /// Those of `awaited`.
    pub fn wait_for<E>(
        &mut self,
        awaited: impl FnOnce(&Store, &Known) -> Result<Vec<UrlId>, E>,
    ) -> Result<(), E> {
        if let Some(repetitions) = &mut self.repetitions {
            repetitions.awaited = awaited(&self.store, &self.known)?.into_iter().collect();
        }
        Ok(())
    }

    /// Whether a record says nothing that is not known: its page is stored, or the same became of its URL since the oldest
    /// open plan was made, else the last one, else ever; a failure that is told of a later time is another one.
    ///
    /// # Errors
    /// A table is damaged or cannot be read.
    pub fn is_known(&mut self, page: &PreparedPage) -> Result<bool, StoreError> {
        let Some(url) = self.known.urls.get(&page.url.canonical) else { return Ok(false) };
        let manifest = self.store.manifest();
        let last = manifest.cycles.iter().rfind(|cycle| cycle.plan.is_some());
        let last = last.map_or(0, |cycle| cycle.first_seq);
        let cycle = manifest.plans.first().map_or(last, |oldest| oldest.first_seq);
        Ok(match (page.record.answer(), self.known.pages.fetch(url)) {
            // What leads elsewhere now may have been a page before: a log of that time has no text of it.
            (FetchOutcome::Page, Fetch::Page { .. } | Fetch::Redirected { .. }) => true,
            // Tries before the one that brought it.
            (_, Fetch::Page { seq }) => seq >= cycle || self.is_unchanged_since(url, cycle),
            (FetchOutcome::Moved, Fetch::Redirected { seq }) => seq >= cycle,
            (_, Fetch::Failed { seq, status }) => {
                seq >= cycle
                    && status == page.record.stored_status()
                    && !self.is_another_try(url, page)?
            }
            _ => false,
        })
    }

    /// Whether a fetch that failed is a later one than the last of its URL that did, by the times that records tell.
    fn is_another_try(&mut self, url: UrlId, page: &PreparedPage) -> Result<bool, StoreError> {
        let Some(second) = second_of(page) else { return Ok(false) };
        let last = match (self.failed_at.get(&url), &mut self.repetitions) {
            (Some(&last), _) => Some(last),
            (None, Some(repetitions)) => {
                repetitions.records(&self.store, &self.known)?.failed_at(url)
            }
            (None, None) => None,
        };
        Ok(last.is_some_and(|last| second.saturating_sub(last) > APART))
    }

    /// Whether a record from `seq` on says that the page of a URL is what it was.
    fn is_unchanged_since(&self, url: UrlId, seq: u32) -> bool {
        let records = self.known.pages.unchanged().iter().rev();
        records.take_while(|(at, _)| *at >= seq).any(|(_, other)| *other == url)
    }

    /// Adds a record. A page that is stored as it comes is not stored again: that it did not change is. A record that an
    /// earlier ingest stored, of the same URL and second, is passed over.
    ///
    /// # Errors
    /// A write failed, or a table is damaged or cannot be read.
    pub fn add(&mut self, mut page: PreparedPage) -> Result<(), StoreError> {
        if self.is_less(&page)? {
            self.counts.parts += 1;
            return Ok(());
        }
        if self.is_stored(&page)? {
            self.counts.again += 1;
            return Ok(());
        }
        let seq = self.next_seq;
        self.next_seq += 1;
        let url = self.id(&page.url);
        let requested = page.requested.as_ref().map(|requested| self.id(requested));
        if let (FetchOutcome::Failed(_), Some(second)) = (page.record.answer(), second_of(&page)) {
            self.failed_at.insert(url, second);
        }
        let mut has_moved = false;
        if page.record.answer() == FetchOutcome::Page {
            let has = Has { text: !page.record.text.is_empty(), links: !page.links.is_empty() };
            self.added.insert(url, has);
            let digest = page.digest();
            self.read_digests([Some(url), requested].into_iter().flatten())?;
            has_moved = requested.is_some_and(|old| self.has_moved(old, url, &page, digest.text));
            let is_stored = self.known.pages.page_seq(url).is_some_and(|old| old < self.first_seq);
            let is_same = !has_moved && is_stored && self.said(url) == Some(&digest);
            // A score that is another one is worth to be stored.
            let scored = page.record.quality_score.map(|quality| quality as f32);
            if is_same && (scored.is_none() || scored == self.known.quality(url)) {
                page.record.status = Some(UNCHANGED);
                page.links.clear();
                page.cuts.clear();
            } else {
                self.digests.0.push(seq);
                self.digests.1.push(digest);
            }
        }
        let status = if has_moved { MOVED_HERE } else { page.record.stored_status() };
        self.count(&page, url);
        if let Some(moved) = requested.filter(|_| has_moved) {
            self.count_replaced(moved);
        }
        self.known.pages.note(url, seq, status, requested);
        for PreparedLink { canonical, shown } in page.links {
            let to = self.known.urls.insert(&canonical, &shown.url);
            let row = [url.0, seq, to.0];
            let Outlink { anchor, around, .. } = shown;
            if self.takes_around(to, seq, &around) {
                let columns = self.rows.around.iter_mut().zip(row);
                columns.for_each(|(column, value)| column.push(value));
                self.rows.bytes += around.len() + 16;
                self.rows.around_texts.push(around);
            }
            self.rows.links.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            self.rows.bytes += anchor.len() + 16;
            self.rows.anchors.push(anchor);
        }
        let requested = requested.map_or(NONE, |id| id.0);
        let row = [url.0, seq, u32::from(status), requested];
        self.rows.pages.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        let record = page.record;
        let success = record.is_success();
        // What is above 0 is no log-probability, and what `Known` cannot hold is no figure.
        let usable = |quality: &f64| success && *quality <= 0.0 && (*quality as f32).is_finite();
        if let Some(quality) = record.quality_score.filter(usable) {
            self.quality.0.push(seq);
            self.quality.1.push(quality);
        }
        if let Some(plan) = record.plan_id.as_ref().filter(|&id| !self.named_plans.contains(id))
            && self.store.manifest().plans.iter().any(|open| open.id == *plan)
        {
            self.named_plans.insert(plan.clone());
        }
        let keep = |text: String| if success { text } else { String::new() };
        let texts = [
            keep(record.title),
            keep(record.text),
            record.fetched_at.unwrap_or_default(),
            record.plan_id.unwrap_or_default(),
        ];
        self.rows.bytes += texts.iter().map(String::len).sum::<usize>() + 64;
        self.rows.texts.iter_mut().zip(texts).for_each(|(column, value)| column.push(value));
        if self.rows.bytes >= ROW_GROUP_BYTES { self.flush() } else { Ok(()) }
    }

    /// Whether the page of a URL that was asked for has moved for good to another, whose page this is: it says what that
    /// did, or its address differs by the scheme or `www` alone. One that leads elsewhere today, as to a form that asks for
    /// a name, has not; nor one of many that are told to be one page, which says something else.
    fn has_moved(&self, old: UrlId, to: UrlId, page: &PreparedPage, text: u64) -> bool {
        let is_page = |url| self.known.pages.page_seq(url).is_some();
        if old == to || page.record.part || !is_page(old) {
            return false;
        }
        let says_it = |url| self.text_of(url) == Some(text);
        let is_same = says_it(old) && (!is_page(to) || says_it(to));
        let [old, to] = [old, to].map(|url| url::without_scheme_and_www(self.known.urls.url(url)));
        is_same && !page.record.text.is_empty() || old == to
    }

    /// What the page of a URL says, if there is one and that is known.
    fn text_of(&self, url: UrlId) -> Option<u64> {
        let seq = self.known.pages.page_seq(url)?;
        let (seqs, digests) = &self.digests;
        let said = match seqs.binary_search(&seq) {
            Ok(at) => Some(&digests[at]),
            Err(_) => self.said(url).filter(|_| seq < self.first_seq),
        };
        said.map(|digest| digest.text)
    }

    /// What the page of a URL said that was stored before, if [`Self::read_digests`] was asked to know.
    fn said(&self, url: UrlId) -> Option<&Digest> {
        self.stored.as_ref()?.get(&url)
    }

    /// Reads what stored pages said, if one of these is stored. Who brings new pages alone need not wait for that: it costs all
    /// pages of the crawl.
    ///
    /// # Errors
    /// A table is damaged or cannot be read.
    fn read_digests(&mut self, urls: impl IntoIterator<Item = UrlId>) -> Result<(), StoreError> {
        let (pages, first_seq) = (&self.known.pages, self.first_seq);
        let is_stored = |url| pages.page_seq(url).is_some_and(|seq| seq < first_seq);
        if self.stored.is_some() || !urls.into_iter().any(is_stored) {
            return Ok(());
        }
        let mut stored = HashMap::new();
        for_each_digest(self.store.storage(), self.store.manifest(), |seq, digest| {
            // As of the start: those that this ingest replaced are among them.
            if let Some((url, replaced)) = pages.record(seq)
                && replaced >= first_seq
            {
                stored.insert(url, digest);
            }
        })?;
        self.stored = Some(stored);
        Ok(())
    }

    /// Whether an earlier ingest stored this record. What came in this one without a time may be older or newer, so that
    /// after it all of its URL is taken.
    fn is_stored(&mut self, page: &PreparedPage) -> Result<bool, StoreError> {
        let Some(repetitions) = &mut self.repetitions else { return Ok(false) };
        let urls = &self.known.urls;
        let Some(url) = urls.get(&page.url.canonical) else { return Ok(false) };
        let asked = || urls.get(page.asked()).unwrap_or(url);
        let Some(second) = second_of(page) else {
            repetitions.untimed.insert(url);
            self.counts.awaited += u64::from(repetitions.await_any([url, asked()]));
            return Ok(false);
        };
        let is_new = self.known.pages.fetch(url) == Fetch::Never;
        // A part may have what was missing, and a score is worth to be stored.
        let may_have_more = page.record.part || page.record.quality_score.is_some();
        if is_new || may_have_more || repetitions.untimed.contains(&url) {
            return Ok(false);
        }
        let asked = asked();
        let is_awaited = repetitions.await_any([url, asked]);
        let stored = repetitions.records(&self.store, &self.known)?;
        if is_awaited && !stored.go_beyond(second) {
            return Ok(false);
        }
        let (answer, status) = (page.record.answer(), page.record.stored_status());
        Ok(stored.have([url, asked], second, Given::of(answer, status, || page.digest())))
    }

    /// Whether a record is a part of a page that is stored with what it lacks. Of a text only its digest is at hand, which
    /// is of the title, too: one under another title is taken to be there.
    ///
    /// # Errors
    /// A table is damaged or cannot be read.
    fn is_less(&mut self, page: &PreparedPage) -> Result<bool, StoreError> {
        let PageRecord { title, text, .. } = &page.record;
        if !page.record.part || page.record.answer() != FetchOutcome::Page {
            return Ok(false);
        }
        let Some(url) = self.known.urls.get(&page.url.canonical) else { return Ok(false) };
        self.read_digests([url])?;
        let is_page = self.known.pages.page_seq(url).is_some();
        let has = self.added.get(&url).copied().or_else(|| {
            let stored = self.said(url)?;
            let links = stored.links != Xxh3::new().digest();
            Some(Has { text: stored.text != Digest::of_text(title, ""), links })
        });
        let Some(has) = has.filter(|_| is_page) else { return Ok(false) };
        Ok(text.is_empty() && has.text || page.links.is_empty() && has.links)
    }

    /// Whether the text around a link from the page `seq` is stored.
    fn takes_around(&mut self, to: UrlId, seq: u32, around: &str) -> bool {
        if around.is_empty() {
            return false;
        }
        let (pages, last) = self.around_pages.entry(to).or_insert((0, NONE));
        if *last == seq || *pages == link_context::PER_URL {
            return false;
        }
        (*pages, *last) = (*pages + 1, seq);
        true
    }

    /// Stores everything that was added, in one commit.
    ///
    /// `fingerprint` identifies the inputs: if the last committed ingest had the same, this is the
    /// same command run again after its commit, and nothing is changed.
    ///
    /// # Errors
    /// A write failed; the previous state stands.
    pub fn commit(self, fingerprint: &str) -> Result<(Store, IngestCounts, Committed), StoreError> {
        let (store, _, counts, how) = self.end(fingerprint)?;
        Ok((store, counts, how))
    }

    /// As [`IngestSession::commit`]; gives back the tables that it was started with, up to date.
    ///
    /// # Errors
    /// A write failed, and the previous state stands; or what was written cannot be read.
    fn commit_with_tables(
        mut self,
        fingerprint: &str,
    ) -> Result<(Store, Known, IngestCounts, Committed), StoreError> {
        let (first_seq, segments) = (self.first_seq, self.store.manifest().segments.len());
        let scores = std::mem::take(&mut self.scores);
        let (store, mut known, counts, how) = self.end(fingerprint)?;
        known.quality = scores;
        // Links of a page that is another one, or gone, leave the table; and what was not stored is not known.
        if how != Committed::Stored || known.pages.replaced_since(first_seq) {
            known = store.read_tables()?;
        } else {
            store.verify_from(segments, &[SegmentKind::Links, SegmentKind::Quality])?;
            known.extend(store.storage(), store.manifest(), segments)?;
        }
        Ok((store, known, counts, how))
    }

    fn end(mut self, fingerprint: &str) -> Result<Ended, StoreError> {
        let last = self.store.manifest().ingests.last();
        if last.is_some_and(|ingest| ingest.fingerprint == fingerprint) {
            return self.give_up(Committed::Unchanged);
        }
        if self.next_seq == self.first_seq {
            return self.give_up(Committed::Empty);
        }
        self.flush()?;
        self.counts.new_urls = (self.known.urls.len() - self.first_url) as u64;
        let mut segments = vec![
            SegmentEntry::new(SegmentKind::Pages, PAGES, self.pages.finish()?),
            SegmentEntry::new(SegmentKind::Links, LINKS, self.links.finish()?),
            SegmentEntry::new(SegmentKind::Around, AROUND, self.around.finish()?),
        ];
        if !self.quality.0.is_empty() {
            let (seqs, scores) = std::mem::take(&mut self.quality);
            let columns = [Column::U32(seqs), Column::F64(scores)];
            segments.push(self.store.write_segment(SegmentKind::Quality, QUALITY, [&columns])?);
        }
        if !self.digests.0.is_empty() {
            let (seqs, digests) = std::mem::take(&mut self.digests);
            let of = |part: fn(&Digest) -> u64| Column::U64(digests.iter().map(part).collect());
            let columns = [Column::U32(seqs), of(|digest| digest.text), of(|digest| digest.links)];
            segments.push(self.store.write_segment(SegmentKind::Digests, DIGESTS, [&columns])?);
        }
        segments.insert(0, write_urls(&self.store, &self.known, self.first_url)?);
        let urls = self.known.urls.len() as u32;
        let (first_seq, end_seq, named_plans) = (self.first_seq, self.next_seq, self.named_plans);
        self.store.commit(|manifest| {
            manifest.add_cycles(end_seq - first_seq);
            manifest.segments.extend(segments);
            manifest.urls = urls;
            manifest.next_seq = end_seq;
            let (fingerprint, open) = (fingerprint.to_owned(), manifest.plans.iter());
            let named = open.filter(|plan| named_plans.contains(&plan.id));
            let plans = named.map(|plan| plan.id.clone()).collect();
            manifest.ingests.push(IngestEntry { fingerprint, first_seq, end_seq, plans });
        })?;
        Ok((self.store, self.known, self.counts, Committed::Stored))
    }

    /// Ends without a commit, and without a trace.
    fn give_up(self, how: Committed) -> Result<Ended, StoreError> {
        let Self { store, known, counts, pages, links, around, .. } = self;
        drop((pages, links, around));
        store.remove_orphans()?;
        Ok((store, known, counts, how))
    }

    /// Counts so far.
    pub fn counts(&self) -> &IngestCounts {
        &self.counts
    }

    fn id(&mut self, url: &Spelled) -> UrlId {
        self.known.urls.insert(&url.canonical, &url.given)
    }

    fn count(&mut self, page: &PreparedPage, url: UrlId) {
        self.counts.records += 1;
        self.counts.links += page.links.len() as u64;
        for (&limit, &times) in &page.cuts {
            *self.counts.cuts.entry(limit.to_owned()).or_insert(0) += times;
        }
        match page.record.answer() {
            FetchOutcome::Page => self.counts.pages += 1,
            FetchOutcome::Unchanged => return self.counts.unchanged += 1,
            FetchOutcome::Moved => return self.counts.moved += 1,
            FetchOutcome::Failed(_) => return self.counts.failed += 1,
        }
        self.count_replaced(url);
    }

    /// Counts that another page takes the place of that of a URL, if there is one.
    fn count_replaced(&mut self, url: UrlId) {
        match self.known.pages.page_seq(url) {
            Some(seq) if seq >= self.first_seq => self.counts.repeated += 1,
            Some(_) => self.counts.replaced += 1,
            None => {}
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let rows = std::mem::take(&mut self.rows);
        let [title, text, fetched_at, plan_id] = rows.texts;
        let mut pages: Vec<Column> = rows.pages.into_iter().map(Column::U32).collect();
        pages.extend([title, text, fetched_at, plan_id].map(Column::Text));
        self.pages.write(&pages)?;
        let mut links: Vec<Column> = rows.links.into_iter().map(Column::U32).collect();
        links.push(Column::Text(rows.anchors));
        self.links.write(&links)?;
        let mut around: Vec<Column> = rows.around.into_iter().map(Column::U32).collect();
        around.push(Column::Text(rows.around_texts));
        self.around.write(&around)
    }
}

/// Writes the URLs from the `first` on as a segment.
pub(crate) fn write_urls(
    store: &Store,
    known: &Known,
    first: usize,
) -> Result<SegmentEntry, StoreError> {
    let ids: Vec<UrlId> = known.urls.ids().skip(first).collect();
    let name = store.segment_name(URLS);
    let mut writer = TableWriter::create(store.storage(), &name, URLS)?;
    for chunk in ids.chunks(1 << 16) {
        let urls: Vec<String> = chunk.iter().map(|&id| known.urls.url(id).to_owned()).collect();
        let spellings = chunk.iter().zip(&urls).map(|(&id, url)| {
            let spelling = known.urls.spelling(id);
            if spelling == url { String::new() } else { spelling.to_owned() }
        });
        let spellings = spellings.collect();
        writer.write(&[Column::Text(urls), Column::Text(spellings)])?;
    }
    Ok(SegmentEntry::new(SegmentKind::Urls, URLS, writer.finish()?))
}

/// Ingests pages with the tables of the store at hand, and gives these back up to date: a whole [`IngestSession`], for
/// who keeps them in memory. They are those of [`Store::known`], before and after.
///
/// # Errors
/// See [`IngestSession`]; or what was written cannot be read.
pub fn ingest_with_tables(
    store: Store,
    known: Known,
    pages: Vec<PreparedPage>,
    fingerprint: &str,
) -> Result<(Store, Known, IngestCounts, Committed), StoreError> {
    let mut session = IngestSession::start_with(store, known)?;
    for page in pages {
        session.add(page)?;
    }
    session.commit_with_tables(fingerprint)
}

/// Ingests prepared records in one go; for tests and small inputs.
///
/// # Errors
/// See [`IngestSession`].
pub fn ingest_all(
    root: &Path,
    records: Vec<PageRecord>,
    fingerprint: &str,
) -> Result<IngestCounts, StoreError> {
    let options = crate::store::StoreOptions { create: true, ..Default::default() };
    let mut session = IngestSession::start(Store::open(root, &options)?)?;
    for record in records {
        if let Ok(page) = prepare(record) {
            session.add(page)?;
        }
    }
    Ok(session.commit(fingerprint)?.1)
}
