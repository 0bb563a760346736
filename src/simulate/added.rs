//! What a simulation adds to a collection while it is read: pages, and links of the pages that are
//! there. They take the same way as pages of the corpus. Who adds them, and why, is decided
//! elsewhere; the default adds nothing.

use std::collections::BTreeMap;

use prospect_index::ingest::PreparedPage;

/// A link: canonical URL of its target, the spelling, and the anchor.
pub type AddedLink = (String, String, String);

/// Pages and links to add.
#[derive(Clone, Debug, Default)]
pub struct Added {
    /// Pages that follow those of the collection.
    pub pages: Vec<PreparedPage>,
    /// By canonical URL of a page of the collection: links that follow its own.
    pub links: BTreeMap<String, Vec<AddedLink>>,
}

impl Added {
    /// The links that a page gets.
    pub fn links_of(&self, canonical: &str) -> impl Iterator<Item = (&str, &str, &str)> {
        let links = self.links.get(canonical).into_iter().flatten();
        links.map(|(url, spelling, anchor)| (url.as_str(), spelling.as_str(), anchor.as_str()))
    }
}
