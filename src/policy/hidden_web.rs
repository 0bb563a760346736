//! A collection whose pages are hidden, as policies that plan see it: what its index holds, and the tables of
//! a crawl of it, which grow with every page that is fetched.
//!
//! What a store would hold is rebuilt step by step: ids in order of discovery, pages, links and cycles. The
//! collection's text index and n-grams are made once for all crawls; a page's text is seen once it is
//! fetched, and n-grams of links that no fetched page has shown count for nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prospect_index::bm25::ForwardIndex;
use prospect_index::link_context::LinkContextTable;
use prospect_index::manifest::{CycleEntry, Manifest};
use prospect_index::ngram::{NgramError, NgramIndex, NgramQuery, Scratch};
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NONE};
use prospect_index::text_index::{DocTable, TextIndex};
use prospect_index::url_table::UrlTable;
use prospect_index::vectors::VectorTable;

use super::{NO_QUALITY, Page, Quality};
use crate::estimate::EstimateError;
use crate::estimate::candidates::ngram::MatchSource;
use crate::estimate::features::similarity::{Embeddings, StringRows};
use crate::planner::running::Tables;
use crate::sufficiency::near_duplicates::NearDuplicates;
use crate::workload::{Query, QueryId, Workload};

/// Status of a fetch that fails in a simulation: there is no such page.
const MISSING: u16 = 404;

/// What planned policies read of a collection: of a page once it is fetched, of n-grams once a
/// fetched page shows them.
pub struct Web<'a> {
    /// Canonical URL of every page.
    pub(crate) urls: &'a UrlTable,
    /// Links with anchors.
    pub(crate) links: &'a AnchoredLinks,
    /// Text of every page: document i has the `UrlId` of its page.
    pub(crate) text: &'a TextIndex,
    /// The words of the queries that each document holds; read of fetched pages. Without it every plan is made
    /// anew.
    pub forward: Option<Arc<ForwardIndex>>,
    /// n-grams of every page's URL and of all anchors that lead to it.
    pub(crate) strings: &'a NgramIndex<'a>,
    /// Vectors of all strings, titles and queries, where there is an embedding model.
    pub(crate) vectors: Option<WebVectors<'a>>,
    /// Which pages are near-duplicates of others, where their texts are kept.
    pub(crate) near_duplicates: Option<&'a NearDuplicates>,
    /// Queries to plan for, merged.
    pub(crate) workload: &'a Workload,
    /// Queries whose outcomes train improvability, if they are others.
    pub(crate) trainers: Option<&'a Workload>,
}

/// Vectors of a collection by an embedding model.
#[derive(Clone, Copy)]
pub(crate) struct WebVectors<'a> {
    /// By text.
    pub(crate) table: &'a VectorTable,
    /// By page: row of its title.
    pub(crate) titles: &'a [u32],
}

impl WebVectors<'_> {
    /// Rows of the titles of those of these pages that there are.
    pub(crate) fn titles_of(&self, pages: &[Page]) -> Vec<u32> {
        pages.iter().filter_map(|page| self.titles.get(*page as usize).copied()).collect()
    }
}

/// A link of a page of a collection, to `T`.
#[derive(Clone, Copy)]
pub(crate) struct AnchoredLink<T> {
    /// Its target.
    pub(crate) target: T,
    /// Its anchor, as an index of [`AnchoredLinks::texts`].
    pub(crate) anchor: u32,
    /// The text around it, as an index of [`AnchoredLinks::around_words`].
    pub(crate) around: u32,
}

impl<T> AnchoredLink<T> {
    /// The same link to its target as others number it.
    pub(crate) fn to<U>(&self, target: U) -> AnchoredLink<U> {
        AnchoredLink { target, anchor: self.anchor, around: self.around }
    }
}

/// Links of pages with their anchors, repeated targets with other anchors included, in document
/// order.
#[derive(Default)]
pub(crate) struct AnchoredLinks {
    /// Links of page p: `links[starts[p]..starts[p + 1]]`.
    pub(crate) starts: Vec<u64>,
    /// Links.
    pub(crate) links: Vec<AnchoredLink<Page>>,
    /// Distinct anchor texts.
    pub(crate) texts: Vec<Box<str>>,
    /// Words of the distinct texts around links, as [`prospect_index::link_context::word_numbers`].
    pub(crate) around_words: Vec<Box<[u32]>>,
}

impl AnchoredLinks {
    /// Links of a page; pages outside the collection have none.
    pub(crate) fn of(&self, page: Page) -> &[AnchoredLink<Page>] {
        let at = page as usize;
        match self.starts.get(at + 1) {
            Some(&end) => &self.links[self.starts[at] as usize..end as usize],
            None => &[],
        }
    }
}

