//! What the pages of a store are called, for [queries made of them](crate::sufficiency::evaluation_set).

use std::collections::{BTreeMap, BTreeSet};

use prospect_index::page::UrlId;
use prospect_index::page_store::for_each_text;

use super::{CampaignError, OpenStore};
use crate::sufficiency::evaluation_set::Phrases;

impl OpenStore {
    /// Titles and headings of the current pages, and the anchors that lead to any URL.
    ///
    /// # Errors
    /// A text cannot be read.
    pub(crate) fn phrases(&self) -> Result<Phrases, CampaignError> {
        let (known, mut found) = (&self.known, Phrases::new(&self.known.analyzer));
        for_each_text(self.store.storage(), self.store.manifest(), 0, |pages| {
            for page in pages {
                if known.pages.page_seq(page.url) == Some(page.seq) {
                    found.add_page(page.url, &page.title, &page.text);
                }
            }
            Ok(())
        })?;
        for url in known.urls.ids() {
            let mut said: BTreeMap<UrlId, BTreeSet<u32>> = BTreeMap::new();
            for link in known.links.incoming(url, u32::MAX).filter(|link| link.from != url) {
                said.entry(link.from).or_default().insert(link.anchor);
            }
            for anchors in said.into_values() {
                found.add_anchors(url, anchors.into_iter().map(|at| known.links.anchor(at)));
            }
        }
        Ok(found)
    }

    /// Titles and texts of the current pages of these URLs.
    ///
    /// # Errors
    /// A text cannot be read.
    pub(crate) fn texts_of(
        &self,
        urls: &[UrlId],
    ) -> Result<BTreeMap<UrlId, (String, String)>, CampaignError> {
        let wanted: BTreeSet<UrlId> = urls.iter().copied().collect();
        let mut found = BTreeMap::new();
        for_each_text(self.store.storage(), self.store.manifest(), 0, |pages| {
            for page in pages {
                let is_current = self.known.pages.page_seq(page.url) == Some(page.seq);
                if is_current && wanted.contains(&page.url) {
                    found.insert(page.url, (page.title.clone(), page.text.clone()));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }
}
