//! A collection whose pages are hidden until they are fetched: all pages of a corpus or a store
//! with their links, and one text index of them all.
//!
//! Pages are numbered; where URLs outside the collection are charged to the budget, they follow
//! the pages, and have neither text nor links. Memory: 12 bytes a link, 12 more with anchors and the
//! text around, 4 bytes for each word of the distinct texts around links, and the URLs; texts of pages
//! go to the index as they are read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::Path;
use std::sync::OnceLock;

use prospect_index::bm25::ForwardIndex;
use prospect_index::error::StoreError;
use prospect_index::ingest::PreparedLink;
use prospect_index::link_context::word_numbers;
use prospect_index::ngram::{BuildConfig, NgramError, NgramIndex, Segment, SegmentBuilder};
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;
use prospect_index::text_index::{DocTable, TextIndex};
use prospect_index::url_table::UrlTable;
use prospect_index::words::{self, Analyzer};
use prospect_index::{limits, url};

use super::page_texts::{TextFile, TextWriter};
use crate::estimate::features::similarity::url_text;
use crate::evaluate::rerank::PageTexts;
use crate::policy::Page;
use crate::policy::hidden_web::{AnchoredLink, AnchoredLinks, Web};
use crate::sufficiency::near_duplicates::{NearDuplicates, Shingles};
use crate::workload::Workload;

/// What becomes of links that lead out of the collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outside {
    /// They are dropped.
    #[default]
    Drop,
    /// They can be fetched, which costs a page of the budget and gives none.
    Charge,
    /// Those can that were fetched and gave no page; the others are dropped.
    Failed,
}

/// A collection.
pub struct Collection {
    /// URLs of pages, then of what lies outside, where that is charged.
    pub urls: UrlTable,
    /// Pages.
    pub pages: u32,
    /// By page and outside URL: place by canonical URL.
    pub url_order: Vec<u32>,
    /// By page and outside URL: its host, numbered by name.
    pub host: Vec<u32>,
    /// Names of the hosts.
    pub hosts: Vec<String>,
    /// Distinct targets of page p: `links[link_starts[p]..link_starts[p + 1]]`, in document order.
    link_starts: Vec<u64>,
    links: Vec<Page>,
    anchored: AnchoredLinks,
    /// Text of the pages. A document has the `UrlId` of its page.
    pub text: TextIndex,
    /// The texts themselves, by page, where they are kept.
    pub(crate) texts: Option<TextFile>,
    /// Which pages are near-duplicates of others, once somebody asked.
    near_duplicates: OnceLock<NearDuplicates>,
    /// Titles by page; empty where they are not kept.
    pub(crate) titles: Vec<Box<str>>,
    /// Quality scores that the input carried, by page.
    pub(crate) quality: Vec<Option<f64>>,
    /// Records of a URL that a later one replaced.
    pub(crate) repeated: u64,
}

impl Collection {
    /// All strings that URLs are known by, with repetitions.
    pub(crate) fn known_by(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let urls = self.urls.ids().map(|id| url_text(self.urls.url(id)).into());
        urls.chain(self.anchored.texts.iter().map(|text| (&**text).into()))
    }

    /// Distinct pages that a page links to, in document order.
    pub fn links(&self, page: Page) -> &[Page] {
        let at = page as usize;
        match self.link_starts.get(at + 1) {
            Some(&end) => &self.links[self.link_starts[at] as usize..end as usize],
            None => &[],
        }
    }

    /// Links in all.
    pub fn link_count(&self) -> u64 {
        self.links.len() as u64
    }

