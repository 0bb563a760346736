//! A list of URLs that a plan is held to, whichever of them are known when it is made.

use prospect_index::page_store::Known;
use prospect_index::storage::Checksum;
use prospect_index::url;

/// See the module.
pub(crate) struct UrlList {
    canonical: Vec<String>,
    checksum: String,
}

impl UrlList {
    /// Reads a URL a line; what is none is left out.
    pub(crate) fn parse(text: &str) -> Self {
        let canonical = text.lines().filter_map(|line| url::canonical(line.trim()).ok()).collect();
        Self { canonical, checksum: Checksum::of(text.as_bytes()) }
    }

    /// Identifies it.
    pub(crate) fn checksum(&self) -> &str {
        &self.checksum
    }

    /// By URL id, whether it is on the list. Unknown ones are left out, since nothing leads to them.
    pub(crate) fn within(&self, known: &Known) -> Vec<bool> {
        let mut within = vec![false; known.urls.len()];
        for id in self.canonical.iter().filter_map(|url| known.urls.get(url)) {
            within[id.index()] = true;
        }
        within
    }
}
