//! A store's vectors as the embedding strategy of sufficiency reads them.

use prospect_index::page_store::NONE;

use super::OpenStore;
use super::vectors::PlanVectors;
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
        let rows = |of_last: bool| -> Vec<u32> {
            let some = pages.iter().filter(|&&seq| (seq >= last) == of_last);
            some.map(|&seq| read.titles.get(seq as usize).copied().unwrap_or(NONE)).collect()
        };
        let (urls, links) = (&self.known.urls, &self.known.links);
        let waiting = urls.ids().filter(|url| self.known.pages.in_frontier(*url));
        let link = |url| {
            let anchors = links.incoming(url, u32::MAX).map(|link| read.rows.anchor(link.anchor));
            let mut rows: Vec<u32> = anchors.filter(|&row| row != NONE).collect();
            rows.sort_unstable();
            rows.dedup();
            if rows.is_empty() {
                rows.push(read.rows.url(url));
            }
            (url, rows)
        };
        let links = LinkRows { urls, rows: waiting.map(link).collect() };
        Embedding::new(wordings, nearest, (&rows(false), &rows(true)), links)
    }
}