    /// What planned policies read of it: `strings` are its n-grams, and queries of `trainers`, if there are others, train.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn web<'a>(
        &'a self,
        strings: &'a NgramIndex<'a>,
        workload: &'a Workload,
        trainers: Option<&'a Workload>,
    ) -> Result<Web<'a>, StoreError> {
        let trained = trainers.into_iter().flat_map(Workload::words);
        let words = workload.words().chain(trained);
        Ok(Web {
            urls: &self.urls,
            links: self.anchored_links(),
            text: &self.text,
            forward: Some(ForwardIndex::build(&self.text, words)?),
            strings,
            vectors: None,
            near_duplicates: None,
            workload,
            trainers,
        })
    }

    /// Links with their anchors.
    pub(crate) fn anchored_links(&self) -> &AnchoredLinks {
        &self.anchored
    }

    /// Which pages are near-duplicates of others; none where texts are not kept.
    ///
    /// # Errors
    /// A text cannot be read.
    pub(crate) fn near_duplicates(&self) -> Result<&NearDuplicates, StoreError> {
        /// Pages that are read at a time.
        const READ: usize = 1_000;
        if let Some(found) = self.near_duplicates.get() {
            return Ok(found);
        }
        let mut pages = Vec::new();
        if let Some(texts) = &self.texts {
            let all: Vec<Page> = (0..self.pages).collect();
            for some in all.chunks(READ) {
                let read = some.iter().zip(texts.texts(some)?);
                pages.extend(read.map(|(page, text)| (UrlId(*page), Shingles::of("", &text))));
            }
        }
        Ok(self.near_duplicates.get_or_init(|| NearDuplicates::among(pages)))
    }

    /// A page by canonical URL.
    pub(crate) fn page(&self, canonical: &str) -> Option<Page> {
        self.urls.get(canonical).map(|id| id.0).filter(|&page| page < self.pages)
    }

    /// Pages in URL order.
    pub(crate) fn by_url(&self) -> Vec<Page> {
        let mut pages: Vec<Page> = (0..self.pages).collect();
        pages.sort_unstable_by_key(|&page| self.url_order[page as usize]);
        pages
    }

    /// By document number of [`Collection::text`]: the value of its page, or `other` for a document
    /// that was replaced.
    pub(crate) fn by_document(&self, by_page: &[u32], other: u32) -> Vec<u32> {
        let mut values = by_page[..self.pages as usize].to_vec();
        values.resize(self.text.docs().url.len(), other);
        values
    }

    /// In-links of every page and outside URL from all pages of the collection.
    pub(crate) fn inlinks(&self) -> Vec<u32> {
        let mut count = vec![0; self.urls.len()];
        for &target in &self.links {
            count[target as usize] += 1;
        }
        count
    }

    /// n-grams of every URL and of all anchors that lead to it, built in `directory`, which exists.
    ///
    /// # Errors
    /// The files cannot be written or read.
    pub fn strings(&self, directory: &Path) -> Result<Segment, NgramError> {
        let links = self.anchored.links.iter();
        let mut incoming: Vec<(Page, u32)> = links.map(|link| (link.target, link.anchor)).collect();
        incoming.sort_unstable();
        incoming.dedup();
        let config =
            BuildConfig { max_words: limits::BOUNDS.ngram_words, ..BuildConfig::default() };
        let builder = SegmentBuilder::new(config, directory)?;
        let mut builder = builder.with_analyzer(self.text.analyzer());
        let mut rows = incoming.iter().peekable();
        for id in self.urls.ids() {
            builder.add(id, &words::url_text(self.urls.url(id)))?;
            while let Some((_, anchor)) = rows.next_if(|(target, _)| *target == id.0) {
                builder.add(id, &self.anchored.texts[*anchor as usize])?;
            }
        }
        builder.finish()?;
        Segment::read(directory)
    }
}

/// Takes the pages of a corpus one after the other.
///
/// ```
/// use prospect::simulate::collection::{CollectionBuilder, Outside};
/// use prospect_index::ingest::PreparedLink;
/// use prospect_index::text_index::TextIndex;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let directory = dir.path().join("index");
/// let pages = [("https://a.test/", "https://b.test/"), ("https://b.test/", "https://c.test/")];
/// let text = TextIndex::build(&directory, pages.map(|_| (String::new(), "a text".to_owned())))?;
/// let mut builder = CollectionBuilder::default();
/// for (url, target) in pages {
///     let link = PreparedLink { canonical: target.into(), shown: (target, "next").into() };
///     builder.add((url, url), "", None, [link].iter());
/// }
/// let collection = builder.finish(&text, Outside::Charge)?;
/// assert_eq!((collection.pages, collection.link_count()), (2, 2));
/// assert_eq!(collection.links(0), [1]);
/// assert_eq!(collection.urls.len(), 3); // `https://c.test/` lies outside
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct CollectionBuilder {
    urls: UrlTable,
    /// By document: its URL.
    documents: Vec<UrlId>,
    /// By document: the quality score that came with it.
    quality: Vec<Option<f64>>,
    /// By document: its title, where they are kept.
    titles: Option<Vec<Box<str>>>,
    /// The texts themselves, where they are kept.
    kept: Option<TextWriter>,
    /// By URL: its latest document.
    document_of: HashMap<UrlId, u32>,
    repeated: u64,
    row_ends: Vec<u64>,
    links: Vec<AnchoredLink<UrlId>>,
    texts: Vec<Box<str>>,
    text_ids: HashMap<Box<str>, u32>,
    around_words: Vec<Box<[u32]>>,
    around_ids: HashMap<Box<[u32]>, u32>,
    /// URLs whose fetch failed.
    failed: HashSet<UrlId>,
    analyzer: Analyzer,
}