/// What is known of a crawl: ids in order of discovery, pages and links of fetched pages, cycles.
#[derive(Clone)]
pub(super) struct Crawled<'a> {
    pub(super) web: &'a Web<'a>,
    /// Read of fetched pages only.
    quality: Option<Quality<'a>>,
    pub(super) known: Known,
    /// Words around links of fetched pages.
    pub(super) link_context: LinkContextTable,
    /// By `fetch_seq`: row of the page's title in the vectors, if there are any.
    pub(super) titles: Vec<u32>,
    pub(super) manifest: Manifest,
    /// By page: its id in `known`.
    pub(super) ids: Ids,
    /// By document of the collection: which page of `known` it is.
    pub(super) docs: DocTable,
    /// By page: its document.
    doc_of_page: Vec<u32>,
    /// Pages of a batch and whether they failed, in fetch order.
    batch: Vec<(Page, bool)>,
}

/// Pages of the collection as ids of the crawl, and back.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    pub(super) of_page: Vec<u32>,
    pub(super) page: Vec<Page>,
}

impl<'a> Crawled<'a> {
    /// Nothing is known.
    pub(super) fn new(web: &'a Web<'a>, quality: Option<Quality<'a>>) -> Self {
        let all = web.text.docs();
        let pages = web.urls.len();
        let mut doc_of_page = vec![NONE; pages];
        for (doc, url) in all.url.iter().enumerate() {
            // Documents that no page has are numbered behind the pages.
            if let Some(slot) = doc_of_page.get_mut(url.index()) {
                *slot = doc as u32;
            }
        }
        let docs = DocTable {
            url: vec![UrlId(NONE); all.url.len()],
            seq: vec![NONE; all.url.len()],
            superseded_at: vec![NONE; all.url.len()],
            length: all.length.clone(),
        };
        Self {
            web,
            quality,
            known: Known { analyzer: web.text.analyzer().clone(), ..Known::default() },
            link_context: LinkContextTable::default(),
            titles: Vec::new(),
            manifest: Manifest::default(),
            ids: Ids { of_page: vec![NONE; pages], page: Vec::new() },
            docs,
            doc_of_page,
            batch: Vec::new(),
        }
    }

    /// The id of a page, which is known from now on.
    pub(super) fn id(&mut self, page: Page) -> UrlId {
        let slot = &mut self.ids.of_page[page as usize];
        if *slot == NONE {
            *slot = self.known.urls.insert(self.web.urls.url(UrlId(page)), "").0;
            self.manifest.urls += 1;
            self.ids.page.push(page);
        }
        UrlId(*slot)
    }

    /// The page of the collection with this id.
    pub(super) fn page(&self, url: UrlId) -> Page {
        self.ids.page[url.index()]
    }

    /// What is fetched from now on was planned.
    pub(super) fn begin_planned_cycle(&mut self) {
        let first_seq = self.manifest.next_seq;
        let plan = Some(String::new());
        self.manifest.cycles.push(CycleEntry { first_seq, plan, streamed: false });
    }

    /// By URL: whether it may be planned, which the pages that are `taken` may not; empty for all.
    pub(super) fn all_but(&self, taken: &[Page]) -> Vec<bool> {
        if taken.is_empty() {
            return Vec::new();
        }
        let mut within = vec![true; self.known.urls.len()];
        for &page in taken {
            if let Some(slot) = within.get_mut(self.ids.of_page[page as usize] as usize) {
                *slot = false;
            }
        }
        within
    }

    /// A page of the batch was fetched, or failed.
    pub(super) fn report(&mut self, page: Page, failed: bool) {
        self.batch.push((page, failed));
    }

    /// Takes in what was reported. Where the batch was not planned, it is cut into pseudo-cycles.
    pub(super) fn take_in_batch(&mut self, is_planned: bool) {
        let batch = std::mem::take(&mut self.batch);
        if !is_planned {
            self.manifest.add_cycles(batch.len() as u32);
        }
        for (page, failed) in batch {
            self.take_in(page, failed);
        }
    }

    /// A page was fetched, or failed. Pages outside the collection can only fail.
    pub(super) fn take_in(&mut self, page: Page, failed: bool) {
        let seq = self.manifest.next_seq;
        self.manifest.next_seq += 1;
        let url = self.id(page);
        let doc = self.doc_of_page[page as usize];
        let failed = failed || doc == NONE;
        self.known.pages.note(url, seq, if failed { MISSING } else { 0 }, None);
        if let Some(Quality(quality)) = self.quality {
            let score = quality[page as usize];
            let known = !failed && score > NO_QUALITY;
            self.known.quality.push(if known { score as f32 } else { f32::NAN });
        }
        if let Some(vectors) = &self.web.vectors {
            self.titles.push(if failed { NONE } else { vectors.titles[page as usize] });
        }
        if failed {
            return;
        }
        (self.docs.url[doc as usize], self.docs.seq[doc as usize]) = (url, seq);
        let links = self.web.links;
        for link in links.of(page) {
            let to = self.id(link.target);
            self.known.links.push((url, to, seq), &links.texts[link.anchor as usize]);
            let around = &links.around_words[link.around as usize];
            self.link_context.push(url, to, seq, around);
        }
    }
}

