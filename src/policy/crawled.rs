//! The tables of a crawl that is simulated, as a store would hold them.

use prospect_index::around::AroundTable;
use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::{Known, NO_ANSWER, NONE};
use prospect_index::text_index::DocTable;

use super::planned::Web;
use super::{NO_QUALITY, Page, Quality};

/// What is known of a crawl: ids in order of discovery, pages and links of fetched pages, cycles.
#[derive(Clone)]
pub(super) struct Crawled<'a> {
    web: &'a Web<'a>,
    /// Read of fetched pages only.
    quality: Option<Quality<'a>>,
    pub(super) known: Known,
    /// Words around links of fetched pages.
    pub(super) around: AroundTable,
    /// By `fetch_seq`: row of the page's title in the vectors, if there are any.
    pub(super) titles: Vec<u32>,
    pub(super) manifest: Manifest,
    /// By page: its id in `known`.
    pub(super) ids: Ids,
    /// By document of the collection: which page of `known` it is.
    pub(super) docs: DocTable,
    /// By page: its document.
    doc_of_page: Vec<u32>,
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
            known: Known::default(),
            around: AroundTable::default(),
            titles: Vec::new(),
            manifest: Manifest::default(),
            ids: Ids { of_page: vec![NONE; pages], page: Vec::new() },
            docs,
            doc_of_page,
        }
    }

    /// The id of a page, which is known from now on.
    pub(super) fn id(&mut self, page: Page) -> UrlId {
        let slot = &mut self.ids.of_page[page as usize];
        if *slot == NONE {
            *slot = self.known.urls.insert(self.web.urls.url(UrlId(page)), "").0;
            self.ids.page.push(page);
        }
        UrlId(*slot)
    }

    /// A page was fetched, or failed.
    pub(super) fn take_in(&mut self, page: Page, failed: bool) {
        let seq = self.manifest.next_seq;
        self.manifest.next_seq += 1;
        let url = self.id(page);
        self.known.pages.note(url, seq, if failed { NO_ANSWER } else { 0 }, None);
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
        let doc = self.doc_of_page[page as usize] as usize;
        (self.docs.url[doc], self.docs.seq[doc]) = (url, seq);
        for (target, anchor, around) in self.web.links.of(page) {
            let to = self.id(target);
            self.known.links.push(url, to, seq, anchor);
            self.around.push(url, to, seq, around);
        }
    }
}