impl CollectionBuilder {
    /// The same builder, which keeps titles if somebody reads them.
    #[must_use]
    pub(crate) fn with_titles(mut self, keep: bool) -> Self {
        self.titles = keep.then(Vec::new);
        self
    }

    /// The same builder, with words as `analyzer` makes them; that of the index of the texts.
    #[must_use]
    pub(crate) fn with_analyzer(mut self, analyzer: &Analyzer) -> Self {
        self.analyzer = analyzer.clone();
        self
    }

    /// Adds a page: its canonical URL with its spelling, its title, its quality if it is known, and its
    /// links in document order. The text goes to the index as the document of the same number.
    pub fn add<'l>(
        &mut self,
        (canonical, spelling): (&str, &str),
        title: &str,
        quality: Option<f64>,
        links: impl Iterator<Item = &'l PreparedLink>,
    ) {
        let document = self.documents.len() as u32;
        let id = self.urls.insert(canonical, spelling);
        self.documents.push(id);
        self.quality.push(quality);
        if let Some(titles) = &mut self.titles {
            titles.push(title.into());
        }
        if self.document_of.insert(id, document).is_some() {
            self.repeated += 1;
        }
        for PreparedLink { canonical, shown } in links {
            let target = self.urls.insert(canonical, &shown.url);
            let anchor = number(&mut self.texts, &mut self.text_ids, &*shown.anchor);
            let around = word_numbers(&self.analyzer, &shown.around);
            let around = number(&mut self.around_words, &mut self.around_ids, &*around);
            self.links.push(AnchoredLink { target, anchor, around });
        }
        self.row_ends.push(self.links.len() as u64);
    }

    /// Notes that the fetch of a URL failed: its canonical form, and its spelling.
    pub(crate) fn add_failed(&mut self, (canonical, spelling): (&str, &str)) {
        self.failed.insert(self.urls.insert(canonical, spelling));
    }

    /// Pages so far, replaced ones included.
    pub(crate) fn documents(&self) -> usize {
        self.documents.len()
    }

    /// The same builder, which keeps the texts themselves if somebody reads them: those of the same documents.
    #[must_use]
    pub(crate) fn with_texts(mut self, kept: Option<TextWriter>) -> Self {
        self.kept = kept;
        self
    }

    /// The collection; `text` is the index of the pages' texts in the order in which they were
    /// added.
    ///
    /// # Errors
    /// The texts cannot be written, where they are kept.
    pub fn finish(mut self, text: &TextIndex, outside: Outside) -> Result<Collection, StoreError> {
        let is_page = |id: &UrlId| self.document_of.contains_key(id);
        let (pages, others): (Vec<UrlId>, Vec<UrlId>) = self.urls.ids().partition(is_page);
        let count = pages.len() as u32;
        let mut numbers = vec![NONE; self.urls.len()];
        let mut urls = UrlTable::default();
        let kept: Vec<UrlId> = match outside {
            Outside::Drop => Vec::new(),
            Outside::Charge => others,
            Outside::Failed => others.into_iter().filter(|id| self.failed.contains(id)).collect(),
        };
        for id in pages.iter().chain(&kept) {
            numbers[id.index()] = urls.insert(self.urls.url(*id), self.urls.spelling(*id)).0;
        }
        let mut anchored = self.anchored(&pages, &numbers);
        anchored.texts = std::mem::take(&mut self.texts);
        anchored.around_words = std::mem::take(&mut self.around_words);
        let (link_starts, links) = distinct(&anchored, urls.len());
        let (host, hosts) = hosts(&urls);
        let documents = self.documents.iter().enumerate().map(|(document, id)| {
            let latest = self.document_of.get(id) == Some(&(document as u32));
            latest.then_some(numbers[id.index()])
        });
        let documents: Vec<Option<Page>> = documents.collect();
        let document_of = |id: &UrlId| self.document_of[id] as usize;
        let quality = pages.iter().map(|id| self.quality[document_of(id)]).collect();
        let title_of = |titles: &Vec<Box<str>>| {
            pages.iter().map(|id| titles[document_of(id)].clone()).collect()
        };
        let titles = self.titles.as_ref().map_or_else(Vec::new, title_of);
        let texts = self.kept.take();
        let texts = texts.map(|texts| texts.finish(count, &documents)).transpose()?;
        Ok(Collection {
            quality,
            titles,
            texts,
            near_duplicates: OnceLock::new(),
            url_order: url_order(&urls),
            text: with_pages(text, count, &documents),
            urls,
            pages: count,
            host,
            hosts,
            link_starts,
            links,
            anchored,
            repeated: self.repeated,
        })
    }

    /// Links of the latest document of every page, between known numbers, without the texts.
    fn anchored(&self, pages: &[UrlId], numbers: &[u32]) -> AnchoredLinks {
        let mut anchored = AnchoredLinks { starts: vec![0], ..AnchoredLinks::default() };
        let row_end = |document: usize| self.row_ends[document] as usize;
        for page in pages {
            let document = self.document_of[page] as usize;
            let start = document.checked_sub(1).map_or(0, row_end);
            for link in &self.links[start..row_end(document)] {
                let target = numbers[link.target.index()];
                if target != NONE {
                    anchored.links.push(link.to(target));
                }
            }
            anchored.starts.push(anchored.links.len() as u64);
        }
        anchored
    }
}