/// What of the collection's strings a crawl has seen: candidates of queries, and vectors.
pub(super) struct SeenStrings<'a> {
    web: &'a Web<'a>,
    candidates: KnownCandidates<'a>,
    /// Where the vectors of known strings are, and by query that of its text.
    rows: StringRows,
    asked: Vec<u32>,
}

impl<'a> SeenStrings<'a> {
    pub(super) fn new(web: &'a Web<'a>) -> Self {
        let row = |query: &Query| web.vectors.map_or(NONE, |all| all.table.row(&query.text));
        Self {
            web,
            candidates: KnownCandidates::new(web),
            rows: StringRows::default(),
            asked: web.workload.queries.iter().map(row).collect(),
        }
    }

    /// Forgets what was found under the statistics of an epoch.
    pub(super) fn forget_epoch(&mut self) {
        self.candidates.forget();
    }

    /// Takes in what is new.
    pub(super) fn update(&mut self, crawled: &Crawled<'_>) {
        if let Some(vectors) = &self.web.vectors {
            self.rows.update(&crawled.known, vectors.table);
        }
    }

    /// Where a crawl finds its candidates.
    pub(super) fn matches<'t>(&'t self, crawled: &'t Crawled<'_>) -> Visible<'t> {
        Visible { candidates: &self.candidates, ids: &crawled.ids }
    }

    /// The tables of a crawl, of which the URLs `within` may be planned.
    pub(super) fn tables<'t>(
        &'t self,
        crawled: &'t Crawled<'_>,
        matches: &'t Visible<'t>,
        within: &'t [bool],
    ) -> Tables<'t> {
        let embeddings = self.web.vectors.map(|vectors| Embeddings {
            strings: vectors.table,
            rows: &self.rows,
            titles: &crawled.titles,
            queries: vectors.table,
            asked: &self.asked,
        });
        Tables {
            known: &crawled.known,
            manifest: &crawled.manifest,
            link_context: &crawled.link_context,
            embeddings,
            frontier: matches,
            history: matches,
            within,
        }
    }
}

/// Candidates of every query over the whole collection, found once per statistics epoch.
struct KnownCandidates<'a> {
    strings: &'a NgramIndex<'a>,
    by_query: Vec<Mutex<Option<Vec<Page>>>>,
}

impl<'a> KnownCandidates<'a> {
    fn new(web: &Web<'a>) -> Self {
        let by_query = web.workload.queries.iter().map(|_| Mutex::new(None)).collect();
        Self { strings: web.strings, by_query }
    }

    /// Pages that are candidates of a query, in no order.
    fn of_query(
        &self,
        at: QueryId,
        query: &NgramQuery,
        scratch: &mut Scratch,
    ) -> Result<MutexGuard<'_, Option<Vec<Page>>>, NgramError> {
        let mut slot = self.by_query[at.index()].lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let matches = self.strings.match_query(query, |_| false, scratch)?;
            *slot = Some(matches.iter().map(|found| found.url.0).collect());
        }
        Ok(slot)
    }

    fn forget(&mut self) {
        for pages in &mut self.by_query {
            *pages.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// The candidates that the crawl knows, by their ids.
pub(super) struct Visible<'a> {
    candidates: &'a KnownCandidates<'a>,
    ids: &'a Ids,
}

impl MatchSource for Visible<'_> {
    fn candidates(
        &self,
        at: QueryId,
        query: &NgramQuery,
        _least: f64,
        masked: &(dyn Fn(UrlId) -> bool + Sync),
        scratch: &mut Scratch,
    ) -> Result<Vec<(UrlId, f64)>, EstimateError> {
        let slot = self.candidates.of_query(at, query, scratch)?;
        let pages = slot.as_deref().unwrap_or_default();
        let ids = pages.iter().map(|&page| self.ids.of_page[page as usize]);
        let mut ids: Vec<UrlId> =
            ids.filter(|&id| id != NONE).map(UrlId).filter(|&id| !masked(id)).collect();
        ids.sort_unstable();
        // Strings of the collection are not those that the crawl knows.
        Ok(ids.into_iter().map(|url| (url, f64::INFINITY)).collect())
    }
}
