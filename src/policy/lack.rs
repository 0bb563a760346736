//! What the queries of a simulated crawl still lack, from batch to batch.

use prospect_index::bm25::Bm25;
use prospect_index::error::StoreError;
use prospect_index::page::UrlId;
use prospect_index::text_index::TextIndex;

use super::hidden_web::{Crawled, Web};
use crate::sufficiency::assess::{AssessedQueries, CrawledPages, Statistics};
use crate::sufficiency::near_duplicates::NearDuplicates;
use crate::sufficiency::track::Tracks;
use crate::sufficiency::windows::windows;

/// See the module.
pub(super) struct RunningLack<'a> {
    queries: AssessedQueries,
    near_duplicates: Option<&'a NearDuplicates>,
    /// What pages did so far, under the statistics of the epoch that ends before this record.
    tracks: Option<(u32, Tracks)>,
}

impl<'a> RunningLack<'a> {
    /// Of the queries of a collection.
    pub(super) fn new(web: &Web<'a>) -> Self {
        let near_duplicates = web.near_duplicates;
        Self { queries: AssessedQueries::new(web.workload), near_duplicates, tracks: None }
    }

    /// By query of the collection: what it lacks over the pages fetched so far; `text` is the index of these.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(super) fn now(
        &mut self,
        crawled: &Crawled<'_>,
        text: &TextIndex,
        bm25: Bm25,
    ) -> Result<Vec<f64>, StoreError> {
        let (known, epoch_end) = (&crawled.known, crawled.manifest.epoch.end_seq);
        let windows = windows(known.pages.pages_by_record().map(|(seq, _)| seq));
        let pages = CrawledPages { pages: &known.pages, urls: &known.urls, windows: &windows };
        let statistics = Statistics::new(text, bm25, epoch_end, &self.queries)?;
        let earlier = self.tracks.take().filter(|(end, _)| *end == epoch_end);
        let earlier = earlier.map(|(_, tracks)| tracks);
        let tracks = statistics.follow(pages, earlier, crawled.manifest.next_seq)?;
        let redundancy: Vec<f64> =
            (0..tracks.len()).map(|at| self.redundancy(crawled, tracks.list(at))).collect();
        let parts = statistics.parts(&tracks, pages, &redundancy)?;
        self.tracks = Some((epoch_end, tracks));
        Ok(self.queries.lack(&crawled.web.workload.queries, &parts))
    }

    /// Near-duplicates are those of the collection's pages, which have other ids there.
    fn redundancy(&self, crawled: &Crawled<'_>, list: &[(UrlId, f64)]) -> f64 {
        let page = |(url, score): &(UrlId, f64)| (UrlId(crawled.page(*url)), *score);
        let list: Vec<(UrlId, f64)> = list.iter().map(page).collect();
        self.near_duplicates.map_or(0.0, |alike| alike.redundancy(&list))
    }
}