/// The number of a value, which is kept if it is new.
fn number<T: ?Sized + Eq + Hash>(
    values: &mut Vec<Box<T>>,
    ids: &mut HashMap<Box<T>, u32>,
    value: &T,
) -> u32
where
    for<'v> Box<T>: From<&'v T>,
{
    if let Some(&known) = ids.get(value) {
        return known;
    }
    let id = values.len() as u32;
    values.push(value.into());
    ids.insert(value.into(), id);
    id
}

/// The links without repeated targets.
fn distinct(anchored: &AnchoredLinks, urls: usize) -> (Vec<u64>, Vec<Page>) {
    let mut last_seen = vec![NONE; urls];
    let (mut starts, mut links) = (vec![0], Vec::with_capacity(anchored.links.len()));
    for (page, bounds) in anchored.starts.windows(2).enumerate() {
        for link in &anchored.links[bounds[0] as usize..bounds[1] as usize] {
            let seen = &mut last_seen[link.target as usize];
            if std::mem::replace(seen, page as u32) != page as u32 {
                links.push(link.target);
            }
        }
        starts.push(links.len() as u64);
    }
    links.shrink_to_fit();
    (starts, links)
}

fn url_order(urls: &UrlTable) -> Vec<u32> {
    let mut ids: Vec<UrlId> = urls.ids().collect();
    ids.sort_unstable_by(|a, b| urls.url(*a).cmp(urls.url(*b)));
    let mut order = vec![0; ids.len()];
    for (place, id) in ids.iter().enumerate() {
        order[id.index()] = place as u32;
    }
    order
}

fn hosts(urls: &UrlTable) -> (Vec<u32>, Vec<String>) {
    let mut names: Vec<&str> = urls.ids().map(|id| url::host(urls.url(id))).collect();
    names.sort_unstable();
    names.dedup();
    let number = |id| names.binary_search(&url::host(urls.url(id))).unwrap_or(0) as u32;
    let host = urls.ids().map(number).collect();
    (host, names.into_iter().map(str::to_owned).collect())
}

/// The index with pages as its URLs. Documents that were replaced are of no page: they have the
/// numbers behind the pages, and are never seen.
fn with_pages(text: &TextIndex, pages: u32, page_of_document: &[Option<Page>]) -> TextIndex {
    let docs = text.docs();
    let mut replaced = pages;
    let mut url = Vec::with_capacity(docs.url.len());
    let mut seq = Vec::with_capacity(docs.url.len());
    for id in &docs.url {
        let page = page_of_document[id.index()];
        url.push(UrlId(page.unwrap_or(replaced)));
        seq.push(page.unwrap_or(NONE));
        replaced += u32::from(page.is_none());
    }
    let superseded_at = vec![NONE; docs.url.len()];
    text.with_docs(DocTable { url, seq, superseded_at, length: docs.length.clone() })
}
