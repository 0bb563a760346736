//! A simulated crawl, looked at under the statistics epochs that a store of it would have: N, df and avgdl are frozen
//! until the collection has grown by a tenth.

use prospect_index::bm25::Bm25;
use prospect_index::page::UrlId;
use prospect_index::page_store::{NONE, PageTable};
use prospect_index::text_index::DocTable;

use super::SimulateError;
use super::collection::Collection;
use crate::policy::Page;
use crate::sufficiency::assess::{AssessedQueries, CrawledPages, Statistics};
use crate::sufficiency::track::Tracks;
use crate::sufficiency::windows::Window;

/// Growth of a collection that ends a statistics epoch.
const EPOCH_GROWTH: f64 = 1.1;

/// A crawl with the queries that it is followed for.
pub(super) struct FollowedCrawl<'a> {
    /// The pages.
    pub(super) collection: &'a Collection,
    /// The queries.
    pub(super) queries: &'a AssessedQueries,
    /// BM25's parameters.
    pub(super) bm25: Bm25,
    /// What was fetched, in order; pages outside of the collection gave none.
    pub(super) fetched: &'a [Page],
    /// Stretches that are compared.
    pub(super) windows: &'a [Window],
}

/// What can be seen of a crawl at one point.
pub(super) struct Seen<'a> {
    /// Which of the points.
    pub(super) at: usize,
    /// Number of the statistics epoch.
    pub(super) epoch: usize,
    /// Statistics of the epoch.
    pub(super) statistics: &'a Statistics<'a>,
    /// What the queries' pages did so far.
    pub(super) tracks: &'a Tracks,
    /// The pages.
    pub(super) crawled: CrawledPages<'a>,
}

impl FollowedCrawl<'_> {
    /// Looks at the crawl when so many URLs have been fetched, in ascending order.
    ///
    /// # Errors
    /// The index cannot be read, or the look fails.
    pub(super) fn look_at(
        &self,
        ends: &[u32],
        look: &mut dyn FnMut(Seen<'_>) -> Result<(), SimulateError>,
    ) -> Result<(), SimulateError> {
        let Self { collection, queries, bm25, fetched, windows } = *self;
        let (docs, pages) = (documents(collection, fetched), page_table(collection, fetched));
        let text = collection.text.with_docs(docs);
        let crawled = CrawledPages { pages: &pages, urls: &collection.urls, windows };
        let brought = |end: u32| {
            fetched.iter().take(end as usize).filter(|page| **page < collection.pages).count()
        };
        let (mut at, mut epoch) = (0, 0);
        while let Some(&first) = ends.get(at) {
            let in_epoch = brought(first);
            let statistics = Statistics::new(&text, bm25, first, queries)?;
            let mut tracks = None;
            while let Some(&end) = ends.get(at) {
                let now = brought(end);
                if now > in_epoch && now as f64 >= EPOCH_GROWTH * in_epoch as f64 {
                    break;
                }
                let followed = statistics.follow(crawled, tracks.take(), end)?;
                look(Seen { at, epoch, statistics: &statistics, tracks: &followed, crawled })?;
                tracks = Some(followed);
                at += 1;
            }
            epoch += 1;
        }
        Ok(())
    }
}

/// Documents of the collection as those of a crawl, by the order of their fetch.
fn documents(collection: &Collection, fetched: &[Page]) -> DocTable {
    let all = collection.text.docs();
    let mut place = vec![NONE; collection.urls.len()];
    for (seq, &page) in fetched.iter().enumerate() {
        place[page as usize] = seq as u32;
    }
    let count = all.url.len();
    let mut docs = DocTable {
        url: vec![UrlId(NONE); count],
        seq: vec![NONE; count],
        superseded_at: vec![NONE; count],
        length: all.length.clone(),
    };
    for (doc, url) in all.url.iter().enumerate() {
        // Documents that no page has are numbered behind the pages.
        if let Some(&seq) = place.get(url.index()).filter(|seq| **seq != NONE) {
            (docs.url[doc], docs.seq[doc]) = (*url, seq);
        }
    }
    docs
}

fn page_table(collection: &Collection, fetched: &[Page]) -> PageTable {
    let mut pages = PageTable::default();
    for (seq, &page) in (0..).zip(fetched).filter(|(_, page)| **page < collection.pages) {
        pages.note(UrlId(page), seq, 0, None);
    }
    pages
}
