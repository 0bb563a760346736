//! A store's vectors as the embedding strategy of sufficiency reads them.

use prospect_index::link_table::LinkTable;
use prospect_index::page::UrlId;
use prospect_index::page_store::NONE;

use super::OpenStore;
use super::vectors::PlanVectors;
use crate::estimate::features::similarity::StringRows;
use crate::sufficiency::strategy::embedding::{AllWordings, Embedding, LinkRows, NearestPage};
use crate::sufficiency::windows::windows;

impl OpenStore {
    /// The embedding strategy over the current pages and the frontier of the store; `vectors` has those of the
    /// wordings, in their order.
    pub(crate) fn embedding_strategy<'a>(
        &'a self,
        vectors: &'a PlanVectors<'a>,
        wordings: AllWordings,
    ) -> Embedding<'a> {
        let read = vectors.embeddings();
        let nearest = NearestPage::new(read.strings, (read.queries, read.asked.iter().copied()));
        let pages = &self.known.pages;
        let current =
            pages.pages_by_record().filter(|(seq, url)| pages.page_seq(*url) == Some(*seq));
        let pages: Vec<u32> = current.map(|(seq, _)| seq).collect();
        let last = windows(pages.iter().copied()).last().map_or(0, |window| window.first_seq);
        let title = |seq: u32| read.titles.get(seq as usize).copied().unwrap_or(NONE);
        let (new, old): (Vec<u32>, Vec<u32>) = pages.into_iter().partition(|&seq| seq >= last);
        let old: Vec<u32> = old.into_iter().map(title).collect();
        let new: Vec<u32> = new.into_iter().map(title).collect();
        let urls = &self.known.urls;
        let waiting = urls.ids().filter(|url| self.known.pages.in_frontier(*url));
        let rows = waiting.map(|url| (url, link_rows(&self.known.links, read.rows, url)));
        let links = LinkRows { urls, rows: rows.collect() };
        Embedding::new(wordings, nearest, (&old, &new), links)
    }
}

/// Rows of the texts that tell of a link: its anchors, or its URL where none of them has a vector.
fn link_rows(links: &LinkTable, rows: &StringRows, url: UrlId) -> Vec<u32> {
    let anchors = links.incoming(url, u32::MAX).map(|link| rows.anchor(link.anchor));
    let mut found: Vec<u32> = anchors.filter(|&row| row != NONE).collect();
    found.sort_unstable();
    found.dedup();
    if found.is_empty() {
        found.push(rows.url(url));
    }
    found
}
