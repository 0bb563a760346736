//! What was known of a page, and when: estimates read nothing that came to be known after its horizon.

use prospect_index::manifest::Manifest;
use prospect_index::page::UrlId;
use prospect_index::page_store::Known;

/// When a URL's evidence ends.
pub(crate) trait Horizon: Sync {
    /// `fetch_seq` from which on nothing may be known of the URL; `None` if it is no candidate.
    fn of(&self, url: UrlId) -> Option<u32>;
}

/// Crawled pages as they were known at the start of the cycle that first fetched them.
pub(super) struct PastHorizon<'a> {
    pub(super) known: &'a Known,
    pub(super) manifest: &'a Manifest,
}

impl PastHorizon<'_> {
    fn cycle_start(&self, url: UrlId) -> Option<u32> {
        let seq = self.known.pages.first_seq(url)?;
        Some(self.manifest.cycle_start(self.manifest.cycle_of(seq)))
    }
}

impl Horizon for PastHorizon<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let start = self.cycle_start(url)?;
        // A seed that nothing led to was no candidate of any plan.
        self.known.links.incoming(url, start).next()?;
        Some(start)
    }
}

/// Uncrawled URLs as they are known now.
#[derive(Clone, Copy)]
pub(super) struct FrontierHorizon<'a> {
    pub(super) known: &'a Known,
    pub(super) within: &'a [bool],
}

impl Horizon for FrontierHorizon<'_> {
    fn of(&self, url: UrlId) -> Option<u32> {
        let allowed = self.within.is_empty() || self.within[url.index()];
        (allowed && self.known.pages.in_frontier(url)).then_some(u32::MAX)
    }
}
