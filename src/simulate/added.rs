//! What a simulation adds to a collection while it is read: pages, and links of the pages that are
//! there. They take the same way as pages of the corpus. Who adds them, and why, is decided
//! elsewhere; the default adds nothing.

use std::collections::BTreeMap;

use prospect_index::ingest::{PreparedLink, PreparedPage};

/// Pages and links to add.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddedPages {
    /// Pages that follow those of the collection.
    pub(crate) pages: Vec<PreparedPage>,
    /// By canonical URL of a page of the collection: links that follow its own.
    pub(crate) links: BTreeMap<String, Vec<PreparedLink>>,
}

impl AddedPages {
    /// The links that a page gets.
    pub(crate) fn links_of(&self, canonical: &str) -> impl Iterator<Item = &PreparedLink> {
        self.links.get(canonical).into_iter().flatten()
    }
}
